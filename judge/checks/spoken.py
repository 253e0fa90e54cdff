"""Numbers said without a number word: `half`, `third`, `both`, `twice`, `a year`, `三分之一`."""

import re
from typing import Final, NamedTuple

from judge.checks.units import PERCENT, Reading, unit_behind

ORDINALS: Final = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7,
    "eighth": 8, "ninth": 9, "tenth": 10, "eleventh": 11, "twelfth": 12, "thirteenth": 13,
    "fourteenth": 14, "fifteenth": 15, "sixteenth": 16, "seventeenth": 17, "eighteenth": 18,
    "nineteenth": 19, "twentieth": 20,
}  # fmt: skip
"""Lower case, by value."""
_SAID: Final = {
    "once": 1, "twice": 2, "double": 2, "doubled": 2, "both": 2, "pair": 2, "couple": 2,
    "duo": 2, "twin": 2, "twins": 2, "triple": 3, "tripled": 3, "trio": 3, "thrice": 3,
    "dozen": 12, "hundred": 100, "thousand": 1000, "million": 1e6, "billion": 1e9,
}  # fmt: skip
_HALVES: Final = {"half": 2, "halves": 2, "quarter": 4, "quarters": 4}
# A second is no fraction.
_FRACTIONS: Final = _HALVES | {
    word + tail: value for word, value in list(ORDINALS.items())[2:] for tail in ("", "s")
}
_COUNTS: Final = {"a": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "nine": 9}
_SPOKEN: Final = re.compile(
    rf"""(?<![^\W_]) (?:
      (?:(?P<count>{"|".join(_COUNTS)}) [ -])? (?P<fraction>{"|".join(_FRACTIONS)})
    | (?P<ordinal>{"|".join(ORDINALS)})
    | (?P<said>{"|".join(_SAID)})
    | an? [ -] (?P<unit>decade|year|month|week|day|hour|minute|century) ) (?![^\W_])""",
    re.VERBOSE | re.IGNORECASE,
)
_HAN_FRACTION: Final = re.compile(
    r"半|(?P<low>[二三四五六七八九十])分之(?P<top>[一二三四五六七八九])"
)
_DIGITS: Final = "零一二三四五六七八九十"


class Spoken(NamedTuple):
    """Such a number, and its place."""

    readings: tuple[Reading, ...]
    """What it may come to."""
    start: int
    """First character."""
    end: int
    """One past the last."""
    fraction: bool
    """Whether number words inside it are parts of a fraction: `two` in `two-thirds`."""


def spoken(text: str) -> list[Spoken]:
    """Find such numbers, in reading order.

    >>> [each.readings[0].value for each in spoken("Both fell by a quarter, twice.")]
    [2.0, 0.25, 2.0]
    """
    found = [
        Spoken(_readings(match), *match.span(), fraction=bool(match["count"]))
        for match in _SPOKEN.finditer(text)
    ]
    for match in _HAN_FRACTION.finditer(text):
        top = _DIGITS.index(match["top"]) if match["low"] else 1
        share = top / (_DIGITS.index(match["low"]) if match["low"] else 2)
        found.append(Spoken(_shares(share), *match.span(), fraction=True))
    return sorted(found, key=lambda each: each.start)


def _readings(match: re.Match[str]) -> tuple[Reading, ...]:
    if match["fraction"]:
        word = match["fraction"].lower()
        share = _COUNTS[(match["count"] or "a").lower()] / _FRACTIONS[word]
        ordinal = ORDINALS.get(word)
        return (*_shares(share), *((Reading(float(ordinal), None),) if ordinal else ()))
    if match["ordinal"]:
        return (Reading(float(ORDINALS[match["ordinal"].lower()]), None),)
    if match["said"]:
        return (Reading(float(_SAID[match["said"].lower()]), None),)
    found = unit_behind(match["unit"], 0)
    return tuple(Reading(unit.factor, unit) for unit in found.units) if found else ()


def _shares(share: float) -> tuple[Reading, ...]:
    return (Reading(share, None), Reading(100 * share, PERCENT))
