"""Clock times by value: `6:30 p.m.`, `18:30`, `half past six`, `下午六点半`."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

_HOURS: Final = {
    word: hour
    for words, first in (
        ("one two three four five six", 1),
        ("seven eight nine ten eleven twelve", 7),
    )
    for hour, word in enumerate(words.split(), first)
}
_HAN: Final = {sign: value for value, sign in enumerate("零一二三四五六七八九")} | {
    "两": 2,
    "〇": 0,
}
_WORD: Final = "|".join(_HOURS)
_HAN_NUMBER: Final = r"(?:\d{1,2}|[一二两三四五六七八九十]{1,3})"
_TIME: Final = re.compile(
    rf"""(?=[\d上早清凌中下傍晚夜正午一二两三四五六七八九十]) (?:
      (?<![A-Za-z0-9_.,:$€£¥/])(?<![A-Za-z]-)
        (?: (?P<from>\d{{1,2}}) (?: [:.](?P<from_m>[0-5]\d) )?
          \s? (?: [-–—] | to | and | until ) \s? )?
        (?P<hour>\d{{1,2}}) (?: [:.](?P<minute>[0-5]\d) )? \s? (?P<half>[ap])\.?\s?m(?![^\W_])
    | (?<![A-Za-z0-9_.,:$€£¥/])(?<![A-Za-z]-) (?P<plain>[01]?\d|2[0-4]) [:：] (?P<plain_m>[0-5]\d)
        (?! [\d:] | [.,]\d )
    | (?: (?<=from\s) | (?<=between\s) ) (?P<low>\d{{1,2}}) \s? (?: [-–—] | to | and | until )
        \s? (?P<high>\d{{1,2}}) \s? (?: h | hrs? )(?![^\W_])
    | (?P<day>上午|早上|早晨|清晨|凌晨|中午|下午|傍晚|晚上|晚间|夜里|夜间)? \s?
        (?<!分之) (?<![.\d第]) (?P<han>{_HAN_NUMBER}) \s? [点點时時]
        (?! 间|候|期|代|建议|意见|要求 )
        (?: (?P<half_past>半) | (?P<quarters>[一三])刻
          | (?P<han_m> \d{{2}} | 零[一二三四五六七八九] | [二三四五]?十[一二三四五六七八九]?
            | (?:\d|[一二三四五六七八九])(?=分) ) (?P<sharp>分(?!之))? | (?P<even>钟|整) )?
        (?! [一二三四五六七八九] )
    | (?P<han_named>正午|午夜)
    )""",
    re.VERBOSE | re.IGNORECASE,
)
_SPOKEN: Final = re.compile(
    rf"""(?<![^\W_]) (?:
      (?P<whole>\d{{1,2}}|{_WORD}) \s? o['’]clock
    | (?P<part>half|quarter) \s (?P<side>past|to) \s (?P<past>\d{{1,2}}|{_WORD})
    | (?:12\s)? (?P<named>noon|midday|midnight)
    ) (?![^\W_])""",
    re.VERBOSE | re.IGNORECASE,
)
_SIGNS: Final = ("clock", " past ", "quarter to", "noon", "midday", "midnight")
"""One of them stands in every spoken time: that is soon seen."""
_MARKS: Final = (":", "：", *"点點时時午", "from", "between")
_HALF: Final = re.compile(r"\d\s?[ap]\.?\s?m")
"""One of these stands in every other time."""
_NOON: Final = 12
_DAY: Final = 24 * 60
_LATE: Final = frozenset(("下午", "傍晚", "晚上", "晚间", "夜里", "夜间", "中午"))
_NIGHT: Final = frozenset(("晚上", "夜里", "夜间", "凌晨"))
_EARLY: Final = 6
_HAPPENS: Final = re.compile(
    r"开(?!放性)|关(?!于|键|注|系|联|乎)|营业|打烊|闭馆|清场|上班|下班|上课|下课|放学|起床|起飞|登机|发车|出发|抵达|到达|到站"
    r"|集合|举行|召开|入场|入住|退房|截止|结束|播出|[之以]?前(?![提面文者景期])|[之以]?后(?![果续期面来])|左右"
)
"""What is done at an hour and not at so many points."""
_COUNTED: Final = re.compile(r"[这那哪几]\Z")
"""Counts points in any case."""
_LEADS: Final = re.compile(r"(?:[至到从自于在前后]|[日天一二三四五六]|[-–—~])\s?\Z")


class Time(NamedTuple):
    """A time of day and its place."""

    minutes: tuple[int, ...]
    """Since midnight, one at least; two where the half of the day is not said."""
    start: int
    """First character."""
    end: int
    """One past the last."""
    certain: bool
    """False where it may be something else: `三点`."""


def times(text: str) -> list[Time]:
    """Find the times of day of a text, in reading order; the two ends of a range are two.

    >>> [time.minutes for time in times("from 9:30 a.m. to half past six; 下午三点")]
    [(570,), (390, 1110), (900,)]
    """
    low = text.lower()
    found: list[Time] = []
    if any(map(low.__contains__, _MARKS)) or _HALF.search(low):
        found += (time for match in _TIME.finditer(text) for time in _figured(match, text))
    if any(sign in low for sign in _SIGNS):
        found += (
            Time(_spoken(each), *each.span(), certain=True) for each in _SPOKEN.finditer(text)
        )
    return sorted(found, key=lambda time: time.start)


def _figured(match: re.Match[str], text: str) -> Iterator[Time]:
    start, end = match.span()
    if match["han"]:
        said = match["day"] or match["half_past"] or match["quarters"] or match["even"]
        before = text[max(0, start - 2) : start]
        said = said or match["sharp"] or _LEADS.search(before)
        certain = bool(said or (_HAPPENS.match(text, end) and not _COUNTED.search(before)))
        found = [_chinese(match)]
    else:
        certain, found = True, list(_english(match))
    for each in found:
        if each and all(0 <= minute < _DAY for minute in each):
            yield Time(each, start, end, certain)


def _english(match: re.Match[str]) -> Iterator[tuple[int, ...]]:
    if match["han_named"]:
        yield (0,) if match["han_named"] == "午夜" else (_NOON * 60,)
    elif match["half"]:
        if match["from"]:
            yield _either(int(match["from"]), int(match["from_m"] or 0))
        late = match["half"].lower() == "p"
        hour = int(match["hour"])
        if 1 <= hour <= _NOON:
            yield ((hour % _NOON + _NOON * late) * 60 + int(match["minute"] or 0),)
    elif match["plain"]:
        hour, minute = int(match["plain"]) % 24, int(match["plain_m"])
        marked = match["plain"].startswith("0")
        yield (hour * 60 + minute,) if marked else _either(hour, minute)
    else:
        yield (int(match["low"]) * 60,)
        yield (int(match["high"]) % 24 * 60,)


def _spoken(match: re.Match[str]) -> tuple[int, ...]:
    if match["named"]:
        return (0,) if match["named"].lower() == "midnight" else (_NOON * 60,)
    if match["whole"]:
        return _either(_hour(match["whole"]), 0)
    off = 30 if match["part"].lower() == "half" else 15
    early = match["side"].lower() == "to"
    return _either((_hour(match["past"]) - early) % 24, 60 - off if early else off)


def _chinese(match: re.Match[str]) -> tuple[int, ...]:
    hour = _number(match["han"])
    minute = 30 if match["half_past"] else 0
    if match["quarters"]:
        minute = 15 * _HAN[match["quarters"]]
    elif match["han_m"]:
        minute = _number(match["han_m"])
    if hour > 24 or minute >= 60:  # noqa: PLR2004
        return ()
    hour %= 24
    day = match["day"]
    if not day:
        return _either(hour, minute)
    if hour == _NOON:
        return ((0 if day in _NIGHT else _NOON) * 60 + minute,)
    late = day in _LATE and hour < _NOON and not (day == "中午" and hour > _EARLY)
    return ((hour + _NOON * late) * 60 + minute,)


def _either(hour: int, minute: int) -> tuple[int, ...]:
    """Before and after noon, where that is not said."""
    hours = (hour,) if hour > _NOON or hour == 0 else (hour % _NOON, hour % _NOON + _NOON)
    return tuple(each * 60 + minute for each in hours)


def _hour(written: str) -> int:
    return int(written) % 24 if written.isdecimal() else _HOURS[written.lower()]


def _number(written: str) -> int:
    if written.isdecimal():
        return int(written)
    tens, ten, ones = written.partition("十")
    if not ten:
        return int("".join(str(_HAN[sign]) for sign in written) or 0)
    return 10 * (_HAN.get(tens, 1) if tens else 1) + (_HAN.get(ones, 0) if ones else 0)
