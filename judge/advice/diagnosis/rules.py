"""What the numbers point to: the rules of the table, held against a report."""

from collections.abc import Iterable
from typing import NamedTuple

from judge.advice.diagnosis.answers import ANSWERS, answer_cautions, answer_figures
from judge.advice.diagnosis.figures import at_least, capped, figure
from judge.advice.diagnosis.table import ChangeRow, LevelRow, Rule, said, table
from judge.advice.records import Diagnoses, Diagnosis, Figure, Ground, Unjudged, Wording
from judge.records import Interval, Summary
from judge.retrieval.records import RankingReport
from judge.scores.intervals import difference
from judge.signature import Signature


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


def diagnose(
    report: RankingReport,
    *,
    before: RankingReport | None = None,
    answers: Summary | None = None,
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
    """
    given = {} if answers is None else {each.measure: each for each in answer_figures(answers)}
    cautions = () if before is None else _cautions(report, before)
    if answers is not None:
        cautions += answer_cautions(answers, report)
    comparable = before if before is not None and _alike(report, before) else None
    numbers = _Numbers(report, comparable, given)
    read = [_read(rule, numbers) for rule in table().rule if _asked(rule, numbers)]
    return Diagnoses(
        source=table().source,
        found=tuple(each for each in read if isinstance(each, Diagnosis)),
        unjudged=tuple(each for each in read if isinstance(each, Unjudged)),
        cautions=cautions,
    )


def _asked(rule: Rule, numbers: _Numbers) -> bool:
    """Whether what the rule is about was given at all."""
    for row in rule.when:
        if isinstance(row, ChangeRow) and numbers.before is None:
            return False
        if row.measures[0] in ANSWERS and row.measures[0] not in numbers.answers:
            return False
    return True


def _read(rule: Rule, numbers: _Numbers) -> Diagnosis | Unjudged | None:
    """The diagnosis, or what it lacks; None where a row rules it out."""
    held = [_hold(row, numbers) for row in rule.when]
    if False in held:
        return None
    rows = [row for row, ground in zip(rule.when, held, strict=True) if ground is None]
    if rows:
        return _unjudged(rule, rows, numbers)
    grounds = tuple(ground for ground in held if isinstance(ground, Ground))
    return Diagnosis(
        name=rule.name,
        finding=rule.finding,
        advice=rule.advice,
        grounds=grounds,
        sure=_all(ground.sure for ground in grounds),
    )


def _unjudged(rule: Rule, rows: Iterable[LevelRow | ChangeRow], numbers: _Numbers) -> Unjudged:
    missing, useless = [], []
    for row in rows:
        now = numbers.first(row.measures) if isinstance(row, LevelRow) else None
        names = row.measures
        if now is not None:
            useless.append(now)
            # Only what would have been taken before it can still tell.
            names = names[: names.index(now.measure)]
        if names:
            missing.append(names)
    return Unjudged(
        name=rule.name, finding=rule.finding, missing=tuple(missing), capped=tuple(useless)
    )


def _hold(row: LevelRow | ChangeRow, numbers: _Numbers) -> Ground | bool | None:
    """The ground where the row holds, False where it does not, None where it cannot be told."""
    if isinstance(row, LevelRow):
        now = numbers.first(row.measures)
        return None if now is None or capped(now, row.than) else _level(row, now)
    pairs = (numbers.both(name) for name in row.measures)
    pair = next((each for each in pairs if each), None)
    return None if pair is None else _change(row, *pair)


def _level(row: LevelRow, now: Figure) -> Ground | bool:
    above = row.op == "at_least"
    if at_least(now.value, row.than) is not above:
        return False
    sure = None
    if now.interval is not None:
        end = now.interval.low if above else now.interval.high
        sure = at_least(end, row.than) is above
    return Ground(figure=now, op=row.op, than=row.than, sure=sure)


def _change(row: ChangeRow, now: Figure, then: Figure) -> Ground | bool:
    limits = table().change
    gap = now.value - then.value
    change = None
    if now.interval is not None and then.interval is not None:
        change = difference(now.value, _ends(now.interval), then.value, _ends(then.interval))
    sure = None
    if row.op == "up":
        holds = at_least(gap, limits.least) and (change is None or change[0] > 0)
        sure = None if change is None else True
    elif change is None:
        holds = not at_least(abs(gap), limits.least)
    else:
        holds = at_least(limits.most, abs(gap)) and change[0] <= 0 <= change[1]
        sure = at_least(limits.most, max(map(abs, change)))
    return holds and Ground(figure=now, op=row.op, before=then, change=change, sure=sure)


def _ends(interval: Interval) -> tuple[float, float]:
    return interval.low, interval.high


def _all(each: Iterable[bool | None]) -> bool | None:
    held = set(each)
    return False if False in held else None if None in held else True


def _alike(report: RankingReport, before: RankingReport) -> bool:
    """Cut-offs say which means were made, and the seed is of their intervals: both may differ."""
    made, earlier = map(Signature.parse, (report.signature, before.signature))
    return made.without("k", "seed") == earlier.without("k", "seed")


def _cautions(report: RankingReport, before: RankingReport) -> tuple[Wording, ...]:
    if not _alike(report, before):
        return (said("unlike", before=before.signature),)
    if report.averaged != before.averaged:
        return (said("counts", before=before.averaged, now=report.averaged),)
    return (said("paired"),)
