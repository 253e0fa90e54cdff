"""Rows of labels and their weights: what may be in them, and how many they are worth."""

import math
from collections.abc import Hashable, Iterable, Sequence
from typing import TypeVar

Label = TypeVar("Label", bound=Hashable)


def pair(first: Sequence[Label], second: Sequence[Label]) -> list[tuple[Label, Label]]:
    """Both sides' labels, row by row.

    Raises:
        ValueError: they differ in length, or a label is NaN, which equals nothing.

    >>> pair("ab", "bb")
    [('a', 'b'), ('b', 'b')]
    """
    if len(first) != len(second):
        raise ValueError(f"both sides need as many labels, got {len(first)} and {len(second)}")
    check_labels(first)
    check_labels(second)
    return list(zip(first, second, strict=True))


def check_labels(labels: Iterable[Hashable]) -> None:
    """Accept any labels that equal themselves.

    Raises:
        ValueError: one is NaN.

    >>> check_labels(["full", None, True])
    """
    for label in labels:
        if isinstance(label, float) and math.isnan(label):
            raise ValueError(f"a label must equal itself, got {label!r}")


def scale(weights: Sequence[float] | None, rows: int) -> list[float]:
    """The weights as shares of the largest, so that no sum or square of them overflows.

    Args:
        weights: one a row, finite and at least 0; None is 1 for each.
        rows: how many there must be.

    Returns:
        Each in [0, 1]; all 0 where all are.

    Raises:
        ValueError: not one a row, or one negative, infinite or NaN.

    >>> scale([1, 4], 2), scale(None, 2)
    ([0.25, 1.0], [1.0, 1.0])
    """
    if weights is None:
        return [1.0] * rows
    if len(weights) != rows:
        raise ValueError(f"one weight a row is needed, got {len(weights)} for {rows} rows")
    for weight in weights:
        if not 0 <= weight < math.inf:
            raise ValueError(f"a weight must be finite and at least 0, got {weight!r}")
    largest = max(weights, default=0)
    return [weight / largest if largest else 0.0 for weight in weights]


def mean(values: Iterable[float], scaled: Sequence[float]) -> float | None:
    """Σ w v / Σ w; None where the weights sum to 0.

    >>> mean([True, False], [1.0, 0.25]), mean([], [])
    (0.8, None)
    """
    total = math.fsum(scaled)
    weighted = (value * weight for value, weight in zip(values, scaled, strict=True))
    return math.fsum(weighted) / total if total else None
