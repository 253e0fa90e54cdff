"""Rank measures read for a person, by rules of thumb: bands, targets, and what to look at."""

import math
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple, TypeVar

from judge.advice.records import (
    Band,
    Bands,
    Diagnoses,
    Diagnosis,
    Figure,
    Ground,
    Level,
    ProductionLevel,
    Target,
    Targets,
    Unjudged,
    Use,
)
from judge.advice.rules import ChangeRow, DiagnosisRule, LevelRow, diagnosis_table
from judge.errors import ConfigError
from judge.messages import Lang, Messages
from judge.records import Interval, QuadrantCount, Summary
from judge.records.quadrant import QuadrantWord
from judge.retrieval.records import RankingReport
from judge.scores.intervals import difference, wilson
from judge.signature import Signature

ANSWERS: Final = (
    "faithful_of_retrieved",
    "correct_of_retrieved",
    "faithfulness",
    "correctness_recall",
)
"""The measures of answers that rules may name. The first two are shares of the answers whose
evidence was retrieved; the others are means over all, and so no more than a hint."""

_ASKED: Final[tuple[tuple[QuadrantWord, QuadrantWord], ...]] = (
    ("faithful", "unfaithful"),
    ("correct", "wrong"),
)
# The mean of .6, .7 and .8 comes out as .6999…98.
_ROUNDING: Final = 1e-9

_Level = TypeVar("_Level", Level, ProductionLevel)


def bands(report: RankingReport, lang: Lang = "en") -> Bands:
    """The band of every mean that has limits, and the production levels.

    A mean that is null or missing is in no band: it is among `not_measured`. A band begins at its
    limit, so .6 of recall is fair.

    Args:
        report: the rank measures.
        lang: of the texts.
    """
    rules = diagnosis_table()
    limited = [
        (each, limits)
        for name in report.mean
        if (limits := rules.band.get(name.partition("@")[0])) and (each := figure(report, name))
    ]
    needed = [
        (each, limits)
        for name, limits in rules.production.items()
        if (each := figure(report, name))
    ]
    least = [(each, limits["fair"]) for each, limits in limited]
    least += [(each, limits["minimum"]) for each, limits in needed]
    return Bands(
        source=Messages.of("diagnosis")("source", lang),
        bands=tuple(_band(each, limits, "poor") for each, limits in limited),
        production=tuple(_band(each, limits, "below") for each, limits in needed),
        not_measured=_missing(report),
        cautions=_out_of_reach(least, lang),
    )


def targets(report: RankingReport, use: Use, lang: Lang = "en") -> Targets:
    """The measures to watch for a use, beside their targets.

    Raises:
        ConfigError: there is no such use.
    """
    uses = diagnosis_table().use
    if use not in uses:
        raise ConfigError(f"there is no use {use!r}; try one of {', '.join(uses)}")
    names = dict.fromkeys((*uses[use].watch, *uses[use].target))
    held = tuple(_target(report, name, uses[use].target.get(name)) for name in names)
    limits = [(each.figure, each.target) for each in held if each.figure and each.target]
    return Targets(
        use=use,
        name=Messages.of("diagnosis")(f"use.{use}", lang),
        targets=held,
        cautions=_out_of_reach(limits, lang),
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
    given = {} if answers is None else {each.measure: each for each in answer_figures(answers)}
    alike = before is not None and _alike(report, before)
    numbers = _Numbers(report, before if alike else None, given)
    read = [_read(rule, numbers, lang) for rule in diagnosis_table().rule if _asked(rule, numbers)]
    return Diagnoses(
        found=tuple(each for each in read if isinstance(each, Diagnosis)),
        unjudged=tuple(each for each in read if isinstance(each, Unjudged)),
        cautions=tuple(_cautions(report, before, answers, lang)),
    )


def figure(report: RankingReport, measure: str) -> Figure | None:
    """One mean of a report; None where it was not measured."""
    value = report.mean.get(measure)
    if value is None or not math.isfinite(value):
        return None
    most = report.ceiling.get(measure, 1.0)
    return Figure(
        measure=measure,
        value=value,
        interval=report.interval.get(measure),
        ceiling=None if _at_least(most, 1) else most,
    )


def answer_figures(summary: Summary) -> tuple[Figure, ...]:
    """What rules are about: shares where the run knows what was retrieved, means where not.

    What is not to be trusted is left out.
    """
    compared = summary.correctness
    trusted = {
        "faithful": not summary.untrusted,
        "correct": compared is not None and not compared.untrusted,
    }
    if summary.breakdown is not None and summary.breakdown.cells:
        cells = summary.breakdown.cells
        shares = (_share(cells, yes, no) for yes, no in _ASKED if trusted[yes])
        return tuple(each for each in shares if each is not None)
    means = (
        ("faithfulness", trusted["faithful"] and summary.faithfulness),
        ("correctness_recall", trusted["correct"] and compared and compared.recall),
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
    low, high = wilson(value, counted)
    interval = Interval(low=low, high=high, method="wilson")
    return Figure(measure=f"{yes}_of_retrieved", value=value, interval=interval)


def _missing(report: RankingReport) -> tuple[str, ...]:
    """Null means, then families without any mean, then what production asks for; each once."""
    rules = diagnosis_table()
    families = {name.partition("@")[0] for name in report.mean}
    names = [name for name in report.mean if name.partition("@")[0] in rules.band]
    names += [f"{family}@k" for family in rules.band if family not in families]
    names += [*rules.production]
    return tuple(dict.fromkeys(name for name in names if figure(report, name) is None))


def _target(report: RankingReport, name: str, target: float | None) -> Target:
    found = figure(report, name)
    if found is None or target is None:
        return Target(measure=name, target=target, figure=found, met=None, sure=None)
    met = _at_least(found.value, target)
    sure = _sure(found, target, above=met)
    return Target(measure=name, target=target, figure=found, met=met, sure=sure)


def _sure(found: Figure, limit: float, *, above: bool) -> bool | None:
    """Whether the whole interval is on this side of the limit; None without one."""
    if found.interval is None:
        return None
    return _at_least(found.interval.low if above else found.interval.high, limit) is above


def _at_least(value: float, limit: float) -> bool:
    """Whether a value is not under a limit, rounding errors aside."""
    return value >= limit - _ROUNDING


def _capped(found: Figure, limit: float) -> bool:
    """Whether no ranking could bring the figure to the limit."""
    return found.ceiling is not None and not _at_least(found.ceiling, limit)


def _band(found: Figure, limits: dict[_Level, float], lowest: _Level) -> Band:
    """The last of the levels whose limit the mean reaches, and those of its interval's ends."""

    def level(value: float) -> _Level:
        reached = (name for name in reversed(limits) if _at_least(value, limits[name]))
        return next(reached, lowest)

    held = found.interval
    span = None if held is None else (level(held.low), level(held.high))
    return Band(figure=found, level=level(found.value), span=span)


def _out_of_reach(limits: Iterable[tuple[Figure, float]], lang: Lang) -> tuple[str, ...]:
    """A caution that names the figures no ranking could bring to their limits."""
    most = [f"{each.measure} {each.ceiling:.3f}" for each, limit in limits if _capped(each, limit)]
    return (_said("ceiling", lang, most=", ".join(dict.fromkeys(most))),) if most else ()


def _said(key: str, lang: Lang, **values: object) -> str:
    return Messages.of("diagnosis")(f"say.{key}", lang, **values)


class _Numbers(NamedTuple):
    report: RankingReport
    before: RankingReport | None
    answers: dict[str, Figure]

    def now(self, measure: str) -> Figure | None:
        return self.answers.get(measure) or figure(self.report, measure)

    def first(self, measures: Iterable[str]) -> Figure | None:
        return next((each for name in measures if (each := self.now(name))), None)

    def both(self, measure: str) -> tuple[Figure, Figure] | None:
        now = figure(self.report, measure)
        then = None if self.before is None else figure(self.before, measure)
        return None if now is None or then is None else (now, then)


def _asked(rule: DiagnosisRule, numbers: _Numbers) -> bool:
    """Whether what the rule is about was given at all."""
    for row in rule.when:
        if isinstance(row, ChangeRow) and numbers.before is None:
            return False
        if row.measures[0] in ANSWERS and row.measures[0] not in numbers.answers:
            return False
    return True


def _read(rule: DiagnosisRule, numbers: _Numbers, lang: Lang) -> Diagnosis | Unjudged | None:
    """The diagnosis, or what it lacks; None where a row rules it out."""
    says = Messages.of("diagnosis")
    held = [_hold(row, numbers) for row in rule.when]
    if False in held:
        return None
    finding = says(f"finding.{rule.name}", lang)
    if None in held:
        missing, capped = [], []
        for row in (row for row, ground in zip(rule.when, held, strict=True) if ground is None):
            names = row.measures
            if isinstance(row, LevelRow) and (now := numbers.first(names)) is not None:
                capped.append(now)
                # Only what would have been taken before it can still tell.
                names = names[: names.index(now.measure)]
            if names:
                missing.append(names)
        return Unjudged(
            name=rule.name, finding=finding, missing=tuple(missing), capped=tuple(capped)
        )
    grounds = tuple(ground for ground in held if isinstance(ground, Ground))
    sure = {ground.sure for ground in grounds}
    return Diagnosis(
        name=rule.name,
        finding=finding,
        advice=tuple(says(f"advice.{name}", lang) for name in rule.advice),
        grounds=grounds,
        sure=False if False in sure else None if None in sure else True,
    )


def _hold(row: LevelRow | ChangeRow, numbers: _Numbers) -> Ground | bool | None:
    """The ground where the row holds, False where it does not, None where it cannot be told."""
    if isinstance(row, ChangeRow):
        pairs: Iterator[tuple[Figure, Figure]] = filter(None, map(numbers.both, row.measures))
        pair = next(pairs, None)
        return None if pair is None else _held_change(row, *pair)
    now, above = numbers.first(row.measures), row.op == "at_least"
    if now is None or _capped(now, row.than):
        return None
    if _at_least(now.value, row.than) is not above:
        return False
    sure = _sure(now, row.than, above=above)
    return Ground(figure=now, op=row.op, than=row.than, sure=sure)


def _held_change(row: ChangeRow, now: Figure, then: Figure) -> Ground | bool:
    limits = diagnosis_table().change
    gap = now.value - then.value
    change = sure = None
    if (own := now.interval) and (earlier := then.interval):
        ends, others = (own.low, own.high), (earlier.low, earlier.high)
        change = difference(now.value, ends, then.value, others)
    if row.op == "up":
        holds = _at_least(gap, limits.least) and (change is None or change[0] > 0)
        sure = None if change is None else True
    elif change is None:
        holds = not _at_least(abs(gap), limits.least)
    else:
        holds = _at_least(limits.most, abs(gap)) and change[0] <= 0 <= change[1]
        sure = _at_least(limits.most, max(map(abs, change)))
    return holds and Ground(figure=now, op=row.op, before=then, change=change, sure=sure)


def _alike(report: RankingReport, before: RankingReport) -> bool:
    # Cut-offs say which means were made, and the seed is of their intervals: both may differ.
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
    if answers.untrusted or (compared is not None and compared.untrusted):
        yield _said("untrusted", lang)
    if answers.by_similarity:
        yield _said("similarity", lang)
    if answers.answers != report.queries:
        yield _said("others", lang, answers=answers.answers, queries=report.queries)
