"""Dates by value: `3 May 2021`, `2021-05-03`, `2021年5月3日`, `the 1990s`, `19世纪`, `周一`."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from judge.checks.numbers import MEASURES
from judge.checks.spoken import ORDINALS
from judge.checks.units import unit_before, unit_behind

_MONTHS: Final = {
    "jan": 1, "feb": 2, "mar": 3, "apr": 4, "may": 5, "jun": 6,
    "jul": 7, "aug": 8, "sep": 9, "oct": 10, "nov": 11, "dec": 12,
}  # fmt: skip
_DAYS: Final = {
    "Monday": 0, "Tuesday": 1, "Wednesday": 2, "Thursday": 3,
    "Friday": 4, "Saturday": 5, "Sunday": 6,
}  # fmt: skip
_HAN_DAYS: Final = dict(zip("一二三四五六日", range(7), strict=True)) | {"天": 6}
_HAN_DIGITS: Final = {sign: value for value, sign in enumerate("〇一二三四五六七八九")} | {"零": 0}
# Also verbs: alone they are months only where a word that goes with a month stands before them.
_VERBS: Final = frozenset(("may", "march", "mar"))

_MONTH: Final = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?"
    r"|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)"
)
_NAME: Final = rf"(?:{_MONTH}|{_MONTH.upper()})(?![^\W\d_])\.?"
_DAY: Final = r"(?:[12]?\d|3[01])(?:st|nd|rd|th)?"
_YEAR: Final = r"[12]\d{3}(?!\d)"
_DASH: Final = r"\s?[-–—]\s?"
_HAN_NUMBER: Final = r"(?:\d{1,2}|[一二三四五六七八九十]{1,3})"
_DATE: Final = re.compile(
    rf"""(?=[\dADFJMNOSTW'’一二三四五六七八九十周星礼週]) (?:
      (?<![\d.,/-]) (?P<iso_y>[12]\d{{3}}) (?P<sep>[-/.]) (?P<iso_m>\d{{1,2}}) (?P=sep)
        (?P<iso_d>\d{{1,2}}) (?!\d)
    | (?<![\d.,/-]) (?P<one>\d{{1,2}}) (?P<sep2>[-/.]) (?P<two>\d{{1,2}}) (?P=sep2)
        (?P<num_y>{_YEAR})
    | (?<![\w.,]) (?P<d1>{_DAY}) (?:{_DASH}(?P<d2>{_DAY}))? (?:\sof)? \s (?P<m1>{_NAME})
        (?: ,?\s (?P<y1>{_YEAR}) )?
    | (?<![^\W_]) (?P<m2>{_NAME}) (?:
        \s? (?P<d3>{_DAY})(?![\d:%,]\d|\d) (?:{_DASH}(?P<d4>{_DAY})(?!\d))?
          (?: ,?\s (?P<y2>{_YEAR}) )?
        | (?: ,| ,?\sof)? \s (?P<y3>{_YEAR}) )?
    | (?<!\d) (?P<han_y>\d{{4}} | [一二][〇零一二三四五六七八九]{{3}}) \s?年
        (?: \s?(?P<han_m>{_HAN_NUMBER})\s?月 (?: \s?(?P<han_d>{_HAN_NUMBER})\s?[日号號] )?
          | (?P<era>代) )?
    | (?<![\d一二三四五六七八九十个]) (?P<han_m2>{_HAN_NUMBER})\s?月
        (?: \s?(?P<han_d2>{_HAN_NUMBER})\s?[日号號] )? (?!球|亮)
    | (?P<han_c>{_HAN_NUMBER}) \s?世纪 (?: \s?(?P<han_t>\d0|[一二三四五六七八九]十)\s?年代 )?
    | (?<!\d) (?P<han_t2>\d0|[一二三四五六七八九]十) \s?年代
    | (?<![^\W_]) (?P<century>[12]?\d)(?:st|nd|rd|th) [ -] (?i:century|centuries)
    | (?<![^\W_]) (?P<decade>[12]\d\d0)['’]?s (?![^\W_])
    | (?<![^\W_]) ['’]? (?P<short>[1-9]0)['’]?s (?![^\W_])
    | (?<![\w.,$€£¥￥₹₩#/]) (?:(?<!\d[-–])|(?<=\d{{4}}[-–]))
        (?P<year>{_YEAR}) (?![^\W_]|[.,:]\d|\s?[%％]|[{MEASURES}])
        (?: (?P<dash>[-–—/]) (?P<until>\d{{2}})(?![\d-]) )?
    | (?<![^\W_]) (?P<weekday>{"|".join(_DAYS)}) (?![^\W_])
    | (?<![一两二三四五六七八九十\d]) (?:周|星期|礼拜|週) (?P<han_w>[一二三四五六日天])
        (?![次个個天年期场回])
    )""",
    re.VERBOSE,
)
_LEADS: Final = re.compile(
    r"(?:in|of|since|by|until|till|before|after|from|to|through|during|last|next|this|early|mid"
    r"|late|every|each|and|between)[ -]\Z",
    re.IGNORECASE,
)
_LEAD_REACH: Final = 10
_COUNT_REACH: Final = 16
_MOST_MONTH: Final = 12
_MOST_DAY: Final = 31


class Day(NamedTuple):
    """One reading of a date; what is not said is None."""

    years: tuple[int, int] | None
    """First and last year: one year, a decade, or a century."""
    month: int | None = None
    """1 to 12."""
    day: int | None = None
    """1 to 31."""
    weekday: int | None = None
    """Monday is 0."""

    def within(self, other: "Day") -> bool:
        """Whether all that this says follows from the other: `2021` from `3 May 2021`."""
        if self.years is not None and (
            other.years is None
            or not self.years[0] <= other.years[0] <= other.years[1] <= self.years[1]
        ):
            return False
        pairs = ((self.month, other.month), (self.day, other.day), (self.weekday, other.weekday))
        return all(own is None or own == theirs for own, theirs in pairs)


class Date(NamedTuple):
    """A date and its place."""

    readings: tuple[Day, ...]
    """One, or two where day and month may be swapped, or one a century for `the 90s`."""
    start: int
    """First character."""
    end: int
    """One past the last."""
    certain: bool
    """False where it may be something else: `May`, `March`."""


# Before or behind these four digits count or measure: `about 2000 people`, `EUR 2000`, `2000 km`.
_COUNTS: Final = re.compile(
    r"(?<![^\W_])(?:about|around|some|approximately|roughly|nearly)\s\Z", re.IGNORECASE
)
_COUNTED: Final = re.compile(r"\s[a-z]+s(?![^\W_])")
# There they do not, whatever follows: `in 2010 won the cup`.
_TIMES: Final = re.compile(
    r"(?<![^\W_])(?:in|since|until|till|during|early|mid|late)[ -]\Z", re.IGNORECASE
)
_SPELLED: Final = re.compile(
    rf"(?<![^\W_])(?:(twenty)-)?({'|'.join(ORDINALS)})[ -](?:century|centuries)(?![^\W_])",
    re.IGNORECASE,
)


def dates(text: str) -> list[Date]:
    """Find the dates of a text, in reading order; the two ends of a range are two.

    >>> [date.readings[0][:3] for date in dates("on 3 May 2021, 5月3日")]
    [((2021, 2021), 5, 3), (None, 5, 3)]
    """
    found = [date for match in _DATE.finditer(text) for date in _read(match, text)]
    spelled = [_century(match) for match in _SPELLED.finditer(text)]
    return sorted([*found, *spelled], key=lambda date: date.start) if spelled else found


def _century(match: re.Match[str]) -> Date:
    first = 100 * (ORDINALS[match[2].lower()] + (20 if match[1] else 0) - 1)
    return Date((Day((first, first + 100)),), *match.span(), certain=True)


def _read(match: re.Match[str], text: str) -> Iterator[Date]:
    start, end = match.span()
    if match["year"] and not match["until"] and _counts(text, start, end):
        return
    for readings in _days(match):
        real = tuple(day for day in readings if _exists(day))
        if real:
            yield Date(real, start, end, _certain(match, text))


def _counts(text: str, start: int, end: int) -> bool:
    before = text[max(0, start - _COUNT_REACH) : start]
    if _TIMES.search(before):
        return False
    return (
        unit_behind(text, end) is not None
        or unit_before(text, start) is not None
        or (_COUNTS.search(before) is not None and _COUNTED.match(text, end) is not None)
    )


def _certain(match: re.Match[str], text: str) -> bool:
    name = match["m2"]
    if name is None or match["d3"] or match["y3"] or _month(name) is None:
        return True
    if name.rstrip(".").lower() not in _VERBS:
        return True
    return bool(_LEADS.search(text[max(0, match.start() - _LEAD_REACH) : match.start()]))


def _days(match: re.Match[str]) -> Iterator[tuple[Day, ...]]:
    if match["iso_y"]:
        yield (Day(_one(match["iso_y"]), int(match["iso_m"]), int(match["iso_d"])),)
    elif match["num_y"]:
        year, one, two = _one(match["num_y"]), int(match["one"]), int(match["two"])
        yield tuple(dict.fromkeys((Day(year, two, one), Day(year, one, two))))
    elif match["m1"] or match["m2"]:
        yield from _named(match)
    elif match["year"]:
        yield (Day(_one(match["year"])),)
        if match["until"]:
            yield (Day(_one(match["year"][:2] + match["until"])),)
    elif match["weekday"]:
        yield (Day(None, weekday=_DAYS[match["weekday"]]),)
    elif match["han_w"]:
        yield (Day(None, weekday=_HAN_DAYS[match["han_w"]]),)
    else:
        yield from _periods(match)


def _named(match: re.Match[str]) -> Iterator[tuple[Day, ...]]:
    month = _month(match["m1"] or match["m2"])
    years = _one(match["y1"] or match["y2"] or match["y3"])
    found = [day for day in match.group("d1", "d2", "d3", "d4") if day]
    for day in found or [None]:
        yield (Day(years, month, int(re.sub(r"\D", "", day)) if day else None),)


def _periods(match: re.Match[str]) -> Iterator[tuple[Day, ...]]:
    if match["han_y"]:
        years = _one(match["han_y"])
        if match["era"] and years:
            years = (years[0], years[0] + 9)
        yield (Day(years, _han(match["han_m"]), _han(match["han_d"])),)
    elif match["han_m2"]:
        yield (Day(None, _han(match["han_m2"]), _han(match["han_d2"])),)
    elif match["decade"]:
        first = int(match["decade"])
        # `the 1900s` is a decade or a century.
        longer = () if first % 100 else (Day((first, first + 99)),)
        yield (Day((first, first + 9)), *longer)
    elif match["short"] or match["han_t2"]:
        first = _han(match["short"] or match["han_t2"]) or 0
        yield tuple(Day((c + first, c + first + 9)) for c in (1900, 2000, 1800))
    else:
        century = _han(match["century"] or match["han_c"]) or 0
        tens = _han(match["han_t"])
        first = (century - 1) * 100
        # The century ends with its hundredth year, and in common speech with its ninety-ninth.
        yield (Day((first, first + 100) if tens is None else (first + tens, first + tens + 9)),)


def _exists(day: Day) -> bool:
    return (day.month is None or 1 <= day.month <= _MOST_MONTH) and (
        day.day is None or 1 <= day.day <= _MOST_DAY
    )


def _one(year: str | None) -> tuple[int, int] | None:
    if not year:
        return None
    value = int("".join(str(_HAN_DIGITS.get(sign, sign)) for sign in year))
    return value, value


def _month(name: str) -> int | None:
    return _MONTHS.get(name[:3].lower())


def _han(written: str | None) -> int | None:
    if not written:
        return None
    if written.isdecimal():
        return int(written)
    tens, ten, ones = written.partition("十")
    if not ten:
        return _HAN_DIGITS.get(written)
    return 10 * _HAN_DIGITS.get(tens, 1) + _HAN_DIGITS.get(ones, 0)
