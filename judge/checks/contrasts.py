"""Contrasts: the words of `judge/data/contrasts.toml` that govern others, or exclude them."""

import re
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.resources import files
from typing import Any, Final, NamedTuple

from judge.text.words import Words, stem

_NOT_MEANT: Final = re.compile(r"May(?![^\W_])|No\.|[Bb]y \w{1,20}ing(?!\w)")
"""The month, `No. 3`, and `by doing so`."""
_LIMITS: Final = frozenset(("at-least", "at-most"))


class Mark(NamedTuple):
    """A word of grammar that governs others."""

    name: str
    """Its class in the table."""
    start: int
    end: int


class Pole(NamedTuple):
    """One end of a scale."""

    scale: str
    end: int
    """0 or 1."""


class Lexicon(NamedTuple):
    """The table, made up for look-ups."""

    english: dict[str, list[tuple[list[str], str]]]
    """By first word: words and class, the longest first."""
    han: re.Pattern[str]
    """Any Chinese mark."""
    han_class: dict[str, str]
    """The class of each."""
    poles: dict[str, tuple[Pole, ...]]
    """By stem; a word that is matched by its letters has `=` behind it, and two have a blank."""
    begins_pole: re.Pattern[str]
    han_poles: dict[str, tuple[Pole, ...]]
    sets: frozenset[str]
    """Of `senses.toml`."""
    symmetric: frozenset[str]
    converse: dict[str, frozenset[str]]
    """By verb, a stem or Chinese characters: what the other party does."""
    falling: frozenset[str]
    """Scales of which one end falls short of the other."""
    either: frozenset[str]
    """Scales of which one end always holds."""
    scales: dict[str, tuple[str, ...]]
    """By name, what words of it begin with."""
    hints: dict[str, frozenset[str]]
    """By stem, or Chinese character of a word, of a pole or a converse: what its scale's words or
    its other parties begin with, of which a text has one that says the same in other words."""
    prefixes: tuple[str, ...]
    of_adjectives: tuple[str, ...]
    """Those that only words which look like adjectives have."""
    unprefixed: tuple[str, ...]

    def akin(self, pole: Pole) -> tuple[str, ...]:
        """What words of its scale begin with, those of both ends."""
        return self.scales[pole.scale]

    def pole(self, word: str) -> Pole | None:
        """The end of a scale that an English word is."""
        own = self.poles.get(f"{word}=") or self.poles.get(stem(word))
        return own[0] if own else None

    def own_poles(self, text: str, *, compared: bool) -> Iterator[tuple[range, tuple[Pole, ...]]]:
        """The ends of scales of a Chinese text, with their places; some only where it compares."""
        for match in self.begins_pole.finditer(text):
            poles = self.han_poles.get(match[0])
            if poles or compared:
                yield range(*match.span()), poles or self.han_poles[f"{match[0]}="]


@cache
def table() -> dict[str, Any]:
    """The table as it is written."""
    return tomllib.loads(files("judge").joinpath("data", "contrasts.toml").read_text("utf-8"))


@cache
def lexicon() -> Lexicon:
    """The table, read once."""
    raw = table()
    english: dict[str, list[tuple[list[str], str]]] = {}
    han: dict[str, str] = {}
    for name, entry in {**raw["marks"], "split": raw["splits"]}.items():
        for spelling in entry.get("en", "").split():
            spelled = spelling.split("_")
            english.setdefault(spelled[0], []).append((spelled, name))
        han.update(dict.fromkeys(entry.get("zh", "").split(), name))
    for spellings in english.values():
        spellings.sort(key=lambda each: -len(each[0]))
    poles: dict[str, tuple[Pole, ...]] = {}
    han_poles: dict[str, tuple[Pole, ...]] = {}
    for scale, entry in raw["poles"].items():
        for end in (0, 1):
            own = (Pole(scale, end),)
            for each in entry["en"][end].split():
                key = each if each.endswith("=") else " ".join(map(stem, each.split("_")))
                poles[key] = poles.get(key, ()) + own
            for each in entry["zh"][end].split():
                han_poles[each] = han_poles.get(each, ()) + own
    converse = _converses(raw["converse"])
    scales = _scales({**poles, **han_poles})
    hints = dict[str, frozenset[str]]()
    for key, ends in (*poles.items(), *han_poles.items()):
        akin = frozenset(sign for pole in ends for sign in scales[pole.scale])
        hints |= {sign: hints.get(sign, akin) | akin for sign in _signs(key)}
    for key, parties in converse.items():
        hints |= {sign: hints.get(sign, parties) | parties for sign in _signs(key)}
    return Lexicon(
        english=english,
        han=_any_of(han),
        han_class=han,
        poles=poles,
        begins_pole=_any_of(han_poles),
        han_poles=han_poles,
        sets=frozenset(raw["exclusive"]["sets"].split()),
        falling=frozenset(raw["falls-short"]["scales"].split()),
        either=frozenset(raw["either"]["scales"].split()),
        scales=scales,
        hints=hints,
        prefixes=tuple(raw["prefixes"]["any"].split()),
        of_adjectives=tuple(raw["prefixes"]["adjectives"].split()),
        unprefixed=tuple(raw["prefixes"]["not"].split()),
        symmetric=frozenset(map(stem, raw["symmetric"]["en"].split())),
        converse=converse,
    )


def marks_of(text: str, said: Words) -> list[Mark]:
    """The marks of a text, in reading order; `said` are its words."""
    known = lexicon()
    written = [
        text[a:b].lower().replace("’", "'") for a, b in zip(said.starts, said.ends, strict=True)
    ]
    written = ["not" if each.endswith("n't") else each for each in written]
    found = []
    past = 0
    for at, first in enumerate(written):
        if at < past:
            continue
        for spelled, name in known.english.get(first, ()):
            if written[at : at + len(spelled)] == spelled and not _NOT_MEANT.match(
                text, said.starts[at]
            ):
                past = at + len(spelled)
                found.append(Mark(name, said.starts[at], said.ends[past - 1]))
                break
    if not text.isascii():
        # `不如` is one word.
        poles = known.own_poles(text, compared=True)
        whole = {at for place, _ in poles if len(place) > 1 for at in place}
        read = (Mark(known.han_class[m[0]], *m.span()) for m in known.han.finditer(text))
        found += [
            mark
            for mark in read
            if (mark.start not in whole or mark.name in _LIMITS) and mark.name != "word"
        ]
        found.sort(key=lambda mark: mark.start)
    return found


def _scales(poles: dict[str, tuple[Pole, ...]]) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for key, own in poles.items():
        for pole in own:
            found.setdefault(pole.scale, []).append(key.split()[0].rstrip("="))
    return {scale: tuple(dict.fromkeys(signs)) for scale, signs in found.items()}


def _signs(key: str) -> Iterable[str]:
    plain = key.rstrip("=")
    return (stem(plain.split()[0]),) if plain.isascii() else plain


def _converses(raw: dict[str, list[str]]) -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for row in (*raw["en"], *raw["zh"]):
        sides = [{stem(each) for each in side.split()} for side in row.split(" / ")]
        for mine, theirs in (sides, sides[::-1]):
            for each in mine:
                found[each] = found.get(each, frozenset()) | theirs
    return found


def _any_of(spellings: Iterable[str]) -> re.Pattern[str]:
    written = sorted({each.rstrip("=") for each in spellings}, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, written)))
