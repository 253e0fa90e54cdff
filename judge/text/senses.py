"""Word senses: synonyms and words that exclude each other, from `judge/data/senses.toml`."""

import re
import tomllib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from judge.text.words import Words, stems


class Sense(NamedTuple):
    """The meaning of a word in the table of senses.

    A word of a passage supports one of a sentence if `claimed.concept in found.implies`, and denies
    it in its place if `claimed.excludes & found.implies`.
    """

    concept: str
    implies: frozenset[str]
    """Itself and every broader concept."""
    excludes: frozenset[str]
    """Concepts that deny this one when used instead of it, weaker ones too."""


def senses(text: str, tokens: Words) -> list[tuple[Sense, Sequence[int]]]:
    """Return the senses of a text's words, each with the offsets of its words; English ones first.

    The longest spelling wins, and none overlap. Every character of a Chinese word counts as a word.

    >>> from judge.text.words import words
    >>> text = "The United States bought it, 两个男孩马上坐下"
    >>> [(sense.concept, *places) for sense, places in senses(text, words(text))]
    [('america', 4, 11), ('buy', 18), ('boy', 31, 32), ('sit', 35, 36)]
    """
    # Reading the table of a language takes as long as judging an answer.
    english = _english() if any(map(str.isascii, tokens.stems)) else {}
    found: list[tuple[Sense, Sequence[int]]] = []
    past = 0
    for at in [place for place, first in enumerate(tokens.stems) if first in english]:
        for spelled, sense in english[tokens.stems[at]] if at >= past else ():
            if tokens.stems[at : at + len(spelled)] == spelled:
                past = at + len(spelled)
                found.append((sense, tokens.starts[at:past]))
                break
    if text.isascii():
        return found
    han, begins_han = _han()
    past = 0
    while first := begins_han.search(text, past):
        start = first.start()
        past = start + 1
        for word, own in han[first[0]]:
            if text.startswith(word, start):
                past = start + len(word)
                if own is not None:
                    found.append((own, range(start, past)))
                break
    return found


@cache
def _raw() -> dict[str, Any]:
    return tomllib.loads(files("judge").joinpath("data", "senses.toml").read_text("utf-8"))


@cache
def _senses() -> dict[str, Sense]:
    """Return the senses by the names of their concepts."""
    raw = _raw()
    exclusive = [frozenset(group.split()) for group in raw["exclusive"].values()]
    found = {}
    for name, entry in raw["concepts"].items():
        implies = _implied(name, raw["concepts"])
        rivals = frozenset[str]().union(*(group for group in exclusive if group & implies))
        less = entry.get("less", "").split()
        found[name] = Sense(name, implies, (rivals - implies).union(less))
    return found


@cache
def _english() -> dict[str, list[tuple[list[str], Sense]]]:
    """Return the words and their senses by first stem, the longest first."""
    found: dict[str, list[tuple[list[str], Sense]]] = {}
    for name, entry in _raw()["concepts"].items():
        for spelling in entry.get("en", "").split():
            words = stems(spelling.replace("_", " "))
            found.setdefault(words[0], []).append((words, _senses()[name]))
    for spellings in found.values():
        spellings.sort(key=lambda each: -len(each[0]))
    return found


@cache
def _han() -> tuple[dict[str, list[tuple[str, Sense | None]]], re.Pattern[str]]:
    """Return words and their senses by first character, the longest first; any such character.

    A word without a sense hides the shorter ones in it.
    """
    raw = _raw()
    spelled: list[tuple[str, Sense | None]] = [(word, None) for word in raw["other"]["zh"].split()]
    for name, entry in raw["concepts"].items():
        spelled += [(word, _senses()[name]) for word in entry.get("zh", "").split()]
    found: dict[str, list[tuple[str, Sense | None]]] = {}
    for word, own in sorted(spelled, key=lambda each: -len(each[0])):
        found.setdefault(word[0], []).append((word, own))
    return found, re.compile(f"[{''.join(map(re.escape, found))}]")


def _implied(name: str, concepts: dict[str, dict[str, str]]) -> frozenset[str]:
    above = concepts[name].get("under", "").split()
    return frozenset({name}).union(*(_implied(each, concepts) for each in above))
