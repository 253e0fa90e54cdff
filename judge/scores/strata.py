"""A mean of predictions, corrected by labels on a sample of them.

In each stratum the mean error of the predictions, estimated by the labelled units, is added to
their mean: the sum over strata h of W_h·(mean f + mean (y - f)), with W_h the stratum's share of
the weight. The result is unbiased for any predictions. Its variance is the sum of
W_h²·(1 - n_h/N_h)·s²_h/n_h, with s² the variance of y - f, for equal inclusion probabilities. For
others, with a = w/p, n/(n - 1)·sum of (1 - p)·(a·(error - mean error))² ÷ (sum of a)² replaces
(1 - n/N)·s²/n. If labels or predictions leave units out, the mean is a ratio, and the error is that
of its linear form.

A normal interval is too narrow if a good predictor makes few errors. So errors up and errors down
each have a Wilson interval in each stratum, with n the size of a simple draw of the same variance,
less by Kish's share if the a vary. The distances of the limits from the mean are added in squares,
within a stratum with their correlation. If no error was seen, the upper limit is the share that n
units miss in one of twenty samples: 1 - .05^(1/(n + 1)), or ln 20·c/(-n·ln(1 - c)) if that is less,
where the units are the share c of all.

Sources: W. G. Cochran (1977), Sampling Techniques, chapters 5A and 7; J. Hájek (1964), Ann. Math.
Stat. 35, for unequal probabilities; A. Angelopoulos et al. (2023), Prediction-powered inference,
Science 382; G. Zou and A. Donner (2008), Stat. Med. 27, for limits added in squares.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from judge.scores.intervals import wilson

Floats = npt.NDArray[np.float64]

_MISSED: Final = 0.05
"""The probability that a sample shows no error although their share is at the upper limit."""
_NOTHING: Final = 1e-18
_EQUAL: Final = 1e-9
"""Thirds that are equal differ by rounding, and their variance is not quite zero."""


@dataclass(frozen=True, slots=True)
class StratumSample:
    """One stratum of the population, and its labelled units.

    Every unit has a weight w in the mean, a prediction f and, if it was drawn, a label y. A unit
    that the predictor leaves out of its mean has c = 0, else c = 1; d is the same for labels.
    """

    weight: float
    """Sum of w over the stratum, on a scale that all strata share."""
    predicted: float
    """Sum of w·c·f over the stratum."""
    counted: float
    """Sum of w·c over the stratum."""
    span: tuple[float, float]
    """The least and the most that d·y - c·f can be in this stratum, within [-1, 1]."""
    weights: Floats
    """(n,): w ÷ inclusion probability, of the labelled units."""
    probabilities: Floats
    """(n,): inclusion probabilities, in (0, 1]; in a simple draw n/N."""
    errors: Floats
    """(n,): d·y - c·f."""
    shifts: Floats
    """(n,): d - c; zero where both count the unit."""


class Corrected(NamedTuple):
    """A mean and its 95 % interval."""

    mean: float
    low: float
    high: float
    standard_error: float


def corrected_mean(strata: Sequence[StratumSample]) -> Corrected | None:
    """Return the mean label of a finite population from predictions for all and labels for some.

    Each stratum needs two labelled units, or all. Without a unit that counts the result is None.

    >>> simple = np.full(4, 25.0), np.full(4, 0.04)
    >>> draw = np.array([0.0, 0.0, -1.0, 0.0]), np.zeros(4)
    >>> h = StratumSample(100, 80, 100, (-1, 1), *simple, *draw)
    >>> [round(x, 3) for x in corrected_mean([h])]
    [0.55, 0.062, 1.0, 0.245]
    """
    counted = sum(h.counted + h.weight * _mean(h, h.shifts) for h in strata)
    if counted <= 0:
        return None
    total = sum(h.predicted + h.weight * _mean(h, h.errors) for h in strata)
    mean = total / counted
    variance = below = above = 0.0
    for h in strata:
        share = (h.weight / counted) ** 2
        errors = h.errors - mean * h.shifts
        variance += share * _variance(h, errors)
        down, up = _reach(h, errors)
        below += share * down
        above += share * up
    low, high = mean - math.sqrt(below), mean + math.sqrt(above)
    mean, low, high = (min(1.0, max(0.0, limit)) for limit in (mean, low, high))
    return Corrected(mean, low, high, math.sqrt(variance))


def _reach(h: StratumSample, errors: Floats) -> tuple[float, float]:
    """Return the squared distances from the mean error to its lower and its upper limit."""
    least, most = h.span
    up, down = np.clip(errors, 0, max(0.0, most)), np.clip(-errors, 0, max(0.0, -least))
    (up_low, up_high), (down_low, down_high) = _sides(h, up, most), _sides(h, down, -least)
    # No unit errs both ways, so that the two means are correlated.
    apart = 2 * _apart(h, up, down)
    below = up_low**2 + down_high**2 + apart * up_low * down_high
    above = up_high**2 + down_low**2 + apart * up_high * down_low
    return below, above


def _sides(h: StratumSample, sizes: Floats, most: float) -> tuple[float, float]:
    """Return the distances from the mean size of errors in one direction to its limits."""
    if most <= 0:
        return 0.0, 0.0
    mean = _mean(h, sizes / most)
    low, high = _limits(h, sizes / most, mean)
    return most * (mean - low), most * (high - mean)


def _apart(h: StratumSample, up: Floats, down: Floats) -> float:
    """Return the negated correlation of the two means; 0 if either does not vary."""
    variances = _variance(h, up), _variance(h, down)
    if min(variances) < _NOTHING:
        return 0.0
    both = (sum(variances) - _variance(h, up - down)) / 2
    return min(1.0, max(0.0, -both / math.sqrt(variances[0] * variances[1])))


def _limits(h: StratumSample, sizes: Floats, mean: float) -> tuple[float, float]:
    left_out = float(((1 - h.probabilities) * h.weights**2).sum())
    if left_out == 0:
        return mean, mean
    squares = float((h.weights**2).sum())
    alike = float(h.weights.sum()) ** 2 / squares
    variance = _variance(h, sizes)
    if variance == 0 or np.ptp(sizes) < _EQUAL:
        # If there is no variance, the limit depends only on the number of units.
        room = _unseen(alike, 1 - left_out / squares)
        return (max(0.0, mean - room) if mean else 0.0), min(1.0, mean + room)
    return wilson(mean, mean * (1 - mean) / variance * alike / len(sizes))


def _unseen(n: float, drawn: float) -> float:
    """Return the largest share that n units (the share `drawn` of all) miss in 1 of 20 samples."""
    room = 1 - math.exp(math.log(_MISSED) / (n + 1))
    if drawn < _EQUAL:
        return room
    if drawn > 1 - _EQUAL:
        return 0.0
    return min(room, math.log(_MISSED) * drawn / (n * math.log1p(-drawn)))


def _mean(h: StratumSample, values: Floats) -> float:
    return float((h.weights * values).sum() / h.weights.sum())


def _variance(h: StratumSample, values: Floats) -> float:
    n = len(values)
    left_out = 1 - h.probabilities
    if not left_out.any():
        return 0.0
    residuals = h.weights * (values - _mean(h, values))
    spread = float((left_out * residuals**2).sum())
    return n / (n - 1) * spread / float(h.weights.sum()) ** 2
