"""Figures: quantities looked up by value, unit and precision: whether one says what others say."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from enum import Enum, auto
from typing import Final

from judge.checks.quantities import MERE, Bound, Quantity

_SAME: Final = 1e-9
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
    """Quantities in the order of their values, so that each look-up costs a few steps."""

    def __init__(self, quantities: Iterable[Quantity]) -> None:
        readings = [reading for quantity in quantities for reading in quantity.readings]
        self._values = frozenset(reading.value for reading in readings)
        self._bare = sorted(value / unit.factor for value, unit in readings)
        self._held: dict[str, list[float]] = {MERE.kind: []}
        for value, unit in sorted(readings):
            self._held.setdefault(unit.kind, []).append(value)

    def look_up(self, quantity: Quantity) -> Match:
        """Look a quantity up.

        `3.5 million` is a rounding of `3,512,000`, and `3,512,000` is none of `3.5 million`.
        Noughts at the end of plain digits count as rounding where the quantity says `about`, or is
        within 5 %. `Over 60 %` stands where any share from 60 % to twice that does.
        """
        for value, unit in quantity.readings:
            number = value / unit.factor
            # A bound of a mere number holds for mere numbers alone: `over 30` is not `36 %`.
            mere = self._held[MERE.kind] if unit.kind else self._bare
            off = 0.0 if quantity.bound else quantity.leeway(number, 1.0)
            if _holds(mere, number, off):
                return Match.FOUND
            off = quantity.leeway(value, unit.factor)
            if _holds(self._held.get(unit.kind, []), value, off, quantity.bound):
                return Match.FOUND
        same = any(_holds(self._bare, value / unit.factor) for value, unit in quantity.readings)
        return Match.OTHER_UNIT if same else Match.MISSING

    def has(self, value: float) -> bool:
        """Whether a figure of exactly that value stands there, its unit's base units counted."""
        return value in self._values


def _holds(
    values: Sequence[float], value: float, off: float = 0.0, bound: Bound | None = None
) -> bool:
    """Whether one of these, ascending, is the value give or take `off`, or what it bounds."""
    off += _SAME * value
    low = value / _FAR if bound is Bound.UPPER else value - off
    high = value * _FAR if bound is Bound.LOWER else value + off
    place = bisect_left(values, low)
    return place < len(values) and values[place] <= high
