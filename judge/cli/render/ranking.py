"""Rank measures, printed: the tables, the lists for a person, their reading, the catalogue."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from judge.advice.diagnose import bands, diagnose, targets
from judge.advice.records import Band, Bands, Diagnoses, Diagnosis, Figure, Ground, Targets, Use
from judge.advice.rules import measures
from judge.cli.terminal import Page, between, figures, number, words
from judge.messages import Lang
from judge.records import Summary
from judge.retrieval.records import (
    IrrelevantTop,
    MissedGold,
    RankingReport,
    ShownChunk,
    WorstQuery,
)
from judge.text.visible import short, visible

_TEXT: Final = 120
"""Characters of a chunk under a worst query."""
_NAMED: Final = 5
_BETWEEN: Final = 3
_HUGE: Final = 1e6
_STYLES: Final = {"poor": "red", "below": "red", "good": "green", "excellent": "green"}
_DIRECTIONS: Final = {
    "higher": "higher is better",
    "lower": "lower is better",
    "none": "neither end is better",
}


def print_ranked(report: RankingReport, page: Page) -> None:
    """Print the means, the lists, and the notes."""
    head = words("ranking", "head", page.lang)
    whole = figures(*map(head, ("whole", "mean", "interval", "queries")))
    for name, mean in report.mean.items():
        if "@" not in name:
            limits = _limits(report, name) or "–"
            whole.add_row(name, number(mean), limits, str(report.defined[name]))
    for table in (whole, *_at_cutoffs(report, page.console.width, head("first"))):
        page.table(table)
    page.say(_counts(report, page.lang), hang=2)
    for title, lines in _lists(report, page.lang).items():
        if lines:
            page.blank()
            page.say(title, hang=2, style="bold")
        for line in lines:
            page.say(line, hang=4)
    page.blank()
    for warning in report.warnings:
        page.say(f"warning: {warning}", hang=2, style="yellow")
    for status, qids in report.listed.items():
        page.say(f"{status.replace('_', ' ')}: {_some(qids, report.statuses[status])}", hang=2)
    for note in report.notes:
        page.say(note, hang=2, style="dim")
    page.made_by([report.signature])


def _at_cutoffs(report: RankingReport, width: int, title: str) -> Iterator[Table]:
    """Measures by k, the interval below the mean; as many tables as that width asks for."""
    names = [name for name in report.mean if "@" in name]
    rows = dict.fromkeys(name.partition("@")[0] for name in names)
    ks = list(dict.fromkeys(name.partition("@")[2] for name in names))
    cells = [_figure(report.mean[name]) for name in names] + [_limits(report, n) for n in names]
    beside = max(1, (width - max(map(len, rows), default=0)) // (max(map(len, cells)) + _BETWEEN))
    for start in range(0, len(ks), beside):
        some = ks[start : start + beside]
        table = figures(title, *(f"@{k}" for k in some))
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
    """A mean to three digits; a sum of huge gains to three in all."""
    return f"{value:.3g}" if value is not None and abs(value) >= _HUGE else number(value)


def _limits(report: RankingReport, name: str) -> str:
    interval = report.interval[name]
    return f"{_figure(interval.low)}–{_figure(interval.high)}" if interval else ""


def _counts(report: RankingReport, lang: Lang) -> str:
    say = words("ranking", "list", lang)
    missed, relevant = report.missed_total, report.relevant_total
    said = [
        say("means", averaged=report.averaged, queries=report.queries),
        say("late", missed=missed, relevant=relevant, k=_last(report)),
        say("noisy", count=report.topped_total),
    ]
    return say("between").join(said)


def _last(report: RankingReport) -> str:
    return next(reversed(report.mean), "").rpartition("@")[2]


def _lists(report: RankingReport, lang: Lang) -> dict[str, list[Text]]:
    """What to look at, under its title."""
    say, why = words("ranking", "worst", lang), words("ranking", "guess", lang)
    tell = words("ranking", "list", lang)
    return {
        say("title"): [line for item in report.worst for line in _worst(item, say, why)],
        tell("missed", k=_last(report)): [_missed(item, tell) for item in report.missed],
        tell("topped"): [_topped(item, tell) for item in report.topped],
    }


def _worst(item: WorstQuery, say: Callable[..., str], why: Callable[..., str]) -> Iterator[Text]:
    """A query, and under it what stood on top, what was missed, and a guess why."""
    first = item.measures["rr"]
    counts = {"found": item.found, "relevant": item.relevant, "ranked": item.ranked}
    said = say("found" if item.ranked else "nothing", ap=number(item.measures["ap"]), **counts)
    yield _line(item, said + (say("first", rank=round(1 / first)) if first else ""))
    if item.top is not None:
        yield _chunk("top", item.top, say)
    if item.missed is not None:
        yield _chunk("unranked" if item.missed.rank is None else "late", item.missed, say)
    if item.guess is not None:
        yield Text(f"    {why(item.guess, chunk=short(item.beside))}", style="italic")


def _chunk(key: str, chunk: ShownChunk, say: Callable[..., str]) -> Text:
    text = short(chunk.text, _TEXT)
    said = say("text", text=text) if text else ""
    return Text(f"    {say(key, chunk=short(chunk.chunk_id), rank=chunk.rank)}{said}", style="dim")


def _missed(item: MissedGold, say: Callable[..., str]) -> Text:
    chunk = short(item.chunk_id)
    if item.relevance != 1:
        chunk = say("graded", chunk=chunk, grade=f"{item.relevance:g}")
    return _line(
        item, say("unranked" if item.rank is None else "ranked", chunk=chunk, rank=item.rank)
    )


def _topped(item: IrrelevantTop, say: Callable[..., str]) -> Text:
    first, chunks = item.first_relevant, ", ".join(map(short, item.chunk_ids[:_NAMED]))
    if (more := len(item.chunk_ids) - _NAMED) > 0:
        chunks = say("more", chunks=chunks, count=more)
    return _line(item, say("alone" if first is None else "above", chunks=chunks, first=first))


def _line(item: WorstQuery | MissedGold | IrrelevantTop, said: str) -> Text:
    line = Text("  ").append(short(item.qid), style="bold").append(f"  {said}")
    return line.append(f"  {short(item.query)}", style="dim") if item.query else line


def _some(names: tuple[str, ...], count: int) -> str:
    shown = ", ".join(map(short, names[:_NAMED]))
    return shown if count <= _NAMED else f"{shown} and {count - _NAMED} more"


@dataclass(frozen=True, slots=True)
class Reading:
    """How a report is to be read."""

    use: Use | None = None
    """Whose targets to hold it against."""
    before: RankingReport | None = None
    """An earlier report to compare with."""
    answers: Summary | None = None
    """What became of the same questions' answers."""
    elsewhere: str | None = None
    """The file they were scored from, where it is not the one that is measured."""
    lang: Lang = "en"
    """Language of the reading."""


def print_reading(report: RankingReport, asked: Reading, page: Page) -> None:
    """Print bands, production levels, targets, and what the numbers point to."""
    reader = _Reader(page.console, asked.lang)
    reader.bands(bands(report, asked.lang))
    if asked.use is not None:
        reader.targets(targets(report, asked.use, asked.lang))
    if asked.elsewhere is not None:
        reader.blank()
        reader.cautions([reader.words("elsewhere", path=visible(asked.elsewhere))])
    found = diagnose(report, before=asked.before, answers=asked.answers, lang=asked.lang)
    reader.diagnoses(found)


class _Reader(Page):
    def __init__(self, console: Console, lang: Lang) -> None:
        super().__init__(console)
        self.words = words("diagnosis", "say", lang)

    def bands(self, found: Bands) -> None:
        self._title("title", source=found.source)
        if found.bands:
            self.table(self._by_cutoff(found.bands))
        if found.production:
            table = figures(*map(self.words, ("production", "mean", "interval", "level")))
            for band in found.production:
                table.add_row(band.figure.measure, *_mean(band.figure), self._level(band))
            self.table(table)
        if found.not_measured:
            self.say(self.words("not_measured", measures=", ".join(found.not_measured)), hang=2)
        doubt = any(map(_doubtful, (*found.bands, *found.production)))
        self._noted(found.cautions, doubt=doubt)

    def targets(self, found: Targets) -> None:
        self._title("use", use=found.name)
        headers = ("measure", "mean", "interval", "target", "reached")
        table = figures(*map(self.words, headers))
        for each in found.targets:
            target = self.words("none") if each.target is None else number(each.target)
            verdict = Text("–")
            if each.figure is None:
                verdict = Text(self.words("unmeasured"))
            elif each.met is not None:
                word, style = ("met", "green") if each.met else ("missed", "red")
                verdict = self._verdict(word, style, doubtful=each.sure is False)
            table.add_row(each.measure, *_mean(each.figure), target, verdict)
        self.table(table)
        self._noted(found.cautions, doubt=any(each.sure is False for each in found.targets))

    def diagnoses(self, found: Diagnoses) -> None:
        self._title("diagnoses")
        for each in found.found:
            self._diagnosis(each)
        if not found.found:
            self.say(self.words("nothing"), hang=2)
        for rule in found.unjudged:
            why = [self.words("one_of", measures=", ".join(names)) for names in rule.missing]
            self.say(self.words("unjudged", finding=rule.finding, why="; ".join(why)), hang=2)
        self.cautions(found.cautions)

    def _diagnosis(self, found: Diagnosis) -> None:
        self.say(f"- {found.finding}", hang=2, style="bold")
        for ground in found.grounds:
            self.say("  " + self.words("because", ground=self._ground(ground)), hang=4)
        for advice in found.advice:
            self.say("  " + self.words("next", advice=advice), hang=4)
        if found.sure is not True:
            doubt = "unspanned" if found.sure is None else "unsure"
            self.say("  " + self.words(doubt), hang=4, style="yellow")

    def _ground(self, ground: Ground) -> str:
        found, interval = ground.figure, ground.figure.interval
        span = change = most = ""
        if found.ceiling is not None:
            most = self.words("of_most", ceiling=number(found.ceiling))
        if interval is not None:
            span = self.words("span", low=number(interval.low), high=number(interval.high))
        if ground.change is not None:
            signed = (f"{each:+.3f}".replace("-", "\N{MINUS SIGN}") for each in ground.change)
            change = self.words("change", **dict(zip(("low", "high"), signed, strict=True)))
        return self.words(
            ground.op,
            measure=found.measure,
            value=number(found.value) + most,
            span=span,
            than=number(ground.than),
            before=number(None if ground.before is None else ground.before.value),
            change=change,
        )

    def _by_cutoff(self, found: tuple[Band, ...]) -> Table:
        """A row for each measure, a column for each k, as in the table of means."""
        cells: dict[str, dict[str, Text]] = {}
        for band in found:
            measure, _, k = band.figure.measure.partition("@")
            cells.setdefault(measure, {})[k] = self._level(band)
        ks = sorted({k for row in cells.values() for k in row}, key=lambda k: (len(k), k))
        table = figures(self.words("band"), *(f"@{k}" if k else self.words("whole") for k in ks))
        for measure, row in cells.items():
            table.add_row(measure, *(row.get(k, Text()) for k in ks))
        return table

    def _level(self, band: Band) -> Text:
        style = _STYLES.get(band.level, "")
        return self._verdict(f"level_{band.level}", style, doubtful=_doubtful(band))

    def _verdict(self, key: str, style: str, *, doubtful: bool) -> Text:
        word = self.words(key)
        return Text(self.words("doubtful", verdict=word) if doubtful else word, style=style)

    def _title(self, key: str, **values: str) -> None:
        self.blank()
        self.say(self.words(key, **values), hang=2, style="bold")

    def _noted(self, cautions: Iterable[str], *, doubt: bool) -> None:
        self.cautions(cautions)
        if doubt:
            self.say(self.words("doubt"), hang=2, style="dim")

    def cautions(self, cautions: Iterable[str]) -> None:
        for caution in cautions:
            self.say(caution, hang=2, style="yellow")


def _mean(found: Figure | None) -> tuple[str, str]:
    if found is None:
        return number(None), "–"
    interval = found.interval
    return number(found.value), between(interval.low, interval.high) if interval else "–"


def _doubtful(band: Band) -> bool:
    return band.span is not None and set(band.span) != {band.level}


def print_measures(page: Page) -> None:
    """Print every measure, family by family: a block each, for no terminal is wide enough."""
    for family, group in groupby(measures(), key=lambda measure: measure.family):
        page.console.print(Text(f"\n{family}", style="bold underline"))
        for each in group:
            facts = f"  {each.range}; {_DIRECTIONS[each.direction]}; needs {', '.join(each.needs)}"
            unsaid = [name for name in each.also if name.partition("@")[0] not in each.meaning]
            also = f" Also called {', '.join(unsaid)}." if unsaid else ""
            page.say(Text(each.name, style="bold").append(facts, style="not bold"), hang=2)
            page.say(f"= {each.formula}  [{each.source}]", indent=2, hang=2)
            page.say(each.meaning + also, indent=2, hang=2, style="dim")
            page.say(each.meaning_zh, indent=2, hang=2, style="dim")
