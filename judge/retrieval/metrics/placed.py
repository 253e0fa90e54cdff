"""How far up the relevant ones stand."""

import numpy as np
import numpy.typing as npt

from judge.retrieval.metrics.ranks import Values, hits, share, summed, values


def reciprocal_rank(gains: npt.ArrayLike, k: int | None = None) -> Values:
    """1 ÷ rank of the first relevant one; its mean over queries is MRR.

    Args:
        gains: (..., n), relevance by rank.
        k: from 1, ranks looked at; None is all.

    Returns:
        (...): 0, or 1/k to 1; 0 where nothing relevant is among the first k. Ties: the order
        decides.

    Source: E. Voorhees (1999), The TREC-8 question answering track report; trec_eval's
    `recip_rank`.

    >>> reciprocal_rank([[0, 1, 1], [1, 0, 0], [0, 0, 0]]).tolist()
    [0.5, 1.0, 0.0]
    """
    relevant = hits(gains, k)
    if relevant.shape[-1] == 0:
        return values(np.zeros(relevant.shape[:-1]))
    place = relevant.argmax(axis=-1)
    found = np.take_along_axis(relevant, place[..., np.newaxis], axis=-1)[..., 0]
    return values(np.asarray(found / (place + 1)))


def average_precision(
    gains: npt.ArrayLike, relevant: npt.ArrayLike, k: int | None = None
) -> Values:
    """Sum of the precisions at the ranks of the relevant ones ÷ relevant; its mean is MAP.

    The sum runs over the first k ranks; what is relevant and not there counts as precision 0. The
    divisor is all that is relevant, with k too (trec_eval's `map_cut`), not min(k, relevant).

    Args:
        gains: (..., n), relevance by rank.
        relevant: (...), how many are relevant in all.
        k: from 1, ranks looked at; None is all.

    Returns:
        (...): 0 to 1, at most k ÷ relevant; 0 where nothing is relevant. Ties: the order decides.

    Source: C. Buckley and E. Voorhees (2000), Evaluating evaluation measure stability, SIGIR;
    trec_eval's `map` and `map_cut`.

    >>> average_precision([0, 1, 0, 1], relevant=4).tolist()
    0.25
    """
    within = hits(gains, k)
    precisions = np.cumsum(within, axis=-1, dtype=np.float64)
    precisions /= np.arange(1, within.shape[-1] + 1)
    precisions *= within
    return share(summed(precisions), relevant)
