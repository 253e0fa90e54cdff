"""95 % intervals: of shares, of differences, of means over a stream of answers."""

import hashlib
import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import cache
from typing import Final, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from judge.records import Interval

Z95: Final = 1.959963984540054
"""The normal quantile at .975."""

FEW: Final = 50
"""Under so many answers a bootstrap is too narrow, and Wilson's interval is used."""

REPLICATES: Final = 1000

_TOGETHER: Final = 1024
"""Answers whose weights stand side by side: 8 MB. Many, for a product costs a wait for threads."""

_BITS: Final = 32
"""Bits behind the binary point in each of the two whole numbers that stand for a value."""

_EXACT: Final = 16.0
"""Values up to that add up exactly, over 100 million of them; greater ones are a DCG's."""

_ONE: Final = 1 << 15
"""Bits that draw 1: from .368 to .736 of their range do."""

_Row = Sequence[float | None] | npt.NDArray[np.float64]


def wilson(mean: float, n: float, z: float = Z95) -> tuple[float, float]:
    """Wilson's score interval for a mean of values in [0, 1].

    (m + z²/2n ± z √(m(1 − m)/n + z²/4n²)) / (1 + z²/n). Exact in form for shares; for a mean of
    other values in [0, 1] it is conservative, for their variance is at most m(1 − m).

    Args:
        mean: m, 0 to 1.
        n: how many values it is over, or how many of a simple draw would be as good.
        z: normal quantile.

    Returns:
        (low, high), within [0, 1].

    Raises:
        ValueError: n not above 0, or a mean outside [0, 1].

    Source: E. B. Wilson (1927), J. Am. Stat. Assoc. 22, 209-212.

    >>> [round(limit, 4) for limit in wilson(0.5, 10)]
    [0.2366, 0.7634]
    >>> [round(limit, 4) for limit in wilson(1.0, 10)]
    [0.7225, 1.0]
    """
    if not n > 0 or not 0 <= mean <= 1:
        raise ValueError(f"wilson needs n > 0 and a mean in [0, 1], got n={n!r}, mean={mean!r}")
    centre = mean + z * z / (2 * n)
    reach = z * math.sqrt(mean * (1 - mean) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    return max(0.0, (centre - reach) / scale), min(1.0, (centre + reach) / scale)


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
    gap = mean - other
    below, above = max(0.0, mean - limits[0]), max(0.0, limits[1] - mean)
    others_below, others_above = max(0.0, other - others[0]), max(0.0, others[1] - other)
    return gap - math.hypot(below, others_above), gap + math.hypot(above, others_below)


class Row(NamedTuple):
    """One observation."""

    hit: bool
    """Whether it counts for the share."""
    weight: float
    """Above 0."""
    unit: Hashable
    """What was observed, such as a sentence: two observations of it are not two units."""
    cluster: Hashable
    """What units belong to that may be alike, such as their answer."""


class WeightedShare(NamedTuple):
    """A share and its 95 % interval."""

    value: float
    low: float
    high: float
    size: float
    """Units of equal weight, drawn one by one, that would tell as much."""


def weighted_share(rows: Sequence[Row]) -> WeightedShare | None:
    """The weighted share of hits, p, and Wilson's interval over the effective number of units.

    That is p(1 - p)/v, with v the variance of p between clusters, K/(K - 1)·sum over clusters of
    (sum of w·(hit - p))² over (sum of w)²; never over Kish's (sum of w)²/(sum of w²) of the units.
    Where all or none are hits, or there is one cluster, Kish's number of clusters.

    Returns:
        None without rows.

    Source: E. L. Korn and B. I. Graubard (1998), Survey Methodology 24, 193-201; L. Kish (1965),
    Survey Sampling, 11.7.

    >>> alone = [Row(k < 3, 1.0, k, k) for k in range(4)]
    >>> [round(x, 3) for x in weighted_share(alone)]
    [0.75, 0.256, 0.963, 3.0]
    """
    if not rows:
        return None
    whole = sum(row.weight for row in rows)
    value = min(1.0, sum(row.weight for row in rows if row.hit) / whole)
    units: defaultdict[Hashable, float] = defaultdict(float)
    clusters: defaultdict[Hashable, float] = defaultdict(float)
    residuals: defaultdict[Hashable, float] = defaultdict(float)
    for row in rows:
        units[row.unit] += row.weight
        clusters[row.cluster] += row.weight
        residuals[row.cluster] += row.weight * (row.hit - value)
    count = len(clusters)
    spread = sum(residual**2 for residual in residuals.values())
    size = whole**2 / sum(weight**2 for weight in clusters.values())
    if 0 < value < 1 and count > 1 and spread > 0:
        variance = count / (count - 1) * spread / whole**2
        most = whole**2 / sum(weight**2 for weight in units.values())
        size = min(most, value * (1 - value) / variance)
    return WeightedShare(value, *wilson(value, size), size)


class StreamedMeans:
    """Means of named values over a stream of answers, with intervals, in constant memory.

    Intervals come from the Poisson bootstrap: each of 1 000 replicates gives each answer a
    Poisson(1) weight drawn from (seed, key) alone. Under 50 answers, or without variance, Wilson's
    interval takes its place.

    Parts of a stream merge in any order into exactly what the whole would have given: a value is
    kept as two whole numbers, in steps of 2⁻³² and of 2⁻⁶⁴, and whole numbers add up alike however
    they are grouped. A value of 2⁻¹² or more loses nothing by that, a lesser one at most 2⁻⁶⁵.
    Values beyond ±16, such as a DCG's, are added as floating point adds.

    Source: Chamandy, Muralidharan, Najmi and Naidu (2012), "Estimating uncertainty for massive
    data streams", Google technical report.

    Args:
        names: of the values that each answer brings.
        seed: part of every draw.
    """

    def __init__(self, names: Iterable[str], seed: int) -> None:
        self._columns = {name: column for column, name in enumerate(names)}
        self._seed = seed
        width = len(self._columns)
        self._least = np.full(width, np.inf)
        self._most = np.full(width, -np.inf)
        # The first column has weight 1 for each answer, the others are the replicates.
        self._sums = np.zeros((2, width, 1 + REPLICATES), dtype=np.int64)
        self._weights = np.zeros((width, 1 + REPLICATES), dtype=np.int64)
        self._large = np.zeros((width, 1 + REPLICATES))
        self._waiting: list[tuple[str, _Row]] = []

    @property
    def names(self) -> tuple[str, ...]:
        """Of the values, in the order of `add_rows`."""
        return tuple(self._columns)

    def add(self, key: str, values: Mapping[str, float | None]) -> None:
        """Add an answer's values, each in [0, 1] for Wilson's interval; None where it has none."""
        self.add_rows([key], [[values.get(name) for name in self._columns]])

    def add_rows(self, keys: Iterable[str], rows: Iterable[_Row]) -> None:
        """Add many answers' values, a row each in the order of `names`: None or NaN for none."""
        self._waiting.extend(zip(keys, rows, strict=True))
        if len(self._waiting) >= _TOGETHER:
            self._take_in()

    def _take_in(self) -> None:
        """Count what waits; together, for one product of matrices is far quicker than many sums."""
        for start in range(0, len(self._waiting), _TOGETHER):
            keys, values = zip(*self._waiting[start : start + _TOGETHER], strict=True)
            self._count(keys, np.array(values, dtype=float))  # None becomes NaN
        self._waiting.clear()

    def _count(self, keys: Sequence[str], rows: npt.NDArray[np.float64]) -> None:
        there = ~np.isnan(rows)
        self._least = np.fmin(self._least, np.fmin.reduce(rows))
        self._most = np.fmax(self._most, np.fmax.reduce(rows))
        drawn = poisson_weights(self._seed, keys)
        values = np.where(there, rows, 0.0)
        large = np.where(np.abs(values) > _EXACT, values, 0.0)
        scaled = np.ldexp(values - large, _BITS)
        coarse = np.floor(scaled)
        fine = np.rint(np.ldexp(scaled - coarse, _BITS))
        # All sums are whole numbers below 2⁵³, which floating point adds exactly in any order.
        self._sums[0] += (coarse.T @ drawn).astype(np.int64)
        if rest := np.flatnonzero(fine.any(axis=0)).tolist():  # shares such as ½ leave none
            self._sums[1, rest] += (fine[:, rest].T @ drawn).astype(np.int64)
        if large.any():
            self._large += large.T @ drawn
        self._weights += drawn.sum(axis=0).astype(np.int64)
        if some := np.flatnonzero(~there.all(axis=0)).tolist():
            absent = (~there[:, some]).T.astype(float) @ drawn
            self._weights[some] -= absent.astype(np.int64)

    def merge(self, other: Self) -> None:
        """Take in what another of the same seed has seen; `ValueError` if seeds or names differ."""
        if (other._seed, other.names) != (self._seed, self.names):
            raise ValueError("only means of equal seed and names merge")
        self._take_in()
        other._take_in()
        self._least = np.minimum(self._least, other._least)
        self._most = np.maximum(self._most, other._most)
        self._sums += other._sums
        self._large += other._large
        self._weights += other._weights

    def count(self, name: str) -> int:
        """How many answers had this value."""
        self._take_in()
        return int(self._weights[self._columns[name], 0])

    def mean(self, name: str) -> float | None:
        """Their mean; None where no answer had it."""
        count, column = self.count(name), self._columns[name]
        if not count:
            return None
        coarse, fine = self._sums[:, column, 0].tolist()
        exact: float = ((coarse << _BITS) + fine) / (count << 2 * _BITS)
        return exact + float(self._large[column, 0]) / count

    def interval(self, name: str) -> Interval | None:
        """The 95 % interval of the mean; None where no answer had this value."""
        count, mean, column = self.count(name), self.mean(name), self._columns[name]
        if mean is None:
            return None
        if count < FEW or self._least[column] == self._most[column]:
            # A ratio of sums may miss [0, 1] by a rounding error.
            low, high = wilson(min(1.0, max(0.0, mean)), count)
            return Interval(low=low, high=high, method="wilson")
        heavy = self._weights[column] > 0
        heavy[0] = False
        coarse, fine = self._sums[:, column, heavy]
        sums = np.ldexp(coarse + np.ldexp(fine.astype(float), -_BITS), -_BITS)
        sums += self._large[column, heavy]
        low, high = np.percentile(sums / self._weights[column, heavy], [2.5, 97.5]).tolist()
        return Interval(low=low, high=high, method="poisson_bootstrap")


def poisson_weights(seed: int, keys: Sequence[str]) -> npt.NDArray[np.float64]:
    """Ones, and `REPLICATES` Poisson(1) draws that depend on (seed, key) only, on any machine.

    SHAKE-128 of the pair gives 16 bits a draw; a table inverts the distribution function to that
    precision (2⁻¹⁶).

    Returns:
        Shape (keys, 1 + `REPLICATES`).
    """
    size = 2 * REPLICATES
    stream = b"".join(hashlib.shake_128(f"{seed}|{key}".encode()).digest(size) for key in keys)
    bits = np.full((len(keys), 1 + REPLICATES), _ONE, dtype=np.uint16)
    bits[:, 1:] = np.frombuffer(stream, dtype="<u2").reshape(len(keys), REPLICATES)
    draws: npt.NDArray[np.float64] = _inverse_poisson()[bits]
    return draws


@cache
def _inverse_poisson() -> npt.NDArray[np.float64]:
    masses = [math.exp(-1) / math.factorial(k) for k in range(10)]
    steps = np.cumsum(masses) * 2**16
    return np.searchsorted(steps, np.arange(2**16), "right").astype(np.float64)
