"""Values: the numbers, amounts, dates and clock times of a text, in forms that can be compared.

`1,200`, `twenty-five`, `三千万`, `5 km`, `5公里`, `3 May 2021`, `2021年5月3日`, `6:30 p.m.`
"""

import math
import re
import tomllib
from calendar import day_name, month_abbr, month_name
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Final, NamedTuple

from judge.text.fold import CJK_CHAR
from judge.text.patterns import lazy_pattern

_ONES: Final = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
    " sixteen seventeen eighteen nineteen"
)
_TENS: Final = "twenty thirty forty fifty sixty seventy eighty ninety"
SPELLED: Final = {word: value for value, word in enumerate(_ONES.split())} | {
    word: 10 * value for value, word in enumerate(_TENS.split(), 2)
}
_SCALES: Final = {
    "hundred": 100, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12, "bn": 1e9,
    "mn": 1e6, "mln": 1e6, "tn": 1e12, "trn": 1e12, "crore": 1e7, "lakh": 1e5, "dozen": 12,
}  # fmt: skip
_LETTER_SCALES: Final = {"k": 1e3, "m": 1e6, "mm": 1e6, "b": 1e9, "t": 1e12}
"""Scales behind a currency; elsewhere they are units, but for `5k`."""
_HAN: Final = {sign: value for value, sign in enumerate("零一二三四五六七八九")} | {
    "〇": 0, "两": 2, "兩": 2,
}  # fmt: skip
_HAN_SCALES: Final = dict(
    zip("十百千万萬亿億", (10, 100, 1000, 10_000, 10_000, 10**8, 10**8), strict=True)
)
_MYRIADS: Final = "亿億万萬"
HAN_NUMERALS: Final = "".join((*_HAN, *_HAN_SCALES))
_MEASURES: Final = frozenset(
    "个個位名人次年月日天号號岁歲小分秒周週元块塊美角吨公千米里克斤升倍成种種类類项項件家所条條第届屆代"
    "层層楼樓部本篇章节節页頁点點度级級期季股只隻头頭辆輛台架艘座间間张張片％%"
)
"""Characters that make a lone Chinese numeral before them a quantity: `三天`, unlike `三明治`."""
_COUNTING: Final = frozenset("二三四五六七八九十两兩")
"""Lone numerals that count; `一个` is as often an article."""
IDIOMS: Final = ("十分", "万一", "千万")
"""`Very`, `in case` and `by all means`, which contain numerals."""
_LONGEST: Final = 120
"""A longer run of digits or numerals is no quantity."""
_CLOSE: Final = 0.05
"""The largest relative error of a number that is taken as rounded because it ends in zeros."""


class Unit(NamedTuple):
    """A unit of measure: its kind, and its size in base units of that kind."""

    kind: str
    """`length`, `usd`, `percent`: values of one kind can be compared."""
    factor: float


_BARE: Final = Unit("", 1.0)
_PERCENT: Final = Unit("percent", 1.0)
_CLOCK: Final = Unit("clock", 1.0)
"""Minutes since midnight."""


class Amount(NamedTuple):
    """A number of units."""

    number: float
    """In base units: 5000 for `5 km`, 3 for `3 %`."""
    unit: Unit


class Day(NamedTuple):
    """A day, month, year or weekday (Monday is 0). A part is None if the text omits it."""

    year: int | None = None
    month: int | None = None
    day: int | None = None
    weekday: int | None = None


@dataclass(frozen=True, slots=True)
class Value:
    """A number, amount, date or clock time of a text."""

    start: int
    """The offset of the first character, a currency sign included."""
    end: int
    """The offset after its unit."""
    readings: tuple[Amount | Day, ...]
    """The possible values: `2010` is a year or a number. A decade, `the 1990s`, has none."""
    certain: bool = True
    """False where it may be no value, `one`, `half`, `B12` or `May`."""
    leeway: float = 0.0
    """Half a unit of the last digit that is no zero: 50,000 for `3.5 million`, 50 for `3,500`."""


def values(text: str) -> list[Value]:
    """Return the values of a text in reading order; each end of a range is a value.

    >>> [value.readings[0][:3] for value in values("5 km on 3 May")]
    [(5000.0, Unit(kind='length', factor=1000.0)), (None, 5, 3)]
    """
    found: list[Value] = []
    end = 0
    for match in _START.finditer(text):
        start = match.start()
        if start < end or (match["word"] and match["word"].lower() not in _WORDS):
            continue
        for read in (_read_clock, _read_date, _read_fraction, _read_number):
            if own := read(text, start):
                found += own
                end = max(each.end for each in own)
                break
    return found


_START: Final = lazy_pattern(
    rf"\d+|(?P<word>[A-Za-z]+)|['’](?=\d0s)"
    rf"|[{HAN_NUMERALS}半星礼周週工上早清凌中下傍晚夜正午]"
)
"""The places where a value may begin; the slower patterns are tried only there."""
_WORDS: Final = frozenset((
    *SPELLED, "a", "an", "half", "noon", "midday", "midnight", "sept",
    "tue", "tues", "wed", "thu", "thur", "thurs", "mon", "fri",
    "sat", "sun", *(name.lower() for name in (*month_name, *month_abbr)),
    *(f"{name.lower()}{ending}" for name in day_name for ending in ("", "s")),
))  # fmt: skip
"""The words that may begin a value."""


# Clock times.

_SMALL_HAN: Final = r"(?:\d{1,2}|[一二两三四五六七八九十]{1,3})"
_TO: Final = r"\s?(?:[-–—~～至到]|to|and|until)\s?"
_CLOCK_TIME: Final = lazy_pattern(
    rf"""
      (?<![A-Za-z0-9_.,:$€£¥/]) (?<![A-Za-z]-) (?:
        (?: (?P<from>\d{{1,2}}) (?:[:.](?P<from_minute>[0-5]\d))? {_TO} )?
        (?P<hour>\d{{1,2}}) (?:[:.](?P<minute>[0-5]\d))? \s? (?P<half>[ap])\.?\s?m (?![^\W_])
      | (?P<plain>[01]?\d|2[0-4]) [:：] (?P<plain_minute>[0-5]\d) (?![\d:]|[.,]\d) )
    | (?<![^\W_]) (?:12\s)? (?P<named>noon|midday|midnight) (?![^\W_])
    | (?P<han_named>正午|午夜)
    | (?P<day>上午|早上|早晨|清晨|凌晨|中午|下午|傍晚|晚上|晚间|夜里|夜间)? \s?
      (?<![.\d第]) (?P<han>{_SMALL_HAN}) \s? [点點时時] (?! 间|候|期|代|建议|意见|要求 )
      (?: (?P<han_half>半)
        | (?P<han_minute> \d{{2}} | 零[一二三四五六七八九] | [二三四五]?十[一二三四五六七八九]?
          | (?:\d|[一二三四五六七八九])(?=分) ) 分?
        | (?P<even>钟|整) )?
      (?! [{HAN_NUMERALS}] | 之 )
    """,
    re.VERBOSE | re.IGNORECASE,
)
_NOON: Final = 12
_HOURS: Final = 24
_HOUR: Final = 60
"""Minutes."""
_LATE: Final = ("下午", "傍晚", "晚上", "晚间", "夜里", "夜间")
_NIGHT: Final = ("晚上", "夜里", "夜间", "凌晨")


def _read_clock(text: str, at: int) -> list[Value]:
    match = _CLOCK_TIME.match(text, at)
    if match is None:
        return []
    # `三点` alone is also "three points".
    sure = not match["han"] or any(match.group("day", "han_half", "han_minute", "even"))
    return [
        Value(at, match.end(), tuple(Amount(minutes, _CLOCK) for minutes in times), sure)
        for times in _times(match)
        if times and all(0 <= minutes < _HOURS * _HOUR for minutes in times)
    ]


def _times(match: re.Match[str]) -> Iterator[tuple[int, ...]]:
    """Yield the times of a match, each as the possible minutes since midnight."""
    if name := match["named"] or match["han_named"]:
        yield (0,) if name.lower() in {"midnight", "午夜"} else (_NOON * _HOUR,)
    elif match["half"]:
        if match["from"]:
            yield _either(int(match["from"]), int(match["from_minute"] or 0))
        hour, late = int(match["hour"]), match["half"].lower() == "p"
        if 1 <= hour <= _NOON:
            yield ((hour % _NOON + _NOON * late) * _HOUR + int(match["minute"] or 0),)
    elif match["plain"]:
        hour, minute = int(match["plain"]) % _HOURS, int(match["plain_minute"])
        early = match["plain"].startswith("0")
        yield (hour * _HOUR + minute,) if early else _either(hour, minute)
    else:
        yield _han_time(match)


def _han_time(match: re.Match[str]) -> tuple[int, ...]:
    hour, day = int(number(match["han"])), match["day"]
    minute = 30 if match["han_half"] else int(number(match["han_minute"] or "0"))
    if hour > _HOURS or minute >= _HOUR:
        return ()
    if not day:
        return _either(hour % _HOURS, minute)
    if hour == _NOON:
        return ((0 if day in _NIGHT else _NOON) * _HOUR + minute,)
    late = hour < _NOON and (day in _LATE or (day == "中午" and hour < _NOON // 2))
    return ((hour % _HOURS + _NOON * late) * _HOUR + minute,)


def _either(hour: int, minute: int) -> tuple[int, ...]:
    """Return a time before noon and after noon, because the text does not say which."""
    hours = (hour,) if hour > _NOON or hour == 0 else (hour % _NOON, hour % _NOON + _NOON)
    return tuple(each * _HOUR + minute for each in hours)


# Dates.

_MONTHS: Final = {name.lower(): number for number, name in enumerate(month_abbr)}
_VERBS: Final = frozenset(("may", "march", "mar"))
"""Months that are also verbs: alone they are not certain."""
_MONTH: Final = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?"
    r"|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)"
)
# `Sat` and `Sun` are days; `sat` and `sun` are not.
_WEEKDAY: Final = (
    r"(?:(?<![^\W_])(?:(?i:mon|tues|wednes|thurs|fri|satur|sun)(?i:days?)"
    r"|(?:Mon|Tues?|Wed|Thu(?:rs?)?|Fri|Sat|Sun))(?![^\W_])\.?"
    r"|(?:星期|礼拜|周|週)[一二三四五六日天](?![岁年期]))"
)
_DAY: Final = r"(?:[12]?\d|3[01])(?:st|nd|rd|th)?"
_YEAR: Final = r"[12]\d{3}(?!\d)"
_DASH: Final = r"\s?[-–—]\s?"
_DATE: Final = lazy_pattern(
    rf"""
      (?<![\d.,/-]) (?P<iso_year>[12]\d{{3}}) (?P<sep>[-/.]) (?P<iso_month>\d{{1,2}}) (?P=sep)
        (?P<iso_day>\d{{1,2}}) (?!\d)
    | (?<![\d.,/-]) (?P<one>\d{{1,2}}) (?P<sep2>[-/.]) (?P<two>\d{{1,2}}) (?P=sep2)
        (?P<year1>{_YEAR})
    | (?<![\w.,]) (?P<day1>{_DAY}) (?:{_DASH}(?P<day2>{_DAY}))? (?:\sof)? \s
        (?P<month1>(?i:{_MONTH})) (?![^\W\d_])\.? (?: ,?\s (?P<year2>{_YEAR}) )?
    | (?<![^\W_]) (?P<month2>{_MONTH}|{_MONTH.upper()}) (?![^\W\d_])\.? (?:
        \s? (?P<day3>{_DAY}) (?![\d:%,]\d|\d) (?: {_DASH}(?P<day4>{_DAY})(?!\d) )?
          (?: ,?\s (?P<year3>{_YEAR}) )?
        | (?: ,| ,?\sof)? \s (?P<year4>{_YEAR}) )?
    | (?P<han_year>\d{{4}} | [一二][〇零一二三四五六七八九]{{3}}) \s?年
        (?: \s?(?P<han_month>{_SMALL_HAN})\s?月 (?: \s?(?P<han_day>{_SMALL_HAN})\s?[日号號] )?
          | (?P<decade>代) )?
    | (?P<han_month2>{_SMALL_HAN})\s?月 (?: \s?(?P<han_day2>{_SMALL_HAN})\s?[日号號] )? (?!球|亮)
    | (?P<decades> (?:\d0|[一二三四五六七八九]十)\s?年代
      | (?:[12]\d\d0|['’]?[1-9]0)['’]?s(?![^\W_]) )
    | (?P<weekday>{_WEEKDAY}) (?: \s? (?:[-–—至到~]|to|through|until) \s? (?P<last>{_WEEKDAY}) )?
    """,
    re.VERBOSE,
)
_MOST_MONTH: Final = 12
_MOST_DAY: Final = 31


def _read_date(text: str, at: int) -> list[Value]:
    match = _DATE.match(text, at)
    if match is None:
        return []
    end = match.end()
    if match["weekday"]:
        return _weekdays(match)
    if match["decades"] or match["decade"]:
        return [Value(at, end, (), certain=False)]
    verb = match[0].rstrip(".").lower() in _VERBS
    return [
        Value(at, end, real, certain=not verb)
        for readings in _days(match)
        if (real := tuple(filter(_exists, readings)))
    ]


def _weekdays(match: re.Match[str]) -> list[Value]:
    """Return a weekday, or the days of a range, of which those between its ends are not certain."""
    first, last = _weekday(match["weekday"]), _weekday(match["last"] or match["weekday"])
    whole = "day" in match["weekday"].lower() or not match["weekday"].isascii()
    days = [Day(weekday=day % 7) for day in range(first, first + 1 + (last - first) % 7)]
    return [
        Value(*match.span(), (day,), day in (days[0], days[-1]) and bool(whole or match["last"]))
        for day in days
    ]


def _weekday(written: str) -> int:
    if not written.isascii():
        return "一二三四五六日".find(written[-1]) % 7
    return next(at for at, name in enumerate(day_name) if name.lower()[:3] == written[:3].lower())


def _days(match: re.Match[str]) -> Iterator[tuple[Day, ...]]:
    """Yield the readings of each date of a match."""
    if match["one"]:
        full_year, one, two = (int(match[name]) for name in ("year1", "one", "two"))
        yield tuple(dict.fromkeys((Day(full_year, two, one), Day(full_year, one, two))))
    elif name := match["month1"] or match["month2"]:
        year = _part(match["year2"] or match["year3"] or match["year4"])
        days = [day for day in match.group("day1", "day2", "day3", "day4") if day]
        for day in days or [""]:
            yield (Day(year, _MONTHS.get(name[:3].lower()), _part(day.rstrip("stndrh"))),)
    else:
        year = _part(match["iso_year"] or match["han_year"])
        month = _part(match["iso_month"] or match["han_month"] or match["han_month2"])
        yield (Day(year, month, _part(match["iso_day"] or match["han_day"] or match["han_day2"])),)


def _part(written: str | None) -> int | None:
    return int(number(written)) if written else None


def _exists(day: Day) -> bool:
    return (day.month is None or 1 <= day.month <= _MOST_MONTH) and (
        day.day is None or 1 <= day.day <= _MOST_DAY
    )


# Fractions.

_LASTING: Final = (
    "(?:year|month|week|day|hour|minute|decade|dozen|hundred|thousand|million|billion)(?![^\\W_])"
)
_FRACTION: Final = lazy_pattern(
    rf"""
      (?P<whole>[{HAN_NUMERALS}]{{1,4}}|\d{{1,4}}) 分之
        (?P<parts>\d{{1,4}}(?:\.\d+)?|[{HAN_NUMERALS}]{{1,4}}(?:点[{HAN_NUMERALS}]+)?)
    | (?<![^\W_]) half (?![^\W_]) (?! [ ]an?[ ]{_LASTING} ) | 一半
    """,
    re.VERBOSE | re.IGNORECASE,
)
_HUNDRED: Final = 100


def _read_fraction(text: str, at: int) -> list[Value]:
    """Return `三分之一` as a percentage; `half` is not certain."""
    match = _FRACTION.match(text, at)
    if match is None:
        return []
    if not match["whole"]:
        half = (Amount(50.0, _PERCENT), Amount(0.5, _BARE))
        return [Value(at, match.end(), half, certain=False)]
    whole, decimals = number(match["whole"]), match["parts"].partition(".")[2]
    share = Amount(100 * number(match["parts"]) / whole if whole else 0.0, _PERCENT)
    leeway = 0.5 * 10.0 ** -len(decimals) if whole == _HUNDRED else 0.5
    return [Value(at, match.end(), (share,), leeway=leeway)]


# Numbers and their units.

_SPELLED_WORD: Final = "|".join(sorted(SPELLED, key=len, reverse=True))
_SCALE_WORD: Final = "|".join(sorted(_SCALES, key=len, reverse=True))
_HAN_SCALE: Final = "".join(_HAN_SCALES)
_MOST_WORDS: Final = 20
_MOST_SIGNS: Final = 60
"""Limits on the words and the signs of one number. Without them the time to read a long run of
numbers would grow with the square of its length."""
THOUSANDS: Final = ",，'’\u00a0\u2009\u202f"
"""The characters that separate groups of three digits; the last three are spaces."""
# Tokenized text has `26, 000` and `1. 1 million`, which no list contains.
DIGITS: Final = rf"""
    \d{{1,3}} (?:[{THOUSANDS}]\d{{3}}|,[ ]0\d\d)+ (?!\d) (?:\.\d+)?
  | \d+ (?: \.\d+ | \.[ ]\d{{1,2}}(?=[ ](?:million|billion|trillion|per[ ]?cent)) )?
"""
"""A verbose regular expression for a number in digits."""
SEPARATORS: Final = str.maketrans("", "", f"{THOUSANDS} ")
_NUMBER: Final = lazy_pattern(
    rf"""
      (?: (?P<digits> {DIGITS} )
        | (?<![^\W_]) (?P<article>(?:half[ ])?an?) (?=[ ]{_LASTING}) )
      (?: [ \u00a0-]?(?P<scale>{_SCALE_WORD})(?![^\W_]) | (?P<letter>[ ]?(?:mm|[kmbt]))(?![^\W_])
        | \s?(?P<han_scale>[{_HAN_SCALE}]+ (?:\d{{1,4}}[{_HAN_SCALE}]+)*) )?
    | (?<![^\W_]) (?P<spelled> (?:{_SPELLED_WORD})
        (?:[ -](?:and[ ])?(?:{_SPELLED_WORD}|{_SCALE_WORD})(?![^\W_])){{0,{_MOST_WORDS}}}
        ) (?![^\W_])
    | (?P<han>[{HAN_NUMERALS}]{{1,{_MOST_SIGNS}}}(?:点[{HAN_NUMERALS}]+)?)
    | (?P<half>半) (?= 个?[小月钟] | 年(?!代) )
    """,
    re.VERBOSE | re.IGNORECASE,
)
_HAN_PARTS: Final = re.compile(rf"(\d*)([{_HAN_SCALE}]+)")
_ORDINAL: Final = re.compile(r"(?:st|nd|rd|th)(?![^\W_])")
_NAME: Final = re.compile(
    r"(?:[A-Za-z]-?|[\[#@_=&\\]|[A-Za-z0-9]/|\d[.:]"
    r"|(?<![^\W_])(?:step|section|chapter|page|table|figure|option|question)s?[ ])\Z",
    re.IGNORECASE,
)
"""What makes a number part of a name or a citation: `B12`, `step 3`, `[2023]`."""
_NAME_REACH: Final = 10
_MINUS: Final = lazy_pattern(
    r"(?:(?<![A-Za-z\d°℃℉%)\]])(?<![\dCF°℃℉]\s)[-−–]|(?<![^\W_])minus[ ]|零下\s?)\Z", re.IGNORECASE
)
_MINUS_REACH: Final = 8
_BELOW_ZERO: Final = re.compile(r"\sbelow zero(?![^\W_])", re.IGNORECASE)
_RANGE_BELOW_ZERO: Final = lazy_pattern(
    rf"{_TO}\d+(?:\.\d+)?\s?(?:°|degrees?)[^,.;\d]{{0,20}}below zero", re.IGNORECASE
)
_RANGE_FROM_MINUS: Final = lazy_pattern(
    rf"(?:零下\s?|minus[ ])[\d.{HAN_NUMERALS}]{{1,6}}{_TO}\Z", re.IGNORECASE
)
_RANGE_REACH: Final = 20
_YEAR_ALONE: Final = re.compile(r"1[0-9]{3}|2[01][0-9]{2}")


def number(written: str) -> float:
    """Return the value of a number in digits, English words or Chinese numerals.

    >>> number("1,200"), number("two hundred and five"), number("三千万"), number("一万二")
    (1200.0, 205.0, 30000000.0, 12000.0)
    """
    if written[0].isdecimal():
        return float(written.translate(SEPARATORS))
    return _spelled(written.lower()) if written.isascii() else _han(written)


def _spelled(phrase: str) -> float:
    total = current = 0.0
    for part in re.split("[ -]", phrase):
        scale = _SCALES.get(part, 0)
        if scale == _HUNDRED:
            current = (current or 1) * scale
        elif scale:
            total += (current or 1) * scale
            current = 0.0
        else:
            current += SPELLED.get(part, 0)
    return total + current


def _han(written: str) -> float:
    whole, _, fraction = written.partition("点")
    tail = float("0." + "".join(str(_HAN.get(sign, 0)) for sign in fraction)) if fraction else 0.0
    if not any(sign in _HAN_SCALES for sign in whole):
        return float("0" + "".join(str(_HAN.get(sign, 0)) for sign in whole)) + tail
    # `一万二` is 12 000: a last digit counts the next lower power of ten.
    last = _HAN_SCALES.get(whole[-2:-1], 0)
    if last >= _HUNDRED and whole[-1] in _HAN:
        return _han(whole[:-1]) + _HAN[whole[-1]] * last / 10
    for sign in _MYRIADS:
        before, found, behind = whole.rpartition(sign)
        if found:
            return (_han(before) if before else 1.0) * _HAN_SCALES[sign] + _han(behind) + tail
    total = digit = 0.0
    for sign in whole:
        if sign in _HAN:
            digit = _HAN[sign]
        else:
            total += (digit or 1) * _HAN_SCALES[sign]
            digit = 0.0
    return total + digit + tail


def _read_number(text: str, at: int) -> list[Value]:
    match = _NUMBER.match(text, at)
    if match is None or match.end() - at > _LONGEST:
        return []
    currency = _currency(text, at)
    amount, scale, end = _scaled(match, priced=currency is not None)
    if not math.isfinite(amount):
        return []
    leeway = _leeway(text[at:end], amount, scale)
    if ordinal := _ORDINAL.match(text, end) if match["digits"] else None:
        end = ordinal.end()
    start, (units, end) = at, ((), end) if ordinal or currency else _unit(text, end)
    counted = bool(currency or units or text[end : end + 1] in _MEASURES)
    if currency:
        units, start = currency
    readings: tuple[Amount | Day, ...] = tuple(
        Amount(amount * unit.factor, unit) for unit in units or (_BARE,)
    )
    if not (counted or ordinal) and _YEAR_ALONE.fullmatch(text, at, end):
        readings, leeway = (Day(int(amount)), *readings), 0.0
    # A lone 0 or 1, and one in words, may be grammar: `one of them`, `1 of 3`, `一年`.
    certain = not (
        (amount in {0, 1} and not (counted and match["digits"]))
        or match["article"]
        or (match["han"] and not _counts(match["han"], text, at))
        or (not currency and _NAME.search(text, max(0, at - _NAME_REACH), at))
    )
    value = Value(start, end, readings, certain, leeway)
    return [_signed(text, value) if not units or _is_temperature(units) else value]


def _is_temperature(units: Iterable[Unit]) -> bool:
    return any(unit.kind in {"celsius", "fahrenheit"} for unit in units)


def _signed(text: str, value: Value) -> Value:
    """Return a temperature below zero as negative; where the text is not clear, with both signs.

    `-5 °C`, `零下5度` and `5 degrees below zero` are clear. An end of a range such as `-5 to 3 °C`
    is not clear if it has no sign or no unit of its own.
    """
    start, end, readings = value.start, value.end, value.readings
    negative = tuple(Amount(-r.number, r.unit) for r in readings if isinstance(r, Amount))
    minus = _MINUS.search(text, max(0, start - _MINUS_REACH), start)
    below = _BELOW_ZERO.match(text, end)
    if (minus or below) and _is_temperature(each.unit for each in negative):
        start, end = minus.start() if minus else start, below.end() if below else end
        return replace(value, start=start, end=end, readings=negative)
    if (
        minus
        or _RANGE_BELOW_ZERO.match(text, end)
        or _RANGE_FROM_MINUS.search(text, max(0, start - _RANGE_REACH), start)
    ):
        return replace(value, readings=(*readings, *negative))
    return value


def _scaled(match: re.Match[str], *, priced: bool) -> tuple[float, float, int]:
    """Return a number with its scale multiplied out, the scale, and the offset after both."""
    if match["spelled"] or match["han"]:
        return number(match[0]), 1.0, match.end()
    base = number(match["digits"]) if match["digits"] else 1.0
    base = 0.5 if match["half"] or (match["article"] or "").lower().startswith("half") else base
    scale = _SCALES.get((match["scale"] or "").lower(), 1.0)
    if signs := match["han_scale"]:
        amount = _han_scaled(base, signs)
        return amount, amount / base if base else 1.0, match.end()
    if letter := match["letter"]:
        if not priced and letter.lower() != "k":
            return base, 1.0, match.start("letter")
        scale = _LETTER_SCALES.get(letter.strip().lower(), 1.0)
    return base * scale, scale, match.end()


def _han_scaled(amount: float, written: str) -> float:
    """Return `2万5千`: the digits before the first sign are the amount so far."""
    for digits, signs in _HAN_PARTS.findall(written):
        power = math.prod((_HAN_SCALES[sign] for sign in signs), start=1.0)
        amount = amount + float(digits) * power if digits else amount * power
    return amount


def _counts(han: str, text: str, at: int) -> bool:
    """Return whether a Chinese numeral is more than part of a word: `三天`, unlike `三明治`."""
    behind = text[at + len(han) : at + len(han) + 1]
    if han in IDIOMS or han + behind in IDIOMS:
        return False
    if len(han) > 1 or text[max(at - 1, 0) : at] == "第":
        return True
    return han in _COUNTING and behind in _MEASURES


def _leeway(written: str, amount: float, scale: float) -> float:
    """Return the largest distance of a number that this one may be the rounded form of."""
    digits = re.match(rf"\d[\d{THOUSANDS} ]*(?:\.[ ]?(\d+))?", written)
    if digits and digits[1]:
        return scale * 10.0 ** -len(digits[1]) / 2
    mantissa = amount / scale if digits else amount
    plain = f"{mantissa:.0f}"
    rounded = scale * 10.0 ** (len(plain) - len(plain.rstrip("0"))) / 2 if mantissa >= 1 else 0.0
    return max(scale / 2, min(rounded, _CLOSE * amount)) if mantissa % 1 == 0 else 0.0


# Units by what they measure: `km`, `kilometres` and `公里` are one unit.

_LONGEST_HAN: Final = 5
# One to three words, or a sign: `per cent`, `U.S. dollars`, `sq. ft.`, `°C`, `km/h`, `m²`.
_UNIT: Final = lazy_pattern(
    r"[ \u00a0-]?((?:[a-z]\.){2,3}|[a-zµμ]{1,20}(?:/[a-z]{1,20})?[²³23]?(?![a-z0-9])"
    r"|°\s?[cf]?(?![a-z])|[%％‰℃℉$€£])"
    r"(?:\.?[ \u00a0-]([a-z]{1,20})(?![a-z0-9]))?(?:\.?[ \u00a0-]([a-z]{1,20})(?![a-z0-9]))?",
    re.IGNORECASE,
)
_CURRENCY: Final = lazy_pattern(
    r"(?:(?:(?<![^\W_])[A-Za-z.]{1,4})?[$€£¥￥＄₩₹₽]|(?<![^\W_])[A-Za-z]{2,3}\.?|人民币)\s?\Z"
)
_CURRENCY_REACH: Final = 8


def _unit(text: str, at: int) -> tuple[tuple[Unit, ...], int]:
    """Return the possible units behind a number that ends at `at`, and their end."""
    after = _units()["after"]
    lead = at + (text[at : at + 1] in {" ", "\u00a0"})
    if CJK_CHAR.match(text, lead):
        for size in range(_LONGEST_HAN, 0, -1):
            written = text[lead : lead + size]
            if units := after.get(written):
                return units, lead + len(written)
    match = _UNIT.match(text, at)
    for last in (3, 2, 1) if match else ():
        if match and match[last]:
            words = " ".join(match.groups()[:last]).lower().replace(".", "").replace("° ", "°")
            # `The iPhone 12 has …`: of all plurals this one alone is a common word.
            single = words if words == "has" else words.removesuffix("s")
            if units := after.get(words) or after.get(single):
                return units, match.end(last)
    return (), at


def _currency(text: str, at: int) -> tuple[tuple[Unit, ...], int] | None:
    """Return the possible currencies before a number, and their start: `$5`, `US$5`, `EUR 5`."""
    match = _CURRENCY.search(text, max(0, at - _CURRENCY_REACH), at)
    units = _units()["before"].get(match[0].strip().lower()) if match else None
    return (units, match.start()) if match and units else None


@cache
def _units() -> dict[str, dict[str, tuple[Unit, ...]]]:
    """Return the units by position (`before`, `after`) and spelling."""
    table: dict[str, dict[str, tuple[Unit, ...]]] = {"after": {}, "before": {}}
    source = files("judge").joinpath("data", "units.toml").read_text("utf-8")
    for entry in tomllib.loads(source)["units"]:
        unit = Unit(entry["kind"], float(entry["factor"]))
        for place, spellings in table.items():
            for spelling in entry.get(place, ()):
                spellings[spelling] = (*spellings.get(spelling, ()), unit)
    return table
