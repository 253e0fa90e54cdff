"""What the rank measures share: the first k ranks, sums over them, and shares."""

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]
Values: TypeAlias = Floats | np.float64
"""A measure's value for each query; a numpy float64 where there is one query."""


def first(gains: npt.ArrayLike, k: int | None) -> npt.NDArray[Any]:
    """The first k ranks, all for None, without a copy.

    Raises:
        ValueError: k is no int of at least 1, or there is no axis of ranks.

    >>> first([[3, 0, 1], [0, 2, 0]], 2).tolist()
    [[3, 0], [0, 2]]
    """
    ranked = np.asarray(gains)
    if ranked.ndim == 0:
        raise ValueError(f"a ranking needs an axis of ranks, got {gains!r}; write [{gains!r}]")
    if k is None:
        return ranked
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise ValueError(f"k must be an int of at least 1, got {k!r}")
    return ranked[..., :k]


def hits(gains: npt.ArrayLike, k: int | None) -> npt.NDArray[np.bool_]:
    """Which of the first k ranks are relevant.

    >>> hits([0, 0.5, 2, -1], 3).tolist()
    [False, True, True]
    """
    relevant: npt.NDArray[np.bool_] = first(gains, k) > 0
    return relevant


def count(relevant: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    """How many are true along the ranks.

    >>> count(np.array([[True, True], [False, True]])).tolist()
    [2, 1]
    """
    counts: npt.NDArray[np.int64] = np.sum(relevant, axis=-1, dtype=np.int64)
    return counts


def summed(terms: Floats) -> Floats:
    """Sum over the ranks, first to last; `terms` is overwritten.

    numpy's own sum groups its terms by the length of the axis: a query's value would depend, in
    its last digit, on how far its neighbours' rankings reach.

    >>> summed(np.array([[1.0, 0.5], [0.0, 0.25]])).tolist()
    [1.5, 0.25]
    """
    if terms.shape[-1] == 0:
        return np.zeros(terms.shape[:-1])
    return np.cumsum(terms, axis=-1, out=terms)[..., -1].copy()


def share(part: npt.ArrayLike, whole: npt.ArrayLike) -> Values:
    """Part ÷ whole, 0.0 where the whole is 0.

    >>> share([1, 0], [4, 0]).tolist()
    [0.25, 0.0]
    """
    above, below = np.asarray(part), np.asarray(whole)
    result = np.zeros(np.broadcast_shapes(above.shape, below.shape))
    np.divide(above, below, out=result, where=below > 0)
    return values(result)


def values(result: Floats) -> Values:
    """The array, or the number where there is one query.

    >>> float(values(np.array(0.5)))
    0.5
    """
    number_or_array: Values = result[()]
    return number_or_array
