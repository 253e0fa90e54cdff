import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.records import Support
from judge.scores.aggregate.tally import Tally, bounds
from tests.compared import outcome

CLAIMS = st.text(alphabet="fpnc-?yN", max_size=12)


def tally(marks: str) -> Tally:
    return Tally(map(outcome, marks))


def test_the_worked_example() -> None:
    """Full, partial, none, and a timeout: 1/2 measured, between 1.5/4 and 2.5/4."""
    made = tally("fpn?")
    assert (made.claims, len(made.judged), made.unscored, made.no_claim) == (4, 3, 1, 0)
    assert made.mean == 0.5
    assert made.bounds == (0.375, 0.625)
    assert made.count(Support.FULL) == 1
    assert made.share(Support.NONE) == pytest.approx(1 / 3)
    assert not made.fell_back


def test_what_a_fallback_answered_counts_as_unscored_and_is_told_apart() -> None:
    made = tally("fcyN")
    assert (len(made.judged), made.unscored, made.fell_back) == (2, 2, True)
    assert made.mean == 0.5
    assert made.bounds == (0.25, 0.75)
    assert made.mean_with_fallback == 0.5
    assert tally("fy").mean_with_fallback == 1
    assert made.count(Support.NONE) == 0


def test_a_claim_that_asserts_nothing_is_no_part_of_a_mean() -> None:
    made = tally("f--")
    assert (made.claims, len(made.judged), made.no_claim, made.mean) == (3, 1, 2, 1)
    assert tally("--").mean is None
    assert tally("--").bounds is None


@pytest.mark.parametrize(("marks", "limits"), [("", None), ("?", (0, 1)), ("?y", (0, 1))])
def test_where_nothing_was_judged_there_is_no_mean(
    marks: str, limits: tuple[float, float] | None
) -> None:
    assert tally(marks).mean is None
    assert tally(marks).bounds == limits


@given(CLAIMS)
def test_every_claim_is_counted_once_and_the_bounds_enclose_the_mean(marks: str) -> None:
    made = tally(marks)
    assert made.claims == len(made.judged) + made.unscored + made.no_claim == len(marks)
    if made.bounds is None:
        assert made.mean is None
        return
    low, high = made.bounds
    assert 0 <= low <= high <= 1
    assert low == high or made.unscored
    if made.mean is not None:
        assert low - 1e-12 <= made.mean <= high + 1e-12


def test_bounds_of_a_share() -> None:
    assert bounds(1.5, 3, 1) == (0.375, 0.625)
    assert bounds(0, 0, 0) is None
