"""The sheet that reviewers label: written as CSV or XLSX, and read back whatever was done to it."""

import contextlib
import errno
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Final, NamedTuple

from judge.errors import InputError, RunError
from judge.review.cells import cell, legible, restore
from judge.review.delimited import BOM, csv_row, csv_rows
from judge.review.words import LANGS, Lang, column_of, header
from judge.review.workbook import workbook_rows, write_workbook

NEEDED: Final = ("review_id", "human_support")
"""Columns without which a sheet says nothing."""

_Rows = Iterable[Mapping[str, str]]

_XLSX: Final = ".xlsx"
_ZIP: Final = b"PK\x03\x04"
_OLE: Final = b"\xd0\xcf\x11\xe0"
_MOST_BYTES: Final = 256 << 20


class Row(NamedTuple):
    """One row as it stands in the sheet."""

    number: int
    """As a spreadsheet shows it: the header is mostly 1."""
    cells: dict[str, str]
    """By canonical column name, those of ours that the sheet has; empty where a cell is."""


def write_sheet(
    target: str | Path | IO[str], rows: _Rows, columns: Sequence[str], lang: Lang
) -> None:
    """Write a sheet, whole or not at all, over what is there: XLSX where the name says so, or CSV.

    Cells stand as `judge.review.cells.cell` makes them.

    Args:
        target: a path, or a text stream, which gets CSV and must not translate line ends.
        rows: canonical column name to text; a missing one is an empty cell. A spreadsheet that
            opens CSV makes numbers and dates of what looks so: ids must not, `r_7f3a` does not.
        columns: canonical names, in order.
        lang: of the headers and the drop-down.

    Raises:
        RunError: it cannot be written.
        ConfigError: XLSX, and openpyxl is not installed.
    """
    if not isinstance(target, str | Path):
        target.writelines(_lines(rows, columns, lang))
    elif Path(target).suffix.lower() == _XLSX:
        with _replacing(Path(target)) as part:
            write_workbook(part, _cells(rows, columns, lang), columns, lang)
    else:
        with (
            _replacing(Path(target)) as part,
            part.open("w", encoding="utf-8", newline="") as file,
        ):
            file.writelines(_lines(rows, columns, lang))


def append_rows(path: str | Path, rows: _Rows, columns: Sequence[str], lang: Lang) -> None:
    """Add rows to a CSV that one process writes over time; its header is made where there is none.

    All of the rows, or none where the disk is full. A header of ours in the other language stays.

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
            data = "".join(list(_lines(rows, columns, lang))[1 if size else 0 :]).encode()
            _write_whole(file, data, size)
    except OSError as error:
        raise _unwritable(path, error) from None


def read_sheet(path: str | Path) -> Iterator[Row]:
    """The rows that are not blank, of a CSV or XLSX that people and programs have been at.

    Rows and columns may stand in any order, among others; headers in either language. CSV may be
    UTF-8, UTF-16 or GB18030, with commas, semicolons or tabs. Cells come restored and `legible`.

    Raises:
        InputError: it cannot be read, or lacks a column of `NEEDED`, or has one of ours twice.
        ConfigError: XLSX, and openpyxl is not installed.
    """
    path = Path(path)
    data = _bytes(path)
    if data.startswith(_OLE):
        message = "is an old or a password-protected workbook; save it without, as XLSX or CSV"
        raise InputError(message, path=str(path))
    read = workbook_rows if data.startswith(_ZIP) else csv_rows
    rows = read(data, path)
    first = next(rows, None)
    if first is None:
        raise InputError("is empty; a header and rows are needed", path=str(path))
    places = _places(first[1], path)
    for number, cells in rows:
        taken = {key: cells[i] if i < len(cells) else "" for key, i in places.items()}
        yield Row(number, {key: restore(legible(text)) for key, text in taken.items()})


def _lines(rows: _Rows, columns: Sequence[str], lang: Lang) -> Iterator[str]:
    yield BOM + csv_row([header(column, lang) for column in columns])
    yield from map(csv_row, _cells(rows, columns, lang))


def _cells(rows: _Rows, columns: Sequence[str], lang: Lang) -> Iterator[list[str]]:
    for row in rows:
        yield [cell(row.get(column, ""), lang) for column in columns]


@contextlib.contextmanager
def _replacing(path: Path) -> Iterator[Path]:
    part = path.with_name(f"{path.name}.part")
    try:
        yield part
        part.replace(path)
    except OSError as error:
        raise _unwritable(path, error) from None
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)


def _unwritable(path: Path, error: OSError) -> RunError:
    return RunError(f"{path}: cannot be written ({error.strerror}); close it, or name another file")


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
    headers = tuple(next(_lines((), columns, lang)).encode() for lang in LANGS)
    file.seek(0)
    if not file.read(max(map(len, headers))).startswith(headers):
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
            message = f"has more than {_MOST_BYTES >> 20} MiB; import it in parts"
            raise InputError(message, path=str(path))
        return path.read_bytes()
    except FileNotFoundError:
        raise InputError("no such file; check the path", path=str(path)) from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = (isinstance(error, OSError) and error.strerror) or str(error)
        message = f"cannot be read: {reason}; check the path and its rights"
        raise InputError(message, path=str(path)) from None


def _places(names: Sequence[str], path: Path) -> dict[str, int]:
    """Where our columns stand."""
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
