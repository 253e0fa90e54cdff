"""The table of wordings, as patterns: what the words of a sentence are held against."""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from importlib.resources import files
from itertools import pairwise
from typing import Final, NamedTuple

_FRAGMENT: Final = re.compile(r"<(\w+)>")
_FIRST_FRAGMENT: Final = re.compile(r"\^(?:<\w+>)?")
_PLAIN: Final = r"[^\\\[\](){}<>|?*+.^$]+"
# An escape, a set, a fragment, a repeat, plain text that is not repeated, or any other sign.
_PART: Final = re.compile(
    rf"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|<\w+>|(?:[?*+]|\{{[\d,]+\}})[+?]?|{_PLAIN}(?![?*+{{])|.",
    re.DOTALL,
)
_WORDS: Final = re.compile(_PLAIN)
_LOOKS_AROUND: Final = ("(?=", "(?!", "(?<=", "(?<!")
_OFTEN: Final = 250
"""Texts after which alternatives are worth being compiled as one."""
_LEAST_SAVED: Final = 0.8
"""Of an alternative a part has less; else it would be compiled twice."""
# The same letters in another case, beside those that `lower` knows.
_CASES: Final = str.maketrans({"ſ": "s", "ı": "i", "\u0307": None})


class _Alternative(NamedTuple):
    """One of several patterns, and what every text that it matches holds."""

    pattern: str
    start: str
    """Plain words that it begins with …"""
    words: list[str]
    """… and that stand anywhere, in lower case."""
    parts: list[str]
    """Patterns, each of which is found; the short ones first."""


class Wording:
    """Alternatives as one pattern, compiled when used: for few texts, only those that may match.

    Most of them share long fragments, and most texts hold no part of them.
    """

    def __init__(
        self, alternatives: Sequence[str], fragments: Mapping[str, str], *, joined: bool
    ) -> None:
        self._given = alternatives
        self._fragments = fragments
        self._joined = joined
        self._asked = 0

    @cached_property
    def whole(self) -> re.Pattern[str]:
        """All of them; joined, what they find may be another's find, and they match the same."""
        given = _joined(self._given) if self._joined else self._given
        return _compiled(_filled("|".join(given), self._fragments))

    @cached_property
    def search(self) -> Callable[[str], re.Match[str] | None]:
        """As the whole does."""
        return self.whole.search

    def match(self, text: str) -> re.Match[str] | None:
        """What the first alternative that matches finds."""
        self._asked += 1
        if self._asked > _OFTEN:
            vars(self)["match"] = self.whole.match  # from now on
            return self.whole.match(text)
        lower = text.lower().translate(_CASES)
        for pattern, start, words, parts in self._alternatives:
            if (
                lower.startswith(start)
                and all(map(lower.__contains__, words))
                and all(_compiled(part).search(text) for part in parts)
                and (found := _compiled(pattern).match(text))
            ):
                return found
        return None

    @cached_property
    def _alternatives(self) -> list[_Alternative]:
        return [
            _alternative(
                _filled(pattern, self._fragments), [_filled(part, self._fragments) for part in held]
            )
            for pattern, held in _taken_apart("|".join(self._given))
        ]


class Wordings(dict[str, Wording]):
    """The wordings by section and name."""

    def __init__(self, table: Mapping[str, Sequence[str]], fragments: Mapping[str, str]) -> None:
        super().__init__()
        self.table = table
        """The alternatives by section and name."""
        self._fragments = fragments

    def __missing__(self, name: str) -> Wording:
        joined = name.endswith((".wordings", ".alone"))
        self[name] = wording = Wording(self.table[name], self._fragments, joined=joined)
        return wording


@cache
def wordings() -> Wordings:
    """The table, read once."""
    table: dict[str, Sequence[str]] = {}
    fragments: dict[str, str] = {}
    for name in ("kinds", "abstentions"):
        source = files("judge").joinpath("data", f"{name}.toml").read_text(encoding="utf-8")
        read = tomllib.loads(source)
        fragments |= read.pop("fragments")
        for section, entries in read.items():
            for key, entry in entries.items():
                table[f"{section}.{key}"] = [entry] if isinstance(entry, str) else entry
    return Wordings(table, fragments)


@cache
def _compiled(filled: str) -> re.Pattern[str]:
    return re.compile(filled, re.IGNORECASE)


def _taken_apart(pattern: str) -> Iterator[tuple[str, list[str]]]:
    """The alternatives of a pattern, each with its parts in order; empty ones for what may lack."""
    alternative, depth = "", 0
    held: list[str] = []
    for part in _PART.findall(f"{pattern}|"):
        if part == "|" and not depth:
            yield alternative, held
            alternative, held = "", []
            continue
        alternative += part
        if depth:
            held[-1] += part
        elif part.startswith(("?", "*", "{0", "{,")):
            held[-1] = ""
        else:
            held.append(part)
        depth += (part == "(") - (part == ")")


def _alternative(pattern: str, held: Sequence[str]) -> _Alternative:
    start, words, parts = "", [], []
    for before, part in pairwise(["", *held]):
        if _WORDS.fullmatch(part):
            if before == "^":
                start = part.lower()
            elif not part.isspace():
                words.append(part.lower())
        elif part.startswith("(") and not part.startswith(_LOOKS_AROUND):
            parts.append(f"^{part}" if before == "^" else part)
    smaller = (part for part in parts if len(part) < _LEAST_SAVED * len(pattern))
    return _Alternative(pattern, start, words, sorted(smaller, key=len))


def _joined(patterns: Sequence[str]) -> list[str]:
    """The patterns, those that begin with the same fragment as one: it is then tried once."""
    rests: dict[str, list[str]] = {}
    for pattern in patterns:
        found = _FIRST_FRAGMENT.match(pattern)
        head = found[0] if found else "^"
        rests.setdefault(head, []).append(pattern.removeprefix(head))
    return [f"{head}(?:{'|'.join(rest)})" for head, rest in rests.items()]


def _filled(pattern: str, fragments: Mapping[str, str]) -> str:
    """A pattern with the fragments it names put in, and those that these name."""
    return _FRAGMENT.sub(lambda found: _filled(fragments[found[1]], fragments), pattern)
