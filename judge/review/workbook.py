"""Sheets as XLSX workbooks, written and read through openpyxl."""

import contextlib
import io
import re
import warnings
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Final

from judge.errors import ConfigError, InputError

if TYPE_CHECKING:
    from openpyxl.worksheet.worksheet import Worksheet

# In characters; what is not named is a word or an id.
_WIDTHS: Final = {
    "query": 30,
    "answer": 60,
    "reference": 60,
    "sentence": 45,
    "chunk": 80,
    "chunks": 80,
    "human_note": 30,
    "judge_quote": 45,
}
_WIDTH: Final = 16
# In points. Left to itself a row of long chunks is taller than the screen.
_HEIGHT: Final = 160
# A small file can hold any amount of the same; ten thousand rows of full cells are less than this.
_MOST_UNPACKED: Final = 512 << 20
_MOST_PARTS: Final = 10_000
_MOST_ROWS: Final = 1_048_576
# Reading takes some 0.1 ms a row; no reader of a sheet fills in so many.
_MOST_FILLED: Final = 100_000
_MOST_COLUMNS: Final = 256
# How a workbook writes a control character, and what must not stand there by chance: Excel takes
# any such number for a character, but writes no others. LibreOffice writes them as they stand.
_BY_CHANCE: Final = re.compile(r"_(?=x[0-9A-Fa-f]{4}_)")
_ESCAPED: Final = re.compile(r"_x(00[01][0-9A-Fa-f]|005[Ff])_")


def write_workbook(
    path: Path,
    table: Iterable[Sequence[str]],
    columns: Sequence[str],
    offers: Mapping[str, Sequence[str]],
) -> None:
    """Write a workbook of one sheet, every cell of it text.

    `table` is the headers, then the rows, cells as `judge.files.tables.cell` makes them; `columns`
    are the canonical names; `offers` has by column what its drop-down offers. ConfigError where
    openpyxl is not installed.
    """
    with _openpyxl():
        from openpyxl import Workbook  # noqa: PLC0415  an extra, and slow to load
        from openpyxl.styles import Alignment, Font  # noqa: PLC0415
        from openpyxl.utils import get_column_letter  # noqa: PLC0415
        from openpyxl.worksheet.datavalidation import DataValidation  # noqa: PLC0415
    book = Workbook()
    sheet = book.active
    sheet.title = "review"
    for number, texts in enumerate(table, 1):
        for place, text in enumerate(texts, 1):
            written = sheet.cell(number, place)
            if text:
                written.value = _BY_CHANCE.sub("_x005F_", text)
                written.data_type = "s"  # and not what openpyxl makes of `#N/A`
            written.number_format = "@"
            written.alignment = Alignment(wrap_text=True, vertical="top")
        if number > 1:
            sheet.row_dimensions[number].height = _HEIGHT
    for written in sheet[1]:
        written.font = Font(bold=True)
    sheet.freeze_panes = "A2"
    for place, column in enumerate(columns, 1):
        letter = get_column_letter(place)
        sheet.column_dimensions[letter].width = _WIDTHS.get(column, _WIDTH)
        if column in offers:
            # Offered, not imposed: yes and no are labels, too.
            words = f'"{",".join(offers[column])}"'
            offer = DataValidation("list", words, allow_blank=True, showErrorMessage=False)
            offer.add(f"{letter}2:{letter}{max(sheet.max_row, 2)}")
            sheet.add_data_validation(offer)
    # Made in memory, for openpyxl leaves a file that it cannot write to the end open.
    whole = io.BytesIO()
    book.save(whole)
    path.write_bytes(whole.getbuffer())


def workbook_rows(
    data: bytes, name: str, is_id: Callable[[str], bool], most: int = _MOST_FILLED
) -> Iterator[tuple[int, list[str]]]:
    """The rows that are not blank of the sheet with review ids, numbered as it shows them.

    Numbers and booleans come as text, `1` and `true`; of a formula its last value; of merged cells
    the first holds it. Line ends and control characters come as they are. One row is held at a
    time, for a small workbook can name one long text in any number of cells.

    `is_id` knows the header of the review ids, which messages call `name`. InputError where the
    file is damaged, locked, of another kind, too large, or has no such sheet, or two, or more than
    `most` rows that are filled in.
    """
    with _openpyxl():
        from openpyxl import load_workbook  # noqa: PLC0415  an extra, and slow to load
    try:
        _refuse_other(data)
        # Only texts and numbers are read: what openpyxl warns of is nothing to us.
        with warnings.catch_warnings(action="ignore"):
            stream = io.BytesIO(data)
            book = load_workbook(stream, read_only=True, data_only=True, keep_links=False)
        yield from _rows(_the_one(book.worksheets, name, is_id), most)
    except (InputError, MemoryError):
        raise
    except Exception as error:  # noqa: BLE001  of a damaged workbook openpyxl raises anything
        message = f"cannot be read as XLSX ({type(error).__name__}); save it again, as XLSX or CSV"
        raise InputError(message) from None


@contextlib.contextmanager
def _openpyxl() -> Iterator[None]:
    try:
        yield
    except ImportError:
        message = "XLSX needs openpyxl, which is not installed; use CSV, or run "
        raise ConfigError(message + "pip install '.[xlsx]' in the checkout") from None


def _refuse_other(data: bytes) -> None:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = archive.infolist()
        # What a part says of its size is what it yields: zipfile reads no further.
        if len(parts) > _MOST_PARTS or sum(p.file_size for p in parts) > _MOST_UNPACKED:
            unpacked = _MOST_UNPACKED >> 20
            raise InputError(f"unpacks to more than {unpacked} MiB; save the sheet as CSV")
        if "mimetype" in archive.namelist():
            raise InputError("is an OpenDocument file; save the sheet as XLSX or CSV")


def _the_one(sheets: Sequence["Worksheet"], name: str, is_id: Callable[[str], bool]) -> "Worksheet":
    headers = ((sheet, next(_rows(sheet, 1), (0, []))[1]) for sheet in sheets)
    ours = [sheet for sheet, names in headers if any(map(is_id, names))]
    if not ours:
        message = f"no sheet has a column {name} in its first row; "
        raise InputError(message + "name a sheet that `judge review draw` made")
    if len(ours) > 1:
        titles = " and ".join(repr(sheet.title) for sheet in ours[:2])
        message = f"has review ids on {len(ours)} worksheets, such as {titles}; "
        raise InputError(message + "keep one, or save each as a file of its own")
    return ours[0]


def _rows(sheet: "Worksheet", most: int) -> Iterator[tuple[int, list[str]]]:
    # What a sheet says of its extent may be wrong: the limits are ours.
    rows = sheet.iter_rows(max_row=_MOST_ROWS, max_col=_MOST_COLUMNS, values_only=True)
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


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, datetime):
        return str(value).removesuffix(" 00:00:00")
    text = "" if value is None else str(value)
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text)
