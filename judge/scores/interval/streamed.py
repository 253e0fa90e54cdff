"""95 % intervals for a mean over answers that stream by."""

import hashlib
import math
from collections.abc import Sequence
from functools import cache
from typing import Final, Literal, Self

import numpy as np
import numpy.typing as npt

from judge.scores.interval.wilson import wilson

FEW: Final = 50
"""Under so many answers a bootstrap is too narrow, and Wilson's interval is used."""

REPLICATES: Final = 1000

_TOGETHER: Final = 1024
"""Answers whose weights stand side by side: 8 MB. Many, for a product costs a wait for threads."""

_Row = Sequence[float | None] | npt.NDArray[np.float64]

Method = Literal["wilson", "poisson_bootstrap"]


class StreamedMeans:
    """Means of several values over a stream of answers, with intervals, in constant memory.

    Intervals come from the Poisson bootstrap: each of 1 000 replicates gives each answer a
    Poisson(1) weight drawn from (seed, key) alone, so the order of the answers does not matter and
    two parts of a stream can be merged. Under 50 answers, or without variance, Wilson's interval
    takes its place.

    Source: Chamandy, Muralidharan, Najmi and Naidu (2012), "Estimating uncertainty for massive
    data streams", Google technical report.

    Args:
        width: how many values each answer brings.
        seed: part of every draw.
    """

    def __init__(self, width: int, seed: int) -> None:
        self._seed = seed
        self._counts = np.zeros(width, dtype=np.int64)
        self._totals = np.zeros(width)
        self._least = np.full(width, np.inf)
        self._most = np.full(width, -np.inf)
        self._sums = np.zeros((width, REPLICATES))
        self._weights = np.zeros((width, REPLICATES))
        self._waiting: list[tuple[str, _Row]] = []

    def add(self, key: str, values: Sequence[float | None]) -> None:
        """Add an answer's values, each in [0, 1] for Wilson's interval; None where it has none."""
        self._waiting.append((key, values))
        if len(self._waiting) >= _TOGETHER:
            self._take_in()

    def add_rows(self, keys: Sequence[str], rows: npt.NDArray[np.float64]) -> None:
        """Add many answers' values: shape (answers, width), NaN where one has no such value."""
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
        self._counts += there.sum(axis=0)
        self._least = np.fmin(self._least, np.fmin.reduce(rows))
        self._most = np.fmax(self._most, np.fmax.reduce(rows))
        values = np.where(there, rows, 0.0)
        self._totals += values.sum(axis=0)
        drawn = _weights(self._seed, keys)
        self._sums += values.T @ drawn
        self._weights += drawn.sum(axis=0)
        if some := np.flatnonzero(~there.all(axis=0)).tolist():
            self._weights[some] -= (~there[:, some]).T.astype(float) @ drawn

    def merge(self, other: Self) -> None:
        """Take in what another of the same seed has seen.

        Raises:
            ValueError: the seeds or widths differ.
        """
        if (other._seed, other._sums.shape) != (self._seed, self._sums.shape):
            raise ValueError("only means of equal seed and width merge")
        self._take_in()
        other._take_in()
        self._counts += other._counts
        self._totals += other._totals
        self._least = np.minimum(self._least, other._least)
        self._most = np.maximum(self._most, other._most)
        self._sums += other._sums
        self._weights += other._weights

    def count(self, column: int) -> int:
        """How many answers had this value."""
        self._take_in()
        return int(self._counts[column])

    def mean(self, column: int) -> float | None:
        """Their mean; None where no answer had it."""
        count = self.count(column)
        return float(self._totals[column] / count) if count else None

    def interval(self, column: int) -> tuple[float, float, Method] | None:
        """(low, high, method) of the 95 % interval; None where no answer had this value."""
        mean = self.mean(column)
        if mean is None:
            return None
        if self.count(column) < FEW or self._least[column] == self._most[column]:
            # A mean of n equal values may miss [0, 1] by a rounding error.
            return *wilson(min(1.0, max(0.0, mean)), self.count(column)), "wilson"
        heavy = self._weights[column] > 0
        means = self._sums[column][heavy] / self._weights[column][heavy]
        low, high = np.percentile(means, [2.5, 97.5])
        return float(low), float(high), "poisson_bootstrap"


def poisson_weights(seed: int, key: str) -> npt.NDArray[np.float64]:
    """`REPLICATES` Poisson(1) draws that depend on (seed, key) only, on any machine.

    SHAKE-128 of the pair gives 16 bits a draw; a table inverts the distribution function to that
    precision (2⁻¹⁶).
    """
    draws: npt.NDArray[np.float64] = _weights(seed, [key])[0]
    return draws


def _weights(seed: int, keys: Sequence[str]) -> npt.NDArray[np.float64]:
    """The same of many keys, shape (keys, `REPLICATES`)."""
    size = 2 * REPLICATES
    stream = b"".join(hashlib.shake_128(f"{seed}|{key}".encode()).digest(size) for key in keys)
    bits = np.frombuffer(stream, dtype="<u2").reshape(len(keys), REPLICATES)
    draws: npt.NDArray[np.float64] = _inverse_poisson()[bits]
    return draws


@cache
def _inverse_poisson() -> npt.NDArray[np.float64]:
    masses = [math.exp(-1) / math.factorial(k) for k in range(10)]
    steps = np.cumsum(masses) * 2**16
    return np.searchsorted(steps, np.arange(2**16), "right").astype(np.float64)
