"""Every measure of the project: what it tells, what it needs, and where it comes from."""

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final, Literal

from judge.errors import ConfigError

_CUT: Final = re.compile(r"@[1-9][0-9]*\Z")


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure; the texts stand in `judge/data/measures.toml`."""

    name: str
    """As it is printed, `k` standing for a number: `recall@k`."""
    family: str
    """`retrieval`, `overlap`, `correctness`, `faithfulness`, `citation` or `agreement`."""
    needs: tuple[str, ...]
    """Fields of a sample, and `labels` for those by people. `relevance` serves for `gold_evidence`
    and the other way round, as grades of 1; the order of `chunks` serves for `retrieved`."""
    range: str
    """The values it can have: `0 to 1`."""
    direction: Literal["higher", "lower", "none"]
    """Which values are better."""
    formula: str
    """One line, in plain characters."""
    meaning: str
    """What it tells, in a sentence."""
    meaning_zh: str
    """The same in Chinese."""
    also: tuple[str, ...]
    """Other names of it."""
    source: str
    """Authors and year, or the tool; `this project` where it is our own."""


def measures(family: str | None = None) -> tuple[Measure, ...]:
    """The measures of one family, or all, in the order to be shown.

    Raises:
        ConfigError: there is no such family.

    >>> [measure.name for measure in measures("citation")]
    ['coverage', 'citation_validity', 'citation_recall']
    """
    table = _table()
    if family is None:
        return tuple(measure for held in table.values() for measure in held)
    if family not in table:
        raise ConfigError(f"there is no family of measures {family!r}; try {', '.join(table)}")
    return table[family]


def measure(name: str) -> Measure:
    """The measure of that name; `recall@10` is `recall@k`.

    Raises:
        ConfigError: there is none.

    >>> measure("recall@10").name, measure("rougeL").family
    ('recall@k', 'overlap')
    """
    wanted = _CUT.sub("@k", name)
    for each in measures():
        if each.name == wanted:
            return each
    known = ", ".join(each.name for each in measures())
    raise ConfigError(f"there is no measure {name!r}; try one of {known}")


@cache
def _table() -> dict[str, tuple[Measure, ...]]:
    raw = tomllib.loads(files("judge").joinpath("data", "measures.toml").read_text("utf-8"))
    return {
        family: tuple(
            Measure(
                name,
                family,
                **entry | {"needs": tuple(entry["needs"]), "also": tuple(entry["also"])},
            )
            for name, entry in entries.items()
        )
        for family, entries in raw.items()
    }
