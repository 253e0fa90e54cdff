"""What a reference says that can be changed, and where it stands in a text."""

from collections.abc import Iterator, Sequence
from random import Random
from typing import Final, Literal, NamedTuple, Protocol

Field = Literal["year", "month", "day", "weekday"]
Kind = Literal["figure", "name"] | Field

HUNDRED: Final = 100
HAN_DIGITS: Final = "零一二三四五六七八九"
_HAN_STEPS: Final = ((10_000_0000, "亿"), (10_000, "万"), (1000, "千"), (100, "百"), (10, "十"))


class Spot(NamedTuple):
    """Where an item stands in a text."""

    start: int
    end: int
    told: float = 0.0
    """The number that is written there, with its scale."""
    counts: bool = False
    """Whether a Chinese measure word follows, before which 2 is 两."""


class Item(Protocol):
    """Something a reference says that can be changed."""

    kind: Kind

    def spots(self, text: str) -> list[Spot] | None:
        """Where it stands in a text; None where it stands there in a way that cannot be changed."""

    def others(self, texts: Sequence[str], near: Sequence[str], random: Random) -> Iterator["Item"]:
        """What may take its place: it stands in none of the texts, and in its order in the near."""

    def written(self, surface: str, spot: Spot, other: "Item") -> str | None:
        """The other, written as this one is at a spot; None where it cannot be."""


def han(value: int, *, first: bool = True) -> str:
    """A whole number in Chinese numerals; only the first 一十 is 十: `十五`, `一百一十五`."""
    for step, sign in _HAN_STEPS:
        if value >= step:
            count, rest = divmod(value, step)
            front = "" if first and sign == "十" and count == 1 else han(count, first=first)
            gap = "零" if rest and rest < step // 10 else ""
            return front + sign + (gap + han(rest, first=False) if rest else "")
    return HAN_DIGITS[value]


def ordinal(number: int) -> str:
    """What stands behind its digits: `st`, `nd`, `rd`, `th`."""
    teens = number % HUNDRED in range(11, 14)
    return "th" if teens else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
