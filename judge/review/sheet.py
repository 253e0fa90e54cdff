"""Sheets that people fill in: their columns, rows and words, written as CSV and read back."""

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
from typing import Final, NamedTuple

from judge.errors import ConfigError, InputError
from judge.inputs.rows import csv_rows, sheet_rows, worksheets
from judge.inputs.tables import (
    BOM,
    LONGEST,
    cell,
    check_output,
    csv_row,
    legible,
    replacing,
    restore,
)
from judge.messages import LANGS, LANGUAGE, Lang, Messages
from judge.records import Sample, SentenceResult, Support
from judge.text.visible import clip
from judge.text.words import stems
from judge.text.words import weight as weight_of

COLUMNS: Final = (
    *("review_id", "query", "answer", "sentence", "chunks"),
    *("human_support", "human_note", "reviewer"),
)
"""The columns of a sheet, in reading order. None shows the judge's verdict."""
READ: Final = ("review_id", "human_support", "sentence", "human_skip", "human_note", "reviewer")
"""The columns that are read back; the first two are required."""
GRADED: Final = ("review_id", "query", "chunk", "human_grade", "human_note", "reviewer")
"""The columns of a sheet in which pooled chunks are graded."""
READ_GRADES: Final = ("review_id", "human_grade", "query", "chunk", "human_note", "reviewer")
"""The columns that are read back from a graded sheet."""
_GRADES: Final = ("0", "1", "2", "3")

_CUT: Final = "…"
_TEXT_CHARACTERS: Final = LONGEST - 100
"""The most characters of a text that people see; the rest of a cell is for the marks."""
# A question mark is kept, because `yes?` is a doubt and not an answer.
_QUOTES: Final = " '\"‘’“”「」『』`´"
_AROUND: Final = _QUOTES + ".。．｡,，、;；:：!！·"
_COLON: Final = re.compile("[:：]")
_HYPHEN: Final = re.compile(r"(?<=\w)[-_](?=\w)")
_VARIATION_SELECTORS: Final = "\ufe0e\ufe0f"
_WORD_CHARACTERS: Final = 40
_ZIP: Final = b"PK\x03\x04"
_STEP: Final = "close it, or name another file"

Cells = Mapping[str, str]
"""Texts of a row by canonical column name; a missing one is an empty cell."""


class ParsedLabel(NamedTuple):
    """The meaning of the word that a reviewer wrote."""

    support: Support | None
    """The label on the judge's scale; None if the person answered only no."""
    supported: bool
    """Whether the chunks fully support the sentence."""


class SheetRow(NamedTuple):
    """One row of a sheet that came back from people."""

    path: Path
    number: int
    """The number of the row in a spreadsheet; the header mostly has 1."""
    cells: dict[str, str]
    """Texts by canonical column name, for the wanted columns that the sheet has."""

    def __str__(self) -> str:
        return f"{self.path}, row {self.number}"

    def cell(self, column: str) -> str:
        """Return the text under a column; empty if the sheet lacks the column."""
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


def choices(lang: Lang | None = None) -> list[str]:
    """Return the word for each label of the judge's scale, the best label first."""
    words, _ = _labels()
    return [words[support, lang or LANGUAGE.get()] for support in Support]


def read_label(text: str) -> ParsedLabel | None:
    """Return the meaning of a label as written; None for a blank cell.

    Raises:
        ValueError: the word is no label.

    >>> read_label("部分。")
    ParsedLabel(support=<Support.PARTIAL: 'partial'>, supported=False)
    """
    word = _folded(text)
    if not word:
        return None
    found = _labels()[1].get(word.strip(_AROUND))
    if found is None:
        offered = " or ".join(", ".join(choices(lang)) for lang in LANGS)
        shown = clip(text.strip(), _WORD_CHARACTERS)
        raise ValueError(
            f"human_support {shown!r} is no label; write {offered}, yes or no, 是 or 否"
        )
    return found


def read_grade(text: str) -> int | None:
    """Return the grade that a reviewer wrote; None for a blank cell.

    Raises:
        ValueError: the text is no grade.

    >>> read_grade(" ２。"), read_grade("3.0"), read_grade("")
    (2, 3, None)
    """
    word = _folded(text)
    if not word:
        return None
    # A point in front is kept, because .2 is another number than 2.
    digits = word.lstrip(_QUOTES).rstrip(_AROUND).removesuffix(".0")
    if digits not in _GRADES:
        shown = clip(text.strip(), _WORD_CHARACTERS)
        raise ValueError(f"human_grade {shown!r} is no grade; write 0, 1, 2 or 3")
    return int(digits)


def row_of(review_id: str, sample: Sample, sentence: SentenceResult) -> dict[str, str]:
    """Return the texts of a row by column, without the columns that people fill in."""
    chunks = (
        f"{chunk_title(sample, each)}\n{sample.chunks[each].text}"
        for each in ranked(sample, sentence)
    )
    return {
        "review_id": review_id,
        "query": sample.query or "",
        "answer": marked(sample.answer, sentence.start, sentence.end),
        "sentence": sentence.text,
        "chunks": "\n\n".join(chunks),
    }


def marked(answer: str, start: int, end: int) -> str:
    """Return the answer with the sentence between marks, cut far from it if it is too long.

    >>> marked("It rains. Roads are wet.", 10, 24)
    'It rains. ▶Roads are wet.◀'
    """
    before, sentence, after = around(answer, start, end)
    cut_before = _CUT * (len(before) < start)
    return f"{cut_before}{before}▶{sentence}◀{after}{_CUT * (end + len(after) < len(answer))}"


def around(text: str, start: int, end: int) -> tuple[str, str, str]:
    """Return what is before a part, the part, and what is after it, cut to the length of a cell."""
    part = text[start : min(end, start + _TEXT_CHARACTERS)]
    room = _TEXT_CHARACTERS - len(part)
    low = max(0, start - max(room // 2, room - (len(text) - end)))
    return text[low:start], part, text[end : end + room - (start - low)]


def ranked(sample: Sample, sentence: SentenceResult) -> list[int]:
    """Return the positions of the chunks, those first that share most words with the sentence.

    The judge's citations are not used, because they would reveal its verdict.
    """
    wanted = word_weights(sentence.text)
    return sorted(
        range(len(sample.chunks)),
        key=lambda each: -shared_weight(wanted, sample.chunks[each].text),
    )


def shared_weight(wanted: Mapping[str, float], text: str) -> float:
    """Return the weight of the wanted words and pairs of words that are in a text."""
    # The sum is exact, because the order of a set differs between processes.
    return math.fsum(wanted[part] for part in wanted.keys() & word_weights(text).keys())


def chunk_title(sample: Sample, position: int) -> str:
    """Return the number of a chunk, with its id if that differs."""
    name, number = sample.chunks[position].chunk_id, str(position + 1)
    return f"[{number}]" if name == number else f"[{number}] {name}"


def word_weights(text: str) -> Mapping[str, float]:
    """Return the weights of the words and pairs of neighbouring words of a text."""
    found = stems(text)
    single = {stem: weight_of(stem) for stem in found}
    pairs = {f"{a} {b}": (single[a] + single[b]) / 2 for a, b in pairwise(found)}
    return single | pairs


def sheets_of(
    sheet: Path, reviewers: Sequence[str], sources: Sequence[Path], *, force: bool
) -> tuple[Path, ...]:
    """Return a file for each reviewer; raise an error if one is no CSV or may not be written."""
    if sheet.suffix.lower() != ".csv":
        raise ConfigError(f"-o {str(sheet)!r}: name a .csv file")
    paths = tuple(sheet.with_stem(f"{sheet.stem}-{n}") for n, _ in enumerate(reviewers, 1))
    paths = paths if len(paths) > 1 else (sheet,)
    for path in paths:
        check_output(path, sources, force=force)
    return paths


def write_sheets(
    sheets: Sequence[Path],
    reviewers: Sequence[str],
    units: Sequence[Sequence[Cells]],
    overlap: int,
    columns: Sequence[str],
) -> None:
    """Write a sheet for each reviewer.

    Args:
        sheets: the files.
        reviewers: the names to write into the sheets.
        units: rows that go to the same reviewers, such as the chunks of a query.
        overlap: the number of units that all reviewers get; each other unit goes to one of them.
        columns: the columns of the sheets.
    """
    for place, (path, name) in enumerate(zip(sheets, reviewers, strict=True)):
        rows = (
            {**row, "reviewer": name}
            for number, unit in enumerate(units)
            if number < overlap or (number - overlap) % len(sheets) == place
            for row in unit
        )
        write_sheet(path, rows, columns)


def write_sheet(path: str | Path, rows: Iterable[Cells], columns: Sequence[str]) -> None:
    """Write a sheet as CSV with a byte order mark, whole or not at all; or raise RunError."""
    with replacing(Path(path), _STEP) as part, part.open("w", encoding="utf-8", newline="") as file:
        file.write(BOM + csv_row(list(map(header, columns))))
        for row in rows:
            file.write(csv_row([cell(row.get(column, "")) for column in columns]))


def read_sheet(path: str | Path, columns: Sequence[str] = READ) -> Iterator[SheetRow]:
    """Yield the rows of a CSV or XLSX file that are not blank; raise InputError if it is no sheet.

    Rows and columns may be in any order, among others, with headers in either language. CSV may be
    UTF-8 or GB18030, with commas, semicolons or tabs. Cells come restored and `legible`.
    """
    path = Path(path)
    try:
        data = path.read_bytes()
        rows = _workbook_rows(data) if data.startswith(_ZIP) else csv_rows(data)
        _, names = next(rows, (0, []))
        places = _places(names, columns)
        for number, texts in rows:
            cells = ((key, texts[i]) for key, i in places.items() if i < len(texts))
            yield SheetRow(path, number, {key: restore(legible(text)) for key, text in cells})
    except InputError as error:
        raise error.at(str(path), error.line) from None
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
def _labels() -> tuple[dict[tuple[Support | None, Lang], str], dict[str, ParsedLabel]]:
    """Return the word offered for each label, and the meaning of each word that people write."""
    entries = tomllib.loads(files("judge").joinpath("data", "labels.toml").read_text("utf-8"))
    offered: dict[tuple[Support | None, Lang], str] = {}
    readings: dict[str, ParsedLabel] = {}
    for entry in entries["labels"]:
        support = Support(entry["support"]) if "support" in entry else None
        for lang in LANGS:
            offered[support, lang] = entry[lang][0]
            for word in entry[lang]:
                readings[_folded(word)] = ParsedLabel(support, entry["supported"])
    return offered, readings


def folded(text: str) -> str:
    """Return the text without case, width, invisible characters and emoji styles, single-spaced.

    >>> folded(" Ａnn"), folded("ann")
    ('ann', 'ann')
    """
    plain = unicodedata.normalize("NFKC", text).casefold()
    seen = (c for c in plain if c not in _VARIATION_SELECTORS and unicodedata.category(c) != "Cf")
    return " ".join("".join(seen).split())


def _folded(text: str) -> str:
    """Return the `folded` text with spaces for hyphens and underscores inside words."""
    return _HYPHEN.sub(" ", folded(text))


def _bare(text: str) -> str:
    return "".join(filter(str.isalnum, _folded(text)))


def _workbook_rows(data: bytes) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of the first worksheet."""
    with worksheets(io.BytesIO(data), "xlsx") as sheets:
        yield from sheet_rows(sheets[0])


def _in_chinese(column: str) -> str:
    return _COLON.split(Messages.of("sheet", "columns").translations(column)["zh"])[0]


def _places(names: Sequence[str], wanted: Sequence[str]) -> dict[str, int]:
    """Return the positions of the wanted columns; the first two are required."""
    if not names:
        raise InputError("is empty; a header and rows are needed")
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
