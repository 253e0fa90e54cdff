"""Abbreviations: words whose full stop is part of the word."""

from functools import cache
from importlib.resources import files
from typing import NamedTuple


class Abbreviations(NamedTuple):
    """The word lists of `judge/data/abbreviations.txt`, lower case, without the final stop."""

    never_end: frozenset[str]
    """Titles and the like: what follows always belongs to them."""
    may_end: frozenset[str]
    """Also the last word of a sentence, if a word of `starters` follows."""
    closes_list: frozenset[str]
    """The last word of a sentence, if any capitalised word follows."""
    before_number: frozenset[str]
    """Abbreviations only if a number follows."""
    starters: frozenset[str]
    """Words that, capitalised, begin a sentence rather than go on with a name."""


@cache
def abbreviations() -> Abbreviations:
    """The word lists, read once."""
    sections: dict[str, set[str]] = {}
    section: set[str] = set()
    source = files("judge").joinpath("data", "abbreviations.txt")
    for raw in source.read_text(encoding="utf-8").splitlines():
        line = raw.strip()
        if line.startswith("["):
            section = sections.setdefault(line.strip("[]"), set())
        elif line and not line.startswith("#"):
            section.add(line)
    return Abbreviations(
        never_end=frozenset(sections["never ends a sentence"]),
        may_end=frozenset(sections["may end a sentence"]),
        closes_list=frozenset(sections["ends a sentence before a capital"]),
        before_number=frozenset(sections["before a number"]),
        starters=frozenset(sections["begins a sentence"]),
    )
