"""Near-copies: whether two texts are one text, but for a few words, or one within the other."""

import re
from typing import Final, NamedTuple
from unicodedata import normalize

from judge.text.fold import CJK

_UNIT: Final = re.compile(rf"[{CJK}]|[^\W_{CJK}]+")
_LONGEST: Final = 20_000
"""So many characters of a chunk are read, from its start: pages are shorter."""
_SLICE: Final = 1000
_RUN: Final = 3
"""Words or CJK characters in a row: two are common phrases, and a changed word spoils each run."""
_LEAST: Final = 8
"""Runs: a shorter text, such as a heading, stands in others by chance."""
_COPY: Final = 0.8
"""Containment from which two chunks are near-copies: with one word in fifteen changed, three runs
of three in fifteen are lost, and .8 is left."""


class Shingles(NamedTuple):
    """What a text is held against others by."""

    text: str
    units: list[str]
    runs: frozenset[tuple[str, ...]]

    @classmethod
    def of(cls, text: str) -> "Shingles":
        """Those of a text."""
        units = _units(text[:_LONGEST])
        runs = frozenset(zip(*(units[at:] for at in range(_RUN)), strict=False))
        return cls(text[:_LONGEST], units, runs)

    def shared(self, other: "Shingles") -> float:
        """The share of the smaller in the other, where they are near-copies; else 0."""
        least = min(len(self.runs), len(other.runs))
        share = len(self.runs & other.runs) / least if least >= _LEAST else 0.0
        # Texts without a word or figure are alike only as written; what is blank is not known.
        written = bool(self.text.strip()) and self.text == other.text
        same = self.units == other.units if self.units else written
        return 1.0 if same else share if share >= _COPY else 0.0


def _units(text: str) -> list[str]:
    # Normalizing a run of combining marks takes the square of its length.
    slices = (text[at : at + _SLICE] for at in range(0, len(text), _SLICE))
    return _UNIT.findall("".join(normalize("NFKC", part) for part in slices).casefold())
