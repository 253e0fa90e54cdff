"""Which half of the pipeline is broken, printed: the table of a run, and why an answer is there."""

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, Literal

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from judge.cli.render.looks import Look, mark
from judge.cli.terminal import Page, lang_option
from judge.messages import LANGUAGE, Messages
from judge.records import (
    FlagName,
    Quadrant,
    QuadrantTable,
    Sample,
    SampleResult,
    Summary,
)
from judge.records.result import Half
from judge.reports.cells import IN_PART, NOT_ASKED, CellTable, reading
from judge.scores.correctness import by_evidence, look_up, row_of
from judge.signature import Signature
from judge.text.visible import clip, flat

_STYLES: Final[dict[Half, str]] = {
    "neither": "green",
    "retrieval": "red",
    "generation": "magenta",
    "unknown": "dim",
}
_BROKEN: Final = ("retrieval", "generation")
_WEIGHTS: Final = {"total": "bold", "aside": "dim", "plain": "", "caution": "yellow"}
_NOT_ASKED: Final = Look("-", "", NOT_ASKED)
_LISTED: Final = 10
"""Ids of gold in one line."""
_LONGEST: Final = 40
"""Characters of a name from outside that is listed."""
_INDENT: Final = 4
_COLUMN: Final = 11


def print_quadrants(summary: Summary, folder: Path, page: Page) -> None:
    """Print the table of quadrants, what it adds up to, and how it was made; nothing without one.

    The folder is that of the run, for the command that looks closer.
    """
    found = summary.breakdown
    if found is None:
        return
    page.blank()
    table = CellTable(summary, found, LANGUAGE.get())
    if found.counted:
        _print_table(table, found, page)
    for note in table.left_out():
        page.say(note.text, hang=2, style=_WEIGHTS[note.weight])
    if broken := [cell for cell in found.cells if cell.half in _BROKEN]:
        largest = max(broken, key=lambda cell: cell.answers)
        command = f"judge show {shlex.quote(str(folder))} --cell {table.asked(largest.words)}"
        command += lang_option()
        page.copied(table.words("walk", command=command))


def print_grounds(result: SampleResult, sample: Sample | None, page: Page) -> None:
    """Print why an answer stands in its quadrant, or why in none; nothing where nobody said."""
    for name, told in _grounds(result, sample):
        gap = " " * (_COLUMN - cell_len(name))
        line = Text(f"{name}{gap}", style="bold").append(told, style="not bold")
        page.say(line, hang=_COLUMN)


def unplaced(result: SampleResult) -> str | None:
    """Why gold that contradicts itself puts an answer in no quadrant; None where it does not."""
    if all(flag.name is not FlagName.CONFLICTING_GOLD for flag in result.flags):
        return None
    return Messages.of("quadrants", "say")("conflicting_one")


def _grounds(result: SampleResult, sample: Sample | None) -> Iterator[tuple[str, str]]:
    """The lines that tell why, each with its name."""
    cell, say = result.cell, Messages.of("quadrants", "say")
    name = Messages.of("quadrants", "ground")
    if cell is None:
        if why := unplaced(result):
            yield name("no_cell"), why
        return
    half = row_of(cell.words).half
    told = say(
        "told",
        reading=reading(cell.words, LANGUAGE.get()),
        half=Messages.of("quadrants", "broken")(half),
    )
    if cell.partly and half in IN_PART:
        told = say("partly_one", told=told)
    named = name("joint").join(map(Messages.of("quadrants", "word"), cell.words))
    yield name("cell"), name("placed", words=named, told=told)
    if sample is None:
        return
    if result.correctness is None and (reference := flat(sample.gold_answer or "")):
        yield name("reference"), reference
    by_document = Signature.parse(cell.signature).part("gold") == "prefix"
    found, missed = look_up(by_evidence(sample), "prefix" if by_document else "exact")
    if _changed(cell, found, missed, sample.gold_answer):
        yield name("gold"), say("changed")
        return
    for key, ids in (("found", found), ("missed", missed)):
        if ids:
            listed = ", ".join(clip(flat(each), _LONGEST) for each in ids[:_LISTED])
            rest = len(ids) - _LISTED
            yield name(key), name("more", ids=listed, count=rest) if rest > 0 else listed


def _changed(
    cell: Quadrant, found: Sequence[str], missed: Sequence[str], reference: str | None
) -> bool:
    """Whether gold, as it stands in the input, would put the answer elsewhere."""
    named = bool(found or missed)
    if not cell.answerable:  # it may name chunks, where its reference abstains
        return named and not (reference or "").strip()
    return not named or (bool(found), bool(found and missed)) != (cell.retrieved, cell.partly)


def _print_table(table: CellTable, found: QuadrantTable, page: Page) -> None:
    """A row for each quadrant, and under it what it means and who stands in it."""
    rows = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for name in (*table.columns, "answers", "share", "half"):
        justify: Literal["left", "right"] = "right" if name in {"answers", "share"} else "left"
        rows.add_column(table.words(name), justify=justify)
    dash = mark(_NOT_ASKED, page)
    for cell in found.cells:
        half = Text(table.words(cell.half), style=_STYLES[cell.half])
        signs = (
            dash if sign == NOT_ASKED else sign and table.words(sign) for sign in table.signs(cell)
        )
        rows.add_row(*signs, f"{cell.answers:,}", table.share(cell), half)
    page.say(table.title, style="bold")
    head, *lines = page.rows(rows)
    page.whole(head)
    for line, cell in zip(lines, found.cells, strict=True):
        page.whole(line)
        page.say(table.means(cell), _INDENT, style="dim")
    if text := table.legend(dash):
        page.say(text, hang=2, style="dim")
    for note in table.notes():
        page.say(note.text, hang=2, style=_WEIGHTS[note.weight])
