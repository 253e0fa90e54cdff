"""Rank measures: gains at ranks 1…n, compared with all that is relevant.

These conventions hold for all of them:

- The last axis is the rank, and the axes before it are queries: (n,) is one query, (q, n) are q
  queries. The result is a float64 array of the leading shape; for one query a numpy float64.
- `gains` (..., n): relevance of the chunk at each rank, no chunk twice. A relevance above 0 is
  relevant, fractions included. 0 or less is irrelevant, and pads a ranking that is shorter than its
  neighbours.
- `relevant` (...): R, the number of relevant chunks of the query, at least as many as `gains` has.
- `judged` (..., m): relevance of every relevant chunk of the query, in any order, padded with 0.
- `length` (...): the length of the ranking without padding.
- `k`: the number of ranks, 1 or more, also beyond n; None is all.
- found(k): the number of relevant chunks among the first k.
- A query without relevant chunks gives 0.0, trec_eval's convention; the caller decides whether it
  counts in a mean. A measure that is undefined for another reason is NaN.
- Ties are broken before, by the order. Only `roc_auc` takes equal scores into account.
- Sums run from the first rank to the last, so that a query's value has the same bits alone and
  among others, whatever the padding.
"""

from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]
Values: TypeAlias = Floats | np.float64
"""A measure's value for each query; a numpy float64 for one query."""
Gain: TypeAlias = Literal["linear", "exp2"]


def hit_at_k(gains: npt.ArrayLike, k: int) -> Values:
    """Return whether a relevant chunk is among the first k.

    Some authors call it Recall@k; it equals `recall_at_k` if one chunk is relevant.

    Formula: 1 if found(k) ≥ 1, else 0
    Range: 0 or 1; its mean 0 to 1
    Source: trec_eval, success

    >>> hit_at_k([[0, 1, 0], [0, 0, 1]], 2).tolist()
    [1.0, 0.0]
    """
    return _share(_hits(gains, k).any(axis=-1), 1)


def recall_at_k(gains: npt.ArrayLike, k: int, relevant: npt.ArrayLike) -> Values:
    """Return the share of all relevant chunks that is among the first k.

    Formula: found(k) ÷ R
    Range: 0 to 1
    Source: Kent et al. 1955; trec_eval, recall

    >>> recall_at_k([[0, 1, 0], [1, 1, 0]], 2, relevant=[1, 4]).tolist()
    [1.0, 0.5]
    """
    return _share(_count(_hits(gains, k)), relevant)


def precision_at_k(gains: npt.ArrayLike, k: int) -> Values:
    """Return the share of the first k ranks with a relevant chunk, also beyond the ranking's end.

    Formula: found(k) ÷ k
    Range: 0 to 1
    Source: Kent et al. 1955; trec_eval, P

    >>> precision_at_k([[0, 1, 0], [1, 1, 0]], 2).tolist()
    [0.5, 1.0]
    """
    return _share(_count(_hits(gains, k)), k)


def fbeta_at_k(gains: npt.ArrayLike, k: int, relevant: npt.ArrayLike, beta: float = 1.0) -> Values:
    """Return the mean of precision and recall at k in which recall counts β times as much.

    F1, the harmonic mean, has β = 1.

    Formula: (1 + β²)·found(k) ÷ (k + β²·R)
    Range: 0 to 1
    Source: van Rijsbergen 1979

    >>> fbeta_at_k([0, 1, 1, 0], 4, relevant=8, beta=2).round(4).tolist()
    0.2778
    """
    square = beta * beta
    return _share((1 + square) * _count(_hits(gains, k)), square * np.asarray(relevant) + k)


def r_precision(gains: npt.ArrayLike, relevant: npt.ArrayLike) -> Values:
    """Return precision at R, which is also recall at R.

    Formula: found(R) ÷ R
    Range: 0 to 1
    Source: Buckley and Voorhees 2005; trec_eval, Rprec

    >>> r_precision([[1, 0, 1], [1, 0, 1]], relevant=[2, 3]).round(4).tolist()
    [0.5, 0.6667]
    """
    wanted = np.asarray(relevant)
    within = _hits(_first(gains, None), max(1, int(wanted.max(initial=0))))
    among = np.arange(within.shape[-1]) < wanted[..., np.newaxis]
    return _share(_count(within & among), wanted)


def reciprocal_rank(gains: npt.ArrayLike, k: int | None = None) -> Values:
    """Return the reciprocal rank of the first relevant chunk; the mean over queries is MRR.

    Formula: 1 ÷ rank of the first relevant chunk, 0 if none
    Range: 0 to 1
    Source: Voorhees 1999; trec_eval, recip_rank

    >>> reciprocal_rank([[0, 1, 1], [1, 0, 0], [0, 0, 0]]).tolist()
    [0.5, 1.0, 0.0]
    """
    relevant = _hits(gains, k)
    by_rank = relevant / np.arange(1, relevant.shape[-1] + 1)
    return _values(np.asarray(by_rank.max(axis=-1, initial=0.0)))


def average_precision(
    gains: npt.ArrayLike, relevant: npt.ArrayLike, k: int | None = None
) -> Values:
    """Return the average precision at the ranks of relevant chunks; the mean is MAP.

    A relevant chunk beyond the first k counts as precision 0: the divisor is R, not min(k, R), as
    in trec_eval's `map_cut`.

    Formula: Σ precision@i over the ranks i of relevant chunks, ÷ R
    Range: 0 to 1
    Source: Buckley and Voorhees 2000; trec_eval, map

    >>> average_precision([0, 1, 0, 1], relevant=4).tolist()
    0.25
    """
    within = _hits(gains, k)
    precisions = np.cumsum(within, axis=-1, dtype=np.float64)
    precisions /= np.arange(1, within.shape[-1] + 1)
    precisions *= within
    return _share(_summed(precisions), relevant)


def dcg(gains: npt.ArrayLike, k: int | None = None, *, gain: Gain = "linear") -> Values:
    """Return the relevance among the first k, discounted by rank.

    Every rank is discounted by log2(i + 1), as in trec_eval; Järvelin and Kekäläinen leave the
    first ranks undiscounted. For relevance 0 and 1 both gains are the same.

    Formula: Σ_{i ≤ k} gain(rel_i) ÷ log2(i + 1), gain(r) = r or 2^r − 1
    Range: 0 and up
    Source: Järvelin and Kekäläinen 2002; gain 2^r − 1: Burges et al. 2005

    >>> dcg([[3, 0, 2], [0, 1, 0]]).round(4).tolist()
    [4.0, 0.6309]
    >>> dcg([3, 0, 2], gain="exp2").tolist()
    8.5
    """
    return _values(_discounted(_first(gains, k), gain))


def ndcg(
    gains: npt.ArrayLike, judged: npt.ArrayLike, k: int | None = None, *, gain: Gain = "linear"
) -> Values:
    """Return DCG of the first k as a share of the best possible DCG.

    The best ranking includes the chunks that were not found, and is cut at k like the ranking.

    Formula: dcg@k ÷ dcg@k of the best ranking of all that is relevant
    Range: 0 to 1
    Source: Järvelin and Kekäläinen 2002; trec_eval, ndcg_cut

    >>> ndcg([1, 0, 1, 0, 0], judged=[1, 1], k=5).round(4).tolist()
    0.9197
    """
    best = np.sort(np.asarray(judged), axis=-1)[..., ::-1]
    shares = _share(_discounted(_first(gains, k), gain), _discounted(_first(best, k), gain))
    # If grades differ by next to nothing, rounding can lift a ranking over the best one.
    return _values(np.asarray(np.minimum(shares, 1.0)))


def roc_auc(
    gains: npt.ArrayLike, length: npt.ArrayLike, scores: npt.ArrayLike | None = None
) -> Values:
    """Return how well the ranking separates relevant from irrelevant chunks among the ranked ones.

    Chunks that were not ranked do not count, so a ranking that misses many can have 1. `scores`
    (..., n) are the scores of the ranking. It is computed from the U statistic of Mann and Whitney,
    1 - (S - P(P + 1)/2) ÷ (P·N), with P relevant and N irrelevant chunks and S the sum of the ranks
    of the relevant ones.

    Formula: share of pairs of a relevant and an irrelevant chunk ranked in that order, ties ½
    Range: 0 to 1; .5 by chance
    Undefined: NaN if either kind is missing
    Ties: equal scores have the mean of their ranks; without scores the order decides
    Source: Hanley and McNeil 1982

    >>> roc_auc([[1, 0, 1, 0], [0, 1, 0, 0]], length=[4, 2]).tolist()
    [0.75, 0.0]
    >>> roc_auc([1, 0, 1, 0], length=4, scores=[0.9, 0.5, 0.5, 0.1]).tolist()
    0.875
    """
    ranked = np.asarray(gains) > 0
    lengths = np.broadcast_to(length, ranked.shape[:-1])
    by = np.zeros(ranked.shape) if scores is None else np.broadcast_to(scores, ranked.shape)
    values = np.full(lengths.shape, np.nan)
    for query in np.ndindex(lengths.shape):
        n = lengths[query]
        values[query] = _auc(ranked[query][:n], None if scores is None else by[query][:n])
    return _values(values)


def _auc(relevant: npt.NDArray[np.bool_], scores: Floats | None) -> float:
    """Return ROC-AUC of one ranking."""
    ranks = np.arange(1.0, len(relevant) + 1)
    if scores is not None:
        _, places, counts = np.unique(-scores, return_inverse=True, return_counts=True)
        ranks = (np.cumsum(counts) - (counts - 1) / 2)[places]
    positive = int(relevant.sum())
    pairs = positive * (len(relevant) - positive)
    above = float(ranks[relevant].sum()) - positive * (positive + 1) / 2
    return 1 - above / pairs if pairs else np.nan


def waste_at_k(gains: npt.ArrayLike, tokens: npt.ArrayLike, k: int) -> Values:
    """Return the share of the tokens of the first k chunks that irrelevant chunks have.

    `tokens` (..., n) are those of each chunk; NaN if its text is unknown. Less is better.

    Formula: tokens of the irrelevant chunks among the first k ÷ tokens of the first k
    Range: 0 to 1
    Undefined: NaN if a text among the first k is unknown, or none has a token
    Source: this project; after precision by tokens, Smith and Troynikov 2024

    >>> waste_at_k([0, 1, 0], [100, 300, 400], 2).tolist()
    0.25
    """
    ranked, spent = _first(gains, k), np.asarray(tokens, dtype=np.float64)[..., :k]
    wasted = _summed(np.where(ranked > 0, 0.0, spent))
    return _share(wasted, _summed(spent.copy()), none=np.nan)


def _first(gains: npt.ArrayLike, k: int | None) -> npt.NDArray[Any]:
    """Return the first k ranks, or all, without a copy."""
    return np.asarray(gains)[..., :k]


def _hits(gains: npt.ArrayLike, k: int | None) -> npt.NDArray[np.bool_]:
    relevant: npt.NDArray[np.bool_] = _first(gains, k) > 0
    return relevant


def _count(relevant: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    counts: npt.NDArray[np.int64] = np.sum(relevant, axis=-1, dtype=np.int64)
    return counts


def _summed(terms: Floats) -> Floats:
    """Return the sum over the ranks, from the first to the last; `terms` is overwritten.

    numpy's own sum groups its terms by the length of the axis, so a query's last digit would depend
    on its neighbours' rankings.
    """
    if terms.shape[-1] == 0:
        return np.zeros(terms.shape[:-1])
    return np.cumsum(terms, axis=-1, out=terms)[..., -1].copy()


def _share(part: npt.ArrayLike, whole: npt.ArrayLike, none: float = 0.0) -> Values:
    """Return part ÷ whole, or `none` if the whole is 0."""
    above, below = np.asarray(part), np.asarray(whole)
    result = np.full(np.broadcast_shapes(above.shape, below.shape), none)
    np.divide(above, below, out=result, where=below > 0)
    return _values(result)


def _values(result: Floats) -> Values:
    values: Values = result[()]
    return values


def _discounted(relevance: npt.NDArray[Any], gain: Gain) -> Floats:
    """Return DCG of rankings that are already cut."""
    terms: Floats = np.maximum(relevance, 0, dtype=np.float64, order="C")
    if gain == "exp2":
        np.exp2(terms, out=terms)
        terms -= 1
    terms /= np.log2(np.arange(2, terms.shape[-1] + 2))
    return _summed(terms)
