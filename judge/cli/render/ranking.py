"""Print rank measures: tables, lists to look at, their reading, and the catalogue of measures."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Final

from rich.table import Table
from rich.text import Text

from judge.advice.diagnose import Finding, Ground, Reading, Standing
from judge.advice.rules import measures
from judge.cli.terminal import Page, between, figures, number, some
from judge.retrieval.records import (
    IrrelevantTop,
    MissedGold,
    MissGuess,
    RankingReport,
    ShownChunk,
    WorstQuery,
)
from judge.text.visible import plural, short

_TEXT: Final = 120
"""Characters of a chunk in a list."""
_BETWEEN: Final = 3
_HUGE: Final = 1e6
_STYLES: Final = {
    **dict.fromkeys(("poor", "below", "missed"), "red"),
    **dict.fromkeys(("good", "excellent", "met"), "green"),
}
_WORDS: Final = {"below": "below minimum", "met": "yes", "missed": "no", "None": "–"}
_DIRECTIONS: Final = {
    "higher": "higher is better",
    "lower": "lower is better",
    "none": "neither end is better",
}
_GUESSES: Final[dict[MissGuess, str]] = {
    "no_shared_words": "it shares no content word with the question",
    "split": "it answers a part of the question, and {chunk} another",
    "other_words": "it uses other words than the question, and the chunk on top more of the same",
}
"""Why a chunk was missed. Only words were compared, so each is marked as a guess."""


def print_ranked(report: RankingReport, page: Page) -> None:
    """Print the means, the lists, and the notes."""
    whole = figures("whole ranking", "mean", "95 % interval", "queries")
    for name, mean in report.mean.items():
        if "@" not in name:
            limits = _limits(report, name) or "–"
            whole.add_row(name, number(mean), limits, str(report.defined[name]))
    for table in (whole, *_at_cutoffs(report, page.console.width)):
        page.table(table)
    page.say(_counts(report), hang=2)
    for title, lines in _lists(report).items():
        if lines:
            page.blank()
            page.say(title, hang=2, style="bold")
        for line in lines:
            page.say(line, hang=4)
    page.blank()
    for warning in report.warnings:
        page.say(f"warning: {warning}", hang=2, style="yellow")
    for status, qids in report.listed.items():
        page.say(f"{status.replace('_', ' ')}: {some(qids, report.statuses[status])}", hang=2)
    for note in report.notes:
        page.say(note, hang=2, style="dim")
    page.made_by([report.signature])


def _at_cutoffs(report: RankingReport, width: int) -> Iterator[Table]:
    """Yield tables of measures by k, the interval below the mean, as many as the width needs."""
    names = [name for name in report.mean if "@" in name]
    rows = dict.fromkeys(name.partition("@")[0] for name in names)
    ks = list(dict.fromkeys(name.partition("@")[2] for name in names))
    cells = [_figure(report.mean[name]) for name in names] + [_limits(report, n) for n in names]
    beside = max(1, (width - max(map(len, rows), default=0)) // (max(map(len, cells)) + _BETWEEN))
    for start in range(0, len(ks), beside):
        some = ks[start : start + beside]
        table = figures("first k", *(f"@{k}" for k in some))
        for measure in rows:
            if measure == "waste" and all(report.mean[f"waste@{k}"] is None for k in ks):
                continue  # without texts there is nothing to count
            row = [f"{measure}@{k}" for k in some]
            table.add_row(measure, *(_figure(report.mean[name]) for name in row))
            limits = [_limits(report, name) for name in row]
            if any(limits):
                table.add_row("", *limits, style="dim")
        yield table


def _figure(value: float | None) -> str:
    """Return a mean with three decimals, or a huge DCG with three digits."""
    return f"{value:.3g}" if value is not None and abs(value) >= _HUGE else number(value)


def _limits(report: RankingReport, name: str) -> str:
    interval = report.interval[name]
    return f"{_figure(interval.low)}–{_figure(interval.high)}" if interval else ""


def _counts(report: RankingReport) -> str:
    queries, topped = report.queries, report.topped_total
    return (
        f"{report.averaged} of {queries} {plural(queries, 'query')} in the means; "
        f"{report.missed_total} of {report.relevant_total} relevant not in the first "
        f"{_last(report)}; {topped} {plural(topped, 'query')} with something irrelevant on top"
    )


def _last(report: RankingReport) -> str:
    return next(reversed(report.mean), "").rpartition("@")[2]


def _lists(report: RankingReport) -> dict[str, list[Text]]:
    """Return the lists for people by their titles."""
    return {
        "Worst queries, by average precision": [
            line for item in report.worst for line in _worst(item)
        ],
        f"Relevant, and not in the first {_last(report)}": [
            line for item in report.missed for line in _missed(item)
        ],
        "Irrelevant on top": [line for item in report.topped for line in _topped(item)],
    }


def _worst(item: WorstQuery) -> Iterator[Text]:
    """Yield a query, the chunk on top, the missed chunk, and a guess why."""
    first, ap = item.measures["rr"], number(item.measures["ap"])
    said = f"ap {ap}, {item.found} of {item.relevant} relevant"
    said += f" among {item.ranked} ranked" if item.ranked else ", nothing is ranked"
    yield _line(item, said + (f", the first at rank {round(1 / first)}" if first else ""))
    if item.top is not None:
        yield _chunk("on top", item.top, f"rank {item.top.rank}")
    if item.missed is not None:
        rank = item.missed.rank
        where = "relevant, not ranked" if rank is None else f"relevant, rank {rank}"
        yield _chunk("missed", item.missed, where)
    if item.guess is not None:
        why = _GUESSES[item.guess].format(chunk=short(item.beside))
        yield Text(f"    a guess: {why}", style="italic")


def _chunk(name: str, chunk: ShownChunk, where: str) -> Text:
    text = short(chunk.text, _TEXT)
    said = f"    {name}  {short(chunk.chunk_id)} ({where})" + (f": {text}" if text else "")
    return Text(said, style="dim")


def _missed(item: MissedGold) -> Iterator[Text]:
    chunk = short(item.chunk_id)
    if item.relevance != 1:
        chunk += f" (relevance {item.relevance:g})"
    where = "is not ranked" if item.rank is None else f"has rank {item.rank}"
    yield _line(item, f"{chunk} {where}")
    yield from _excerpt(item.text)


def _topped(item: IrrelevantTop) -> Iterator[Text]:
    first, chunks = item.first_relevant, some(item.chunk_ids, len(item.chunk_ids))
    end = "nothing relevant is ranked" if first is None else f"the first relevant is at {first}"
    yield _line(item, f"{chunks} above; {end}")
    yield from _excerpt(item.text)


def _excerpt(text: str) -> Iterator[Text]:
    """Yield the beginning of a chunk, if its text is known."""
    if text:
        yield Text(f"    {short(text, _TEXT)}", style="dim")


def _line(item: WorstQuery | MissedGold | IrrelevantTop, said: str) -> Text:
    line = Text("  ").append(short(item.qid), style="bold").append(f"  {said}")
    return line.append(f"  {short(item.query)}", style="dim") if item.query else line


def print_reading(found: Reading, page: Page) -> None:
    """Print bands, production levels, targets, and what the numbers point to."""
    _title(page, "How to read this: by rules of thumb, whose limits no study supports")
    page.say("If an interval contains a limit, more queries may give another result.", hang=2)
    if found.bands:
        page.table(_by_cutoff(found.bands))
    if found.production:
        table = figures("for production", "mean", "95 % interval", "level")
        for each in found.production:
            table.add_row(each.measure, *_mean(each), _level(each))
        page.table(table)
    if found.targets:
        _title(page, f"for {found.use}")
        table = figures("measure", "mean", "95 % interval", "target", "reached")
        for each in found.targets:
            target = "none" if each.target is None else number(each.target)
            reached = Text("not measured") if each.figure is None else _level(each)
            table.add_row(each.measure, *_mean(each), target, reached)
        page.table(table)
    _title(page, "What the numbers point to")
    print_findings(found.findings, page)
    if not found.findings:
        page.say("No rule applies, which does not prove that all is well.", hang=2)
    if found.choice:
        page.say(found.choice, hang=2)
    for caution in found.cautions:
        page.say(caution, hang=2, style="yellow")


def print_findings(findings: Iterable[Finding], page: Page) -> None:
    """Print findings, each with its grounds and its advice."""
    for found in findings:
        page.say(f"- {found.finding}", hang=2, style="bold")
        for ground in found.grounds:
            page.say(f"  because {_ground(ground)}", hang=4)
        for advice in found.advice:
            page.say(f"  next: {advice}", hang=4)


def _ground(ground: Ground) -> str:
    found, interval = ground.figure, ground.figure.interval
    value, than = number(found.value), number(ground.than)
    if found.ceiling < 1:
        value += f" of at most {number(found.ceiling)}"
    if interval is not None:
        value += f" ({between(interval)})"
    said = {
        "at_least": f"{value} is high: {than} or more",
        "under": f"{value} is low: under {than}",
        "up": f"rose from {than} to {value}",
        "stands": f"is unchanged: {than} before, {value} now",
    }
    return f"{found.measure} {said[ground.op]}"


def _by_cutoff(found: Iterable[Standing]) -> Table:
    """Return a table with a row for each measure and a column for each k."""
    cells: dict[str, dict[str, Text]] = {}
    for band in found:
        measure, _, k = band.measure.partition("@")
        cells.setdefault(measure, {})[k] = _level(band)
    ks = sorted({k for row in cells.values() for k in row}, key=lambda k: (len(k), k))
    table = figures("band", *(f"@{k}" if k else "whole" for k in ks))
    for measure, row in cells.items():
        table.add_row(measure, *(row.get(k, Text()) for k in ks))
    return table


def _level(found: Standing) -> Text:
    level = str(found.level)
    return Text(_WORDS.get(level, level), style=_STYLES.get(level, ""))


def _mean(found: Standing) -> tuple[str, str]:
    if found.figure is None:
        return number(None), "–"
    return number(found.figure.value), between(found.figure.interval, "–")


def _title(page: Page, text: str) -> None:
    page.blank()
    page.say(text, hang=2, style="bold")


def print_measures(page: Page) -> None:
    """Print every measure as a block, family by family."""
    for family, group in groupby(measures(), key=lambda measure: measure.family):
        page.console.print(Text(f"\n{family}", style="bold underline"))
        for each in group:
            facts = f"  {each.range}; {_DIRECTIONS[each.direction]}; needs {', '.join(each.needs)}"
            unsaid = [name for name in each.also if name.partition("@")[0] not in each.meaning]
            also = f" Also called {', '.join(unsaid)}." if unsaid else ""
            page.say(Text(each.name, style="bold").append(facts, style="not bold"), hang=2)
            page.say(f"= {each.formula}  [{each.source}]", indent=2, hang=2)
            page.say(each.meaning + also, indent=2, hang=2, style="dim")
