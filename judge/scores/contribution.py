"""What one answer brings to the means of a run: its scores, and their bounds."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from judge.records import (
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
from judge.scores.relevance import of_question
from judge.scores.support import citation_support

CLAIMING: Final = (
    "faithfulness",
    "faithfulness_strict",
    "faithfulness_with_fallback",
    "contradiction_rate",
    *CITING,
)
FALLBACK: Final = "f1_with_fallback"


class Contribution(NamedTuple):
    """Scores by name; None, or no entry, where the answer counts in no mean of that name."""

    values: dict[str, float | None]
    """The scores."""
    limits: dict[str, Limits | None]
    """Those that have bounds, with every failure counted 0, then 1."""


def contribution(result: SampleResult) -> Contribution:
    """All that an answer brings, by the names that gates have."""
    found = of_claims(result, Counts.of(result.sentences, result.citations))
    for name, measured in citation_support(result.sentences, result.citations).items():
        found.values[name], found.limits[name] = measured.value, measured.limits
    if result.correctness is not None:
        values, limits = of_reference(result.correctness)
        found.values.update(values)
        found.limits.update(limits)
    if result.answer_relevance is not None:
        values, limits = of_question(result.answer_relevance, answerable=answerable(result))
        found.values.update(values)
        found.limits.update(limits)
    values, limits = found
    return Contribution(
        {PUBLIC.get(name, name): value for name, value in values.items()},
        {PUBLIC.get(name, name): pair for name, pair in limits.items()},
    )


def of_claims(result: SampleResult, outcomes: Counts) -> Contribution:
    """What the claims bring, whose outcomes these are, and an abstention."""
    scores, limits = result.scores, outcomes.limits()
    values: dict[str, float | None] = {name: getattr(scores, name) for name in CLAIMING}
    if scores.faithfulness_with_fallback is None:
        # An answer in which nothing fell back counts here with the faithfulness it has.
        values["faithfulness_with_fallback"] = scores.faithfulness
    for name in HALLUCINATING:
        low, high = limits[name] or (0.0, 1.0)
        values[name] = low if low == high else None
    abstained = float(result.status is Status.ABSTAINED)
    return Contribution(values | dict.fromkeys(_abstaining(answerable(result)), abstained), limits)


def of_reference(compared: Correctness) -> Contribution:
    """What the comparison with a reference brings, none to a mean it has not all the scores for.

    Precision, recall and F1 are over those that have both of the former; the overall ones over
    those that have recall and F1, or abstained from what the reference claims.
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
    """How many claims its reference makes, judged or not."""
    return sum(sentence.kind is SentenceKind.CLAIM for sentence in compared.reference)


def answerable(result: SampleResult) -> bool | None:
    """Whether its question has an answer: gold evidence tells, or else a reference."""
    if result.cell is not None:
        return result.cell.answerable
    if result.correctness is not None and not conflicting(result):
        kinds = {sentence.kind for sentence in result.correctness.reference}
        if not kinds.isdisjoint({SentenceKind.CLAIM, SentenceKind.ABSTENTION}):
            return SentenceKind.CLAIM in kinds
    return None


def conflicting(result: SampleResult) -> bool:
    """Whether its gold contradicts itself."""
    return any(flag.name is FlagName.CONFLICTING_GOLD for flag in result.flags)


def _abstaining(known: bool | None) -> Iterator[str]:  # noqa: FBT001
    """The abstention rates that an answer counts for."""
    yield "abstentions"
    if known is not None:
        yield ABSTAINING[1 if known else 2]


def is_barren(result: SampleResult) -> bool:
    """Whether something of it was to be judged, and nothing of that was."""
    compared, related = result.correctness, result.answer_relevance
    if related is not None and related.status is RelevanceStatus.UNSCORED:
        return True
    parts = (result.scores, *((compared.of_answer, compared.of_reference) if compared else ()))
    return any(part.unscored and not part.judged + part.no_claim for part in parts)


def is_fresh(result: SampleResult) -> bool:
    """Whether anybody was asked for it."""
    return any(not call.cached for call in result.calls)
