"""The rows of an input: JSON, CSV, Parquet, Arrow or XLSX, each as a mapping of its fields."""

import csv
import json
import re
import warnings
import zipfile
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import is_dataclass
from datetime import datetime
from functools import partial
from io import BufferedReader, StringIO
from itertools import zip_longest
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple

from pydantic import JsonValue
from pydantic_core import from_json, to_jsonable_python

from judge.errors import InputError, extra
from judge.inputs.fields import NAMES, NUMBERED_CHUNK, Fields
from judge.inputs.files import (
    CHINESE,
    COLUMN_ENDINGS,
    MAX_LINE,
    PEEK,
    InputFile,
    byte_lines,
    decompress,
    open_raw,
    text_lines,
    wrong_encoding,
)
from judge.text.visible import counted, short

if TYPE_CHECKING:
    from openpyxl.worksheet.worksheet import Worksheet
    from pyarrow import RecordBatch

FORMS: Final = "one JSON object a line (.jsonl), or CSV under a header (.csv), is needed"
_MAX_DOCUMENT: Final = 8 * MAX_LINE
"""The most bytes of a JSON document, which is held in memory."""
_DELIMITERS: Final = ",;\t|"
_JSON_PLACE: Final = re.compile(r" at line (\d+) column (\d+)$")
_DUMP_METHODS: Final = ("model_dump", "to_dict", "isoformat", "tolist")
"""Methods of other libraries that return what an object holds."""
_NULL_TYPES: Final = frozenset({"NAType", "NaTType"})
"""pandas' own nulls."""

PARQUET: Final = b"PAR1"
ARROW_FILE: Final = b"ARROW1"
ARROW_STREAM: Final = b"\xff\xff\xff\xff"
_COLUMN_HEADS: Final = (PARQUET, ARROW_FILE, ARROW_STREAM)
XLSX: Final = b"PK\x03\x04"
_BATCH_ROWS: Final = 20
_COLUMN_BUFFER: Final = 1 << 20

_MOST_UNPACKED: Final = 512 << 20
"""Bytes that a workbook may unpack to: a small file can hold any amount of the same."""
MOST_ROWS: Final = 1_048_576
MOST_COLUMNS: Final = 256

NumberedCells = tuple[int, list[str]]
"""The number of a line or a row, and its cells."""
Report = Callable[[str], object]
"""Called with a remark on how an input is read."""


class InputRow(NamedTuple):
    """One row of an input."""

    line: int
    """The number of its line, or of the row in a table or a JSON array, from 1."""
    text: str
    """The row's line in a file of JSON lines, the lines of a bad record; else the row as JSON."""
    read: Callable[[], Fields]
    """Returns the fields; raises InputError if the row cannot be read."""


def read_rows(file: InputFile, report: Report | None = None) -> Iterator[InputRow]:
    """Yield the rows of a file, one at a time; raise InputError if it has no rows of a known form.

    Parquet, Arrow and XLSX are recognised by their first bytes, JSON and CSV by the name's ending
    or else by the first character.
    """
    try:
        with open_raw(file) as raw:
            head = raw.peek(PEEK)
            if head.startswith(XLSX):
                yield from _sheet_rows(raw)
            elif head.startswith(_COLUMN_HEADS) or file.name.lower().endswith(COLUMN_ENDINGS):
                for number, row in enumerate(_column_rows(raw, head), 1):
                    text = json_text(row)
                    yield InputRow(number, text, partial(_column_fields, text))
            else:
                with decompress(raw) as stream:
                    yield from _text_rows(stream, file, report)
    except InputError as error:
        raise error.at(str(file), error.line) from None


# JSON


def _text_rows(
    stream: BufferedReader, file: InputFile, report: Report | None
) -> Iterator[InputRow]:
    name = file.name.lower().removesuffix(".gz")
    head = stream.peek(PEEK).decode("utf-8-sig", "replace").lstrip()
    first, end, _ = head.partition("\n")
    is_csv = name.endswith((".csv", ".tsv"))
    has_lines = name.endswith((".jsonl", ".ndjson"))
    if has_lines or name.endswith(".json") or (not is_csv and head[:1] in ("", "{", "[")):
        # In a file of lines, `{"answer": "a",` is a broken line; `{` alone begins an object.
        goes_on = first.strip() == "{" if has_lines else first.rstrip().endswith(("{", "[", ","))
        is_document = head.startswith("[") or (end and goes_on)
        return _document_rows(stream) if is_document else _json_lines(stream)

    def on_chinese() -> None:
        if report is not None:
            report(f"{file}: read as GB18030, because it is not UTF-8")

    wrong: list[InputError] = []
    lines = text_lines(stream, on_chinese, wrong.append)
    return _rows_under_header(csv_records(lines, _delimiter(first), wrong))


def _json_lines(stream: BufferedReader) -> Iterator[InputRow]:
    for number, data in enumerate(byte_lines(stream), 1):
        if data.strip():
            text = data.decode(errors="replace")
            yield InputRow(number, text, partial(json_object, data.rstrip(b"\r\n")))


def _document_rows(stream: BufferedReader) -> Iterator[InputRow]:
    """Yield a row for each object of a JSON array, or one row for an object."""
    data = stream.read(_MAX_DOCUMENT + 1).removeprefix(BOM_UTF8)
    if len(data) > _MAX_DOCUMENT:
        what = f"is one JSON document of over {_MAX_DOCUMENT // 1_000_000} MB, which is held whole"
        raise InputError(f"{what}; make it lines, as jq -c '.[]' does")
    value = _json_value(data)
    for number, each in enumerate(value if isinstance(value, list) else [value], 1):
        text = json_text(each)
        yield InputRow(number, text, partial(_object_in, each))


def json_text(value: object) -> str:
    """Return a row or a tool's object as JSON; raise InputError if it has no such form."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=_json_form)
        text.encode()  # half a surrogate pair cannot be written
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"has no form as JSON ({error}); give texts, numbers and lists") from None
    return text


def _json_form(value: Any) -> object:  # noqa: ANN401  each tool has its own
    """Return an object as JSON has it: bytes as text, what a tool's object holds as a mapping."""
    if type(value).__name__ in _NULL_TYPES:
        return None
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:  # an image, for example; U+FFFD would be judged as an answer
            return {"bytes": len(value)}
    for name in _DUMP_METHODS:
        if callable(method := getattr(value, name, None)):
            return method()
    return vars(value) if is_dataclass(value) else to_jsonable_python(value)


def json_object(text: str | bytes) -> Fields:
    """Return a JSON object without the nulls that are written as NaN, or raise InputError."""
    return _object_in(_json_value(text if isinstance(text, bytes) else text.encode()))


def _object_in(value: JsonValue) -> Fields:
    if isinstance(value, dict):
        # NaN differs from itself.
        return {key: None if each != each else each for key, each in value.items()}  # noqa: PLR0124
    raise InputError(f"holds {short(repr(value))}; each row is one JSON object, {{…}}")


def _json_value(data: bytes) -> JsonValue:
    try:
        value: JsonValue = from_json(data)
    except ValueError as error:
        try:
            lines = data.decode().split("\n")
        except UnicodeDecodeError as bad:
            raise wrong_encoding(bad) from None
        place = _JSON_PLACE.search(str(error))
        line, column = (int(place[1]), f" at column {place[2]}") if place else (1, "")
        problem = f"{_JSON_PLACE.sub('', str(error))}{column}: {short(lines[line - 1])!r}"
        raise InputError(f"bad JSON: {problem}; mend it", line=line) from None
    return value


# CSV


def _delimiter(header: str) -> str:
    """Return the comma, semicolon, tab or bar that is most frequent in the header."""
    return max(_DELIMITERS, key=header.count)


class BadRecord(NamedTuple):
    """A record of a CSV that cannot be read."""

    text: str
    """The lines of the record."""
    error: InputError
    """The reason why the record cannot be read."""

    def fields(self) -> Fields:
        """Raise the error."""
        raise self.error


def csv_records(
    lines: Iterable[str], delimiter: str, wrong: list[InputError]
) -> Iterator[tuple[int, list[str] | BadRecord]]:
    """Yield the records of a CSV, each with the line on which it begins.

    A record with wrong quotation marks does not hide the next one. `wrong` receives errors of lines
    while they are read. Raise InputError if a cell is too long, as after an open quotation mark.
    """
    csv.field_size_limit(MAX_LINE)
    kept: list[str] = []

    def record_lines() -> Iterator[str]:
        for line in lines:
            kept.append(line)
            yield line

    reader, start = csv.reader(record_lines(), delimiter=delimiter, strict=True), 1
    while True:
        kept.clear()
        try:
            cells = next(reader, None)
        except csv.Error as error:
            step = "close quotation marks, and end lines with a line feed"
            problem = InputError(f"bad CSV: {error}; {step}", line=start)
            if str(error).startswith("field larger"):
                raise problem from None
            cells, wrong[:] = [], [*wrong, problem]
        if cells is None:
            return
        yield start, BadRecord("".join(kept), wrong[0]) if wrong else cells
        wrong.clear()
        start = reader.line_num + 1


def csv_rows(data: bytes) -> Iterator[NumberedCells]:
    """Yield the rows of a sheet saved as CSV that are not blank, with their numbers."""
    text, width = _decoded(data), 0
    delimiter = _delimiter(text.lstrip().partition("\n")[0])
    records = csv_records(StringIO(text, newline=""), delimiter, [])
    for number, (_, cells) in enumerate(records, 1):
        if isinstance(cells, BadRecord):
            raise cells.error
        if not any(map(str.strip, cells)):
            continue
        width = width or len(cells)
        if any(map(str.strip, cells[width:])):
            raise InputError(f"row {number}: {_too_many_cells(cells, width)}")
        yield number, cells


def _decoded(data: bytes) -> str:
    # UTF-8 before GB18030: next to no other text is valid UTF-8 by chance.
    for encoding in ("utf-8-sig", CHINESE):
        with suppress(UnicodeDecodeError):
            return data.decode(encoding)
    raise InputError("is neither UTF-8 nor GB18030; save the sheet again, as CSV UTF-8 or XLSX")


def _too_many_cells(cells: list[str], width: int) -> str:
    return f"{len(cells)} cells under {counted(width, 'column')}; quote cells with a delimiter"


def _rows_under_header(
    records: Iterable[tuple[int, list[str] | BadRecord]],
) -> Iterator[InputRow]:
    """Yield a row for each record under the header; an empty cell is an absent field."""
    header: list[str] = []
    for line, cells in records:
        if isinstance(cells, BadRecord):
            if not any(header):
                raise cells.error.at("", line)
            yield InputRow(line, cells.text, cells.fields)
        elif any(header) and any(cells):
            pairs = zip(header, cells, strict=False)
            text = json_text({name: cell for name, cell in pairs if cell})
            yield InputRow(line, text, partial(_cell_fields, header, cells))
        elif any(cells):
            header = [name.strip() for name in cells]
            refuse_doubled(header, line)


def _cell_fields(header: list[str], cells: list[str]) -> Fields:
    """Return the cells that are not empty by name; an empty answer is an answer."""
    if any(cells[len(header) :]):
        raise InputError(_too_many_cells(cells, len(header)))
    # A spreadsheet cannot tell an empty answer from none; an empty answer is a result.
    kept = (*NAMES["answer"], *filter(NUMBERED_CHUNK.fullmatch, header))
    named = zip_longest(header, cells[: len(header)], fillvalue="")
    return {name: cell for name, cell in named if name and (cell or name in kept)}


def refuse_doubled(header: Iterable[str], line: int | None = None) -> None:
    """Raise an InputError if two columns have the same name."""
    for name, count in Counter(filter(None, header)).items():
        if count > 1:
            message = f"column {name!r} is there {count} times; rename all but one"
            raise InputError(message, line=line)


# Tables


def _column_fields(text: str) -> Fields:
    """Return the fields of a table's row without nulls, which the other rows of its column cause.

    A null answer stays, and is an error.
    """

    def whole(value: JsonValue) -> JsonValue:
        if isinstance(value, dict):
            return {key: whole(each) for key, each in value.items() if each is not None}
        return list(map(whole, value)) if isinstance(value, list) else value

    fields, answers = json_object(text), NAMES["answer"]
    return {k: whole(each) for k, each in fields.items() if each is not None or k in answers}


def table_fields(row: object) -> Fields:
    """Return the fields of a row of a DataFrame or another table in memory."""
    return _column_fields(json_text(row))


def _column_rows(stream: IO[bytes], head: bytes) -> Iterator[dict[str, Any]]:
    if not head.startswith(_COLUMN_HEADS):
        what = "does not begin as a Parquet or Arrow file does"
        raise InputError(f"{what}; write it again, or rename it if it is text")
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
        each.with_type(timestamp("us", each.type.tz)) if types.is_timestamp(each.type) else each
        for each in batch.schema
    ]
    plain = batch.cast(schema(fields), safe=False)
    for start in range(0, plain.num_rows, _BATCH_ROWS):
        yield from plain.slice(start, _BATCH_ROWS).to_pylist(maps_as_pydicts="strict")


# XLSX


@contextmanager
def worksheets(stream: IO[bytes], extra_name: str = "data") -> Iterator[list["Worksheet"]]:
    """Yield the sheets of a workbook; `extra_name` is the extra that brings openpyxl."""
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


def sheet_rows(sheet: "Worksheet") -> Iterator[NumberedCells]:
    """Yield the rows that are not blank as texts, with the numbers that the sheet shows."""
    # The extent that a sheet declares may be wrong, so these limits are ours.
    rows = sheet.iter_rows(max_row=MOST_ROWS, max_col=MOST_COLUMNS, values_only=True)
    for number, values in enumerate(rows, 1):
        cells = list(map(_cell_text, values))
        if any(map(str.strip, cells)):
            yield number, cells


def _cell_text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, datetime):
        return str(value).removesuffix(" 00:00:00")
    return "" if value is None else str(value)


def _sheet_rows(stream: IO[bytes]) -> Iterator[InputRow]:
    """Yield the rows of the first sheet that is not hidden, under its first row."""
    with worksheets(stream) as sheets:
        shown = next((each for each in sheets if each.sheet_state == "visible"), sheets[0])
        yield from _rows_under_header(sheet_rows(shown))
