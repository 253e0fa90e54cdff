"""The rules of thumb, as `judge/data/diagnosis.toml` has them."""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Annotated, Literal

from pydantic import Field

from judge.advice.records import Level, ProductionLevel, Use, Wording
from judge.records.record import Record


class UseTable(Record):
    """What to watch for a use."""

    name: Wording
    """The use in words."""
    watch: tuple[str, ...]
    """Measures, in that order."""
    target: dict[str, float]
    """What to reach, by measure."""


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
    """On which side."""
    than: float
    """Of what."""


class ChangeRow(Record):
    """A measure against an earlier report."""

    measures: tuple[str, ...]
    """The first of them that was measured both times."""
    op: Literal["up", "stands"]
    """What became of it."""


Row = Annotated[LevelRow | ChangeRow, Field(discriminator="op")]


class Rule(Record):
    """A diagnosis and when it is made."""

    name: str
    """Its own."""
    when: tuple[Row, ...]
    """All must hold."""
    finding: Wording
    """What is the matter."""
    advice: tuple[Wording, ...]
    """What to look at."""


class Table(Record):
    """All of the file."""

    source: Wording
    """What kind of rules these are."""
    band: dict[str, dict[Level, float]]
    """From which mean on a band begins, ascending, by measure at any k; under the first it is
    poor."""
    production: dict[str, dict[ProductionLevel, float]]
    """What production needs, ascending, by measure at that very k."""
    use: dict[Use, UseTable]
    """By use."""
    change: ChangeLimits
    """Of `up` and `stands`."""
    rule: tuple[Rule, ...]
    """Diagnoses."""
    say: dict[str, Wording]
    """The words around them."""


@cache
def table() -> Table:
    """The file, read once."""
    raw = files("judge").joinpath("data", "diagnosis.toml").read_text("utf-8")
    return Table.model_validate(tomllib.loads(raw))


def said(key: str, **values: object) -> Wording:
    """The words under a key, filled in; KeyError where there are none.

    >>> said("one_of", measures="hit@3, hit@5").en
    'needs one of hit@3, hit@5'
    """
    words = table().say[key]
    return Wording(en=words.en.format(**values), zh=words.zh.format(**values))
