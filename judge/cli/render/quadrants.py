"""Which half of the pipeline is broken, printed: the table of a run, and why an answer is there."""

import shlex
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Final, Literal

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
from judge.scores.quadrants import BY, by_evidence, look_up, row_of
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
    "beside": ("beside", "yes"),
    "answered": ("abstained", "no"),
}
"""Which column a word fills, and with what; what no word fills is not asked of the quadrant."""
_NOT_ASKED: Final = Look("-", "", "not_asked")
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
    """Print the table of quadrants, what it adds up to, and how it was made; nothing without one.

    The folder is that of the run, for the command that looks closer.
    """
    found = summary.breakdown
    if found is None:
        return
    page.blank()
    table = _Table(summary, found, lang, page)
    if found.counted:
        table.print()
        table.print_notes(by_similarity=summary.by_similarity)
    if found.without_gold:
        answers = f"{found.without_gold:,}"
        page.say(table.words("without_gold", answers=answers), hang=2, style="dim")
    if found.conflicting:
        answers = f"{found.conflicting:,}"
        qids = _named(found.conflicting_qids, found.conflicting)
        page.say(table.words("conflicting", answers=answers, qids=qids), hang=2, style="yellow")
    made = found.signatures.items()
    if differing := sum(count for each, count in made if Signature.parse(each).part(BY)):
        page.say(table.words("differing", answers=f"{differing:,}"), hang=2, style="yellow")
    if broken := [cell for cell in found.cells if cell.half in _BROKEN]:
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
    found, missed = look_up(by_evidence(sample), "prefix" if by_document else "exact")
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


class _Table:
    def __init__(self, summary: Summary, found: QuadrantTable, lang: Lang, page: Page) -> None:
        self._found, self._lang, self._page = found, lang, page
        self.words = words("quadrants", "say", lang)
        there = {word for cell in found.cells for word in cell.words}
        told = not there.isdisjoint({"correct", "wrong"})
        self._compared = told or summary.correctness is not None
        self._columns = ["retrieved", "faithful", *["correct"] * self._compared, "abstained"]
        self._columns += ["beside"] * ("beside" in there)
        self._unfound = "answerable" in there and "retrieved" not in there

    def print(self) -> None:
        """A row for each quadrant, and under it what it means and who stands in it."""
        found, page = self._found, self._page
        rows = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
        for name in (*self._columns, "answers", "share", "half"):
            justify: Literal["left", "right"] = "right" if name in {"answers", "share"} else "left"
            rows.add_column(self.words(name), justify=justify)
        for cell in found.cells:
            share = f"{100 * cell.answers / found.counted:.1f} %"
            half = Text(self.words(cell.half), style=_STYLES[cell.half])
            rows.add_row(*self._answered(cell), f"{cell.answers:,}", share, half)
        answers = counted(found.counted, "answer") if self._lang == "en" else f"{found.counted:,}"
        page.say(self.words("title", counted=answers), style="bold")
        head, *lines = page.rows(rows)
        page.whole(head)
        for line, cell in zip(lines, found.cells, strict=True):
            page.whole(line)
            page.say(self._means(cell), _INDENT, style="dim")

    def _answered(self, cell: QuadrantCount) -> Iterator[str]:
        """What stands in its columns."""
        said = dict(_SAID[word] for word in cell.words if word in _SAID)
        for name in self._columns:
            # Of another answer no word says whether it is beside the question or not known to be.
            unsaid = name == "beside" and "answered" in cell.words
            other = "" if unsaid else mark(_NOT_ASKED, self._page)
            yield self.words(said[name]) if name in said else other

    def _means(self, cell: QuadrantCount) -> str:
        qids = _named(cell.qids, cell.answers)
        means = self.words("means", reading=_reading(cell.words, self._lang), qids=qids)
        if cell.partly and cell.half in _IN_PART:
            means = self.words("partly", means=means, partly=f"{cell.partly:,}")
        return means

    def print_notes(self, *, by_similarity: bool) -> None:
        """What the marks mean, what the table adds up to, what it rests on, and what it lacks."""
        found, page = self._found, self._page
        shown = {sign for cell in found.cells for sign in self._answered(cell)}
        marks = {self.words(_OPEN): "not_known", mark(_NOT_ASKED, page): "not_asked"}
        legend = (f"{sign} {self.words(key)}" for sign, key in marks.items() if sign in shown)
        if text := "  ".join(legend):
            page.say(text, hang=2, style="dim")
        halves = {half: f"{count:,}" for half, count in found.halves.items()}
        page.say(self.words("total", **halves), hang=2, style="bold")
        signatures = list(map(Signature.parse, found.signatures))
        key = "limits_compared" if self._compared else "limits"
        limits = [
            {name: made.part(name) or self.words(_OPEN) for name in _LIMITS} for made in signatures
        ]
        for line in dict.fromkeys(self.words(key, **parts) for parts in limits):
            page.say(line, hang=2, style="dim")
        if by_similarity:
            page.say(self.words("similarity"), hang=2, style="dim")
        if not self._compared:
            page.say(self.words("uncompared"), hang=2)
        if self._unfound:
            by_document = all(made.part("gold") == "prefix" for made in signatures)
            key = "unfound_prefix" if by_document else "unfound"
            page.say(self.words(key), hang=2, style="yellow")

    def walk(self, folder: Path, said: Sequence[QuadrantWord]) -> str:
        """The command that shows the answers of a quadrant."""
        implied = _IMPLIED if self._compared else _IMPLIED | {"uncompared"}
        asked = ",".join(word for word in said if word not in implied)
        command = f"judge show {shlex.quote(str(folder))} --cell {asked}"
        command += "" if self._lang == "en" else f" --lang {self._lang}"
        return self.words("walk", command=command)
