"""Rank measures read for a person, by the rules of thumb in `judge/data/diagnosis.toml`."""

import math
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Final, Literal

from judge.errors import ConfigError
from judge.messages import filled
from judge.records import Interval, QuadrantCount, Record, Summary
from judge.records.result import QuadrantWord
from judge.retrieval.records import MeasureDifference, RankingReport
from judge.scores.intervals import mean_limits
from judge.text.visible import counted

Level = Literal["poor", "below", "fair", "minimum", "good", "excellent"]
"""`below` and `minimum` are of production, where the others are `poor` and `fair`."""
Use = Literal["faq", "documents", "scholarly", "knowledge_base", "monitoring"]
Relation = Literal["at_least", "under", "up", "stands"]

ANSWERS: Final = (
    "faithful_of_retrieved",
    "correct_of_retrieved",
    "faithfulness",
    "correctness_recall",
)
"""The measures of answers that rules may name. The first two are shares of the answers whose
evidence was retrieved; the others are means over all answers."""
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


class _Rule(Record):
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
    """The limits of a change: a mean rises (`up`) by at least `least`, and is unchanged (`stands`)
    if it differs by at most `most`."""
    advice: dict[str, str]
    """What to do, by name."""
    choice: _Choice
    rule: tuple[_Rule, ...]
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


class Standing(Record):
    """A mean beside limits: those of its bands, of production, or of a use."""

    measure: str
    """The name of the measure."""
    figure: Figure | None
    """The mean; null if nothing was measured."""
    target: float | None = None
    """The target of a use; null for bands, and if the table names no number."""
    level: Level | Literal["met", "missed"] | None
    """The band, or whether the target is met; null if that is unknown."""


class Ground(Record):
    """A mean that a finding rests on: against a limit, or against an earlier ranking."""

    figure: Figure
    """The mean."""
    op: Relation
    """The relation of the mean to the limit or to the earlier mean."""
    than: float
    """The limit, or under `up` and `stands` the earlier mean."""


class Finding(Record):
    """A finding from the numbers."""

    name: str
    """The name of the rule."""
    finding: str
    """The problem, or the part that works."""
    advice: tuple[str, ...]
    """What to do, likeliest first."""
    grounds: tuple[Ground, ...]
    """The numbers it rests on."""


class Reading(Record):
    """The bands of a report's means, and the findings from them."""

    bands: tuple[Standing, ...]
    """The bands of the measured means, in the report's order."""
    production: tuple[Standing, ...]
    """The levels that production needs, of the same measures."""
    use: str = ""
    """The use of the targets that follow, in words."""
    targets: tuple[Standing, ...] = ()
    """The measures to watch for a use, and their targets."""
    findings: tuple[Finding, ...]
    """The rules that hold. An empty list does not prove that all is well."""
    choice: str = ""
    """How to choose between pieces of advice that contradict each other; empty if none do."""
    cautions: tuple[str, ...]
    """How far the numbers can be trusted."""


def read(
    report: RankingReport, *, use: Use | None = None, answers: Summary | None = None
) -> Reading:
    """Read a report by rules of thumb: bands, targets of a use, and findings.

    A band begins at its limit, so a recall of .6 is fair. A mean is read as a share of its ceiling.

    Args:
        report: the rank measures.
        use: the use whose targets are compared with the report.
        answers: the totals of the answers to the same questions. Faithfulness and recall of the
            reference are read, unless they are untrusted.

    Raises:
        ConfigError: there is no such use.
    """
    table, now = diagnosis_table(), _figures(report)
    if use is not None and use not in table.use:
        raise ConfigError(f"there is no use {use!r}; try one of {', '.join(table.use)}")
    limits = {name: table.band.get(name.partition("@")[0], {}) for name in now}
    of_answers = () if answers is None else answer_figures(answers)
    figures = now | {figure.measure: figure for figure in of_answers}
    found = [(rule, grounds) for rule in table.rule if (grounds := _grounds(rule, figures, {}))]
    wanted = None if use is None else table.use[use]
    return Reading(
        bands=tuple(_band(now[name], own, "poor") for name, own in limits.items() if own),
        production=tuple(
            _band(now[name], own, "below") for name, own in table.production.items() if name in now
        ),
        use="" if wanted is None else wanted.name,
        targets=() if wanted is None else tuple(_targets(wanted, now)),
        findings=tuple(_finding(rule, grounds) for rule, grounds in found),
        choice=_choice((rule for rule, _ in found), now),
        cautions=tuple(_cautions(report, now, answers)),
    )


def changes(differences: Mapping[str, MeasureDifference | None]) -> tuple[Finding, ...]:
    """Return the findings from the paired differences between two rankings of the same queries."""
    measured = {name: each for name, each in differences.items() if each is not None}
    found = ((rule, _grounds(rule, {}, measured)) for rule in diagnosis_table().rule)
    return tuple(_finding(rule, grounds) for rule, grounds in found if grounds)


def answer_figures(summary: Summary) -> tuple[Figure, ...]:
    """Return the trusted measures of answers that rules are about.

    These are shares of the answers whose evidence was retrieved, if the run knows what was
    retrieved, and else means over all answers.
    """
    compared = summary.correctness
    faithful = not summary.untrusted
    correct = compared is not None and not compared.untrusted
    if summary.breakdown is not None and (cells := summary.breakdown.cells):
        shares = (
            faithful and _share(cells, "faithful", "unfaithful"),
            correct and _share(cells, "correct", "wrong"),
        )
        return tuple(share for share in shares if share)
    means = (
        ("faithfulness", faithful and summary.faithfulness),
        ("correctness_recall", correct and compared and compared.recall),
    )
    return tuple(
        Figure(measure=measure, value=score.macro, interval=score.interval)
        for measure, score in means
        if score
    )


def _share(cells: Iterable[QuadrantCount], yes: QuadrantWord, no: QuadrantWord) -> Figure | None:
    """Return the share of `yes` among the known answers whose evidence was retrieved."""
    known = [cell for cell in cells if "retrieved" in cell.words and {yes, no} & {*cell.words}]
    size = sum(cell.answers for cell in known)
    if not size:
        return None
    share = sum(cell.answers for cell in known if yes in cell.words) / size
    low, high = mean_limits(share, share * (1 - share), size)
    interval = Interval(low=low, high=high, method="wilson_effective")
    return Figure(measure=f"{yes}_of_retrieved", value=share, interval=interval)


def ceilings(report: RankingReport) -> dict[str, float]:
    """Return the highest possible means by measure, those under 1."""
    return {name: most for name, most in report.ceiling.items() if most < 1 - _ROUNDING}


def _figures(report: RankingReport) -> dict[str, Figure]:
    """Return the means of a report by measure, those that were measured."""
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
    """Return the last of the levels whose limit the mean reaches."""
    reached = [level for level, limit in limits.items() if found.reaches(limit)]
    return Standing(measure=found.measure, figure=found, level=[lowest, *reached][-1])


def _targets(use: _UseRule, now: Mapping[str, Figure]) -> Iterator[Standing]:
    for name in dict.fromkeys((*use.watch, *use.target)):
        target, figure = use.target.get(name), now.get(name)
        level: Literal["met", "missed"] | None = None
        if figure is not None and target is not None:
            level = "met" if figure.reaches(target) else "missed"
        yield Standing(measure=name, figure=figure, target=target, level=level)


def _grounds(
    rule: _Rule, figures: Mapping[str, Figure], differences: Mapping[str, MeasureDifference]
) -> tuple[Ground, ...]:
    """Return a ground for each condition of a rule; none if one does not hold or is unknown.

    Conditions with a limit are about figures, the others about differences.
    """
    grounds = []
    for row in rule.when:
        known: Mapping[str, object] = differences if row.than is None else figures
        name = next((name for name in row.measures if name in known), None)
        if name is None:
            return ()
        if row.than is None:
            difference = differences[name]
            if not _changed(row.op, difference):
                return ()
            figure = Figure(measure=name, value=difference.first + difference.difference)
            grounds.append(Ground(figure=figure, op=row.op, than=difference.first))
        else:
            if figures[name].reaches(row.than) is not (row.op == "at_least"):
                return ()
            grounds.append(Ground(figure=figures[name], op=row.op, than=row.than))
    return tuple(grounds)


def _changed(op: Relation, found: MeasureDifference) -> bool:
    """Return whether a mean rose (under `up`) or is unchanged (under `stands`)."""
    limits, surely = diagnosis_table().change, found.p < _SIGNIFICANT
    if op == "up":
        return surely and found.difference >= limits["least"] - _ROUNDING
    return not surely and abs(found.difference) <= limits["most"] + _ROUNDING


def _finding(rule: _Rule, grounds: tuple[Ground, ...]) -> Finding:
    advice = diagnosis_table().advice
    return Finding(
        name=rule.name,
        finding=rule.finding,
        advice=tuple(advice[name] for name in rule.advice),
        grounds=grounds,
    )


def _choice(rules: Iterable[_Rule], now: Mapping[str, Figure]) -> str:
    """Return how to choose k if the advice is both to raise and to lower it."""
    choice = diagnosis_table().choice
    if not choice.between <= {name for rule in rules for name in rule.advice}:
        return ""
    recalls = [name for name in now if name.startswith("recall@")]
    enough = [name for name in recalls if now[name].reaches(choice.recall)]
    return filled(choice.text, recall=f"{choice.recall:g}", measure=enough[0])


def _cautions(
    report: RankingReport, now: Mapping[str, Figure], answers: Summary | None
) -> Iterator[str]:
    """Yield why a low mean may not speak against the ranking, and what of the answers is unsure."""
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
