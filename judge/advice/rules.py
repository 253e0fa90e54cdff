"""The catalogue of measures, and the rules by which they are chosen."""

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
"""A fact about the data or the wishes; None if it is unknown."""
Condition = str | tuple[str, ...]
"""A comparison with a number, such as `<= 5`, or the allowed words."""
Named = tuple[tuple[str, str], ...]
"""Measures with the names of their reasons."""

_HOMES: Final = {"retrieval": "judge.retrieval.measures", "overlap": "judge.overlap.measures"}
"""The modules of measures, whose docstrings contain formula, range and source."""
_FACT: Final = re.compile(r"^(Formula|Range|Source): (.*(?:\n {4}.*)*)", re.MULTILINE)
_COMPARISONS: Final[dict[str, Callable[[float, float], bool]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class Measure(Record):
    """A measure of this project."""

    name: str
    """The printed name, with `k` for the cut-off: `recall@k`."""
    family: str
    """A table of `judge/data/measures.toml`, such as `retrieval` or `correctness`."""
    needs: tuple[str, ...]
    """The fields of a sample that it needs, and `labels` for labels by people. `relevance` and
    `gold_evidence` replace each other, and so does the order of `chunks` for `retrieved`."""
    range: str = "0 to 1"
    direction: Literal["higher", "lower", "none"] = "higher"
    """Whether higher or lower values are better."""
    formula: str = ""
    meaning: str
    also: tuple[str, ...] = ()
    """Other names of the measure."""
    source: str = ""
    """Authors and year, or a tool, or `this project`."""


@cache
def measures() -> tuple[Measure, ...]:
    """Return all measures, family by family, in their printed order."""
    found = []
    for family, rows in _read("measures").items():
        needs = rows.pop("needs")
        for name, row in rows.items():
            documented = _documented(family, row.pop("of")) if "of" in row else {}
            facts = {"name": name, "family": family, "needs": needs, **documented, **row}
            found.append(Measure.model_validate(facts))
    return tuple(found)


def _documented(family: str, function: str) -> dict[str, str]:
    """Return the facts in the docstring of a measure's function."""
    text = inspect.getdoc(getattr(import_module(_HOMES[family]), function)) or ""
    return {fact.lower(): " ".join(value.split()) for fact, value in _FACT.findall(text)}


class Cutoffs(Record):
    """Cut-offs by name (`small`, `k`, `wide`, `large`), and the conditions for them."""

    when: dict[str, Condition]
    at: dict[str, int]


class Rule(Record):
    """A text for which all conditions hold."""

    when: dict[str, Condition]
    rule: str
    """The name of the rule."""
    why: str | None = None
    """The name of the text, if it differs from the rule's."""

    @property
    def text(self) -> str:
        """The name of the text."""
        return self.why or self.rule


class ScenarioRule(Rule):
    """The conditions of a scenario."""

    scenario: Scenario


class AdviceRule(Rule):
    """Measures to use and to avoid; a role that the rule does not name is unchanged."""

    primary: Named | None = None
    secondary: Named | None = None
    supplementary: Named | None = None
    avoid: Named = ()
    """More measures to avoid."""


class FamilyRule(Record):
    """A family of measures other than retrieval."""

    command: str
    """The command that computes its measures."""
    also: frozenset[str] = frozenset()
    """The fields of a sample that the family needs besides those of its measures."""


class AdviceTable(Record):
    """The rules of `judge recommend`, in the order in which they are tried.

    The first `cutoffs` and the first `scenario` that hold are used, and all other rules that hold.
    """

    cutoffs: tuple[Cutoffs, ...]
    scenario: tuple[ScenarioRule, ...]
    advice: tuple[AdviceRule, ...]
    note: tuple[Rule, ...]
    family: dict[str, FamilyRule]
    text: dict[Literal["rule", "reason", "note", "fits", "lacks"], dict[str, str]]
    """The texts by name, with figures as `{name}`."""


@cache
def advice_table() -> AdviceTable:
    """Return the rules of `judge recommend`."""
    return AdviceTable.model_validate(_read("recommend"))


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads(files("judge").joinpath("data", f"{name}.toml").read_text("utf-8"))


def holds(
    when: Mapping[str, Condition], facts: Mapping[str, Fact], least: Collection[str] = ()
) -> bool:
    """Return whether every condition holds; an unknown fact fulfils none.

    Args:
        when: the conditions by the names of facts.
        facts: the known facts.
        least: the names of numbers that are lower bounds, and fulfil only `>` and `>=`.

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
