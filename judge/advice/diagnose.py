"""Rank measures read for a person, by rules of thumb: bands, targets, and what to look at."""

import math
from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Final

from judge.advice.records import (
    Band,
    Bands,
    Diagnoses,
    Diagnosis,
    Figure,
    Ground,
    Level,
    Target,
    Targets,
    Unjudged,
    Use,
)
from judge.advice.rules import DiagnosisRow, DiagnosisRule, diagnosis_table
from judge.errors import ConfigError
from judge.messages import Lang, Messages
from judge.records import Interval, QuadrantCount, Summary
from judge.records.quadrant import QuadrantWord
from judge.retrieval.records import RankingReport
from judge.scores.intervals import difference, mean_limits
from judge.signature import Signature

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

_Figures = Mapping[str, Figure]
"""By measure; what was not measured is not there."""


def bands(report: RankingReport, lang: Lang = "en") -> Bands:
    """The band of every mean that has limits, and the production levels.

    A mean that is null or missing is in no band: it is among `not_measured`. A band begins at its
    limit, so .6 of recall is fair. What no ranking could bring to 1 is read as a share of its
    ceiling, here, in `targets` and in `diagnose`.
    """
    rules, measured = diagnosis_table(), figures(report)
    limited = {
        name: rules.band[family]
        for name in report.mean
        if (family := name.partition("@")[0]) in rules.band
    }
    families = {name.partition("@")[0] for name in limited}
    absent = [f"{family}@k" for family in rules.band if family not in families]
    asked = dict.fromkeys((*limited, *absent, *rules.production))
    return Bands(
        source=Messages.of("diagnosis")("source", lang),
        bands=tuple(_bands(limited, "poor", measured)),
        production=tuple(_bands(rules.production, "below", measured)),
        not_measured=tuple(name for name in asked if name not in measured),
        cautions=_ceilings((*limited, *rules.production), measured, lang),
    )


def targets(report: RankingReport, use: Use, lang: Lang = "en") -> Targets:
    """The measures to watch for a use, beside their targets.

    Raises:
        ConfigError: there is no such use.
    """
    uses, measured = diagnosis_table().use, figures(report)
    if use not in uses:
        raise ConfigError(f"there is no use {use!r}; try one of {', '.join(uses)}")
    wanted = uses[use].target
    names = dict.fromkeys((*uses[use].watch, *wanted))
    return Targets(
        use=use,
        name=Messages.of("diagnosis")(f"use.{use}", lang),
        targets=tuple(_target(name, wanted.get(name), measured.get(name)) for name in names),
        cautions=_ceilings(names, measured, lang),
    )


def diagnose(
    report: RankingReport,
    *,
    before: RankingReport | None = None,
    answers: Summary | None = None,
    lang: Lang = "en",
) -> Diagnoses:
    """What a report points to, each diagnosis with the numbers it rests on.

    A change counts only where the 95 % interval of the difference bears it out. Reports whose
    signatures differ in more than cut-offs and seed are not compared. A rule about an earlier
    report or about answers is left out where these are not given.

    Args:
        report: the rank measures.
        before: those of an earlier state.
        answers: the totals of the same questions' answers, whose faithfulness and recall of the
            reference are read, unless they are untrusted.
        lang: of the texts.
    """
    now = figures(report)
    if answers is not None:
        now |= {each.measure: each for each in answer_figures(answers)}
    earlier = figures(before) if before is not None and _alike(report, before) else None
    read = [_read(rule, now, earlier, lang) for rule in diagnosis_table().rule]
    return Diagnoses(
        found=tuple(each for each in read if isinstance(each, Diagnosis)),
        unjudged=tuple(each for each in read if isinstance(each, Unjudged)),
        cautions=tuple(_cautions(report, before, answers, lang)),
    )


def figures(report: RankingReport) -> dict[str, Figure]:
    """The means of a report by measure, those that were measured."""
    found = {}
    for name, value in report.mean.items():
        if value is not None and math.isfinite(value):
            most = report.ceiling.get(name, 1.0)
            found[name] = Figure(
                measure=name,
                value=value,
                interval=report.interval.get(name),
                ceiling=None if _at_least(most, 1) else most,
            )
    return found


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


def _share(cells: Iterable[QuadrantCount], yes: QuadrantWord, no: QuadrantWord) -> Figure | None:
    """Of the answers whose evidence was retrieved, those that are `yes` among the known."""
    known = [cell for cell in cells if "retrieved" in cell.words and {yes, no} & {*cell.words}]
    counted = sum(cell.answers for cell in known)
    if not counted:
        return None
    value = sum(cell.answers for cell in known if yes in cell.words) / counted
    low, high = mean_limits(value, value * (1 - value), counted)
    interval = Interval(low=low, high=high, method="wilson_effective")
    return Figure(measure=f"{yes}_of_retrieved", value=value, interval=interval)


def _at_least(value: float, limit: float) -> bool:
    """Whether a value is not under a limit, rounding errors aside."""
    return value >= limit - _ROUNDING


def _sure(found: Figure, limit: float, *, above: bool) -> bool | None:
    """Whether the whole interval is on this side of the limit; None without one."""
    if found.interval is None:
        return None
    end = found.interval.low if above else found.interval.high
    return _at_least(found.of_ceiling(end), limit) is above


def _bands(
    limited: Mapping[str, dict[Level, float]], lowest: Level, measured: _Figures
) -> Iterator[Band]:
    """The last of the levels whose limit each mean reaches, and those of its interval's ends."""

    def level(found: Figure, value: float) -> Level:
        share, limits = found.of_ceiling(value), limited[found.measure]
        return next((name for name in reversed(limits) if _at_least(share, limits[name])), lowest)

    for found in (measured[name] for name in limited if name in measured):
        held = found.interval
        span = None if held is None else (level(found, held.low), level(found, held.high))
        yield Band(figure=found, level=level(found, found.value), span=span)


def _target(name: str, target: float | None, found: Figure | None) -> Target:
    met = sure = None
    if found is not None and target is not None:
        met = _at_least(found.of_ceiling(found.value), target)
        sure = _sure(found, target, above=met)
    return Target(measure=name, target=target, figure=found, met=met, sure=sure)


def _ceilings(names: Iterable[str], measured: _Figures, lang: Lang) -> tuple[str, ...]:
    """A caution that names the figures which no ranking could bring to 1."""
    found = (measured[name] for name in dict.fromkeys(names) if name in measured)
    most = [f"{each.measure} {each.ceiling:.3f}" for each in found if each.ceiling is not None]
    return (_said("ceiling", lang, most=", ".join(most)),) if most else ()


def _said(key: str, lang: Lang, **values: object) -> str:
    return Messages.of("diagnosis")(f"say.{key}", lang, **values)


def _first(row: DiagnosisRow, measured: Container[str]) -> str | None:
    return next((name for name in row.measures if name in measured), None)


def _read(
    rule: DiagnosisRule, now: _Figures, before: _Figures | None, lang: Lang
) -> Diagnosis | Unjudged | None:
    """The diagnosis, or what it lacks; None where a row rules it out, or was not asked about."""
    says = Messages.of("diagnosis")
    for row in rule.when:
        if row.than is None and before is None:
            return None
        if row.measures[0] in ANSWERS and row.measures[0] not in now:
            return None
    held = [(row, _hold(row, now, before or {})) for row in rule.when]
    if any(ground is False for _, ground in held):
        return None
    finding = says(f"finding.{rule.name}", lang)
    grounds = tuple(ground for _, ground in held if isinstance(ground, Ground))
    if len(grounds) < len(held):
        missing = tuple(row.measures for row, ground in held if ground is None)
        return Unjudged(name=rule.name, finding=finding, missing=missing)
    sure = {ground.sure for ground in grounds}
    return Diagnosis(
        name=rule.name,
        finding=finding,
        advice=tuple(says(f"advice.{name}", lang) for name in rule.advice),
        grounds=grounds,
        sure=False if False in sure else None if None in sure else True,
    )


def _hold(row: DiagnosisRow, now: _Figures, before: _Figures) -> Ground | bool | None:
    """The ground where the row holds, False where it does not, None where it cannot be told."""
    if row.than is None:
        name = _first(row, now.keys() & before.keys())
        return None if name is None else _held_change(row, now[name], before[name])
    name, above = _first(row, now), row.op == "at_least"
    if name is None:
        return None
    if _at_least(now[name].of_ceiling(now[name].value), row.than) is not above:
        return False
    sure = _sure(now[name], row.than, above=above)
    return Ground(figure=now[name], op=row.op, than=row.than, sure=sure)


def _held_change(row: DiagnosisRow, now: Figure, then: Figure) -> Ground | bool:
    least, most = diagnosis_table().change["least"], diagnosis_table().change["most"]
    gap = now.value - then.value
    change = sure = None
    if (own := now.interval) and (earlier := then.interval):
        ends, others = (own.low, own.high), (earlier.low, earlier.high)
        change = difference(now.value, ends, then.value, others)
    if row.op == "up":
        holds = _at_least(gap, least) and (change is None or change[0] > 0)
        sure = None if change is None else True
    elif change is None:
        holds = not _at_least(abs(gap), least)
    else:
        holds = _at_least(most, abs(gap)) and change[0] <= 0 <= change[1]
        sure = _at_least(most, max(map(abs, change)))
    return holds and Ground(figure=now, op=row.op, before=then, change=change, sure=sure)


def _alike(report: RankingReport, before: RankingReport) -> bool:
    """Whether both were made alike: other cut-offs and seeds change no mean that both have."""
    made, earlier = map(Signature.parse, (report.signature, before.signature))
    return made.without("k", "seed") == earlier.without("k", "seed")


def _cautions(
    report: RankingReport, before: RankingReport | None, answers: Summary | None, lang: Lang
) -> Iterator[str]:
    if before is not None and not _alike(report, before):
        yield _said("unlike", lang, before=before.signature)
    elif before is not None and report.averaged != before.averaged:
        yield _said("counts", lang, before=before.averaged, now=report.averaged)
    elif before is not None:
        yield _said("paired", lang)
    if answers is None:
        return
    compared = answers.correctness
    if any(each is not None and each.untrusted for each in (answers, compared)):
        yield _said("untrusted", lang)
    if answers.by_similarity:
        yield _said("similarity", lang)
    if answers.answers != report.queries:
        yield _said("others", lang, answers=answers.answers, queries=report.queries)
