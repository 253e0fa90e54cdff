"""Times of day by value: `5 PM`, `17:00`, `7.30 a.m.`, `下午5点半`."""

import re
from typing import Final, NamedTuple

_HOURS: Final = {sign: hour for hour, sign in enumerate("一二三四五六七八九十", 1)} | {
    "两": 2,
    "十一": 11,
    "十二": 12,
}
_LATE: Final = frozenset(("下午", "傍晚", "晚上", "中午"))
_NOON: Final = 12
_DAY: Final = 24
_HOUR: Final = 60
_CLOCK: Final = re.compile(
    r"""(?<![A-Za-z\d_.,:$€£¥]) (?P<h>\d{1,2}) (?:[:.](?P<m>\d\d))?
      \s? (?P<half>[ap])(?:\.m\.|\.?m\b)
    | (?:(?<![A-Za-z\d_.,:$€£¥/-])|(?<=:\d\d-)) (?P<h24>\d{1,2}) :(?P<m24>\d\d) (?![\d:]|[.,]\d)
    | (?P<part>上午|早上|早晨|清晨|凌晨|中午|下午|傍晚|晚上)
      \s? (?P<han>\d{1,2}|十[一二]?|[一二两三四五六七八九]) \s? [点點时時]
      (?: (?P<han_m>\d{1,2})分? | (?P<thirty>半) | [钟鐘整] )?
    """,
    re.VERBOSE | re.IGNORECASE,
)


class Clock(NamedTuple):
    """A time of day and its place."""

    minutes: tuple[int, ...]
    """Since midnight, 0 to 1439; two where the half of the day is not said."""
    start: int
    """First character."""
    end: int
    """One past the last."""


def clocks(text: str) -> list[Clock]:
    """Find the times of day of a text, in reading order.

    >>> [clock.minutes for clock in clocks("5 PM, 17:00, 下午5点半, 7:30")]
    [(1020,), (1020,), (1050,), (450, 1170)]
    """
    found = ((match, _minutes(match)) for match in _CLOCK.finditer(text))
    return [Clock(minutes, *match.span()) for match, minutes in found if minutes]


def _minutes(match: re.Match[str]) -> tuple[int, ...]:
    """None at all where there is no such time."""
    written = match["h"] or match["h24"] or match["han"]
    hour = int(written) if written.isdecimal() else _HOURS[written]
    minute = 30 if match["thirty"] else int(match["m"] or match["m24"] or match["han_m"] or 0)
    if hour > _DAY or minute >= _HOUR or (match["h"] and not 1 <= hour <= _NOON):
        return ()
    if match["half"]:
        hours = [hour % _NOON + _NOON * (match["half"].lower() == "p")]
    elif match["part"]:
        # `晚上12点` is midnight, `中午11点` is before noon.
        late = match["part"] in _LATE and (match["part"] != "中午" or hour < _NOON - 1)
        midnight = hour == _NOON and match["part"] in {"晚上", "凌晨"}
        hours = [0 if midnight else hour + _NOON if late and hour < _NOON else hour]
    else:
        hours = (
            [hour, hour + _NOON] if 1 <= hour < _NOON else [hour, 0] if hour == _NOON else [hour]
        )
    return tuple(each % _DAY * _HOUR + minute for each in hours)
