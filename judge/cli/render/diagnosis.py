"""Rank measures, read for a person: bands, targets and diagnoses, printed in either language."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from judge.advice.diagnose import bands, diagnose, targets
from judge.advice.records import (
    Band,
    Bands,
    Diagnoses,
    Diagnosis,
    Figure,
    Ground,
    Target,
    Targets,
    Use,
)
from judge.cli.render.page import number, wrap
from judge.cli.terminal import print_table
from judge.messages import Lang, Messages
from judge.records import Summary
from judge.retrieval.records import RankingReport
from judge.text.visible import visible

_STYLES: Final = {"poor": "red", "below": "red", "good": "green", "excellent": "green"}


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


def print_reading(report: RankingReport, asked: Reading, console: Console) -> None:
    """Print bands, production levels, targets, and what the numbers point to."""
    page = _Page(asked.lang, console)
    page.bands(bands(report, asked.lang))
    if asked.use is not None:
        page.targets(targets(report, asked.use, asked.lang))
    if asked.elsewhere is not None:
        console.print()
        page.caution("elsewhere", path=visible(asked.elsewhere))
    found = diagnose(report, before=asked.before, answers=asked.answers, lang=asked.lang)
    page.diagnoses(found)


class _Page:
    def __init__(self, lang: Lang, console: Console) -> None:
        self._lang: Lang = lang
        self._console = console

    def bands(self, found: Bands) -> None:
        self._title("title", source=found.source)
        if found.bands:
            print_table(self._by_cutoff(found.bands), self._console)
        if found.production:
            print_table(self._production(found.production), self._console)
        if found.not_measured:
            self._say(self._words("not_measured", measures=", ".join(found.not_measured)))
        self._cautions(found.cautions)
        if any(map(_doubtful, found.bands)) or any(map(_doubtful, found.production)):
            self._say(self._words("doubt"), style="dim")

    def targets(self, found: Targets) -> None:
        self._title("use", use=found.name)
        print_table(self._reached(found.targets), self._console)
        self._cautions(found.cautions)
        if any(each.sure is False for each in found.targets):
            self._say(self._words("doubt"), style="dim")

    def diagnoses(self, found: Diagnoses) -> None:
        self._title("diagnoses")
        for each in found.found:
            self._diagnosis(each)
        if not found.found:
            self._say(self._words("nothing"))
        for rule in found.unjudged:
            why = [self._words("one_of", measures=", ".join(names)) for names in rule.missing]
            for low in rule.capped:
                most = number(low.ceiling)
                why.append(self._words("capped", measure=low.measure, ceiling=most))
            self._say(self._words("unjudged", finding=rule.finding, why="; ".join(why)))
        self._cautions(found.cautions)

    def _diagnosis(self, found: Diagnosis) -> None:
        self._say(f"- {found.finding}", style="bold")
        for ground in found.grounds:
            self._say("  " + self._words("because", ground=self._ground(ground)), hang=4)
        for advice in found.advice:
            self._say("  " + self._words("next", advice=advice), hang=4)
        if found.sure is not True:
            doubt = "unspanned" if found.sure is None else "unsure"
            self._say("  " + self._words(doubt), style="yellow", hang=4)

    def _ground(self, ground: Ground) -> str:
        found = ground.figure
        span = change = ""
        if found.interval is not None:
            low, high = number(found.interval.low), number(found.interval.high)
            span = self._words("span", low=low, high=high)
        if ground.change is not None:
            low, high = map(_signed, ground.change)
            change = self._words("change", low=low, high=high)
        return self._words(
            ground.op,
            measure=found.measure,
            value=number(found.value),
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
        ks = sorted({k for row in cells.values() for k in row}, key=_depth)
        headers = (f"@{k}" if k else self._words("whole") for k in ks)
        table = _table(self._words("band"), *headers)
        for measure, row in cells.items():
            table.add_row(measure, *(row.get(k, Text()) for k in ks))
        return table

    def _production(self, found: tuple[Band, ...]) -> Table:
        table = _table(*map(self._words, ("production", "mean", "interval", "level")))
        for band in found:
            table.add_row(band.figure.measure, *_numbers(band.figure), self._level(band))
        return table

    def _level(self, band: Band) -> Text:
        word = self._words(f"level_{band.level}")
        return self._verdict(word, _STYLES.get(band.level, ""), doubtful=_doubtful(band))

    def _reached(self, found: tuple[Target, ...]) -> Table:
        headers = ("measure", "mean", "interval", "target", "reached")
        table = _table(*map(self._words, headers))
        for each in found:
            target = self._words("none") if each.target is None else number(each.target)
            verdict = Text("–")
            if each.figure is None:
                verdict = Text(self._words("unmeasured"))
            elif each.met is not None:
                word, style = ("met", "green") if each.met else ("missed", "red")
                verdict = self._verdict(self._words(word), style, doubtful=each.sure is False)
            table.add_row(each.measure, *_numbers(each.figure), target, verdict)
        return table

    def _verdict(self, word: str, style: str, *, doubtful: bool) -> Text:
        return Text(self._words("doubtful", verdict=word) if doubtful else word, style=style)

    def _cautions(self, cautions: Iterable[str]) -> None:
        for caution in cautions:
            self._say(caution, style="yellow")

    def caution(self, key: str, **values: str) -> None:
        self._say(self._words(key, **values), style="yellow")

    def _title(self, key: str, **values: str) -> None:
        self._console.print()
        self._say(self._words(key, **values), style="bold")

    def _say(self, line: str, *, style: str = "", hang: int = 2) -> None:
        text = wrap(Text(line, style=style), self._console.width, hang=hang)
        self._console.print(text, soft_wrap=True)

    def _words(self, key: str, **values: str) -> str:
        return Messages.of("diagnosis")(f"say.{key}", self._lang, **values)


def _table(*headers: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column(headers[0])
    for header in headers[1:]:
        table.add_column(header, justify="right")
    return table


def _numbers(found: Figure | None) -> Iterator[str]:
    yield number(None if found is None else found.value)
    interval = None if found is None else found.interval
    yield f"{number(interval.low)}–{number(interval.high)}" if interval else "–"


def _doubtful(band: Band) -> bool:
    return band.span is not None and set(band.span) != {band.level}


def _depth(k: str) -> tuple[int, str]:
    return len(k), k


def _signed(value: float) -> str:
    return f"{value:+.3f}".replace("-", "\N{MINUS SIGN}")
