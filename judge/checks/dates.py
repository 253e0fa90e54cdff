"""Dates by value: `3 May 2021`, `2021-05-03`, `2021年5月3日`, `Monday`."""

import re
from calendar import day_abbr, day_name, month_abbr
from collections.abc import Iterable, Iterator
from itertools import product
from typing import Final, NamedTuple

from judge.checks.numbers import MEASURES, unit_before, unit_behind
from judge.text.fold import CJK_CHAR

_MONTHS: Final = {name.lower(): number for number, name in enumerate(month_abbr)}
_DAYS: Final = {name.lower(): number for number, name in enumerate(day_abbr)} | {
    sign: number % 7 for number, sign in enumerate("日一二三四五六天", -1)
}
# Written so, they are given a capital before the pattern, which need not try each small letter.
_LOWER: Final = (*(name.lower() for name in day_name), "weekday", "weekend")
_WEEK: Final = {
    "weekday": range(5),
    "工作日": range(5),
    "weekend": range(5, 7),
    "周末": range(5, 7),
}
_HAN_DIGITS: Final = {sign: value for value, sign in enumerate("〇一二三四五六七八九")} | {"零": 0}
# Also verbs: alone they are months only where a word that goes with a month stands before them.
_VERBS: Final = frozenset(("may", "march", "mar"))

_MONTH: Final = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?"
    r"|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)"
)
_NAME: Final = rf"(?:{_MONTH}|{_MONTH.upper()})(?![^\W\d_])\.?"
_ANY_NAME: Final = rf"(?i:{_MONTH})(?![^\W\d_])\.?"
# `Sat` and `Sun` are days; `sat` and `sun` are not.
_WEEKDAY: Final = (
    r"(?:(?<![^\W_])(?:(?i:mon|tues|wednes|thurs|fri|satur|sun)(?i:days?)"
    r"|(?:Mon|Tues?|Wed|Thu(?:rs?)?|Fri|Sat|Sun))(?![^\W_])\.?"
    r"|(?<![\d一二两三四五六七八九十几半])(?:星期|礼拜|周|週)[一二三四五六日天](?![岁年期]))"
)
_DAY: Final = r"(?:[12]?\d|3[01])(?:st|nd|rd|th)?"
_YEAR: Final = r"[12]\d{3}(?!\d)"
_DASH: Final = r"\s?[-–—]\s?"
_HAN_NUMBER: Final = r"(?:\d{1,2}|[一二三四五六七八九十]{1,3})"
_DATE: Final = re.compile(
    rf"""(?=[\dADFJMNOSTW'’一二三四五六七八九十星礼周週工公]) (?:
      (?<![\d.,/-]) (?P<iso_y>[12]\d{{3}}) (?P<sep>[-/.]) (?P<iso_m>\d{{1,2}}) (?P=sep)
        (?P<iso_d>\d{{1,2}}) (?!\d)
    | (?<![\d.,/-]) (?P<one>\d{{1,2}}) (?P<sep2>[-/.]) (?P<two>\d{{1,2}}) (?P=sep2)
        (?P<num_y>{_YEAR})
    | (?<![\w.,]) (?P<d1>{_DAY}) (?:{_DASH}(?P<d2>{_DAY}))? (?:\sof)? \s (?P<m1>{_ANY_NAME})
        (?: ,?\s (?P<y1>{_YEAR}) )?
    | (?<![^\W_]) (?P<m2>{_NAME}) (?:
        \s? (?P<d3>{_DAY})(?![\d:%,]\d|\d) (?:{_DASH}(?P<d4>{_DAY})(?!\d))?
          (?: ,?\s (?P<y2>{_YEAR}) )?
        | (?: ,| ,?\sof)? \s (?P<y3>{_YEAR}) )?
    | (?<!\d) (?P<han_y>\d{{4}} | [一二][〇零一二三四五六七八九]{{3}}) \s?年
        (?: \s?(?P<han_m>{_HAN_NUMBER})\s?月 (?: \s?(?P<han_d>{_HAN_NUMBER})\s?[日号號] )?
          | (?P<han_era>代) )?
    | (?<![\d一二三四五六七八九十个]) (?P<han_m2>{_HAN_NUMBER})\s?月
        (?: \s?(?P<han_d2>{_HAN_NUMBER})\s?[日号號] )? (?!球|亮)
    | (?P<era> {_HAN_NUMBER}\s?世纪 (?: \s?(?:\d0|[一二三四五六七八九]十)\s?年代 )?
      | (?<!\d) (?:\d0|[一二三四五六七八九]十) \s?年代
      | (?<![^\W_]) (?: [12]?\d(?:st|nd|rd|th) [ -] (?i:century|centuries)
        | (?:[12]\d\d0|['’]?[1-9]0)['’]?s (?![^\W_]) ) )
    | (?<![\w.,]) (?P<old>\d{{1,4}}) \s? (?P<when>BCE?|B\.C\.|AD|A\.D\.|CE)(?![^\W_])
    | (?<![^\W_]) (?:AD|A\.D\.) \s (?P<anno>\d{{1,4}})(?!\d)
    | 公元 (?P<han_bc>前)? \s? (?P<han_old>\d{{1,4}}) \s? 年
    | (?<![\w.,$€£¥￥₹₩#/]) (?:(?<!\d[-–])|(?<=\d{{4}}[-–]))
        (?P<year>{_YEAR}) (?![^\W_]|[.,:]\d|\s?[%％]|[{MEASURES}])
        (?: (?: [-–—/] | \s?(?:--|–|—)\s? ) (?P<until>\d{{2}})(?![\d-]) )?
    | (?P<weekday>{_WEEKDAY}) (?: \s? (?:[-–—至到~]|to|through|until) \s? (?P<last>{_WEEKDAY}) )?
    | (?<![^\W_]) (?P<week>(?i:weekday|weekend))s?(?![^\W_]) | (?P<han_week>工作日|周末)
    )""",
    re.VERBOSE,
)
_BEGIN: Final = re.compile(
    r"[\dADFJMNOSTW'’](?:(?<=\d)(?<!\d.)(?!\d{4})|(?<=['’])|(?<=[A-Z])(?<![^\W_].)"
    r"(?=(?i:an|eb|ar|pr|ay|un|ul|ug|ep|ct|ov|ec|on|ue|ed|hu|ri|at|ee|\.?D)))"
)
"""Where a date may begin in a text without Chinese: few of its words and figures do."""
_LEADS: Final = re.compile(
    r"(?:in|on|of|since|by|until|till|before|after|from|to|through|during|last|next|this|early|mid"
    r"|late|every|each|and|between)[ -]\Z",
    re.IGNORECASE,
)
# Before or behind four digits that count: `about 2000 people`.
_COUNTS: Final = re.compile(
    r"(?<![^\W_])(?:about|around|some|approximately|roughly|nearly)\s\Z", re.IGNORECASE
)
_COUNTED: Final = re.compile(r"\s[a-z]+s(?![^\W_])")
# There they do not, whatever follows: `in 2010 won the cup`.
_TIMES: Final = re.compile(
    r"(?<![^\W_])(?:in|since|until|till|during|early|mid|late)[ -]\Z", re.IGNORECASE
)
# `The limit defaults to 1000`, `it rose to 2000`.
_SET: Final = re.compile(
    r"(?:defaults?|set|limited|equals?|up|raised|cut|reduced|increased|rose|fell|grew|dropped)"
    r"\s(?:to\s)?\Z|(?:limit|maximum|minimum|size|value)\s(?:is|of)\s\Z|[=:≥≤><]\s?\Z",
    re.IGNORECASE,
)
_FIRST_YEAR: Final = 1001
_LAST_YEAR: Final = 2199
"""Beyond these four digits alone are hardly a year."""
_LEAD_REACH: Final = 10
_COUNT_REACH: Final = 16
_MOST_MONTH: Final = 12
_MOST_DAY: Final = 31


class Day(NamedTuple):
    """One reading of a date; what is not said is None."""

    year: int | None = None
    month: int | None = None
    """1 to 12."""
    day: int | None = None
    """1 to 31."""
    weekday: int | None = None
    """Monday is 0."""


class Date(NamedTuple):
    """A date and its place."""

    readings: tuple[Day, ...]
    """One, or two where day and month may be swapped; none of a decade or a century."""
    start: int
    """First character."""
    end: int
    """One past the last."""
    certain: bool
    """False where it may be something else, `May`, or is no day, month or year: `the 1990s`."""


class Calendar:
    """The dates of some texts, looked up by what they say."""

    def __init__(self, dates: Iterable[Date]) -> None:
        found = {day for date in dates for day in date.readings}
        self._said = _weaker(found)
        self._yearless = _weaker(day for day in found if day.year is None)

    def covers(self, date: Date) -> bool:
        """Whether a date follows from these, its year and its day perhaps from two of them.

        `3 May 2021` follows from `3 May` and `2021`, yet not from `3 May 2020` and `2021`.
        """
        return any(
            day in self._said
            or (
                day.month is not None
                and Day(day.year) in self._said
                and day._replace(year=None) in self._yearless
            )
            for day in date.readings
        )

    def reaches(self, century: float) -> bool:
        """Whether a year of that century is said; those before our era count down from -1."""
        last = int(abs(century)) * 100
        return any(
            Day(year if century > 0 else -year) in self._said
            for year in range(last - 100, last + 1)
        )

    def has(self, year: float) -> bool:
        """Whether that year is said, with or without a day of it."""
        return year == int(year) and Day(int(year)) in self._said


def _weaker(days: Iterable[Day]) -> frozenset[Day]:
    """All that follows from some days: `May 2021` and `3 May` from `3 May 2021`."""
    return frozenset(Day(*parts) for day in days for parts in product(*({p, None} for p in day)))


def dates(text: str) -> list[Date]:
    """Find the dates of a text, in reading order; the two ends of a range are two.

    >>> [date.readings[0][:3] for date in dates("on 3 May 2021, 5月3日")]
    [(2021, 5, 3), (None, 5, 3)]
    """
    for name in _LOWER:
        if name in text:
            text = text.replace(name, name.capitalize())
    return [date for match in _matches(text) for date in _read(match, text)]


def _matches(text: str) -> Iterator[re.Match[str]]:
    if not text.isascii() and CJK_CHAR.search(text):
        yield from _DATE.finditer(text)
        return
    past = 0
    for begin in _BEGIN.finditer(text):
        at = begin.start()
        if at >= past and (match := _DATE.match(text, at)):
            past = match.end()
            yield match


def _read(match: re.Match[str], text: str) -> Iterator[Date]:
    start, end = match.span()
    if match["era"] or match["han_era"]:
        yield Date((), start, end, certain=False)
    elif match["week"] or match["han_week"]:
        held = _WEEK[(match["week"] or match["han_week"]).lower()]
        yield Date(tuple(Day(weekday=day) for day in held), start, end, certain=False)
    elif match["weekday"]:
        yield from _weekdays(match, text)
    elif not (match["year"] and not match["until"] and _counts(text, start, end)):
        for days in _days(match):
            if real := tuple(day for day in days if _exists(day)):
                yield Date(real, start, end, _certain(match, text))


def _weekdays(match: re.Match[str], text: str) -> Iterator[Date]:
    """A weekday, or the two ends of a range and, not certain, what lies between them."""
    start, end = match.span()
    first, last = (_weekday(match[name]) for name in ("weekday", "last"))
    whole = match["weekday"].lower().rstrip("s.").endswith("day") or not match["weekday"].isascii()
    led = _LEADS.search(text[max(0, start - _LEAD_REACH) : start])
    yield Date((Day(weekday=first),), start, end, bool(whole or led or match["last"]))
    if match["last"]:
        for day in range(first + 1, first + 1 + (last - first - 1) % 7):
            yield Date((Day(weekday=day % 7),), start, end, certain=False)
        yield Date((Day(weekday=last),), start, end, certain=True)


def _weekday(written: str | None) -> int:
    if not written:
        return -1
    return _DAYS[written[:3].lower()] if written[0].isascii() else _DAYS[written[-1]]


def _counts(text: str, start: int, end: int) -> bool:
    """Whether four digits are no year: `about 2000 people`, `EUR 2000`, `2000 km`."""
    before = text[max(0, start - _COUNT_REACH) : start]
    if _TIMES.search(before):
        return False
    if not _FIRST_YEAR <= int(text[start : start + 4]) <= _LAST_YEAR or _SET.search(before):
        return True
    beside = unit_behind(text, end) or unit_before(text, start)
    return bool(beside or (_COUNTS.search(before) and _COUNTED.match(text, end)))


def _certain(match: re.Match[str], text: str) -> bool:
    alone = match["m2"] and not (match["d3"] or match["y3"])
    if not alone or match["m2"].rstrip(".").lower() not in _VERBS:
        return True
    return bool(_LEADS.search(text[max(0, match.start() - _LEAD_REACH) : match.start()]))


def _days(match: re.Match[str]) -> Iterator[tuple[Day, ...]]:
    """The readings of each date of a match."""
    if match["num_y"]:
        year, one, two = _year(match["num_y"]), int(match["one"]), int(match["two"])
        yield tuple(dict.fromkeys((Day(year, two, one), Day(year, one, two))))
    elif old := match["old"] or match["anno"] or match["han_old"]:
        before = match["han_bc"] or (match["when"] or "")[:1] == "B"
        yield (Day(-int(old) if before else int(old)),)
    elif name := match["m1"] or match["m2"]:
        year = _year(match["y1"] or match["y2"] or match["y3"])
        found = [day for day in match.group("d1", "d2", "d3", "d4") if day]
        for day in found or [""]:
            yield (Day(year, _MONTHS[name[:3].lower()], _number(re.sub(r"\D", "", day))),)
    else:
        year = _year(match["iso_y"] or match["year"] or match["han_y"])
        month = _number(match["iso_m"] or match["han_m"] or match["han_m2"])
        yield (Day(year, month, _number(match["iso_d"] or match["han_d"] or match["han_d2"])),)
        if match["until"]:
            yield (Day(_year(match["year"][:2] + match["until"])),)


def _exists(day: Day) -> bool:
    return (day.month is None or 1 <= day.month <= _MOST_MONTH) and (
        day.day is None or 1 <= day.day <= _MOST_DAY
    )


def _year(written: str | None) -> int | None:
    return int("".join(str(_HAN_DIGITS.get(sign, sign)) for sign in written)) if written else None


def _number(written: str | None) -> int | None:
    """A month or a day, in digits or in Chinese."""
    if not written:
        return None
    if written.isdecimal():
        return int(written)
    tens, ten, ones = written.partition("十")
    if not ten:
        return _HAN_DIGITS.get(written)
    return 10 * _HAN_DIGITS.get(tens, 1) + _HAN_DIGITS.get(ones, 0)
