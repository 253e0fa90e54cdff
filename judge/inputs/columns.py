"""A table's rows, of Parquet, Arrow or XLSX: the fields of each, or what is wrong with it."""

import json
from collections.abc import Callable, Iterator
from functools import partial
from io import BufferedReader
from pathlib import Path
from typing import Any, Final

from pydantic import JsonValue

from judge.errors import InputError
from judge.inputs import arrow
from judge.inputs.rows import Row, csv_object, is_column, table_fields
from judge.inputs.source import ALLOW_MORE, CLIPPED, PEEK, most_bytes
from judge.inputs.workbook import MOST_COLUMNS, MOST_ROWS, XLSX, sheet_rows, worksheets
from judge.text.visible import clip

TABLES: Final = (arrow.PARQUET, arrow.FILE, arrow.STREAM, XLSX)
"""How such files begin."""
_EXTRA: Final = "data"
_SHOWN: Final = 60
"""Characters of a cell, in a message."""
_FAULTS: Final = {"#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#N/A"}
_Fields = dict[str, JsonValue]


def column_rows(stream: BufferedReader, path: Path, max_line: float) -> Iterator[Row]:
    """The rows of a table, numbered from 1, or as the first sheet of a workbook shows them.

    Raises:
        ConfigError: what reads it is not installed.
        InputError: it is damaged, or its columns have no names of their own.
    """
    head = stream.peek(PEEK)[: len(arrow.FILE)]
    if head.startswith(XLSX):
        yield from _of_sheet(stream, path, max_line)
        return
    for number, row in enumerate(arrow.table_rows(stream, str(path), head), 1):
        text = _text(row)
        yield _made(number, text, max_line, partial(_fields, text))


def fields_of(row: dict[str, Any]) -> _Fields:
    """A row's fields as JSON holds them: dates and the like as text, and no key that is null."""
    return _fields(_text(row))


def _of_sheet(stream: BufferedReader, path: Path, max_line: float) -> Iterator[Row]:
    header: list[str] = []
    try:
        with worksheets(stream, _EXTRA) as sheets:
            shown = next((each for each in sheets if each.sheet_state == "visible"), sheets[0])
            for number, cells in sheet_rows(shown, MOST_ROWS, MOST_COLUMNS + 1):
                if not header:
                    header = _header(cells)
                    continue
                named, more = cells[: len(header)], list(filter(str.strip, cells[len(header) :]))
                row = dict(zip(header, named, strict=False)) | ({"": more} if more else {})
                text = json.dumps(row, ensure_ascii=False)
                yield _made(number, text, max_line, partial(_of_cells, header, named, more))
    except InputError as error:
        raise error.at(str(path), error.line) from None


def _of_cells(header: list[str], cells: list[str], more: list[str]) -> _Fields:
    if more:
        what = f"{clip(more[0], _SHOWN)!r} stands in a column without a name; name it"
        raise InputError(f"{what} in the first row, or empty the cell")
    for name, cell in zip(header, cells, strict=False):
        if cell in _FAULTS and is_column(name):
            what = f"is {cell}, by which a formula says that it failed; mend or empty the cell"
            raise InputError(what, field=name)
    return csv_object(header, cells)


def _header(cells: list[str]) -> list[str]:
    header = [name.strip() for name in cells]
    while header and not header[-1]:
        header.pop()
    if len(header) > MOST_COLUMNS:
        raise InputError(f"over {MOST_COLUMNS} columns have names; keep fewer, or save it as CSV")
    if twice := [name for name in header if name and header.count(name) > 1]:
        raise InputError(f"column {twice[0]!r} stands twice; rename one", line=1)
    return header


def _made(number: int, text: str, max_line: float, read: Callable[[], _Fields]) -> Row:
    fields: _Fields | InputError
    if len(text) > most_bytes(max_line):
        long = InputError(f"the row is longer than {max_line:g} MB; {ALLOW_MORE}")
        return Row(number, text[:CLIPPED], long)
    try:
        fields = read()
    except InputError as error:
        fields = error
    return Row(number, text, fields)


def _text(row: dict[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False, default=_atom)


def _atom(value: object) -> str | dict[str, int]:
    """What JSON has no form of, such as a date; bytes as text, or else as their number."""
    if not isinstance(value, bytes):
        return str(value)
    try:
        return value.decode()
    except UnicodeDecodeError:  # an image, say; U+FFFD would be judged as if somebody wrote it
        return {"bytes": len(value)}


def _fields(text: str) -> _Fields:
    given: _Fields = json.loads(text, parse_constant=lambda _: None)
    return table_fields(filled(given))


def filled(fields: _Fields) -> _Fields:
    """Without nulls: columns give each object all keys that any of them has."""
    return {key: _whole(value) for key, value in fields.items() if value is not None}


def _whole(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return filled(value)
    return [_whole(each) for each in value] if isinstance(value, list) else value
