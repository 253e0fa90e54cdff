"""The table of rules, `judge/data/recommend.toml`, read."""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Literal

from judge.advice.recommend.conditions import Condition
from judge.advice.records import Role
from judge.records.record import Record

Lang = Literal["en", "zh"]
Scenario = Literal["sparse", "dense", "balanced", "imbalanced"]
Named = tuple[tuple[str, str], ...]
"""Measures, each with the name of a reason."""


class Words(Record):
    """A text in both languages; figures stand in it as `{name}`."""

    en: str
    """English."""
    zh: str
    """Chinese."""

    def of(self, lang: Lang, **values: object) -> str:
        """In one language, filled in."""
        return (self.en if lang == "en" else self.zh).format(**values)


class Cutoffs(Record):
    """Cut-offs by name, where the conditions hold."""

    when: dict[str, Condition]
    """On what is known."""
    at: dict[str, int]
    """`small`, `k`, `wide`, `large`."""


class Note(Words):
    """What to say where the conditions hold."""

    when: dict[str, Condition]
    """On what is known."""


class ScenarioRule(Note):
    """A scenario, and why it is one."""

    rule: str
    """Its name."""
    scenario: Scenario
    """What it leads to."""


class AdviceRule(Note):
    """What to measure and what not, and why so."""

    rule: str
    """Its name."""
    primary: Named | None = None
    """Takes the place of what stood there; null leaves it."""
    secondary: Named | None = None
    """Likewise."""
    supplementary: Named | None = None
    """Likewise."""
    avoid: Named = ()
    """Added to what is avoided."""

    def role(self, role: Role) -> Named | None:
        """What it states for a role."""
        found: Named | None = getattr(self, role)
        return found


class FamilyRule(Record):
    """What to say of a family of measures."""

    command: str
    """What takes them."""
    also: str | None = None
    """What a sample must have beyond the needs in the catalog."""
    fits: Words
    """Where some sample has it all."""
    lacks: Words
    """Where none has."""


class Table(Record):
    """All rules, each list in the order in which they are tried."""

    cutoffs: tuple[Cutoffs, ...]
    """The first that holds."""
    scenario: tuple[ScenarioRule, ...]
    """The first that holds."""
    advice: tuple[AdviceRule, ...]
    """All that hold, one upon the other."""
    reason: dict[str, Words]
    """Why a measure is advised or avoided."""
    note: tuple[Note, ...]
    """All that hold."""
    family: dict[str, FamilyRule]
    """By name in the catalog."""
    words: dict[str, Words]
    """Headings and small words."""


@cache
def table() -> Table:
    """The rules that ship."""
    source = files("judge").joinpath("data", "recommend.toml").read_text("utf-8")
    return Table.model_validate(tomllib.loads(source))
