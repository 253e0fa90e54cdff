"""A weighted share of rows that come in clusters, with Wilson's interval."""

from collections import defaultdict
from collections.abc import Hashable, Sequence
from typing import NamedTuple

from judge.scores.interval.wilson import wilson


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
