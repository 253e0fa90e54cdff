"""Whether one quantity says what another says: the same value and unit, or a rounding of it."""

from collections.abc import Iterable
from enum import Enum, auto
from typing import Final

from judge.text.quantities import Quantity
from judge.text.units import Reading

_SAME: Final = 1e-9
_CLOSE: Final = 0.05
"""How far a plain round number may be from what it rounds, as a share, unless it says `about`."""


class Match(Enum):
    """What became of a quantity among others."""

    FOUND = auto()
    """It stands there, or is a rounding of one that does; a mere number has any unit."""
    OTHER_UNIT = auto()
    """The number stands there, with another unit."""
    MISSING = auto()
    """It does not stand there."""


def look_up(quantity: Quantity, others: Iterable[Quantity]) -> Match:
    """Look a quantity up among others.

    `3.5 million` is a rounding of `3,512,000`, and `3,512,000` is none of `3.5 million`. Noughts
    at the end of plain digits count as rounding where the quantity says `about`, or is within 5 %.
    """
    best = Match.MISSING
    for other in others:
        for theirs in other.readings:
            for own in quantity.readings:
                bare = own.unit is None or theirs.unit is None
                alike = own.unit and theirs.unit and own.unit.kind == theirs.unit.kind
                pair = (_bare(own), _bare(theirs)) if bare else (own.value, theirs.value)
                if (bare or alike) and _rounds(quantity, own, *pair):
                    return Match.FOUND
                if _same(_bare(own), _bare(theirs)):
                    best = Match.OTHER_UNIT
    return best


def _bare(reading: Reading) -> float:
    return reading.value / reading.unit.factor if reading.unit else reading.value


def _same(one: float, two: float) -> bool:
    return abs(one - two) <= _SAME * max(abs(one), abs(two))


def _rounds(quantity: Quantity, own: Reading, value: float, theirs: float) -> bool:
    if _same(value, theirs):
        return True
    factor = value / _bare(own) if value else 1.0
    off = abs(value - theirs)
    if off <= quantity.step * factor / 2:
        return True
    return off <= quantity.coarse * factor / 2 and (quantity.rough or off <= _CLOSE * value)
