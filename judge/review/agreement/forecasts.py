"""How good probabilities are, once it is known what was true."""

import math
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence

from judge.review.agreement.rows import mean, scale


def brier(
    probabilities: Sequence[float],
    truths: Sequence[bool],
    weights: Sequence[float] | None = None,
) -> float | None:
    """Brier score, the mean squared error of probabilities: Σ w (p - y)² / Σ w.

    Args:
        probabilities: in [0, 1], that the row is true; one a row.
        truths: whether it is, as bools or 0 and 1.
        weights: one a row; None is 1 for each.

    Returns:
        0 (certain and right) to 1 (certain and wrong); None without rows, or where all weights
        are 0.

    Raises:
        ValueError: lengths differ, a probability is outside [0, 1], a truth is neither 0 nor 1, or
            a weight is negative or not finite.

    Source: G. W. Brier (1950), Monthly Weather Review 78, 1-3, for an event and halved.

    >>> brier([1.0, 0.5], [True, False])
    0.125
    """
    _check(probabilities, truths)
    errors = [(p - truth) ** 2 for p, truth in zip(probabilities, truths, strict=True)]
    return mean(errors, scale(weights, len(errors)))


def calibration_error(
    probabilities: Sequence[float],
    truths: Sequence[bool],
    weights: Sequence[float] | None = None,
    bins: int = 10,
) -> float | None:
    """Expected calibration error: Σ_b |Σ_{i in b} w_i (y_i - p_i)| / Σ w.

    Each bin's |share of truths - mean probability|, by its weight. Bins are of equal width; an edge
    belongs to the bin above it, and 1 to the last.

    Args:
        probabilities: in [0, 1], that the row is true; one a row.
        truths: whether it is, as bools or 0 and 1.
        weights: one a row; None is 1 for each.
        bins: how many.

    Returns:
        0 (in each bin as often true as said) to 1; None without rows, or where all weights are 0.

    Raises:
        ValueError: as for `brier`, or `bins` is under 1.

    Source: Naeini, Cooper and Hauskrecht (2015), AAAI 29, 2901-2907.

    >>> calibration_error([0.75, 0.75, 0.25], [True, False, False], bins=2)
    0.25
    """
    if bins < 1:
        raise ValueError(f"bins must be at least 1, got {bins!r}")
    _check(probabilities, truths)
    scaled = scale(weights, len(probabilities))
    # Compared with edges, not multiplied: .29 · 100 is below 29.
    edges = [edge / bins for edge in range(1, bins)]
    gaps: defaultdict[int, list[float]] = defaultdict(list)
    for p, truth, weight in zip(probabilities, truths, scaled, strict=True):
        gaps[bisect_right(edges, p)].append(weight * (truth - p))
    total, apart = math.fsum(scaled), math.fsum(abs(math.fsum(gap)) for gap in gaps.values())
    # Sums rounded one by one may pass 1.
    return min(1.0, apart / total) if total else None


def _check(probabilities: Sequence[float], truths: Sequence[bool]) -> None:
    if len(probabilities) != len(truths):
        raise ValueError(
            f"one truth a probability is needed, got {len(truths)} for {len(probabilities)}"
        )
    for p in probabilities:
        if not 0 <= p <= 1:
            raise ValueError(f"a probability must be in [0, 1], got {p!r}")
    for truth in truths:
        if truth not in (0, 1):
            raise ValueError(f"a truth must be True or False, got {truth!r}")
