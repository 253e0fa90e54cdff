"""Sheets of XLSX workbooks, read through openpyxl a row at a time."""

import re
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from itertools import count
from typing import IO, TYPE_CHECKING, Final

from judge.errors import InputError, extra

if TYPE_CHECKING:
    from openpyxl.worksheet.worksheet import Worksheet

XLSX: Final = b"PK\x03\x04"
# A small file can hold any amount of the same; ten thousand rows of full cells are less than this.
_MOST_UNPACKED: Final = 512 << 20
_MOST_PARTS: Final = 10_000
_PARTS: Final = "[Content_Types].xml"
"""What each workbook has."""
MOST_ROWS: Final = 1_048_576
MOST_COLUMNS: Final = 256
_ESCAPED: Final = re.compile(r"_x(00[01][0-9A-Fa-f]|005[Ff])_")


@contextmanager
def worksheets(stream: IO[bytes], brought_by: str) -> Iterator[list["Worksheet"]]:
    """The sheets of a workbook.

    Raises:
        ConfigError: openpyxl, which an extra brings, is not installed.
        InputError: the file is damaged, locked, of another kind or too large.
    """
    with extra(brought_by, "XLSX", "use CSV, or "):
        from openpyxl import load_workbook  # noqa: PLC0415  an extra, and slow to load
    try:
        _refuse_other(stream)
        # Only texts and numbers are read: what openpyxl warns of is nothing to us.
        with warnings.catch_warnings(action="ignore"):
            book = load_workbook(stream, read_only=True, data_only=True, keep_links=False)
        yield book.worksheets
    except (InputError, MemoryError):
        raise
    except Exception as error:  # noqa: BLE001  of a damaged workbook openpyxl raises anything
        message = f"cannot be read as XLSX ({type(error).__name__}); save it again, as XLSX or CSV"
        raise InputError(message) from None


def sheet_rows(
    sheet: "Worksheet", most: int, columns: int = MOST_COLUMNS
) -> Iterator[tuple[int, list[str]]]:
    """The rows that are not blank, numbered as the sheet shows them; no more than `most`.

    Numbers and booleans come as text, `1` and `true`; of a formula its last value; of merged cells
    the first holds it. Line ends and control characters come as they are. One row is held at a
    time, for a small workbook can name one long text in any number of cells.
    """
    # What a sheet says of its extent may be wrong: the limits are ours.
    rows = sheet.iter_rows(max_row=MOST_ROWS, max_col=columns, values_only=True)
    numbered = enumerate(rows, 1)
    for filled in count():
        with warnings.catch_warnings(action="ignore"):
            # A workbook may have a million rows of nothing before the next.
            number, values = next((r for r in numbered if r[1].count(None) < len(r[1])), (0, ()))
        if not number:
            return
        if filled == most:
            message = f"row {number}: over {most:,} rows are filled in; split the sheet"
            raise InputError(message)
        cells = [_text(value) for value in values]
        if any(map(str.strip, cells)):
            yield number, cells


def _refuse_other(stream: IO[bytes]) -> None:
    with zipfile.ZipFile(stream) as archive:
        parts = archive.infolist()
        # What a part says of its size is what it yields: zipfile reads no further.
        if len(parts) > _MOST_PARTS or sum(p.file_size for p in parts) > _MOST_UNPACKED:
            unpacked = _MOST_UNPACKED >> 20
            raise InputError(f"unpacks to more than {unpacked} MiB; save the sheet as CSV")
        if "mimetype" not in archive.namelist() and _PARTS not in archive.namelist():
            raise InputError("is a ZIP archive and no XLSX; unpack it, and name what is in it")
        if "mimetype" in archive.namelist():
            raise InputError("is an OpenDocument file; save the sheet as XLSX or CSV")


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, datetime):
        return str(value).removesuffix(" 00:00:00")
    text = "" if value is None else str(value)
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text)
