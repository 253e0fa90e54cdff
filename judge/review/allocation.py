"""How many units to draw from each stratum."""

import math
from collections.abc import Mapping, Sequence
from typing import Final, Generic, NamedTuple, TypeVar

from judge.scores.intervals import Z95

FLOOR: Final = 5
"""The fewest units drawn from a stratum; one with fewer units is merged with its neighbour."""

_LARGEST: Final = 1e300

_Name = TypeVar("_Name")


class Size(NamedTuple):
    """What is known of a stratum before it is drawn from; `weight` is on a scale that all share."""

    units: int
    weight: float
    spread: float
    """Standard deviation of the judge's error, as expected or as found."""


class Group(NamedTuple, Generic[_Name]):
    """Strata that are drawn from as one."""

    names: tuple[_Name, ...]
    size: Size


def merge(
    sizes: Mapping[_Name, Size], total: int | None = None, floor: int = FLOOR
) -> list[Group[_Name]]:
    """Merge the smallest stratum with its smaller neighbour until each has `floor` units.

    Neighbours stand beside each other in `sizes`; empty strata count for nothing. Where `total` is
    given, that many are drawn in all, which bounds how many strata there can be.

    >>> few, many = Size(2, 2.0, 0.4), Size(90, 90.0, 0.2)
    >>> [group.names for group in merge({"a": many, "b": few, "c": many}, 60)]
    [('a', 'b'), ('c',)]
    """
    groups = [Group((name,), size) for name, size in sizes.items() if size.units]
    most = len(groups) if total is None else max(1, total // floor)
    while len(groups) > 1 and (
        len(groups) > most or min(group.size.units for group in groups) < floor
    ):
        least = min(range(len(groups)), key=lambda k: groups[k].size.units)
        beside = [k for k in (least - 1, least + 1) if 0 <= k < len(groups)]
        other = min(beside, key=lambda k: groups[k].size.units)
        first, second = sorted((least, other))
        (names, a), (more, b) = groups[first], groups[second]
        weight = a.weight + b.weight
        spread = (a.spread * a.weight + b.spread * b.weight) / weight if weight else a.spread
        groups[first : second + 1] = [Group(names + more, Size(a.units + b.units, weight, spread))]
    return groups


def allocate(sizes: Sequence[Size], total: int, floor: int = FLOOR) -> list[int]:
    """Units to draw from each: in proportion to weight times spread, within floor and stratum.

    The rest of a stratum that is drawn whole goes to the others.

    Args:
        sizes: of the strata.
        total: units in all.
        floor: units from each at least, as far as it has them and `total` reaches.

    Returns:
        one number per stratum, in order, adding up to `total` or to all there are.

    Source: J. Neyman (1934), J. R. Stat. Soc. 97, 558-606.

    >>> allocate([Size(900, 900, 0.2), Size(100, 100, 0.4)], 55)
    [45, 10]
    """
    total = min(total, sum(size.units for size in sizes))
    floors = [min(floor, size.units, total // max(1, len(sizes))) for size in sizes]
    pulls = [size.weight * size.spread for size in sizes]
    if not any(pulls):
        pulls = [float(size.units) for size in sizes]

    def shares(scale: float) -> list[float]:
        bounds = zip(pulls, floors, sizes, strict=True)
        return [min(size.units, max(least, scale * pull)) for pull, least, size in bounds]

    low, high = 0.0, 1.0
    while sum(shares(high)) < total and high < _LARGEST:
        high *= 2
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if sum(shares(middle)) < total else (low, middle)
    return _whole(shares(high), [size.units for size in sizes], total)


def needed(sizes: Sequence[Size], reach: float, spreads: Sequence[float] | None = None) -> int:
    """About the fewest units, divided by `allocate`, whose 95 % interval is ± `reach` or less.

    From the sum of W²·s²·(1/n - 1/N), W a stratum's share of the weight; all there are where even
    they are too few.

    Units are divided by the spreads of `sizes`; `spreads` is s, where more is known by now.
    """
    known = list(sizes)
    if spreads is not None:
        known = [size._replace(spread=s) for size, s in zip(sizes, spreads, strict=True)]
    low, high = 1, sum(size.units for size in sizes)
    while low < high:
        middle = (low + high) // 2
        if Z95 * _error(known, allocate(sizes, middle)) <= reach:
            high = middle
        else:
            low = middle + 1
    return low


def _error(sizes: Sequence[Size], drawn: Sequence[int]) -> float:
    """The standard error of the mean after such a draw."""
    whole = sum(size.weight for size in sizes)
    variance = 0.0
    for size, n in zip(sizes, drawn, strict=True):
        if size.weight and size.units > n:
            if not n:
                return math.inf
            share = size.weight / whole * size.spread
            variance += share**2 * (1 / n - 1 / size.units)
    return math.sqrt(variance)


def _whole(shares: Sequence[float], most: Sequence[int], total: int) -> list[int]:
    """Round shares to whole numbers that add up to `total`; the largest remainders go up first."""
    drawn = [math.floor(share + 1e-9) for share in shares]
    order = sorted(range(len(shares)), key=lambda k: drawn[k] - shares[k])
    while sum(drawn) < total:
        for k in order:
            if sum(drawn) < total and drawn[k] < most[k]:
                drawn[k] += 1
    return drawn
