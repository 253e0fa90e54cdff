"""Print rank measures: tables, the worst queries, and their reading."""

from collections.abc import Iterator, Mapping
from typing import Final

from rich.table import Table
from rich.text import Text

from judge.advice.diagnose import Level, Reading, Use
from judge.cli.terminal import Page, between, figures, number, some
from judge.retrieval.records import MissGuess, RankingReport, ShownChunk, WorstQuery
from judge.text.visible import plural, short

_TEXT: Final = 120
"""Characters of a chunk in a list."""
_BETWEEN: Final = 3
_STYLES: Final[Mapping[Level, str]] = {
    "poor": "red",
    "fair": "",
    "good": "green",
    "excellent": "green",
}
_GUESSES: Final[dict[MissGuess, str]] = {
    "no_shared_words": "it shares no content word with the question",
    "other_words": "it uses other words than the question, and the chunk on top more of the same",
}
"""Why a chunk was missed. Only words were compared, so each is marked as a guess."""


def print_ranked(report: RankingReport, page: Page) -> None:
    """Print the means, the lists, and the notes."""
    whole = figures("whole ranking", "mean", "95 % interval", "queries")
    for name, mean in report.mean.items():
        if "@" not in name:
            limits = between(report.interval[name], "–")
            whole.add_row(name, number(mean), limits, str(report.averaged))
    for table in (whole, *_at_cutoffs(report, page.console.width)):
        page.table(table)
    page.say(_counts(report), hang=2)
    if report.worst:
        page.blank()
        page.say("Worst queries, by average precision", hang=2, style="bold")
    for item in report.worst:
        for line in _worst(item):
            page.say(line, hang=4)
    page.blank()
    for warning in report.warnings:
        page.say(f"warning: {warning}", hang=2, style="yellow")
    for status, qids in report.listed.items():
        page.say(f"{status.replace('_', ' ')}: {some(qids, report.statuses[status])}", hang=2)
    page.made_by([report.signature])


def _at_cutoffs(report: RankingReport, width: int) -> Iterator[Table]:
    """Yield tables of measures by k, the interval below the mean, as many as the width needs."""
    names = [name for name in report.mean if "@" in name]
    rows = dict.fromkeys(name.partition("@")[0] for name in names)
    ks = list(dict.fromkeys(name.partition("@")[2] for name in names))
    cells = [number(report.mean[name]) for name in names] + [
        between(each) for each in report.interval.values()
    ]
    beside = max(1, (width - max(map(len, rows), default=0)) // (max(map(len, cells)) + _BETWEEN))
    for start in range(0, len(ks), beside):
        some = ks[start : start + beside]
        table = figures("first k", *(f"@{k}" for k in some))
        for measure in rows:
            row = [f"{measure}@{k}" for k in some]
            table.add_row(measure, *(number(report.mean[name]) for name in row))
            limits = [between(report.interval[name]) for name in row]
            if any(limits):
                table.add_row("", *limits, style="dim")
        yield table


def _counts(report: RankingReport) -> str:
    queries, deepest = report.queries, next(reversed(report.mean), "").rpartition("@")[2]
    return (
        f"{report.averaged} of {queries} {plural(queries, 'query')} in the means; "
        f"{report.missed_total} of {report.relevant_total} relevant not in the first {deepest}"
    )


def _worst(item: WorstQuery) -> Iterator[Text]:
    """Yield a query, the chunk on top, the missed chunk, and a guess why."""
    first, ap = item.measures["rr"], number(item.measures["ap"])
    facts = f"ap {ap}, {item.found} of {item.relevant} relevant"
    facts += f" among {item.ranked} ranked" if item.ranked else ", nothing is ranked"
    yield _line(item, facts + (f", the first at rank {round(1 / first)}" if first else ""))
    if item.top is not None:
        yield _chunk("on top", item.top, f"rank {item.top.rank}")
    if item.missed is not None:
        rank = item.missed.rank
        where = "relevant, not ranked" if rank is None else f"relevant, rank {rank}"
        yield _chunk("missed", item.missed, where)
    if item.guess is not None:
        yield Text(f"    a guess: {_GUESSES[item.guess]}", style="italic")


def _chunk(name: str, chunk: ShownChunk, where: str) -> Text:
    text = short(chunk.text, _TEXT)
    line = f"    {name}  {short(chunk.chunk_id)} ({where})" + (f": {text}" if text else "")
    return Text(line, style="dim")


def _line(item: WorstQuery, facts: str) -> Text:
    line = Text("  ").append(short(item.qid), style="bold").append(f"  {facts}")
    return line.append(f"  {short(item.query)}", style="dim") if item.query else line


def print_reading(found: Reading, use: Use, page: Page) -> None:
    """Print bands, targets, and what the numbers point to."""
    _title(page, "How to read this: by rules of thumb, whose limits no study supports")
    page.say("If an interval contains a limit, more queries may give another result.", hang=2)
    if found.bands:
        page.table(_by_cutoff(found.bands))
    _title(page, f"for {use.replace('_', ' ')}")
    table = figures("measure", "mean", "95 % interval", "target", "reached")
    for each in found.targets:
        mean, limits, reached = number(None), "–", Text("not measured")
        if each.figure is not None:
            mean, limits = number(each.figure.value), between(each.figure.interval, "–")
            reached = Text("yes", style="green") if each.met else Text("no", style="red")
        table.add_row(each.measure, mean, limits, number(each.target), reached)
    page.table(table)
    _title(page, "What the numbers point to")
    for finding in found.findings:
        page.say(f"- {finding.finding}", hang=2, style="bold")
        for ground in finding.grounds:
            page.say(f"  because {ground}", hang=4)
        for advice in finding.advice:
            page.say(f"  next: {advice}", hang=4)
    if not found.findings:
        page.say("No rule applies, which does not prove that all is well.", hang=2)
    if found.choice:
        page.say(found.choice, hang=2)
    if found.ceilings:
        most = ", ".join(f"{name} {number(limit)}" for name, limit in found.ceilings.items())
        text = f"Given how many chunks are relevant, no ranking could exceed {most} here."
        page.say(f"{text} These means are read as shares of that.", hang=2, style="yellow")


def _by_cutoff(bands: Mapping[str, Level]) -> Table:
    cells: dict[str, dict[str, Text]] = {}
    for name, level in bands.items():
        measure, _, k = name.partition("@")
        cells.setdefault(measure, {})[k] = Text(level, style=_STYLES[level])
    ks = sorted({k for row in cells.values() for k in row}, key=lambda k: (len(k), k))
    table = figures("band", *(f"@{k}" if k else "whole" for k in ks))
    for measure, row in cells.items():
        table.add_row(measure, *(row.get(k, Text()) for k in ks))
    return table


def _title(page: Page, text: str) -> None:
    page.blank()
    page.say(text, hang=2, style="bold")
