from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.answer.letters import lines
from tests.growth import LINEAR, growth


def cut(text: str) -> list[str]:
    places = [0, *sorted(lines(text)), len(text)]
    pieces = (text[start:end].strip() for start, end in pairwise(places))
    return [piece for piece in pieces if piece]


@pytest.mark.parametrize(
    "parts",
    [
        # Time stamps behind whoever wrote.
        ["Ann Lee", "08/16/2000 12:05 PM", "Can you come?"],
        ['"Lee, Ann" <ann@example.org>', "8/16/00 12:05:09", "can you come?"],
        ["ann@example.org on 08/16/2000 12:05 PM", "Can you come?"],
        ["Call me. Ann Lee", "08/16/2000 12:05 PM", "Bo Ek", "08/15/2000 09:00 AM", "Will do."],
        # Labelled addresses and numbers.
        ["Email: ann@example.org", "The train is late."],
        ['Email: "Ann"<ann...@example.org>', "Groups: alt.trains"],
        ["Phone: 555.0100", "Fax: 555.0101", "Web: www.example.org"],
        ["电话：010-5550100", "传真：010-5550101", "邮箱：ann@example.org"],
        # Attached files, banners, addresses.
        ["See below.", "- plan.pdf", "- notes.doc"],
        ["- plan.doc << File: plan.doc >>", "Call me."],
        ["----== Sent by Example News - Daily ==----", "The train is late."],
        ["****NOTICE****", "This is private."],
        ["All of it is at http://example.org/a", "Our office is in Oslo."],
        ["Write to ann@example.org", "We answer at once."],
        # Greetings, farewells, postscripts.
        ["Dear All,", "Please note the new price."],
        ["Dear Ann,", "I write about the price."],
        ["Hi,", "There is a train at noon."],
        ["Good morning Ann -", "Prices rise in May."],
        ["It is done. Kind regards,", "Ann Lee Example Trains"],
        ["It is done (see plan.doc) Sincerely,", "Ann"],
        ["It is done. Thanks,", "Ann"],
        ["Call me. Ann", "PS: Bring the plan."],
        ["Call me. Ann", "P.S. Bring the plan."],
        ["Call me.", "P.S. Bring the plan."],
        ["Call me (at noon)", "P. S. Bring the plan."],
        ["Call me. Best, Ann Lee", "PS - Bring the plan."],
        ["Fax 555-0100 Email ann@example.org", "PS: Bring the plan."],
        ["Ann Lee", "08/16/2000 12:05 PM", "have you been there?"],
        ["It is done. Thanks,", "Ann Lee, Oslo"],
    ],
)
def test_lines_of_letters(parts: list[str]) -> None:
    assert cut(" ".join(parts)) == parts


@pytest.mark.parametrize(
    "text",
    [
        "The train left on 08/16/2000 12:05 PM and arrived at noon.",
        "Of all the trains 08/16/2000 12:05 PM was the last.",
        "Email: ann@example.org or call 555.0100.",
        "Email: ann@example.org, Bo and Eva.",
        "By Phone: 555.0100 or visit our Website: www.example.org",
        "详情见网址：https://example.org/a",
        "See http://example.org/a and write to ann@example.org today.",
        "See [the plan](http://example.org/a) The old one is gone.",
        "It costs 3 - 5 euros - see plan.pdf for more.",
        "It is in the archive - notes.txt",
        "Dear Evan Hansen, Hamilton and Rent are musicals.",
        "The years 1990 ---- 2000 were dry.",
        "Hi, Ann Lee is here.",
        "Hi, I am here.",
        "Hello, World!",
        "My Dear Watson, I know.",
        "Thanks, Ann and Bo were a great help.",
        "He sold a PS Vita and a PS5 at P.S. 12.",
        # Initials, a console, a program.
        "The book by P.S. Arun sold well in 2010.",
        "Written by P. S. Krishnan, it sold.",
        "She met Dr. Rao P. S. Krishnan there.",
        "His console, the PS - PlayStation - is old.",
        "Use Adobe PS: Open the file.",
        # Titles of works, a name between commas, labels of one sentence, a date and time in one.
        "Dear Evan Hansen, The Musical, opened.",
        "Hey Jude, I think, is by the Beatles.",
        "Thanks, John, for asking.",
        "Thanks, John, I know.",
        "Contact us by Email: a@b.com, Phone: 555-1234, or fax.",
        "Project Deadline 08/16/2024 12:00 PM applies to all.",
        "",
    ],
)
def test_what_only_resembles_a_letter(text: str) -> None:
    assert lines(text) == set()


PIECES = (
    *("Ann Lee ", "08/16/2000 12:05 PM ", "on ", '"Lee, Ann" ', "<a@b.org> ", "a@b.org "),
    *("Phone: ", "电话：", "555 ", "- a.pdf ", "<< File: a >> ", "http://a.org/b ", "The "),
    *(
        "****",
        "---- ",
        "Email: ",
        "Dear ",
        "Hi, ",
        "Regards, ",
        "Thanks, ",
        "P.S. ",
        ". ",
        "\n",
        " ",
        "\ud800",
    ),
)


@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
def test_places_lie_inside_the_text(text: str) -> None:
    assert all(0 < place < len(text) for place in lines(text))


@pytest.mark.parametrize("piece", [*PIECES, "a", ".", "@", "a.", "<", '"', "A "])
def test_time_grows_with_the_length(piece: str) -> None:
    assert growth(lines, lambda size: "Email: Hi, @" + piece * size, 300) < LINEAR
