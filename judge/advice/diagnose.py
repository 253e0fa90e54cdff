"""Rank measures read for a person, by the rules of thumb in `judge/data/diagnosis.toml`."""

import math
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Final, Literal

from judge.errors import ConfigError
from judge.records import Interval, QuadrantCount, Record, Summary
from judge.records.result import QuadrantWord
from judge.retrieval.records import MeasureDifference, RankingReport
from judge.scores.intervals import mean_limits
from judge.text.visible import counted

Level = Literal["poor", "below", "fair", "minimum", "good", "excellent"]
"""`below` and `minimum` are of production, where the others are `poor` and `fair`."""
Use = Literal["faq", "documents", "scholarly", "knowledge_base", "monitoring"]

ANSWERS: Final = (
    "faithful_of_retrieved",
    "correct_of_retrieved",
    "faithfulness",
    "correctness_recall",
)
"""The measures of answers that rules may name. The first two are shares of the answers whose
evidence was retrieved; the others are means over all, and so no more than a hint."""

# The mean of .6, .7 and .8 comes out as .6999…98.
_ROUNDING: Final = 1e-9
_CHANCE: Final = 0.05


class _UseRule(Record):
    name: str
    watch: tuple[str, ...]
    target: dict[str, float]


class _Row(Record):
    measures: tuple[str, ...]
    op: Literal["at_least", "under", "up", "stands"]
    than: float | None = None


class _Rule(Record):
    name: str
    finding: str
    when: tuple[_Row, ...]
    advice: tuple[str, ...]


class DiagnosisTable(Record):
    """The rules of thumb by which rank measures are read."""

    band: dict[str, dict[Level, float]]
    """From which mean on a band begins, ascending, by measure at any k; under the first it is
    poor."""
    production: dict[str, dict[Level, float]]
    """What production needs, ascending, by measure at that very k."""
    use: dict[Use, _UseRule]
    """What to watch for a use, in that order, and what to reach, by measure."""
    change: dict[Literal["least", "most"], float]
    """Limits for `up` and `stands`: a rise under `least` does not count, and a change over `most`
    is no standstill."""
    advice: dict[str, str]
    """What to look at, by name."""
    rule: tuple[_Rule, ...]
    """Each finding, when it is made, and the names of what to look at, likeliest first."""


@cache
def diagnosis_table() -> DiagnosisTable:
    """The rules of thumb that ship, read once."""
    text = files("judge").joinpath("data", "diagnosis.toml").read_text("utf-8")
    return DiagnosisTable.model_validate(tomllib.loads(text))


class Figure(Record):
    """A mean that was measured, 0 to 1."""

    measure: str
    """The name of the measure, such as `recall@5`."""
    value: float
    """The number itself."""
    interval: Interval | None = None
    """The 95 % interval of the mean; null where the report has none."""
    ceiling: float = 1.0
    """No ranking could bring it above this: it is read as a share of that."""

    def reaches(self, limit: float) -> tuple[bool, bool | None]:
        """Whether it is not under a limit, and whether its whole interval is on the same side.

        Rounding errors aside; the second is None without an interval.
        """
        held = self.interval
        ends = () if held is None else (held.low, held.high)
        reached, *others = (v / self.ceiling >= limit - _ROUNDING for v in (self.value, *ends))
        return reached, all(other is reached for other in others) if others else None


class Standing(Record):
    """A mean beside limits: those of its bands, of production, or of a use."""

    measure: str
    """The name of the measure."""
    figure: Figure | None
    """The number; null where nothing was measured."""
    target: float | None = None
    """The target of a use; null for bands, and where the table names no number."""
    level: Level | Literal["met", "missed"] | None
    """The band, or whether the target is met; null where that is unknown."""
    sure: bool | None
    """Whether the whole interval says the same; null without one."""


class Ground(Record):
    """A number that a finding rests on: against a limit, or against an earlier ranking."""

    figure: Figure
    """The number."""
    op: Literal["at_least", "under", "up", "stands"]
    """The relation of the number to the limit or to the earlier mean."""
    than: float
    """The limit of `at_least` and `under`; the earlier mean of `up` and `stands`."""
    sure: bool | None
    """Whether the whole interval is on the same side; null without one."""


class Finding(Record):
    """A finding from the numbers."""

    name: str
    """The name of the rule."""
    finding: str
    """The problem, or the part that works."""
    advice: tuple[str, ...]
    """What to look at, likeliest first."""
    grounds: tuple[Ground, ...]
    """The numbers it rests on."""
    missing: tuple[tuple[str, ...], ...] = ()
    """For a rule that lacks numbers: groups of measures, of each of which one is needed."""

    @property
    def sure(self) -> bool | None:
        """Whether every ground is; None where none is unsure and one has no interval."""
        each = {ground.sure for ground in self.grounds}
        return False if False in each else None if None in each else True


class Reading(Record):
    """The bands of a report's means, and the findings from them."""

    bands: tuple[Standing, ...]
    """The bands of the measured means, in the report's order."""
    production: tuple[Standing, ...]
    """The levels that production needs, of the same measures."""
    use: str = ""
    """The use whose targets follow, in words."""
    targets: tuple[Standing, ...] = ()
    """The measures to watch for a use, and what they should reach."""
    findings: tuple[Finding, ...]
    """The rules that hold. An empty list does not prove that all is well."""
    unjudged: tuple[Finding, ...]
    """What could not be held against the numbers."""
    cautions: tuple[str, ...]
    """How far the numbers can be trusted."""


def read(
    report: RankingReport, *, use: Use | None = None, answers: Summary | None = None
) -> Reading:
    """Read a report by rules of thumb: bands, targets of a use, and findings.

    A band begins at its limit, so .6 of recall is fair. What no ranking could bring to 1 is read as
    a share of its ceiling. A rule about answers is left out where these are not given.

    Args:
        report: the rank measures.
        use: whose targets to hold it against.
        answers: the totals of the same questions' answers, whose faithfulness and recall of the
            reference are read, unless they are untrusted.

    Raises:
        ConfigError: there is no such use.
    """
    table, now = diagnosis_table(), _figures(report)
    if use is not None and use not in table.use:
        raise ConfigError(f"there is no use {use!r}; try one of {', '.join(table.use)}")
    limits = {name: table.band.get(name.partition("@")[0], {}) for name in now}
    told = () if answers is None else answer_figures(answers)
    whole = now | {each.measure: each for each in told}
    found = [each for rule in table.rule if (each := _find(rule, whole))]
    wanted = None if use is None else table.use[use]
    return Reading(
        bands=tuple(_band(now[name], own, "poor") for name, own in limits.items() if own),
        production=tuple(
            _band(now[name], own, "below") for name, own in table.production.items() if name in now
        ),
        use="" if wanted is None else wanted.name,
        targets=() if wanted is None else tuple(_targets(wanted, now)),
        findings=tuple(each for each in found if not each.missing),
        unjudged=tuple(each for each in found if each.missing),
        cautions=tuple(_cautions(report, now, answers)),
    )


def changes(differences: Mapping[str, MeasureDifference | None]) -> tuple[Finding, ...]:
    """Return the findings from the paired differences between two rankings of the same queries."""
    measured = {name: each for name, each in differences.items() if each is not None}
    found = (_find_change(rule, measured) for rule in diagnosis_table().rule)
    return tuple(each for each in found if each is not None)


def answer_figures(summary: Summary) -> tuple[Figure, ...]:
    """What rules are about: shares where the run knows what was retrieved, means where not.

    What is not to be trusted is left out.
    """
    compared = summary.correctness
    faithful = not summary.untrusted
    correct = compared is not None and not compared.untrusted
    if summary.breakdown is not None and (cells := summary.breakdown.cells):
        shares = (
            faithful and _share(cells, "faithful", "unfaithful"),
            correct and _share(cells, "correct", "wrong"),
        )
        return tuple(each for each in shares if each)
    means = (
        ("faithfulness", faithful and summary.faithfulness),
        ("correctness_recall", correct and compared and compared.recall),
    )
    return tuple(
        Figure(measure=measure, value=score.macro, interval=score.interval)
        for measure, score in means
        if score
    )


def ceilings(report: RankingReport) -> dict[str, float]:
    """By measure, what no ranking could exceed, where that is under 1."""
    return {name: most for name, most in report.ceiling.items() if most < 1 - _ROUNDING}


def _share(cells: Iterable[QuadrantCount], yes: QuadrantWord, no: QuadrantWord) -> Figure | None:
    """Return the share of `yes` among the known answers whose evidence was retrieved."""
    known = [cell for cell in cells if "retrieved" in cell.words and {yes, no} & {*cell.words}]
    size = sum(cell.answers for cell in known)
    if not size:
        return None
    value = sum(cell.answers for cell in known if yes in cell.words) / size
    low, high = mean_limits(value, value * (1 - value), size)
    interval = Interval(low=low, high=high, method="wilson_effective")
    return Figure(measure=f"{yes}_of_retrieved", value=value, interval=interval)


def _figures(report: RankingReport) -> dict[str, Figure]:
    """The means of a report by measure, those that were measured."""
    most = ceilings(report)
    return {
        name: Figure(
            measure=name,
            value=value,
            interval=report.interval.get(name),
            ceiling=most.get(name, 1.0),
        )
        for name, value in report.mean.items()
        if value is not None and math.isfinite(value)
    }


def _band(found: Figure, limits: Mapping[Level, float], lowest: Level) -> Standing:
    """The last of the levels whose limit it reaches."""
    sides = {level: found.reaches(limit) for level, limit in limits.items()}
    level = next((name for name in reversed(sides) if sides[name][0]), lowest)
    sure = None if found.interval is None else all(sure for _, sure in sides.values())
    return Standing(measure=found.measure, figure=found, level=level, sure=sure)


def _targets(use: _UseRule, now: Mapping[str, Figure]) -> Iterator[Standing]:
    for name in dict.fromkeys((*use.watch, *use.target)):
        target, figure = use.target.get(name), now.get(name)
        met, sure = figure.reaches(target) if figure and target is not None else (None, None)
        level = None if met is None else "met" if met else "missed"
        yield Standing(measure=name, figure=figure, target=target, level=level, sure=sure)


def _find(rule: _Rule, now: Mapping[str, Figure]) -> Finding | None:
    """Apply a rule about one ranking; None where it does not hold or is about something else."""
    grounds, missing = [], []
    for row in rule.when:
        name = next((each for each in row.measures if each in now), None)
        if row.than is None or (name is None and row.measures[0] in ANSWERS):
            return None
        if name is None:
            missing.append(row.measures)
            continue
        reached, sure = now[name].reaches(row.than)
        if reached is not (row.op == "at_least"):
            return None
        grounds.append(Ground(figure=now[name], op=row.op, than=row.than, sure=sure))
    return _made(rule, grounds, missing)


def _find_change(rule: _Rule, measured: Mapping[str, MeasureDifference]) -> Finding | None:
    """Apply a rule about two rankings; None where it does not hold or is about one."""
    least, most = diagnosis_table().change["least"], diagnosis_table().change["most"]
    grounds = []
    for row in rule.when:
        name = next((each for each in row.measures if each in measured), None)
        if name is None or row.than is not None:
            return None
        found = measured[name]
        changed, gap = found.p < _CHANCE, found.difference
        up = changed and gap >= least - _ROUNDING
        if not (up if row.op == "up" else not changed and abs(gap) <= most + _ROUNDING):
            return None
        figure = Figure(measure=name, value=found.first + gap)
        grounds.append(Ground(figure=figure, op=row.op, than=found.first, sure=True))
    return _made(rule, grounds, ())


def _made(rule: _Rule, grounds: Iterable[Ground], missing: Iterable[tuple[str, ...]]) -> Finding:
    advice = diagnosis_table().advice
    return Finding(
        name=rule.name,
        finding=rule.finding,
        advice=tuple(advice[name] for name in rule.advice),
        grounds=tuple(grounds),
        missing=tuple(missing),
    )


def _cautions(
    report: RankingReport, now: Mapping[str, Figure], answers: Summary | None
) -> Iterator[str]:
    """Why a low number may not speak against the ranking, or what of the answers is left out."""
    most = [f"{each.measure} {each.ceiling:.3f}" for each in now.values() if each.ceiling < 1]
    if most:
        yield (
            "given how many chunks are relevant, no ranking could exceed "
            f"{', '.join(most)} here: these are read as shares of that"
        )
    if answers is None:
        return
    if answers.untrusted or (answers.correctness is not None and answers.correctness.untrusted):
        yield (
            "the scored run is untrusted: too many claims have no verdict, and numbers that rest "
            "on them are left out"
        )
    if answers.by_similarity:
        yield (
            "the run was scored by similarity: its faithfulness is the share of sentences that "
            "look supported"
        )
    if answers.answers != report.queries:
        yield (
            f"the run has {counted(answers.answers, 'answer')} and the rankings are of "
            f"{counted(report.queries, 'question')}: they may not be the same"
        )
