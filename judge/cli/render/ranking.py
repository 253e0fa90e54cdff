"""Rank measures, printed: the table, the lists for a person, and what the numbers mean."""

from collections.abc import Iterator
from typing import Final, TypeAlias

from rich.console import Console
from rich.table import Table
from rich.text import Text

from judge.cli.render.page import Page, number
from judge.cli.terminal import figure_table, print_table
from judge.retrieval.records import (
    IrrelevantTop,
    MissedGold,
    PairedChunks,
    QueryRanks,
    RankingReport,
)
from judge.text.visible import clip, flat

_Listed: TypeAlias = QueryRanks | MissedGold | IrrelevantTop | PairedChunks

_LONGEST: Final = 60
_NAMED: Final = 5
_LABEL: Final = 9
"""Columns of the terminal that the longest name of a measure takes."""
_BETWEEN: Final = 3
_HUGE: Final = 1e6


def print_ranked(report: RankingReport, console: Console) -> None:
    """Print the means, the lists, and the notes."""
    page = Page(console)
    whole = figure_table("whole ranking", "mean", "95 % interval", "queries")
    for name, mean in report.mean.items():
        if "@" not in name:
            limits = _limits(report, name) or "–"
            whole.add_row(name, number(mean), limits, str(report.defined[name]))
    for table in (whole, *_at_cutoffs(report, console.width)):
        print_table(table, console)
    page.say(_counts(report), hang=2)
    for title, items in _lists(report):
        page.blank()
        page.say(title, hang=2, style="bold")
        for item, said in items:
            page.say(_line(item, said), hang=4)
    page.blank()
    for warning in report.warnings:
        page.say(f"warning: {warning}", hang=2, style="yellow")
    for status, qids in report.listed.items():
        page.say(f"{status.replace('_', ' ')}: {_some(qids, report.statuses[status])}", hang=2)
    for note in report.notes:
        page.say(note, hang=2, style="dim")
    page.copied(f"made by {report.signature}", style="dim")


def _at_cutoffs(report: RankingReport, width: int) -> Iterator[Table]:
    """Measures by k, the interval below the mean; as many tables as that width asks for."""
    names = [name for name in report.mean if "@" in name]
    measures = dict.fromkeys(name.partition("@")[0] for name in names)
    ks = list(dict.fromkeys(name.partition("@")[2] for name in names))
    cells = [_figure(report.mean[name]) for name in names] + [_limits(report, n) for n in names]
    beside = max(1, (width - _LABEL) // (max(map(len, cells)) + _BETWEEN))
    for start in range(0, len(ks), beside):
        some = ks[start : start + beside]
        table = figure_table("first k", *(f"@{k}" for k in some))
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


def _limits(report: RankingReport, name: str) -> str:
    interval = report.interval[name]
    return f"{_figure(interval.low)}–{_figure(interval.high)}" if interval else ""


def _counts(report: RankingReport) -> str:
    queries = "query" if report.topped_total == 1 else "queries"
    said = [
        f"{report.averaged} of {report.queries} queries in the means",
        f"{report.missed_total} of {report.relevant_total} relevant not in the first "
        + _last(report),
        f"{report.topped_total} {queries} with something irrelevant on top",
    ]
    if count := report.pairs_total.get("duplicate"):
        pairs = f"near-duplicate pair{'s' * (count > 1)}"
        said.append(f"{count} {pairs} in the first {report.compared}")
    return "; ".join(said)


def _last(report: RankingReport) -> str:
    return next(reversed(report.mean), "").rpartition("@")[2]


def _lists(report: RankingReport) -> Iterator[tuple[str, list[tuple[_Listed, str]]]]:
    lists: tuple[tuple[str, list[tuple[_Listed, str]]], ...] = (
        ("Worst queries, by average precision", [(item, _worst(item)) for item in report.worst]),
        (
            f"Relevant, and not in the first {_last(report)}",
            [(item, _missed(item)) for item in report.missed],
        ),
        ("Irrelevant on top", [(item, _topped(item)) for item in report.topped]),
        (f"Alike in the first {report.compared}", [(item, _paired(item)) for item in report.pairs]),
    )
    return ((title, items) for title, items in lists if items)


def _worst(item: QueryRanks) -> str:
    first = item.measures["rr"]
    said = f"ap {number(item.measures['ap'])}, {item.found} of {item.relevant} relevant"
    said += f" among {item.ranked} ranked" if item.ranked else ", nothing is ranked"
    return said + (f", the first at rank {round(1 / first)}" if first else "")


def _missed(item: MissedGold) -> str:
    where = "is not ranked at all" if item.rank is None else f"stands at rank {item.rank}"
    grade = "" if item.relevance == 1 else f" (relevance {item.relevance:g})"
    return f"{_short(item.chunk_id)}{grade} {where}"


def _topped(item: IrrelevantTop) -> str:
    first = item.first_relevant
    where = "nothing relevant is ranked" if first is None else f"the first relevant is at {first}"
    return f"{_some(item.chunk_ids, len(item.chunk_ids))} above; {where}"


def _paired(item: PairedChunks) -> str:
    one, other = item.ranks
    ids = f"{_short(item.first)} (rank {one}) and {_short(item.second)} (rank {other})"
    return f"{ids} are near-duplicates, {item.similarity:.0%} shared"


def _line(item: _Listed, said: str) -> Text:
    line = Text("  ").append(_short(item.qid), style="bold").append(f"  {said}")
    query = getattr(item, "query", "")
    return line.append(f"  {_short(query)}", style="dim") if query else line


def _some(names: tuple[str, ...], count: int) -> str:
    shown = ", ".join(map(_short, names[:_NAMED]))
    return shown if count <= _NAMED else f"{shown} and {count - _NAMED} more"


def _short(name: str) -> str:
    return clip(flat(name), _LONGEST)
