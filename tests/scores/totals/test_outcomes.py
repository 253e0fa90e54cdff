from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.records import Excluded, Outcome, Support, UnscoredReason
from judge.scores.totals.outcomes import CountedOutcomes
from tests.compared import outcome

CLAIMS = st.text(alphabet="fpnc-?yN", max_size=12)


def counted(marks: str, *others: Outcome) -> CountedOutcomes:
    made = CountedOutcomes()
    each: Iterable[Outcome] = (*map(outcome, marks), *others)
    for one in each:
        made.add(one)
    return made


def test_outcomes_by_hand() -> None:
    """Own weights 1, ½, 0; with the fallback 1, ½, 0, 1."""
    made = counted("fpn-?y", Excluded())
    assert (made.claims, made.judged, made.judged_by_any) == (6, 3, 4)
    assert made.mean == 0.5
    assert made.mean_with_fallback == pytest.approx(2.5 / 4)
    assert made.supports == dict(zip(Support, (1, 1, 1, 0, 1), strict=True))
    assert made.sources == {"llm": 4, "similarity": 1}
    assert made.unscored == {UnscoredReason.TIMEOUT: 2}
    assert made.unscored_share == pytest.approx(2 / 6)


def test_nothing_counted_has_no_mean_and_no_share() -> None:
    made = counted("", Excluded())
    assert (made.claims, made.mean, made.unscored_share) == (0, None, None)
    assert not made.untrusted(0)


@pytest.mark.parametrize(
    ("marks", "limit", "untrusted"),
    [
        ("???", 0.05, True),
        ("??", 0.05, False),  # an accident
        ("ff??y", 0.05, True),
        ("f" * 57 + "???", 0.05, False),
        ("f" * 56 + "???", 0.05, True),
        ("ff???", 0.6, False),
    ],
)
def test_untrusted_is_over_the_limit_and_no_accident(
    marks: str, limit: float, *, untrusted: bool
) -> None:
    assert counted(marks).untrusted(limit) is untrusted


@given(CLAIMS, CLAIMS)
def test_counts_of_both_are_those_of_all_together(one: str, other: str) -> None:
    assert counted(one) + counted(other) == counted(one + other)
