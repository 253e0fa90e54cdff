"""The rows of an input: JSON, CSV, Parquet, Arrow or XLSX, each as a mapping of its fields."""

import csv
import json
import re
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import is_dataclass
from datetime import datetime
from decimal import Decimal
from functools import partial
from io import BufferedReader, StringIO
from itertools import zip_longest
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple
from uuid import UUID

from pydantic import JsonValue
from pydantic_core import from_json

from judge.errors import InputError, extra
from judge.inputs.fields import NAMES, Fields, parse_list
from judge.inputs.files import (
    ALLOW_MORE,
    CHINESE,
    CLIPPED,
    MAX_LINE,
    MEGA,
    PEEK,
    InputFile,
    LongLineError,
    TextLine,
    decompress,
    most_bytes,
    open_raw,
    text_lines,
    wrong_encoding,
)
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
_JSON_PLACE: Final = re.compile(r" at line (\d+) column (\d+)$")
_DUMP_METHODS: Final = ("model_dump", "to_dict", "isoformat", "tolist")
_NULL_TYPES: Final = frozenset({"NAType", "NaTType"})
"""pandas' own nulls."""

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

Report = Callable[[str], object]
"""Called with a remark on how an input is read."""


class InputRow(NamedTuple):
    """One row of an input."""

    file: InputFile
    line: int
    """The number of its line, or of the row in a table or a JSON array, from 1."""
    text: str
    """The row's text in the file; JSON for a row of a table."""
    fields: Fields | InputError
    """The fields of the row; an error if it cannot be read."""


def read_rows(
    file: InputFile, max_line: float = MAX_LINE, report: Report | None = None
) -> Iterator[InputRow]:
    """Yield the rows of a file, one at a time.

    Parquet, Arrow and XLSX are recognised by their first bytes, JSON and CSV by the name's ending
    or else by the first character.

    Raises:
        InputError: the file cannot be read, is damaged, or has no rows of a known form.
        ConfigError: the library that reads it is not installed.
    """
    try:
        with open_raw(file) as raw:
            head = raw.peek(PEEK)
            if head.startswith(XLSX):
                yield from _sheet_rows(raw, file, max_line)
            elif head.startswith((PARQUET, ARROW_FILE, ARROW_STREAM)):
                for number, row in enumerate(_column_rows(raw, head), 1):
                    text = json_text(row)
                    yield _row(file, number, text, partial(_table_fields, text), max_line)
            else:
                with decompress(raw, file) as stream:
                    yield from _text_rows(stream, file, max_line, report)
    except InputError as error:
        raise error.at(str(file), error.line) from None


def _row(
    file: InputFile, line: int, text: str, read: Callable[[], Fields], max_line: float = MAX_LINE
) -> InputRow:
    fields: Fields | InputError
    if len(text) > most_bytes(max_line):
        long = InputError(f"the row is longer than {max_line:g} MB; {ALLOW_MORE}")
        return InputRow(file, line, text[:CLIPPED], long)
    try:
        fields = read()
    except InputError as error:
        fields = error.at("", None)
    return InputRow(file, line, text, fields)


# JSON


def _text_rows(
    stream: BufferedReader, file: InputFile, max_line: float, report: Report | None
) -> Iterator[InputRow]:
    name = file.name.lower().removesuffix(".gz")
    head = stream.peek(PEEK).decode("utf-8-sig", "replace").lstrip()
    first, end, _ = head.partition("\n")
    has_lines = name.endswith((".jsonl", ".ndjson"))
    is_csv = name.endswith((".csv", ".tsv"))
    if has_lines or name.endswith(".json") or (not is_csv and head[:1] in ("", "{", "[")):
        # In a file of lines, `{"answer": "a",` is a broken line; `{` alone begins an object.
        begins = first.rstrip() == "{" if has_lines else first.rstrip().endswith(("{", "[", ","))
        if head.startswith("[") or (end and begins):
            return _document_rows(stream, file, max_line)
        return _json_lines(stream, file, max_line)

    def on_chinese() -> None:
        if report is not None:
            report(f"{file}: read as GB18030, because it is not UTF-8")

    return _csv_rows(text_lines(stream, max_line, on_chinese), file, max_line, _delimiter(first))


def _json_lines(stream: BufferedReader, file: InputFile, max_line: float) -> Iterator[InputRow]:
    for number, text, error in text_lines(stream, max_line):
        if error is not None:
            yield InputRow(file, number, text, error)
        elif text.strip():
            yield _row(file, number, text, partial(json_object, text.rstrip("\r\n")))


def _document_rows(stream: BufferedReader, file: InputFile, max_line: float) -> Iterator[InputRow]:
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
    value = _json_value(text)
    for number, each in enumerate(value if isinstance(value, list) else [value], 1):
        text = json_text(each)
        yield _row(file, number, text, partial(_object_in, each, text))


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
    if isinstance(value, UUID | Decimal):
        return str(value)
    if isinstance(value, Mapping):
        return dict(value)
    if not isinstance(value, type):
        for method in filter(callable, (getattr(value, name, None) for name in _DUMP_METHODS)):
            return method()
        if is_dataclass(value):
            return vars(value)
    what = f"is a {type(value).__name__}; give a text, a number, a list or a mapping"
    raise InputError(what)


def json_object(text: str) -> Fields:
    """Return a JSON object without the nulls that are written as NaN, or raise InputError."""
    return _object_in(_json_value(text), text)


def _object_in(value: JsonValue, text: str) -> Fields:
    if isinstance(value, dict):
        # NaN differs from itself.
        return {key: None if each != each else each for key, each in value.items()}  # noqa: PLR0124
    raise InputError(f"holds {_short(text)}; each row is one JSON object, {{…}}")


def _json_value(text: str) -> JsonValue:
    try:
        value: JsonValue = from_json(text)
    except ValueError as error:
        place = _JSON_PLACE.search(str(error))
        line, column = (int(place[1]), f" at column {place[2]}") if place else (1, "")
        shown = _short(text.split("\n")[line - 1])
        problem = f"{_JSON_PLACE.sub('', str(error))}{column}: {shown}"
        raise InputError(f"bad JSON: {problem}; mend it", line=line) from None
    return value


def _short(text: str) -> str:
    return repr(clip(text.strip(), _SHOWN))


# CSV


class CsvRecord(NamedTuple):
    """A record of a CSV."""

    line: int
    """The line on which it begins, from 1."""
    text: str
    cells: list[str]
    error: InputError | None = None


def _delimiter(header: str) -> str:
    """Return the comma, semicolon, tab or bar that is most frequent in the header."""
    return max(_DELIMITERS, key=header.count)


def csv_records(
    lines: Iterable[TextLine], delimiter: str, max_line: float = MAX_LINE
) -> Iterator[CsvRecord]:
    """Yield the records of a CSV, with cells of any length; one that is bad does not hide the next.

    Raises:
        InputError: a record is longer than `max_line` MB, as behind an open quotation mark.
    """
    csv.field_size_limit(2**31 - 1)  # a record has its own limit
    most, size, kept = most_bytes(max_line), 0, list[TextLine]()

    def record_lines() -> Iterator[str]:
        nonlocal size
        for line in lines:
            kept.append(line)
            size += len(line.text)
            if size > most or isinstance(line.error, LongLineError):
                what = f"the record is longer than {max_line:g} MB; close its quotation marks"
                raise InputError(f"{what}, or {ALLOW_MORE}", line=kept[0].number)
            yield line.text

    reader = csv.reader(record_lines(), delimiter=delimiter, strict=True)
    while True:
        kept, size = [], 0
        try:
            cells = next(reader, None)
            error = next((line.error for line in kept if line.error), None)
        except csv.Error as bad:
            cells, error = [], InputError(_bad_csv(str(bad)))
        if cells is None:
            return
        yield CsvRecord(kept[0].number, "".join(line.text for line in kept), cells, error)


def _bad_csv(message: str) -> str:
    step = "mend the line"
    if "end of data" in message:
        step = "close the quotation mark that opens on this line"
    elif "new-line character" in message:
        message, step = "a carriage return outside quotation marks", "end lines with a line feed"
    return f"bad CSV: {message}; {step}"


def _csv_rows(
    lines: Iterable[TextLine], file: InputFile, max_line: float, delimiter: str
) -> Iterator[InputRow]:
    """Yield a row for each record under the header; an empty cell is an absent field."""
    header: list[str] = []
    for record in csv_records(lines, delimiter, max_line):
        if not any(header):
            if record.error is not None:
                raise record.error.at("", record.line)
            header = [name.strip() for name in record.cells]
            refuse_doubled(header, record.line)
        elif record.error is not None:
            yield InputRow(file, record.line, record.text, record.error)
        elif any(record.cells):
            read = partial(_csv_object, header, record.cells)
            yield _row(file, record.line, record.text, read)


def csv_rows(data: bytes) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a sheet saved as CSV that are not blank, with their numbers in the sheet.

    Raises:
        InputError: the data is neither UTF-8 nor GB18030, a quotation mark is never closed, or a
            row has cells beyond the header's.
    """
    text, width = _decoded(data), 0
    lines = (TextLine(*each) for each in enumerate(StringIO(text, newline=""), 1))
    delimiter = _delimiter(text.lstrip().partition("\n")[0])
    for number, record in enumerate(csv_records(lines, delimiter), 1):
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
    for encoding in ("utf-8-sig", CHINESE):
        with suppress(UnicodeDecodeError):
            return data.decode(encoding)
    raise InputError("is neither UTF-8 nor GB18030; save the sheet again, as CSV UTF-8 or XLSX")


def _too_many_cells(cells: list[str], width: int) -> str:
    found = f"{len(cells)} cells under {width} {plural(width, 'column')}"
    return f"{found}; quote cells that hold the delimiter"


def _csv_object(header: list[str], cells: list[str]) -> Fields:
    if any(cells[len(header) :]):
        raise InputError(_too_many_cells(cells, len(header)))
    fields: Fields = {}
    for name, cell in zip_longest(header, cells[: len(header)], fillvalue=""):
        if name in _LIST_KEYS and cell.strip():
            fields[name] = parse_list(cell)  # JSON, or as `pandas.to_csv` writes a list
            if isinstance(fields[name], str):
                message = f"is no list: {_short(cell)}; write the cell with json.dumps"
                raise InputError(message, field=name)
        # A spreadsheet cannot tell an empty answer from none; an empty answer is a result.
        elif name and (cell or name in NAMES["answer"] or _NUMBERED_CHUNK.fullmatch(name)):
            fields[name] = cell
    return _with_chunk_columns(fields)


def refuse_doubled(header: Iterable[str], line: int | None = None) -> None:
    """Raise an InputError if two columns have the same name."""
    for name, count in Counter(filter(None, header)).items():
        if count > 1:
            message = f"column {name!r} is there {count} times; rename all but one"
            raise InputError(message, line=line)


# Tables


def table_fields(row: object) -> Fields:
    """Return the fields of a table's row or a tool's object as JSON has them, without nulls.

    Lists that are written as text become lists; an object's keys that are null come from the other
    objects of its column.
    """
    return _table_fields(json_text(row))


def _table_fields(text: str) -> Fields:
    return listed_fields(_without_nulls(json_object(text)))


def listed_fields(fields: Fields) -> Fields:
    """Return the fields with lists that are written as text, or in a column each, as lists."""
    texts = ((name, fields[name]) for name in _LIST_KEYS & fields.keys())
    lists = {name: parse_list(text) for name, text in texts if isinstance(text, str)}
    return _with_chunk_columns(fields | lists)


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


def _without_nulls(fields: Fields) -> Fields:
    """Return the fields without nulls at any depth, but for a null answer, which is an error."""

    def whole(value: JsonValue) -> JsonValue:
        if isinstance(value, dict):
            return {key: whole(each) for key, each in value.items() if each is not None}
        return list(map(whole, value)) if isinstance(value, list) else value

    answers = NAMES["answer"]
    return {k: whole(each) for k, each in fields.items() if each is not None or k in answers}


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
        each.with_type(timestamp("us", each.type.tz)) if types.is_timestamp(each.type) else each
        for each in batch.schema
    ]
    plain = batch.cast(schema(fields), safe=False)
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


def sheet_rows(sheet: "Worksheet", most: int) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that are not blank, at most `most`, with the numbers that the sheet shows.

    Numbers and booleans become text (`1`, `true`), a formula its last value; of merged cells the
    first holds the value. One row is held at a time.
    """
    # The extent that a sheet declares may be wrong, so these limits are ours.
    rows = sheet.iter_rows(max_row=MOST_ROWS, max_col=MOST_COLUMNS, values_only=True)
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
    return "" if value is None else str(value)


def _sheet_rows(stream: IO[bytes], file: InputFile, max_line: float) -> Iterator[InputRow]:
    """Yield the rows of the first sheet that is not hidden, under its first row."""
    with worksheets(stream) as sheets:
        shown = next((each for each in sheets if each.sheet_state == "visible"), sheets[0])
        rows = sheet_rows(shown, MOST_ROWS)
        header = [name.strip() for name in next(rows, (0, list[str]()))[1]]
        refuse_doubled(header, 1)
        for number, cells in rows:
            text = json_text(
                {name: cell for name, cell in zip(header, cells, strict=False) if cell}
            )
            yield _row(file, number, text, partial(_csv_object, header, cells), max_line)
