"""Several runs side by side, printed: means, paired differences, and what does not match."""

from collections.abc import Iterator, Sequence
from typing import Final

from rich.text import Text

from judge.cli.render.looks import gate_line
from judge.cli.terminal import Page, figures, number, words
from judge.reports.gate import less_is_better
from judge.retrieval.records import ComparedRun, MeasureDifference, RunsReport
from judge.text.visible import clip, flat

_LONGEST: Final = 20
_NAMED: Final = 5
_LEVEL: Final = 0.05
_LEAST_P: Final = 0.0001
_BAR: Final = 40


def print_compared(
    report: RunsReport, measures: Sequence[str], page: Page, *, chart: bool = False
) -> None:
    """Print the table of these measures, the chart if wished, and the notes."""
    say = words("comparison", "say", page.lang)
    headers = ("measure", "run", "mean", "difference", "interval", "p", "gain", "better_worse")
    table = figures(*map(say, headers))
    table.columns[1].justify, table.padding = "left", (0, 1, 0, 0)
    means = [run.report.mean for run in report.runs]
    measures = [each for each in measures if any(mean[each] is not None for mean in means)]
    for measure in measures:
        for place, run in enumerate(report.runs):
            cells = _cells(measure, run.differences.get(measure))
            mean = number(run.report.mean[measure])
            table.add_row("" if place else measure, _short(run.name), mean, *cells)
    page.table(table)
    if chart:
        _print_chart(report, measures, page)
    for line in _notes(report, page):
        page.say(line, hang=2)
    for run in report.runs:
        for gate in run.report.gates:
            name = Text(say("of_run", run=_short(run.name)))
            page.say(name.append_text(gate_line(gate, page.lang)), hang=2)
    page.made_by(dict.fromkeys(run.report.signature for run in report.runs))


def _cells(measure: str, found: MeasureDifference | None) -> tuple[str | Text, ...]:
    """Difference, interval, p, gain, and how many queries are better and worse."""
    if found is None:
        return ("", "", "", "", "")
    better, worse = found.higher, found.lower
    if less_is_better(measure):
        better, worse = worse, better
    limits = found.interval
    span = "–" if limits is None else f"{signed(limits.low)} … {signed(limits.high)}"
    style = ""
    if limits is not None and found.p < _LEVEL and not limits.low <= 0 <= limits.high:
        style = "green" if (found.difference > 0) is not less_is_better(measure) else "red"
    p = "<.0001" if found.p < _LEAST_P else f"{found.p:.4f}"
    gain = "–" if found.gain is None else _minus(f"{100 * found.gain:+.1f} %")
    shown = Text(signed(found.difference), style=style)
    return (shown, span, p, gain, f"{better} / {worse}")


def signed(value: float) -> str:
    """A difference, with its sign."""
    return _minus(f"{value:+.3f}")


def _minus(text: str) -> str:
    return text.replace("-", "\N{MINUS SIGN}")


def _print_chart(report: RunsReport, measures: Sequence[str], page: Page) -> None:
    """A bar for each run below the name of the measure; its full length is 1."""
    mark = "█" if page.speaks_utf else "#"
    for measure in measures:
        page.say(measure, style="bold")
        table = figures("", "", "")
        table.show_header, table.box = False, None
        table.columns[1].justify = "left"
        for run in report.runs:
            if (mean := run.report.mean[measure]) is not None:
                bar = mark * round(_BAR * min(1.0, mean))
                table.add_row(f"  {_short(run.name)}", bar.ljust(_BAR), number(mean))
        page.table(table)


def _notes(report: RunsReport, page: Page) -> Iterator[str]:
    say = words("comparison", "say", page.lang)
    first, *others = report.runs
    if others:
        yield say("how", first=_short(first.name))
    tested = sum(found is not None for run in others for found in run.differences.values())
    if tested:
        yield say("many")
    for run in report.runs:
        averaged, queries = run.report.averaged, run.report.queries
        if averaged < queries:
            yield say("averaged", run=_short(run.name), averaged=averaged, queries=queries)
    for run in others:
        for kind, count in run.mismatches.items():
            some = ", ".join(map(_short, run.listed[kind][:_NAMED]))
            more = say("more", count=count - _NAMED) if count > _NAMED else ""
            names = {"run": _short(run.name), "first": _short(first.name)}
            yield say(kind, **names, count=count, qids=some + more)
    yield from _warnings(report.runs)
    if report.rejected:
        yield say("rejected", count=report.rejected)


def _warnings(runs: Sequence[ComparedRun]) -> Iterator[str]:
    for run in runs:
        for warning in run.report.warnings:
            yield f"{_short(run.name)}: {warning}"


def _short(name: str) -> str:
    return clip(flat(name), _LONGEST)
