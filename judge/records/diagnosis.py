"""Rank measures read for a person: how good they are, and what to look at where they are not."""

from typing import Literal

from judge.records.corpus import Interval
from judge.records.record import Record

Level = Literal["poor", "fair", "good", "excellent"]
ProductionLevel = Literal["below", "minimum", "good", "excellent"]
Use = Literal["faq", "documents", "scholarly", "knowledge_base", "monitoring"]


class Wording(Record):
    """The same in both languages."""

    en: str
    """In English."""
    zh: str
    """In Chinese."""

    def text(self, lang: Literal["en", "zh"]) -> str:
        """In that language."""
        return self.zh if lang == "zh" else self.en


class Figure(Record):
    """A mean that was measured."""

    measure: str
    """Its name: `recall@5`."""
    value: float
    """0 to 1."""
    interval: Interval | None = None
    """Its 95 % interval; null where the report has none."""
    ceiling: float | None = None
    """No ranking could bring a recall@k or precision@k above this, given how many chunks are
    relevant to each query; null where it could reach 1, and of other measures."""


class Band(Record):
    """How good a mean is."""

    figure: Figure
    """The mean."""
    level: Level
    """Its band."""
    span: tuple[Level, Level] | None
    """Bands of the ends of its interval; null without an interval."""


class ProductionBand(Record):
    """Whether a mean is enough for production."""

    figure: Figure
    """The mean."""
    level: ProductionLevel
    """`below`: under the minimum."""
    span: tuple[ProductionLevel, ProductionLevel] | None
    """Levels of the ends of its interval; null without an interval."""


class Bands(Record):
    """What the means of a report are worth, by rules of thumb."""

    source: Wording
    """Where the limits come from."""
    bands: tuple[Band, ...]
    """In the report's order."""
    production: tuple[ProductionBand, ...]
    """In the table's order."""
    not_measured: tuple[str, ...]
    """Measures with limits for which the report has no number; they are in no band."""
    cautions: tuple[Wording, ...]
    """Why a low number may not speak against the ranking."""


class Target(Record):
    """A measure to watch for a use."""

    measure: str
    """Its name."""
    target: float | None
    """What to reach; null where the table names no number."""
    figure: Figure | None
    """What was measured; null where nothing was."""
    met: bool | None
    """Whether the mean reaches the target; null without either."""
    sure: bool | None
    """Whether the whole interval is on the same side; null without an interval."""


class Targets(Record):
    """The measures to watch for one use, and what they should reach."""

    source: Wording
    """Where the targets come from."""
    use: Use
    """Which use."""
    name: Wording
    """The use in words."""
    targets: tuple[Target, ...]
    """First those to watch."""
    cautions: tuple[Wording, ...]
    """Which targets no ranking could reach here."""


class Ground(Record):
    """A number that a diagnosis rests on, and what it was held against."""

    figure: Figure
    """The number."""
    op: Literal["at_least", "under", "up", "stands"]
    """What was found of it: against a limit, or against an earlier report."""
    than: float | None = None
    """The limit of `at_least` and `under`."""
    before: Figure | None = None
    """The earlier number of `up` and `stands`."""
    change: tuple[float, float] | None = None
    """95 % interval of the difference, now less before; null where one of them has no interval."""
    sure: bool | None
    """Whether the interval bears it out from end to end; null without one."""


class Diagnosis(Record):
    """What the numbers point to."""

    name: str
    """Of the rule."""
    finding: Wording
    """What is the matter, or what works."""
    advice: tuple[Wording, ...]
    """What to look at, likeliest first."""
    grounds: tuple[Ground, ...]
    """All the numbers it rests on."""
    sure: bool | None
    """Whether every ground is sure; null where none is unsure and one has no interval."""


class Unjudged(Record):
    """A diagnosis that could neither be made nor ruled out, for a number is missing or capped."""

    name: str
    """Of the rule."""
    finding: Wording
    """What it would have said."""
    missing: tuple[tuple[str, ...], ...]
    """One measure of each group is needed."""
    capped: tuple[Figure, ...] = ()
    """Measured, and of no use: under the rule's limit, which no ranking could reach."""


class Diagnoses(Record):
    """What the numbers of a report point to, by rules of thumb."""

    source: Wording
    """Where the rules come from."""
    found: tuple[Diagnosis, ...]
    """In the table's order. None is no proof that all is well."""
    unjudged: tuple[Unjudged, ...]
    """Rules for which a number is missing, or under its limit whatever the ranking."""
    cautions: tuple[Wording, ...]
    """Why the comparison with the earlier report was not made, or how far it can be trusted."""
