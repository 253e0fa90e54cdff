"""Tests and intervals for the difference of two systems on the same questions."""

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from judge.scores.intervals import mean_limits, t95

_MIN_DIFFERING: Final = 6
"""The signs of fewer differing pairs cannot give p < .05."""
_ROUNDING: Final = 1e-9
"""A difference up to this is rounding: the pair does not differ."""
_NO_SPREAD: Final = 1e-12
"""A standard error up to this is rounding: all differences are equal."""
_NORMAL_DF: Final = 10_000
"""Student's t is approximated by the normal distribution from these degrees of freedom on."""


class PairedDifference(NamedTuple):
    """The mean of differences between the two values of each pair."""

    pairs: int
    """The number of pairs."""
    mean: float
    """The mean of the differences."""
    limits: tuple[float, float] | None
    """The 95 % interval of the mean; None where fewer than six pairs differ, or all by as much."""
    p: float
    """The probability that chance alone gives a mean at least as far from 0."""
    higher: int
    """Pairs whose difference is above 0."""
    lower: int
    """Pairs whose difference is below 0."""


def paired(differences: Sequence[float] | npt.NDArray[np.float64]) -> PairedDifference | None:
    """Return Student's two-sided paired t test with its interval; None without a pair.

    The interval is mean ± t(.975, n - 1)·s/√n, and p is that of mean/(s/√n). But p is at least
    2^(1 - k) if k pairs differ, which is the least p of a sign test. So a hit that changed in three
    queries is no finding, whatever the t distribution gives.

    Source: Student 1908; that the t test serves for rank measures, and as well as a permutation
    test: M. D. Smucker, J. Allan and B. Carterette (2007), CIKM; J. Urbano, H. Lima and A. Hanjalic
    (2019), SIGIR. The least p: R. A. Fisher (1935), The Design of Experiments, section 21.

    >>> found = paired(np.array([0.1, 0.2, 0.1, 0.0, 0.2, 0.1, 0.0, 0.1]))
    >>> round(found.mean, 3), [round(limit, 3) for limit in found.limits or ()], round(found.p, 4)
    (0.1, [0.037, 0.163], 0.0312)
    """
    pairs, differences = len(differences), np.asarray(differences, dtype=float)
    if not pairs:
        return None
    mean = float(differences.mean())
    higher = int((differences > _ROUNDING).sum())
    lower = int((differences < -_ROUNDING).sum())
    error = float(differences.std(ddof=1)) / math.sqrt(pairs) if pairs > 1 else 0.0
    p, limits = min(1.0, 2.0 ** (1 - higher - lower)), None
    if error > _NO_SPREAD:
        p = max(p, t_tails(mean / error, pairs - 1))
        if higher + lower >= _MIN_DIFFERING:
            reach = t95(pairs - 1) * error
            limits = (mean - reach, mean + reach)
    return PairedDifference(pairs, mean, limits, p, higher, lower)


def t_tails(t: float, df: int) -> float:
    """Return the probability of a Student's t at least as far from 0, on either side.

    Source: M. Abramowitz and I. A. Stegun (1964), 26.7.3 and 26.7.4, which are exact; from 10 000
    degrees of freedom on 26.7.8.

    >>> round(t_tails(2.0, 9), 4), round(t_tails(-2.0, 60), 4), t_tails(0.0, 5)
    (0.0766, 0.05, 1.0)
    """
    if df >= _NORMAL_DF:
        z = abs(t) * (1 - 1 / (4 * df)) / math.sqrt(1 + t * t / (2 * df))
        return math.erfc(z / math.sqrt(2))
    odd = df % 2
    angle = math.atan(abs(t) / math.sqrt(df))
    sine, cosine = math.sin(angle), math.cos(angle)
    terms, term = [], cosine if odd else 1.0
    for step in range((df - odd) // 2):
        terms.append(term)
        term *= cosine * cosine * (2 * step + 1 + odd) / (2 * step + 2 + odd)
    inside = sine * math.fsum(terms)
    return min(1.0, max(0.0, 1 - (2 / math.pi * (angle + inside) if odd else inside)))


def holm(ps: Sequence[float]) -> list[float]:
    """Correct each p for the number of tests, so that p < .05 is a finding among all tests.

    With m of them in ascending order, the kth becomes the greatest (m - j + 1)·p(j) over j ≤ k, 1
    at most.

    Source: S. Holm (1979), Scand. J. Statist. 6, 65-70.

    >>> holm([0.04, 0.01, 0.03])
    [0.06, 0.03, 0.06]
    """
    corrected, most = [0.0] * len(ps), 0.0
    for place, index in enumerate(sorted(range(len(ps)), key=ps.__getitem__)):
        most = max(most, min(1.0, (len(ps) - place) * ps[index]))
        corrected[index] = most
    return corrected


def share_limits(differences: Sequence[float]) -> tuple[float, float] | None:
    """Return the 95 % interval of a mean difference of values in [0, 1]; None without a pair.

    It is the interval of `paired`. Where fewer than six pairs differ, or all by as much, it is the
    interval of `mean_limits` for (d + 1)/2. For fewer than six it is extended to 0, because the
    signs of five pairs cannot show which system is better.

    >>> [round(limit, 3) for limit in share_limits([0.0] * 100) or ()]
    [-0.014, 0.014]
    """
    found = paired(differences)
    if found is None or found.limits is not None:
        return found and found.limits
    spread = float(np.var(differences, ddof=1)) / 4 if found.pairs > 1 else 0.0
    low, high = (2 * limit - 1 for limit in mean_limits((1 + found.mean) / 2, spread, found.pairs))
    return (
        (low, high)
        if found.higher + found.lower >= _MIN_DIFFERING
        else (min(0.0, low), max(0.0, high))
    )
