"""Comparisons of runs: of the scores of answers, and of the measures of rankings."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from rich.text import Text

from judge.cli.render.answers import LOOKS, gate_line, mark
from judge.cli.terminal import Page, figures, number, some
from judge.messages import Messages
from judge.records import Interval
from judge.records.comparison import (
    Differences,
    RunComparison,
    ScoreDifference,
    SentenceChange,
    Side,
)
from judge.reports.compare import WITHOUT, doubt_lines, loss_lines, score_name, sparkline
from judge.reports.gate import less_is_better
from judge.retrieval.records import MeasureDifference, Mismatch, RunsReport
from judge.text.visible import clip, flat, plural, short

_MAX_NAME: Final = 60
_MAX_RUN_NAME: Final = 20
_MAX_NAMES: Final = 5
_MAX_SLICES: Final = 20
_MAX_SENTENCE: Final = 300
_BAR: Final = 40
"""Columns of a bar for the value 1."""
_SIGNIFICANT: Final = 0.05
_SMALLEST_P: Final = 0.0001
_COLUMNS: Final = ("first", "value", "difference", "interval", "p", "p_holm", "pairs")
_METHOD: Final = (
    "Each difference is a run minus {first}, over the queries that both have: a paired t test and "
    "its interval. p is never under what the signs of the differences could show; if fewer than "
    "six queries differ, there is no interval. Better and worse count queries."
)
_CHANCE: Final = (
    "With many differences, some have p under .05 by chance: one in twenty if nothing changed. "
    "Choose beforehand which one counts."
)
_MISMATCHES: Final[dict[Mismatch, str]] = {
    "only_here": "Queries only in {run}, which enter no difference: {count} ({qids})",
    "only_first": "Queries only in {first}, which enter no difference with {run}: {count} ({qids})",
    "query_differs": (
        "Queries with other words in {run} than in {first}: {count} ({qids}); "
        "are these the same questions?"
    ),
    "gold_differs": (
        "Queries with another number of relevant chunks in {run} than in {first}: {count} "
        "({qids}); their recall and precision are not comparable"
    ),
}


def _signed(value: float) -> str:
    return f"{value:+.3f}".replace("-", "\N{MINUS SIGN}")


def _span(limits: Interval | None) -> str:
    return "–" if limits is None else f"{_signed(limits.low)} … {_signed(limits.high)}"


def _p(value: float) -> str:
    return f"<{_SMALLEST_P:.4f}".replace("0.", ".") if value < _SMALLEST_P else f"{value:.4f}"


def _run_name(name: str) -> str:
    """Return a name, or its end, where the names of runs differ."""
    return clip(flat(name)[::-1], _MAX_NAME)[::-1]


def print_compared(
    report: RunsReport, measures: Sequence[str], page: Page, *, chart: bool = False
) -> None:
    """Print the measures of rankings in each run, and how they differ from the first run."""
    headers = ("run", "mean", "diff.", "95 % interval", "p", "gain", "better\n/ worse")
    table = figures("measure", *headers)
    table.columns[1].justify, table.padding = "left", (0, 1, 0, 0)
    means = [run.report.mean for run in report.runs]
    measures = [each for each in measures if any(mean[each] is not None for mean in means)]
    for measure in measures:
        for place, run in enumerate(report.runs):
            cells = _measure_cells(measure, run.differences.get(measure))
            name = short(run.name, _MAX_RUN_NAME)
            mean = number(run.report.mean[measure])
            table.add_row("" if place else measure, name, mean, *cells)
    page.table(table)
    if chart:
        _print_chart(report, measures, page)
    for line in _notes(report):
        page.say(line, hang=2)
    for run in report.runs:
        for gate in run.report.gates:
            text = Text(f"{short(run.name, _MAX_RUN_NAME)}: ")
            page.say(text.append_text(gate_line(gate)), hang=2)
    page.made_by(dict.fromkeys(run.report.signature for run in report.runs))


def _measure_cells(measure: str, found: MeasureDifference | None) -> tuple[str | Text, ...]:
    """Return the difference, its interval, p, gain, and the numbers of better and worse queries."""
    if found is None:
        return ("",) * 5
    better, worse = found.higher, found.lower
    if less_is_better(measure):
        better, worse = worse, better
    limits, style = found.interval, ""
    if limits is not None and found.p < _SIGNIFICANT and not limits.low <= 0 <= limits.high:
        style = "green" if (found.difference > 0) is not less_is_better(measure) else "red"
    gain = "–" if found.gain is None else f"{100 * found.gain:+.1f} %"
    difference = Text(_signed(found.difference), style=style)
    gain = gain.replace("-", "\N{MINUS SIGN}")
    return (difference, _span(limits), _p(found.p), gain, f"{better} / {worse}")


def _print_chart(report: RunsReport, measures: Sequence[str], page: Page) -> None:
    block = "█" if page.speaks_utf else "#"
    for measure in measures:
        page.say(measure, style="bold")
        table = figures("", "", "")
        table.show_header, table.box = False, None
        table.columns[1].justify = "left"
        for run in report.runs:
            if (mean := run.report.mean[measure]) is not None:
                bar = block * round(_BAR * min(1.0, mean))
                name = short(run.name, _MAX_RUN_NAME)
                table.add_row(f"  {name}", bar.ljust(_BAR), number(mean))
        page.table(table)


def _notes(report: RunsReport) -> Iterator[str]:
    names = [short(run.name, _MAX_RUN_NAME) for run in report.runs]
    others = report.runs[1:]
    if others:
        yield _METHOD.format(first=names[0])
    if any(found is not None for run in others for found in run.differences.values()):
        yield _CHANCE
    for name, run in zip(names, report.runs, strict=True):
        averaged, queries = run.report.averaged, run.report.queries
        if averaged < queries:
            yield f"{name}: {averaged} of {queries} {plural(queries, 'query')} in the means"
    for name, run in zip(names[1:], others, strict=True):
        for kind, count in run.mismatches.items():
            qids = some(run.listed[kind], count, _MAX_NAMES, _MAX_RUN_NAME)
            yield _MISMATCHES[kind].format(run=name, first=names[0], count=count, qids=qids)
    for name, run in zip(names, report.runs, strict=True):
        for warning in run.report.warnings:
            yield f"{name}: {warning}"
    if report.rejected:
        yield f"lines left out because they are no samples: {report.rejected}"


def print_differences(report: RunComparison, page: Page, *, most: int) -> None:
    """Print how the scores of each run differ from those of the first, then the gates.

    The `most` answers that lost most are listed.
    """
    _Comparison(report, page, most).print()


class _Comparison:
    def __init__(self, report: RunComparison, page: Page, most: int) -> None:
        self._report, self._page, self._most = report, page, most
        self._say = Messages.of("compare", "say")
        self._first = _run_name(report.runs[0].name)
        self._headline = next(iter(report.sides))

    def print(self) -> None:
        report, page, say = self._report, self._page, self._say
        if report.across:
            page.say(say("across", parts="; ".join(report.across)), hang=2, style="bold yellow")
        for run in report.runs:
            if run.untrusted:
                page.say(say("untrusted", run=_run_name(run.name)), hang=2, style="bold red")
        if len(report.runs) > 2:  # noqa: PLR2004
            self._print_course()
        self._print_run(report.differences[-1])
        for name, why in report.left_out.items():
            page.say(say("left_out", run=_run_name(name), why=why), hang=2)
        for gate in report.gates:
            page.say(gate_line(gate), hang=2)
        for line in loss_lines(report):
            page.say(line, hang=2)
        page.made_by(dict.fromkeys(made for run in report.runs for made in run.signatures))

    def _name(self, score: str) -> str:
        return score_name(score, offline=self._report.offline)

    def _joined(self, parts: Sequence[str]) -> str:
        return self._say("joint").join(parts)

    def _print_course(self) -> None:
        """Print each score in all runs in their order, over each run's own answers."""
        say, runs, headline = self._say, self._report.runs, self._headline
        table = figures(*map(say, ("score", "course", "first", "last")))
        table.columns[1].justify = "left"
        for name in self._report.sides:
            means = [run.mean[name] for run in runs]
            if len(set(means)) > 1:
                line = sparkline(means, plain=not self._page.speaks_utf)
                table.add_row(self._name(name), line, number(means[0]), number(means[-1]))
        if table.rows:
            self._page.table(table)
        heads = (*map(say, ("run", "started")), self._name(headline), *map(say, _COLUMNS[2:]))
        table = figures(*heads)
        for place, run in enumerate(runs):
            cells: Sequence[str | Text] = ("",) * 5
            if place:
                found = self._report.differences[place - 1].scores[headline]
                cells = self._cells(found, self._report.sides[headline])[2:]
            started = (run.started or "–")[:16].replace("T", " ")
            table.add_row(_run_name(run.name), started, number(run.mean[headline]), *cells)
        self._page.table(table)

    def _print_run(self, found: Differences) -> None:
        page, say, sides = self._page, self._say, self._report.sides
        title = say("against", run=_run_name(found.run), first=self._first, count=found.common)
        rows = {
            self._name(name): (score, sides[name])
            for name, score in found.scores.items()
            if score is not None and _is_shown(score)
        }
        self._print_table("score", title, rows)
        for line in self._notes(found):
            page.say(line, hang=2)
        if self._report.by is not None:
            self._print_slices(found, flat(self._report.by))
        self._print_changes(found)
        page.blank()
        page.say(say("how"), hang=2, style="dim")

    def _print_table(
        self, head: str, title: str, rows: Mapping[str, tuple[ScoreDifference, Side]]
    ) -> None:
        self._page.say(title, hang=2, style="bold")
        table = figures(*map(self._say, (head, *_COLUMNS)))
        table.padding = (0, 1, 0, 0)
        for name, (score, side) in rows.items():
            table.add_row(name, *self._cells(score, side))
            if score.bounds is not None:
                span = f"{_signed(score.bounds[0])} … {_signed(score.bounds[1])}"
                failures = self._say("failures", open=score.open)
                table.add_row(failures, "", "", "", span, "", "", "")
        if rows:
            self._page.table(table)

    def _cells(self, found: ScoreDifference | None, side: Side) -> tuple[str | Text, ...]:
        """Return both means, the difference, its interval, two p, and answers won, lost, tied."""
        if found is None:
            return ("–",) * 7
        style = ""
        if found.p_holm < _SIGNIFICANT:
            style = "green" if (found.difference > 0) is (side == "least") else "red"
        return (
            number(found.first),
            number(found.value),
            Text(_signed(found.difference), style=style),
            _span(found.interval),
            _p(found.p),
            _p(found.p_holm),
            f"{found.better} / {found.worse} / {found.tied}",
        )

    def _notes(self, found: Differences) -> Iterator[str]:
        say = self._say
        same = [self._name(n) for n, s in found.scores.items() if s and not _is_shown(s)]
        if same:
            yield say("equal", names=self._joined(same))
        missing = [self._name(name) for name, score in found.scores.items() if score is None]
        if missing:
            yield say("unpaired", names=self._joined(missing))
        for kind, qids in found.listed.items():
            if count := getattr(found, kind):
                some = ", ".join(map(_run_name, qids[:_MAX_NAMES]))
                some += say("more", count=count - _MAX_NAMES) if count > _MAX_NAMES else ""
                run = _run_name(found.run)
                yield say(kind, run=run, first=self._first, count=count, qids=some)
        yield from doubt_lines(self._report)

    def _print_slices(self, found: Differences, by: str) -> None:
        say, side = self._say, self._report.sides[self._headline]
        rows = {
            _run_name(value) if value != WITHOUT else say("without"): (score, side)
            for value, table in found.slices.items()
            if (score := table[self._headline]) is not None
        }
        self._page.blank()
        title = say("by", score=self._name(self._headline), of=by)
        self._print_table("slice", title, dict(list(rows.items())[:_MAX_SLICES]))
        if len(rows) > _MAX_SLICES:
            self._page.say(say("more_slices", count=len(rows) - _MAX_SLICES), hang=2)
        if found.moved:
            values = {"of": by, "run": _run_name(found.run), "first": self._first}
            self._page.say(say("moved", **values, count=found.moved), hang=2)

    def _print_changes(self, found: Differences) -> None:
        """Print how labels changed in equal answers, and the answers that lost most."""
        page, say, labels = self._page, self._say, Messages.of("looks", "label")
        if found.same_text:
            changes = [
                say("label", first=labels(each.first), then=labels(each.then), count=each.sentences)
                for each in found.labels
            ]
            text = self._joined(changes) if changes else say("no_label")
            page.say(say("labels", count=found.same_text, changes=text), hang=2)
        if not found.changed:
            if found.common:
                page.say(say("same"), hang=2)
            return
        headline = found.scores[self._headline]
        losses = headline.worse if headline else 0
        lost = found.worst[: min(self._most, losses)]
        values = {"score": self._name(self._headline)}
        if not losses:
            page.say(say("no_loss", **values, count=found.changed), hang=2)
        if lost:
            page.blank()
            page.say(say("worst", **values, shown=len(lost), count=losses), style="bold")
        for each in lost:
            values = {"first": number(each.first), "value": number(each.value)}
            line = say("changed", **values, qid=_run_name(each.qid))
            if each.same_text:
                line += f"  ({say('same_text', count=each.sentences)})"
            page.say(line, 2, hang=2)
            for sentence in each.told[:_MAX_NAMES]:
                self._print_sentence(sentence)

    def _print_sentence(self, change: SentenceChange) -> None:
        names = Messages.of("looks", "label")
        look = LOOKS[change.label]
        labels = (names(each) for each in (change.first, change.label) if each)
        line = Text(f"{mark(look, self._page)} {' → '.join(labels)}  ")
        line.stylize(look.style)
        self._page.say(line.append(clip(flat(change.text), _MAX_SENTENCE)), 4, hang=2)


def _is_shown(score: ScoreDifference) -> bool:
    """Return whether a score differs, or is open, in any answer."""
    return bool(score.better + score.worse + score.open)
