import pytest

from judge.checks.chunks import flag_chunks, flag_conflicts, flag_gaps
from judge.records import Chunk, Flag, FlagName, Sample
from tests.growth import is_quadratic

BARE = Flag(name=FlagName.NO_CHUNKS)


def twice(*ids: str) -> Flag:
    return Flag(name=FlagName.AMBIGUOUS_CHUNK_ID, detail="; ".join(ids))


# Ids and texts, whether the answer claims anything, and what is flagged.
ROWS: list[tuple[list[tuple[str, str]], bool, list[Flag]]] = [
    ([], True, [BARE]),
    ([], False, []),
    ([("a", ""), ("b", " \n\u3000")], True, [BARE]),
    ([("a", ""), ("b", "x")], True, []),
    ([("a", "x"), ("b", "x")], True, []),
    ([("a", "x"), ("a", "x")], True, []),
    ([("a", "x"), ("a", "y")], True, [twice("a")]),
    ([("a", "x"), ("a", "y")], False, [twice("a")]),
    ([("段", "x"), ("a", ""), ("段", ""), ("a", "y"), ("a", "z")], True, [twice("a", "段")]),
    ([("a", ""), ("a", " ")], True, [BARE, twice("a")]),
]


def test_chunks_that_keep_a_verdict_from_being_fair() -> None:
    for listed, claims, flags in ROWS:
        chunks = tuple(Chunk(chunk_id=name, text=text) for name, text in listed)
        sample = Sample(qid="q", answer="It is.", chunks=chunks)
        assert list(flag_chunks(sample, claims=claims)) == flags, listed


# Sentences of one answer, and the characters of words outside them.
ANSWER = "Hi there. It opens at six [docA#1], and at 9. 周日不开门。 1. *"
GAPS: list[tuple[list[object] | None, str]] = [
    (None, ""),
    (["Hi there.", "It opens at six [docA#1], and at 9.", "周日不开门。"], ""),
    (["Hi there. It opens at six", ", and at 9. 周日不开门。"], ""),
    (["It opens at six", "周日不开门。"], "16"),
]


def test_words_outside_the_given_sentences_are_counted() -> None:
    for sentences, count in GAPS:
        flags = list(flag_gaps(Sample(qid="q", answer=ANSWER, sentences=sentences)))
        assert [each.detail for each in flags] == ([count] if count else []), sentences


def conflict(*texts: str) -> str:
    """Return the detail of the flag; empty if there is none."""
    chunks = [Chunk(chunk_id=f"d{place}", text=text) for place, text in enumerate(texts, 1)]
    flags = list(flag_conflicts(chunks))
    assert all(flag.name is FlagName.CONFLICTING_CHUNKS for flag in flags)
    return " | ".join(flag.detail for flag in flags)


CONFLICTS = [
    (("Annual leave is 5 days a year.", "Annual leave is 10 days a year."), "5 days", "10 days"),
    (
        ("Staff have five days of paid leave.", "It is new. Staff had ten days of paid leave."),
        "five days",
        "ten days",
    ),
    (("年假为5天，须提前申请。", "年假为10天，须提前申请。"), "5天", "10天"),
    (("员工每年享有五天带薪年假。", "员工每年享有十一天带薪年假。"), "五天", "十一天"),
    (("退款申请将在3天内处理完毕。", "退款申请将在2个星期内处理完毕。"), "3天", "2个星期"),
    (
        ("The pool is 25 centimetres deep.", "The pool is 50 centimeters deep."),
        "25 centimetres",
        "50 centimeters",
    ),
    (("A late filing costs $40 a month.", "A late filing costs $60 a month."), "$40", "$60"),
]


@pytest.mark.parametrize(("texts", "first", "second"), CONFLICTS)
def test_two_chunks_that_differ_by_an_amount_are_flagged(
    texts: tuple[str, str], first: str, second: str
) -> None:
    assert conflict(texts[0], "Something else.", texts[1]) == f"d1: {first}; d3: {second}"


SOUND = [
    # Other subjects.
    ("In 2019 the revenue was 5 million euros.", "In 2020 the revenue was 6 million euros."),
    ("Plan A costs 5 euros a month.", "Plan B costs 10 euros a month."),
    ("Room 5 is closed for repairs.", "Room 6 is closed for repairs."),
    ("The train to Bonn leaves at 8:21 daily.", "The train to Bonn leaves at 9:40 daily."),
    # The same amount in other forms.
    ("Each file may hold 1 GB of data.", "Each file may hold 1,000 MB of data."),
    ("Written notice must be given 7 days before.", "Written notice must be given 1 week before."),
    ("The site had 3.5 million visitors then.", "The site had 3,512,000 visitors then."),
    # A denial, too few words, one chunk.
    ("The late fee is not 5 euros here.", "The late fee is 10 euros here."),
    ("$900", "$970"),
    ("Annual leave is 5 days a year. Annual leave is 10 days a year.", ""),
    # One chunk has the sentence of the other, too: copies, or chunks that overlap.
    ("The climb is 5 km long. The climb is 6 km long.",) * 2,
    ("The climb is 5 km long. The climb is 6 km long.", "The climb is 6 km long. It is steep."),
    ("The climb is 5 km long.", "The climb is 6 km long. It is steep. The climb is 5 km long."),
]


@pytest.mark.parametrize("texts", SOUND)
def test_chunks_that_may_both_hold_are_not_flagged(texts: tuple[str, str]) -> None:
    assert conflict(*texts) == ""


@pytest.mark.alone
def test_many_alike_sentences_take_linear_time() -> None:
    def rows(size: int) -> str:
        return "\n".join(f"Item {n} in row {n} weighs {n} kg in store." for n in range(size))

    def flag(text: str) -> list[Flag]:
        return list(flag_conflicts([Chunk(chunk_id=row, text=row) for row in text.splitlines()]))

    assert not is_quadratic(flag, rows, 200)
