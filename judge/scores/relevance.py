"""How far an answer answers its question."""

from collections.abc import Sequence

from judge.records import (
    AnswerRelevance,
    Flag,
    RelevanceStatus,
    Sample,
    SampleResult,
    SentenceResult,
    Status,
    Support,
    Unscored,
    Verdict,
)
from judge.scores.answer import Counts


def unasked(sample: Sample, result: SampleResult) -> RelevanceStatus | None:
    """Return why no judge is asked about an answer's relevance; None where one is asked."""
    if not any(map(str.isalnum, sample.query)):
        return RelevanceStatus.NO_QUERY
    if result.status is Status.ABSTAINED:
        return RelevanceStatus.ABSTAINED
    return None if sample.answer.strip() else RelevanceStatus.EMPTY


def answer_relevance(
    parts: Sequence[SentenceResult] = (),
    *,
    status: RelevanceStatus | None = None,
    failure: Unscored | None = None,
    flags: Sequence[Flag] = (),
    signature: str,
) -> AnswerRelevance:
    """Answer relevance: (full + ½ partial) / parts with a verdict, 0 to 1; None without any.

    The bounds count every unscored part 0, then 1; they are 0 and 1 where the whole question has no
    verdict. Source: TruLens' answer relevance and Ragas' response relevancy measure the same; the
    three labels of a part are those of TREC RAG's nuggets (Pradeep et al. 2024).

    Args:
        parts: the parts of the question with their outcomes.
        status: why no judge was asked; None where one was.
        failure: why a judge that was asked named no parts.
        flags: flags of the parts.
        signature: how the verdicts were made.
    """
    counts = Counts.of(parts)
    if failure is not None:
        counts.add(failure)
    judged = RelevanceStatus.SCORED if counts.judged else RelevanceStatus.UNSCORED
    return AnswerRelevance(
        status=status or judged,
        score=counts.mean,
        bounds=counts.bounds,
        parts=tuple(parts),
        failure=failure,
        flags=tuple(flags),
        signature=signature,
    )


def is_beside(found: AnswerRelevance | None) -> bool:
    """Whether each part of the question has a verdict and every verdict is `none`."""
    if found is None or not found.parts:
        return False
    outcomes = [part.outcome for part in found.parts]
    return all(isinstance(o, Verdict) and o.support is Support.NONE for o in outcomes)
