"""The sheet that reviewers label: its columns and rows, written as CSV or XLSX, and read back."""

import contextlib
import errno
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import IO, Final, NamedTuple

from judge.errors import InputError, RunError
from judge.files.tables import (
    BOM,
    LONGEST,
    MOST_UNITS,
    cell,
    csv_row,
    csv_rows,
    legible,
    replacing,
    restore,
)
from judge.messages import LANGS, Lang
from judge.records import Sample, SentenceResult, Verdict
from judge.review.words import column_of, header
from judge.review.workbook import workbook_rows, write_workbook
from judge.text.words import stems, weight

BLIND: Final = (
    "review_id",
    "query",
    "answer",
    "sentence",
    "chunks",
    "human_support",
    "human_note",
    "reviewer",
)
"""The columns of a sheet, in reading order."""
OPEN: Final = (*BLIND[:5], "judge_support", "judge_quote", *BLIND[5:])
"""The columns of a sheet that shows the judge's verdict."""

NEEDED: Final = ("review_id", "human_support")
"""Columns that a sheet must have to be read."""

READ: Final = ("review_id", "sentence", "human_support", "human_note", "reviewer")
"""Columns that are read back."""

_CUT: Final = "…"
_ROOM: Final = LONGEST - 100
"""Characters of an answer around its sentence; the rest is for the marks."""

_Rows = Iterable[Mapping[str, str]]

_XLSX: Final = ".xlsx"
_ZIP: Final = b"PK\x03\x04"
_OLE: Final = b"\xd0\xcf\x11\xe0"
_MOST_BYTES: Final = 256 << 20
# In characters. A small workbook can name one long text in any number of cells.
_MOST_READ: Final = 32 << 20
_LONGEST_CSV: Final = 1 << 20
_STEP: Final = "close it, or name another file"


class Row(NamedTuple):
    """One row as it stands in the sheet."""

    number: int
    """The number that a spreadsheet shows beside it; the header is mostly 1."""
    cells: dict[str, str]
    """Texts by canonical column name, of those of `READ` that the sheet has."""


def row_of(review_id: str, sample: Sample, sentence: SentenceResult) -> dict[str, str]:
    """The texts of a row by column; columns that people fill in are left out."""
    chunks = []
    for position in ranked(sample, sentence):
        chunk, number = sample.chunks[position], str(position + 1)
        name = f"[{number}]" if chunk.chunk_id == number else f"[{number}] {chunk.chunk_id}"
        chunks.append(f"{name}\n{chunk.text}")
    return {
        "review_id": review_id,
        "query": sample.query or "",
        "answer": marked(sample.answer, sentence.start, sentence.end),
        "sentence": sentence.text,
        "chunks": "\n\n".join(chunks),
        **judged(sentence),
    }


def marked(answer: str, start: int, end: int) -> str:
    """The answer with the sentence between marks; what is too long is cut far from it.

    >>> marked("It rains. Roads are wet.", 10, 24)
    'It rains. ▶Roads are wet.◀'
    """
    room = max(0, _ROOM - (end - start)) // 2
    low = max(0, start - room)
    high = min(len(answer), end + room)
    before = _CUT * (low > 0) + answer[low:start]
    after = answer[end:high] + _CUT * (high < len(answer))
    return f"{before}▶{answer[start:end]}◀{after}"


def ranked(sample: Sample, sentence: SentenceResult) -> list[int]:
    """Positions of the chunks, those first that share most with the sentence.

    By the weight of the words and pairs of words they share, and not by what the judge cites: that
    would tell what it thinks.
    """
    wanted = _parts(sentence.text)

    def strange(position: int) -> float:
        found = _parts(sample.chunks[position].text)
        # Exact, for the order of a set is not that of another process.
        return -math.fsum(wanted[part] for part in wanted.keys() & found.keys())

    return sorted(range(len(sample.chunks)), key=strange)


def judged(sentence: SentenceResult) -> dict[str, str]:
    """The texts of the columns that show the judge's verdict."""
    outcome = sentence.outcome
    if not isinstance(outcome, Verdict):
        return {"judge_support": outcome.type, "judge_quote": ""}
    quotes = (f"[{evidence.chunk_id}] {evidence.quote}" for evidence in outcome.evidence)
    support = outcome.support.value
    if outcome.fallback_from is not None:
        support = f"unscored ({outcome.source}: {support})"
    return {"judge_support": support, "judge_quote": "\n".join(quotes)}


def write_sheet(path: str | Path, rows: _Rows, columns: Sequence[str], lang: Lang) -> None:
    """Write a sheet, whole or not at all, over what is there: XLSX where the name says so, or CSV.

    Args:
        path: of the sheet.
        rows: canonical column name to text; a missing one is an empty cell. A spreadsheet that
            opens CSV makes numbers and dates of what looks so: ids must not, `r_7f3a` does not.
        columns: canonical names, in order.
        lang: of the headers and the drop-down.

    Raises:
        RunError: it cannot be written.
        ConfigError: XLSX, and openpyxl is not installed.
    """
    path = Path(path)
    with replacing(path, _STEP) as part:
        if path.suffix.lower() == _XLSX:
            write_workbook(part, _cells(rows, columns, lang), columns, lang)
        else:
            with part.open("w", encoding="utf-8", newline="") as file:
                file.writelines(_lines(rows, columns, lang))


def append_rows(path: str | Path, rows: _Rows, columns: Sequence[str]) -> None:
    """Add rows to a CSV that one process writes over time; its header is made where there is none.

    All of the rows, or none where the disk is full. In English; a Chinese header that is there
    stays.

    Raises:
        InputError: the file is not one of these columns, or ends in half a row.
        RunError: it cannot be written.
    """
    path = Path(path)
    try:
        # Unbuffered: one write for all of it, so that a kill -9 leaves no half row.
        with path.open("ab+", buffering=0) as file:
            size = file.seek(0, os.SEEK_END)
            if size:
                _refuse_foreign(file, size, columns, path)
            data = "".join(list(_lines(rows, columns, "en"))[1 if size else 0 :]).encode()
            _write_whole(file, data, size)
    except OSError as error:
        raise RunError(f"{path}: cannot be written ({error.strerror}); {_STEP}") from None


def read_sheet(path: str | Path) -> Iterator[Row]:
    """The rows that are not blank, of a CSV or XLSX that people and programs have been at.

    Rows and columns may stand in any order, among others; headers in either language. CSV may be
    UTF-8, UTF-16 or GB18030, with commas, semicolons or tabs. Cells come restored and `legible`.

    Raises:
        InputError: it cannot be read, or lacks a column of `NEEDED`, or has one of ours twice, or
            a cell or the sheet has more text than any that people fill in.
        ConfigError: XLSX, and openpyxl is not installed.
    """
    path = Path(path)
    data = _bytes(path)
    if data.startswith(_OLE):
        message = "is an old or a password-protected workbook; save it without, as XLSX or CSV"
        raise InputError(message, path=str(path))
    is_book = data.startswith(_ZIP)
    rows = (
        workbook_rows(data, path)
        if is_book
        else csv_rows(data, path, lambda name: column_of(name) is not None)
    )
    first = next(rows, None)
    if first is None:
        raise InputError("is empty; a header and rows are needed", path=str(path))
    places = {key: i for key, i in _places(first[1], path).items() if key in READ}
    longest, total = MOST_UNITS if is_book else _LONGEST_CSV, 0
    for number, cells in rows:
        taken = {key: cells[i] if i < len(cells) else "" for key, i in places.items()}
        _refuse_long(taken, longest, number, path)
        total += sum(map(len, taken.values()))
        if total > _MOST_READ:
            message = f"row {number}: over {_MOST_READ:,} characters in all; split the sheet in two"
            raise InputError(message, path=str(path))
        yield Row(number, {key: restore(legible(text)) for key, text in taken.items()})


def _parts(text: str) -> Mapping[str, float]:
    found = stems(text)
    single = {stem: weight(stem) for stem in found}
    pairs = {f"{a} {b}": (single[a] + single[b]) / 2 for a, b in pairwise(found)}
    return single | pairs


def _refuse_long(cells: Mapping[str, str], longest: int, number: int, path: Path) -> None:
    for column, text in cells.items():
        # Counting UTF-16 units copies the text: only where it may have too many.
        if len(text) > longest // 2 and len(text.encode("utf-16-le", "replace")) // 2 > longest:
            message = f"row {number}: {column} is longer than {longest:,} characters; "
            raise InputError(message + "shorten it, or close its quotation marks", path=str(path))


def _lines(rows: _Rows, columns: Sequence[str], lang: Lang) -> Iterator[str]:
    yield BOM + csv_row([header(column, lang) for column in columns])
    yield from map(csv_row, _cells(rows, columns, lang))


def _cells(rows: _Rows, columns: Sequence[str], lang: Lang) -> Iterator[list[str]]:
    for row in rows:
        yield [cell(row.get(column, ""), lang) for column in columns]


def _write_whole(file: IO[bytes], data: bytes, size: int) -> None:
    try:
        if file.write(data) == len(data):
            return
        problem = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    except OSError as error:
        problem = error
    with contextlib.suppress(OSError):
        file.truncate(size)
    raise problem


def _refuse_foreign(file: IO[bytes], size: int, columns: Sequence[str], path: Path) -> None:
    headers = {BOM + ",".join(header(column, lang) for column in columns) for lang in LANGS}
    file.seek(0)
    found = file.read(2 * max(len(line.encode()) for line in headers)).decode(errors="replace")
    # A spreadsheet that saved the file took the quotation marks.
    if found.replace('"', "").partition("\r\n")[0] not in headers:
        message = f"is no sheet of the columns {', '.join(columns)}; name another file"
        raise InputError(message, path=str(path))
    file.seek(size - 2)
    # No cell holds a carriage return, so this is the end of a row.
    if file.read() != b"\r\n":
        message = "ends in half a row; delete that row, or name another file"
        raise InputError(message, path=str(path))


def _bytes(path: Path) -> bytes:
    try:
        if path.exists() and not path.is_file():
            raise InputError("is no file; name a CSV or XLSX file", path=str(path))
        if path.stat().st_size > _MOST_BYTES:
            message = f"has more than {_MOST_BYTES >> 20} MiB; split the sheet in two"
            raise InputError(message, path=str(path))
        return path.read_bytes()
    except FileNotFoundError:
        raise InputError("no such file; check the path", path=str(path)) from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = (isinstance(error, OSError) and error.strerror) or str(error)
        message = f"cannot be read: {reason}; check the path and its rights"
        raise InputError(message, path=str(path)) from None


def _places(names: Sequence[str], path: Path) -> dict[str, int]:
    places: dict[str, int] = {}
    for place, name in enumerate(names):
        column = column_of(name)
        if column in places:
            message = f"has two columns {column} ({names[places[column]]!r}, {name!r}); delete one"
            raise InputError(message, path=str(path))
        if column is not None:
            places[column] = place
    missing = [column for column in NEEDED if column not in places]
    if missing:
        wanted = " and ".join(f"{column} ({header(column, 'zh')})" for column in missing)
        found = ", ".join(repr(name[:30]) for name in names[:12] if name.strip())
        raise InputError(f"lacks {wanted}; its first row holds {found}", path=str(path))
    return places
