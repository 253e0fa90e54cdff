"""Print how the scores of runs differ."""

from collections.abc import Mapping, Sequence
from typing import Final

from rich.text import Text

from judge.cli.render.answers import gate_line
from judge.cli.terminal import Page, chance, number, signed, some
from judge.messages import Messages
from judge.records.comparison import Differences, RunComparison, ScoreDifference, Side
from judge.reports.compare import WITHOUT, doubt_lines, label_line, loss_lines, score_name
from judge.text.visible import clip, flat

_MAX_NAME: Final = 60
_MAX_SLICES: Final = 20
_SIGNIFICANT: Final = 0.05
_COLUMNS: Final = ("first", "value", "difference", "interval", "p", "p_holm", "pairs")
_Rows = Mapping[str, tuple[ScoreDifference, Side]]
"""Differences by the name of a score or of a slice, each with the side that is better."""


def _run_name(name: str) -> str:
    """Return a name, or its end, where the names of runs differ."""
    return clip(flat(name)[::-1], _MAX_NAME)[::-1]


def print_differences(report: RunComparison, page: Page, *, most: int) -> None:
    """Print how the scores of each run differ from those of the first, then the gates.

    The `most` answers that lost most are listed.
    """
    say = Messages.of("compare", "say")
    if report.across:
        page.say(say("across", parts="; ".join(report.across)), hang=2, style="bold yellow")
    for run in report.runs:
        if run.untrusted:
            page.say(say("untrusted", run=_run_name(run.name)), hang=2, style="bold red")
    if len(report.runs) > 2:  # noqa: PLR2004
        _print_runs(report, page)
    last = report.differences[-1]
    _print_scores(report, last, page)
    if report.by is not None:
        _print_slices(report, last, flat(report.by), page)
    _print_changes(report, last, page, most)
    page.say(say("how"), hang=2, style="dim")
    for gate in report.gates:
        page.say(gate_line(gate), hang=2)
    for line in loss_lines(report):
        page.say(line, hang=2)
    page.made_by(dict.fromkeys(made for run in report.runs for made in run.signatures))


def _headline(report: RunComparison) -> tuple[str, str]:
    key = next(iter(report.sides))
    return key, score_name(key, offline=report.offline)


def _print_runs(report: RunComparison, page: Page) -> None:
    say, (headline, name) = Messages.of("compare", "say"), _headline(report)
    scores = (None, *(each.scores[headline] for each in report.differences))
    rows = (
        (
            _run_name(run.name),
            (run.started or "–")[:16].replace("T", " "),
            number(run.mean[headline]),
            *(_cells(score, report.sides[headline])[2:] if place else ("",) * 5),
        )
        for place, (run, score) in enumerate(zip(report.runs, scores, strict=True))
    )
    page.table((*map(say, ("run", "started")), name, *map(say, _COLUMNS[2:])), rows)


def _print_scores(report: RunComparison, found: Differences, page: Page) -> None:
    say, names = Messages.of("compare", "say"), {"first": _run_name(report.runs[0].name)}
    names["run"] = _run_name(found.run)
    page.say(say("against", **names, count=found.common), hang=2, style="bold")
    rows, equal, unpaired = dict[str, tuple[ScoreDifference, Side]](), list[str](), list[str]()
    for key, score in found.scores.items():
        name = score_name(key, offline=report.offline)
        if score is None:
            unpaired.append(name)
        elif score.better or score.worse or score.bounds:
            rows[name] = (score, report.sides[key])
        else:
            equal.append(name)
    if rows:
        _print_table("score", rows, page)
    lines = [
        say(kind, names=say("joint").join(scores))
        for kind, scores in (("equal", equal), ("unpaired", unpaired))
        if scores
    ]
    lines += [
        say(kind, **names, count=count, qids=some(qids, count))
        for kind, qids in found.qids.items()
        if (count := getattr(found, kind))
    ]
    lines += doubt_lines(report)
    for line in lines:
        page.say(line, hang=2)
    if lines:
        page.blank()


def _print_slices(report: RunComparison, found: Differences, by: str, page: Page) -> None:
    say, (headline, name) = Messages.of("compare", "say"), _headline(report)
    rows = {
        _run_name(value) if value != WITHOUT else say("without"): (score, report.sides[headline])
        for value, table in found.slices.items()
        if (score := table[headline]) is not None
    }
    page.say(say("by", score=name, of=by), hang=2, style="bold")
    _print_table("slice", dict(list(rows.items())[:_MAX_SLICES]), page)
    if len(rows) > _MAX_SLICES:
        page.say(say("more_slices", count=len(rows) - _MAX_SLICES), hang=2)
        page.blank()


def _print_table(head: str, differences: _Rows, page: Page) -> None:
    say, rows = Messages.of("compare", "say"), list[Sequence[str | Text]]()
    for name, (score, side) in differences.items():
        rows.append((name, *_cells(score, side)))
        if score.bounds is not None:
            span = f"{signed(score.bounds[0])} … {signed(score.bounds[1])}"
            rows.append((say("failures", open=score.open), "", "", "", span))
    page.table([*map(say, (head, *_COLUMNS))], rows, narrow=True)


def _cells(found: ScoreDifference | None, side: Side) -> tuple[str | Text, ...]:
    """Return both means, the difference, its interval, two p, and answers won, lost, tied."""
    if found is None:
        return ("–",) * 7
    style = ""
    if found.p_holm < _SIGNIFICANT:
        style = "green" if (found.difference > 0) is (side == "least") else "red"
    return (
        number(found.first),
        number(found.value),
        Text(signed(found.difference), style=style),
        f"{signed(found.interval.low)} … {signed(found.interval.high)}",
        chance(found.p),
        chance(found.p_holm),
        f"{found.better} / {found.worse} / {found.tied}",
    )


def _print_changes(report: RunComparison, found: Differences, page: Page, most: int) -> None:
    """Print how labels changed in answers with the same text, and the answers that lost most."""
    say = Messages.of("compare", "say")
    if line := label_line(found):
        page.say(line, hang=2)
        page.blank()
    headline, name = _headline(report)
    score = found.scores[headline]
    losses = score.worse if score else 0
    lost = found.worst[: min(most, losses)]
    if not lost:
        return
    page.say(say("worst", score=name, shown=len(lost), count=losses), style="bold")
    for each in lost:
        values = {"first": number(each.first), "value": number(each.value)}
        page.say(say("changed", **values, qid=_run_name(each.qid)), 2, hang=2)
    page.blank()
