"""Values: quantities by value, unit and precision, and whether one says what others say."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum, auto
from itertools import pairwise
from typing import Final, NamedTuple

from judge.checks.clocks import Time, times
from judge.checks.dates import Date, dates
from judge.checks.numbers import (
    MEASURES,
    PERCENT,
    Found,
    Number,
    Unit,
    numbers,
    unit_before,
    unit_behind,
)
from judge.text.fold import CJK_CHAR
from judge.text.words import LIGHT, stems, weight

MERE: Final = Unit("", 1.0)
"""The unit of a mere number."""
CLOCK: Final = Unit("clock", 1.0)
"""That of a time of day: minutes since midnight."""


class Reading(NamedTuple):
    """One way to read a quantity."""

    value: float
    """As a number, magnitudes multiplied out; a percentage counts hundredths."""
    unit: Unit
    """What it measures."""


_SCALES: Final = {
    "bn": 1e9, "mn": 1e6, "mln": 1e6, "tn": 1e12, "trn": 1e12, "crore": 1e7, "lakh": 1e5,
    "dozen": 12, "million": 1e6, "billion": 1e9, "trillion": 1e12,
}  # fmt: skip
_MONEY_SCALES: Final = {"b": 1e9, "t": 1e12, "m": 1e6, "k": 1e3, "mm": 1e6}
_SCALE: Final = re.compile(
    rf"[ \u00a0-]?({'|'.join(sorted(_SCALES, key=len, reverse=True))}|[btmk])(?![^\W_])",
    re.IGNORECASE,
)
_LEAST_SCALE: Final = 1000
_WRITTEN: Final = re.compile(r"\d[\d,，]*(?:\.(\d+))?")
_RANGE: Final = re.compile(r"\s?(?:[-–—~～至到]|to|and|or)\s?")
_ORDINAL: Final = re.compile(r"(?:st|nd|rd|th)(?![^\W_])")
_SHARE: Final = "分之"
_HUNDREDTHS: Final = "百分之"
# What evidence says without a figure: no claim is held to it, and a figure may be taken from it.
_SAID: Final[dict[str, tuple[Reading, ...]]] = {
    "half": (Reading(50, PERCENT), Reading(0.5, MERE)),
    **{
        said: (Reading(value, unit),)
        for unit, values in (
            (PERCENT, {"一半": 50, "a third": 100 / 3, "two thirds": 200 / 3, "a quarter": 25}),
            (PERCENT, {"three quarters": 75, "a fifth": 20, "a tenth": 10}),
            (MERE, {"a dozen": 12, "a hundred": 100, "a thousand": 1e3, "a million": 1e6}),
            (MERE, {"a billion": 1e9}),
        )
        for said, value in values.items()
    },
}
CENTURY: Final = Unit("century", 1.0)
_NAMED: Final = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth"
    " fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth twenty-first"
)
_ORDINALS: Final = {word: number for number, word in enumerate(_NAMED.split(), 1)}
_FIGURE: Final = "一二两三四五六七八九十\\d"
_HAN_NUMBER: Final = f"(?<![{_FIGURE}百千])[{_FIGURE}]{{1,3}}(?![{_FIGURE}])"
_LASTING: Final = "hour|day|week|month|year|mile"
_SPECIAL: Final = re.compile(
    rf"""(?=[fstentwohqab一二两三四五六七八九十\d公半]) (?:
      (?P<han_before>公元前)? (?P<han_century>{_HAN_NUMBER}) \s? 世纪
    | (?<![^\W_]) (?: (?P<century>[12]?\d)(?:st|nd|rd|th) | (?P<ordinal>{"|".join(_ORDINALS)}) )
        [ -] (?:century|centuries) (?P<before>\s(?:BC|BCE|B\.C\.))?
    | (?P<whole>{_HAN_NUMBER})分之(?P<parts>{_HAN_NUMBER}) (?![.点]\d)
    | (?<![^\W_]) (?P<count>one|two|three|four) [ -] (?P<part>third|quarter|fifth|tenth)s?
        \sof (?![^\W_])
    | (?<![^\W_]) (?: (?P<one>an?|one) | (?P<some>two|three|four|five|six|\d{{1,2}}) ) [ ]
        (?: and[ ]a[ ]half[ ](?P<unit>{_LASTING})s | (?P<few>{_LASTING})s?[ ]and[ ]a[ ]half )
        (?![^\W_])
    | (?P<han_some>{_HAN_NUMBER}) (?: 个半(?P<han_unit>小时|月|钟头) | (?P<han_few>[年天]) 半 )
    | 半 (?: (?P<half_year>年) | 个?(?P<half_hour>小时) | 个?(?P<half_month>月) ) (?![代度级来])
    )""",
    re.VERBOSE | re.IGNORECASE,
)
_SIGNS: Final = ("centur", "世纪", "分之", "半", "third", "quarter", "fifth", "tenth", "a half")
"""Every match of `_SPECIAL` contains one of these; a fast test before the pattern."""
_HALVES: Final = {"half_year": (6, "个月"), "half_hour": (30, "分钟"), "half_month": (15, "天")}
_SPOKEN: Final = re.compile(
    rf"(?<![a-z])(?:{'|'.join(_SAID).replace(' ', '[ -]')})(?![a-z])", re.IGNORECASE | re.ASCII
)
_PORTIONS: Final = frozenset(said.split()[-1] for said in _SAID)
"""Every match of `_SPOKEN` ends with one of these; a fast test before the pattern."""
_LABEL: Final = re.compile(r"(?:[a-z][-‐–]?|[/#@_=&\\]|[a-z]\.|\d[.:])\Z", re.IGNORECASE)


def _any(phrases: str) -> str:
    """Return a pattern of phrases; `_` joins the words of a phrase."""
    return "|".join(map(re.escape, phrases.split())).replace("_", r"\s")


_LABELS: Final = (
    "step passage section chapter page table figure option part item method tip example question"
    " paragraph document source note number steps passages sections chapters pages tables figures"
    " options parts items methods tips examples questions paragraphs documents sources notes"
    " numbers fig fig. no no. version"
)
_ROUGHLY: Final = (
    "about around approximately approx approx. roughly nearly almost some close_to estimated"
    " an_average_of"
)
_OVER: Final = (
    "more_than greater_than higher_than older_than longer_than larger_than later_than over above"
    " exceed exceeds exceeded exceeding beyond at_least a_minimum_of minimum_of"
)
_UNDER: Final = (
    "less_than fewer_than lower_than younger_than shorter_than smaller_than under below at_most"
    " up_to a_maximum_of maximum_of as_many_as as_much_as"
)
_HAN_LABELS: Final = "步骤 章节 段落 图 表 版本"
_HAN_ROUGHLY: Final = "大约 大概 约 将近 接近 左右"
_HAN_OVER: Final = "超过 超 逾 至少 最少 高于 多于 大于"
_HAN_UNDER: Final = "至多 最多 不到 不足 不满 多达 低于 少于 小于"
_CUES: Final = {
    *(each.rpartition("_")[2] for each in f"{_LABELS} {_ROUGHLY} {_OVER} {_UNDER}".split()),
    *(each[-1] for each in f"{_HAN_LABELS} {_HAN_ROUGHLY} 近 {_HAN_OVER} {_HAN_UNDER} 了".split()),
}
"""The last words, or Chinese characters, of the labels, roundings and bounds before a figure."""
_NUMBERED: Final = re.compile(
    rf"(?<![^\W_])(?:{_any(_LABELS)})[ \u00a0]?\Z|(?:{_any(_HAN_LABELS)})\Z", re.IGNORECASE
)
_ROUGH: Final = re.compile(
    rf"(?:(?<![^\W_])(?:{_any(_ROUGHLY)})|~|≈)\s?[$€£¥]?\Z|(?:{_any(_HAN_ROUGHLY)}|(?<!附)近)\Z",
    re.IGNORECASE,
)
_ROUGH_BEHIND: Final = re.compile(r"\s?(?:多|余|左右|上下|or so)")
# `no more than` and `不超过` reverse `more than` and `超过`.
_BOUND: Final = re.compile(
    rf"(?P<no>(?<![^\W_])(?:no|not)\s)?(?:(?<![^\W_])(?:(?P<lower>{_any(_OVER)})"
    rf"|(?P<upper>{_any(_UNDER)}))|(?P<above>[>≥])|(?P<beneath>[<≤]))\s?[$€£¥]?\Z"
    rf"|(?P<han_no>不)?(?:(?P<han_lower>{_any(_HAN_OVER)})|(?P<han_upper>{_any(_HAN_UNDER)}))了?\Z",
    re.IGNORECASE,
)
_BOUND_BEHIND: Final = re.compile(
    rf"\s?[{MEASURES}]?(?:(?P<lower>\+|多|余|(?:或|及)?以上|or\s(?:more|older|over|above))"
    r"|(?P<upper>(?:或|及)?以[下内]|or\s(?:less|fewer|younger|under|below)))"
)
_STOP: Final = re.compile(r"[,，.。;；:：!！?？()（）]")
_REACH: Final = 20
"""The characters before a number that are searched for a label or bound."""
_MEASURES: Final = frozenset(MEASURES)
_MAN: Final = "人"
_CLOSE: Final = 0.05
"""The largest relative distance of a round number from its figure, without a word like `about`."""


class Bound(Enum):
    """The direction of a bound."""

    LOWER = auto()
    """Above: `over 60 %`, `不少于60人`, `60 or more`."""
    UPPER = auto()
    """Below: `fewer than 50`, `不到50人`."""


class Quantity(NamedTuple):
    """A number with its unit and its offsets."""

    readings: tuple[Reading, ...]
    """The possible values, at least one; `5m` is five million or five metres."""
    start: int
    """The offset of the first character, a currency sign included."""
    end: int
    """The offset after the last character, the unit included."""
    step: float = 1.0
    """The value of one unit in the last written digit: 1e5 for `3.5 million`, 1 for `3,500`."""
    coarse: float = 1.0
    """The same for the last digit that is no zero: 100 for `3,500`."""
    rough: bool = False
    """Whether the text marks it as rounded: `about 3,500`, `近3500`."""
    bound: Bound | None = None
    """The direction, if the text marks it as a bound."""
    certain: bool = True
    """False where it may be no figure: `one`, `half`, `B12`, `step 3`."""

    def leeway(self, value: float, factor: float) -> float:
        """Return the largest distance of a figure that this one rounds, in units of `factor`."""
        least, coarse = self.step * factor / 2, self.coarse * factor / 2
        if self.bound:
            return least
        return max(least, coarse if self.rough else min(coarse, _CLOSE * value))


def quantities(text: str, dated: Sequence[Date] | None = None) -> list[Quantity]:
    """Return the quantities of a text in reading order, without the numbers inside dates.

    `dated` are the dates of the text, if they are known.

    >>> [(q.readings[0].value, q.readings[0].unit.kind) for q in quantities("US$5m, 5公里, 3.5 %")]
    [(5000000.0, 'usd'), (5000.0, 'length'), (3.5, 'percent')]
    """
    known = dates(text) if dated is None else dated
    clocks, special = times(text), list(_special(text))
    others: Sequence[Date | Time | Quantity] = (*known, *clocks, *special)
    taken = frozenset(at for each in others for at in range(each.start, each.end))
    found: list[Quantity] = []
    for number in numbers(text, taken):
        # The hundred of `百分之` and of `百分点` is none.
        if not text.startswith(_SHARE, number.end) and (not found or number.start >= found[-1].end):
            found.append(_measured(number, text))
    for place, (one, two) in enumerate(pairwise(tuple(found))):
        if not _RANGE.fullmatch(text, one.end, two.start):
            continue
        # `10-20 km`, `10-20 million`: the first has the unit of the second, and its scale.
        if [reading.unit for reading in one.readings] == [MERE]:
            (value, _), units = one.readings[0], [each.unit for each in two.readings]
            shared = [Reading(value * unit.factor, unit) for unit in units if unit.kind]
            written = _WRITTEN.search(text, two.start, two.end)
            scale = _SCALE.match(text, written.end()) if written else None
            if scale and scale[1].lower() in _SCALES and text[one.end - 1].isdecimal():
                by = _SCALES[scale[1].lower()]
                shared = [Reading(value * by * unit.factor, unit) for unit in units]
            found[place] = found[place]._replace(readings=(*shared, *one.readings))
        # `steps 1-3`: where the first is a mere label, the second is one too.
        if not one.certain and text[one.start].isdecimal():
            found[place + 1] = two._replace(certain=False)
    low = text.lower()
    for match in _SPOKEN.finditer(text) if any(map(low.__contains__, _PORTIONS)) else ():
        readings = _SAID[match[0].lower().replace("-", " ")]
        found.append(Quantity(readings, *match.span(), certain=False))
    found += special
    for time in clocks:
        read = tuple(Reading(minutes, CLOCK) for minutes in time.minutes)
        found.append(Quantity(read, time.start, time.end, certain=time.certain))
    return sorted(found, key=lambda quantity: quantity.start)


def _special(text: str) -> Iterator[Quantity]:
    """Yield centuries, fractions and halves."""
    low = text.lower()
    if not any(sign in low for sign in _SIGNS):
        return
    for match in _SPECIAL.finditer(text):
        if readings := tuple(_meant(match)):
            yield Quantity(readings, *match.span())


def _meant(match: re.Match[str]) -> Iterator[Reading]:
    if match["whole"]:
        if whole := _first(match["whole"]):
            yield Reading(100 * _first(match["parts"]) / whole, PERCENT)
    elif match["part"]:
        parts = _ORDINALS.get(match["part"].lower(), 4)  # of quarters
        yield Reading(100 * _first(match["count"]) / parts, PERCENT)
    elif many := match["some"] or match["one"] or match["han_some"]:
        word = match["unit"] or match["few"] or match["han_few"] or match["han_unit"]
        value = 1.5 if match["one"] else _first(many) + 0.5
        unit = unit_behind(f" {word}" if word.isascii() else {"月": "个月"}.get(word, word), 0)
        yield from (Reading(value * each.factor, each) for each in unit.units) if unit else ()
    elif half := next((name for name in _HALVES if match[name]), None):
        many, word = _HALVES[half]
        unit = unit_behind(word, 0)
        yield from (Reading(many * each.factor, each) for each in unit.units) if unit else ()
    else:
        written = match["century"] or match["han_century"] or ""
        number = _ORDINALS.get((match["ordinal"] or "").lower()) or _first(written)
        if number:
            yield Reading(-number if match["han_before"] or match["before"] else number, CENTURY)


def _first(written: str) -> float:
    return next((each.value for each in numbers(written)), 0.0)


def counted(quantity: Quantity, text: str) -> str | None:
    """The stem of the first telling word behind a quantity of a text: `men` of `two of the men`.

    In Chinese two characters, because one alone is shared by many words; `人` counts alone. None
    if no such word is near.
    """
    behind = stems(_STOP.split(text[quantity.end : quantity.end + _REACH + _REACH // 2], 1)[0])
    if behind and behind[0] in _MEASURES and behind[0] != _MAN:
        behind = behind[1:]
    first = next((place for place, own in enumerate(behind) if weight(own) > LIGHT), None)
    if first is None or behind[first] == _MAN or not CJK_CHAR.match(behind[first]):
        return None if first is None else behind[first]
    return "".join(behind[first : first + 2]) if first + 1 < len(behind) else None


def _measured(number: Number, text: str) -> Quantity:
    start, end = number.start, number.end
    written, before = text[start:end], unit_before(text, start)
    value, scale = number.value, 1.0
    if written[-1:].isdecimal() or not written[0].isdecimal():
        match = _SCALE.match(text, end)
        word = match[1].lower() if match else ""
        factor = _SCALES.get(word) or (_MONEY_SCALES.get(word) if before else None)
        if match and factor:
            value, scale, end = value * factor, factor, match.end()
    ordinal = _ORDINAL.match(text, end)
    end = ordinal.end() if ordinal else end
    behind = None if ordinal or before else unit_behind(text, end)
    step, coarse = _precision(written, value, scale)
    if text.endswith(_HUNDREDTHS, 0, start):
        before = Found((PERCENT,), start - len(_HUNDREDTHS))
    left, right = before.edge if before else start, behind.edge if behind else end
    said = text[max(0, left - _REACH) : left].rstrip()
    # Most words tell nothing of a figure behind them.
    word = said.rpartition(" ")[2]
    cued = not word.isalpha() or (word.lower() if word.isascii() else word[-1]) in _CUES
    label = before is None and (
        (not text[start - 1 : start].isspace() and _LABEL.search(text[max(0, start - 2) : start]))
        or (cued and _NUMBERED.search(text[max(0, start - _REACH) : start]))
    )
    # Between numbers nothing is said of the second.
    cued = cued and not said[-1:].isdecimal()
    measured = before or behind or text[end : end + 1] in _MEASURES
    # A mere 0 or 1, and one in words, may be grammar: `one of them`, `1 of 3`, `一年`.
    idle = value in {0, 1} and not (measured and written[0].isdecimal())
    units = (*(before.units if before else ()), *(behind.units if behind else ()))
    readings = [Reading(value * unit.factor, unit) for unit in dict.fromkeys(units)]
    if written.startswith(_HUNDREDTHS):
        readings = [Reading(value, PERCENT)]
    elif written[-1:] in {"m", "M"} and before is None:
        readings += [Reading(value, MERE), Reading(number.value / 1e6, Unit("length", 1.0))]
    return Quantity(
        readings=tuple(readings) or (Reading(value, MERE),),
        start=left,
        end=right,
        step=step,
        coarse=coarse,
        rough=bool((cued and _ROUGH.search(said)) or _ROUGH_BEHIND.match(text, right)),
        bound=_bound(said if cued else "", text, (end, right)),
        certain=number.certain and not idle and not label,
    )


def _precision(written: str, value: float, scale: float) -> tuple[float, float]:
    """Return the value of one unit in the last written digit, and in the last one but zeros."""
    match = _WRITTEN.match(written)
    if match is None:
        step = _noughts(value)
        return (step if value >= _LEAST_SCALE else 1.0), step
    mantissa = float(match[0].replace(",", "").replace("，", ""))
    scale = value / mantissa if mantissa else scale
    if match[1]:
        step = scale * 10 ** -len(match[1])
        return step, step
    return scale, scale * _noughts(mantissa)


def _noughts(value: float) -> float:
    plain = f"{value:.0f}"
    return 10.0 ** (len(plain) - len(plain.rstrip("0"))) if value else 1.0


def _bound(before: str, text: str, ends: tuple[int, int]) -> Bound | None:
    """Return the bound marked before a quantity, or after its number or unit."""
    if before and (match := _BOUND.search(before)):
        lower = bool(match["lower"] or match["above"] or match["han_lower"])
        return Bound.LOWER if lower != bool(match["no"] or match["han_no"]) else Bound.UPPER
    for end in dict.fromkeys(ends):
        if match := _BOUND_BEHIND.match(text, end):
            return Bound.LOWER if match["lower"] else Bound.UPPER
    return None


_SAME: Final = 1e-9
FAR: Final = 2.0
"""The largest ratio between a bound and the figure that it describes."""


class Match(Enum):
    """The result of looking a quantity up."""

    FOUND = auto()
    """The evidence has it, or a figure that it rounds or bounds; a plain number fits any unit."""
    OTHER_UNIT = auto()
    """The evidence has the number with another unit."""
    MISSING = auto()
    """The evidence does not have it."""


class Figures:
    """Quantities sorted by value for binary search."""

    def __init__(self, quantities: Iterable[Quantity]) -> None:
        readings = [reading for quantity in quantities for reading in quantity.readings]
        self._values = frozenset(reading.value for reading in readings)
        self._bare = sorted(value / unit.factor for value, unit in readings)
        self._held: dict[str, list[float]] = {MERE.kind: []}
        for value, unit in sorted(readings):
            self._held.setdefault(unit.kind, []).append(value)

    def look_up(self, quantity: Quantity) -> Match:
        """Look a quantity up.

        In: `3.5 million` for `3,512,000` of the evidence. Out: `3,512,000` for `3.5 million`.
        Zeros at the end of plain digits count as rounding if the text says `about`, or within 5 %.
        `Over 60 %` matches any share from 60 % to twice that.
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
        """Return whether the evidence has a figure of exactly this value in base units."""
        return value in self._values


def _holds(
    values: Sequence[float], value: float, off: float = 0.0, bound: Bound | None = None
) -> bool:
    """Return whether one of the ascending values is within `off`, or within the bound."""
    off += _SAME * value
    low = value / FAR if bound is Bound.UPPER else value - off
    high = value * FAR if bound is Bound.LOWER else value + off
    place = bisect_left(values, low)
    return place < len(values) and values[place] <= high
