"""Print rank measures: tables, the worst queries, comparisons of runs, and their reading."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from rich.text import Text

from judge.advice.diagnose import Finding, Level, Reading, read_change
from judge.cli.render.answers import gate_line
from judge.cli.terminal import Page, between, chance, number, signed, some
from judge.retrieval.records import (
    MeasureDifference,
    Mismatch,
    MissGuess,
    RankingReport,
    RunsReport,
    ShownChunk,
    WorstQuery,
)
from judge.text.visible import plural, short

_TEXT: Final = 120
"""Characters of a chunk in a list."""
_MAX_RUN_NAME: Final = 20
_SIGNIFICANT: Final = 0.05
_HEADLINES: Final = ("mrr", "map", "hit@", "recall@", "precision@", "ndcg@")
"""The means that a comparison shows; those at a cut-off at each."""
_STYLES: Final[Mapping[Level, str]] = {
    "poor": "red",
    "below": "red",
    "fair": "",
    "minimum": "",
    "good": "green",
    "excellent": "green",
}
_GUESSES: Final[dict[MissGuess, str]] = {
    "no_shared_words": "it shares no content word with the question",
    "other_words": "it uses other words than the question, and the chunk on top more of the same",
}
"""Why a chunk was missed. Only words were compared, so each is marked as a guess."""
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


def print_ranked(report: RankingReport, page: Page) -> None:
    """Print the means, the lists, and the notes."""
    whole = (
        (name, number(mean), between(report.interval[name], "–"), report.averaged)
        for name, mean in report.mean.items()
        if "@" not in name
    )
    page.table(("whole ranking", "mean", "95 % interval", "queries"), whole)
    ks = dict.fromkeys(name.partition("@")[2] for name in report.mean if "@" in name)
    page.table(("first k", *(f"@{k}" for k in ks)), _at_cutoffs(report, list(ks)))
    queries, deepest = report.queries, next(reversed(ks), "")
    page.say(
        f"{report.averaged} of {queries} {plural(queries, 'query')} in the means; "
        f"{report.missed_total} of {report.relevant_total} relevant not in the first {deepest}",
        hang=2,
    )
    if report.worst:
        page.heading("Worst queries, by average precision")
    for item in report.worst:
        for line in _worst(item):
            page.say(line, hang=4)
    page.blank()
    for warning in report.warnings:
        page.say(f"warning: {warning}", hang=2, style="yellow")
    for status, qids in report.listed.items():
        page.say(f"{status.replace('_', ' ')}: {some(qids, report.statuses[status])}", hang=2)
    page.made_by([report.signature])


def _at_cutoffs(report: RankingReport, ks: Sequence[str]) -> Iterator[Sequence[str | Text]]:
    """Yield the means of each measure by k, and below them their intervals."""
    for measure in dict.fromkeys(name.partition("@")[0] for name in report.mean if "@" in name):
        names = [f"{measure}@{k}" for k in ks]
        yield measure, *(number(report.mean[name]) for name in names)
        if any(report.interval[name] for name in names):
            yield "", *(Text(between(report.interval[name]), "dim") for name in names)


def _worst(item: WorstQuery) -> Iterator[Text]:
    """Yield a query, the chunk on top, the missed chunk, and a guess why."""
    first, ap = item.measures["rr"], number(item.measures["ap"])
    facts = f"ap {ap}, {item.found} of {item.relevant} relevant"
    facts += f" among {item.ranked} ranked" if item.ranked else ", nothing is ranked"
    facts += f", the first at rank {round(1 / first)}" if first else ""
    line = Text.assemble("  ", (short(item.qid), "bold"), f"  {facts}")
    yield line.append(f"  {short(item.query)}", "dim") if item.query else line
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


def print_compared(report: RunsReport, page: Page) -> None:
    """Print the measures of rankings in each run, and how they differ from the first run."""
    names = [short(run.name, _MAX_RUN_NAME) for run in report.runs]
    rows = (
        (
            "" if place else measure,
            name,
            number(run.report.mean[measure]),
            *_differences(run.differences.get(measure)),
        )
        for measure in report.runs[0].report.mean
        if "".join(measure.partition("@")[:2]) in _HEADLINES
        and any(run.report.mean[measure] is not None for run in report.runs)
        for place, (name, run) in enumerate(zip(names, report.runs, strict=True))
    )
    heads = ("measure", "run", "mean", "diff.", "95 % interval", "p", "gain", "better\n/ worse")
    page.table(heads, rows, left=(0, 1), narrow=True)
    page.say(_METHOD.format(first=names[0]), hang=2)
    for name, run in zip(names, report.runs, strict=True):
        averaged, queries = run.report.averaged, run.report.queries
        if averaged < queries:
            page.say(f"{name}: {averaged} of {queries} {plural(queries, 'query')} in the means")
        for kind, count in run.mismatches.items():
            values = {"count": count, "qids": some(run.listed[kind], count)}
            page.say(_MISMATCHES[kind].format(run=name, first=names[0], **values), hang=2)
        for warning in run.report.warnings:
            page.say(f"{name}: {warning}", hang=2)
    if report.rejected:
        page.say(f"lines left out because they are no samples: {report.rejected}", hang=2)
    for name, run in zip(names, report.runs, strict=True):
        if found := read_change(run.differences):
            page.say(f"What {name} points to", hang=2, style="bold")
            _print_finding(found, page)
        for gate in run.report.gates:
            page.say(Text(f"{name}: ").append_text(gate_line(gate)), hang=2)
    page.made_by(dict.fromkeys(run.report.signature for run in report.runs))


def _differences(found: MeasureDifference | None) -> tuple[str | Text, ...]:
    """Return the difference, its interval, p, gain, and the numbers of better and worse queries."""
    if found is None:
        return ("",) * 5
    limits, style = found.interval, ""
    if limits is not None and found.p < _SIGNIFICANT and not limits.low <= 0 <= limits.high:
        style = "green" if found.difference > 0 else "red"
    gain = "–" if found.gain is None else f"{signed(100 * found.gain, 1)} %"
    span = "–" if limits is None else f"{signed(limits.low)} … {signed(limits.high)}"
    difference = Text(signed(found.difference), style=style)
    return (difference, span, chance(found.p), gain, f"{found.higher} / {found.lower}")


def print_reading(found: Reading, page: Page) -> None:
    """Print bands, levels for production, targets, and what the numbers point to."""
    page.heading("How to read this: by rules of thumb, whose limits no study supports")
    page.say("If an interval contains a limit, more queries may give another result.", hang=2)
    if found.bands:
        _print_bands(found.bands, page)
    if found.production:
        levels = (
            (
                each.figure.measure,
                number(each.figure.value),
                between(each.figure.interval, "–"),
                Text("below minimum" if each.level == "below" else each.level, _STYLES[each.level]),
            )
            for each in found.production
        )
        page.table(("for production", "mean", "95 % interval", "level"), levels)
    page.heading(f"for {found.use}")
    rows = list[Sequence[str | Text]]()
    for each in found.targets:
        mean, limits, reached = "–", "–", Text("not measured")
        if each.figure is not None:
            mean, limits = number(each.figure.value), between(each.figure.interval, "–")
            reached = Text("yes", style="green") if each.met else Text("no", style="red")
            if each.target is None:
                reached = Text("–")
        target = "none" if each.target is None else number(each.target)
        rows.append((each.measure, mean, limits, target, reached))
    page.table(("measure", "mean", "95 % interval", "target", "reached"), rows)
    page.heading("What the numbers point to")
    for finding in found.findings:
        _print_finding(finding, page)
    if not found.findings:
        page.say("No rule applies, which does not prove that all is well.", hang=2)
    if found.choice:
        page.say(found.choice, hang=2)
    if found.ceilings:
        most = ", ".join(f"{name} {number(limit)}" for name, limit in found.ceilings.items())
        text = f"Given how many chunks are relevant, no ranking could exceed {most} here."
        page.say(f"{text} These means are read as shares of that.", hang=2, style="yellow")


def _print_finding(found: Finding, page: Page) -> None:
    """Print a finding with its grounds and its advice."""
    page.say(f"- {found.finding}", hang=2, style="bold")
    for ground in found.grounds:
        page.say(f"  because {ground}", hang=4)
    for advice in found.advice:
        page.say(f"  next: {advice}", hang=4)


def _print_bands(bands: Mapping[str, Level], page: Page) -> None:
    """Print the band of each measure, by cut-off."""
    rows: dict[str, dict[str, Text]] = {}
    for name, level in bands.items():
        measure, _, k = name.partition("@")
        rows.setdefault(measure, {})[k] = Text(level, style=_STYLES[level])
    ks = sorted({k for row in rows.values() for k in row}, key=lambda k: (len(k), k))
    cells = ((measure, *(row.get(k, "") for k in ks)) for measure, row in rows.items())
    page.table(("band", *(f"@{k}" if k else "whole" for k in ks)), cells)
