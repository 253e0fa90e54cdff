"""Strata of a draw: which are drawn from as one, how many units of each, and which.

Strata share the units of a draw by weight times expected spread, five each at least. Within a
stratum a unit's chance is in proportion to its part in the mean over answers, so that there all
labels weigh alike: sequential Poisson sampling, units that are certain set aside.

Source: E. Ohlsson (1998), Sequential Poisson sampling, J. Off. Stat. 14, 149-162.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from judge.review.census import Candidate, Size, Tally
from judge.review.records import StratumName

FLOOR: Final = 5
"""The fewest units drawn from a stratum; one with fewer units is merged with its neighbour."""
_LARGEST: Final = 1e300


class Group(NamedTuple):
    """Strata that are drawn from as one."""

    names: tuple[StratumName, ...]
    size: Size


def merge(sizes: Mapping[StratumName, Size], total: int) -> list[Group]:
    """Merge the smallest stratum with its smaller neighbour until each can give `FLOOR` units.

    Neighbours stand beside each other in `sizes`; empty strata count for nothing. `total` is how
    many are drawn in all, which bounds how many strata there can be.
    """
    groups = [Group((name,), size) for name, size in sizes.items() if size.units]
    most = max(1, total // FLOOR)
    while len(groups) > 1 and (
        len(groups) > most or min(group.size.units for group in groups) < FLOOR
    ):
        least = min(range(len(groups)), key=lambda k: groups[k].size.units)
        beside = [k for k in (least - 1, least + 1) if 0 <= k < len(groups)]
        first, second = sorted((least, min(beside, key=lambda k: groups[k].size.units)))
        (names, a), (more, b) = groups[first], groups[second]
        weight = a.weight + b.weight
        spread = (a.spread * a.weight + b.spread * b.weight) / weight if weight else a.spread
        groups[first : second + 1] = [Group(names + more, Size(a.units + b.units, weight, spread))]
    return groups


def allocate(sizes: Sequence[Size], total: int) -> list[int]:
    """Units to draw from each stratum: in proportion to weight times spread.

    At least `FLOOR` from each, as far as it has them and `total` reaches; the rest of a stratum
    that is drawn whole goes to the others. They add up to `total`, or to all there are.

    Source: J. Neyman (1934), J. R. Stat. Soc. 97, 558-606.

    >>> allocate([Size(900, 900, 0.2), Size(100, 100, 0.4)], 55)
    [45, 10]
    """
    total = min(total, sum(size.units for size in sizes))
    floors = [min(FLOOR, size.units, total // max(1, len(sizes))) for size in sizes]
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
    found = shares(high)
    # Whole numbers: the largest remainders go up first.
    units = [math.floor(share + 1e-9) for share in found]
    order = sorted(range(len(sizes)), key=lambda k: units[k] - found[k])
    while sum(units) < total:
        for k in order:
            if sum(units) < total and units[k] < sizes[k].units:
                units[k] += 1
    return units


def drawn(tally: Tally, share: int) -> list[tuple[Candidate, float]]:
    """Draw `share` units from a stratum; each comes with its inclusion probability."""
    # From some weight on a unit is certain; the others have a chance in proportion to theirs.
    left, rest = share, sum(weight * count for weight, count in tally.weights.items())
    certain_from = math.inf
    for weight in sorted(tally.weights, reverse=True):
        if left * weight < rest * (1 - 1e-12):
            break
        certain_from = weight
        left -= tally.weights[weight]
        rest -= weight * tally.weights[weight]
    scale = left / rest if rest > 0 else 0.0
    certain = [each for _, each in tally.heaviest if each.weight >= certain_from]
    others = sorted(each for _, each in tally.least if each.weight < certain_from)
    return [
        *((candidate, 1.0) for candidate in certain),
        *((each, min(1.0, each.weight * scale)) for each in others[: share - len(certain)]),
    ]
