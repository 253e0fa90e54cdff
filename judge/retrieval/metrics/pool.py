"""The ranking as a classifier: all that it holds, split into relevant and not."""

from typing import Any

import numpy as np
import numpy.typing as npt

from judge.retrieval.metrics.ranks import Floats, Values, count, first, hits, values


def roc_auc(
    gains: npt.ArrayLike, length: npt.ArrayLike, scores: npt.ArrayLike | None = None
) -> Values:
    """Area under the ROC curve: chance that a relevant one stands above an irrelevant one.

    Over P relevant and N irrelevant in the ranked pool, 1 - (S - P(P + 1)/2) ÷ (P·N), S the sum of
    the ranks of the relevant. What was never ranked is not in it: who misses much can have 1.

    Args:
        gains: (..., n), relevance by rank.
        length: (...), places of the ranking; those beyond only fill it up.
        scores: (..., n), what the ranking was sorted by, falling; anything beyond `length`.

    Returns:
        (...): 0 to 1, .5 for chance; NaN where the pool lacks either kind. Ties: equal scores count
        one half, by the mean of their ranks; without `scores` the order decides.

    Raises:
        ValueError: the shapes of `gains` and `scores` differ, or a score rises.

    Source: J. Hanley and B. McNeil (1982), Radiology 143, 29-36, by the rank sum of H. Mann and
    D. Whitney (1947), Ann. Math. Stat. 18, 50-60.

    >>> roc_auc([[1, 0, 1, 0], [0, 1, 0, 0]], length=[4, 2]).tolist()
    [0.75, 0.0]
    >>> roc_auc([1, 0, 1, 0], length=4, scores=[0.9, 0.5, 0.5, 0.1]).tolist()
    0.875
    """
    ranked = first(gains, None)
    places = np.arange(1, ranked.shape[-1] + 1)
    there = places <= np.asarray(length)[..., np.newaxis]
    relevant = (ranked > 0) & there
    # Whole and half numbers: exact in whatever order they are added.
    if scores is None:
        ranks = np.sum(np.where(relevant, places, 0), axis=-1, dtype=np.float64)
    else:
        ranks = np.sum(_mean_ranks(ranked, scores, there), axis=-1, where=relevant)
    positive = count(relevant)
    pairs = positive * (count(there) - positive)
    return values(_divided(pairs - (ranks - positive * (positive + 1) / 2), pairs))


def accuracy_at_k(
    gains: npt.ArrayLike, k: int, length: npt.ArrayLike, relevant: npt.ArrayLike
) -> Values:
    """Share judged rightly, if the first k are called relevant and all else is not.

    (found + irrelevant beyond k) ÷ (length + relevant that were never ranked). **Beware**: with few
    relevant among many it is high whatever the ranking does: of 100 with one relevant, k = 1 gives
    at least .98.

    Args:
        gains: (..., n), relevance by rank.
        k: from 1; may be more than n.
        length: (...), places of the ranking; those beyond only fill it up.
        relevant: (...), how many are relevant in all.

    Returns:
        (...): 0 to 1; 0 where nothing is relevant, NaN where nothing is ranked either. Ties: the
        order decides.

    Source: C. Manning, P. Raghavan and H. Schütze (2008), Introduction to Information Retrieval,
    8.3, which warns of it too.

    >>> accuracy_at_k([0, 1, 0, 0], 2, length=4, relevant=2).tolist()
    0.6
    """
    found = count(hits(gains, k))
    pool, wanted = np.asarray(length), np.asarray(relevant)
    whole = pool + wanted - count(hits(gains, None))
    wrong = np.minimum(pool, k) - found + wanted - found
    return values(_divided(np.where(wanted > 0, whole - wrong, 0), whole))


def _mean_ranks(
    ranked: npt.NDArray[Any], scores: npt.ArrayLike, there: npt.NDArray[np.bool_]
) -> Floats:
    """(..., n): the mean of the first and the last rank that have the score of this one."""
    by = np.asarray(scores)
    if by.shape != ranked.shape:
        raise ValueError(f"gains and scores differ in shape: {ranked.shape!r}, {by.shape!r}")
    if ((by[..., 1:] > by[..., :-1]) & there[..., 1:]).any():
        raise ValueError("scores must fall from rank to rank; sort the ranking by them")
    places = np.arange(1, by.shape[-1] + 1, dtype=np.int32)
    starts = np.ones(there.shape, np.bool_)
    # What fills up a ranking may bear any score: it is tied with nothing.
    starts[..., 1:] = (by[..., 1:] != by[..., :-1]) | ~there[..., 1:]
    earliest = np.maximum.accumulate(np.where(starts, places, np.int32(1)), axis=-1)
    ends = np.roll(starts, -1, axis=-1)
    ends[..., -1:] = True
    latest = np.where(ends, places, np.int32(by.shape[-1]))[..., ::-1]
    return (earliest + np.minimum.accumulate(latest, axis=-1)[..., ::-1]) / 2


def _divided(part: npt.ArrayLike, whole: npt.ArrayLike) -> Floats:
    """Part ÷ whole, NaN where the whole is 0."""
    above, below = np.asarray(part), np.asarray(whole)
    result = np.full(np.broadcast_shapes(above.shape, below.shape), np.nan)
    np.divide(above, below, out=result, where=below > 0)
    return result
