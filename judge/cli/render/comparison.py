"""Several runs side by side, printed: means, paired differences, and what does not match."""

from collections.abc import Iterator, Sequence
from typing import Final

from rich.text import Text

from judge.cli.render.answers import gate_line
from judge.cli.terminal import Page, figures, number
from judge.reports.gate import less_is_better
from judge.retrieval.records import ComparedRun, MeasureDifference, Mismatch, RunsReport
from judge.text.visible import clip, flat, plural

_LONGEST: Final = 20
_NAMED: Final = 5
_LEVEL: Final = 0.05
_LEAST_P: Final = 0.0001
_BAR: Final = 40
_HOW: Final = (
    "Each difference is a run less {first}, over the queries that both have: a paired t test and "
    "its interval. p is never under what the signs of the differences could show, and where fewer "
    "than six queries differ there is no interval. Better and worse count queries."
)
_MANY: Final = (
    "Many differences stand here: of twenty that are nothing, one has p under .05 by chance. "
    "Choose beforehand which one counts."
)
_MISMATCHES: Final[dict[Mismatch, str]] = {
    "only_here": "Queries only in {run}, and in no difference: {count} ({qids})",
    "only_first": "Queries only in {first}, and in no difference with {run}: {count} ({qids})",
    "query_differs": (
        "Queries that read otherwise in {run} than in {first}: {count} ({qids}); "
        "are these the same questions?"
    ),
    "gold_differs": (
        "Queries with another number of relevant chunks in {run} than in {first}: {count} "
        "({qids}); their recall and precision are shares of another whole"
    ),
}


def print_compared(
    report: RunsReport, measures: Sequence[str], page: Page, *, chart: bool = False
) -> None:
    """Print the table of these measures, the chart if wished, and the notes."""
    headers = ("run", "mean", "diff.", "95 % interval", "p", "gain", "better\n/ worse")
    table = figures("measure", *headers)
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
    for line in _notes(report):
        page.say(line, hang=2)
    for run in report.runs:
        for gate in run.report.gates:
            name = Text(f"{_short(run.name)}: ")
            page.say(name.append_text(gate_line(gate)), hang=2)
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


def _notes(report: RunsReport) -> Iterator[str]:
    first, *others = report.runs
    if others:
        yield _HOW.format(first=_short(first.name))
    if any(found is not None for run in others for found in run.differences.values()):
        yield _MANY
    for run in report.runs:
        averaged, queries = run.report.averaged, run.report.queries
        if averaged < queries:
            of = f"{averaged} of {queries} {plural(queries, 'query')}"
            yield f"{_short(run.name)}: {of} in the means"
    for run in others:
        for kind, count in run.mismatches.items():
            qids = ", ".join(map(_short, run.listed[kind][:_NAMED]))
            qids += f" and {count - _NAMED} more" if count > _NAMED else ""
            names = {"run": _short(run.name), "first": _short(first.name)}
            yield _MISMATCHES[kind].format(**names, count=count, qids=qids)
    yield from _warnings(report.runs)
    if report.rejected:
        yield f"lines that are no samples, and so left out: {report.rejected}"


def _warnings(runs: Sequence[ComparedRun]) -> Iterator[str]:
    for run in runs:
        for warning in run.report.warnings:
            yield f"{_short(run.name)}: {warning}"


def _short(name: str) -> str:
    return clip(flat(name), _LONGEST)
