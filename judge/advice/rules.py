"""The tables of rules that ship, and how their conditions are held against what is known."""

import operator
import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from typing import Annotated, Final, Literal

from pydantic import Field

from judge.advice.records import Level, ProductionLevel, Scenario, Use
from judge.records.record import Record

Fact = float | str | None
"""Of the data or of what was asked for; None where it is not known."""
Condition = str | tuple[str, ...]
"""A comparison with a number, `<= 5`, or the words that will do."""
Named = tuple[tuple[str, str], ...]
"""Measures, each with the name of a reason."""

_COMPARISONS: Final[dict[str, Callable[[float, float], bool]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def holds(when: Mapping[str, Condition], facts: Mapping[str, Fact]) -> bool:
    """Whether every condition holds; what is not known fulfils none.

    Raises:
        KeyError: there is no such fact, or no such comparison.

    >>> holds({"relevant": "<= 5", "task": ("qa",)}, {"relevant": 5.0, "task": "qa"})
    True
    >>> holds({"ratio": ">= 0"}, {"ratio": None})
    False
    """
    return all(_holds(condition, facts[name]) for name, condition in when.items())


def _holds(condition: Condition, fact: Fact) -> bool:
    if isinstance(condition, tuple):
        return fact in condition
    sign, number = condition.split()
    compare = _COMPARISONS[sign]
    return isinstance(fact, (int, float)) and compare(fact, float(number))


class _Conditional(Record):
    when: dict[str, Condition]
    """All must hold, of what is known."""


class Cutoffs(_Conditional):
    """Cut-offs."""

    at: dict[str, int]
    """By name: `small`, `k`, `wide`, `large`."""


class NoteRule(_Conditional):
    """Something to say."""

    say: str
    """Name of the text."""


class _Named(_Conditional):
    rule: str
    """Its name."""
    why: str | None = None
    """Name of what is to be said of it, where that is not the rule's."""

    @property
    def text(self) -> str:
        """Name of what is to be said of it."""
        return self.why or self.rule


class ScenarioRule(_Named):
    """When a scenario is one."""

    scenario: Scenario
    """What it leads to."""


class AdviceRule(_Named):
    """What to measure and what not; a role that it does not state stays as it stood."""

    primary: Named | None = None
    secondary: Named | None = None
    supplementary: Named | None = None
    avoid: Named = ()
    """Added to what is avoided."""


class FamilyRule(Record):
    """A family of measures other than retrieval."""

    command: str
    """What takes them."""
    also: str | None = None
    """What a sample must have beyond the needs in the catalogue."""


class AdviceTable(Record):
    """The rules of `judge recommend`, each list in the order in which they are tried.

    Of `cutoffs` and `scenario` the first that holds counts, of the others all that hold.
    """

    cutoffs: tuple[Cutoffs, ...]
    scenario: tuple[ScenarioRule, ...]
    advice: tuple[AdviceRule, ...]
    note: tuple[NoteRule, ...]
    family: dict[str, FamilyRule]
    """By name in the catalogue."""


class UseRule(Record):
    """What to watch for a use, in that order, and what to reach, by measure."""

    watch: tuple[str, ...]
    target: dict[str, float]


class ChangeLimits(Record):
    """How large a difference from an earlier report must be."""

    least: float
    """Under it nothing rose."""
    most: float
    """Over it nothing stands."""


class LevelRow(Record):
    """A measure against a limit."""

    measures: tuple[str, ...]
    """The first of them that was measured."""
    op: Literal["at_least", "under"]
    than: float


class ChangeRow(Record):
    """A measure against an earlier report."""

    measures: tuple[str, ...]
    """The first of them that was measured both times."""
    op: Literal["up", "stands"]


class DiagnosisRule(Record):
    """A diagnosis and when it is made."""

    name: str
    """Its own, and that of the text that says what is the matter."""
    when: tuple[Annotated[LevelRow | ChangeRow, Field(discriminator="op")], ...]
    """All must hold."""
    advice: tuple[str, ...]
    """Names of texts that say what to look at, likeliest first."""


class DiagnosisTable(Record):
    """The rules of thumb by which rank measures are read."""

    band: dict[str, dict[Level, float]]
    """From which mean on a band begins, ascending, by measure at any k; under the first it is
    poor."""
    production: dict[str, dict[ProductionLevel, float]]
    """What production needs, ascending, by measure at that very k."""
    use: dict[Use, UseRule]
    change: ChangeLimits
    """Of `up` and `stands`."""
    rule: tuple[DiagnosisRule, ...]


@cache
def advice_table() -> AdviceTable:
    """The rules of `judge recommend` that ship, read once."""
    return AdviceTable.model_validate(_read("recommend"))


@cache
def diagnosis_table() -> DiagnosisTable:
    """The rules of thumb that ship, read once."""
    return DiagnosisTable.model_validate(_read("diagnosis"))


def _read(name: str) -> dict[str, object]:
    return tomllib.loads(files("judge").joinpath("data", f"{name}.toml").read_text("utf-8"))
