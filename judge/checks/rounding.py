"""Whether one quantity says what others say: the same value and unit, a rounding, or a bound."""

from bisect import bisect_left
from collections.abc import Iterable
from enum import Enum, auto
from typing import Final

from judge.checks.quantities import Bound, Quantity
from judge.checks.units import Reading

_SAME: Final = 1e-9
_CLOSE: Final = 0.05
"""How far a plain round number may be from what it rounds, as a share, unless it says `about`."""
_FAR: Final = 2.0
"""How many times a bound the figure may be that it stands for, or that figure the bound."""


class Match(Enum):
    """What became of a quantity among others."""

    FOUND = auto()
    """It stands there, or is a rounding or a bound of one that does; a mere number has any unit."""
    OTHER_UNIT = auto()
    """The number stands there, with another unit."""
    MISSING = auto()
    """It does not stand there."""


class Figures:
    """Quantities in the order of their values, so that each look-up costs a few steps.

    Args:
        quantities: any, in any order.
    """

    def __init__(self, quantities: Iterable[Quantity]) -> None:
        bare: list[float] = []
        held: dict[str | None, list[float]] = {None: []}
        for quantity in quantities:
            for reading in quantity.readings:
                bare.append(_bare(reading))
                kind = reading.unit.kind if reading.unit else None
                held.setdefault(kind, []).append(reading.value)
        self._bare = sorted(bare)
        self._held = {kind: sorted(values) for kind, values in held.items()}

    def look_up(self, quantity: Quantity) -> Match:
        """Look a quantity up.

        `3.5 million` is a rounding of `3,512,000`, and `3,512,000` is none of `3.5 million`.
        Noughts at the end of plain digits count as rounding where the quantity says `about`, or is
        within 5 %. `Over 60 %` stands where any share from 60 % to twice that does.
        """
        for own in quantity.readings:
            number = _bare(own)
            # A bound of a mere number holds for mere numbers alone: `over 30` is not `36 %`.
            mere = self._bare if own.unit is None else self._held[None]
            off = _SAME * number if quantity.bound else _leeway(quantity, number, 1.0)
            if _any(mere, *_range(None, number, off)):
                return Match.FOUND
            kind, factor = (own.unit.kind, own.unit.factor) if own.unit else (None, 1.0)
            off = _leeway(quantity, own.value, factor)
            if _any(self._held.get(kind, []), *_range(quantity.bound, own.value, off)):
                return Match.FOUND
        numbers = [_bare(own) for own in quantity.readings]
        same = any(_any(self._bare, n - _SAME * n, n + _SAME * n) for n in numbers)
        return Match.OTHER_UNIT if same else Match.MISSING

    def has(self, value: float) -> bool:
        """Whether a figure of exactly that value stands there, its unit's base units counted."""
        return any(_any(values, value, value) for values in self._held.values())


def _bare(reading: Reading) -> float:
    return reading.value / reading.unit.factor if reading.unit else reading.value


def _leeway(quantity: Quantity, value: float, factor: float) -> float:
    """How far off a figure may be that the quantity rounds, in the unit that `factor` is of."""
    least = max(quantity.step * factor / 2, _SAME * value)
    if quantity.bound:
        return least
    coarse = quantity.coarse * factor / 2
    return max(least, coarse if quantity.rough else min(coarse, _CLOSE * value))


def _range(bound: Bound | None, value: float, off: float) -> tuple[float, float]:
    off += _SAME * value
    low = value / _FAR if bound is Bound.UPPER else value - off
    high = value * _FAR if bound is Bound.LOWER else value + off
    return low, high


def _any(values: list[float], low: float, high: float) -> bool:
    place = bisect_left(values, low)
    return place < len(values) and values[place] <= high
