"""The rows of an input: JSON, CSV, Parquet, Arrow or XLSX, each as a mapping of its fields."""

import csv
import json
import re
import warnings
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from io import BufferedReader
from itertools import chain, zip_longest
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple, Self

from pydantic import JsonValue

from judge.errors import InputError, extra
from judge.inputs.fields import NAMES
from judge.inputs.files import (
    ALLOW_MORE,
    CLIPPED,
    MAX_LINE,
    MEGA,
    PEEK,
    InputFile,
    LongLine,
    TextLines,
    check_encoding,
    decompressed,
    input_files,
    most_bytes,
    open_raw,
    presentable,
)
from judge.inputs.paths import listed
from judge.text.visible import clip, plural

if TYPE_CHECKING:
    from openpyxl.worksheet.worksheet import Worksheet
    from pyarrow import RecordBatch

FORMS: Final = "one JSON object a line (.jsonl), or CSV under a header (.csv), is needed"
_LIST_KEYS: Final = frozenset(
    key
    for field in ("sentences", "chunks", "retrieved", "gold_evidence", "relevance")
    for key in NAMES[field]
)
"""Columns whose cells hold a list or an object as text."""
_NUMBERED_CHUNK: Final = re.compile(r"chunk_([1-9][0-9]{0,8})")
_DOCUMENT_LINES: Final = 8
"""A JSON document is held in memory; it may be as long as this many lines at their limit."""
_SHOWN: Final = 60
"""Characters of a value in a message."""
_DELIMITERS: Final = ",;\t|"
_JSON_HEAD: Final = re.compile(r"""\{|\[\s*(?:[\[{"\]]|$)""")
_BLANK: Final = re.compile(r"[ \t\r\n]*")
JSON: Final = json.JSONDecoder(parse_constant=lambda _: None)
"""Reads NaN and Infinity, which Python writes and JSON does not have, as null."""

PARQUET: Final = b"PAR1"
ARROW_FILE: Final = b"ARROW1"
ARROW_STREAM: Final = b"\xff\xff\xff\xff"
XLSX: Final = b"PK\x03\x04"
_BATCH_ROWS: Final = 20
_COLUMN_BUFFER: Final = 1 << 20

_MOST_UNPACKED: Final = 512 << 20
"""Bytes that a workbook may unpack to: a small file can hold any amount of the same."""
_MOST_PARTS: Final = 10_000
_CONTENT_TYPES: Final = "[Content_Types].xml"
"""A part that each workbook has."""
MOST_ROWS: Final = 1_048_576
MOST_COLUMNS: Final = 256
_ESCAPED: Final = re.compile(r"_x(00[01][0-9A-Fa-f]|005[Ff])_")
_FAILED_FORMULAS: Final = {"#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#N/A"}

Fields = dict[str, JsonValue]
_Lines = Iterator[tuple[int, str]]


class Row(NamedTuple):
    """One row of an input."""

    file: InputFile
    line: int
    """The number of its line, or of the row in a table, from 1."""
    text: str
    """The row's text in the file; JSON for a row of a table."""
    fields: Fields | InputError
    """The fields of the row; an error if it cannot be read."""


def read_rows(path: str | Path, *, max_line: float = MAX_LINE) -> Iterator[Row]:
    """Yield the rows of a file, a folder, a pattern or an address, one at a time.

    Parquet, Arrow and XLSX are recognised by their first bytes, JSON and CSV by the name's ending
    or else by the first line.

    Args:
        path: what to read.
        max_line: the limit of a line, or of a CSV record, in MB.

    Raises:
        InputError: a file cannot be read, is damaged, or has no rows of a known form.
        ConfigError: the library that reads it is not installed.
    """
    for file in input_files(path):
        yield from file_rows(file, max_line)


def file_rows(file: InputFile, max_line: float = MAX_LINE) -> Iterator[Row]:
    """Yield the rows of one file, as `read_rows` does."""
    with open_raw(file) as raw:
        head = raw.peek(PEEK)
        if head.startswith(XLSX):
            yield from _sheet_rows(raw, file, max_line)
            return
        if head.startswith((PARQUET, ARROW_FILE, ARROW_STREAM)):
            for number, row in enumerate(_column_rows(raw, file, head), 1):
                text = json.dumps(row, ensure_ascii=False, default=_json_form)
                yield _table_row(file, number, text, max_line, partial(_fields_in, text))
            return
        with decompressed(raw, file) as stream:
            yield from _text_rows(stream, file, max_line)


# JSON and CSV


def _text_rows(stream: BufferedReader, file: InputFile, max_line: float) -> Iterator[Row]:
    name = file.name.lower().removesuffix(".gz").removesuffix(".zst")
    head = stream.peek(PEEK).decode("utf-8-sig", "replace").lstrip()
    first = head.partition("\n")[0]
    is_csv, lines = name.endswith((".csv", ".tsv")), name.endswith((".jsonl", ".ndjson"))
    if lines or name.endswith(".json") or (not is_csv and (not head or _JSON_HEAD.match(head))):
        if _is_document(head, lines=lines):
            return _document_rows(
                TextLines(stream, file, max_line=_DOCUMENT_LINES * max_line), file
            )
        return _json_lines(TextLines(stream, file, max_line=max_line), file)
    header = (name.strip().strip('"') for name in re.split(f"[{_DELIMITERS}]", first))
    if not is_csv and not any(map(_is_read, header)):
        what = f"is neither JSON lines nor CSV: it begins with {_short(first)}"
        raise InputError(f"{what}, which names no column such as answer; {FORMS}", path=str(file))
    return _csv_rows(TextLines(stream, file, max_line=max_line), file, max_line)


def _is_document(head: str, *, lines: bool) -> bool:
    """Return whether a JSON file is an array, or has objects over many lines.

    In a file that is named as one of `lines`, a first line `{"answer": "a",` is a broken line and
    not the beginning of an object over many lines; `{` alone is.
    """
    first, end, _ = head.partition("\n")
    begins = first.rstrip() == "{" if lines else first.rstrip().endswith(("{", "[", ","))
    return head.startswith("[") or (bool(end) and begins)


def _is_read(column: str) -> bool:
    """Return whether a column of this name is a field of a sample."""
    known = any(column in keys for keys in NAMES.values())
    return known or _NUMBERED_CHUNK.fullmatch(column) is not None


def _text_row(file: InputFile, line: int, text: str, read: Callable[[], Fields]) -> Row:
    fields: Fields | InputError
    try:
        check_encoding(text, line, file)
        fields = read()
    except InputError as error:
        fields = error.at(str(file), line)
    return Row(file, line, presentable(text), fields)


def _json_lines(lines: _Lines, file: InputFile) -> Iterator[Row]:
    while True:
        try:
            number, line = next(lines)
        except StopIteration:
            return
        except LongLine as error:
            yield Row(file, error.line, presentable(error.head), error)
            continue
        if line.strip():
            yield _text_row(file, number, line, partial(json_object, line))


def _document_rows(lines: TextLines, file: InputFile) -> Iterator[Row]:
    """Yield a row for each object of a JSON array, and for each object printed over many lines.

    A row's number is the line on which its array or object begins, and at least one more than that
    of the row before it.
    """
    kept, size = list[str](), 0
    for number, text in lines:
        check_encoding(text, number, file)
        kept.append(text)
        size += len(text)
        if size > lines.longest:
            what = f"is one JSON document of over {lines.longest / MEGA:g} MB, which is held whole"
            step = "make it lines, as jq -c '.[]' does, or allow more with --max-line"
            raise InputError(f"{what}; {step}", path=str(file))
    number = 0
    for line, value in _json_values("".join(kept), file):
        for each in value if isinstance(value, list) else [value]:
            number = max(number + 1, line)
            yield row_of(file, number, each)


def _json_values(text: str, file: InputFile) -> Iterator[tuple[int, JsonValue]]:
    """Yield the JSON values in a text, each with the line on which it begins."""
    line, place = 1, 0
    while True:
        blank = _BLANK.match(text, place)
        begin = blank.end() if blank else place
        line += text.count("\n", place, begin)
        if begin == len(text):
            return
        try:
            value, place = JSON.raw_decode(text, begin)
        except json.JSONDecodeError as error:
            what = f"{error.msg.removesuffix(' at')} at column {error.colno}; mend the file"
            line = error.lineno
        except RecursionError:
            what = "nested too deeply; flatten it"
        except ValueError as error:  # Python's own limit on digits
            what = f"{error}; mend the file"
        else:
            yield line, value
            line += text.count("\n", begin, place)
            continue
        raise InputError(f"bad JSON: {what}", path=str(file), line=line)


def row_of(file: InputFile, line: int, value: JsonValue) -> Row:
    """Return the row of a value that is JSON already."""
    # Half a surrogate pair, which JSON can name, stays an escape.
    text = json.dumps(value, ensure_ascii=False).encode(errors="backslashreplace").decode()
    if isinstance(value, dict):
        return Row(file, line, text, value)
    error = InputError(f"holds {_short(text)}; each row is one JSON object, {{…}}")
    return Row(file, line, text, error)


def json_object(line: str) -> Fields:
    """Return the JSON object on a line; raise InputError if there is none."""
    try:
        # The line end is a control character, which json would report in a line that is cut off.
        value = JSON.decode(line.rstrip("\r\n"))
    except json.JSONDecodeError as error:
        what = error.msg.removesuffix(" at")
        message = f"bad JSON: {what} at column {error.colno}: {_short(line)}; mend the line"
    except RecursionError:
        message = "bad JSON: lists or objects are nested too deeply; mend the line"
    except ValueError:  # Python's own limit on digits
        message = "bad JSON: a number has too many digits; mend the line"
    else:
        if isinstance(value, dict):
            return value
        message = f"holds {_short(line)}; each line is one JSON object, {{…}}"
        if isinstance(value, list):
            message += ". Of a JSON array, jq -c '.[]' makes such lines"
    raise InputError(message)


def _short(text: str) -> str:
    return repr(clip(text.strip(), _SHOWN))


class _Record:
    """An iterator over lines for a CSV reader; it keeps the lines of the current record."""

    def __init__(self, lines: _Lines, file: InputFile, max_line: float) -> None:
        self._lines = lines
        self._file = file
        self._max_line = max_line
        self.begin()

    def begin(self) -> None:
        """Forget the lines of the record before."""
        self.kept: list[tuple[int, str]] = []
        self._room = most_bytes(self._max_line)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> str:
        number, line = next(self._lines)
        self.kept.append((number, line))
        self._room -= len(line)
        if self._room < 0:
            what = f"the record is longer than {self._max_line:g} MB; close its quotation marks"
            place = self.kept[0][0]
            raise InputError(f"{what}, or {ALLOW_MORE}", path=str(self._file), line=place)
        return line


def csv_reader(lines: Iterable[str], delimiter: str) -> Iterator[list[str]]:
    """Return the records of a CSV, read strictly, with cells of any length.

    Raises:
        csv.Error: by `next`, for a record that is broken.
    """
    csv.field_size_limit(2**31 - 1)  # a record has its own limit
    return csv.reader(lines, delimiter=delimiter, strict=True)


def _csv_rows(lines: _Lines, file: InputFile, max_line: float) -> Iterator[Row]:
    """Yield a row for each record under the header; an empty cell is an absent field."""
    record = _Record(lines, file, max_line)
    first = next(record, "")
    check_encoding(first, 1, file)
    reader = csv_reader(chain([first], record), max(_DELIMITERS, key=first.count))
    try:
        header = [name.strip() for name in next(reader, [])]
    except csv.Error as error:
        raise _bad_csv(error).at(str(file), 1) from None
    _unique_header(header, str(file), 1)
    while True:
        record.begin()
        try:
            cells = next(reader, None)
        except csv.Error as error:
            number, text = record.kept[0][0], "".join(line for _, line in record.kept)
            yield Row(file, number, presentable(text), _bad_csv(error).at(str(file), number))
            continue
        if cells is None:
            return
        if any(cells):
            number, text = record.kept[0][0], "".join(line for _, line in record.kept)
            yield _text_row(file, number, text, partial(_csv_object, header, cells))


def _bad_csv(error: Exception) -> InputError:
    message, hint = str(error), "mend the line"
    if "end of data" in message:
        hint = "close the quotation mark that opens on this line"
    elif "new-line character" in message:
        message = "a carriage return outside quotation marks"
        hint = "end lines with a line feed"
    return InputError(f"bad CSV: {message}; {hint}")


def _csv_object(header: list[str], cells: list[str]) -> Fields:
    if any(cells[len(header) :]):
        width = f"{len(header)} {plural(len(header), 'column')}"
        raise InputError(f"{len(cells)} cells under {width}; quote cells that hold commas")
    fields: Fields = {}
    for name, cell in zip_longest(header, cells[: len(header)], fillvalue=""):
        if name in _LIST_KEYS and cell.strip():
            fields[name] = _json_cell(name, cell)
        # A spreadsheet cannot tell an empty answer from none; an empty answer is a result.
        elif name and (cell or name in NAMES["answer"] or _NUMBERED_CHUNK.fullmatch(name)):
            fields[name] = cell
    return _with_chunk_columns(fields)


def _json_cell(name: str, cell: str) -> JsonValue:
    try:
        value: JsonValue = JSON.decode(cell)
    except (json.JSONDecodeError, RecursionError) as error:
        value = listed(cell)  # as `pandas.to_csv` writes it
        if not isinstance(value, str):
            return value
        message = f"not JSON ({error}): {_short(cell)}; write the cell with json.dumps"
        raise InputError(message, field=name) from None
    except ValueError:  # Python's own limit on digits
        message = "bad JSON: a number has too many digits; mend the cell"
        raise InputError(message, field=name) from None
    return value


def _unique_header(header: Iterable[str], path: str, line: int | None = None) -> None:
    """Raise an InputError if two columns have the same name."""
    seen = set[str]()
    for name in filter(None, header):
        if name in seen:
            raise InputError(f"column {name!r} stands twice; rename one", path=path, line=line)
        seen.add(name)


# Tables


def table_fields(given: Fields) -> Fields:
    """Return the fields of a table's row: lists that are written as text become lists."""
    written = {name: listed(v) for name in _LIST_KEYS if isinstance(v := given.get(name), str)}
    return _with_chunk_columns(given | written)


def _with_chunk_columns(fields: Fields) -> Fields:
    """Return the fields with a list of chunks in the place of columns `chunk_1` to `chunk_n`."""
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


def without_nulls(fields: Fields) -> Fields:
    """Return the fields without nulls, at any depth.

    A column gives each of its objects all keys that any of them has.
    """

    def whole(value: JsonValue) -> JsonValue:
        if isinstance(value, dict):
            return {key: whole(each) for key, each in value.items() if each is not None}
        return list(map(whole, value)) if isinstance(value, list) else value

    return {key: whole(value) for key, value in fields.items() if value is not None}


def plain_fields(row: Mapping[str, Any]) -> Fields:
    """Return the fields of a table's row as JSON has them, without nulls; dates become text."""
    return _fields_in(json.dumps(row, ensure_ascii=False, default=_json_form))


def _fields_in(text: str) -> Fields:
    return table_fields(without_nulls(JSON.decode(text)))


def _json_form(value: object) -> str | dict[str, int]:
    if not isinstance(value, bytes):
        return str(value)
    try:
        return value.decode()
    except UnicodeDecodeError:  # an image, for example; U+FFFD would be judged as an answer
        return {"bytes": len(value)}


def _table_row(
    file: InputFile, number: int, text: str, max_line: float, read: Callable[[], Fields]
) -> Row:
    fields: Fields | InputError
    if len(text) > most_bytes(max_line):
        long = InputError(f"the row is longer than {max_line:g} MB; {ALLOW_MORE}")
        return Row(file, number, text[:CLIPPED], long)
    try:
        fields = read()
    except InputError as error:
        fields = error
    return Row(file, number, text, fields)


def _column_rows(stream: IO[bytes], file: InputFile, head: bytes) -> Iterator[dict[str, Any]]:
    kind = "Parquet" if head.startswith(PARQUET) else "Arrow"
    with extra("data", kind):
        from pyarrow import ArrowException  # noqa: PLC0415  an extra, and slow to load
    # A damaged file may ask for anything, more memory than there is included.
    failures = (ArrowException, ArithmeticError, LookupError, MemoryError, OSError, ValueError)
    try:
        for batch in _batches(stream, head):
            _unique_header(batch.schema.names, str(file))
            batch.validate(full=True)  # offsets that lead elsewhere would be followed
            yield from batch_rows(batch)
    except failures as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        what = f"is no sound {kind} file ({reason}); write it again"
        raise InputError(what, path=str(file)) from None


def _batches(stream: IO[bytes], head: bytes) -> Iterator["RecordBatch"]:
    from pyarrow import ipc  # noqa: PLC0415
    from pyarrow.parquet import ParquetFile  # noqa: PLC0415

    if head.startswith(PARQUET):
        # A dataset decodes a row group at once, and a file may be one row group.
        table = ParquetFile(stream, buffer_size=_COLUMN_BUFFER, pre_buffer=False)
        yield from table.iter_batches(_BATCH_ROWS, use_threads=False)
    elif head.startswith(ARROW_FILE):
        file = ipc.open_file(stream)
        yield from map(file.get_batch, range(file.num_record_batches))
    else:
        yield from ipc.open_stream(stream)


def batch_rows(batch: "RecordBatch") -> Iterator[dict[str, Any]]:
    """Yield the rows of a record batch, a map as a mapping; raise pyarrow's errors."""
    from pyarrow import schema, timestamp, types  # noqa: PLC0415

    # Python's clock has no nanoseconds.
    fields = [
        each.with_type(timestamp("us", each.type.tz))
        if types.is_timestamp(each.type) and each.type.unit == "ns"
        else each
        for each in batch.schema
    ]
    plain = batch if fields == list(batch.schema) else batch.cast(schema(fields), safe=False)
    for start in range(0, plain.num_rows, _BATCH_ROWS):
        yield from plain.slice(start, _BATCH_ROWS).to_pylist(maps_as_pydicts="strict")


# XLSX


@contextmanager
def worksheets(stream: IO[bytes], extra_name: str = "data") -> Iterator[list["Worksheet"]]:
    """Yield the sheets of a workbook.

    Raises:
        ConfigError: openpyxl is not installed; `extra_name` is the extra that brings it.
        InputError: the file is damaged, locked, of another kind or too large.
    """
    with extra(extra_name, "XLSX", "use CSV, or "):
        from openpyxl import load_workbook  # noqa: PLC0415  an extra, and slow to load
    try:
        _refuse_other(stream)
        # openpyxl warns of styles and extensions, which are not read.
        with warnings.catch_warnings(action="ignore"):
            book = load_workbook(stream, read_only=True, data_only=True, keep_links=False)
        yield book.worksheets
    except (InputError, MemoryError):
        raise
    except Exception as error:  # noqa: BLE001  of a damaged workbook openpyxl raises anything
        message = f"cannot be read as XLSX ({type(error).__name__}); save it again, as XLSX or CSV"
        raise InputError(message) from None


def _refuse_other(stream: IO[bytes]) -> None:
    with zipfile.ZipFile(stream) as archive:
        parts = archive.infolist()
        # zipfile reads no more of a part than the size that it declares.
        if len(parts) > _MOST_PARTS or sum(p.file_size for p in parts) > _MOST_UNPACKED:
            most = _MOST_UNPACKED >> 20
            raise InputError(f"unpacks to more than {most} MiB; save the sheet as CSV")
        if "mimetype" in archive.namelist():
            raise InputError("is an OpenDocument file; save the sheet as XLSX or CSV")
        if _CONTENT_TYPES not in archive.namelist():
            raise InputError("is a ZIP archive and no XLSX; unpack it, and name what is in it")


def sheet_rows(
    sheet: "Worksheet", most: int, columns: int = MOST_COLUMNS
) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that are not blank, at most `most`, with the numbers that the sheet shows.

    Numbers and booleans become text (`1`, `true`), a formula its last value; of merged cells the
    first holds the value. One row is held at a time.
    """
    # The extent that a sheet declares may be wrong, so these limits are ours.
    rows = sheet.iter_rows(max_row=MOST_ROWS, max_col=columns, values_only=True)
    filled = 0
    for number, values in enumerate(_without_warnings(rows), 1):
        if values.count(None) == len(values):
            continue
        if filled == most:
            raise InputError(f"row {number}: over {most:,} rows are filled in; split the sheet")
        filled += 1
        cells = list(map(_cell_text, values))
        if any(map(str.strip, cells)):
            yield number, cells


def _without_warnings(rows: Iterator[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    while True:
        with warnings.catch_warnings(action="ignore"):
            row = next(rows, None)
        if row is None:
            return
        yield row


def _cell_text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, datetime):
        return str(value).removesuffix(" 00:00:00")
    text = "" if value is None else str(value)
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text)


def _sheet_rows(stream: IO[bytes], file: InputFile, max_line: float) -> Iterator[Row]:
    """Yield the rows of the first sheet that is not hidden, under its first row."""
    header: list[str] = []
    try:
        with worksheets(stream) as sheets:
            shown = next((each for each in sheets if each.sheet_state == "visible"), sheets[0])
            for number, cells in sheet_rows(shown, MOST_ROWS, MOST_COLUMNS + 1):
                if not header:
                    header = _sheet_header(cells, file)
                    continue
                more = list(filter(str.strip, cells[len(header) :]))
                row = dict(zip(header, cells, strict=False)) | ({"": more} if more else {})
                text = json.dumps(row, ensure_ascii=False)
                read = partial(_sheet_object, header, cells[: len(header)], more)
                yield _table_row(file, number, text, max_line, read)
    except InputError as error:
        raise error.at(str(file), error.line) from None


def _sheet_header(cells: list[str], file: InputFile) -> list[str]:
    header = [name.strip() for name in cells]
    while header and not header[-1]:
        header.pop()
    if len(header) > MOST_COLUMNS:
        raise InputError(f"over {MOST_COLUMNS} columns have names; keep fewer, or save it as CSV")
    _unique_header(header, str(file), 1)
    return header


def _sheet_object(header: list[str], cells: list[str], more: list[str]) -> Fields:
    if more:
        what = f"{clip(more[0], _SHOWN)!r} stands in a column without a name; name it"
        raise InputError(f"{what} in the first row, or empty the cell")
    for name, cell in zip(header, cells, strict=False):
        if cell in _FAILED_FORMULAS and _is_read(name):
            what = f"is {cell}, by which a formula says that it failed; mend or empty the cell"
            raise InputError(what, field=name)
    return _csv_object(header, cells)
