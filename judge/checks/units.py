"""Units of measure by what they measure: `km`, `kilometres`, `公里` are the same unit."""

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import Final, NamedTuple

from judge.text.fold import CJK_CHAR

_LONGEST_HAN: Final = 5
_WORD: Final = "[a-zµμ]{1,20}"
# Three words at most, or signs: `per cent`, `U.S. dollars`, `sq. ft.`, `°C`, `km/h`, `m²`. A stop
# behind a word is a sentence's or an abbreviation's, and no part of the unit.
_BEHIND: Final = re.compile(
    rf"[ \u00a0-]?({_WORD}(?:[./]{_WORD}){{0,3}}[²³23]?|°\s?[cf]?(?![a-z])|[%％‰℃℉$€£])"
    rf"(?:\.?[ \u00a0-]({_WORD}))?(?:\.?[ \u00a0-]({_WORD}))?",
    re.IGNORECASE,
)
_FIRST: Final = re.compile(rf"[ \u00a0-]?({_WORD}(?:/{_WORD})?)(?=\.)", re.IGNORECASE)
_FRONT: Final = re.compile(
    r"(?<![^\W_])((?:[A-Za-z.]{1,4})?[$€£¥￥＄₩₹₽]|[A-Za-z]{2,3}\.?|人民币)\s?\Z"
)
_FRONT_REACH: Final = 8


class Unit(NamedTuple):
    """What is measured, and how many of its base unit this one is."""

    kind: str
    """`length`, `usd`, `percent`: values of one kind can be compared."""
    factor: float
    """Above 0."""


PERCENT: Final = Unit("percent", 1.0)


class Reading(NamedTuple):
    """One way to read a quantity."""

    value: float
    """As a number, magnitudes multiplied out; a percentage counts hundredths."""
    unit: Unit | None
    """What it measures; None for a mere number."""


class Found(NamedTuple):
    """A unit beside a number."""

    units: tuple[Unit, ...]
    """What it may mean, one at least: a pound is money or weight."""
    edge: int
    """Where it ends, behind a number; where it starts, before one."""


def unit_behind(text: str, position: int) -> Found | None:
    """The unit that follows a number ending at `position`: `5 km`, `40-hour`, `3.5％`, `5公里`."""
    table = _table()
    lead = position + (text[position : position + 1] in {" ", "\u00a0"})
    for size in range(_LONGEST_HAN, 0, -1):
        word = text[lead : lead + size]
        units = table.after.get(word)
        if units and CJK_CHAR.match(word):
            return Found(units, lead + len(word))
    match = _BEHIND.match(text, position)
    if match is None:
        return None
    for last in (3, 2, 1):
        if match[last] is None or (last == 1 and not _ends(text, match.end(1))):
            continue
        words = "".join(match[0][: match.end(last) - position].lstrip(" \u00a0-").lower().split())
        spelled = " ".join(part for part in match.groups()[:last] if part)
        units = _listed(spelled) or table.after.get(words)
        if units:
            return Found(units, match.end(last))
    # `30 minutes.Then`: no space behind the full stop.
    match = _FIRST.match(text, position)
    units = _listed(match[1]) if match else None
    return Found(units, match.end()) if match and units else None


def _listed(spelled: str) -> tuple[Unit, ...] | None:
    plain, after = spelled.lower().replace(".", ""), _table().after
    # `The iPhone 12 has …`: of all plurals this one alone is a common word.
    singular = plain if plain == "has" else plain.removesuffix("s")
    return after.get(plain) or after.get(singular)


def unit_before(text: str, position: int) -> Found | None:
    """The currency that stands before a number starting at `position`: `$5`, `US$5`, `EUR 5`."""
    low = max(0, position - _FRONT_REACH)
    match = _FRONT.search(text[low:position])
    units = _table().before.get(match[1].lower()) if match else None
    return Found(units, low + match.start()) if match and units else None


def _ends(text: str, position: int) -> bool:
    behind = text[position : position + 1]
    return not text[position - 1].isalpha() or not (behind.isalnum() and behind.isascii())


class _Table(NamedTuple):
    after: dict[str, tuple[Unit, ...]]
    before: dict[str, tuple[Unit, ...]]


@cache
def _table() -> _Table:
    source = files("judge").joinpath("data", "units.toml").read_text("utf-8")
    table = _Table({}, {})
    for entry in tomllib.loads(source)["units"]:
        unit = Unit(entry["kind"], float(entry["factor"]))
        for place, spellings in zip(table, (entry["after"], entry.get("before", ())), strict=True):
            for spelling in spellings:
                place[spelling] = (*place.get(spelling, ()), unit)
    return table
