"""Quantities by value, unit and precision: `3.5 %`, `US$5m`, `500万美元`, `10-20 km`, `第二`."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from judge.text.dates import Date, dates
from judge.text.numbers import Number, numbers
from judge.text.spoken import Spoken, spoken
from judge.text.units import PERCENT, Found, Reading, Unit, unit_before, unit_behind

_METRE: Final = Unit("length", 1.0)
_SCALES: Final = {
    "bn": 1e9, "mn": 1e6, "mln": 1e6, "tn": 1e12, "trn": 1e12, "crore": 1e7, "lakh": 1e5,
    "dozen": 12, "million": 1e6, "billion": 1e9, "trillion": 1e12,
}  # fmt: skip
_MONEY_SCALES: Final = {"b": 1e9, "t": 1e12, "m": 1e6, "k": 1e3, "mm": 1e6}
_SCALE: Final = re.compile(
    rf"[ \u00a0-]?({'|'.join(sorted(_SCALES, key=len, reverse=True))}|[btmk])(?![^\W_])",
    re.IGNORECASE,
)
_WRITTEN: Final = re.compile(r"\d[\d,，]*(?:\.(\d+))?")
_RANGE: Final = re.compile(r"\s?(?:[-–—~～至到]|to|and|or)\s?")
_ORDINAL: Final = re.compile(r"(?:st|nd|rd|th)(?![^\W_])")
_LABEL: Final = re.compile(r"(?:[a-z][-‐–]?|[/#@_=&\\]|[a-z]\.|\d[.:])\Z", re.IGNORECASE)
_NUMBERED: Final = re.compile(
    r"(?<![^\W_])(?:steps?|passages?|sections?|chapters?|pages?|tables?|figures?|fig\.?|options?"
    r"|parts?|items?|methods?|tips?|examples?|questions?|paragraphs?|documents?|sources?|notes?"
    r"|numbers?|no\.?|version)[ \u00a0]?\Z|(?:步骤|章节|段落|图|表|版本)\Z",
    re.IGNORECASE,
)
_ROUGH: Final = re.compile(
    r"(?:(?<![^\W_])(?:about|around|approximately|approx\.?|roughly|nearly|almost|some|over|under|than|least"
    r"|most|up to|close to|estimated|an average of)|~|≈|[<>])\s?[$€£¥]?\Z"
    r"|(?:大约|大概|约|近|将近|接近|超过|超|逾|至少|至多|不到|多达|左右)\Z",
    re.IGNORECASE,
)
_ROUGH_BEHIND: Final = re.compile(r"\s?(?:多|余|左右|以上|以下|上下|\+|or so|or more)")
_REACH: Final = 18
_SHARE: Final = "分之"
_HUNDREDTHS: Final = "百分之"
_LEAST_SCALE: Final = 1000


class Quantity(NamedTuple):
    """A number with its unit, and its place."""

    readings: tuple[Reading, ...]
    """One at least; `5m` is five million or five metres."""
    start: int
    """First character, that of a currency sign before it."""
    end: int
    """One past the last, that of the unit behind it."""
    step: float
    """What one in its last written digit comes to: 1e5 for `3.5 million`, 1 for `3,500`."""
    coarse: float
    """The same with the noughts at its end left out: 100 for `3,500`."""
    rough: bool
    """Whether it says of itself that it is rounded: `about 3,500`, `近3500`."""
    certain: bool
    """False where it may be no figure of its own: `one`, `both`, `a first`, `B12`."""
    spelled: bool
    """Written in words or in a Chinese numeral."""


def quantities(text: str, dated: Sequence[Date] | None = None) -> list[Quantity]:
    """Find the quantities of a text, in reading order; what stands in a date is none.

    Args:
        text: any, citation markers overwritten.
        dated: its dates, where they are known already.

    >>> [(q.readings[0].value, q.readings[0].unit.kind) for q in quantities("US$5m, 5公里, 3.5 %")]
    [(5000000.0, 'usd'), (5000.0, 'length'), (3.5, 'percent')]
    """
    taken = _Spans([(date.start, date.end) for date in (dates(text) if dated is None else dated)])
    said = [each for each in spoken(text) if not taken.meets(each.start, each.end)]
    parts = _Spans([(each.start, each.end) for each in said if each.fraction])
    found: list[Quantity] = []
    for number in numbers(text):
        start, end = number.start, number.end
        # The hundred of `百分之` and of `百分点` is none.
        beside = text.startswith(_SHARE, end) or bool(found and start < found[-1].end)
        if not (beside or taken.meets(start, end) or parts.meets(start, end)):
            found.append(_measured(number, text))
    found = [*(_shared(one, two, text) for one, two in pairwise(found)), *found[-1:]]
    for place, (one, two) in enumerate(pairwise(found), 1):
        # `steps 1-3`: where the first is a mere label, the second is one too.
        if not one.certain and not one.spelled and _RANGE.fullmatch(text, one.end, two.start):
            found[place] = two._replace(certain=False)
    read = _Spans([(quantity.start, quantity.end) for quantity in found])
    more = [_aside(each) for each in said if not read.meets(each.start, each.end)]
    return sorted([*found, *more], key=lambda quantity: quantity.start)


class _Spans:
    """Spans in ascending order, asked whether they meet another."""

    def __init__(self, spans: Sequence[tuple[int, int]]) -> None:
        self._starts = [start for start, _ in spans]
        self._ends = [end for _, end in spans]

    def meets(self, start: int, end: int) -> bool:
        return bisect_right(self._ends, start) < bisect_left(self._starts, end)


def _measured(number: Number, text: str) -> Quantity:
    start, end = number.start, number.end
    written = text[start:end]
    before = unit_before(text, start)
    value, scale = number.value, 1.0
    if written[-1:].isdecimal() or not written[0].isdecimal():
        match = _SCALE.match(text, end)
        factor = _factor(match[1].lower(), money=before is not None) if match else None
        if match and factor:
            value, scale, end = value * factor, factor, match.end()
    ordinal = _ORDINAL.match(text, end)
    end = ordinal.end() if ordinal else end
    behind = None if ordinal or before else unit_behind(text, end)
    step, coarse = _precision(written, value, scale)
    if text[max(0, start - len(_HUNDREDTHS)) : start] == _HUNDREDTHS:
        before = Found((PERCENT,), start - len(_HUNDREDTHS))
    label = before is None and (
        _LABEL.search(text[max(0, start - 2) : start]) is not None
        or _NUMBERED.search(text[max(0, start - _REACH) : start]) is not None
    )
    return Quantity(
        readings=_readings(number, written, value, before, behind),
        start=before.edge if before else start,
        end=behind.edge if behind else end,
        step=step,
        coarse=coarse,
        rough=_rough(text, before.edge if before else start, end),
        certain=number.certain and value not in {0, 1} and not label,
        spelled=not written[0].isdecimal(),
    )


def _factor(word: str, *, money: bool) -> float | None:
    return _SCALES.get(word) or (_MONEY_SCALES.get(word) if money else None)


def _readings(
    number: Number, written: str, value: float, before: Found | None, behind: Found | None
) -> tuple[Reading, ...]:
    if written.startswith("百分之"):
        return (Reading(value, PERCENT),)
    units = (*(before.units if before else ()), *(behind.units if behind else ()))
    found: list[Reading] = [Reading(value * u.factor, u) for u in dict.fromkeys(units)]
    if written[-1:] in {"m", "M"} and before is None:
        found += [Reading(value, None), Reading(number.value / 1e6, _METRE)]
    return tuple(found) or (Reading(value, None),)


def _precision(written: str, value: float, scale: float) -> tuple[float, float]:
    match = _WRITTEN.match(written)
    if match is None:
        step = _noughts(value)
        return (step if value >= _LEAST_SCALE else 1.0), step
    digits = match[0].replace(",", "").replace("，", "")
    mantissa = float(digits)
    scale = value / mantissa if mantissa else scale
    if match[1]:
        step = scale * 10 ** -len(match[1])
        return step, step
    return scale, scale * _noughts(mantissa)


def _noughts(value: float) -> float:
    plain = f"{value:.0f}"
    return 10.0 ** (len(plain) - len(plain.rstrip("0"))) if value else 1.0


def _rough(text: str, start: int, end: int) -> bool:
    return bool(
        _ROUGH.search(text[max(0, start - _REACH) : start].rstrip())
        or _ROUGH_BEHIND.match(text, end)
    )


def _shared(one: Quantity, two: Quantity, text: str) -> Quantity:
    """The first with the unit of the second where they are the ends of a range: `10-20 km`."""
    bare = len(one.readings) == 1 and one.readings[0].unit is None
    if not bare or not _RANGE.fullmatch(text, one.end, two.start):
        return one
    value = one.readings[0].value
    units = [reading.unit for reading in two.readings]
    shared = tuple(Reading(value * unit.factor, unit) for unit in units if unit)
    return one._replace(readings=(*shared, one.readings[0]))


def _aside(each: Spoken) -> Quantity:
    return Quantity(
        each.readings, each.start, each.end, 1.0, 1.0, rough=False, certain=False, spelled=True
    )
