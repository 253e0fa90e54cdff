"""Statistics of the benchmarks, with intervals clustered by group, and the sheet they stand on.

`python -m doctest tests/bench/figures.py` checks them against values worked by hand.
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt
from sklearn.metrics import roc_auc_score

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Target = tuple[str, float]
"""`>=` or `<=`, and the limit of a figure."""

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
        weights = [np.ones(len(self._of)), *(drawn[self._of] for drawn in self._drawn)]
        with warnings.catch_warnings(action="ignore"):  # a resample without one of the labels
            whole, *replicates = (
                roc_auc_score(labels, scores, sample_weight=each) for each in weights
            )
        return Estimate(whole, np.asarray(replicates))

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


def _divide(over: float, under: float) -> float:
    return float(over / under) if under else float("nan")


def _divided(over: Floats, under: Floats) -> Floats:
    shares: Floats = np.divide(over, under, out=np.full(len(over), np.nan), where=under != 0)
    return shares


class Sheet:
    """Prints the figures of a run as they come, and keeps them.

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
        self.met: dict[str, bool] = {}
        """Whether each figure with a target meets it."""
        self.figures: dict[str, float] = {}

    def begin(self, name: str, about: str) -> None:
        """Name the set of the figures that follow."""
        self._set = name
        print(f"\n{name}: {about}", flush=True)

    def add(self, name: str, found: Estimate, n: int, note: str = "") -> None:
        """Take a figure with its interval, over n sentences or answers."""
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
        """Take a figure whose interval, if any, was found elsewhere."""
        key = f"{self._set}: {name}"
        self.figures[key] = value
        limits = "" if interval is None else f"[{interval[0]:.3f}, {interval[1]:.3f}]"
        parts = [f"  {name:52}{value:10.4f}  {limits:17} n {n:<6}"]
        if key in self._before:
            parts.append(f"{value - self._before[key]:+.4f}")
        if note:
            parts.append(note)
        if target := self._targets.get((self._set, name)):
            sign, limit = target
            self.met[key] = value >= limit if sign == ">=" else value <= limit
            parts.append(f"target {sign} {limit:g}: {'met' if self.met[key] else 'MISSED'}")
        print("  ".join(parts).rstrip(), flush=True)
