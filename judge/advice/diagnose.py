"""Rank measures read for a person, by the rules of thumb in `judge/data/diagnosis.toml`."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Final, Literal

from judge.messages import filled
from judge.records import Interval, Record
from judge.retrieval.records import MeasureDifference, RankingReport

Level = Literal["poor", "below", "fair", "minimum", "good", "excellent"]
"""Production has the levels `below` and `minimum` where the bands have `poor` and `fair`."""
Use = Literal["faq", "documents", "scholarly", "knowledge_base", "monitoring"]

_ROUNDING: Final = 1e-9
"""The mean of .6, .7 and .8 is computed as .6999…98."""
_SIGNIFICANT: Final = 0.05


class _UseRule(Record):
    name: str
    watch: tuple[str, ...] = ()
    """The measures without a target, the most important first."""
    target: dict[str, float]
    """The targets by measure, the most important first."""


class _Condition(Record):
    measures: tuple[str, ...]
    op: Literal["at_least", "under"]
    than: float


class _FindingRule(Record):
    name: str
    finding: str
    when: tuple[_Condition, ...]
    advice: tuple[str, ...]


class _Choice(Record):
    """What to say if two pieces of advice contradict each other."""

    between: frozenset[str]
    recall: float
    """The recall that is enough."""
    text: str


class _ChangeRule(Record):
    """A finding from the differences between two rankings of the same queries."""

    name: str
    finding: str
    rose: tuple[str, ...]
    least: float
    """The least difference of a mean that rose."""
    unchanged: tuple[str, ...]
    most: float
    """The greatest difference of a mean that is unchanged."""
    advice: tuple[str, ...]


class DiagnosisTable(Record):
    """The rules of thumb by which rank measures are read."""

    band: dict[str, dict[Level, float]]
    """The lowest mean of each band, for a measure at any k. A mean below all bands is poor."""
    production: dict[str, dict[Level, float]]
    """The lowest mean of each level for production, for a measure with its k."""
    use: dict[Use, _UseRule]
    """The name of a use, its measures to watch and its targets."""
    advice: dict[str, str]
    """What to do, by name."""
    choice: _Choice
    rule: tuple[_FindingRule, ...]
    """Each finding, its conditions, and the names of its advice, likeliest first."""
    change: _ChangeRule


@cache
def diagnosis_table() -> DiagnosisTable:
    """Return the rules of thumb of the package."""
    text = files("judge").joinpath("data", "diagnosis.toml").read_text("utf-8")
    return DiagnosisTable.model_validate(tomllib.loads(text))


class Figure(Record):
    """A mean that was measured, 0 to 1."""

    measure: str
    """The name of the measure, such as `recall@5`."""
    value: float
    """The mean."""
    interval: Interval | None = None
    """The 95 % interval of the mean; null if the report has none."""
    ceiling: float = 1.0
    """The highest mean that any ranking could have; the mean is read as a share of it."""

    def reaches(self, limit: float) -> bool:
        """Return whether the mean, as a share of its ceiling, is not under a limit."""
        return self.value / self.ceiling >= limit - _ROUNDING

    def __str__(self) -> str:
        most = f" of at most {self.ceiling:.3f}" if self.ceiling < 1 else ""
        limits = self.interval and f" ({self.interval.low:.3f}–{self.interval.high:.3f})"
        return f"{self.value:.3f}{most}{limits or ''}"


class ProductionLevel(Record):
    """A mean, and its level for production."""

    figure: Figure
    """The mean."""
    level: Level
    """The level that the mean reaches."""


class Target(Record):
    """A measure to watch for a use, its target, and whether it is met."""

    measure: str
    """The name of the measure."""
    target: float | None
    """The least mean that meets it; null if the use has no target for the measure."""
    figure: Figure | None
    """The mean; null if nothing was measured."""
    met: bool | None
    """Whether the mean meets the target; null without a mean or a target."""


class Finding(Record):
    """A finding from the numbers."""

    name: str
    """The name of the rule."""
    finding: str
    """The problem."""
    advice: tuple[str, ...]
    """What to do, likeliest first."""
    grounds: tuple[str, ...]
    """The numbers it rests on, each beside its limit or its earlier value."""


class Reading(Record):
    """The bands of a report's means, and the findings from them."""

    bands: dict[str, Level]
    """The bands of the measured means by measure, in the report's order."""
    production: tuple[ProductionLevel, ...]
    """The levels for production of the means that have such levels."""
    use: str
    """The name of the use."""
    targets: tuple[Target, ...]
    """The measures to watch for the use, and their targets."""
    findings: tuple[Finding, ...]
    """The rules that hold. An empty list does not prove that all is well."""
    choice: str = ""
    """How to choose between pieces of advice that contradict each other; empty if none do."""
    ceilings: dict[str, float]
    """The highest means that any ranking could have, by measure, where they are under 1."""


def read(report: RankingReport, use: Use) -> Reading:
    """Read a report by rules of thumb: bands, production levels, targets of a use, and findings.

    A band begins at its limit, so a recall of .6 is fair. A mean is read as a share of its ceiling.
    """
    table, now = diagnosis_table(), _figures(report)
    bands: dict[str, Level] = {}
    for name, figure in now.items():
        if limits := table.band.get(name.partition("@")[0]):
            bands[name] = _level(figure, limits, "poor")
    targets = []
    for name in (*table.use[use].watch, *table.use[use].target):
        found, target = now.get(name), table.use[use].target.get(name)
        met = None if found is None or target is None else found.reaches(target)
        targets.append(Target(measure=name, target=target, figure=found, met=met))
    holding = [(rule, grounds) for rule in table.rule if (grounds := _grounds(rule, now))]
    return Reading(
        bands=bands,
        production=tuple(
            ProductionLevel(figure=now[name], level=_level(now[name], limits, "below"))
            for name, limits in table.production.items()
            if name in now
        ),
        use=table.use[use].name,
        targets=tuple(targets),
        findings=tuple(_finding(rule, grounds) for rule, grounds in holding),
        choice=_choice({name for rule, _ in holding for name in rule.advice}, now),
        ceilings={name: each.ceiling for name, each in now.items() if each.ceiling < 1},
    )


def read_change(differences: Mapping[str, MeasureDifference | None]) -> Finding | None:
    """Return what two rankings point to: a better order of as many relevant chunks, or None."""
    rule = diagnosis_table().change
    measured = {name: each for name, each in differences.items() if each is not None}
    gain = next((name for name in rule.rose if name in measured), None)
    same = next((name for name in rule.unchanged if name in measured), None)
    if gain is None or same is None:
        return None
    rise, rest = measured[gain], measured[same]
    rose = rise.p < _SIGNIFICANT and rise.difference >= rule.least - _ROUNDING
    if not rose or rest.p < _SIGNIFICANT or abs(rest.difference) > rule.most + _ROUNDING:
        return None
    now = f"{rest.first + rest.difference:.3f}"
    grounds = (
        f"{gain} rose from {rise.first:.3f} to {rise.first + rise.difference:.3f}",
        f"{same} is unchanged: {rest.first:.3f} before, {now} now",
    )
    return _finding(rule, grounds)


def _finding(rule: _FindingRule | _ChangeRule, grounds: tuple[str, ...]) -> Finding:
    advice = diagnosis_table().advice
    return Finding(
        name=rule.name,
        finding=rule.finding,
        advice=tuple(advice[name] for name in rule.advice),
        grounds=grounds,
    )


def _figures(report: RankingReport) -> dict[str, Figure]:
    """Return the means of a report by measure, those that were measured."""
    most = {name: most for name, most in report.ceiling.items() if most < 1 - _ROUNDING}
    return {
        name: Figure(
            measure=name,
            value=value,
            interval=report.interval.get(name),
            ceiling=most.get(name, 1.0),
        )
        for name, value in report.mean.items()
        if value is not None
    }


def _level(figure: Figure, limits: Mapping[Level, float], lowest: Level) -> Level:
    """Return the last of the levels whose limit the mean reaches, or the lowest level."""
    return [lowest, *(level for level, limit in limits.items() if figure.reaches(limit))][-1]


def _grounds(rule: _FindingRule, figures: Mapping[str, Figure]) -> tuple[str, ...]:
    """Return a ground for each condition of a rule; none if one does not hold or is unknown."""
    grounds = []
    for condition in rule.when:
        figure = next((figures[name] for name in condition.measures if name in figures), None)
        is_high = condition.op == "at_least"
        if figure is None or figure.reaches(condition.than) is not is_high:
            return ()
        limit = f"{condition.than:.3f}"
        relation = f"is high: {limit} or more" if is_high else f"is low: under {limit}"
        grounds.append(f"{figure.measure} {figure} {relation}")
    return tuple(grounds)


def _choice(advice: set[str], now: Mapping[str, Figure]) -> str:
    """Return how to choose k if the advice is both to raise and to lower it."""
    choice = diagnosis_table().choice
    if not choice.between <= advice:
        return ""
    recalls = [name for name in now if name.startswith("recall@")]
    enough = [name for name in recalls if now[name].reaches(choice.recall)]
    return filled(choice.text, recall=f"{choice.recall:g}", measure=enough[0])
