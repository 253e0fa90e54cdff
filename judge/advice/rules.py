"""The rules by which `judge recommend` chooses measures."""

import operator
import tomllib
from collections.abc import Callable, Collection, Mapping
from functools import cache
from importlib.resources import files
from typing import Final, Literal

from judge.advice.records import Scenario
from judge.records import Record

Fact = float | str | None
"""A fact about the data or the wishes; None if it is unknown."""
Condition = str | tuple[str, ...]
"""A comparison with a number, such as `<= 5`, or the allowed words."""
MeasureReasons = tuple[tuple[str, str], ...]
"""Measures with the names of their reasons."""

_COMPARISONS: Final[dict[str, Callable[[float, float], bool]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


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

    primary: MeasureReasons | None = None
    secondary: MeasureReasons | None = None
    supplementary: MeasureReasons | None = None
    avoid: MeasureReasons = ()
    """More measures to avoid."""


class FamilyRule(Record):
    """A family of measures other than retrieval."""

    command: str
    """The command that computes its measures."""
    needs: frozenset[str]
    """What a sample must contain, by the names of `Profile.share`, and `labels` by people."""
    measures: tuple[str, ...]
    """The names of its measures."""


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
    text = files("judge").joinpath("data", "recommend.toml").read_text("utf-8")
    return AdviceTable.model_validate(tomllib.loads(text))


def holds(
    when: Mapping[str, Condition], facts: Mapping[str, Fact], least: Collection[str] = ()
) -> bool:
    """Return whether every condition holds; an unknown fact fulfils none.

    Args:
        when: the conditions by the names of facts.
        facts: the known facts.
        least: the names of numbers that are lower bounds, and fulfil only `>` and `>=`.

    >>> holds({"relevant": "<= 5", "counted": ("corpus",)}, {"relevant": 5.0, "counted": "corpus"})
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
