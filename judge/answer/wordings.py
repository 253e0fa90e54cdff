"""The table of wordings, as patterns: what the words of a sentence are held against."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files

_FRAGMENT = re.compile(r"<(\w+)>")
_FIRST_FRAGMENT = re.compile(r"\^(?:<\w+>)?")


class Wordings(dict[str, re.Pattern[str]]):
    """The patterns by section and name, the alternatives of each as one, compiled when used."""

    def __init__(self, table: Mapping[str, Sequence[str]], fragments: Mapping[str, str]) -> None:
        super().__init__()
        self.table = table
        """The alternatives by section and name."""
        self._fragments = fragments

    def __missing__(self, name: str) -> re.Pattern[str]:
        alternatives = self.table[name]
        if name.endswith((".wordings", ".alone")):
            alternatives = _joined(alternatives)
        filled = _filled("|".join(alternatives), self._fragments)
        self[name] = pattern = re.compile(filled, re.IGNORECASE)
        return pattern


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
