"""CSV as spreadsheets write and read it: whatever they make of encoding and delimiter."""

import codecs
import csv
import io
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from judge.errors import InputError
from judge.review.words import column_of

BOM: Final = "\ufeff"
"""First in a file that Excel must take for UTF-8."""

_DELIMITERS: Final = (",", ";", "\t")
# Excel's own way to name the delimiter; it hides the line.
_SAID: Final = re.compile(r'"?sep=([^\w\s"]|\t)"?(?:\r\n?|\n)', re.IGNORECASE)
_UTF16: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
# UTF-8 first: next to no other text is valid UTF-8 by chance. GB18030 is what Excel and WPS save
# where Windows speaks Chinese.
_ENCODINGS: Final = ("utf-8-sig", "gb18030")


def csv_row(cells: Sequence[str]) -> str:
    r"""One row with its end, `\r\n` as RFC 4180 has it, every cell in quotation marks.

    A program that parts columns at commas, semicolons and tabs alike splits none of them.
    """
    out = io.StringIO()
    csv.writer(out, lineterminator="\r\n", quoting=csv.QUOTE_ALL).writerow(cells)
    return out.getvalue()


def csv_rows(data: bytes, path: Path) -> Iterator[tuple[int, list[str]]]:
    """The rows that are not blank, each with its number in the spreadsheet, from 1.

    Commas, semicolons or tabs: whichever part the first row into the most headers of ours, unless
    a line such as `sep=;` says it first, which is no row of the spreadsheet.

    Raises:
        InputError: neither UTF-8, UTF-16 nor GB18030, a quotation mark is never closed, or a row
            has cells beyond the header's.
    """
    text = _decoded(data, path)
    if said := _SAID.match(text):
        delimiter, text = said[1], text[said.end() :]
    else:
        delimiter = max(_DELIMITERS, key=lambda sign: _recognised(text, sign))
    width = None
    for number, cells in _numbered(text, delimiter, path):
        if not any(map(str.strip, cells)):
            continue
        width = width or len(cells)
        if any(map(str.strip, cells[width:])):
            message = f"row {number}: {len(cells)} cells under {width} columns; "
            raise InputError(message + "quote cells that hold the delimiter", path=str(path))
        yield number, cells


def _decoded(data: bytes, path: Path) -> str:
    encodings = ("utf-16",) if data.startswith(_UTF16) else _ENCODINGS
    for encoding in encodings:
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if (place := text.find("\0")) >= 0:
            line = text.count("\n", 0, place) + 1
            message = f"line {line} holds a NUL byte, so this is no CSV; "
            raise InputError(message + "save the sheet again, as CSV UTF-8 or XLSX", path=str(path))
        return text
    message = "is neither UTF-8, UTF-16 nor GB18030; save the sheet again, as CSV UTF-8 or XLSX"
    raise InputError(message, path=str(path))


def _recognised(text: str, delimiter: str) -> int:
    try:
        for cells in _reader(text, delimiter):
            if any(map(str.strip, cells)):
                return sum(column_of(name) is not None for name in cells)
    except csv.Error:
        pass  # this delimiter makes no sense of it; if none does, the reading says why
    return 0


def _numbered(text: str, delimiter: str, path: Path) -> Iterator[tuple[int, list[str]]]:
    number = 0
    try:
        for number, cells in enumerate(_reader(text, delimiter), 1):
            yield number, cells
    except csv.Error as error:
        hint = "close the quotation mark that opens here, or save the sheet again"
        message = f"row {number + 1}: bad CSV ({error}); {hint}"
        raise InputError(message, path=str(path)) from None


def _reader(text: str, delimiter: str) -> Iterator[list[str]]:
    # The default limit, 128 KiB a cell, is under what other programs write.
    csv.field_size_limit(2**31 - 1)
    # Strict: an open quotation mark would swallow the rows below it, labels and all.
    return csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
