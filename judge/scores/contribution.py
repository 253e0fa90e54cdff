"""Scores of one answer for the means of a run, with their bounds."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from judge.records import (
    AnswerRelevance,
    Correctness,
    CorrectnessStatus,
    FlagName,
    RelevanceStatus,
    SampleResult,
    SentenceKind,
    Status,
)
from judge.records.summary import (
    ABSTAINING,
    CITING,
    COMPARED,
    HALLUCINATING,
    OVERALL,
    PUBLIC,
)
from judge.scores.answer import Counts, Limits
from judge.scores.support import Supported, citation_support

CLAIMING: Final = (
    "faithfulness",
    "faithfulness_strict",
    "faithfulness_with_fallback",
    "contradiction_rate",
    *CITING,
)
FALLBACK: Final = "f1_with_fallback"
RELEVANCE: Final = ("relevance_overall", "relevance")
UNANSWERING: Final = frozenset({RelevanceStatus.ABSTAINED, RelevanceStatus.EMPTY})
"""Answers with these statuses answer no part of the question, and no judge is asked about them."""


class Contribution(NamedTuple):
    """Scores by name; None, or no entry, where the answer counts in no mean of that name."""

    values: dict[str, float | None]
    """The scores."""
    limits: dict[str, Limits | None]
    """The scores that have bounds: with every failure counted 0, then 1."""


def contribution(result: SampleResult) -> Contribution:
    """Return the scores of one answer by the names that gates use."""
    sentences, citations = result.sentences, result.citations
    supported = citation_support(sentences, citations)
    values, limits = contributed(result, Counts.of(sentences, citations), supported)
    return Contribution(
        {PUBLIC.get(name, name): value for name, value in values.items()},
        {PUBLIC.get(name, name): pair for name, pair in limits.items()},
    )


def contributed(
    result: SampleResult, outcomes: Counts, supported: Mapping[str, Supported]
) -> Contribution:
    """Return the scores of one answer by the names of the totals' fields.

    Args:
        result: the answer's result.
        outcomes: the counts of its sentences and citations.
        supported: how far its citations support its sentences.
    """
    scores, limits = result.scores, outcomes.limits()
    values: dict[str, float | None] = {name: getattr(scores, name) for name in CLAIMING}
    if scores.faithfulness_with_fallback is None:
        # An answer without fallback verdicts counts here with its plain faithfulness.
        values["faithfulness_with_fallback"] = scores.faithfulness
    for name in HALLUCINATING:
        low, high = limits[name] or (0.0, 1.0)
        values[name] = low if low == high else None
    known = answerable(result)
    rates = ABSTAINING[:1] if known is None else (ABSTAINING[0], ABSTAINING[1 if known else 2])
    values |= dict.fromkeys(rates, float(result.status is Status.ABSTAINED))
    for name, measured in supported.items():
        values[name], limits[name] = measured.value, measured.limits
    if result.correctness is not None:
        compared = _of_reference(result.correctness)
        values, limits = values | compared.values, limits | compared.limits
    if result.answer_relevance is not None:
        related = _of_question(result.answer_relevance, known)
        values, limits = values | related.values, limits | related.limits
    return Contribution(values, limits)


def _of_question(found: AnswerRelevance, known: bool | None) -> Contribution:  # noqa: FBT001
    """An answer that answers nothing counts 0 in the overall mean of relevance.

    It counts in no mean where gold says that the question has no answer.
    """
    if found.status not in UNANSWERING:
        return Contribution(
            dict.fromkeys(RELEVANCE, found.score), dict.fromkeys(RELEVANCE, found.bounds)
        )
    if known is False:
        return Contribution({}, {})
    return Contribution({"relevance_overall": 0.0}, {"relevance_overall": (0.0, 0.0)})


def _of_reference(compared: Correctness) -> Contribution:
    """Return the scores of a comparison with a reference.

    Precision, recall and F1 count only where there are both precision and recall. The overall
    scores count where there are recall and F1, or where the answer abstains although the reference
    claims something.
    """
    sides = compared.precision, compared.recall
    values: dict[str, float | None] = {}
    limits: dict[str, Limits | None] = {}
    if None not in sides:
        values = {name: getattr(compared, name) for name in COMPARED}
    if None not in (compared.precision_bounds, compared.recall_bounds):
        limits = {name: getattr(compared, f"{name}_bounds") for name in COMPARED}
    # An answer in which nothing fell back counts here with the F1 it has.
    fallen_back = compared.f1_with_fallback
    values[FALLBACK] = values.get("f1") if fallen_back is None else fallen_back
    if compared.status is CorrectnessStatus.ABSTAINED and claimed(compared):
        values |= dict.fromkeys(OVERALL, 0.0)
        limits |= dict.fromkeys(OVERALL, (0.0, 0.0))
    if None not in (compared.f1, compared.recall):
        values |= {"f1_overall": compared.f1, "recall_overall": compared.recall}
    if compared.f1_bounds is not None and compared.recall_bounds is not None:
        limits |= {"f1_overall": compared.f1_bounds, "recall_overall": compared.recall_bounds}
    return Contribution(values, limits)


def claimed(compared: Correctness) -> int:
    """Return the number of claims in the reference, judged or not."""
    return sum(sentence.kind is SentenceKind.CLAIM for sentence in compared.reference)


def answerable(result: SampleResult) -> bool | None:
    """Whether the question has an answer, by gold evidence or else by the reference."""
    if result.cell is not None:
        return result.cell.answerable
    if result.correctness is not None and not conflicting(result):
        kinds = {sentence.kind for sentence in result.correctness.reference}
        if not kinds.isdisjoint({SentenceKind.CLAIM, SentenceKind.ABSTENTION}):
            return SentenceKind.CLAIM in kinds
    return None


def conflicting(result: SampleResult) -> bool:
    """Whether the gold of an answer contradicts itself."""
    return any(flag.name is FlagName.CONFLICTING_GOLD for flag in result.flags)


def is_barren(result: SampleResult) -> bool:
    """Whether the judge was asked about an answer and gave no verdict at all."""
    compared, related = result.correctness, result.answer_relevance
    if related is not None and related.status is RelevanceStatus.UNSCORED:
        return True
    parts = (result.scores, *((compared.of_answer, compared.of_reference) if compared else ()))
    return any(part.unscored and not part.judged + part.no_claim for part in parts)


def is_fresh(result: SampleResult) -> bool:
    """Whether a model was called for an answer, instead of the cache alone."""
    return any(not call.cached for call in result.calls)
