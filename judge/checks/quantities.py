"""Quantities by value, unit and precision, and whether one says what others say."""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from enum import Enum, auto
from itertools import pairwise
from typing import Final, NamedTuple

from judge.checks.dates import Date, dates
from judge.checks.numbers import MEASURES, Number, numbers
from judge.checks.units import PERCENT, Found, Unit, unit_before, unit_behind
from judge.text.fold import CJK_CHAR
from judge.text.words import LIGHT, stems, weight

_MONEY_SCALES: Final = {"b": 1e9, "t": 1e12}
_MONEY_SCALE: Final = re.compile(r"[ \u00a0]?([bt])(?![^\W_])", re.IGNORECASE)
_LEAST_SCALE: Final = 1000
_WRITTEN: Final = re.compile(r"\d[\d,，]*(?:\.(\d+))?")
_RANGE: Final = re.compile(r"\s?(?:[-–—~～至到]|to|and|or)\s?")
_SHARE: Final = "分之"
_HUNDREDTHS: Final = "百分之"
# Before a number that is a part of a name or a label: `B12`, `COVID-19`, `step 3`.
_LABEL: Final = re.compile(
    r"(?:[a-z][-‐–]?|[/#@_=&\\]|[a-z]\.|\d[.:])\Z"
    r"|(?<![^\W_])(?:steps?|passages?|sections?|chapters?|pages?|tables?|figures?|fig\.?|options?"
    r"|parts?|items?|methods?|tips?|examples?|questions?|paragraphs?|documents?|sources?|notes?"
    r"|numbers?|no\.?|version)[ \u00a0]?\Z|(?:步骤|章节|段落|图|表|版本)\Z",
    re.IGNORECASE,
)
# Beside a number that is about another one, or bounds it.
_VAGUE: Final = re.compile(
    r"(?<![^\W_])(?:about|around|approximately|approx\.?|roughly|nearly|almost|some|close to"
    r"|(?:more|greater|higher|older|longer|larger|less|fewer|lower|younger|shorter|smaller) than"
    r"|over|above|under|below|at least|at most|up to)\s?[$€£¥]?\Z|[~≈<>≤≥]\s?[$€£¥]?\Z"
    r"|(?:大约|大概|约|将近|接近|(?<!附)近|超过?|逾|至少|最少|至多|最多|[不高多大低少小][到足满于])了?\Z",
    re.IGNORECASE,
)
_VAGUE_BEHIND: Final = re.compile(
    rf"\s?[{MEASURES}]?(?:\+|多|余|左右|上下|[或及]?以[上下内]|or (?:more|older|over|less|fewer))"
)
_REACH: Final = 20
"""Characters before a number that say what it is."""
_MEASURES: Final = frozenset(MEASURES)
_MAN: Final = "人"

_SAME: Final = 1e-9
_CLOSE: Final = 0.05
"""How far a round number may be from what it rounds, as a share."""
_LOOSE: Final = 0.2
"""How far one that says that it is a bound, or about that."""


class Quantity(NamedTuple):
    """A number with its unit, and its place."""

    value: float
    """As a number, magnitudes multiplied out; a percentage counts hundredths."""
    units: tuple[Unit, ...]
    """What it may measure: `6 pounds` are money or weight; empty for a mere number."""
    start: int
    """First character, that of a currency sign before it."""
    end: int
    """One past the last, that of the unit behind it."""
    leeway: float
    """How far off a figure may be that it stands for: 5e4 for `3.5 million`, 50 for `3,500`."""
    certain: bool
    """False where it may be no figure of its own: `one`, `B12`, `step 3`."""


class Match(Enum):
    """What became of a quantity among others."""

    FOUND = auto()
    """It stands there, or is a rounding of one that does; a mere number has any unit."""
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
        held: defaultdict[str, list[float]] = defaultdict(list)
        numbers, mere = [], []
        for quantity in quantities:
            numbers.append(quantity.value)
            if not quantity.units:
                mere.append(quantity.value)
            for unit in quantity.units:
                held[unit.kind].append(quantity.value * unit.factor)
        self._numbers, self._mere = sorted(numbers), sorted(mere)
        self._held = {kind: sorted(values) for kind, values in held.items()}

    def look_up(self, quantity: Quantity) -> Match:
        """Look a quantity up.

        `3.5 million` is a rounding of `3,512,000`, and `3,512,000` is none of `3.5 million`.
        Noughts at the end of plain digits count as rounding within 5 %; `about` and `over` within
        20 %.
        """
        value, leeway = quantity.value, quantity.leeway
        if _any(self._mere if quantity.units else self._numbers, value, leeway):
            return Match.FOUND
        for unit in quantity.units:
            values = self._held.get(unit.kind, [])
            if _any(values, value * unit.factor, leeway * unit.factor):
                return Match.FOUND
        return Match.OTHER_UNIT if _any(self._numbers, value, 0.0) else Match.MISSING

    def has(self, value: float) -> bool:
        """Whether a figure of that value stands there, whatever its unit."""
        return _any(self._numbers, value, 0.0)


def quantities(text: str, dated: Sequence[Date] | None = None) -> list[Quantity]:
    """Find the quantities of a text, in reading order; what stands in a date is none.

    Args:
        text: any, citation markers overwritten.
        dated: its dates, where they are known already.

    >>> [(q.value, q.units[0].kind) for q in quantities("US$5m, 5公里, 3.5 %")]
    [(5000000.0, 'usd'), (5.0, 'length'), (3.5, 'percent')]
    """
    taken = {
        place
        for date in (dates(text) if dated is None else dated)
        for place in range(date.start, date.end)
    }
    found: list[Quantity] = []
    for number in numbers(text):
        # The hundred of `百分之` and of `百分点` is none.
        beside = text.startswith(_SHARE, number.end) or (found and number.start < found[-1].end)
        if not beside and taken.isdisjoint(range(number.start, number.end)):
            found.append(_measured(number, text))
    for place, (one, two) in enumerate(pairwise(tuple(found)), 1):
        if _RANGE.fullmatch(text, one.end, two.start):
            # `10-20 km` has one unit, and in `steps 1-3` both are labels.
            label = not one.certain and text[one.start].isdecimal()
            found[place - 1] = found[place - 1]._replace(units=one.units or two.units)
            found[place] = two._replace(certain=two.certain and not label)
    return found


def counted(quantity: Quantity, text: str) -> str | None:
    """The stem of the first telling word behind a quantity of a text: `men` of `two of the men`.

    In Chinese two characters, as one alone is shared by many words; `人` stands for itself. None
    where no such word stands near.
    """
    behind = stems(text[quantity.end : quantity.end + _REACH + _REACH // 2])
    if behind and behind[0] in _MEASURES and behind[0] != _MAN:
        behind = behind[1:]
    first = next((place for place, own in enumerate(behind) if weight(own) > LIGHT), None)
    if first is None or behind[first] == _MAN or not CJK_CHAR.match(behind[first]):
        return None if first is None else behind[first]
    return "".join(behind[first : first + 2]) if first + 1 < len(behind) else None


def _measured(number: Number, text: str) -> Quantity:
    start, end = number.start, number.end
    written, value = text[start:end], number.value
    before = unit_before(text, start)
    if before and (match := _MONEY_SCALE.match(text, end)):
        value, end = value * _MONEY_SCALES[match[1].lower()], match.end()
    if written.startswith(_HUNDREDTHS) or text.endswith(_HUNDREDTHS, 0, start):
        before = Found((PERCENT,), text.rindex(_HUNDREDTHS, 0, end))
    behind = None if before else unit_behind(text, end)
    measure = before or behind
    left, right = before.edge if before else start, behind.edge if behind else end
    said = text[max(0, start - _REACH) : start]
    label = before is None and _LABEL.search(said)
    # A mere 0 or 1, and one in words, may be grammar: `one of them`, `1 of 3`, `一年`.
    digits = written[0].isdecimal()
    measured = measure is not None or text[end : end + 1] in _MEASURES
    idle = value in {0, 1} and not (measured and digits)
    vague = _VAGUE.search(text[max(0, left - _REACH) : left]) or _VAGUE_BEHIND.match(text, right)
    return Quantity(
        value=value,
        units=tuple(dict.fromkeys(measure.units)) if measure else (),
        start=left,
        end=right,
        leeway=_LOOSE * value if vague else _leeway(written, value),
        certain=number.certain and not (idle or label),
    )


def _leeway(written: str, value: float) -> float:
    """How far off a figure may be that a number rounds, in its own unit."""
    match = _WRITTEN.match(written)
    if match is None:
        step, coarse = (_noughts(value) if value >= _LEAST_SCALE else 1.0), _noughts(value)
    else:
        mantissa = float(match[0].replace(",", "").replace("，", ""))
        step = coarse = value / mantissa if mantissa else 1.0
        if match[1]:
            step = coarse = step * 10 ** -len(match[1])
        else:
            coarse *= _noughts(mantissa)
    return max(step / 2, min(coarse / 2, _CLOSE * value))


def _noughts(value: float) -> float:
    plain = f"{value:.0f}"
    return 10.0 ** (len(plain) - len(plain.rstrip("0"))) if value else 1.0


def _any(values: Sequence[float], value: float, leeway: float) -> bool:
    """Whether one of some values, in ascending order, is so near."""
    leeway += _SAME * value
    place = bisect_left(values, value - leeway)
    return place < len(values) and values[place] <= value + leeway
