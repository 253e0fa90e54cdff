"""Sheets as XLSX workbooks, written and read through openpyxl."""

import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from judge.errors import InputError, extra
from judge.files.workbook import sheet_rows, worksheets

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
# Reading takes some 0.1 ms a row; no reader of a sheet fills in so many.
_MOST_FILLED: Final = 100_000
# How a workbook writes a control character, and what must not stand there by chance: Excel takes
# any such number for a character, but writes no others. LibreOffice writes them as they stand.
_BY_CHANCE: Final = re.compile(r"_(?=x[0-9A-Fa-f]{4}_)")


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
    with extra("xlsx", "XLSX", "use CSV, or "):
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
    """The rows of the sheet with review ids, as `sheet_rows` has them.

    `is_id` knows the header of the review ids, which messages call `name`. InputError where the
    file is damaged, locked, of another kind, too large, or has no such sheet, or two, or more than
    `most` rows that are filled in.
    """
    with worksheets(io.BytesIO(data), "xlsx") as sheets:
        yield from sheet_rows(_the_one(sheets, name, is_id), most)


def _the_one(sheets: Sequence["Worksheet"], name: str, is_id: Callable[[str], bool]) -> "Worksheet":
    headers = ((sheet, next(sheet_rows(sheet, 1), (0, []))[1]) for sheet in sheets)
    ours = [sheet for sheet, names in headers if any(map(is_id, names))]
    if not ours:
        message = f"no sheet has a column {name} in its first row; "
        raise InputError(message + "name a sheet that `judge review draw` made")
    if len(ours) > 1:
        titles = " and ".join(repr(sheet.title) for sheet in ours[:2])
        message = f"has review ids on {len(ours)} worksheets, such as {titles}; "
        raise InputError(message + "keep one, or save each as a file of its own")
    return ours[0]
