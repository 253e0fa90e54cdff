"""Quantities by value, unit and precision: `3.5 %`, `US$5m`, `500万美元`, `10-20 km`, `第二`."""

import re
from collections.abc import Sequence
from enum import Enum, auto
from itertools import pairwise
from typing import Final, NamedTuple

from judge.checks.clocks import Clock, clocks
from judge.checks.dates import Date, dates
from judge.checks.numbers import MEASURES, Number, numbers
from judge.checks.spans import Spans
from judge.checks.spoken import Spoken, spoken
from judge.checks.units import PERCENT, Found, Reading, Unit, unit_before, unit_behind

_CLOCK: Final = Unit("clock", 1.0)
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
    r"(?:(?<![^\W_])(?:about|around|approximately|approx\.?|roughly|nearly|almost|some|close to"
    r"|estimated|an average of)|~|≈)\s?[$€£¥]?\Z|(?:大约|大概|约|将近|接近|(?<!附)近|左右)\Z",
    re.IGNORECASE,
)
_ROUGH_BEHIND: Final = re.compile(r"\s?(?:多|余|左右|上下|or so)")
# `no more than` and `不超过` turn round what `more than` and `超过` say.
_BOUND: Final = re.compile(
    r"(?P<no>(?<![^\W_])(?:no|not)\s)?(?:(?<![^\W_])(?:"
    r"(?P<lower>(?:more|greater|higher|older|longer|larger|later)\sthan|over|above|exceed(?:s|ed|ing)?"
    r"|beyond|at\sleast|(?:a\s)?minimum\sof)"
    r"|(?P<upper>(?:less|fewer|lower|younger|shorter|smaller)\sthan|under|below|at\smost|up\sto"
    r"|(?:a\s)?maximum\sof|as\s(?:many|much)\sas))|(?P<above>[>≥])|(?P<beneath>[<≤]))\s?[$€£¥]?\Z"
    r"|(?P<han_no>不)?(?:(?P<han_lower>超过|超|逾|至少|最少|高于|多于|大于)"
    r"|(?P<han_upper>至多|最多|不到|不足|不满|多达|低于|少于|小于))了?\Z",
    re.IGNORECASE,
)
_BOUND_BEHIND: Final = re.compile(
    rf"\s?[{MEASURES}]?(?:(?P<lower>\+|多|余|(?:或|及)?以上|or\s(?:more|older|over|above))"
    r"|(?P<upper>(?:或|及)?以[下内]|or\s(?:less|fewer|younger|under|below)))"
)
_REACH: Final = 20
_MEASURES: Final = frozenset(MEASURES)
_SHARE: Final = "分之"
_HUNDREDTHS: Final = "百分之"
_LEAST_SCALE: Final = 1000


class Bound(Enum):
    """On which side of a quantity lies what it tells of."""

    LOWER = auto()
    """Above: `over 60 %`, `不少于60人`, `60 or more`."""
    UPPER = auto()
    """Below: `fewer than 50`, `不到50人`."""


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
    bound: Bound | None
    """The bound it says that it is, if any."""
    certain: bool
    """False where it may be no figure of its own: `one`, `both`, `a first`, `B12`."""


def quantities(text: str, dated: Sequence[Date] | None = None) -> list[Quantity]:
    """Find the quantities of a text, in reading order; what stands in a date is none.

    Args:
        text: any, citation markers overwritten.
        dated: its dates, where they are known already.

    >>> [(q.readings[0].value, q.readings[0].unit.kind) for q in quantities("US$5m, 5公里, 3.5 %")]
    [(5000000.0, 'usd'), (5000.0, 'length'), (3.5, 'percent')]
    """
    taken = Spans([(date.start, date.end) for date in (dates(text) if dated is None else dated)])
    times = clocks(text)
    hours = Spans([(time.start, time.end) for time in times])
    said = [each for each in spoken(text) if not taken.meets(each.start, each.end)]
    parts = Spans([(each.start, each.end) for each in said if each.fraction])
    found: list[Quantity] = []
    for number in numbers(text):
        start, end = number.start, number.end
        # The hundred of `百分之` and of `百分点` is none.
        beside = text.startswith(_SHARE, end) or bool(found and start < found[-1].end)
        held = any(spans.meets(start, end) for spans in (taken, hours, parts))
        if not (beside or held):
            found.append(_measured(number, text))
    found = [*(_shared(one, two, text) for one, two in pairwise(found)), *found[-1:]]
    for place, (one, two) in enumerate(pairwise(found), 1):
        # `steps 1-3`: where the first is a mere label, the second is one too.
        if (
            not one.certain
            and text[one.start].isdecimal()
            and _RANGE.fullmatch(text, one.end, two.start)
        ):
            found[place] = two._replace(certain=False)
    read = Spans([(quantity.start, quantity.end) for quantity in found])
    more = [_aside(each) for each in said if not read.meets(each.start, each.end)]
    return sorted([*found, *more, *map(_time, times)], key=lambda quantity: quantity.start)


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
    left, right = before.edge if before else start, behind.edge if behind else end
    measured = before or behind or text[end : end + 1] in _MEASURES
    # A mere 0 or 1, and one in words, may be grammar: `one of them`, `1 of 3`, `一年`.
    idle = value in {0, 1} and not (measured and written[0].isdecimal())
    return Quantity(
        readings=_readings(number, written, value, before, behind),
        start=left,
        end=right,
        step=step,
        coarse=coarse,
        rough=_rough(text, left, end),
        bound=_bound(text, left, (end, right)),
        certain=number.certain and not idle and not label,
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


def _before(text: str, start: int) -> str:
    """The words before a number; none between numbers, where nothing is said of the second."""
    before = text[max(0, start - _REACH) : start].rstrip()
    return "" if before[-1:].isdecimal() else before


def _rough(text: str, start: int, end: int) -> bool:
    return bool(_ROUGH.search(_before(text, start)) or _ROUGH_BEHIND.match(text, end))


def _bound(text: str, start: int, ends: tuple[int, int]) -> Bound | None:
    """The bound said before the place, or behind the number or its unit."""
    match = _BOUND.search(_before(text, start))
    if match:
        found = match.groupdict()
        lower = bool(found["lower"] or found["above"] or found["han_lower"])
        return Bound.LOWER if lower != bool(found["no"] or found["han_no"]) else Bound.UPPER
    for end in ends:
        match = _BOUND_BEHIND.match(text, end)
        if match:
            return Bound.LOWER if match["lower"] else Bound.UPPER
    return None


def _shared(one: Quantity, two: Quantity, text: str) -> Quantity:
    """The first with the unit of the second where they are the ends of a range: `10-20 km`."""
    bare = len(one.readings) == 1 and one.readings[0].unit is None
    if not bare or not _RANGE.fullmatch(text, one.end, two.start):
        return one
    value = one.readings[0].value
    units = [reading.unit for reading in two.readings]
    shared = tuple(Reading(value * unit.factor, unit) for unit in units if unit)
    return one._replace(readings=(*shared, one.readings[0]))


def _time(clock: Clock) -> Quantity:
    readings = tuple(Reading(float(minute), _CLOCK) for minute in clock.minutes)
    return Quantity(
        readings, clock.start, clock.end, 0.0, 0.0, rough=False, bound=None, certain=True
    )


def _aside(each: Spoken) -> Quantity:
    return Quantity(
        each.readings, each.start, each.end, 1.0, 1.0, rough=False, bound=None, certain=False
    )
