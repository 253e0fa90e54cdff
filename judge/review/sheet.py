"""The sheet that reviewers label: its words, columns and rows, written as CSV and read back."""

import io
import math
import re
import tomllib
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from judge.errors import InputError
from judge.inputs.rows import csv_rows, sheet_rows, worksheets
from judge.inputs.tables import (
    BOM,
    LONGEST,
    cell,
    csv_row,
    legible,
    replacing,
    restore,
)
from judge.messages import LANGS, LANGUAGE, Lang, Messages
from judge.records import Sample, SentenceResult, Support, Verdict
from judge.review.records import Target
from judge.text.visible import clip
from judge.text.words import stems
from judge.text.words import weight as weight_of

if TYPE_CHECKING:
    from openpyxl.worksheet.worksheet import Worksheet

_SHOWN: Final = ("review_id", "query", "answer", "sentence", "chunks")
_FILLED: Final = ("human_support", "human_note", "reviewer")
BLIND: Final = (*_SHOWN, *_FILLED)
"""The columns of a sheet, in reading order."""
OPEN: Final = (*_SHOWN, "judge_support", "judge_quote", *_FILLED)
"""The columns of a sheet that shows the judge's verdict."""
_BOTH: Final = ("review_id", "query", "answer", "reference", "asked", "sentence")
COMPARED: Final = (*_BOTH, *_FILLED)
"""The columns of a sheet for correctness: answer and reference side by side."""
COMPARED_OPEN: Final = (*_BOTH, "judge_support", "judge_quote", *_FILLED)
"""The columns of such a sheet that shows the judge's verdict."""
READ: Final = ("review_id", "human_support", "sentence", "human_skip", "human_note", "reviewer")
"""Columns that are read back; the first two are needed."""
GRADED: Final = ("review_id", "query", "chunk", "human_grade", "human_note", "reviewer")
"""The columns of a sheet in which pooled chunks are graded."""
READ_GRADES: Final = ("review_id", "human_grade", "query", "chunk", "human_note", "reviewer")
"""The columns that are read from a graded sheet."""
_GRADES: Final = ("0", "1", "2", "3")

_CUT: Final = "…"
_ROOM: Final = LONGEST - 100
"""Characters of an answer around its sentence; the rest of a cell is for the marks."""
# No question mark: `yes?` is a doubt, and no answer.
_QUOTES: Final = " '\"‘’“”「」『』`´"
_AROUND: Final = _QUOTES + ".。．｡,，、;；:：!！·"
_COLON: Final = re.compile("[:：]")
_HYPHEN: Final = re.compile(r"(?<=\w)[-_](?=\w)")
_SELECTORS: Final = "\ufe0e\ufe0f"
_LONGEST_SHOWN: Final = 40
_ZIP: Final = b"PK\x03\x04"
# At 0.1 ms a row; no reviewer fills in more.
_MOST_FILLED: Final = 100_000
_STEP: Final = "close it, or name another file"

_Rows = Iterable[Mapping[str, str]]
"""Rows to write: canonical column name to text; a missing one is an empty cell."""


class Reading(NamedTuple):
    """The meaning of what a reviewer wrote."""

    support: Support | None
    """On the judge's own scale; None where the person answered no, and not in which way."""
    supported: bool
    """Whether the chunks fully support the sentence."""


class Row(NamedTuple):
    """One row as it came back from people."""

    path: Path
    number: int
    """The number that a spreadsheet shows beside it; the header is mostly 1."""
    cells: dict[str, str]
    """Texts by canonical column name, of those read that the sheet has."""

    def __str__(self) -> str:
        return f"{self.path}, row {self.number}"

    def cell(self, column: str) -> str:
        """The text under a column; empty where the sheet lacks the column."""
        return self.cells.get(column, "").strip()


def header(column: str) -> str:
    """Return the header of a column, given its canonical name."""
    return Messages.of("sheet", "columns")(column)


def column_of(text: str) -> str | None:
    """Return the canonical name of the column with this header; None for a foreign column.

    >>> column_of(" Human Support"), column_of("人工判断"), column_of("price")
    ('human_support', 'human_support', None)
    """
    return _columns().get(_bare(text))


def word_for(support: Support | None) -> str:
    """Return the word for a label; for None the word no."""
    return _labels()[0][support, LANGUAGE.get()]


def choices() -> tuple[str, ...]:
    """Return the word for each label of the judge's scale, the best label first."""
    return tuple(map(word_for, Support))


def read_label(text: str) -> Reading | None:
    """The meaning of what a reviewer wrote: None of a blank cell, ValueError of any other word.

    >>> read_label("部分。")
    Reading(support=<Support.PARTIAL: 'partial'>, supported=False)
    """
    word = _folded(text)
    if not word:
        return None
    found = _labels()[1].get(word.strip(_AROUND))
    if found is None:
        words = _labels()[0]
        offered = " or ".join(", ".join(words[s, lang] for s in Support) for lang in LANGS)
        shown = clip(text.strip(), _LONGEST_SHOWN)
        said = f"human_support {shown!r} is no label"
        raise ValueError(f"{said}; write {offered}, yes or no, 是 or 否")
    return found


def read_grade(text: str) -> int | None:
    """The grade that a reviewer wrote: None of a blank cell, ValueError of anything else.

    >>> read_grade(" ２。"), read_grade("3.0"), read_grade("")
    (2, 3, None)
    """
    word = _folded(text)
    if not word:
        return None
    # A point before a digit makes another number of it.
    bare = word.lstrip(_QUOTES).rstrip(_AROUND).removesuffix(".0")
    if bare not in _GRADES:
        shown = clip(text.strip(), _LONGEST_SHOWN)
        raise ValueError(f"human_grade {shown!r} is no grade; write 0, 1, 2 or 3")
    return int(bare)


def row_of(
    review_id: str, sample: Sample, sentence: SentenceResult, target: Target = "faithfulness"
) -> dict[str, str]:
    """The texts of a row by column; columns that people fill in are left out.

    For correctness the one chunk is the other text, as `judge.review.targets` has it.
    """
    found = ((named(sample, each), sample.chunks[each].text) for each in ranked(sample, sentence))
    chunks = (f"{name}\n{text}" for name, text in found)
    outcome = sentence.outcome
    support: str = outcome.type
    quotes: list[str] = []
    if isinstance(outcome, Verdict):
        support = outcome.support.value
        quotes = [f"[{evidence.chunk_id}] {evidence.quote}" for evidence in outcome.evidence]
        if outcome.fallback_from is not None:
            support = f"unscored ({outcome.source}: {support})"
    own = marked(sample.answer, sentence.start, sentence.end)
    answer, beside = own, {"chunks": "\n\n".join(chunks)}
    if target == "correctness_precision":
        beside = {"reference": sample.chunks[0].text}
    if target == "correctness_recall":
        answer, beside = sample.chunks[0].text, {"reference": own}
    return {
        "review_id": review_id,
        "query": sample.query or "",
        "answer": answer,
        "sentence": sentence.text,
        **beside,
        "judge_support": support,
        "judge_quote": "\n".join(quotes),
    }


def marked(answer: str, start: int, end: int) -> str:
    """The answer with the sentence between marks; what is too long is cut far from it.

    >>> marked("It rains. Roads are wet.", 10, 24)
    'It rains. ▶Roads are wet.◀'
    """
    room = max(0, _ROOM - (end - start)) // 2
    low, high = max(0, start - room), min(len(answer), end + room)
    before = _CUT * (low > 0) + answer[low:start]
    after = answer[end:high] + _CUT * (high < len(answer))
    return f"{before}▶{answer[start:end]}◀{after}"


def ranked(sample: Sample, sentence: SentenceResult) -> list[int]:
    """Positions of the chunks, those first that share most with the sentence.

    By the weight of the words and pairs of words they share, and not by what the judge cites: that
    would tell what it thinks.
    """
    wanted = parts_of(sentence.text)
    return sorted(
        range(len(sample.chunks)), key=lambda each: -shared(wanted, sample.chunks[each].text)
    )


def shared(wanted: Mapping[str, float], text: str) -> float:
    """The weight of the words and pairs of words that a text has of those wanted."""
    # Exact, for the order of a set is not that of another process.
    return math.fsum(wanted[part] for part in wanted.keys() & parts_of(text).keys())


def named(sample: Sample, position: int) -> str:
    """Return the number of a chunk, with its id if that differs."""
    name, number = sample.chunks[position].chunk_id, str(position + 1)
    return f"[{number}]" if name == number else f"[{number}] {name}"


def parts_of(text: str) -> Mapping[str, float]:
    """The words and pairs of words of a text, by weight."""
    found = stems(text)
    single = {stem: weight_of(stem) for stem in found}
    pairs = {f"{a} {b}": (single[a] + single[b]) / 2 for a, b in pairwise(found)}
    return single | pairs


def write_sheet(path: str | Path, rows: _Rows, columns: Sequence[str]) -> None:
    """Write a sheet as CSV, whole or not at all, over what is there.

    RunError where it cannot be written. A spreadsheet that opens CSV makes numbers and dates of
    what looks so: ids must not, `r_7f3a` does not.
    """
    with replacing(Path(path), _STEP) as part, part.open("w", encoding="utf-8", newline="") as file:
        file.write(BOM)
        file.writelines(map(csv_row, _table(rows, columns)))


def read_sheet(path: str | Path, columns: Sequence[str] = READ) -> Iterator[Row]:
    """Yield the rows of a CSV or XLSX that are not blank.

    Rows and columns may stand in any order, among others; headers in either language. CSV may be
    UTF-8, UTF-16 or GB18030, with commas, semicolons or tabs. Cells come restored and `legible`.
    InputError where it cannot be read, lacks review ids or labels, or has a column of ours twice.
    """
    path = Path(path)
    try:
        for number, cells in _cells(path, columns):
            yield Row(path, number, {key: restore(legible(text)) for key, text in cells.items()})
    except InputError as error:
        raise error.at(str(path), None) from None
    except OSError as error:
        why = f"cannot be read: {error.strerror}; name a CSV or XLSX file"
        raise InputError(why, path=str(path)) from None


@cache
def _columns() -> dict[str, str]:
    texts = Messages.of("sheet", "columns")
    return {
        _bare(part): column
        for column in texts
        for text in texts.translations(column).values()
        for part in (text, _COLON.split(text)[0])
    }


@cache
def _labels() -> tuple[dict[tuple[Support | None, Lang], str], dict[str, Reading]]:
    """The words offered for each label, and what each word that people write means."""
    entries = tomllib.loads(files("judge").joinpath("data", "labels.toml").read_text("utf-8"))
    offered: dict[tuple[Support | None, Lang], str] = {}
    readings: dict[str, Reading] = {}
    for entry in entries["labels"]:
        support = Support(entry["support"]) if "support" in entry else None
        for lang in LANGS:
            offered[support, lang] = entry[lang][0]
            for word in entry[lang]:
                readings[_folded(word)] = Reading(support, entry["supported"])
    return offered, readings


def folded(text: str) -> str:
    """The text without case, width, invisible characters and colours, and with single spaces.

    >>> folded(" Ａnn"), folded("ann")
    ('ann', 'ann')
    """
    plain = unicodedata.normalize("NFKC", text).casefold()
    seen = (c for c in plain if c not in _SELECTORS and unicodedata.category(c) != "Cf")
    return " ".join("".join(seen).split())


def _folded(text: str) -> str:
    """The same, with blanks for hyphens."""
    return _HYPHEN.sub(" ", folded(text))


def _bare(text: str) -> str:
    return "".join(filter(str.isalnum, _folded(text)))


def _table(rows: _Rows, columns: Sequence[str]) -> Iterator[list[str]]:
    yield list(map(header, columns))
    for row in rows:
        yield [cell(row.get(column, ""), LANGUAGE.get()) for column in columns]


def _cells(path: Path, wanted: Sequence[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the wanted cells of each row, with the number of the row."""
    data = path.read_bytes()
    rows = _workbook_rows(data) if data.startswith(_ZIP) else csv_rows(data)
    first = next(rows, None)
    if first is None:
        raise InputError("is empty; a header and rows are needed")
    places = _places(first[1], wanted)
    for number, texts in rows:
        yield number, {key: texts[i] if i < len(texts) else "" for key, i in places.items()}


def _workbook_rows(data: bytes) -> Iterator[tuple[int, list[str]]]:
    """The rows of the one sheet of a workbook that has review ids."""
    with worksheets(io.BytesIO(data), "xlsx") as sheets:
        yield from sheet_rows(_with_ids(sheets), _MOST_FILLED)


def _with_ids(sheets: Sequence["Worksheet"]) -> "Worksheet":
    headers = ((sheet, next(sheet_rows(sheet, 1), (0, []))[1]) for sheet in sheets)
    ours = [sheet for sheet, names in headers if "review_id" in map(column_of, names)]
    if not ours:
        name = f"review_id ({_in_chinese('review_id')})"
        message = f"no sheet has a column {name} in its first row; "
        raise InputError(message + "name a sheet that `judge review draw` made")
    if len(ours) > 1:
        titles = " and ".join(repr(sheet.title) for sheet in ours[:2])
        message = f"has review ids on {len(ours)} worksheets, such as {titles}; "
        raise InputError(message + "keep one, or save each as a file of its own")
    return ours[0]


def _in_chinese(column: str) -> str:
    return _COLON.split(Messages.of("sheet", "columns").translations(column)["zh"])[0]


def _places(names: Sequence[str], wanted: Sequence[str]) -> dict[str, int]:
    """Return the positions of the wanted columns; the first two are required."""
    places: dict[str, int] = {}
    for place, name in enumerate(names):
        column = column_of(name)
        if column in places:
            first = names[places[column]]
            raise InputError(f"has two columns {column} ({first!r}, {name!r}); delete one")
        if column is not None:
            places[column] = place
    missing = [column for column in wanted[:2] if column not in places]
    if missing:
        lacking = " and ".join(f"{column} ({_in_chinese(column)})" for column in missing)
        found = ", ".join(repr(name[:30]) for name in names[:12] if name.strip())
        raise InputError(f"lacks {lacking}; its first row holds {found}")
    return {column: place for column, place in places.items() if column in wanted}
