"""How an answer agrees with its reference."""

from collections.abc import Mapping, Sequence

from judge.metrics.shares import f1
from judge.records import (
    ComparedClaims,
    ComparedSentence,
    Correctness,
    CorrectnessStatus,
    Excluded,
    JudgeOutcome,
    Sentence,
    SentenceKind,
    SentenceResult,
    Support,
)
from judge.steps.aggregate.tally import Tally


def correctness(
    sentences: Sequence[Sentence],
    reference: Sequence[Sentence],
    outcomes: Mapping[int, JudgeOutcome],
    covered: Mapping[int, JudgeOutcome],
    *,
    signature: str,
) -> Correctness:
    """Put the comparison of one answer with its reference together.

    Args:
        sentences: of the answer.
        reference: its sentences; empty where there is none.
        outcomes: of the answer's claims, the reference being the evidence, by index.
        covered: of the reference's claims, the answer being the evidence, by index.
        signature: how they were made.
    """
    precision, recall = Tally(outcomes.values()), Tally(covered.values())
    fell_back = precision.fell_back or recall.fell_back
    return Correctness(
        status=_status(sentences, reference, precision, recall),
        precision=precision.mean,
        precision_bounds=precision.bounds,
        recall=recall.mean,
        recall_bounds=recall.bounds,
        f1=f1(precision.mean, recall.mean),
        f1_bounds=_bounds(precision.bounds, recall.bounds),
        f1_with_fallback=(
            f1(precision.mean_with_fallback, recall.mean_with_fallback) if fell_back else None
        ),
        of_answer=_counts(precision),
        of_reference=_counts(recall),
        answer=tuple(ComparedSentence(index=i, outcome=outcomes[i]) for i in sorted(outcomes)),
        reference=tuple(
            SentenceResult(**dict(sentence), outcome=covered.get(sentence.index, Excluded()))
            for sentence in reference
        ),
        signature=signature,
    )


def _bounds(
    precision: tuple[float, float] | None, recall: tuple[float, float] | None
) -> tuple[float, float] | None:
    # F1 rises with either, so that its extremes stand at theirs.
    low, high = (f1(p, r) for p, r in zip(precision or _NONE, recall or _NONE, strict=True))
    return None if low is None or high is None else (low, high)


_NONE = (None, None)


def _status(
    sentences: Sequence[Sentence], reference: Sequence[Sentence], precision: Tally, recall: Tally
) -> CorrectnessStatus:
    kinds = {sentence.kind for sentence in sentences}
    if not reference:
        return CorrectnessStatus.NO_REFERENCE
    if SentenceKind.CLAIM not in kinds and SentenceKind.ABSTENTION in kinds:
        return CorrectnessStatus.ABSTAINED
    if precision.judged or recall.judged:
        return CorrectnessStatus.SCORED
    if precision.unscored or recall.unscored:
        return CorrectnessStatus.UNSCORED
    return CorrectnessStatus.NO_CLAIMS


def _counts(tally: Tally) -> ComparedClaims:
    return ComparedClaims(
        claims=tally.claims,
        judged=len(tally.judged),
        unscored=tally.unscored,
        no_claim=tally.no_claim,
        contradicted=tally.count(Support.CONTRADICTED),
    )
