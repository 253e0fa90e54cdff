"""The interval of a difference of two means, from their own intervals."""

import math


def difference(
    mean: float, limits: tuple[float, float], other: float, others: tuple[float, float]
) -> tuple[float, float]:
    """The interval of `mean - other`, at the level of the two intervals.

    d - √((m₁ - l₁)² + (u₂ - m₂)²) to d + √((u₁ - m₁)² + (m₂ - l₂)²), with d = m₁ - m₂. Made for
    independent means; where both are over the same queries, and these are alike hard for both, it
    is wider than need be.

    Args:
        mean: m₁.
        limits: l₁ and u₁. A limit on the wrong side of its mean counts as equal to it.
        other: m₂.
        others: l₂ and u₂.

    Returns:
        (low, high).

    Source: R. G. Newcombe (1998), Statistics in Medicine 17, 873-890, method 10; for any means
    G. Y. Zou and A. Donner (2008), Statistics in Medicine 27, 1693-1702.

    >>> [round(limit, 4) for limit in difference(0.5, (0.4, 0.7), 0.5, (0.2, 0.6))]
    [-0.1414, 0.3606]
    """
    below, above = _reach(mean, limits)
    others_below, others_above = _reach(other, others)
    gap = mean - other
    return gap - math.hypot(below, others_above), gap + math.hypot(above, others_below)


def _reach(mean: float, limits: tuple[float, float]) -> tuple[float, float]:
    low, high = limits
    return max(0.0, mean - low), max(0.0, high - mean)
