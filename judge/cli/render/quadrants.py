"""Which half of the pipeline is broken, printed: the table of a run, and why an answer is there."""

import shlex
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Final, Literal

from rich.console import Console
from rich.table import Table
from rich.text import Text

from judge.cli.render.looks import Look, mark
from judge.cli.terminal import Page, words
from judge.messages import Lang
from judge.records import (
    FlagName,
    Quadrant,
    QuadrantCount,
    QuadrantTable,
    Sample,
    SampleResult,
    Summary,
)
from judge.records.quadrant import Half, QuadrantWord
from judge.scores.quadrants import look_up, row_of
from judge.signature import Signature
from judge.text.visible import clip, counted, flat

_STYLES: Final[dict[Half, str]] = {
    "neither": "green",
    "retrieval": "red",
    "generation": "magenta",
    "unknown": "dim",
}
_BROKEN: Final = ("retrieval", "generation")
_IN_PART: Final = ("generation", "unknown")
"""Where it matters that part of the evidence was not seen."""
_OPEN: Final = "open"
_SAID: Final[dict[QuadrantWord, tuple[str, str]]] = {
    "retrieved": ("retrieved", "yes"),
    "missed": ("retrieved", "no"),
    "faithful": ("faithful", "yes"),
    "unfaithful": ("faithful", "no"),
    "unjudged": ("faithful", _OPEN),
    "correct": ("correct", "yes"),
    "wrong": ("correct", "no"),
    "uncompared": ("correct", _OPEN),
    "abstained": ("abstained", "yes"),
    "silent": ("abstained", "silent"),
    "answered": ("abstained", "no"),
}
"""Which column a word fills, and with what; what no word fills is not asked of the quadrant."""
_NOT_ASKED: Final = Look("–", "-", "", "does not apply")
_IMPLIED: Final[frozenset[QuadrantWord]] = frozenset({"answerable", "answered"})
"""What the other words of a quadrant say, too."""
_LIMITS: Final = ("faithful", "correct", "gold")
"""Parts of a signature that are told below the table."""
_NAMED: Final = 3
_LISTED: Final = 10
"""Ids of gold in one line."""
_LONGEST: Final = 40
"""Characters of a name from outside that is listed."""
_INDENT: Final = 4
_COLUMN: Final = 11


def print_quadrants(summary: Summary, folder: Path, page: Page, *, lang: Lang = "en") -> None:
    """Print the table of quadrants, what it adds up to, and how it was made.

    Args:
        summary: of the run; nothing is printed where it has no such table.
        folder: of the run, for the command that looks closer.
        page: where to.
        lang: of the table.
    """
    if summary.breakdown is None:
        return
    page.blank()
    table = _Table(summary, summary.breakdown, lang, page.console)
    if summary.breakdown.counted:
        table.print()
    for line in table.notes():
        page.say(line, hang=2)
    broken = [cell for cell in summary.breakdown.cells if cell.half in _BROKEN]
    if broken:
        largest = max(broken, key=lambda cell: cell.answers)
        page.copied(table.walk(folder, largest.words))


def print_grounds(result: SampleResult, sample: Sample | None, page: Page, lang: Lang) -> None:
    """Print why an answer stands in its quadrant, or why in none; nothing where nobody said."""
    for name, told in _grounds(result, sample, lang):
        line = Text(f"{name:<{_COLUMN}}", style="bold").append(told, style="not bold")
        page.say(line, hang=_COLUMN)


def unplaced(result: SampleResult, lang: Lang) -> str | None:
    """Why gold that contradicts itself puts an answer in no quadrant; None where it does not."""
    if all(flag.name is not FlagName.CONFLICTING_GOLD for flag in result.flags):
        return None
    return words("quadrants", "say", lang)("conflicting_one")


def _reading(said: Collection[QuadrantWord], lang: Lang) -> str:
    return words("quadrants", "reading", lang)(row_of(said).reading)


def _grounds(result: SampleResult, sample: Sample | None, lang: Lang) -> Iterator[tuple[str, str]]:
    """The lines that tell why, each with its name."""
    cell, say = result.cell, words("quadrants", "say", lang)
    if cell is None:
        if why := unplaced(result, lang):
            yield "no cell", why
        return
    half = row_of(cell.words).half
    told = say("told", reading=_reading(cell.words, lang), half=say(f"broken_{half}"))
    if cell.partly and half in _IN_PART:
        told = say("partly_one", told=told)
    yield "cell", f"{', '.join(cell.words)}: {told}"
    if sample is None:
        return
    if result.correctness is None and (reference := flat(sample.gold_answer or "")):
        yield "reference", reference
    by_document = Signature.parse(cell.signature).part("gold") == "prefix"
    found, missed = look_up(sample, "prefix" if by_document else "exact")
    if _changed(cell, found, missed, sample.gold_answer):
        yield "gold", say("changed")
        return
    for name, ids in (("found", found), ("missed", missed)):
        if ids:
            more = f" and {len(ids) - _LISTED} more" if len(ids) > _LISTED else ""
            yield name, ", ".join(clip(flat(each), _LONGEST) for each in ids[:_LISTED]) + more


def _changed(
    cell: Quadrant, found: Sequence[str], missed: Sequence[str], reference: str | None
) -> bool:
    """Whether gold, as it stands in the input, would put the answer elsewhere."""
    named = bool(found or missed)
    if not cell.answerable:  # it may name chunks, where its reference abstains
        return named and not (reference or "").strip()
    return not named or (bool(found), bool(found and missed)) != (cell.retrieved, cell.partly)


def _named(qids: Sequence[str], answers: int) -> str:
    """The first few names of so many answers, on one line."""
    few = [clip(flat(qid), _LONGEST) for qid in qids[:_NAMED]]
    return ", ".join([*few, "…"] if answers > len(few) else few)


class _Table(Page):
    def __init__(
        self, summary: Summary, found: QuadrantTable, lang: Lang, console: Console
    ) -> None:
        super().__init__(console)
        self._found, self._lang = found, lang
        self._words = words("quadrants", "say", lang)
        there = {word for cell in self._found.cells for word in cell.words}
        told = not there.isdisjoint({"correct", "wrong"})
        self._compared = told or summary.correctness is not None
        correct = ["correct"] if self._compared else []
        self._columns = ["retrieved", "faithful", *correct, "abstained"]
        self._by_similarity = summary.by_similarity
        self._unfound = "answerable" in there and "retrieved" not in there

    def print(self) -> None:
        """A row for each quadrant, and under it what it means and who stands in it."""
        rows = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
        for name in (*self._columns, "answers", "share", "half"):
            justify: Literal["left", "right"] = "right" if name in {"answers", "share"} else "left"
            rows.add_column(self._words(name), justify=justify, no_wrap=True)
        for cell in self._found.cells:
            share = f"{100 * cell.answers / self._found.counted:.1f} %"
            half = Text(self._words(cell.half), style=_STYLES[cell.half])
            rows.add_row(*self._answered(cell), f"{cell.answers:,}", share, half)
        counts = f"{self._found.counted:,}"
        if self._lang == "en":
            counts = counted(self._found.counted, "answer")
        self.say(self._words("title", counted=counts), style="bold")
        head, *lines = self.rows(rows)
        self.whole(head)
        for line, cell in zip(lines, self._found.cells, strict=True):
            self.whole(line)
            self.say(self._means(cell), _INDENT, style="dim")

    def _answered(self, cell: QuadrantCount) -> Iterator[str]:
        """What stands in its columns."""
        said = dict(_SAID[word] for word in cell.words if word in _SAID)
        for name in self._columns:
            yield self._words(said[name]) if name in said else mark(_NOT_ASKED, self)

    def _legend(self) -> str:
        """What the marks mean that stand in the columns."""
        shown = {sign for cell in self._found.cells for sign in self._answered(cell)}
        marks = {self._words(_OPEN): "not_known", mark(_NOT_ASKED, self): "not_asked"}
        return "  ".join(f"{s} {self._words(key)}" for s, key in marks.items() if s in shown)

    def _means(self, cell: QuadrantCount) -> str:
        qids = _named(cell.qids, cell.answers)
        means = self._words("means", reading=_reading(cell.words, self._lang), qids=qids)
        if cell.partly and cell.half in _IN_PART:
            means = self._words("partly", means=means, partly=f"{cell.partly:,}")
        return means

    def notes(self) -> Iterator[Text]:
        """What the table adds up to, what it rests on, and what it lacks."""
        if self._found.counted:
            yield from self._under()
        if self._found.without_gold:
            answers = f"{self._found.without_gold:,}"
            yield Text(self._words("without_gold", answers=answers), style="dim")
        if self._found.conflicting:
            answers = f"{self._found.conflicting:,}"
            qids = _named(self._found.conflicting_qids, self._found.conflicting)
            yield Text(self._words("conflicting", answers=answers, qids=qids), style="yellow")

    def _under(self) -> Iterator[Text]:
        if legend := self._legend():
            yield Text(legend, style="dim")
        halves = {half: f"{count:,}" for half, count in self._found.halves.items()}
        yield Text(self._words("total", **halves), style="bold")
        signatures = list(map(Signature.parse, self._found.signatures))
        for made in signatures:
            parts = {name: made.part(name) or self._words(_OPEN) for name in _LIMITS}
            key = "limits_compared" if self._compared else "limits"
            yield Text(self._words(key, **parts), style="dim")
        if self._by_similarity:
            yield Text(self._words("similarity"), style="dim")
        if not self._compared:
            yield Text(self._words("uncompared"))
        if self._unfound:
            by_document = all(made.part("gold") == "prefix" for made in signatures)
            yield Text(self._words("unfound_prefix" if by_document else "unfound"), style="yellow")

    def walk(self, folder: Path, said: Sequence[QuadrantWord]) -> str:
        """The command that shows the answers of a quadrant."""
        implied = _IMPLIED if self._compared else _IMPLIED | {"uncompared"}
        asked = ",".join(word for word in said if word not in implied)
        command = f"judge show {shlex.quote(str(folder))} --cell {asked}"
        command += "" if self._lang == "en" else f" --lang {self._lang}"
        return self._words("walk", command=command)
