"""The catalogue of measures that ships, and the rules by which they are chosen and read."""

import inspect
import operator
import re
import tomllib
from collections.abc import Callable, Collection, Mapping
from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import Any, Final, Literal

from judge.advice.records import Scenario
from judge.records import Record

Fact = float | str | None
"""A fact about the data or the wishes; None where it is unknown."""
Condition = str | tuple[str, ...]
"""A comparison with a number, `<= 5`, or the words that will do."""
Named = tuple[tuple[str, str], ...]
"""Measures, each with the name of a reason."""

_HOMES: Final = {"retrieval": "judge.retrieval.measures", "overlap": "judge.overlap.measures"}
"""Modules of pure functions, whose docstrings tell formula, range and source."""
_FACT: Final = re.compile(r"^(Formula|Range|Source): (.*(?:\n {4}.*)*)", re.MULTILINE)
_COMPARISONS: Final[dict[str, Callable[[float, float], bool]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class Measure(Record):
    """A measure of this project: what it tells, what it needs, and where it comes from."""

    name: str
    """As it is printed, `k` standing for a number: `recall@k`."""
    family: str
    """One of the tables of `judge/data/measures.toml`, such as `retrieval` or `correctness`."""
    needs: tuple[str, ...]
    """Fields of a sample, and `labels` for those by people. `relevance` serves for `gold_evidence`
    and the other way round, as grades of 1; the order of `chunks` serves for `retrieved`."""
    range: str = "0 to 1"
    direction: Literal["higher", "lower", "none"] = "higher"
    """Which values are better."""
    formula: str = ""
    meaning: str
    also: tuple[str, ...] = ()
    """Other names of it."""
    source: str = ""
    """Authors and year, or the tool; `this project` where it is our own."""


@cache
def measures() -> tuple[Measure, ...]:
    """All measures, family by family, in the order to be shown."""
    found = []
    for family, rows in _read("measures").items():
        needs = rows.pop("needs")
        for name, row in rows.items():
            told = _told(family, row.pop("of")) if "of" in row else {}
            facts = {"name": name, "family": family, "needs": needs, **told, **row}
            found.append(Measure.model_validate(facts))
    return tuple(found)


def _told(family: str, function: str) -> dict[str, str]:
    """Return the facts in the docstring of a measure's function."""
    text = inspect.getdoc(getattr(import_module(_HOMES[family]), function)) or ""
    return {fact.lower(): " ".join(value.split()) for fact, value in _FACT.findall(text)}


class Cutoffs(Record):
    """Cut-offs by name (`small`, `k`, `wide`, `large`), and when they are taken."""

    when: dict[str, Condition]
    at: dict[str, int]


class Rule(Record):
    """Something to say where all its conditions hold."""

    when: dict[str, Condition]
    rule: str
    """The name of the rule."""
    why: str | None = None
    """Name of what is to be said of it, where that is not the rule's."""

    @property
    def text(self) -> str:
        """Name of what is to be said of it."""
        return self.why or self.rule


class ScenarioRule(Rule):
    """When a scenario is one."""

    scenario: Scenario


class AdviceRule(Rule):
    """Measures to take and to avoid; a role that the rule leaves out is unchanged."""

    primary: Named | None = None
    secondary: Named | None = None
    supplementary: Named | None = None
    avoid: Named = ()
    """Added to what is avoided."""


class FamilyRule(Record):
    """A family of measures other than retrieval."""

    command: str
    """What takes them."""
    also: frozenset[str] = frozenset()
    """Parts of a sample that the family needs beyond those of its measures."""


class AdviceTable(Record):
    """The rules of `judge recommend`, each list in the order in which they are tried.

    Of `cutoffs` and `scenario` the first that holds counts, of the others all that hold.
    """

    cutoffs: tuple[Cutoffs, ...]
    scenario: tuple[ScenarioRule, ...]
    advice: tuple[AdviceRule, ...]
    note: tuple[Rule, ...]
    family: dict[str, FamilyRule]
    text: dict[Literal["rule", "reason", "note", "fits", "lacks"], dict[str, str]]
    """Texts by name, with figures as `{name}`."""


@cache
def advice_table() -> AdviceTable:
    """The rules of `judge recommend` that ship, read once."""
    return AdviceTable.model_validate(_read("recommend"))


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads(files("judge").joinpath("data", f"{name}.toml").read_text("utf-8"))


def holds(
    when: Mapping[str, Condition], facts: Mapping[str, Fact], least: Collection[str] = ()
) -> bool:
    """Whether every condition holds; what is not known fulfils none.

    Args:
        when: the conditions, by the names of facts.
        facts: what is known.
        least: names of numbers that are lower bounds: they fulfil `>` and `>=` alone.

    Raises:
        KeyError: there is no such fact, or no such comparison.

    >>> holds({"relevant": "<= 5", "task": ("qa",)}, {"relevant": 5.0, "task": "qa"})
    True
    >>> holds({"ratio": ">= 0"}, {"ratio": None})
    False
    """
    bounds = {name for name, condition in when.items() if condition[0] == "<"}
    return bounds.isdisjoint(least) and all(
        _holds(condition, facts[name]) for name, condition in when.items()
    )


def _holds(condition: Condition, fact: Fact) -> bool:
    if isinstance(condition, tuple):
        return fact in condition
    sign, number = condition.split()
    compare = _COMPARISONS[sign]
    return isinstance(fact, (int, float)) and compare(fact, float(number))
