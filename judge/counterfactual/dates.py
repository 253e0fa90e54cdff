"""Parts of the dates of a reference, changed to others."""

import re
from calendar import day_abbr, day_name, month_abbr, month_name
from collections.abc import Iterator, Sequence
from random import Random
from typing import Final

from judge.checks.dates import Date, Day, dates
from judge.checks.quantities import MERE
from judge.counterfactual.figures import figures
from judge.counterfactual.items import HAN_DIGITS, Field, Item, Kind, Spot, han, ordinal

_YEARS: Final = (1001, 2199)
_LAST_DAY: Final = 28
"""Every month has it."""
_NEAR: Final = 9
"""Years from the old to the new."""

_ABOVE: Final[dict[Field, tuple[Field, ...]]] = {
    "year": (),
    "month": ("year", "day"),
    "day": ("year", "month"),
    "weekday": (),
}
"""What dates must share for this part of them to be compared."""
_SPAN: Final[dict[Field, tuple[int, int]]] = {
    "year": _YEARS,
    "month": (1, 12),
    "day": (1, 31),
    "weekday": (0, 6),
}
_TOKEN: Final = re.compile(
    r"\d+(?:st|nd|rd|th)?|[^\W\d_]+?(?=[年月日号號])|[^\W\d_]+|[〇零一二三四五六七八九]{4}"
)
_SIGNS: Final = frozenset("-/.")
"""Between the parts of a date in digits, where a day has a nought before it."""
_ZH_DAYS: Final = "一二三四五六日"


def parts(dated: Sequence[Date]) -> Iterator[tuple[int, "DatePart"]]:
    """The years, days, months and weekdays of some dates, and where these stand."""
    for date in dated:
        if date.certain and len(date.readings) == 1:
            day = date.readings[0]
            fields: tuple[Field, ...] = ("year", "day", "month", "weekday")
            for field in fields:
                value = getattr(day, field)
                if value is not None and _SPAN[field][0] <= value <= _SPAN[field][1]:
                    yield date.start, DatePart(field, day)


class DatePart:
    """The year, month, day or weekday of a date."""

    def __init__(self, field: Field, day: Day) -> None:
        self._field, self._day = field, day
        self.kind: Kind = field
        self.value: int = getattr(day, field)

    def _beside(self, day: Day) -> bool:
        """Whether this part of another date can be compared with it."""
        above = ((getattr(day, each), getattr(self._day, each)) for each in _ABOVE[self._field])
        return getattr(day, self._field) is not None and all(
            None in pair or pair[0] == pair[1] for pair in above
        )

    def _is(self, date: Date) -> bool:
        return any(
            self._beside(day) and getattr(day, self._field) == self.value for day in date.readings
        )

    def spots(self, text: str) -> list[Spot] | None:
        """Where it stands; None where day and month may be swapped."""
        found = [date for date in dates(text) if date.certain and self._is(date)]
        if self._field != "year" and any(len(date.readings) > 1 for date in found):
            return None
        places = {(date.start, date.end) for date in found}
        if self._field == "year":
            # `FY2019`, `2019赛季`: no date to the reader, and yet the year.
            measured = (each for each, _ in figures(text) if each.readings[0].unit != MERE)
            held = [*places, *((each.start, each.end) for each in measured)]
            for match in re.finditer(rf"(?<![\d.,]){self.value}(?!\d|[.,]\d)", text):
                if not any(start <= match.start() < end for start, end in held):
                    places.add(match.span())
        return [Spot(*place) for place in sorted(places)]

    def others(
        self, texts: Sequence[str], near: Sequence[str], random: Random
    ) -> Iterator["DatePart"]:
        """Years, months or days near it, between those beside it."""
        beside = {
            getattr(day, self._field)
            for text in near
            for date in dates(text)
            for day in date.readings
            if self._beside(day)
        }
        least, most = _SPAN[self._field]
        low = max((value for value in beside if value < self.value), default=least - 1)
        high = min((value for value in beside if value > self.value), default=most + 1)
        first, last = max(low + 1, self.value - _NEAR), min(high - 1, self.value + _NEAR)
        last = min(last, _LAST_DAY) if self._field == "day" else last
        every = [value for value in range(first, last + 1) if value != self.value]
        for value in random.sample(every, len(every)):
            other = DatePart(self._field, self._day._replace(**{self._field: value}))
            if all(other.spots(text) == [] for text in texts):
                yield other

    def written(self, surface: str, spot: Spot, other: Item) -> str | None:
        """The date with the other part, in the same form."""
        del spot
        if not isinstance(other, DatePart):
            return None
        if surface == str(self.value):
            return str(other.value)
        wanted = [
            tuple(
                day._replace(**{self._field: other.value})
                if self._beside(day) and getattr(day, self._field) == self.value
                else day
                for day in date.readings
            )
            for date in dates(surface)
        ]
        for match in _TOKEN.finditer(surface):
            padded = match[0][0] == "0" or surface[match.start() - 1 : match.start()] in _SIGNS
            for token in _tokens(match[0], self._field, (self.value, other.value), padded=padded):
                made = surface[: match.start()] + token + surface[match.end() :]
                if wanted and [date.readings for date in dates(made)] == wanted:
                    return made
        return None


def _tokens(token: str, field: Field, change: tuple[int, int], *, padded: bool) -> Iterator[str]:
    """Ways to write a part of a date, in the manner of the token that may hold it."""
    old, new = change
    digits = token.rstrip("stndrh")
    if digits.isdecimal():
        if int(digits) == old:
            bare = str(new) + (ordinal(new) if digits != token else "")
            yield f"{new:0{len(digits)}}" if padded and digits == token else bare
    elif not token.isascii():
        if field == "weekday":
            yield token[:-1] + _ZH_DAYS[new]
        elif field == "year":
            yield "".join(
                ("〇" if "〇" in token else "零") if c == "0" else HAN_DIGITS[int(c)]
                for c in str(new)
            )
        else:
            yield han(new)
    elif field in {"month", "weekday"}:
        names, short = (month_name, month_abbr) if field == "month" else (day_name, day_abbr)
        end = "s" if field == "weekday" and token.lower().endswith("days") else ""
        whole = token.lower().removesuffix("s") == names[old].lower() or len(token) > len("Sept")
        made = (names if whole else short)[new] + end
        yield made.upper() if token.isupper() else made
