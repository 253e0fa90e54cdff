"""Entities: persons, offices and places of a Chinese text, and another of its kind elsewhere."""

import re
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final, NamedTuple

from judge.checks.clauses import Clause, share
from judge.text.fold import CJK_CHAR

_NEAR: Final = 0.4
"""The share of a claim's words, by weight, that a sentence has which speaks of the same thing."""
_GAP: Final = 2
"""So many characters of a name at one place does its short form leave out."""
_PERSON: Final = "person"
_PLACES: Final = ("cities", "provinces", "countries")
"""A place lies within one of another level, and is no rival of it."""


class Entity(NamedTuple):
    """A name without a mark of its own."""

    kind: str
    """What it is: a person, the level of a place, or the suffix of an office."""
    name: str


def other_entity(
    own: Sequence[Clause], sentences: Sequence[Sequence[Clause]]
) -> tuple[str, str] | None:
    """A Chinese name that stands nowhere in the evidence, and the one that stands in its place.

    A person's differs in a character, an office's has the same suffix, and a place is of the same
    level: another city, province or country.
    """
    text = own[0].text if own else ""
    if not CJK_CHAR.search(text):
        return None
    for entity in _entities(text):
        if any(entity.name in sentence[0].text for sentence in sentences if sentence):
            continue
        for sentence in sentences:
            if not sentence or share(own, sentence) < _NEAR:
                continue
            best = max(sentence, key=lambda clause: share(own, (clause,)))
            for read in (best.whole, best.text):
                others = {
                    each.name
                    for each in _entities(read)
                    if each.kind == entity.kind
                    and each.name not in text
                    and _rival(entity, each)
                    and not (_shortened(entity.name, read) or _shortened(each.name, text))
                }
                if len(others) == 1:
                    return entity.name, others.pop()
    return None


def _rival(one: Entity, two: Entity) -> bool:
    """Whether one may stand for the other: of a person one character is the same, in its place."""
    if one.kind != _PERSON:
        return True
    same = sum(a == b for a, b in zip(one.name, two.name, strict=False))
    return len(one.name) == len(two.name) and same == len(one.name) - 1


def _shortened(name: str, text: str) -> bool:
    """Whether a name is short for one of a text, as `监管局` is for `监督管理局`."""
    return re.search(f".{{0,{_GAP}}}".join(map(re.escape, name)), text) is not None


@lru_cache(maxsize=1 << 12)
def _entities(text: str) -> tuple[Entity, ...]:
    return tuple(_read(text))


def _read(text: str) -> Iterator[Entity]:
    patterns = _patterns()
    for match in patterns.person.finditer(text):
        yield Entity(_PERSON, match[1])
    for match in patterns.office.finditer(text):
        yield Entity(match[2], match[1] + match[2])
    for kind, places in patterns.places.items():
        for match in places.finditer(text):
            yield Entity(kind, match[0])


class _Patterns(NamedTuple):
    person: re.Pattern[str]
    office: re.Pattern[str]
    places: dict[str, re.Pattern[str]]
    """By level: cities, provinces, countries."""


@cache
def _patterns() -> _Patterns:
    raw = tomllib.loads(files("judge").joinpath("data", "entities.toml").read_text("utf-8"))
    surnames, given = "".join(raw["surnames"].split()), "".join(raw["given"].split())
    offices, *places = (
        "|".join(sorted(raw[name].split(), key=len, reverse=True)) for name in ("offices", *_PLACES)
    )
    attributes = "|".join(raw["attributes"].split())
    # One that begins within another is read too: where a name begins, no space tells.
    return _Patterns(
        re.compile(rf"(?=([{surnames}][{given}]{{2}}))"),
        re.compile(
            rf"(?=((?!{attributes})(?:(?![{raw['grammar']}])[\u4e00-\u9fff]){{2}})"
            rf"(?!(?<=[{raw['parts']}])[部组局厅])({offices})(?![分队位署织成合建装面限势]))"
        ),
        dict(zip(_PLACES, map(re.compile, places), strict=True)),
    )
