"""Statistics of the benchmarks, with intervals clustered by group, and the sheet they stand on.

`python -m doctest tests/bench/figures.py` checks them against values worked by hand.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

REPLICATES: Final = 1000
BINS: Final = 10


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure, and its values in the same resamples as those of every other of its rows."""

    value: float
    """Over all rows."""
    replicates: Floats = field(repr=False)
    """In each resample, shape (1000,); NaN where it is not defined there."""

    @property
    def interval(self) -> tuple[float, float]:
        """The middle 95 % of the resamples."""
        if np.isnan(self.replicates).all():
            return float("nan"), float("nan")
        low, high = np.nanquantile(self.replicates, [0.025, 0.975])
        return float(low), float(high)

    def mean_with(self, other: "Estimate") -> "Estimate":
        """The mean of both, such as balanced accuracy of two recalls."""
        return Estimate((self.value + other.value) / 2, (self.replicates + other.replicates) / 2)


class Resamples:
    """The cluster bootstrap: groups are drawn with replacement, all their rows with them.

    Equal groups in equal order give equal resamples, so that differences can be paired.

    Args:
        groups: the group of each row.
        seed: of the draw.
    """

    def __init__(self, groups: Sequence[str], seed: int = 0) -> None:
        names, self._of = np.unique(np.asarray(groups), return_inverse=True)
        rng = np.random.default_rng(seed)
        size = len(names)
        self._drawn = np.zeros((REPLICATES, size))
        for replicate in range(REPLICATES):
            drawn = rng.integers(0, size, size)
            self._drawn[replicate] = np.bincount(drawn, minlength=size)

    def share(self, hits: npt.ArrayLike, among: npt.ArrayLike | None = None) -> Estimate:
        """Σ hits / Σ among, over the rows in `among`, or over all.

        Args:
            hits: what is counted, shape (rows,); numbers other than 0 and 1 give a mean.
            among: which rows count, shape (rows,), 0 or 1, or how much each does.

        >>> Resamples(["a", "a", "b", "c"]).share([1, 0, 1, 1], [1, 1, 0, 1]).value
        0.6666666666666666
        """
        hit = np.asarray(hits, np.float64)
        weight = np.ones(len(hit)) if among is None else np.asarray(among, np.float64)
        return self.ratio(hit * weight, weight)

    def ratio(self, above: npt.ArrayLike, below: npt.ArrayLike) -> Estimate:
        """Σ above / Σ below over rows, such as F1 = Σ 2·right / Σ (predicted + wanted)."""
        both = np.column_stack([np.asarray(above, np.float64), np.asarray(below, np.float64)])
        (over, under), found = both.sum(axis=0), self._totals(both)
        return Estimate(_divide(over, under), _divided(found[:, 0], found[:, 1]))

    def auroc(self, scores: npt.ArrayLike, labels: npt.ArrayLike) -> Estimate:
        """`auroc`, in every resample too.

        >>> Resamples(["a", "b", "c", "d"]).auroc([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1]).value
        0.75
        """
        positive = np.asarray(labels, np.bool_)
        # Equal scores share a rank.
        of = np.unique(np.asarray(scores, np.float64), return_inverse=True)[1]
        replicates = [_weighted_auroc(of, positive, drawn[self._of]) for drawn in self._drawn]
        return Estimate(
            _weighted_auroc(of, positive, np.ones(len(positive))), np.asarray(replicates)
        )

    def balanced(self, called: npt.ArrayLike, labels: npt.ArrayLike) -> Estimate:
        """Balanced accuracy: the mean of both recalls.

        >>> Resamples(["a", "b", "c", "d"]).balanced([1, 1, 0, 1], [1, 1, 0, 0]).value
        0.75
        """
        call, label = np.asarray(called, np.bool_), np.asarray(labels, np.bool_)
        return self.share(call, label).mean_with(self.share(~call, ~label))

    def calibration_error(self, scores: npt.ArrayLike, labels: npt.ArrayLike) -> Estimate:
        """ECE: mean |share supported - mean score| over 10 equal-width bins, weighted by size.

        Resamples have a larger error than the rows they are drawn of: the interval is not centred.
        Source: Naeini, Cooper and Hauskrecht (2015), AAAI.

        >>> three = Resamples(["a", "b", "c"])
        >>> round(three.calibration_error([0.95, 0.95, 0.3], [1, 0, 0]).value, 6)
        0.4
        """
        score, label = np.asarray(scores, np.float64), np.asarray(labels, np.float64)
        gaps = np.zeros((len(score), BINS))
        gaps[np.arange(len(score)), _bins(score)] = label - score
        found, rows = self._totals(gaps), self._totals(np.ones((len(score), 1)))
        whole = float(np.abs(gaps.sum(axis=0)).sum() / len(score))
        return Estimate(whole, np.abs(found).sum(axis=1) / rows[:, 0])

    def _totals(self, columns: Floats) -> Floats:
        """Sums over the rows of each resample, shape (1000, columns)."""
        sums = np.zeros((self._drawn.shape[1], columns.shape[1]))
        np.add.at(sums, self._of, columns)
        totals: Floats = self._drawn @ sums
        return totals


def _bins(scores: Floats) -> npt.NDArray[np.int64]:
    return np.minimum((scores * BINS).astype(np.int64), BINS - 1)


def _weighted_auroc(of: npt.NDArray[np.int64], positive: Bools, weights: Floats) -> float:
    """AUROC of rows that count `weights` times, `of` being the rank of each row's score."""
    size = int(of.max(initial=0)) + 1
    above = np.bincount(of[positive], weights[positive], size)
    below = np.bincount(of[~positive], weights[~positive], size)
    pairs = float(above.sum() * below.sum())
    return _divide(float(above @ (np.cumsum(below) - below / 2)), pairs)


def _divide(over: float, under: float) -> float:
    return float(over / under) if under else float("nan")


def _divided(over: Floats, under: Floats) -> Floats:
    shares: Floats = np.divide(over, under, out=np.full(len(over), np.nan), where=under != 0)
    return shares


@dataclass(frozen=True, slots=True)
class Target:
    """What a figure should be: at least, or at most."""

    least: float | None = None
    most: float | None = None

    def met(self, value: float) -> bool:
        """Whether it is; a figure that is not defined meets nothing."""
        above = self.least is None or value >= self.least
        return above and (self.most is None or value <= self.most)

    def __str__(self) -> str:
        return f">= {self.least:g}" if self.least is not None else f"<= {self.most:g}"


class Sheet:
    """Takes the figures of a run, prints them as they come, and keeps them.

    Args:
        targets: by set and name of the figure.
        before: the figures of another run, `SET: NAME` → value; the difference is printed.
    """

    def __init__(
        self, targets: Mapping[tuple[str, str], Target], before: Mapping[str, float]
    ) -> None:
        self._targets = targets
        self._before = before
        self._set = ""
        self._missed: list[str] = []
        self._aimed = 0
        self.figures: dict[str, float] = {}

    def begin(self, name: str, about: str) -> None:
        """The figures that follow are of this set."""
        self._set = name
        print(f"\n{name}: {about}", flush=True)

    def add(self, name: str, found: Estimate, n: int, note: str = "") -> None:
        """A figure with its interval, over n sentences or answers."""
        self.put(name, found.value, found.interval, n=n, note=note)

    def put(
        self,
        name: str,
        value: float,
        interval: tuple[float, float] | None = None,
        *,
        n: int,
        note: str = "",
    ) -> None:
        """A figure whose interval, if any, was found elsewhere."""
        key = f"{self._set}: {name}"
        self.figures[key] = value
        size = f"{value:10.4f}" if abs(value) < 1000 else f"{value:10,.0f}"
        limits = "" if interval is None else f"[{interval[0]:.3f}, {interval[1]:.3f}]"
        parts = [f"  {name:52}{size}  {limits:17} n {n:<6}"]
        if key in self._before:
            parts.append(f"{value - self._before[key]:+.4f}")
        if note:
            parts.append(note)
        if target := self._targets.get((self._set, name)):
            self._aimed += 1
            met = target.met(value)
            parts.append(f"target {target}: {'met' if met else 'MISSED'}")
            self._missed += [] if met else [f"{key}: {value:.4f} ({target})"]
        print("  ".join(parts).rstrip(), flush=True)

    def verdict(self) -> None:
        """How many targets are met, and which are not."""
        print(f"\ntargets met: {self._aimed - len(self._missed)} of {self._aimed}")
        for missed in self._missed:
            print(f"  missed: {missed}")
