"""Scores retrieval by the reference: how much of it the chunks support, and how early."""

from collections.abc import Sequence

from judge.records import (
    SUPPORTED,
    ContextScores,
    ContextStatus,
    Sample,
    SampleResult,
    Status,
    Verdict,
)
from judge.records.sentence import ClaimCounts
from judge.scores.answer import Limits
from judge.scores.correctness import seen_ids


def context_precision(relevant: Sequence[bool]) -> float:
    """Return the average precision of chunks, given in ranked order whether each is relevant.

    Formula: Σ precision@k over the ranks k of relevant chunks ÷ number of relevant chunks, where
    precision@k is the share of relevant chunks among the first k. It is 0 without a relevant chunk.
    Range: 0 to 1. Source: Ragas, `LLMContextPrecisionWithReference`; this is average precision
    (Buckley and Voorhees 2000) with all relevant chunks retrieved.

    Of three chunks the first and the third are relevant: (1 ÷ 1 + 2 ÷ 3) ÷ 2 = .833. If the two
    relevant chunks come first, it is (1 ÷ 1 + 2 ÷ 2) ÷ 2 = 1.

    >>> round(context_precision([True, False, True]), 3), context_precision([True, True, False])
    (0.833, 1.0)
    """
    found, total = 0, 0.0
    for rank, is_relevant in enumerate(relevant, 1):
        if is_relevant:
            found += 1
            total += found / rank
    return total / found if found else 0.0


def precision_bounds(relevant: Sequence[bool]) -> Limits:
    """Return the least and the most context precision, if other chunks may be relevant, too.

    The most is 1: all chunks may be relevant. The least has the last few ranks relevant, because
    each relevant chunk adds less, the lower its rank.

    Of three chunks the first is relevant. If the third is, too: (1 ÷ 1 + 2 ÷ 3) ÷ 2 = .833.

    >>> low, high = precision_bounds([True, False, False])
    >>> round(low, 3), high
    (0.833, 1.0)
    """
    found, total, firsts = 0, 0.0, [(0, 0.0)]
    for rank, is_relevant in enumerate(relevant, 1):
        found += is_relevant
        total += found / rank if is_relevant else 0.0
        firsts.append((found, total))
    size, inverses, least = len(relevant), 0.0, context_precision(relevant)
    for first in reversed(range(size)):
        # All ranks k after `first` are relevant: their precision is (found + k - first) ÷ k.
        found, total = firsts[first]
        inverses += 1 / (first + 1)
        others = size - first
        least = min(least, (total + others + (found - first) * inverses) / (found + others))
    return least, float(size > 0)


def context_scores(sample: Sample, found: SampleResult) -> ContextScores:
    """Return the context scores of an answer.

    Args:
        sample: the answer, its reference and its chunks.
        found: the result of judging the reference as if it were the answer.
    """
    scores, outcomes = found.scores, [each.outcome for each in found.sentences]
    own = [each for each in outcomes if isinstance(each, Verdict) and not each.fallback_from]
    supporting = {name for each in own if each.support in SUPPORTED for name in each.supporting}
    relevant = [sample.chunks[place].chunk_id in supporting for place in _ranking(sample)]
    status = Status.NO_CLAIMS if found.status is Status.ABSTAINED else found.status
    limits = None
    if scores.faithfulness_bounds is not None:
        precision = context_precision(relevant)
        limits = precision_bounds(relevant) if scores.unscored else (precision, precision)
    return ContextScores(
        status=ContextStatus(status.value) if found.sentences else ContextStatus.NO_REFERENCE,
        recall=scores.faithfulness,
        recall_bounds=scores.faithfulness_bounds,
        precision=None if scores.faithfulness is None else context_precision(relevant),
        precision_bounds=limits,
        of_reference=ClaimCounts(
            **{name: getattr(scores, name) for name in ClaimCounts.model_fields}
        ),
        reference=found.sentences,
        # Flags of the whole sample are those of the answer's result.
        flags=tuple(flag for flag in found.flags if flag.sentence is not None),
        signature=found.signature,
    )


def _ranking(sample: Sample) -> list[int]:
    """Return the positions of the chunks in ranked order.

    That is the order of `retrieved` if it has all of them, else their own.
    """
    ids = seen_ids(sample)
    ranks = {name: rank for rank, name in reversed([*enumerate(sample.retrieved or ())])}
    places = list(range(len(sample.chunks)))
    return sorted(places, key=lambda place: ranks[ids[place]]) if ranks.keys() >= {*ids} else places
