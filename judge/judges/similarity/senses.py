"""Meanings of words: which say the same, which imply another, which exclude one another."""

import re
import tomllib
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from judge.text.words import stems


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


def english_senses(stemmed: list[str]) -> list[tuple[Sense, int, int]]:
    """The senses among successive stems of a text, spellings of several words too.

    Args:
        stemmed: stems in reading order.

    Returns:
        (sense, first word, one past the last), in reading order and apart; where a longer and a
        shorter spelling begin at one word, the longer.

    >>> [(s.concept, *at) for s, *at in english_senses(stems("The United States bought it"))]
    [('america', 1, 3), ('buy', 3, 4)]
    """
    spellings = _table().english
    found: list[tuple[Sense, int, int]] = []
    past = 0
    for at in [place for place, first in enumerate(stemmed) if first in spellings]:
        for spelled, own in spellings[stemmed[at]] if at >= past else ():
            if stemmed[at : at + len(spelled)] == spelled:
                past = at + len(spelled)
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
        for word, own in table.han[first[0]]:
            if text.startswith(word, start):
                at = start + len(word)
                if own is not None:
                    found.append((own, start, at))
                break
    return found


class _Table(NamedTuple):
    """By their first stem, or first character: words and their senses, the longest first."""

    english: dict[str, list[tuple[list[str], Sense]]]
    han: dict[str, list[tuple[str, Sense | None]]]
    """None: a word that hides the shorter ones in it."""
    first: re.Pattern[str]
    """Any character that begins a Chinese word of the table."""


@cache
def _table() -> _Table:
    raw = tomllib.loads(files("judge").joinpath("data", "senses.toml").read_text("utf-8"))
    senses = _senses(raw["concepts"], [set(group.split()) for group in raw["exclusive"].values()])
    table = _Table({}, {}, re.compile(""))
    spelled: list[tuple[str, Sense | None]] = [(word, None) for word in raw["other"]["zh"].split()]
    for name, entry in raw["concepts"].items():
        for spelling in entry.get("en", "").split():
            words = stems(spelling.replace("_", " "))
            table.english.setdefault(words[0], []).append((words, senses[name]))
        spelled += [(word, senses[name]) for word in entry.get("zh", "").split()]
    for word, own in spelled:
        table.han.setdefault(word[0], []).append((word, own))
    for spellings in table.english.values():
        spellings.sort(key=lambda each: -len(each[0]))
    for hidden in table.han.values():
        hidden.sort(key=lambda each: -len(each[0]))
    return table._replace(first=re.compile(f"[{''.join(map(re.escape, table.han))}]"))


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
