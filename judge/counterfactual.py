"""Counterfactuals: a figure, date or name of a reference changed in every text where it stands.

What is new is of the same kind, stands nowhere yet, and keeps its place between the others.
"""

import re
from bisect import bisect_left
from calendar import day_abbr, day_name, month_abbr, month_name
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from random import Random
from typing import Final, Literal, NamedTuple, Protocol

from judge.checks.dates import Date, Day, dates
from judge.checks.numbers import SPELLED, Number, numbers
from judge.checks.quantities import CENTURY, CLOCK, MERE, Quantity, quantities

_Field = Literal["year", "month", "day", "weekday"]
Kind = Literal["figure", "name"] | _Field
Reason = Literal["nothing_to_change", "in_question", "not_in_gold", "inconsistent"]
"""Why there is no counterfactual: the reference holds no figure, date or name; the question says
it, too; no gold chunk has it; it cannot be changed alike everywhere."""

_TRIED: Final = 40
"""New values that are tried for one item."""
_SAME: Final = 1e-9
_LEAST: Final = 2
"""Figures below that are grammar as much as figures."""
_HUNDRED: Final = 100
_YEARS: Final = (1001, 2199)
_LAST_DAY: Final = 28
"""Every month has it."""
_NEAR: Final = 9
"""Years from the old to the new."""


class Change(NamedTuple):
    """What was changed into what, as the reference writes both."""

    kind: Kind
    before: str
    after: str


class Counterfactual(NamedTuple):
    """Texts after a change."""

    answer: str
    chunks: tuple[str, ...]
    change: Change


class _Spot(NamedTuple):
    """Where an item stands in a text."""

    start: int
    end: int
    told: float = 0.0
    """The number that is written there, with its scale."""


class _Item(Protocol):
    """Something a reference says that can be changed."""

    kind: Kind

    def spots(self, text: str) -> list[_Spot] | None:
        """Where it stands in a text; None where it stands there in a way that cannot be changed."""

    def others(
        self, texts: Sequence[str], near: Sequence[str], random: Random
    ) -> Iterator["_Item"]:
        """What may take its place: it stands in none of the texts, and in its order in the near."""

    def written(self, surface: str, spot: _Spot, other: "_Item") -> str | None:
        """The other, written as this one is at a spot; None where it cannot be."""


def counterfactual(
    query: str, answer: str, chunks: Sequence[str], gold: Sequence[int], random: Random
) -> Counterfactual | Reason:
    """Change the first item of a reference that can be changed.

    Args:
        query: what it says is not changed.
        answer: the reference.
        chunks: the texts of the context.
        gold: which of them hold the answer.
        random: chooses among what may take its place.
    """
    reason: Reason = "nothing_to_change"
    near = [answer, *(chunks[place] for place in gold)]
    for item in _items(answer):
        if item.spots(query) != []:
            reason = _later(reason, "in_question")
        elif not any(item.spots(chunks[place]) for place in gold):
            reason = _later(reason, "not_in_gold")
        else:
            reason = "inconsistent"
            texts = [answer, *chunks]
            for other in islice(item.others([query, *texts], near, random), _TRIED):
                made = [_changed(text, item, other) for text in texts]
                if all(text is not None for text in made):
                    spot = (item.spots(answer) or [])[0]
                    before = answer[spot.start : spot.end]
                    change = Change(item.kind, before, item.written(before, spot, other) or "")
                    whole = [text or "" for text in made]
                    return Counterfactual(whole[0], tuple(whole[1:]), change)
    return reason


def says(text: str, change: Mapping[str, object], side: Literal["before", "after"]) -> bool:
    """Whether a text says what stood there before a change, or after: a figure or date by value.

    >>> change = {"kind": "figure", "before": "12", "after": "15"}
    >>> says("It took twelve days.", change, "before"), says("于15日", change, "before")
    (True, False)
    """
    items = _items(str(change.get(side, "")))
    return any(item.spots(text) != [] for item in items if item.kind == change.get("kind"))


_ORDER: Final[tuple[Reason, ...]] = (
    "nothing_to_change",
    "in_question",
    "not_in_gold",
    "inconsistent",
)


def _later(one: Reason, two: Reason) -> Reason:
    return max(one, two, key=_ORDER.index)


def _changed(text: str, item: _Item, other: _Item) -> str | None:
    """The text with the other for the item; None where that is not what it then says."""
    spots = item.spots(text)
    if spots is None:
        return None
    parts, at = [], 0
    for spot in spots:
        new = item.written(text[spot.start : spot.end], spot, other)
        if new is None:
            return None
        parts += [text[at : spot.start], new]
        at = spot.end
    made = "".join([*parts, text[at:]])
    if not spots:
        return made
    then = other.spots(made)
    return made if item.spots(made) == [] and then and len(then) == len(spots) else None


def _items(answer: str) -> Iterator[_Item]:
    """What a reference holds, in its order."""
    dated = dates(answer)
    found: list[tuple[int, _Item]] = list(_parts(dated))
    found += [
        (number.start, _Figure(quantity, number))
        for quantity, number in _figures(answer, dated)
        if quantity.certain and number.value >= _LEAST
    ]
    yield from (item for _, item in sorted(found, key=lambda pair: pair[0]))


# Figures


def _figures(text: str, dated: Sequence[Date] | None = None) -> list[tuple[Quantity, Number]]:
    """The quantities of a text that are written with a number, and the number."""
    plain = numbers(text)
    starts = [number.start for number in plain]
    found = []
    for quantity in quantities(text, dated):
        at = bisect_left(starts, quantity.start)
        units = {unit for _, unit in quantity.readings}
        if at < len(plain) and plain[at].end <= quantity.end and not units & {CLOCK, CENTURY}:
            found.append((quantity, plain[at]))
    return found


class _Figure:
    """A number that counts or measures."""

    kind: Kind = "figure"

    def __init__(self, quantity: Quantity, number: Number, share: float = 1.0) -> None:
        self._quantity, self._number = quantity, number
        self.share = share
        """Of the value that is changed, where this one takes its place."""
        self._readings = [(value * share, unit.kind) for value, unit in quantity.readings]
        self._bare = number.value * share
        self._mere = all(kind == MERE.kind for _, kind in self._readings)

    def _is(self, quantity: Quantity, number: Number) -> bool:
        kinds = {unit.kind for _, unit in quantity.readings}
        if (self._mere or kinds == {MERE.kind}) and _alike(self._bare, number.value):
            return True
        return any(
            kind == unit.kind != MERE.kind and _alike(own, value)
            for own, kind in self._readings
            for value, unit in quantity.readings
        )

    def spots(self, text: str) -> list[_Spot] | None:
        found = []
        for quantity, number in _figures(text):
            if self._is(quantity, number):
                if not quantity.certain:
                    continue
                found.append(_Spot(number.start, number.end, number.value))
            elif self._rounds(quantity):
                return None
        return found

    def _rounds(self, other: Quantity) -> bool:
        """Whether another figure is a rounding of this one, which would stay as it is."""
        own = {kind: value for value, kind in self._readings}
        for value, unit in other.readings:
            off = abs(own.get(unit.kind, value * 3) - value)
            if (other.rough or other.step > self._quantity.step) and off <= other.leeway(
                value, unit.factor
            ):
                return True
        return False

    def others(
        self, texts: Sequence[str], near: Sequence[str], random: Random
    ) -> Iterator["_Figure"]:
        own = {kind for _, kind in self._readings}
        beside = [
            number.value
            for text in near
            for quantity, number in _figures(text)
            if not own.isdisjoint(unit.kind for _, unit in quantity.readings)
            and not self._is(quantity, number)
        ]
        low = max((value for value in beside if value < self._bare), default=0.0)
        high = min((value for value in beside if value > self._bare), default=float("inf"))
        if any(kind == "percent" for kind in own) and self._bare <= _HUNDRED:
            high = min(high, _HUNDRED)
        held = [pair for text in texts for pair in _figures(text)]
        for value in _like(self._number.value, random):
            other = _Figure(self._quantity, self._number, value / self._number.value)
            if low < value < high and not any(other._is(*pair) for pair in held):
                yield other

    def written(self, surface: str, spot: _Spot, other: _Item) -> str | None:
        if not isinstance(other, _Figure):
            return None
        value = spot.told * other.share
        made = _spell(surface, spot.told, value)
        read = numbers(made) if made else []
        whole = len(read) == 1 and (read[0].start, read[0].end) == (0, len(made or ""))
        return made if whole and _alike(read[0].value, value) else None


def _alike(one: float, two: float) -> bool:
    return abs(one - two) <= _SAME * max(abs(one), abs(two))


def _like(value: float, random: Random) -> list[float]:
    """Numbers with as many digits and noughts as this one, from half of it to twice as much."""
    text = f"{value:.10g}"
    if "e" in text:
        text = f"{value:.0f}"
    whole, _, behind = text.partition(".")
    digits = (whole + behind).lstrip("0")
    core = digits.rstrip("0")
    unit = value / int(core) if core else 1.0
    own, size = int(core or 1), len(core)
    least = max(_LEAST, 10 ** (size - 1), own // 2)
    most = min(10**size - 1, max(2 * own, own + _LEAST))
    every = range(least, most + 1)
    drawn = random.sample(every, min(len(every), 4 * _TRIED))
    return [unit * each for each in drawn if each != own and each % 10]


_DIGITS: Final = re.compile(r"\d[\d,，]*(?:\.\d+)?")
_HAN_DIGITS: Final = "零一二三四五六七八九"
_HAN_STEPS: Final = ((10_000_0000, "亿"), (10_000, "万"), (1000, "千"), (100, "百"), (10, "十"))
_MOST_SPELLED: Final = 99


def _spell(surface: str, old: float, new: float) -> str | None:
    """A number, written as another one is."""
    if match := _DIGITS.match(surface):
        head = match[0]
        whole, _, behind = head.partition(".")
        scale = old / float(head.replace(",", "").replace("，", ""))
        places = len(behind)
        mantissa = new / scale
        comma = next((sign for sign in ",，" if sign in whole), "")
        written = f"{mantissa:{',' if comma else ''}.{places}f}".replace(",", comma or "")
        return written + surface[match.end() :]
    if not _alike(new, round(new)):
        return None
    if surface[:1].isascii():
        if new > _MOST_SPELLED:
            return None
        value = round(new)
        names = {number: word for word, number in SPELLED.items()}
        made = names.get(value) or f"{names[value // 10 * 10]}-{names[value % 10]}"
        return made.capitalize() if surface[0].isupper() else made
    head = "百分之" if surface.startswith("百分之") else ""
    return head + _han(round(new))


def _han(value: int) -> str:
    """A whole number in Chinese numerals: `一百零五`, `三千万`."""
    for step, sign in _HAN_STEPS:
        if value >= step:
            count, rest = divmod(value, step)
            front = "" if sign == "十" and count == 1 else _han(count)
            gap = "零" if rest and rest < step // 10 else ""
            return front + sign + (gap + _han(rest) if rest else "")
    return _HAN_DIGITS[value]


# Dates

_ABOVE: Final[dict[_Field, tuple[_Field, ...]]] = {
    "year": (),
    "month": ("year",),
    "day": ("month",),
    "weekday": (),
}
"""What dates must share for this part of them to be compared."""
_SPAN: Final[dict[_Field, tuple[int, int]]] = {
    "year": _YEARS,
    "month": (1, 12),
    "day": (1, _LAST_DAY),
    "weekday": (0, 6),
}
_TOKEN: Final = re.compile(
    r"\d+(?:st|nd|rd|th)?|[^\W\d_]+?(?=[年月日号號])|[^\W\d_]+|[〇零一二三四五六七八九]{4}"
)
_ZH_DAYS: Final = "一二三四五六日"


def _parts(dated: Sequence[Date]) -> Iterator[tuple[int, "_DatePart"]]:
    for date in dated:
        if date.certain and len(date.readings) == 1:
            day = date.readings[0]
            fields: tuple[_Field, ...] = ("year", "day", "month", "weekday")
            for field in fields:
                value = getattr(day, field)
                if value is not None and _SPAN[field][0] <= value <= _SPAN[field][1]:
                    yield date.start, _DatePart(field, day)


class _DatePart:
    """The year, month, day or weekday of a date."""

    def __init__(self, field: _Field, day: Day) -> None:
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

    def spots(self, text: str) -> list[_Spot] | None:
        found = [date for date in dates(text) if date.certain and self._is(date)]
        if self._field != "year" and any(len(date.readings) > 1 for date in found):
            return None
        places = {(date.start, date.end) for date in found}
        if self._field == "year":
            # `FY2019`, `2019赛季`: no date to the reader, and yet the year.
            measured = (each for each, _ in _figures(text) if each.readings[0].unit != MERE)
            held = [*places, *((each.start, each.end) for each in measured)]
            for match in re.finditer(rf"(?<![\d.,]){self.value}(?!\d|[.,]\d)", text):
                if not any(start <= match.start() < end for start, end in held):
                    places.add(match.span())
        return [_Spot(*place) for place in sorted(places)]

    def others(
        self, texts: Sequence[str], near: Sequence[str], random: Random
    ) -> Iterator["_DatePart"]:
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
        every = [value for value in range(first, last + 1) if value != self.value]
        for value in random.sample(every, len(every)):
            other = _DatePart(self._field, self._day._replace(**{self._field: value}))
            if all(other.spots(text) == [] for text in texts):
                yield other

    def written(self, surface: str, spot: _Spot, other: _Item) -> str | None:
        del spot
        if not isinstance(other, _DatePart):
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
            for token in _tokens(match[0], self._field, self.value, other.value):
                made = surface[: match.start()] + token + surface[match.end() :]
                if wanted and [date.readings for date in dates(made)] == wanted:
                    return made
        return None


def _tokens(token: str, field: _Field, old: int, new: int) -> Iterator[str]:
    """Ways to write a part of a date, in the manner of the token that may hold it."""
    digits = token.rstrip("stndrh")
    if digits.isdecimal():
        if int(digits) == old:
            yield f"{new:0{len(digits)}}" + (_ordinal(new) if digits != token else "")
    elif not token.isascii():
        if field == "weekday":
            yield token[:-1] + _ZH_DAYS[new]
        elif field == "year":
            yield "".join(
                ("〇" if "〇" in token else "零") if c == "0" else _HAN_DIGITS[int(c)]
                for c in str(new)
            )
        else:
            yield _han(new)
    elif field in {"month", "weekday"}:
        names, short = (month_name, month_abbr) if field == "month" else (day_name, day_abbr)
        end = "s" if field == "weekday" and token.lower().endswith("days") else ""
        whole = token.lower().removesuffix("s") == names[old].lower() or len(token) > len("Sept")
        made = (names if whole else short)[new] + end
        yield made.upper() if token.isupper() else made


def _ordinal(number: int) -> str:
    teens = number % _HUNDRED in range(11, 14)
    return "th" if teens else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
