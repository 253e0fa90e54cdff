import pytest

from judge.answer.latin import Place, latin_end
from judge.answer.terminators import candidates


def ends(text: str, punkt: set[int]) -> list[int]:
    """Where the candidates of a text end sentences, the text taken to be one so far."""
    found = [c for c in candidates(text, spaced_marks=True) if c.end < len(text)]
    return [c.end for c in found if latin_end(Place(text, c, 0), punkt)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He asked! She left", [9]),
        ("He asked!she left", []),
        ("It is late.Then he left", [11]),
        ("1. Wash it", []),
        ("PS. Wash it", []),
        ("**Note.** Wash it", []),
        ("Dr. Smith", []),
        ("See fig. 2", []),
        ("They met in the U.S. in May", []),
        ("They met in the U.S. He left", [20]),
        ("We sell hats, etc. Orders arrive", [18]),
        ("We sell hats, etc. to shops", []),
        ("It was open until 9 p.m. Visitors left", [24]),
        ("At 9 p.m. Mr", []),
        ("It was 1999. Then", [12]),
        # A name with a sign, where it is the subject; an outcry; a question.
        ("Jeopardy! is a game", []),
        ("Yahoo! offered it", []),
        ("Hello! how are you", [6]),
        ("Wow! this is new", [4]),
        ("Oslo? are you sure", [5]),
        # Inches, feet and counts before what goes on with them.
        ("It is 3 in. tall", []),
        ("It is 3 ft. 5 in. tall", []),
        ("See fig. 2. for more", []),
        ("Call 555-0100. we are in", [14]),
        ("It was 1999. then it was over", [12]),
        ("Well... it depends", []),
        ("Well... It depends", [7]),
    ],
)
def test_ends_that_need_no_statistics(text: str, expected: list[int]) -> None:
    assert ends(text, set()) == expected


def test_a_plain_word_before_a_full_stop_is_left_to_punkt() -> None:
    assert ends("The dog ran. A cat slept", {12}) == [12]
    assert ends("The dog ran. A cat slept", set()) == []
    assert ends("It is 3 in. It is 4", {11}) == [11]
