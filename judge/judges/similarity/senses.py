"""Meanings of words: which say the same, which imply another, which exclude one another."""

import re
import tomllib
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from typing import Final, NamedTuple

from judge.text.words import stems

_JOINED: Final = "_"


class Sense(NamedTuple):
    """What a word of the table says.

    A word of a passage supports one of a sentence if `said.concept in found.implies`, and denies
    it, standing in its place, if `said.excludes & found.implies`.
    """

    concept: str
    """Its name in `judge/data/senses.toml`."""
    implies: frozenset[str]
    """Itself and every broader concept."""
    excludes: frozenset[str]
    """Concepts that deny this one, standing in its place: those that do not hold where it does, and
    those that fall short of it."""


def english_senses(stemmed: Sequence[str]) -> list[tuple[Sense, int, int]]:
    """The senses among successive stems of a text, spellings of several words too.

    Args:
        stemmed: stems in reading order.

    Returns:
        (sense, first word, one past the last), in reading order and apart; where a longer and a
        shorter spelling begin at one word, the longer.

    >>> [(s.concept, *at) for s, *at in english_senses(stems("The United States bought it"))]
    [('america', 1, 3), ('buy', 3, 4)]
    """
    table = _table()
    found: list[tuple[Sense, int, int]] = []
    past = 0
    for at in [place for place, first in enumerate(stemmed) if first in table.words]:
        if at < past:
            continue
        for size in range(min(table.words[stemmed[at]], len(stemmed) - at), 0, -1):
            own = table.english.get(tuple(stemmed[at : at + size]))
            if own is not None:
                past = at + size
                found.append((own, at, past))
                break
    return found


def han_senses(text: str) -> list[tuple[Sense, int, int]]:
    """The senses of a text's Chinese words: the longest word first, from left to right.

    Returns:
        (sense, start, end) in characters of the text, in reading order and apart.

    >>> [(s.concept, *at) for s, *at in han_senses("两个男孩马上坐下")]
    [('boy', 2, 4), ('sit', 6, 8)]
    """
    if text.isascii():
        return []
    table = _table()
    found: list[tuple[Sense, int, int]] = []
    at = 0
    while first := table.first.search(text, at):
        start = first.start()
        at = start + 1
        for size in table.sizes[first[0]]:
            word = text[start : start + size]
            if word in table.han:
                at = start + len(word)
                own = table.han[word]
                if own is not None:
                    found.append((own, start, at))
                break
    return found


class _Table(NamedTuple):
    english: dict[tuple[str, ...], Sense]
    words: dict[str, int]
    """A first stem: of how many words its longest spelling is."""
    han: dict[str, Sense | None]
    """None: a word that hides the shorter ones in it."""
    first: re.Pattern[str]
    """Any character that begins a Chinese word of the table."""
    sizes: dict[str, tuple[int, ...]]
    """Such a character: the lengths of its words, the longest first."""


@cache
def _table() -> _Table:
    raw = tomllib.loads(files("judge").joinpath("data", "senses.toml").read_text("utf-8"))
    senses = _senses(raw["concepts"], [set(group.split()) for group in raw["exclusive"].values()])
    english: dict[tuple[str, ...], Sense] = {}
    han: dict[str, Sense | None] = dict.fromkeys(raw["other"]["zh"].split())
    for name, entry in raw["concepts"].items():
        for spelling in entry.get("en", "").split():
            english[tuple(stems(spelling.replace(_JOINED, " ")))] = senses[name]
        han.update(dict.fromkeys(entry.get("zh", "").split(), senses[name]))
    lengths: dict[str, set[int]] = {}
    for word in han:
        lengths.setdefault(word[0], set()).add(len(word))
    words: dict[str, int] = {}
    for spelled in english:
        words[spelled[0]] = max(words.get(spelled[0], 0), len(spelled))
    return _Table(
        english=english,
        words=words,
        han=han,
        first=re.compile(f"[{''.join(map(re.escape, lengths))}]"),
        sizes={char: tuple(sorted(sizes, reverse=True)) for char, sizes in lengths.items()},
    )


def _senses(concepts: dict[str, dict[str, str]], sets: Iterable[set[str]]) -> dict[str, Sense]:
    rivals: dict[str, set[str]] = {}
    for group in sets:
        for name in group:
            rivals.setdefault(name, set()).update(group - {name})

    @cache
    def implied(name: str) -> frozenset[str]:
        above = concepts[name].get("under", "").split()
        return frozenset({name}).union(*map(implied, above))

    def excluded(name: str) -> frozenset[str]:
        implies = implied(name)
        apart = frozenset[str]().union(*(rivals.get(each, ()) for each in implies)) - implies
        return apart.union(concepts[name].get("less", "").split())

    return {name: Sense(name, implied(name), excluded(name)) for name in concepts}
