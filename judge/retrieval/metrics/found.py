"""How much of what is relevant is among the first k: the order within them does not count."""

import numpy as np
import numpy.typing as npt

from judge.retrieval.metrics.ranks import Values, count, first, hits, share, values


def hit_at_k(gains: npt.ArrayLike, k: int) -> Values:
    """1 if anything relevant is among the first k, else 0.

    Also called hit rate and success@k (trec_eval's `success`). Some authors call it Recall@k: with
    one relevant chunk a query it is the same as `recall_at_k`, with more it is not.

    Args:
        gains: (..., n), relevance by rank.
        k: from 1; may be more than n.

    Returns:
        (...): 0 or 1; 0 without anything relevant. Ties: the order decides.

    Source: trec_eval, m_success.c.

    >>> hit_at_k([[0, 1, 0], [0, 0, 1]], 2).tolist()
    [1.0, 0.0]
    """
    return values(np.asarray(hits(gains, k).any(axis=-1), dtype=np.float64))


def recall_at_k(gains: npt.ArrayLike, k: int, relevant: npt.ArrayLike) -> Values:
    """Relevant among the first k ÷ relevant in all, found or not.

    Args:
        gains: (..., n), relevance by rank.
        k: from 1; may be more than n.
        relevant: (...), how many are relevant in all.

    Returns:
        (...): 0 to 1; 0 where nothing is relevant. Ties: the order decides.

    Source: A. Kent et al. (1955), American Documentation 6(2), 93-101; trec_eval's `recall`.

    >>> recall_at_k([[0, 1, 0], [1, 1, 0]], 2, relevant=[1, 4]).tolist()
    [1.0, 0.5]
    """
    return share(count(hits(gains, k)), relevant)


def precision_at_k(gains: npt.ArrayLike, k: int) -> Values:
    """Relevant among the first k ÷ k, even if the ranking is shorter than k.

    Args:
        gains: (..., n), relevance by rank.
        k: from 1; may be more than n.

    Returns:
        (...): 0 to 1; at most R/k where R are relevant, 0 where none is. Ties: the order decides.

    Source: A. Kent et al. (1955), American Documentation 6(2), 93-101; trec_eval's `P`.

    >>> precision_at_k([[0, 1, 0], [1, 1, 0]], 2).tolist()
    [0.5, 1.0]
    """
    return share(count(hits(gains, k)), k)


def f1_at_k(gains: npt.ArrayLike, k: int, relevant: npt.ArrayLike) -> Values:
    """Harmonic mean of precision and recall at k: 2·found ÷ (k + relevant).

    Args:
        gains: (..., n), relevance by rank.
        k: from 1; may be more than n.
        relevant: (...), how many are relevant in all.

    Returns:
        (...): 0 to 1; 1 only where k is the number of relevant; 0 where nothing is relevant or
        found. Ties: the order decides.

    Source: C. J. van Rijsbergen (1979), Information Retrieval, chapter 7 (1 - E at equal weights).

    >>> f1_at_k([0, 1, 1, 0], 4, relevant=4).tolist()
    0.5
    """
    return share(2 * count(hits(gains, k)), np.asarray(relevant) + k)


def r_precision(gains: npt.ArrayLike, relevant: npt.ArrayLike) -> Values:
    """Precision at R, where R is the number of relevant: there it equals recall.

    Args:
        gains: (..., n), relevance by rank.
        relevant: (...), R of each query.

    Returns:
        (...): 0 to 1; 0 where nothing is relevant. Ties: the order decides.

    Source: C. Buckley and E. Voorhees (2005), Retrieval system evaluation, in TREC: Experiment and
    Evaluation in Information Retrieval, MIT Press; trec_eval's `Rprec`.

    >>> r_precision([[1, 0, 1], [1, 0, 1]], relevant=[2, 3]).round(4).tolist()
    [0.5, 0.6667]
    """
    wanted = np.asarray(relevant)
    within = hits(first(gains, None), max(1, int(wanted.max(initial=0))))
    among = np.arange(within.shape[-1]) < wanted[..., np.newaxis]
    return share(count(within & among), wanted)
