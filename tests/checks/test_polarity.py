"""Read by hand: what a near-copy of a claim denies or rules otherwise, and what not."""

from hypothesis import given
from hypothesis import strategies as st

from judge.checks.polarity import Copies, contrast, read


def told(claim: str, *passages: str) -> tuple[str, str] | None:
    found = [contrast(read(claim), copy) for copy in Copies(passages).near(claim)]
    return found[0] if found and all(found) else None


OTHERWISE = [
    # Denied on one side.
    ("Staff must share passwords.", "Staff must not share passwords.", "must share"),
    ("The deposit is not refunded.", "The deposit is refunded.", "not refunded"),
    ("押金不退还。", "押金会退还。", "不退还"),
    # Rules.
    ("Guests may smoke in the hall.", "Guests must not smoke in the hall.", "may smoke"),
    ("Visitors have to sign the book.", "Visitors need not sign the book.", "have to sign"),
    ("访客可以在馆内拍照。", "访客不得在馆内拍照。", "可以在馆"),
    # Opposite ends of a scale.
    ("Rents rose in the spring.", "Rents fell in the spring.", "rose"),
    ("The court upheld the ruling.", "The court overturned the ruling.", "upheld"),
    ("税率上调了两个百分点。", "税率下调了两个百分点。", "上调"),
    # All where the other says only some or one alone.
    ("All members vote on the budget.", "Some members vote on the budget.", "All"),
    ("All managers approve overtime here.", "Only managers approve overtime here.", "All"),
]
ALIKE = [
    ("Staff must not share passwords.", "Staff must not share any passwords."),
    ("The shop is closed on Mondays.", "The shop is not open on Mondays."),
    ("Breathing out requires no effort.", "Breathing out does not require effort."),
    ("Some members vote on the budget.", "All members vote on the budget."),
    # Not a near-copy: what is denied may be another thing.
    ("Pets are welcome in the garden.", "Pets are not allowed in the pool, which has cold water."),
    # What is denied stands beside what both say.
    ("He will be in the squad for the trip.", "He was not fined and will be in the squad for it."),
    ("馆内不得拍照。", "馆内禁止拍照。"),
]


def test_what_a_near_copy_says_otherwise() -> None:
    found = [(claim, passage, told(claim, passage)) for claim, passage, _ in OTHERWISE]
    assert [(*row, each and each[0]) for *row, each in found] == OTHERWISE
    found = [(passage, claim, told(passage, claim)) for claim, passage, _ in OTHERWISE]
    silent = [row[0] for row in found if row[2] is None]
    assert silent == ["Some members vote on the budget."]


def test_what_bears_a_claim_out() -> None:
    assert [(*row, told(*row)) for row in ALIKE if told(*row)] == []
    # What another sentence says as near may bear it out.
    claim, *others = "The pool is open.", "The pool is closed.", "The pool is open again."
    assert told(claim, others[0])
    assert told(claim, *others) is None


@given(st.text(), st.lists(st.text(), max_size=3))
def test_any_text_is_read_and_none_contradicts_itself(claim: str, others: list[str]) -> None:
    told(claim, *others)
    assert told(claim, claim) is None
