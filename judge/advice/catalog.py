"""Every measure of the project: what it tells, what it needs, and where it comes from."""

import inspect
import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import Any, Final, Literal

from judge.errors import ConfigError
from judge.messages import Messages

_CUT: Final = re.compile(r"@[1-9][0-9]*\Z")
_HOMES: Final = {"retrieval": "judge.retrieval.measures", "overlap": "judge.overlap.measures"}
"""Modules of pure functions, whose docstrings tell formula, range and source."""
_FACT: Final = re.compile(r"^(Formula|Range|Source): (.*(?:\n {4}.*)*)", re.MULTILINE)
_USUAL: Final = {"range": "0 to 1", "direction": "higher", "also": (), "formula": "", "source": ""}


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure."""

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


def needs() -> dict[str, frozenset[str]]:
    """By family: what a sample must hold for any measure of it."""
    return {
        family: frozenset.intersection(
            *(frozenset(row.get("needs", given["needs"])) for row in given["rows"].values())
        )
        for family, given in _table().items()
    }


def names(family: str) -> tuple[str, ...]:
    """The names of a family's measures, in the order to be shown.

    >>> names("citation")
    ('coverage', 'citation_validity', 'citation_recall')
    """
    return tuple(_table()[family]["rows"])


def family_of(name: str) -> str:
    """The family of the measure of that name; `recall@10` is `recall@k`.

    Raises:
        ConfigError: there is no such measure.

    >>> family_of("recall@10"), family_of("rougeL")
    ('retrieval', 'overlap')
    """
    wanted = _CUT.sub("@k", name)
    for family in _table():
        if wanted in names(family):
            return family
    known = ", ".join(each for family in _table() for each in names(family))
    raise ConfigError(f"there is no measure {name!r}; try one of {known}")


@cache
def measures() -> tuple[Measure, ...]:
    """All measures, family by family, in the order to be shown."""
    return tuple(
        _measure(name, family, given["needs"], row)
        for family, given in _table().items()
        for name, row in given["rows"].items()
    )


def _measure(name: str, family: str, usual: list[str], row: dict[str, Any]) -> Measure:
    says = Messages.of("measures")
    told: dict[str, str] = {}
    if function := row.get("of"):
        text = inspect.getdoc(getattr(import_module(_HOMES[family]), function)) or ""
        told = {fact.lower(): " ".join(value.split()) for fact, value in _FACT.findall(text)}
    facts = _USUAL | {"needs": usual} | told | row
    facts.pop("of", None)
    return Measure(
        name,
        family,
        meaning=says(f"{family}.{name}", "en"),
        meaning_zh=says(f"{family}.{name}", "zh"),
        **facts | {"needs": tuple(facts["needs"]), "also": tuple(facts["also"])},
    )


@cache
def _table() -> dict[str, dict[str, Any]]:
    raw = tomllib.loads(files("judge").joinpath("data", "measures.toml").read_text("utf-8"))
    return {family: {"needs": rows.pop("needs"), "rows": rows} for family, rows in raw.items()}
