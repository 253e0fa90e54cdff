"""Comparisons of runs: of the scores of answers, and of the measures of rankings."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from rich.text import Text

from judge.cli.render.answers import gate_line
from judge.cli.terminal import Page, chance, figures, number, signed, some
from judge.messages import Messages
from judge.records import Interval
from judge.records.comparison import Differences, RunComparison, ScoreDifference, Side
from judge.reports.compare import WITHOUT, doubt_lines, loss_lines, score_name
from judge.retrieval.records import MeasureDifference, Mismatch, RunsReport
from judge.text.visible import clip, flat, plural, short

_MAX_NAME: Final = 60
_MAX_RUN_NAME: Final = 20
_MAX_NAMES: Final = 5
_MAX_SLICES: Final = 20
_MAX_SENTENCE: Final = 300
_SIGNIFICANT: Final = 0.05
_COLUMNS: Final = ("first", "value", "difference", "interval", "p", "p_holm", "pairs")
_METHOD: Final = (
    "Each difference is a run minus {first}, over the queries that both have: a paired t test and "
    "its interval. p is never under what the signs of the differences could show; if fewer than "
    "six queries differ, there is no interval. Better and worse count queries."
)
_MISMATCHES: Final[dict[Mismatch, str]] = {
    "only_here": "Queries only in {run}, which enter no difference: {count} ({qids})",
    "only_first": "Queries only in {first}, which enter no difference with {run}: {count} ({qids})",
    "gold_differs": (
        "Queries with another number of relevant chunks in {run} than in {first}: {count} "
        "({qids}); their recall and precision are not comparable"
    ),
}


def _span(limits: Interval | None) -> str:
    return "–" if limits is None else f"{signed(limits.low)} … {signed(limits.high)}"


def _run_name(name: str) -> str:
    """Return a name, or its end, where the names of runs differ."""
    return clip(flat(name)[::-1], _MAX_NAME)[::-1]


def print_compared(report: RunsReport, measures: Sequence[str], page: Page) -> None:
    """Print the measures of rankings in each run, and how they differ from the first run."""
    headers = ("run", "mean", "diff.", "95 % interval", "p", "gain", "better\n/ worse")
    table = figures("measure", *headers)
    table.columns[1].justify, table.padding = "left", (0, 1, 0, 0)
    means = [run.report.mean for run in report.runs]
    measures = [each for each in measures if any(mean[each] is not None for mean in means)]
    for measure in measures:
        for place, run in enumerate(report.runs):
            cells = _measure_cells(run.differences.get(measure))
            name = short(run.name, _MAX_RUN_NAME)
            mean = number(run.report.mean[measure])
            table.add_row("" if place else measure, name, mean, *cells)
    page.table(table)
    for line in _notes(report):
        page.say(line, hang=2)
    for run in report.runs:
        for gate in run.report.gates:
            text = Text(f"{short(run.name, _MAX_RUN_NAME)}: ")
            page.say(text.append_text(gate_line(gate)), hang=2)
    page.made_by(dict.fromkeys(run.report.signature for run in report.runs))


def _measure_cells(found: MeasureDifference | None) -> tuple[str | Text, ...]:
    """Return the difference, its interval, p, gain, and the numbers of better and worse queries."""
    if found is None:
        return ("",) * 5
    limits, style = found.interval, ""
    if limits is not None and found.p < _SIGNIFICANT and not limits.low <= 0 <= limits.high:
        style = "green" if found.difference > 0 else "red"
    gain = "–" if found.gain is None else f"{signed(100 * found.gain, 1)} %"
    difference = Text(signed(found.difference), style=style)
    return (difference, _span(limits), chance(found.p), gain, f"{found.higher} / {found.lower}")


def _notes(report: RunsReport) -> Iterator[str]:
    names = [short(run.name, _MAX_RUN_NAME) for run in report.runs]
    yield _METHOD.format(first=names[0])
    for name, run in zip(names, report.runs, strict=True):
        averaged, queries = run.report.averaged, run.report.queries
        if averaged < queries:
            yield f"{name}: {averaged} of {queries} {plural(queries, 'query')} in the means"
        for kind, count in run.mismatches.items():
            qids = some(run.listed[kind], count, _MAX_NAMES, _MAX_RUN_NAME)
            yield _MISMATCHES[kind].format(run=name, first=names[0], count=count, qids=qids)
        for warning in run.report.warnings:
            yield f"{name}: {warning}"
    if report.rejected:
        yield f"lines left out because they are no samples: {report.rejected}"


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
    table = figures(*map(say, ("run", "started")), name, *map(say, _COLUMNS[2:]))
    for place, run in enumerate(report.runs):
        cells: Sequence[str | Text] = ("",) * 5
        if place:
            found = report.differences[place - 1].scores[headline]
            cells = _cells(found, report.sides[headline])[2:]
        started = (run.started or "–")[:16].replace("T", " ")
        table.add_row(_run_name(run.name), started, number(run.mean[headline]), *cells)
    page.table(table)


def _print_scores(report: RunComparison, found: Differences, page: Page) -> None:
    say, names = Messages.of("compare", "say"), {"first": _run_name(report.runs[0].name)}
    names["run"] = _run_name(found.run)
    page.say(say("against", **names, count=found.common), hang=2, style="bold")
    rows = {
        score_name(key, offline=report.offline): (score, report.sides[key])
        for key, score in found.scores.items()
    }
    _print_table("score", rows, page)
    lines = [
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


def _print_table(
    head: str, rows: Mapping[str, tuple[ScoreDifference | None, Side]], page: Page
) -> None:
    say = Messages.of("compare", "say")
    table = figures(*map(say, (head, *_COLUMNS)))
    table.padding = (0, 1, 0, 0)
    for name, (score, side) in rows.items():
        table.add_row(name, *_cells(score, side))
        if score is not None and score.bounds is not None:
            span = f"{signed(score.bounds[0])} … {signed(score.bounds[1])}"
            table.add_row(say("failures", open=score.open), "", "", "", span, "", "", "")
    page.table(table)


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
        _span(found.interval),
        chance(found.p),
        chance(found.p_holm),
        f"{found.better} / {found.worse} / {found.tied}",
    )


def _print_changes(report: RunComparison, found: Differences, page: Page, most: int) -> None:
    """Print the answers that lost most."""
    say = Messages.of("compare", "say")
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
