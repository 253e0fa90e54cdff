"""Gain that is discounted by rank, for relevance that has grades."""

from typing import Any, Final, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from judge.retrieval.metrics.ranks import Floats, Values, first, share, summed, values

Gain: TypeAlias = Literal["linear", "exp2"]

_TOO_MUCH: Final = 1000
"""2 to the power of a relevance from here on, summed, is no longer a float."""


def dcg(gains: npt.ArrayLike, k: int | None = None, *, gain: Gain = "linear") -> Values:
    """Discounted cumulative gain: sum over the first k ranks i of gain(rel_i) ÷ log2(i + 1).

    Args:
        gains: (..., n), relevance by rank.
        k: from 1, ranks looked at; None is all.
        gain: "linear" is rel, "exp2" is 2^rel - 1; 0 for a relevance under 0. For relevance 0 and
            1 they are the same.

    Returns:
        (...): from 0, no upper limit; 0 where nothing relevant is among the first k. Ties: the
        order decides.

    Raises:
        ValueError: another gain, or a relevance from 1000 under "exp2".

    Source: K. Järvelin and J. Kekäläinen (2002), ACM TOIS 20(4), 422-446, with log2(i + 1) at every
    rank as trec_eval has it, where they leave the first b ranks undiscounted; "exp2" C. Burges et
    al. (2005), Learning to rank using gradient descent, ICML.

    >>> dcg([[3, 0, 2], [0, 1, 0]]).round(4).tolist()
    [4.0, 0.6309]
    >>> dcg([3, 0, 2], gain="exp2").tolist()
    8.5
    """
    return values(_discounted(first(gains, k), gain))


def ndcg(
    gains: npt.ArrayLike, judged: npt.ArrayLike, k: int | None = None, *, gain: Gain = "linear"
) -> Values:
    """DCG ÷ DCG of the ideal ranking, which shows all that is relevant, best first.

    The ideal holds what was never found, too, and is cut at k as the ranking is.

    Args:
        gains: (..., n), relevance by rank.
        judged: (..., m), relevance of all that is relevant. Where every row falls it is not sorted
            again, which helps who asks for several k.
        k: from 1, ranks looked at; None is all.
        gain: as for `dcg`.

    Returns:
        (...): 0 to 1, exactly 1 for an ideal ranking; 0 where nothing is relevant. Ties: the order
        decides.

    Raises:
        ValueError: as for `dcg`.

    Source: K. Järvelin and J. Kekäläinen (2002), ACM TOIS 20(4), 422-446; trec_eval's `ndcg` and
    `ndcg_cut`; "exp2" C. Burges et al. (2005), ICML.

    >>> ndcg([1, 0, 1, 0, 0], judged=[1, 1], k=5).round(4).tolist()
    0.9197
    """
    reached = _discounted(first(gains, k), gain)
    best = _discounted(first(_falling(first(judged, None)), k), gain)
    # Where grades differ by next to nothing, rounding can lift a ranking over the ideal.
    return values(np.asarray(np.minimum(share(reached, best), 1.0)))


def _falling(judged: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if (judged[..., 1:] <= judged[..., :-1]).all():
        return judged
    return np.sort(judged, axis=-1)[..., ::-1]


def _discounted(relevance: npt.NDArray[Any], gain: Gain) -> Floats:
    """DCG of rankings that are cut already."""
    terms: Floats = np.maximum(relevance, 0, dtype=np.float64, order="C")
    if gain == "exp2":
        most = terms.max(initial=0)
        if most >= _TOO_MUCH:
            raise ValueError(f"2^{most:g} - 1 is too large for gain 'exp2'; take gain 'linear'")
        np.exp2(terms, out=terms)
        terms -= 1
    elif gain != "linear":
        raise ValueError(f"gain is 'linear' or 'exp2', got {gain!r}")
    terms /= np.log2(np.arange(2, terms.shape[-1] + 2))
    return summed(terms)
