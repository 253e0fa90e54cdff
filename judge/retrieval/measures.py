"""Rank measures of one query: gains at ranks 1…n, compared with all that is relevant.

These conventions hold for all of them:

- `gains`: relevance of the chunk at each rank, no chunk twice. A relevance above 0 is relevant,
  fractions included.
- `relevant`: R, the number of relevant chunks of the query, at least as many as `gains` has.
- `judged`: relevance of every relevant chunk of the query, in any order.
- `k`: the number of ranks, 1 or more, also beyond the ranking's end; None is all.
- found(k): the number of relevant chunks among the first k.
- A query without relevant chunks gives 0.0, trec_eval's convention; the caller decides whether it
  counts in a mean.
- Ties are broken before, by the order.
"""

import math
from collections.abc import Sequence
from typing import Literal, TypeAlias

Gain: TypeAlias = Literal["linear", "exp2"]


def hit_at_k(gains: Sequence[float], k: int) -> float:
    """Return whether a relevant chunk is among the first k.

    Some authors call it Recall@k; it equals `recall_at_k` if one chunk is relevant.

    Formula: 1 if found(k) ≥ 1, else 0
    Range: 0 or 1; its mean 0 to 1
    Source: trec_eval, success

    >>> hit_at_k([0, 1, 0], 2), hit_at_k([0, 0, 1], 2)
    (1.0, 0.0)
    """
    return float(_found(gains, k) > 0)


def recall_at_k(gains: Sequence[float], k: int, relevant: int) -> float:
    """Return the share of all relevant chunks that is among the first k.

    Formula: found(k) ÷ R
    Range: 0 to 1
    Source: Kent et al. 1955; trec_eval, recall

    >>> recall_at_k([1, 1, 0], 2, relevant=4)
    0.5
    """
    return _found(gains, k) / relevant if relevant else 0.0


def precision_at_k(gains: Sequence[float], k: int) -> float:
    """Return the share of the first k ranks with a relevant chunk, also beyond the ranking's end.

    Formula: found(k) ÷ k
    Range: 0 to 1
    Source: Kent et al. 1955; trec_eval, P

    >>> precision_at_k([0, 1, 0], 2), precision_at_k([1], 4)
    (0.5, 0.25)
    """
    return _found(gains, k) / k


def f1_at_k(gains: Sequence[float], k: int, relevant: int) -> float:
    """Return the harmonic mean of precision and recall at k.

    Formula: 2·found(k) ÷ (k + R)
    Range: 0 to 1
    Source: van Rijsbergen 1979

    >>> f1_at_k([0, 1, 1, 0], 4, relevant=6)
    0.4
    """
    return 2 * _found(gains, k) / (k + relevant)


def reciprocal_rank(gains: Sequence[float], k: int | None = None) -> float:
    """Return the reciprocal rank of the first relevant chunk; the mean over queries is MRR.

    Formula: 1 ÷ rank of the first relevant chunk, 0 if none
    Range: 0 to 1
    Source: Voorhees 1999; trec_eval, recip_rank

    >>> reciprocal_rank([0, 1, 1]), reciprocal_rank([0, 0, 0])
    (0.5, 0.0)
    """
    return next((1 / rank for rank, gain in enumerate(gains[:k], 1) if gain > 0), 0.0)


def average_precision(gains: Sequence[float], relevant: int, k: int | None = None) -> float:
    """Return the average precision at the ranks of relevant chunks; the mean is MAP.

    A relevant chunk beyond the first k counts as precision 0: the divisor is R, not min(k, R), as
    in trec_eval's `map_cut`.

    Formula: Σ precision@i over the ranks i of relevant chunks, ÷ R
    Range: 0 to 1
    Source: Buckley and Voorhees 2000; trec_eval, map

    >>> average_precision([0, 1, 0, 1], relevant=4)
    0.25
    """
    ranks = [rank for rank, gain in enumerate(gains[:k], 1) if gain > 0]
    found = sum(number / rank for number, rank in enumerate(ranks, 1))
    return found / relevant if relevant else 0.0


def dcg(gains: Sequence[float], k: int | None = None, *, gain: Gain = "linear") -> float:
    """Return the relevance among the first k, discounted by rank.

    Every rank is discounted by log2(i + 1), as in trec_eval; Järvelin and Kekäläinen leave the
    first ranks undiscounted. For relevance 0 and 1 both gains are the same.

    Formula: Σ_{i ≤ k} gain(rel_i) ÷ log2(i + 1), gain(r) = r or 2^r − 1
    Range: 0 and up
    Source: Järvelin and Kekäläinen 2002; gain 2^r − 1: Burges et al. 2005

    >>> dcg([3, 0, 2]), dcg([3, 0, 2], gain="exp2")
    (4.0, 8.5)
    """
    return sum(
        (grade if gain == "linear" else 2.0**grade - 1) / math.log2(rank + 1)
        for rank, grade in enumerate(gains[:k], 1)
        if grade > 0
    )


def ndcg(
    gains: Sequence[float], judged: Sequence[float], k: int | None = None, *, gain: Gain = "linear"
) -> float:
    """Return DCG of the first k as a share of the best possible DCG.

    The best ranking includes the chunks that were not found, and is cut at k like the ranking.

    Formula: dcg@k ÷ dcg@k of the best ranking of all that is relevant
    Range: 0 to 1
    Source: Järvelin and Kekäläinen 2002; trec_eval, ndcg_cut

    >>> round(ndcg([1, 0, 1, 0, 0], judged=[1, 1], k=5), 4)
    0.9197
    """
    best = dcg(sorted(judged, reverse=True), k, gain=gain)
    # If grades differ by next to nothing, rounding can lift a ranking over the best one.
    return min(1.0, dcg(gains, k, gain=gain) / best) if best else 0.0


def _found(gains: Sequence[float], k: int) -> int:
    return sum(gain > 0 for gain in gains[:k])
