"""The rows of an input: JSON, CSV, Parquet, Arrow or XLSX, each as a mapping of its fields."""

import csv
import json
import re
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import partial
from io import BufferedReader, StringIO
from itertools import chain, zip_longest
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple

from pydantic import JsonValue

from judge.errors import InputError, extra
from judge.inputs.fields import NAMES, Fields
from judge.inputs.files import (
    ALLOW_MORE,
    CHINESE,
    CLIPPED,
    MAX_LINE,
    MEGA,
    PEEK,
    UTF16,
    InputFile,
    Line,
    LongLineError,
    decompress,
    input_files,
    most_bytes,
    open_raw,
    text_lines,
    wrong_encoding,
)
from judge.inputs.paths import parse_list
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

PARQUET: Final = b"PAR1"
ARROW_FILE: Final = b"ARROW1"
ARROW_STREAM: Final = b"\xff\xff\xff\xff"
XLSX: Final = b"PK\x03\x04"
_BATCH_ROWS: Final = 20
_COLUMN_BUFFER: Final = 1 << 20

_MOST_UNPACKED: Final = 512 << 20
"""Bytes that a workbook may unpack to: a small file can hold any amount of the same."""
MOST_ROWS: Final = 1_048_576
MOST_COLUMNS: Final = 256
_FAILED_FORMULAS: Final = {"#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#N/A"}

Report = Callable[[str], object]
"""Called with a remark on how an input is read."""


class Row(NamedTuple):
    """One row of an input."""

    file: InputFile
    line: int
    """The number of its line, or of the row in a table or a JSON array, from 1."""
    text: str
    """The row's text in the file; JSON for a row of a table."""
    fields: Fields | InputError
    """The fields of the row; an error if it cannot be read."""


def read_rows(
    path: str | Path, *, max_line: float = MAX_LINE, report: Report | None = None
) -> Iterator[Row]:
    """Yield the rows of a file, a folder, a pattern or an address, one at a time.

    Parquet, Arrow and XLSX are recognised by their first bytes, JSON and CSV by the name's ending
    or else by the first line.

    Args:
        path: what to read.
        max_line: the limit of a line, or of a CSV record, in MB.
        report: called for each CSV that is read as GB18030.

    Raises:
        InputError: a file cannot be read, is damaged, or has no rows of a known form.
        ConfigError: the library that reads it is not installed.
    """
    for file in input_files(path):
        yield from file_rows(file, max_line, report)


def file_rows(
    file: InputFile, max_line: float = MAX_LINE, report: Report | None = None
) -> Iterator[Row]:
    """Yield the rows of one file, as `read_rows` does."""
    try:
        with open_raw(file) as raw:
            head = raw.peek(PEEK)
            if head.startswith(XLSX):
                yield from _sheet_rows(raw, file, max_line)
            elif head.startswith((PARQUET, ARROW_FILE, ARROW_STREAM)):
                for number, row in enumerate(_column_rows(raw, head), 1):
                    text = json.dumps(row, ensure_ascii=False, default=_json_form)
                    yield _row(file, number, text, partial(_fields_in, text), max_line)
            else:
                with decompress(raw, file) as stream:
                    yield from _text_rows(stream, file, max_line, report)
    except InputError as error:
        raise error.at(str(file), error.line) from None


def _row(
    file: InputFile, line: int, text: str, read: Callable[[], Fields], max_line: float = MAX_LINE
) -> Row:
    fields: Fields | InputError
    if len(text) > most_bytes(max_line):
        long = InputError(f"the row is longer than {max_line:g} MB; {ALLOW_MORE}")
        return Row(file, line, text[:CLIPPED], long)
    try:
        fields = read()
    except InputError as error:
        fields = error
    return Row(file, line, text, fields)


# JSON


def _text_rows(
    stream: BufferedReader, file: InputFile, max_line: float, report: Report | None
) -> Iterator[Row]:
    name = file.name.lower().removesuffix(".gz").removesuffix(".zst")
    head = stream.peek(PEEK).decode("utf-8-sig", "replace").lstrip()
    is_csv, has_lines = name.endswith((".csv", ".tsv")), name.endswith((".jsonl", ".ndjson"))
    if has_lines or name.endswith(".json") or (not is_csv and (not head or _JSON_HEAD.match(head))):
        if _is_document(head, has_lines=has_lines):
            return _document_rows(stream, file, max_line)
        return _json_lines(stream, file, max_line)
    first = head.partition("\n")[0]
    header = (name.strip().strip('"') for name in re.split(f"[{_DELIMITERS}]", first))
    if not is_csv and not any(map(_is_read, header)):
        what = f"is neither JSON lines nor CSV: it begins with {_short(first)}"
        raise InputError(f"{what}, which names no column such as answer; {FORMS}")

    def on_chinese() -> None:
        if report is not None:
            report(f"{file}: read as GB18030, because it is not UTF-8")

    return _csv_rows(text_lines(stream, max_line, on_chinese), file, max_line)


def _is_document(head: str, *, has_lines: bool) -> bool:
    """Return whether a JSON file is an array, or one object over many lines.

    In a file that is named as one of lines, a first line `{"answer": "a",` is a broken line and
    not the beginning of an object over many lines; `{` alone is.
    """
    first, end, _ = head.partition("\n")
    begins = first.rstrip() == "{" if has_lines else first.rstrip().endswith(("{", "[", ","))
    return head.startswith("[") or (bool(end) and begins)


def _json_lines(stream: BufferedReader, file: InputFile, max_line: float) -> Iterator[Row]:
    for number, text, error in text_lines(stream, max_line):
        if error is not None:
            yield Row(file, number, text, error)
        elif text.strip():
            yield _row(file, number, text, partial(json_object, text))


def _document_rows(stream: BufferedReader, file: InputFile, max_line: float) -> Iterator[Row]:
    """Yield a row for each object of a JSON array, or one row for an object."""
    most = most_bytes(_DOCUMENT_LINES * max_line)
    data = stream.read(most + 1)
    if len(data) > most:
        what = f"is one JSON document of over {most / MEGA:g} MB, which is held whole"
        step = "make it lines, as jq -c '.[]' does, or allow more with --max-line"
        raise InputError(f"{what}; {step}")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise wrong_encoding(error).at("", line) from None
    value = _json_value(text, "the file")
    for number, each in enumerate(value if isinstance(value, list) else [value], 1):
        yield row_of(file, number, each)


def row_of(file: InputFile, line: int, value: JsonValue) -> Row:
    """Return the row of a value that is JSON already."""
    # Half a surrogate pair, which JSON can name, stays an escape.
    text = json.dumps(value, ensure_ascii=False).encode(errors="backslashreplace").decode()
    if isinstance(value, dict):
        return Row(file, line, text, value)
    error = InputError(f"holds {_short(text)}; each row is one JSON object, {{…}}")
    return Row(file, line, text, error)


def json_object(line: str) -> Fields:
    """Return the JSON object on a line; raise InputError if the line is anything else."""
    try:
        # The line end is a control character, which json would report in a line that is cut off.
        value = _json_value(line.rstrip("\r\n"), "the line")
    except InputError as error:
        raise error.at("", None) from None
    if isinstance(value, dict):
        return value
    message = f"holds {_short(line)}; each line is one JSON object, {{…}}"
    if isinstance(value, list):
        message += ". Of a JSON array, jq -c '.[]' makes such lines"
    raise InputError(message)


def _json_value(text: str, what: str) -> JsonValue:
    """Return a JSON value, with null for NaN and Infinity, which Python writes and JSON lacks."""
    line: int | None = None
    try:
        value: JsonValue = json.loads(text, parse_constant=lambda _: None)
    except json.JSONDecodeError as error:
        line = error.lineno
        shown = _short(error.doc.split("\n")[error.lineno - 1])
        problem = f"{error.msg.removesuffix(' at')} at column {error.colno}: {shown}"
    except RecursionError:
        problem = "lists or objects are nested too deeply"
    except ValueError:  # Python's own limit on digits
        problem = "a number has too many digits"
    else:
        return value
    raise InputError(f"bad JSON: {problem}; mend {what}", line=line)


def _short(text: str) -> str:
    return repr(clip(text.strip(), _SHOWN))


# CSV


class Record(NamedTuple):
    """A record of a CSV."""

    line: int
    """The line on which it begins, from 1."""
    text: str
    cells: list[str]
    error: InputError | None = None


def csv_records(lines: Iterable[Line], max_line: float = MAX_LINE) -> Iterator[Record]:
    """Yield the records of a CSV, with cells of any length; one that is bad does not hide the next.

    The delimiter is the comma, semicolon, tab or bar that is most frequent in the first line that
    is not blank.

    Raises:
        InputError: a record is longer than `max_line` MB, as behind an open quotation mark.
    """
    csv.field_size_limit(2**31 - 1)  # a record has its own limit
    most, size, kept = most_bytes(max_line), 0, list[Line]()
    given, head = iter(lines), list[Line]()
    for line in given:
        head.append(line)
        if line.text.strip():
            break

    def record_lines() -> Iterator[str]:
        nonlocal size
        for line in chain(head, given):
            kept.append(line)
            size += len(line.text)
            if size > most or isinstance(line.error, LongLineError):
                what = f"the record is longer than {max_line:g} MB; close its quotation marks"
                raise InputError(f"{what}, or {ALLOW_MORE}", line=kept[0].number)
            yield line.text

    delimiter = max(_DELIMITERS, key=head[-1].text.count) if head else ","
    reader = csv.reader(record_lines(), delimiter=delimiter, strict=True)
    while True:
        kept, size = [], 0
        try:
            cells = next(reader, None)
            error = next((line.error for line in kept if line.error), None)
        except csv.Error as bad:
            cells, error = [], _bad_csv(bad)
        if cells is None:
            return
        yield Record(kept[0].number, "".join(line.text for line in kept), cells, error)


def _bad_csv(error: Exception) -> InputError:
    message, hint = str(error), "mend the line"
    if "end of data" in message:
        hint = "close the quotation mark that opens on this line"
    elif "new-line character" in message:
        message = "a carriage return outside quotation marks"
        hint = "end lines with a line feed"
    return InputError(f"bad CSV: {message}; {hint}")


def _csv_rows(lines: Iterable[Line], file: InputFile, max_line: float) -> Iterator[Row]:
    """Yield a row for each record under the header; an empty cell is an absent field."""
    header: list[str] | None = None
    for record in csv_records(lines, max_line):
        if header is None:
            header = _csv_header(record)
        elif record.error is not None:
            yield Row(file, record.line, record.text, record.error)
        elif any(record.cells):
            read = partial(_csv_object, header, record.cells)
            yield _row(file, record.line, record.text, read)


def _csv_header(record: Record) -> list[str] | None:
    """Return the names of the columns; None for a blank line."""
    if record.error is not None:
        raise record.error.at("", record.line)
    header = [name.strip() for name in record.cells]
    refuse_doubled(header, record.line)
    return header if any(header) else None


def csv_rows(data: bytes) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a sheet saved as CSV that are not blank, with their numbers in the sheet.

    Args:
        data: in UTF-8, UTF-16 or GB18030.

    Raises:
        InputError: another encoding, a quotation mark is never closed, or a row has cells beyond
            the header's.
    """
    lines = enumerate(StringIO(_decoded(data), newline=""), 1)
    width = 0
    for number, record in enumerate(csv_records(Line(*each) for each in lines), 1):
        if record.error is not None:
            raise InputError(f"row {number}: {record.error.problem}, or save the sheet again")
        if not any(map(str.strip, record.cells)):
            continue
        width = width or len(record.cells)
        if any(map(str.strip, record.cells[width:])):
            raise InputError(f"row {number}: {_too_many_cells(record.cells, width)}")
        yield number, record.cells


def _decoded(data: bytes) -> str:
    # UTF-8 before GB18030: next to no other text is valid UTF-8 by chance.
    for encoding in ("utf-16",) if data.startswith(UTF16) else ("utf-8-sig", CHINESE):
        with suppress(UnicodeDecodeError):
            return data.decode(encoding)
    step = "save the sheet again, as CSV UTF-8 or XLSX"
    raise InputError(f"is neither UTF-8, UTF-16 nor GB18030; {step}")


def _too_many_cells(cells: list[str], width: int) -> str:
    found = f"{len(cells)} cells under {width} {plural(width, 'column')}"
    return f"{found}; quote cells that hold the delimiter"


def _csv_object(header: list[str], cells: list[str]) -> Fields:
    if any(cells[len(header) :]):
        raise InputError(_too_many_cells(cells, len(header)))
    fields: Fields = {}
    for name, cell in zip_longest(header, cells[: len(header)], fillvalue=""):
        if name in _LIST_KEYS and cell.strip():
            fields[name] = _json_cell(name, cell)
        # A spreadsheet cannot tell an empty answer from none; an empty answer is a result.
        elif name and (cell or name in NAMES["answer"] or _NUMBERED_CHUNK.fullmatch(name)):
            fields[name] = cell
    return _with_chunk_columns(fields)


def _json_cell(name: str, cell: str) -> JsonValue:
    value = parse_list(cell)  # JSON, or as `pandas.to_csv` writes a list
    if not isinstance(value, str):
        return value
    message = f"is no list: {_short(cell)}; write the cell with json.dumps"
    raise InputError(message, field=name)


def refuse_doubled(header: Iterable[str], line: int | None = None) -> None:
    """Raise an InputError if two columns have the same name."""
    for name, count in Counter(filter(None, header)).items():
        if count > 1:
            message = f"column {name!r} is there {count} times; rename all but one"
            raise InputError(message, line=line)


def _is_read(column: str) -> bool:
    """Return whether a column of this name is a field of a sample."""
    known = any(column in keys for keys in NAMES.values())
    return known or _NUMBERED_CHUNK.fullmatch(column) is not None


# Tables


def table_fields(given: Fields) -> Fields:
    """Return the fields of a table's row: lists that are written as text become lists."""
    written = {name: parse_list(v) for name in _LIST_KEYS if isinstance(v := given.get(name), str)}
    return _with_chunk_columns(given | written)


def _with_chunk_columns(fields: Fields) -> Fields:
    """Return the fields with columns `chunk_1` to `chunk_n` collected into a list of chunks."""
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
    """Return the fields without nulls at any depth, but for a null answer, which is an error.

    A column gives each of its objects all keys that any of them has.
    """

    def whole(value: JsonValue) -> JsonValue:
        if isinstance(value, dict):
            return {key: whole(each) for key, each in value.items() if each is not None}
        return list(map(whole, value)) if isinstance(value, list) else value

    return {
        key: whole(value)
        for key, value in fields.items()
        if value is not None or key in NAMES["answer"]
    }


def plain_fields(row: Mapping[str, Any]) -> Fields:
    """Return the fields of a table's row as JSON has them, without nulls; dates become text."""
    return _fields_in(json.dumps(row, ensure_ascii=False, default=_json_form))


def _fields_in(text: str) -> Fields:
    return table_fields(without_nulls(json.loads(text, parse_constant=lambda _: None)))


def _json_form(value: object) -> str | dict[str, int]:
    if not isinstance(value, bytes):
        return str(value)
    try:
        return value.decode()
    except UnicodeDecodeError:  # an image, for example; U+FFFD would be judged as an answer
        return {"bytes": len(value)}


def _column_rows(stream: IO[bytes], head: bytes) -> Iterator[dict[str, Any]]:
    kind = "Parquet" if head.startswith(PARQUET) else "Arrow"
    with extra("data", kind):
        from pyarrow import ArrowException  # noqa: PLC0415  an extra, and slow to load
    # A damaged file may ask for anything, more memory than there is included.
    failures = (ArrowException, ArithmeticError, LookupError, MemoryError, OSError, ValueError)
    try:
        for batch in _batches(stream, head):
            refuse_doubled(batch.schema.names)
            batch.validate(full=True)  # offsets that lead elsewhere would be followed
            yield from batch_rows(batch)
    except failures as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        what = f"is no sound {kind} file ({reason}); write it again"
        raise InputError(what) from None


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
        _refuse_large(stream)
        # openpyxl warns of styles and extensions, which are not read.
        with warnings.catch_warnings(action="ignore"):
            yield load_workbook(stream, read_only=True, data_only=True, keep_links=False).worksheets
    except (InputError, MemoryError):
        raise
    except Exception as error:  # noqa: BLE001  of a damaged workbook openpyxl raises anything
        message = f"cannot be read as XLSX ({type(error).__name__}); save it again, as XLSX or CSV"
        raise InputError(message) from None


def _refuse_large(stream: IO[bytes]) -> None:
    with zipfile.ZipFile(stream) as archive:
        # zipfile reads no more of a part than the size that it declares.
        if sum(part.file_size for part in archive.infolist()) > _MOST_UNPACKED:
            most = _MOST_UNPACKED >> 20
            raise InputError(f"unpacks to more than {most} MiB; save the sheet as CSV")


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
    for number, values in enumerate(rows, 1):
        cells = list(map(_cell_text, values))
        if not any(map(str.strip, cells)):
            continue
        if filled == most:
            raise InputError(f"row {number}: over {most:,} rows are filled in; split the sheet")
        filled += 1
        yield number, cells


def _cell_text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, datetime):
        return str(value).removesuffix(" 00:00:00")
    return "" if value is None else _unescaped(str(value))


def _unescaped(text: str) -> str:
    """Return a cell's text with the characters that XML writes as `_x000D_`."""
    from openpyxl.utils.escape import unescape  # noqa: PLC0415  an extra, and slow to load

    return unescape(text) if "_x" in text else text


def _sheet_rows(stream: IO[bytes], file: InputFile, max_line: float) -> Iterator[Row]:
    """Yield the rows of the first sheet that is not hidden, under its first row."""
    with worksheets(stream) as sheets:
        shown = next((each for each in sheets if each.sheet_state == "visible"), sheets[0])
        rows = sheet_rows(shown, MOST_ROWS, MOST_COLUMNS + 1)
        header = _sheet_header(next(rows, (0, []))[1])
        for number, cells in rows:
            while not cells[-1].strip():
                cells.pop()
            text = json.dumps(dict(zip(header, cells, strict=False)), ensure_ascii=False)
            read = partial(_sheet_object, header, cells)
            yield _row(file, number, text, read, max_line)


def _sheet_header(cells: list[str]) -> list[str]:
    header = [name.strip() for name in cells]
    while header and not header[-1]:
        header.pop()
    if len(header) > MOST_COLUMNS:
        raise InputError(f"over {MOST_COLUMNS} columns have names; keep fewer, or save it as CSV")
    refuse_doubled(header, 1)
    return header


def _sheet_object(header: list[str], cells: list[str]) -> Fields:
    for name, cell in zip(header, cells, strict=False):
        if cell in _FAILED_FORMULAS and _is_read(name):
            what = f"is {cell}, by which a formula says that it failed; mend or empty the cell"
            raise InputError(what, field=name)
    return _csv_object(header, cells)
