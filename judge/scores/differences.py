"""Whether two ways of answering the same questions differ: a test and an interval by pairs."""

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from judge.scores.intervals import t95

_LEAST: Final = 6
"""So many pairs must differ for a test of their signs to reach .05: 2 to the power of -5 is .03."""
_ROUNDING: Final = 1e-12
"""Equal differences come out this far apart."""
_EXACT: Final = 10_000
"""Degrees of freedom from which on the normal distribution serves."""


class PairedDifference(NamedTuple):
    """The mean of differences between the two values of each pair."""

    pairs: int
    """How many there are."""
    mean: float
    """Of the differences."""
    limits: tuple[float, float] | None
    """Its 95 % interval; None where fewer than six pairs differ."""
    p: float
    """How often chance alone would bring a mean as far from 0, 0 to 1."""
    higher: int
    """Pairs whose difference is above 0."""
    lower: int
    """Pairs whose difference is below 0."""


def paired(differences: Sequence[float] | npt.NDArray[np.float64]) -> PairedDifference | None:
    """Student's paired t test, both sides, and the interval that goes with it; None without a pair.

    mean ± t(.975, n - 1)·s/√n, and p of mean/(s/√n). But p is never under 2^(1 - k), with k pairs
    that differ: by their signs alone, as a permutation test goes, they can say no more. So a
    hit that changed in three queries is no finding, whatever the t distribution says.

    Args:
        differences: one for each pair.

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
    higher, lower = int((differences > 0).sum()), int((differences < 0).sum())
    error = float(differences.std(ddof=1)) / math.sqrt(pairs) if pairs > 1 else 0.0
    p, limits = min(1.0, 2.0 ** (1 - higher - lower)), None
    if error > _ROUNDING:
        p = max(p, t_tails(mean / error, pairs - 1))
        if higher + lower >= _LEAST:
            reach = t95(pairs - 1) * error
            limits = (mean - reach, mean + reach)
    return PairedDifference(pairs, mean, limits, p, higher, lower)


def t_tails(t: float, df: int) -> float:
    """The chance of a Student's t as far from 0 as this, on either side.

    Args:
        t: the statistic.
        df: degrees of freedom, from 1.

    Source: M. Abramowitz and I. A. Stegun (1964), 26.7.3 and 26.7.4, which are exact; from 10 000
    degrees of freedom on 26.7.8.

    >>> round(t_tails(2.0, 9), 4), round(t_tails(-2.0, 60), 4), t_tails(0.0, 5)
    (0.0766, 0.05, 1.0)
    """
    if df >= _EXACT:
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
