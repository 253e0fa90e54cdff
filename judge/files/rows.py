"""A file's rows, of JSON or CSV: the fields of each, or what is wrong with it."""

import csv
import json
import re
from collections.abc import Iterator
from functools import partial
from io import BufferedReader
from itertools import chain, zip_longest
from pathlib import Path
from typing import Final, Self

from pydantic import JsonValue

from judge.errors import InputError
from judge.files.documents import JSON, Lines, Row, form_of, made, short
from judge.files.fields import FIELDS
from judge.files.inputs import misnamed
from judge.files.paths import evaluated, listed
from judge.files.source import (
    ALLOW_MORE,
    CLIPPED,
    MAX_LINE,
    PEEK,
    LongLine,
    TextLines,
    check_encoding,
    csv_reader,
    most_bytes,
    presentable,
)
from judge.text.visible import plural

_DELIMITERS: Final = ",;\t|"
_NUMBERED_CHUNK: Final = re.compile(r"chunk_([1-9][0-9]{0,8})")
_LISTS: Final = frozenset(
    key
    for field in ("sentences", "chunks", "retrieved", "gold_evidence", "relevance")
    for key in FIELDS[field][1]
)
"""Keys under which a cell of a table holds a list, as text."""
_MAY_BE_EMPTY: Final = frozenset(FIELDS["answer"][1])
"""A spreadsheet cannot tell an empty answer from none; an empty answer is a result, no error."""
_JSON_HEAD: Final = re.compile(r"""\{|\[\s*(?:[\[{"\]]|$)""")
FORMS: Final = "one JSON object a line (.jsonl), or CSV under a header (.csv), is needed"

_Fields = dict[str, JsonValue]


def rows(stream: BufferedReader, path: Path, max_line: float) -> Iterator[Row]:
    """The rows of a file: JSON or CSV, as its name says, or else its first line."""
    lines = TextLines(stream, path, max_line=max_line)
    name = path.name.lower().removesuffix(".gz").removesuffix(".zst")
    head = stream.peek(PEEK).decode("utf-8-sig", "replace").lstrip()
    json_rows = form_of(head)
    if name.endswith((".jsonl", ".ndjson", ".json")):
        return json_rows(lines, path)
    if not name.endswith((".csv", ".tsv")):
        if not head or _JSON_HEAD.match(head):
            return json_rows(lines, path)
        if not _is_header(head.partition("\n")[0]):
            begun = short(head.partition("\n")[0])
            if kind := misnamed(path.name):
                raise InputError(f"{kind}: it begins with {begun}; get it again", path=str(path))
            what = f"is neither JSON lines nor CSV: it begins with {begun}"
            raise InputError(
                f"{what}, which names no column such as answer; {FORMS}", path=str(path)
            )
    return csv_rows(lines, path, max_line)


def _is_header(line: str) -> bool:
    """Whether a line names a column that is read."""
    return any(is_column(name.strip().strip('"')) for name in re.split(f"[{_DELIMITERS}]", line))


def is_column(name: str) -> bool:
    """Whether a column of this name is read as a field of ours."""
    known = any(name in keys for _, keys in FIELDS.values())
    return known or _NUMBERED_CHUNK.fullmatch(name) is not None


class _Tape:
    """Lines for a CSV reader, which keeps those of the record that is being read.

    Of a record that is too long it hands on quotation marks alone, so that its end is found.
    """

    def __init__(self, lines: Lines, longest: int) -> None:
        self._lines = lines
        self._longest = longest
        self.rewind()

    def rewind(self) -> None:
        """A record begins."""
        self.kept: list[tuple[int, str]] = []
        self._room = self._longest

    @property
    def ran_over(self) -> bool:
        """Whether the record is too long."""
        return self._room < 0

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> str:
        try:
            number, line = next(self._lines)
            self._room -= len(line)
        except LongLine as error:
            number, line = error.line, error.head
            self._room = -1
            marks = sum(piece.count(b'"') for piece in error.pieces)
        else:
            marks = line.count('"') if self.ran_over else 0
        if not (self.ran_over and self.kept):
            self.kept.append((number, line))
        return '"' * (marks % 2) if self.ran_over else line


def csv_rows(lines: Lines, path: Path, max_line: float = MAX_LINE) -> Iterator[Row]:
    """A row for each CSV record; the header names the fields, an empty cell is an absent field.

    Raises:
        InputError: there is no header, or it names a column twice.
    """
    tape = _Tape(lines, most_bytes(max_line))
    long = InputError(f"the record is longer than {max_line:g} MB; {ALLOW_MORE}")
    first = next(tape, "")
    check_encoding(first, 1, path)
    reader = csv_reader(chain([first], tape), max(_DELIMITERS, key=first.count))
    try:
        header = [name.strip() for name in next(reader, [])]
    except csv.Error as error:
        raise _bad_csv(error).at(str(path), 1) from None
    if tape.ran_over:
        raise long.at(str(path), 1)
    if twice := sorted({name for name in header if name and header.count(name) > 1}):
        raise InputError(f"column {twice[0]!r} stands twice; rename one", path=str(path), line=1)
    while True:
        tape.rewind()
        bad, cells = None, None
        try:
            cells = next(reader, None)
        except csv.Error as error:
            bad = _bad_csv(error)
        if bad is None and cells is None:
            return
        number, text = tape.kept[0][0], "".join(line for _, line in tape.kept)
        if tape.ran_over:
            yield Row(number, presentable(text[:CLIPPED]), long.at(str(path), number))
        elif bad is not None:
            yield Row(number, presentable(text), bad.at(str(path), number))
        elif any(cells or ()):
            yield made(number, text, path, partial(csv_object, header, cells or []))


def _bad_csv(error: Exception) -> InputError:
    message, hint = str(error), "mend the line"
    if "end of data" in message:
        hint = "close the quotation mark that opens on this line"
    elif "new-line character" in message:
        message = "a carriage return outside quotation marks"
        hint = "end lines with a line feed"
    return InputError(f"bad CSV: {message}; {hint}")


def csv_object(header: list[str], cells: list[str]) -> _Fields:
    """The fields of a record; an empty cell is an absent field."""
    if any(cells[len(header) :]):
        width = f"{len(header)} {plural(len(header), 'column')}"
        raise InputError(f"{len(cells)} cells under {width}; quote cells that hold commas")
    fields: _Fields = {}
    for name, cell in zip_longest(header, cells[: len(header)], fillvalue=""):
        if name in _LISTS and cell.strip():
            fields[name] = _json_cell(name, cell)
        elif name and (cell or name in _MAY_BE_EMPTY or _NUMBERED_CHUNK.fullmatch(name)):
            fields[name] = cell
    return _chunk_columns(fields)


def table_fields(given: _Fields) -> _Fields:
    """The fields of a table's row: what it holds as text is read as the list it is."""
    written = {name: listed(v) for name in _LISTS if isinstance(v := given.get(name), str)}
    return _chunk_columns(given | written)


def _chunk_columns(fields: _Fields) -> _Fields:
    """The fields with a list of chunks for columns `chunk_1` to `chunk_n`, if there are any."""
    found = sorted((int(m[1]), n) for n in fields if (m := _NUMBERED_CHUNK.fullmatch(n)))
    if not found:
        return fields
    chunks: list[JsonValue] = [
        {"chunk_id": str(number), "text": fields[name]}
        for number, name in found
        if fields[name] not in (None, "")
    ]
    names = {name for _, name in found}
    rest = {name: value for name, value in fields.items() if name not in names}
    return {"chunks": chunks} | rest


def _json_cell(name: str, cell: str) -> JsonValue:
    try:
        value: JsonValue = JSON.decode(cell)
    except InputError as error:
        raise InputError(error.problem, field=name) from None
    except (json.JSONDecodeError, RecursionError) as error:
        value = evaluated(cell.strip())  # as `pandas.to_csv` writes it
        if not isinstance(value, str):
            return value
        message = f"not JSON ({error}): {short(cell)}; write the cell with json.dumps"
        raise InputError(message, field=name) from None
    except ValueError:  # Python's own limit on digits
        message = "bad JSON: a number has too many digits; mend the cell"
        raise InputError(message, field=name) from None
    return value
