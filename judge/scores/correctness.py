"""How an answer agrees with its reference."""

from collections.abc import Iterator, Sequence
from typing import Final

from judge.checks.alternatives import offered
from judge.records import (
    ComparedClaims,
    ComparedSentence,
    Correctness,
    CorrectnessStatus,
    Flag,
    FlagName,
    Judgment,
    Sentence,
    SentenceKind,
    Support,
    Verdict,
)
from judge.scores.answer import Counts, Limits, with_outcomes

_UNKNOWN: Final = (0.0, 1.0)
"""The bounds of a score that is unknown, or for which there is nothing to measure."""


def f1(precision: float | None, recall: float | None) -> float | None:
    """Harmonic mean 2 p r / (p + r) of two shares, 0 to 1.

    0 where both are 0; None where one of them is None. Source: van Rijsbergen 1979, "Information
    Retrieval", chapter 7, with both sides weighed alike.

    >>> round(f1(0.5, 1.0), 6), f1(0.0, 0.0), f1(None, 1.0)
    (0.666667, 0.0, None)
    """
    if precision is None or recall is None:
        return None
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def correctness(
    sentences: Sequence[Sentence],
    reference: Sequence[Sentence],
    forth: Judgment,
    back: Judgment,
    *,
    signature: str,
) -> Correctness:
    """Put the comparison of one answer with its reference together.

    Args:
        sentences: the sentences of the answer.
        reference: the sentences of the reference; empty where there is none.
        forth: the verdicts on the answer's claims, with the reference as evidence.
        back: the verdicts on the reference's claims, with the answer as evidence.
        signature: how the verdicts were made.
    """
    claims = tuple(ComparedSentence(index=i, outcome=o) for i, o in sorted(forth.outcomes.items()))
    references = with_outcomes(reference, back.outcomes)
    precision, recall = Counts.of(claims), Counts.of(references)
    value = _f1(precision, recall)
    return Correctness(
        status=_status(sentences, reference, precision, recall),
        precision=precision.mean,
        precision_bounds=precision.bounds,
        recall=recall.mean,
        recall_bounds=recall.bounds,
        f1=value,
        f1_bounds=_bounds(precision, recall, value),
        f1_with_fallback=_with_fallback(precision, recall),
        of_answer=_claims(precision),
        of_reference=_claims(recall),
        answer=claims,
        reference=references,
        answer_flags=(*forth.flags, *_offers(sentences, forth, back)),
        reference_flags=back.flags,
        signature=signature,
    )


def _offers(sentences: Sequence[Sentence], forth: Judgment, back: Judgment) -> Iterator[Flag]:
    """Flag the claims of the answer that offer alternatives to what the reference asks.

    A claim counts if it overlaps the evidence of a verdict on the reference. Where no verdict has
    evidence, each claim that offers alternatives counts.
    """
    verdicts = [each for each in back.outcomes.values() if isinstance(each, Verdict)]
    places = [(e.start, e.end) for each in verdicts for e in each.evidence]
    alone = len(forth.outcomes) == 1
    for each in sentences:
        here = not places or any(
            start is None or end is None or (each.start < end and start < each.end)
            for start, end in places
        )
        if here and each.index in forth.outcomes and offered(each.text, alone=alone):
            yield Flag(name=FlagName.ALTERNATIVES, sentence=each.index)


def _f1(precision: Counts, recall: Counts) -> float | None:
    """F1 of the means; where one is lacking, the value it has whatever that one were."""
    value = f1(precision.mean, recall.mean)
    if value is None:
        low, high = _limits(precision.bounds or _UNKNOWN, recall.bounds or _UNKNOWN)
        value = low if low == high else None
    return value


def _with_fallback(precision: Counts, recall: Counts) -> float | None:
    if not (precision.fallen_back or recall.fallen_back):
        return None
    return f1(precision.mean_with_fallback, recall.mean_with_fallback)


def _bounds(precision: Counts, recall: Counts, value: float | None) -> Limits | None:
    if precision.bounds is not None and recall.bounds is not None:
        return _limits(precision.bounds, recall.bounds)
    return None if value is None else (value, value)


def _limits(precision: Limits, recall: Limits) -> Limits:
    # F1 rises with both, so that its limits are those of precision and recall.
    low, high = (f1(p, r) or 0.0 for p, r in zip(precision, recall, strict=True))
    return low, high


def _status(
    sentences: Sequence[Sentence], reference: Sequence[Sentence], precision: Counts, recall: Counts
) -> CorrectnessStatus:
    kinds = {sentence.kind for sentence in sentences}
    if not reference:
        return CorrectnessStatus.NO_REFERENCE
    if SentenceKind.CLAIM not in kinds and SentenceKind.ABSTENTION in kinds:
        return CorrectnessStatus.ABSTAINED
    if precision.judged or recall.judged:
        return CorrectnessStatus.SCORED
    if precision.failed or recall.failed:
        return CorrectnessStatus.UNSCORED
    return CorrectnessStatus.NO_CLAIMS


def _claims(counts: Counts) -> ComparedClaims:
    return ComparedClaims(**counts.claimed(), contradicted=counts.own[Support.CONTRADICTED])
