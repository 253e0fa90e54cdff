import random
import statistics

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.records import (
    AnswerRelevance,
    CitationStatus,
    CorpusBounds,
    CorpusScore,
    CorrectnessStatus,
    CorrectnessTotals,
    Flag,
    FlagName,
    Quadrant,
    RelevanceStatus,
    RelevanceTotals,
    Sample,
    SampleResult,
    Status,
    Support,
    UnscoredReason,
)
from judge.scores.answer import aggregate, answer_relevance, is_beside, with_outcomes
from judge.scores.intervals import mean_limits
from judge.scores.totals import summarize
from tests import present
from tests.comparisons import (
    MARKS,
    answer,
    compared,
    outcome,
    outcomes,
    sentences,
)
from tests.comparisons import (
    TIMEOUT as FAILED,
)

TIMEOUT = UnscoredReason.TIMEOUT
GOOD = Quadrant(
    answerable=True, retrieved=True, abstained=False, faithful=True, correct=True, signature="s"
)
WRONG = GOOD.model_copy(update={"correct": False})
MISSED = WRONG.model_copy(update={"retrieved": False})
CAUTIOUS = GOOD.model_copy(update={"abstained": True, "faithful": None, "correct": None})
HONEST = CAUTIOUS.model_copy(update={"answerable": False, "retrieved": None})
OPEN = GOOD.model_copy(update={"correct": None})
CONFLICT = Flag(name=FlagName.CONFLICTING_GOLD)


def score(found: CorpusScore | None) -> tuple[float, ...]:
    """Macro, micro, answers, items."""
    assert found is not None
    return found.macro, found.micro, found.answers, found.items


def limits(found: CorpusBounds | None) -> tuple[float, float, int]:
    assert found is not None
    return found.low, found.high, found.answers


def test_macro_is_over_answers_and_micro_over_sentences() -> None:
    """Faithfulness 1, .5 and .125 of 1, 2 and 4 sentences."""
    summary = summarize([answer("f"), answer("pp"), answer("pnnc")])
    assert score(summary.faithfulness) == ((1 + 0.5 + 0.125) / 3, 2.5 / 7, 3, 7)
    assert score(summary.faithfulness_strict) == (1 / 3, 1 / 7, 3, 7)
    assert score(summary.contradiction_rate) == (0.25 / 3, 1 / 7, 3, 7)
    assert summary.faithfulness is not None
    interval = summary.faithfulness.interval
    values = [1, 0.5, 0.125]
    limits = mean_limits(statistics.mean(values), statistics.variance(values), 3)
    assert (interval.low, interval.high) == pytest.approx(limits, abs=1e-6)
    assert interval.method == "wilson_effective"


def test_a_failure_is_anything_in_the_bounds_and_nothing_in_the_mean() -> None:
    """[1, 1], the worked example's [.375, .625], and [0, 1]."""
    summary = summarize([answer("ff"), answer("fpn?"), answer("??")])
    assert score(summary.faithfulness) == (0.75, 3.5 / 5, 2, 5)
    assert limits(summary.faithfulness_bounds) == (1.375 / 3, 2.625 / 3, 3)
    assert summary.faithfulness_bounds is not None
    values = [1, 0.375, 0]
    low, _ = mean_limits(statistics.mean(values), statistics.variance(values), 3)
    assert summary.faithfulness_bounds.low_interval.low == pytest.approx(low)
    assert (summary.unscored, summary.unscored_share) == ({TIMEOUT: 3}, 3 / 8)
    assert summary.untrusted
    # One of two judged is full, two timed out: 1/2 measured, between 1/4 and 3/4.
    summary = summarize([answer("fn??", "v u ? ?")])
    for name in ("faithfulness", "faithfulness_strict", "citation_recall"):
        assert score(getattr(summary, name))[0] == 0.5
        assert limits(getattr(summary, f"{name}_bounds")) == (0.25, 0.75, 1)
    assert summarize([answer("--")]).faithfulness_strict_bounds is None
    failed = summarize(answer("??") for _ in range(60))
    assert failed.faithfulness is None
    assert limits(failed.faithfulness_bounds) == (0, 1, 60)


def test_answers_without_claims_are_counted_and_in_no_mean() -> None:
    summary = summarize([answer("p"), answer("aa"), answer(""), answer("-")])
    counts = {Status.ABSTAINED: 1, Status.NO_CLAIMS: 2, Status.UNSCORED: 0, Status.SCORED: 1}
    assert (summary.answers, summary.statuses, summary.abstention_rate) == (4, counts, 0.25)
    assert score(summary.faithfulness) == (0.5, 0.5, 1, 1)
    assert limits(summary.faithfulness_bounds) == (0.5, 0.5, 1)
    assert (summary.claims, summary.judged, summary.supports[Support.NO_CLAIM]) == (2, 1, 1)


def test_an_answer_hallucinates_where_any_claim_has_no_support() -> None:
    """None and contradicted settle it; a failure leaves open only what it could change."""
    rows: dict[str, tuple[float | None, float | None]] = {
        # The rate, then the strict rate; None where failures leave it open.
        "ff": (0, 0),
        "fp": (0, 1),
        "fn": (1, 1),
        "c?": (1, 1),
        "p?": (None, 1),
        "f?": (None, None),
        "??": (None, None),
        "yN": (None, None),  # what a fallback says is a failure of the run's own judge
    }
    told = [answer(marks) for marks in rows]
    nothing = [answer("a"), answer("-"), answer("")]
    summary = summarize([*told, *nothing])
    for column, name in enumerate(("hallucination_rate", "hallucination_rate_strict")):
        known = [value for value in (row[column] for row in rows.values()) if value is not None]
        share = sum(known) / len(known)
        assert score(getattr(summary, name)) == (share, share, len(known), len(known))
        low, whole = sum(known) / len(rows), len(rows)
        high = low + (whole - len(known)) / whole
        assert limits(getattr(summary, f"{name}_bounds")) == pytest.approx((low, high, whole))
        assert getattr(summarize(nothing), name) is None


def test_abstentions_are_counted_apart_where_gold_tells() -> None:
    """5 of 7; of the three answerable two, of the two unanswerable one."""
    results = [
        answer("a", gold=CAUTIOUS),
        answer("f", gold=GOOD),
        answer("a", gold=HONEST),
        answer("a"),
        answer("a", reference="hf"),
        answer("f", reference="a"),
        answer("a", reference="f", gold=CONFLICT),
    ]
    summary = summarize(results)
    assert summary.abstention_rate == 5 / 7
    assert score(summary.abstentions) == (5 / 7, 5 / 7, 7, 7)
    assert score(summary.abstention_rate_answerable) == (2 / 3, 2 / 3, 3, 3)
    assert score(summary.abstention_rate_unanswerable) == (0.5, 0.5, 2, 2)
    assert summarize([answer("f")]).abstention_rate_answerable is None


def test_fallback_verdicts_enter_only_the_score_that_says_so() -> None:
    """Own faithfulness 1 and 0; with the fallback (1 + 1 + 0)/3 and 0."""
    summary = summarize([answer("fyN"), answer("n")])
    assert score(summary.faithfulness) == (0.5, 0.5, 2, 2)
    assert score(summary.faithfulness_with_fallback) == (1 / 3, 0.5, 2, 4)
    assert (summary.judged, summary.fallen_back) == (2, 2)
    assert summary.unscored == {TIMEOUT: 2}
    assert summary.sources == {"llm": 2, "similarity": 2}
    assert not summary.untrusted  # two failures are an accident


def test_citations() -> None:
    """Validity 1/2 and 0; with the unjudged bounds [1/4, 3/4] and [0, 0]; pooled 1/3."""
    summary = summarize([answer("f???", "v u ? ?"), answer("n", "d")])
    assert score(summary.citation_validity) == (0.25, 1 / 3, 2, 3)
    assert limits(summary.citation_validity_bounds) == (0.125, 0.375, 2)
    assert score(summary.coverage) == (0.5, 0.8, 2, 5)
    assert score(summary.citation_recall) == (0.5, 0.5, 2, 2)
    assert summary.citations == dict(zip(CitationStatus, (1, 1, 1, 2), strict=True))


def test_untrusted_is_over_the_limit_and_at_least_three() -> None:
    rows = [
        # Failed claims, claims, limit, and trust in faithfulness and in the comparison, where the
        # same number failed among twice the claims.
        (0, 10, 0.05, False, False),
        (2, 3, 0.05, False, False),  # an accident
        (3, 59, 0.05, True, False),
        (3, 60, 0.05, False, False),
        (3, 3, 0.05, True, True),
        (6, 100, 0.05, True, False),
        (4, 40, 0.1, False, False),
        (4, 39, 0.05, True, True),
    ]
    for failed, claims, limit, untrusted, other in rows:
        marks = "?" * failed + "f" * (claims - failed)
        results = [answer(mark) for mark in marks]
        assert summarize(results, max_unscored=limit).untrusted is untrusted
        results = [compared(str(i), "f", mark) for i, mark in enumerate(marks)]
        summary = summarize(results, max_unscored=limit)
        assert summary.correctness is not None
        assert (summary.untrusted, summary.correctness.untrusted) == (False, other)


def test_calls_and_flags_are_added_up_and_the_cache_costs_nothing() -> None:
    summary = summarize([answer("f"), answer("f", cached=True), answer("p")])
    assert (summary.calls, summary.cache_hits, summary.models) == (2, 1, {"m-1": 3})
    assert (summary.prompt_tokens, summary.reply_tokens, summary.seconds) == (200, 20, 1.0)
    assert summary.flags[FlagName.UNVERIFIED_QUOTE] == 2
    assert summary.flags[FlagName.INJECTION_SUSPECTED] == 0
    assert summary.signatures == {"s": 3}


def totals(*results: SampleResult) -> CorrectnessTotals:
    return present(summarize(results).correctness)


def test_correctness_is_averaged_over_answers_and_pooled_over_the_claims_of_all() -> None:
    """Precision 1 and ¼, recall ½ and 1: F1 2/3 and 0.4. Pooled: 2/5 and 2/3, so ½ of 8."""
    made = totals(compared("a", "f", "fn"), compared("b", "fnnn", "f"))
    assert score(made.precision) == (1.25 / 2, 2 / 5, 2, 5)
    assert score(made.recall) == (0.75, 2 / 3, 2, 3)
    assert score(made.f1) == pytest.approx(((2 / 3 + 0.4) / 2, 0.5, 2, 8))
    assert made.answer_supports == dict(zip(Support, (2, 0, 3, 0, 0), strict=True))
    assert made.reference_supports == dict(zip(Support, (2, 0, 1, 0, 0), strict=True))
    assert (made.claims, made.sources, made.signatures) == (8, {"llm": 8}, {"c": 2})


def test_a_failed_comparison_is_anything_in_the_bounds_and_nothing_in_the_mean() -> None:
    """F1 1 with bounds [1, 1], and none with [0, 1]."""
    made = totals(compared("a", "f", "f"), compared("b", "?", "??"))
    assert score(made.f1) == (1, 1, 1, 2)
    assert limits(made.f1_bounds) == (0.5, 1, 2)
    assert (made.unscored, made.unscored_share, made.untrusted) == ({TIMEOUT: 3}, 3 / 5, True)
    # A failure of one way leaves F1 open and the other way measured.
    made = totals(compared("a", "f", "?"))
    assert (made.recall, made.f1) == (None, None)
    assert (limits(made.f1_bounds), limits(made.precision_bounds)) == ((0, 1, 1), (1, 1, 1))


def test_overall_an_abstention_from_what_the_reference_claims_is_nothing_said() -> None:
    """F1 1, 0, 0 and one failure. Pooled: precision 1 of 1, recall 1 of 4, so 2 · ¼ / 1¼ of 5."""
    made = totals(
        compared("right", "f", "f"),
        compared("refuses", "a", "nn"),
        compared("asks back", "h", "n"),
        compared("failed", "?", "?"),
        compared("rightly refuses", "a", "a"),
    )
    assert score(made.f1_overall) == pytest.approx((1 / 3, 0.4, 3, 5))
    assert score(made.recall_overall) == pytest.approx((1 / 3, 0.25, 3, 4))
    assert limits(made.f1_overall_bounds) == limits(made.recall_overall_bounds) == (0.25, 0.5, 4)
    # Only the first claims something and is measured both ways.
    assert score(made.f1) == (1, 1, 1, 2)
    assert score(made.precision) == score(made.recall) == (1, 1, 1, 1)
    assert limits(made.f1_bounds) == limits(made.recall_bounds) == (0.5, 1, 2)
    # Refusing everything is 0, not null.
    refused = totals(compared("1", "a", "n"), compared("2", "a", "nh"))
    assert score(refused.f1_overall) == (0, 0, 2, 2)
    assert (refused.f1, refused.precision) == (None, None)


def test_what_has_no_correctness_is_counted_and_in_no_mean() -> None:
    pairs = ("p", "p"), ("a", "h"), ("h", ""), ("-", "-")
    made = totals(*(compared(str(i), *pair) for i, pair in enumerate(pairs)))
    assert made.statuses == {
        status: int(status is not CorrectnessStatus.UNSCORED) for status in CorrectnessStatus
    }
    assert score(made.f1) == (0.5, 0.5, 1, 2)
    assert limits(made.f1_bounds)[2] == 1
    nothing = totals(compared("a", "a", "h"))
    scores = {nothing.f1, nothing.precision, nothing.recall, nothing.f1_bounds}
    assert scores == {None}
    assert (nothing.claims, nothing.unscored_share, nothing.untrusted) == (0, None, False)


def test_the_table_of_quadrants() -> None:
    gold = [WRONG, None, GOOD, MISSED, WRONG, CAUTIOUS, HONEST, OPEN]
    found = present(summarize(answer("", gold=each) for each in gold).breakdown)
    assert [(" ".join(cell.words), cell.half, cell.answers) for cell in found.cells] == [
        ("answerable retrieved answered faithful correct", "neither", 1),
        ("answerable retrieved answered faithful wrong", "generation", 2),
        ("answerable retrieved abstained", "generation", 1),
        ("answerable retrieved answered faithful uncompared", "unknown", 1),
        ("answerable missed answered faithful wrong", "retrieval", 1),
        ("unanswerable abstained", "neither", 1),
    ]
    assert found.halves == {"neither": 2, "retrieval": 1, "generation": 3, "unknown": 1}
    assert (found.counted, found.without_gold, found.conflicting) == (7, 1, 0)
    assert found.signatures == {"s": 7}
    assert summarize([answer(""), answer("")]).breakdown is None


UNASKED = {
    "-": RelevanceStatus.NO_QUERY,
    "a": RelevanceStatus.ABSTAINED,
    "e": RelevanceStatus.EMPTY,
}


def related(marks: str) -> AnswerRelevance:
    """Return the relevance for a question with these parts, a failure (`!`) or a status."""
    if marks in UNASKED:
        return answer_relevance(status=UNASKED[marks], signature="s")
    if marks == "!":
        return answer_relevance(failure=FAILED, signature="s")
    return answer_relevance(with_outcomes(sentences(marks), outcomes(marks)), signature="s")


def asked(marks: str) -> SampleResult:
    whole = aggregate(Sample(qid=marks), sentences("f"), {0: outcome("f")}, [], signature="s")
    return whole.model_copy(update={"answer_relevance": related(marks)})


def relevance_totals(*rows: str) -> RelevanceTotals:
    return present(summarize(map(asked, rows)).answer_relevance)


def test_an_answer_has_the_mean_weight_of_the_parts() -> None:
    rows = [
        # parts, score, bounds, beside
        ("f", 1.0, (1.0, 1.0), False),
        ("p", 0.5, (0.5, 0.5), False),
        ("n", 0.0, (0.0, 0.0), True),
        ("nnn", 0.0, (0.0, 0.0), True),
        ("fpn", 0.5, (0.5, 0.5), False),
        ("nnp", 0.5 / 3, (0.5 / 3, 0.5 / 3), False),
        # A part that a rule leaves without a verdict: it could be answered.
        ("fn?", 0.5, (1 / 3, 2 / 3), False),
        ("n?", 0.0, (0.0, 0.5), False),
        ("?", None, (0.0, 1.0), False),
        ("!", None, (0.0, 1.0), False),
        ("a", None, None, False),
        ("e", None, None, False),
        ("-", None, None, False),
    ]
    for marks, score, bounds, beside in rows:
        found = related(marks)
        assert (found.score, found.bounds, is_beside(found)) == (score, bounds, beside), marks
    assert not is_beside(None)


def test_the_example_of_the_guide() -> None:
    found = relevance_totals("fn", "p", "a", "!")
    assert score(found.relevance) == (0.5, 0.5, 2, 3)
    assert limits(found.relevance_bounds) == (1 / 3, 2 / 3, 3)
    assert score(found.relevance_overall) == (1 / 3, 0.375, 3, 4)
    assert limits(found.relevance_overall_bounds) == (0.25, 0.5, 4)
    assert (found.asked, found.unscored, found.unscored_share) == (
        3,
        {UnscoredReason.TIMEOUT: 1},
        1 / 3,
    )


def test_who_rightly_abstains_has_no_zero() -> None:
    """Gold says that the question has no answer; one who answers it all the same is judged."""
    for answerable, marks, expected in ((True, "a", 0.0), (False, "a", None), (False, "f", 1.0)):
        cell = HONEST.model_copy(update={"answerable": answerable})
        placed = asked(marks).model_copy(update={"cell": cell})
        found = present(summarize([placed]).answer_relevance)
        overall = found.relevance_overall
        assert (overall.macro if overall else None) == expected


SIDES, KNOWN = st.booleans(), st.sampled_from((True, False, None))
QUADRANTS = st.builds(
    Quadrant,
    answerable=SIDES,
    retrieved=SIDES,
    abstained=SIDES,
    faithful=KNOWN,
    correct=KNOWN,
    signature=st.sampled_from(("cells:1|faithful:0.8", "cells:1|faithful:0.9")),
)
MADE = st.builds(
    answer,
    marks=st.text(alphabet=MARKS, max_size=5),
    citations=st.just("v u ? d"),
    reference=st.none() | st.text(alphabet=MARKS, max_size=4),
    gold=st.none() | st.just(CONFLICT) | QUADRANTS,
    cached=st.booleans(),
    seconds=st.floats(0, 1000),
)


@settings(max_examples=25)
@given(st.lists(MADE, max_size=20), st.randoms(use_true_random=False))
def test_the_order_of_the_answers_does_not_matter(
    results: list[SampleResult], draw: random.Random
) -> None:
    assert summarize(draw.sample(results, len(results))) == summarize(results)
