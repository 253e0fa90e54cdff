"""The table of cells of a run, printed: which half is broken."""

import shlex
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Final, Literal

from rich.console import Console
from rich.table import Table
from rich.text import Text

from judge.cli.render.counting import counted
from judge.cli.render.paint import Look, mark
from judge.cli.render.wrap import wrap
from judge.messages import Lang, Messages
from judge.records import QuadrantCount, QuadrantTable, Summary
from judge.records.quadrant import Half, QuadrantWord
from judge.scores.quadrants import row_of
from judge.signature import Signature
from judge.text.visible import clip, flat, visible

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
"""Which column a word fills, and with what; what no word fills is not asked of the cell."""
_NOT_ASKED: Final = Look("–", "-", "", "does not apply")
_IMPLIED: Final[frozenset[QuadrantWord]] = frozenset({"answerable", "answered"})
"""What the other words of a cell say, too."""
_LIMITS: Final = ("faithful", "correct", "gold")
"""Parts of a cell's signature that are told below the table."""
_NAMED: Final = 3
LONGEST: Final = 40
"""Characters of a name from outside that is listed."""
_INDENT: Final = 4
_WIDEST: Final = 500


def print_breakdown(summary: Summary, folder: Path, console: Console, *, lang: Lang = "en") -> None:
    """Print the table of cells, what it adds up to, and how it was made.

    Args:
        summary: of the run; nothing is printed where it has no breakdown.
        folder: of the run, for the command that looks closer.
        console: where to.
        lang: of the table.
    """
    if summary.breakdown is None:
        return
    page = _Page(summary, summary.breakdown, lang, console)
    console.print()
    if summary.breakdown.counted:
        page.print_table()
    for line in page.notes():
        console.print(wrap(line, console.width, hang=2), soft_wrap=True)
    broken = [cell for cell in summary.breakdown.cells if cell.half in _BROKEN]
    if broken:
        largest = max(broken, key=lambda cell: cell.answers)
        # A command is copied: it is not broken into lines.
        console.print(Text(page.walk(folder, largest.words)), soft_wrap=True)


def told(words: Collection[QuadrantWord], lang: Lang = "en", *, partly: bool = False) -> str:
    """What a cell means, and which half it speaks against.

    Args:
        words: of the cell.
        lang: of what is said.
        partly: whether an answer there did not see all that gold names.
    """
    row = row_of(words)
    half = say(f"broken_{row.half}", lang)
    meant = say("told", lang, reading=_reading(words, lang), half=half)
    return say("partly_one", lang, told=meant) if partly and row.half in _IN_PART else meant


def say(key: str, lang: Lang, **values: str) -> str:
    """The words of the table that stand under `key`, filled in."""
    return Messages.of("quadrants")(f"say.{key}", lang, **values)


def _reading(words: Collection[QuadrantWord], lang: Lang) -> str:
    return Messages.of("quadrants")(f"reading.{row_of(words).reading}", lang)


def named(qids: Sequence[str], answers: int) -> str:
    """The first few names of so many answers, on one line."""
    few = [clip(flat(qid), LONGEST) for qid in qids[:_NAMED]]
    return ", ".join([*few, "…"] if answers > len(few) else few)


class _Page:
    def __init__(
        self, summary: Summary, found: QuadrantTable, lang: Lang, console: Console
    ) -> None:
        self._found, self._lang, self._console = found, lang, console
        words = {word for cell in found.cells for word in cell.words}
        told = not words.isdisjoint({"correct", "wrong"})
        self._compared = told or summary.correctness is not None
        self._columns = ["retrieved", "faithful", "correct", "abstained"]
        if not self._compared:
            self._columns.remove("correct")
        self._by_similarity = summary.by_similarity
        self._answerable = "answerable" in words
        self._retrieved = "retrieved" in words

    def print_table(self) -> None:
        """A row for each cell, and under it what it means and who stands in it."""
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
        self._console.print(Text(self._words("title", counted=counts), style="bold"))
        head, *lines = self._lines(rows)
        self._console.print(head, soft_wrap=True)
        for line, cell in zip(lines, self._found.cells, strict=True):
            self._console.print(line, soft_wrap=True)
            means = Text(self._means(cell), style="dim")
            self._console.print(wrap(means, self._console.width, _INDENT), soft_wrap=True)

    def _answered(self, cell: QuadrantCount) -> Iterator[str]:
        """What stands in its columns."""
        said = dict(_SAID[word] for word in cell.words if word in _SAID)
        for name in self._columns:
            yield self._words(said[name]) if name in said else mark(_NOT_ASKED, self._console)

    def _legend(self) -> str:
        """What the marks mean that stand in the columns."""
        shown = {sign for cell in self._found.cells for sign in self._answered(cell)}
        marks = {self._words(_OPEN): "not_known", mark(_NOT_ASKED, self._console): "not_asked"}
        return "  ".join(
            f"{sign} {self._words(key)}" for sign, key in marks.items() if sign in shown
        )

    def _lines(self, rows: Table) -> Iterator[Text]:
        """The lines of a table, however narrow the terminal: no figure is cut."""
        options = self._console.options.update(width=_WIDEST)
        for line in self._console.render_lines(rows, options, pad=False):
            text = Text.assemble(*((segment.text, segment.style or "") for segment in line))
            text.rstrip()
            yield text

    def _means(self, cell: QuadrantCount) -> str:
        reading = _reading(cell.words, self._lang)
        means = self._words("means", reading=reading, qids=named(cell.qids, cell.answers))
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
            qids = named(self._found.conflicting_qids, self._found.conflicting)
            yield Text(self._words("conflicting", answers=answers, qids=qids), style="yellow")

    def _under(self) -> Iterator[Text]:
        if legend := self._legend():
            yield Text(legend, style="dim")
        halves = {half: f"{count:,}" for half, count in self._found.halves.items()}
        yield Text(self._words("total", **halves), style="bold")
        for signature in self._found.signatures:
            made = Signature.parse(signature)
            parts = {name: made.part(name) or self._words(_OPEN) for name in _LIMITS}
            key = "limits_compared" if self._compared else "limits"
            yield Text(self._words(key, **parts), style="dim")
        if self._by_similarity:
            yield Text(self._words("similarity"), style="dim")
        if not self._compared:
            yield Text(self._words("uncompared"))
        if self._answerable and not self._retrieved:
            signatures = map(Signature.parse, self._found.signatures)
            by_document = all(made.part("gold") == "prefix" for made in signatures)
            yield Text(self._words("unfound_prefix" if by_document else "unfound"), style="yellow")

    def walk(self, folder: Path, words: Sequence[QuadrantWord]) -> str:
        """The command that shows the answers of a cell."""
        implied = _IMPLIED if self._compared else _IMPLIED | {"uncompared"}
        asked = ",".join(word for word in words if word not in implied)
        command = f"judge show {shlex.quote(str(folder))} --cell {asked}"
        command += "" if self._lang == "en" else f" --lang {self._lang}"
        return self._words("walk", command=visible(command))

    def _words(self, key: str, **values: str) -> str:
        return say(key, self._lang, **values)
