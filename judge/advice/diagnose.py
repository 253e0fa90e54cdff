"""Rank measures read for a person, by the rules of thumb in `judge/data/diagnosis.toml`."""

import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Final, Literal

from judge.messages import filled
from judge.records import Interval, Record
from judge.retrieval.records import MeasureDifference, RankingReport

Level = Literal["poor", "below", "fair", "minimum", "good", "excellent"]
"""`below` and `minimum` are of production, where the others are `poor` and `fair`."""
Use = Literal["faq", "documents", "scholarly", "knowledge_base", "monitoring"]
Relation = Literal["at_least", "under", "rose", "unchanged"]

_ROUNDING: Final = 1e-9
"""The mean of .6, .7 and .8 is computed as .6999…98."""
_SIGNIFICANT: Final = 0.05


class _UseRule(Record):
    name: str
    watch: tuple[str, ...]
    target: dict[str, float]


class _Condition(Record):
    measures: tuple[str, ...]
    op: Relation
    than: float | None = None


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


class DiagnosisTable(Record):
    """The rules of thumb by which rank measures are read."""

    band: dict[str, dict[Level, float]]
    """From which mean on a band begins, ascending, by measure at any k; under the first it is
    poor."""
    production: dict[str, dict[Level, float]]
    """What production needs, ascending, by measure at that very k."""
    use: dict[Use, _UseRule]
    """The measures to watch for a use, in that order, and their targets."""
    change: dict[Literal["least", "most"], float]
    """The limits of a change: a mean `rose` if it is higher by at least `least`, and is `unchanged`
    if it differs by at most `most`."""
    advice: dict[str, str]
    """What to do, by name."""
    choice: _Choice
    rule: tuple[_FindingRule, ...]
    """Each finding, its conditions, and the names of its advice, likeliest first."""


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


class MeasureLevel(Record):
    """The level of a mean: its band, its level for production, or whether a target is met."""

    measure: str
    """The name of the measure."""
    figure: Figure | None
    """The mean; null if nothing was measured."""
    target: float | None = None
    """The target of a use; null for bands, and if the table names no number."""
    level: Level | Literal["met", "missed"] | None
    """The band, or whether the target is met; null if that is unknown."""


class Finding(Record):
    """A finding from the numbers."""

    name: str
    """The name of the rule."""
    finding: str
    """The problem, or the part that works."""
    advice: tuple[str, ...]
    """What to do, likeliest first."""
    grounds: tuple[str, ...]
    """The numbers it rests on, each beside its limit or its earlier value."""


class Reading(Record):
    """The bands of a report's means, and the findings from them."""

    bands: tuple[MeasureLevel, ...]
    """The bands of the measured means, in the report's order."""
    production: tuple[MeasureLevel, ...]
    """The levels that production needs, of the same measures."""
    use: str
    """The use of the targets that follow, in words."""
    targets: tuple[MeasureLevel, ...]
    """The measures to watch for a use, and their targets."""
    findings: tuple[Finding, ...]
    """The rules that hold. An empty list does not prove that all is well."""
    choice: str = ""
    """How to choose between pieces of advice that contradict each other; empty if none do."""
    ceilings: dict[str, float]
    """The highest means that any ranking could have, by measure, where they are under 1."""


def read(report: RankingReport, use: Use) -> Reading:
    """Read a report by rules of thumb: bands, targets of a use, and findings.

    A band begins at its limit, so a recall of .6 is fair. A mean is read as a share of its ceiling.

    Args:
        report: the rank measures.
        use: the use whose targets are compared with the report.
    """
    table, now = diagnosis_table(), _figures(report)
    found = [(rule, grounds) for rule in table.rule if (grounds := _grounds(rule, now, {}))]
    bands = ((figure, table.band.get(name.partition("@")[0])) for name, figure in now.items())
    production = table.production.items()
    return Reading(
        bands=tuple(_level(figure, limits, "poor") for figure, limits in bands if limits),
        production=tuple(
            _level(now[name], limits, "below") for name, limits in production if name in now
        ),
        use=table.use[use].name,
        targets=tuple(_targets(table.use[use], now)),
        findings=tuple(_finding(rule, grounds) for rule, grounds in found),
        choice=_choice({name for rule, _ in found for name in rule.advice}, now),
        ceilings={name: each.ceiling for name, each in now.items() if each.ceiling < 1},
    )


def changes(differences: Mapping[str, MeasureDifference | None]) -> tuple[Finding, ...]:
    """Return the findings from the paired differences between two rankings of the same queries."""
    measured = {name: each for name, each in differences.items() if each is not None}
    found = ((rule, _grounds(rule, {}, measured)) for rule in diagnosis_table().rule)
    return tuple(_finding(rule, grounds) for rule, grounds in found if grounds)


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


def _level(figure: Figure, limits: Mapping[Level, float], lowest: Level) -> MeasureLevel:
    """Return the last of the levels whose limit the mean reaches."""
    reached = [level for level, limit in limits.items() if figure.reaches(limit)]
    return MeasureLevel(measure=figure.measure, figure=figure, level=[lowest, *reached][-1])


def _targets(use: _UseRule, now: Mapping[str, Figure]) -> Iterator[MeasureLevel]:
    for name in dict.fromkeys((*use.watch, *use.target)):
        target, figure = use.target.get(name), now.get(name)
        level: Literal["met", "missed"] | None = None
        if figure is not None and target is not None:
            level = "met" if figure.reaches(target) else "missed"
        yield MeasureLevel(measure=name, figure=figure, target=target, level=level)


def _grounds(
    rule: _FindingRule, figures: Mapping[str, Figure], differences: Mapping[str, MeasureDifference]
) -> tuple[str, ...]:
    """Return a ground for each condition of a rule; none if one does not hold or is unknown.

    Conditions with a limit are about figures, the others about differences.
    """
    grounds = []
    for condition in rule.when:
        known: Mapping[str, object] = differences if condition.than is None else figures
        name = next((name for name in condition.measures if name in known), None)
        if name is None:
            return ()
        if condition.than is None:
            found = differences[name]
            holds = _changed(condition.op, found)
            now, before = f"{found.first + found.difference:.3f}", f"{found.first:.3f}"
            texts = {
                "rose": f"rose from {before} to {now}",
                "unchanged": f"is unchanged: {before} before, {now} now",
            }
        else:
            figure, limit = figures[name], f"{condition.than:.3f}"
            holds = figure.reaches(condition.than) is (condition.op == "at_least")
            texts = {
                "at_least": f"{figure} is high: {limit} or more",
                "under": f"{figure} is low: under {limit}",
            }
        if not holds:
            return ()
        grounds.append(f"{name} {texts[condition.op]}")
    return tuple(grounds)


def _changed(op: Relation, found: MeasureDifference) -> bool:
    limits, surely = diagnosis_table().change, found.p < _SIGNIFICANT
    if op == "rose":
        return surely and found.difference >= limits["least"] - _ROUNDING
    return not surely and abs(found.difference) <= limits["most"] + _ROUNDING


def _finding(rule: _FindingRule, grounds: tuple[str, ...]) -> Finding:
    advice = diagnosis_table().advice
    return Finding(
        name=rule.name,
        finding=rule.finding,
        advice=tuple(advice[name] for name in rule.advice),
        grounds=grounds,
    )


def _choice(advice: set[str], now: Mapping[str, Figure]) -> str:
    """Return how to choose k if the advice is both to raise and to lower it."""
    choice = diagnosis_table().choice
    if not choice.between <= advice:
        return ""
    recalls = [name for name in now if name.startswith("recall@")]
    enough = [name for name in recalls if now[name].reaches(choice.recall)]
    return filled(choice.text, recall=f"{choice.recall:g}", measure=enough[0])
