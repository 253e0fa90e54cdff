"""Names of a reference, changed to others of their kind: persons, cities, countries."""

import re
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from random import Random
from typing import Any, Final

from judge.checks.names import names
from judge.counterfactual.items import Item, Kind, Spot
from judge.text.fold import CJK_CHAR

_LISTS: Final = ("countries", "cities", "countries_zh", "cities_zh", "cities_abroad_zh")
_PERSON: Final = (2, 3)
"""Words, or Chinese characters, of a person's name."""
_VOWELS: Final = frozenset("AEIOU")

_REACH: Final = 40
"""Characters before a name in which the word beside it begins."""
_BEFORE: Final = re.compile(r"(?<![^\W_])([A-Z][^\W_]*)(?:[ -]|(?<=[A-Z])\. ?|[ ]?&[ ]?)\Z")
_BEHIND: Final = re.compile(r"(?:[ -]|[ ]?&[ ]?)([A-Z][^\W_]*)")

_Forms = tuple[str, ...]
"""What is changed together: a name, its first and its last word; a country and its adjective."""


class Name:
    """A name in one form or more."""

    kind: Kind = "name"

    def __init__(self, forms: _Forms, rivals: Sequence[_Forms]) -> None:
        self.forms, self._rivals = forms, rivals
        self._pattern = _pattern(forms)

    def spots(self, text: str) -> list[Spot] | None:
        """Where any of its forms stands; None where one is part of other words or names, too."""
        found = list(self._pattern.finditer(text))
        within = _straddled(self.forms[0], text) or any(self._anothers(each) for each in found)
        return None if within else [Spot(*match.span()) for match in found]

    def _anothers(self, match: re.Match[str]) -> bool:
        """Whether a lone word is beside another name: `Smith & Wesson`, `Paris Hilton`."""
        if " " in match[0] or CJK_CHAR.match(match[0]):
            return False
        text, (start, end) = match.string, match.span()
        beside = [_BEFORE.search(text, max(start - _REACH, 0), start), _BEHIND.match(text, end)]
        own = " ".join(self.forms).lower().split()
        return any(
            each is not None
            and each[1].lower() not in own
            and (names(each[1]) or len(each[1]) == 1)
            for each in beside
        )

    def others(self, texts: Sequence[str], near: Sequence[str], random: Random) -> Iterator["Name"]:
        """Names of the same kind that stand in none of the texts."""
        del near
        for forms in random.sample(self._rivals, len(self._rivals)):
            # `an Italian` is no `an German`.
            alike = all(
                (one[0] in _VOWELS) == (two[0] in _VOWELS)
                for one, two in zip(self.forms, forms, strict=True)
            )
            other = Name(forms, ())
            if alike and all(other.spots(text) == [] for text in texts):
                yield other

    def written(self, surface: str, spot: Spot, other: Item) -> str | None:
        """The other in the same form, and in capitals where this one is."""
        del spot
        if not isinstance(other, Name):
            return None
        for own, new in zip(self.forms, other.forms, strict=True):
            if surface in {own, own.upper()}:
                return new if surface == own else new.upper()
        return None


def named(answer: str, query: str) -> Iterator[tuple[int, Name]]:
    """The names of a reference whose kind is known, and where they stand."""
    lists = _lists()
    for run in names(answer):
        for rivals in (lists["countries"], lists["cities"]):
            yield from ((run.start, Name(own, rivals)) for own in rivals if own[0] == run.written)
        first, *rest = run.written.split()
        gender = next((each for each in ("women", "men") if (first,) in lists[each]), None)
        if gender and len(rest) + 1 in _PERSON and all(map(str.isalpha, rest)):
            yield run.start, _person(run.written, gender)
    bare = answer.strip(" 。.!！")
    table = _table()
    chinese = len(bare) in _PERSON and all(map(CJK_CHAR.match, bare))
    asked = re.search(table["asks_person_zh"], query)
    if chinese and asked and bare[0] in table["surnames_zh"]:
        rivals = tuple((each,) for each in table["persons_zh"] if len(each) == len(bare))
        yield answer.index(bare), Name((bare,), rivals)
    for room in _LISTS[2:]:
        for own in lists[room]:
            if own[0] in answer:
                yield answer.index(own[0]), Name(own, lists[room])


def mentions(text: str, name: str) -> bool:
    """Whether a text has a name, or its last word alone."""
    last = name.split()[-1:]
    return bool(last) and _pattern((name, *last)).search(text) is not None


def _person(written: str, gender: str) -> Name:
    lists = _lists()
    families = [family for (family,) in lists["families"]]
    # Each first name with one last name: which is met first is for chance to say.
    pairs = [
        (first, families[place % len(families)]) for place, (first,) in enumerate(lists[gender])
    ]
    first, *_, last = written.split()
    return Name(
        (written, first, last), [(f"{one} {two}", one, two) for one, two in pairs if one != first]
    )


def _pattern(forms: _Forms) -> re.Pattern[str]:
    return re.compile("|".join(map(_form, sorted(forms, key=len, reverse=True))))


def _straddled(form: str, text: str) -> bool:
    """Whether other words of a text hold the characters of a Chinese name: `最大连锁超市`."""
    return form in text and any(form in each and each in text for each in _table()["straddles_zh"])


def _form(form: str) -> str:
    own, tall = re.escape(form), re.escape(form.upper())
    if CJK_CHAR.match(form):
        return own
    return rf"(?<![A-Za-z0-9])(?:{own}|{tall})(?=s?(?![A-Za-z0-9]))"


@cache
def _table() -> dict[str, Any]:
    source = files("judge").joinpath("data", "counterfactual.toml").read_text("utf-8")
    return tomllib.loads(source)


@cache
def _lists() -> dict[str, tuple[_Forms, ...]]:
    """Every list of the table, of forms that go together."""
    table = _table()
    found = {
        room: tuple((each,) if isinstance(each, str) else tuple(each) for each in table[room])
        for room in _LISTS
    }
    for room in ("women", "men", "families"):
        found[room] = tuple((each,) for each in table[room].split())
    return found
