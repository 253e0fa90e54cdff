"""Rank measures, printed: the table, the lists for a person, and what the numbers mean."""

from collections.abc import Iterator
from typing import Final

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from judge.cli.render.page import number, wrap
from judge.cli.terminal import print_table
from judge.retrieval.records import (
    IrrelevantTop,
    MissedGold,
    PairedChunks,
    QueryRanks,
    RankingReport,
)
from judge.text.visible import clip, flat, visible

_LONGEST: Final = 60
_NAMED: Final = 5
_LABEL: Final = 9
"""Columns of the terminal that the longest name of a measure takes."""
_BETWEEN: Final = 3
_HUGE: Final = 1e6


def print_ranked(report: RankingReport, console: Console) -> None:
    """Print the means, the lists, and the notes."""

    def say(text: Text, hang: int = 2) -> None:
        console.print(wrap(text, console.width, hang=hang), soft_wrap=True)

    print_table(_whole(report), console)
    for table in _at_cutoffs(report, console.width):
        print_table(table, console)
    say(_counts(report))
    for title, items in _lists(report):
        console.print()
        say(Text(title, style="bold"))
        for item in items:
            say(item, hang=4)
    console.print()
    for warning in report.warnings:
        say(Text(f"warning: {warning}", style="yellow"))
    for status, qids in report.listed.items():
        say(Text(f"{status.replace('_', ' ')}: {_some(qids, report.statuses[status])}"))
    for note in report.notes:
        say(Text(note, style="dim"))
    console.print(Text(f"made by {visible(report.signature)}", style="dim"), soft_wrap=True)


def _table(*headers: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column(headers[0])
    for header in headers[1:]:
        table.add_column(header, justify="right")
    return table


def _whole(report: RankingReport) -> Table:
    """Measures of whole rankings."""
    table = _table("whole ranking", "mean", "95 % interval", "queries")
    for name, mean in report.mean.items():
        if "@" not in name:
            limits = _limits(report, name, "–")
            table.add_row(name, number(mean), limits, str(report.defined[name]))
    return table


def _at_cutoffs(report: RankingReport, width: int) -> Iterator[Table]:
    """Measures of the first k: a row each, a column for each k, the interval below the mean.

    As many tables, one below the other, as a terminal of that width asks for.
    """
    cut = [name.partition("@") for name in report.mean if "@" in name]
    measures = list(dict.fromkeys(measure for measure, _, _ in cut))
    ks = list(dict.fromkeys(k for _, _, k in cut))
    names = [name for name in report.mean if "@" in name]
    cells = [_figure(report.mean[name]) for name in names] + [_limits(report, n) for n in names]
    beside = max(1, (width - _LABEL) // (max(map(len, cells)) + _BETWEEN))
    for start in range(0, len(ks), beside):
        some = ks[start : start + beside]
        table = _table("first k", *(f"@{k}" for k in some))
        for measure in measures:
            row = [f"{measure}@{k}" for k in some]
            table.add_row(measure, *(_figure(report.mean[name]) for name in row))
            limits = [_limits(report, name) for name in row]
            if any(limits):
                table.add_row("", *limits, style="dim")
        yield table


def _figure(value: float | None) -> str:
    """A mean to three digits; a sum of huge gains to three in all."""
    return f"{value:.3g}" if value is not None and abs(value) >= _HUGE else number(value)


def _limits(report: RankingReport, name: str, none: str = "") -> str:
    interval = report.interval[name]
    return f"{_figure(interval.low)}–{_figure(interval.high)}" if interval else none


def _counts(report: RankingReport) -> Text:
    said = [f"{report.averaged} of {report.queries} queries in the means"]
    k = _last(report)
    said.append(f"{report.missed_total} of {report.relevant_total} relevant not in the first {k}")
    queries = "query" if report.topped_total == 1 else "queries"
    said.append(f"{report.topped_total} {queries} with something irrelevant on top")
    if count := report.pairs_total.get("duplicate"):
        said.append(
            f"{count} near-duplicate pair{'s' * (count > 1)} in the first {report.compared}"
        )
    return Text("; ".join(said))


def _last(report: RankingReport) -> str:
    return next(reversed(report.mean), "").rpartition("@")[2]


def _lists(report: RankingReport) -> Iterator[tuple[str, list[Text]]]:
    k = _last(report)
    lists = (
        ("Worst queries, by average precision", [_worst(item) for item in report.worst]),
        (f"Relevant, and not in the first {k}", [_missed(item) for item in report.missed]),
        ("Irrelevant on top", [_topped(item) for item in report.topped]),
        (f"Alike in the first {report.compared}", [_paired(item) for item in report.pairs]),
    )
    return ((title, items) for title, items in lists if items)


def _worst(item: QueryRanks) -> Text:
    first = item.measures["rr"]
    said = f"ap {number(item.measures['ap'])}, {item.found} of {item.relevant} relevant"
    said += f" among {item.ranked} ranked" if item.ranked else ", nothing is ranked"
    return _line(item, said + (f", the first at rank {round(1 / first)}" if first else ""))


def _missed(item: MissedGold) -> Text:
    where = "is not ranked at all" if item.rank is None else f"stands at rank {item.rank}"
    grade = "" if item.relevance == 1 else f" (relevance {item.relevance:g})"
    return _line(item, f"{_short(item.chunk_id)}{grade} {where}")


def _topped(item: IrrelevantTop) -> Text:
    first = item.first_relevant
    where = "nothing relevant is ranked" if first is None else f"the first relevant is at {first}"
    return _line(item, f"{_some(item.chunk_ids, len(item.chunk_ids))} above; {where}")


def _paired(item: PairedChunks) -> Text:
    ids = f"{_short(item.first)} (rank {item.ranks[0]}) and {_short(item.second)} "
    ids += f"(rank {item.ranks[1]})"
    return _line(item, f"{ids} are near-duplicates, {item.similarity:.0%} shared")


def _line(item: QueryRanks | MissedGold | IrrelevantTop | PairedChunks, said: str) -> Text:
    line = Text("  ").append(_short(item.qid), style="bold").append(f"  {said}")
    query = getattr(item, "query", "")
    return line.append(f"  {clip(flat(query), _LONGEST)}", style="dim") if query else line


def _some(names: tuple[str, ...], count: int) -> str:
    shown = ", ".join(map(_short, names[:_NAMED]))
    return shown if count <= _NAMED else f"{shown} and {count - _NAMED} more"


def _short(name: str) -> str:
    return clip(flat(name), _LONGEST)
