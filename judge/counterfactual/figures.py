"""Figures of a reference, changed to others like them."""

import math
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from random import Random
from typing import Final

from judge.checks.dates import Date
from judge.checks.numbers import MEASURES, PERCENT, SPELLED, Number, numbers
from judge.checks.places import COUNT
from judge.checks.quantities import CENTURY, CLOCK, MERE, Quantity, quantities
from judge.counterfactual.items import HUNDRED, Item, Kind, Spot, han, ordinal

_MOST: Final = 160
"""Figures that are drawn to choose from."""
_SAME: Final = 1e-9
_LEAST: Final = 2
"""Figures below that are grammar as much as figures."""


def figures(text: str, dated: Sequence[Date] | None = None) -> list[tuple[Quantity, Number]]:
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


HOW_MANY: Final = re.compile(
    r"(?i:\bhow (?:many|much|long|old|far|big|high|tall|often)\b|\bnumber\b)"
    r"|多少|几|数量|[人次票席]数|多[长久大高远]"
)
"""What asks for a figure."""


def changeable(answer: str, dated: Sequence[Date], query: str) -> Iterator[tuple[int, "Figure"]]:
    """The figures of a reference that are more than grammar, and where they stand.

    A small count, as of `two regions; namely`, is one only where the question asks for a figure.
    """
    asked = HOW_MANY.search(query) is not None or len(answer.split()) == 1
    for quantity, number in figures(answer, dated):
        least = _LEAST
        if not asked:
            mere = quantity.readings[0].unit == MERE
            least = COUNT if mere else _LEAST + (not answer[number.start].isdecimal())
        if quantity.certain and (number.value >= least or number.value % 1):
            yield number.start, Figure(quantity, number)


# `二楼`, `二级`, `二年级` are ordinals without 第.
_COUNTED: Final = re.compile(rf"(?!年级|年級|[日月号號层層楼樓级級期季届屆代％%])[{MEASURES}]")
_ORDINAL: Final = re.compile(r"(?<=\d)(?:st|nd|rd|th)(?![^\W_])")


class Figure:
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

    def spots(self, text: str) -> list[Spot] | None:
        """Where it stands; None where a rounding of it does, which would stay as it is."""
        found = []
        for quantity, number in figures(text):
            if self._is(quantity, number):
                if not quantity.certain:
                    continue
                nth = _ORDINAL.match(text, number.end)
                end = nth.end() if nth else number.end
                counts = text[max(number.start - 1, 0) : number.start] != "第"
                counts = counts and _COUNTED.match(text, end) is not None
                found.append(Spot(number.start, end, number.value, counts))
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
    ) -> Iterator["Figure"]:
        """Figures like it, between those beside it."""
        own = {kind: value for value, kind in self._readings}
        beside = [
            value / own[unit.kind]
            for text in near
            for quantity, number in figures(text)
            if not self._is(quantity, number)
            for value, unit in quantity.readings
            if unit.kind in own
        ]
        low = max((share for share in beside if share < 1), default=0.0)
        high = min((share for share in beside if share > 1), default=math.inf)
        if own.get(PERCENT.kind, math.inf) <= HUNDRED:
            high = min(high, HUNDRED / own[PERCENT.kind])
        held = [pair for text in texts for pair in figures(text)]
        for share in _shares(self._number.value, low, high, random):
            other = Figure(self._quantity, self._number, share)
            if not any(other._is(*pair) for pair in held):
                yield other

    def written(self, surface: str, spot: Spot, other: Item) -> str | None:
        """The other in digits or words, as this one is."""
        if not isinstance(other, Figure):
            return None
        value = spot.told * other.share
        bare = _ORDINAL.sub("", surface) if surface[0].isdecimal() else surface
        made = _spell(bare, spot.told, value)
        made = "两" if made == "二" and spot.counts else made
        read = numbers(made) if made else []
        whole = len(read) == 1 and (read[0].start, read[0].end) == (0, len(made or ""))
        if made is None or not whole or not _alike(read[0].value, value):
            return None
        return made if bare == surface else made + ordinal(round(value))


def _alike(one: float, two: float) -> bool:
    return abs(one - two) <= _SAME * max(abs(one), abs(two))


def _shares(value: float, low: float, high: float, random: Random) -> Iterator[float]:
    """What a number may be multiplied by to have as many digits as before.

    From half of it to twice as much, between two limits. Those with as many noughts at the end come
    first, and of these those that change it by a tenth at least.
    """
    text = f"{value:.10g}"
    digits = (f"{value:.0f}" if "e" in text else text).replace(".", "").lstrip("0")
    core = digits.rstrip("0") or "1"
    for size in range(len(core), len(digits) + 1):
        own = int(digits[:size])
        least = max(_LEAST, 10 ** (size - 1), own // 2, math.floor(low * own) + 1)
        most = min(10**size - 1, max(2 * own, own + _LEAST))
        if high < math.inf:
            most = min(most, math.ceil(high * own) - 1)
        every = range(least, most + 1)
        drawn = random.sample(every, min(len(every), _MOST))
        fit = [each for each in drawn if each != own and each % 10]
        yield from (each / own for each in sorted(fit, key=lambda each: _slight(each, own)))


def _slight(one: int, two: int) -> bool:
    return abs(one - two) * 10 < two


_DIGITS: Final = re.compile(r"\d[\d,，]*(?:\.\d+)?")
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
    return head + han(round(new))
