import random

import pytest

from judge.records import (
    Call,
    Citation,
    CitationStatus,
    Flag,
    FlagName,
    JudgeOutcome,
    Sample,
    SampleResult,
    Sentence,
    SentenceKind,
    Status,
    Summary,
    Support,
    Unscored,
    UnscoredReason,
    Verdict,
)
from judge.scores.aggregate import aggregate
from judge.scores.interval import wilson
from judge.scores.totals import summarize

TIMEOUT = Unscored(reason=UnscoredReason.TIMEOUT)


def answer(qid: str, marks: str, citations: str = "", *, cached: bool = False) -> SampleResult:
    """An answer whose sentences are, by letter: full, partial, none, contradicted, no claim (-),
    timed out (?), supported by the fallback (y), not supported by it (N), abstention (a)."""
    outcomes: dict[int, JudgeOutcome] = {}
    sentences = []
    for i, mark in enumerate(marks):
        kind = SentenceKind.ABSTENTION if mark == "a" else SentenceKind.CLAIM
        sentences.append(Sentence(index=i, start=0, end=1, text="x", kind=kind))
        if mark != "a":
            outcomes[i] = _outcome(mark)
    names = {"v": "valid", "u": "unsupported", "d": "dangling", "?": "unjudged"}
    found = [
        Citation(
            sentence=i % len(marks),
            marker="[1]",
            start=0,
            end=3,
            chunk_id=None if status == "d" else "1",
            status=CitationStatus(names[status]),
        )
        for i, status in enumerate(citations)
    ]
    call = Call(model="m-1", prompt_tokens=100, reply_tokens=10, seconds=0.5, cached=cached)
    flags = [Flag(name=FlagName.UNVERIFIED_QUOTE, sentence=0)] if marks[:1] == "f" else []
    return aggregate(
        Sample(qid=qid), sentences, outcomes, found, flags=flags, calls=[call], signature="s"
    )


def _outcome(mark: str) -> JudgeOutcome:
    if mark == "?":
        return TIMEOUT
    labels = {"f": "full", "p": "partial", "n": "none", "c": "contradicted", "-": "no_claim"}
    if mark in "yN":
        support = Support.FULL if mark == "y" else Support.NONE
        return Verdict(
            support=support, source="similarity", signature="s", fallback_from=TIMEOUT, score=0.5
        )
    support = Support(labels[mark])
    return Verdict(support=support, cited_support=support, source="llm", signature="s")


def test_macro_is_over_answers_and_micro_over_sentences() -> None:
    """Faithfulness 1, .5 and .125 of 1, 2 and 4 sentences."""
    summary = summarize([answer("a", "f"), answer("b", "pp"), answer("c", "pnnc")])
    assert summary.faithfulness is not None
    assert summary.faithfulness.macro == pytest.approx((1 + 0.5 + 0.125) / 3)
    assert summary.faithfulness.micro == pytest.approx((1 + 1 + 0.5) / 7)
    assert (summary.faithfulness.answers, summary.faithfulness.items) == (3, 7)
    assert summary.faithfulness_strict is not None
    assert summary.faithfulness_strict.macro == pytest.approx(1 / 3)
    assert summary.faithfulness_strict.micro == pytest.approx(1 / 7)
    assert summary.contradiction_rate is not None
    assert summary.contradiction_rate.macro == pytest.approx(0.25 / 3)
    assert summary.contradiction_rate.micro == pytest.approx(1 / 7)
    low, high = wilson((1 + 0.5 + 0.125) / 3, 3)
    interval = summary.faithfulness.interval
    assert (interval.low, interval.high) == pytest.approx((low, high))
    assert interval.method == "wilson"


def test_an_unscored_answer_is_anything_in_the_bounds_and_nothing_in_the_mean() -> None:
    """[1, 1], the worked example's [.375, .625], and [0, 1]."""
    summary = summarize([answer("a", "ff"), answer("b", "fpn?"), answer("c", "??")])
    assert summary.faithfulness is not None
    assert summary.faithfulness.macro == 0.75
    assert summary.faithfulness.answers == 2
    bounds = summary.faithfulness_bounds
    assert bounds is not None
    assert (bounds.low, bounds.high) == pytest.approx((1.375 / 3, 2.625 / 3))
    assert bounds.answers == 3
    assert bounds.low_interval.low == pytest.approx(wilson(1.375 / 3, 3)[0])
    assert summary.statuses[Status.UNSCORED] == 1
    assert summary.unscored == {UnscoredReason.TIMEOUT: 3}
    assert summary.unscored_share == pytest.approx(3 / 8)
    assert summary.untrusted


def test_answers_without_claims_are_counted_and_in_no_mean() -> None:
    summary = summarize([answer("a", "p"), answer("b", "aa"), answer("c", ""), answer("d", "-")])
    assert summary.answers == 4
    assert summary.statuses == {
        Status.ABSTAINED: 1,
        Status.NO_CLAIMS: 2,
        Status.UNSCORED: 0,
        Status.SCORED: 1,
    }
    assert summary.abstention_rate == 0.25
    assert summary.faithfulness is not None
    assert (summary.faithfulness.macro, summary.faithfulness.answers) == (0.5, 1)
    assert summary.faithfulness_bounds is not None
    assert summary.faithfulness_bounds.answers == 1
    assert (summary.claims, summary.judged, summary.supports[Support.NO_CLAIM]) == (2, 1, 1)


def test_fallback_verdicts_enter_only_the_score_that_says_so() -> None:
    """Own faithfulness 1 and 0; with the fallback (1 + 1 + 0)/3 and 0."""
    summary = summarize([answer("a", "fyN"), answer("b", "n")])
    assert summary.faithfulness is not None
    assert summary.faithfulness.macro == 0.5
    assert summary.faithfulness_with_fallback is not None
    assert summary.faithfulness_with_fallback.macro == pytest.approx(1 / 3)
    assert summary.faithfulness_with_fallback.micro == 0.5
    assert summary.faithfulness_with_fallback.items == 4
    assert (summary.judged, summary.fallen_back) == (2, 2)
    assert summary.unscored == {UnscoredReason.TIMEOUT: 2}
    assert summary.sources == {"llm": 2, "similarity": 2}
    assert summary.supports[Support.FULL] == 1
    assert not summary.untrusted  # two failures are an accident


def test_citations() -> None:
    """Validity 1/2 and 0; with the unjudged bounds [1/4, 3/4] and [0, 0]; pooled 1/3."""
    summary = summarize([answer("a", "f???", citations="vu??"), answer("b", "n", citations="d")])
    assert summary.citation_validity is not None
    assert summary.citation_validity.macro == 0.25
    assert summary.citation_validity.micro == pytest.approx(1 / 3)
    bounds = summary.citation_validity_bounds
    assert bounds is not None
    assert (bounds.low, bounds.high) == (0.125, 0.375)
    assert summary.coverage is not None
    assert (summary.coverage.macro, summary.coverage.micro) == (0.5, 0.8)
    assert summary.citation_recall is not None
    assert (summary.citation_recall.macro, summary.citation_recall.micro) == (0.5, 0.5)
    assert summary.citations == dict(
        zip(CitationStatus, (1, 1, 1, 2), strict=True)  # valid, unsupported, dangling, unjudged
    )


@pytest.mark.parametrize(
    ("failed", "claims", "untrusted"),
    [(0, 10, False), (2, 3, False), (3, 59, True), (3, 60, False), (3, 3, True), (6, 100, True)],
)
def test_untrusted_is_over_five_per_cent_and_at_least_three(
    failed: int, claims: int, *, untrusted: bool
) -> None:
    results = [answer(str(i), "?" if i < failed else "f") for i in range(claims)]
    assert summarize(results).untrusted is untrusted


def test_the_limit_can_be_set() -> None:
    results = [answer(str(i), "?" if i < 4 else "f") for i in range(40)]
    assert summarize(results, max_unscored=0.05).untrusted
    assert not summarize(results, max_unscored=0.1).untrusted


def test_nothing_at_all_is_null() -> None:
    summary = summarize([])
    assert (summary.answers, summary.claims, summary.calls) == (0, 0, 0)
    scores = (summary.faithfulness, summary.coverage, summary.citation_validity)
    shares = (summary.unscored_share, summary.abstention_rate, summary.faithfulness_bounds)
    assert {*scores, *shares} == {None}
    assert not summary.untrusted


def test_all_failed_is_null_between_zero_and_one() -> None:
    summary = summarize(answer(str(i), "??") for i in range(60))
    assert summary.faithfulness is None
    assert summary.faithfulness_bounds is not None
    assert (summary.faithfulness_bounds.low, summary.faithfulness_bounds.high) == (0, 1)
    assert summary.untrusted


def test_calls_and_flags_are_added_up_and_the_cache_costs_nothing() -> None:
    summary = summarize([answer("a", "f"), answer("b", "f", cached=True), answer("c", "p")])
    assert (summary.calls, summary.cache_hits, summary.models) == (2, 1, {"m-1": 3})
    assert (summary.prompt_tokens, summary.reply_tokens, summary.seconds) == (200, 20, 1.0)
    assert summary.flags[FlagName.UNVERIFIED_QUOTE] == 2
    assert summary.flags[FlagName.INJECTION_SUSPECTED] == 0
    assert summary.signatures == {"s": 3}


def test_the_order_of_the_answers_does_not_matter() -> None:
    draw = random.Random(1)  # noqa: S311  no secret
    marks = ["".join(draw.choices("fpnc-?yNa", k=draw.randint(0, 6))) for _ in range(200)]
    results = [answer(f"q{i}", mark, citations="vu?d"[: len(mark)]) for i, mark in enumerate(marks)]
    first = summarize(results)
    draw.shuffle(results)
    second = summarize(iter(results))
    assert first.faithfulness is not None
    assert first.faithfulness.interval.method == "poisson_bootstrap"
    _assert_near(first, second)


def _assert_near(first: Summary, second: Summary) -> None:
    def flat(value: object, path: str = "") -> dict[str, object]:
        if not isinstance(value, dict):
            return {path: value}
        parts = [flat(part, f"{path}.{key}") for key, part in value.items()]
        return {key: leaf for part in parts for key, leaf in part.items()}

    here, there = flat(first.model_dump()), flat(second.model_dump())
    assert here.keys() == there.keys()
    for key, value in here.items():
        near = pytest.approx(value, rel=1e-12) if isinstance(value, float) else value
        assert there[key] == near, key


def test_another_seed_moves_the_interval_and_nothing_else() -> None:
    results = [answer(str(i), "fn"[i % 2]) for i in range(80)]
    first, second = summarize(results, seed=0), summarize(results, seed=1)
    assert first.faithfulness is not None
    assert second.faithfulness is not None
    assert first.faithfulness.macro == second.faithfulness.macro == 0.5
    assert first.faithfulness.interval != second.faithfulness.interval
    assert summarize(results, seed=1) == second


def test_no_failure_hides_in_a_share_of_the_judged() -> None:
    """One of two judged is full, two timed out: 1/2 measured, between 1/4 and 3/4."""
    summary = summarize([answer("a", "fn??")])
    assert summary.faithfulness_strict is not None
    assert summary.faithfulness_strict.macro == pytest.approx(1 / 2)
    for name in ("faithfulness", "faithfulness_strict", "citation_recall"):
        bounds = getattr(summary, f"{name}_bounds")
        assert (bounds.low, bounds.high) == pytest.approx((1 / 4, 3 / 4))
    assert summarize([answer("b", "--")]).faithfulness_strict_bounds is None
