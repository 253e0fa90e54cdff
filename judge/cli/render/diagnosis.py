"""Rank measures, read for a person: bands, targets and diagnoses, printed in either language."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from judge.advice.diagnose import bands, diagnose, targets
from judge.advice.records import Band, Bands, Diagnoses, Diagnosis, Figure, Ground, Targets, Use
from judge.cli.render.page import Page, between, number
from judge.cli.terminal import figure_table, print_table
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
        page.blank()
        page.cautions([page.words("elsewhere", path=visible(asked.elsewhere))])
    found = diagnose(report, before=asked.before, answers=asked.answers, lang=asked.lang)
    page.diagnoses(found)


class _Page(Page):
    def __init__(self, lang: Lang, console: Console) -> None:
        super().__init__(console)
        self._lang: Lang = lang

    def bands(self, found: Bands) -> None:
        self._title("title", source=found.source)
        if found.bands:
            print_table(self._by_cutoff(found.bands), self.console)
        if found.production:
            table = figure_table(*map(self.words, ("production", "mean", "interval", "level")))
            for band in found.production:
                table.add_row(band.figure.measure, *_numbers(band.figure), self._level(band))
            print_table(table, self.console)
        if found.not_measured:
            self.say(self.words("not_measured", measures=", ".join(found.not_measured)), hang=2)
        self.cautions(found.cautions)
        if any(map(_doubtful, (*found.bands, *found.production))):
            self.say(self.words("doubt"), hang=2, style="dim")

    def targets(self, found: Targets) -> None:
        self._title("use", use=found.name)
        headers = ("measure", "mean", "interval", "target", "reached")
        table = figure_table(*map(self.words, headers))
        for each in found.targets:
            target = self.words("none") if each.target is None else number(each.target)
            verdict = Text("–")
            if each.figure is None:
                verdict = Text(self.words("unmeasured"))
            elif each.met is not None:
                word, style = ("met", "green") if each.met else ("missed", "red")
                verdict = self._verdict(word, style, doubtful=each.sure is False)
            table.add_row(each.measure, *_numbers(each.figure), target, verdict)
        print_table(table, self.console)
        self.cautions(found.cautions)
        if any(each.sure is False for each in found.targets):
            self.say(self.words("doubt"), hang=2, style="dim")

    def diagnoses(self, found: Diagnoses) -> None:
        self._title("diagnoses")
        for each in found.found:
            self._diagnosis(each)
        if not found.found:
            self.say(self.words("nothing"), hang=2)
        for rule in found.unjudged:
            why = [self.words("one_of", measures=", ".join(names)) for names in rule.missing]
            why += [
                self.words("capped", measure=low.measure, ceiling=number(low.ceiling))
                for low in rule.capped
            ]
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
        found = ground.figure
        span = change = ""
        if found.interval is not None:
            low, high = number(found.interval.low), number(found.interval.high)
            span = self.words("span", low=low, high=high)
        if ground.change is not None:
            low, high = map(_signed, ground.change)
            change = self.words("change", low=low, high=high)
        return self.words(
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
        ks = sorted({k for row in cells.values() for k in row}, key=lambda k: (len(k), k))
        headers = (f"@{k}" if k else self.words("whole") for k in ks)
        table = figure_table(self.words("band"), *headers)
        for measure, row in cells.items():
            table.add_row(measure, *(row.get(k, Text()) for k in ks))
        return table

    def _level(self, band: Band) -> Text:
        style = _STYLES.get(band.level, "")
        return self._verdict(f"level_{band.level}", style, doubtful=_doubtful(band))

    def _verdict(self, key: str, style: str, *, doubtful: bool) -> Text:
        word = self.words(key)
        return Text(self.words("doubtful", verdict=word) if doubtful else word, style=style)

    def cautions(self, cautions: Iterable[str]) -> None:
        for caution in cautions:
            self.say(caution, hang=2, style="yellow")

    def _title(self, key: str, **values: str) -> None:
        self.blank()
        self.say(self.words(key, **values), hang=2, style="bold")

    def words(self, key: str, **values: str) -> str:
        return Messages.of("diagnosis")(f"say.{key}", self._lang, **values)


def _numbers(found: Figure | None) -> tuple[str, str]:
    if found is None:
        return number(None), "–"
    interval = found.interval
    return number(found.value), between(interval.low, interval.high) if interval else "–"


def _doubtful(band: Band) -> bool:
    return band.span is not None and set(band.span) != {band.level}


def _signed(value: float) -> str:
    return f"{value:+.3f}".replace("-", "\N{MINUS SIGN}")
