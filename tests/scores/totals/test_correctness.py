import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.records import (
    CorrectnessStatus,
    CorrectnessTotals,
    Flag,
    FlagName,
    SampleResult,
    Support,
)
from judge.records import UnscoredReason as Reason
from judge.scores.interval import wilson
from judge.scores.totals import summarize
from tests.compared import MARKS, compared

SIDE = st.text(alphabet=MARKS, max_size=5)


def totals(*results: SampleResult, max_unscored: float = 0.05) -> CorrectnessTotals:
    made = summarize(results, max_unscored=max_unscored).correctness
    assert made is not None
    return made


def test_macro_is_over_answers_and_micro_over_the_claims_of_all() -> None:
    """Precision 1 and ¼, recall ½ and 1: F1 2/3 and 0.4. Pooled: 2/5 and 2/3, so ½ of 8."""
    made = totals(compared("a", "f", "fn"), compared("b", "fnnn", "f"))
    assert made.precision is not None
    assert made.recall is not None
    assert made.f1 is not None
    assert made.precision.macro == pytest.approx(1.25 / 2)
    assert (made.precision.micro, made.precision.items) == pytest.approx((2 / 5, 5))
    assert made.recall.macro == pytest.approx(0.75)
    assert (made.recall.micro, made.recall.items) == pytest.approx((2 / 3, 3))
    assert made.f1.macro == pytest.approx((2 / 3 + 0.4) / 2)
    assert (made.f1.micro, made.f1.items, made.f1.answers) == pytest.approx((0.5, 8, 2))
    interval = made.f1.interval
    assert (interval.low, interval.high) == pytest.approx(wilson((2 / 3 + 0.4) / 2, 2))
    assert made.answer_supports == dict(zip(Support, (2, 0, 3, 0, 0), strict=True))
    assert made.reference_supports == dict(zip(Support, (2, 0, 1, 0, 0), strict=True))
    assert (made.claims, made.sources, made.signatures) == (8, {"llm": 8}, {"c": 2})


def test_an_unscored_comparison_is_anything_in_the_bounds_and_nothing_in_the_mean() -> None:
    """F1 1 with bounds [1, 1], and none with [0, 1]."""
    made = totals(compared("a", "f", "f"), compared("b", "?", "??"))
    assert made.f1 is not None
    assert (made.f1.macro, made.f1.answers) == (1, 1)
    assert made.f1_bounds is not None
    assert (made.f1_bounds.low, made.f1_bounds.high, made.f1_bounds.answers) == (0.5, 1, 2)
    assert made.f1_bounds.low_interval.low == pytest.approx(wilson(0.5, 2)[0])
    assert made.statuses[CorrectnessStatus.UNSCORED] == 1
    assert (made.unscored, made.unscored_share) == ({Reason.TIMEOUT: 3}, 3 / 5)
    assert made.untrusted


def test_a_failure_of_one_way_leaves_f1_open_and_the_other_way_measured() -> None:
    """Precision 1; recall between 0 and 1, and so F1."""
    made = totals(compared("a", "f", "?"))
    assert made.precision is not None
    assert (made.recall, made.f1) == (None, None)
    assert made.f1_bounds is not None
    assert (made.f1_bounds.low, made.f1_bounds.high) == (0, 1)
    assert made.precision_bounds is not None
    assert (made.precision_bounds.low, made.precision_bounds.high) == (1, 1)


def test_fallback_verdicts_enter_only_the_score_that_says_so() -> None:
    """Own F1 1 and 0; with the fallback 2 · ½ · 1 / 1½ = 2/3, and 0 as it was."""
    made = totals(compared("a", "fN", "f"), compared("b", "n", "n"))
    assert made.f1 is not None
    assert made.f1.macro == 0.5
    other = made.f1_with_fallback
    assert other is not None
    assert other.macro == pytest.approx(1 / 3)
    assert other.micro == pytest.approx(2 * (1 / 3) * 0.5 / (1 / 3 + 0.5))
    assert (other.answers, other.items) == (2, 5)
    assert (made.fallen_back, made.sources) == (1, {"llm": 4, "similarity": 1})
    assert made.answer_supports[Support.NONE] == 1
    assert totals(compared("a", "f?", "f")).f1_with_fallback is None


def test_what_has_no_correctness_is_counted_and_in_no_mean() -> None:
    made = totals(
        compared("a", "p", "p"),
        compared("b", "a", "h"),
        compared("c", "h", ""),
        compared("d", "-", "-"),
    )
    assert made.statuses == {
        CorrectnessStatus.NO_REFERENCE: 1,
        CorrectnessStatus.ABSTAINED: 1,
        CorrectnessStatus.NO_CLAIMS: 1,
        CorrectnessStatus.UNSCORED: 0,
        CorrectnessStatus.SCORED: 1,
    }
    assert made.f1 is not None
    assert (made.f1.macro, made.f1.answers, made.f1.items) == (0.5, 1, 2)
    assert made.f1_bounds is not None
    assert made.f1_bounds.answers == 1


def test_where_nobody_asked_there_is_none_and_where_nothing_was_there_all_is_null() -> None:
    result = compared("a", "f", "f")
    assert summarize([result.model_copy(update={"correctness": None})]).correctness is None
    made = totals(compared("a", "a", "h"))
    scores = {made.f1, made.precision, made.recall, made.f1_bounds, made.f1_with_fallback}
    assert scores == {None}
    assert (made.claims, made.unscored_share, made.untrusted) == (0, None, False)


@pytest.mark.parametrize(
    ("failed", "limit", "untrusted"),
    [(2, 0.05, False), (3, 0.05, True), (3, 0.2, False), (5, 0.2, True)],
)
def test_the_trust_in_each_of_the_two_is_its_own(
    failed: int, limit: float, *, untrusted: bool
) -> None:
    """Of twenty claims each way none fails by the chunks, and so many of the reference."""
    results = [compared(str(i), "f", "?" if i < failed else "f") for i in range(10)]
    summary = summarize(results, max_unscored=limit)
    assert summary.correctness is not None
    assert (summary.untrusted, summary.correctness.untrusted) == (False, untrusted)


@settings(deadline=None)
@given(st.lists(st.tuples(SIDE, SIDE), max_size=6), st.data())
def test_the_order_of_the_answers_does_not_matter_and_the_bounds_enclose(
    sides: list[tuple[str, str]], data: st.DataObject
) -> None:
    results = [compared(f"q{i}", *pair) for i, pair in enumerate(sides)]
    first = summarize(results).correctness
    second = summarize(data.draw(st.permutations(results))).correctness
    if first is None or second is None:
        assert first is second is None
        assert not sides
        return
    assert _rounded(first) == _rounded(second)
    for name in ("f1", "precision", "recall"):
        score, bounds = getattr(first, name), getattr(first, f"{name}_bounds")
        if bounds is not None:
            assert 0 <= bounds.low <= bounds.high <= 1
        if score is not None:
            assert 0 <= score.macro <= 1
            assert 0 <= score.micro <= 1


def _rounded(made: CorrectnessTotals) -> object:
    def rounded(value: object) -> object:
        if isinstance(value, dict):
            return {key: rounded(part) for key, part in value.items()}
        return round(value, 9) if isinstance(value, float) else value

    return rounded(made.model_dump())


def test_what_fell_back_on_either_side_is_counted() -> None:
    made = totals(compared("a", "f", "yN"), compared("b", "y", "f"))
    assert made.fallen_back == 3
    assert made.unscored == {Reason.TIMEOUT: 3}
    assert totals(compared("a", "f", "y")).f1_with_fallback is not None


def test_the_seed_moves_the_intervals_and_nothing_else() -> None:
    results = [compared(f"q{i}", "fpn"[i % 3], "fn"[i % 2]) for i in range(60)]
    first, second = (summarize(results, seed=seed).correctness for seed in (0, 1))
    assert first is not None
    assert second is not None
    assert first.f1 is not None
    assert second.f1 is not None
    assert first.f1.interval.method == "poisson_bootstrap"
    assert first.f1.interval != second.f1.interval
    assert first.f1.macro == second.f1.macro


def test_flags_of_both_are_counted() -> None:
    found = compared("a", "f", "f")
    assert found.correctness is not None
    flag = Flag(name=FlagName.UNVERIFIED_QUOTE, sentence=0)
    both = {"answer_flags": (flag,), "reference_flags": (flag, flag)}
    flagged = found.model_copy(update={"correctness": found.correctness.model_copy(update=both)})
    made = totals(flagged, found)
    assert made.flags[FlagName.UNVERIFIED_QUOTE] == 3
    assert made.flags[FlagName.MISMATCH_NUMBER] == 0
