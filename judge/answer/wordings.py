"""The table of wordings, as patterns: what the words of a sentence are held against."""

import re
import tomllib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

_FRAGMENT = re.compile(r"<(\w+)>")
_FIRST_FRAGMENT = re.compile(r"\^(?:<\w+>)?")


@cache
def wordings() -> dict[str, re.Pattern[str]]:
    """The patterns by section and name, the alternatives of each as one pattern."""
    table: dict[str, dict[str, str | list[str]]] = {}
    fragments: dict[str, str] = {}
    for name in ("kinds", "abstentions"):
        source = files("judge").joinpath("data", f"{name}.toml").read_text(encoding="utf-8")
        read = tomllib.loads(source)
        fragments |= read.pop("fragments")
        table |= read
    found = {}
    for section, entries in table.items():
        for name, entry in entries.items():
            alternatives = [entry] if isinstance(entry, str) else entry
            if name in {"wordings", "alone"}:
                alternatives = _joined(alternatives)
            filled = _filled("|".join(alternatives), fragments)
            found[f"{section}.{name}"] = re.compile(filled, re.IGNORECASE)
    return found


def _joined(patterns: Sequence[str]) -> list[str]:
    """The patterns, those that begin with the same fragment as one: it is then tried once."""
    rests: dict[str, list[str]] = {}
    for pattern in patterns:
        found = _FIRST_FRAGMENT.match(pattern)
        head = found[0] if found else "^"
        rests.setdefault(head, []).append(pattern.removeprefix(head))
    return [f"{head}(?:{'|'.join(rest)})" for head, rest in rests.items()]


def _filled(pattern: str, fragments: dict[str, str]) -> str:
    """A pattern with the fragments it names put in, and those that these name."""
    return _FRAGMENT.sub(lambda found: _filled(fragments[found[1]], fragments), pattern)
