"""The table of wordings, as patterns: what the words of a sentence are held against."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Final, NamedTuple

_FRAGMENT: Final = re.compile(r"<(\w+)>")
_FIRST_FRAGMENT: Final = re.compile(r"\^(?:<\w+>(?![?*+{]))?")
# An escape, a set, a fragment, a repeat, or any other sign.
_SIGN: Final = re.compile(
    r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|<\w+>|(?:[?*+]|\{[\d,]+\})[+?]?|.", re.DOTALL
)
_REPEATS: Final = ("?", "*", "+", "{")


class _Table(NamedTuple):
    alternatives: Mapping[str, Sequence[str]]
    """By section and name."""
    fragments: Mapping[str, str]


@cache
def pattern(name: str) -> re.Pattern[str]:
    """All alternatives of a name as one pattern: `pleasantry.wordings`, `en.verb`."""
    given = _table().alternatives[name]
    # A sentence that these match has a kind, whatever they find in it.
    joined = _joined(given) if name.endswith((".wordings", ".lead_in", ".alone")) else given
    return _compiled("|".join(joined))


def frame(name: str, text: str) -> re.Match[str] | None:
    """What the first alternative of a name that matches finds; null where there is no such name.

    The long ones are compiled for few texts: only those whose beginning matches.
    """
    for beginning, alternative in _frames(name):
        if beginning and not _compiled(beginning).match(text):
            continue
        if found := _compiled(alternative).match(text):
            return found
    return None


@cache
def words(name: str) -> frozenset[str]:
    """The words of a name that stands for words."""
    return frozenset(_table().alternatives[name][0].split())


@cache
def _table() -> _Table:
    alternatives: dict[str, Sequence[str]] = {}
    fragments: dict[str, str] = {}
    for name in ("kinds", "abstentions"):
        source = files("judge").joinpath("data", f"{name}.toml").read_text(encoding="utf-8")
        read = tomllib.loads(source)
        fragments |= read.pop("fragments")
        for section, entries in read.items():
            for key, entry in entries.items():
                alternatives[f"{section}.{key}"] = [entry] if isinstance(entry, str) else entry
    return _Table(alternatives, fragments)


@cache
def _compiled(given: str) -> re.Pattern[str]:
    return re.compile(_filled(given), re.IGNORECASE)


def _filled(given: str) -> str:
    """A pattern with the fragments it names put in, and those that these name."""
    return _FRAGMENT.sub(lambda found: _filled(_table().fragments[found[1]]), given)


@cache
def _frames(name: str) -> tuple[tuple[str, str], ...]:
    """The alternatives of a name, each behind how it begins."""
    return tuple((_beginning(each), each) for each in _table().alternatives.get(name, ()))


def _beginning(alternative: str) -> str:
    """The fragment that an alternative begins with, or what stands before its first one.

    Empty where nothing does, and where it has no fragment: it is soon compiled.
    """
    first = _FIRST_FRAGMENT.match(alternative)
    cut = first.end() if first else 0
    at = depth = 0
    fragment = cut > 1
    for sign in _SIGN.findall(alternative):
        if sign == "|" and not depth:
            return ""
        if not (depth or fragment or sign.startswith(_REPEATS)):
            cut = at
        fragment = fragment or bool(_FRAGMENT.fullmatch(sign))
        depth += (sign == "(") - (sign == ")")
        at += len(sign)
    return alternative[:cut] if fragment and cut > 1 else ""


def _joined(patterns: Sequence[str]) -> list[str]:
    """The patterns, those that begin with the same fragment as one: it is then tried once."""
    rests: dict[str, list[str]] = {}
    for each in patterns:
        found = _FIRST_FRAGMENT.match(each)
        head = found[0] if found else "^"
        rests.setdefault(head, []).append(each.removeprefix(head))
    return [f"{head}(?:{'|'.join(rest)})" for head, rest in rests.items()]
