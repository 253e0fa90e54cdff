"""A file's rows, of JSON or CSV: the fields of each, or what is wrong with it."""

import csv
import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from io import BufferedReader
from itertools import chain, zip_longest
from pathlib import Path
from typing import Final, NamedTuple, Self

from pydantic import JsonValue

from judge.errors import InputError
from judge.inputs.fields import FIELDS
from judge.inputs.paths import evaluated, listed
from judge.inputs.source import (
    ALLOW_MORE,
    MAX_LINE,
    MEGA,
    PEEK,
    LongLine,
    TextLines,
    check_encoding,
    csv_reader,
    most_bytes,
    presentable,
)
from judge.text.visible import plural

AROUND: Final = (
    *("data", "results", "examples", "rows", "samples"),
    *("test_cases", "testCases", "test_results"),
)
"""Keys under which an object that is no row has the list of them."""
_OURS: Final = frozenset(key for name in FIELDS if name != "qid" for key in FIELDS[name][1])
"""Keys of a row's own."""
_LINES: Final = 8
"""Lines at their limit that a JSON document may be long: it is held whole."""
_SHOWN: Final = 60
"""Characters of a line, in a message."""
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

_BLANK: Final = re.compile(r"[ \t\r\n]*")

Lines = Iterator[tuple[int, str]]
_Fields = dict[str, JsonValue]


class Row(NamedTuple):
    """One row. `fields` is an error where the line is no row at all."""

    line: int
    text: str
    fields: _Fields | InputError


def rows(stream: BufferedReader, path: Path, max_line: float) -> Iterator[Row]:
    """The rows of a file: JSON or CSV, as its name says, or else its first line."""
    name = path.name.lower().removesuffix(".gz").removesuffix(".zst")
    head = stream.peek(PEEK).decode("utf-8-sig", "replace").lstrip()
    named_json = name.endswith((".jsonl", ".ndjson", ".json"))
    if named_json or (not name.endswith((".csv", ".tsv")) and (not head or _JSON_HEAD.match(head))):
        if _is_document(head, lines=name.endswith((".jsonl", ".ndjson"))):
            return document_rows(TextLines(stream, path, max_line=_LINES * max_line), path)
        return jsonl_rows(TextLines(stream, path, max_line=max_line), path)
    if not name.endswith((".csv", ".tsv")) and not _is_header(head.partition("\n")[0]):
        begun = short(head.partition("\n")[0])
        what = f"is neither JSON lines nor CSV: it begins with {begun}"
        raise InputError(f"{what}, which names no column such as answer; {FORMS}", path=str(path))
    return csv_rows(TextLines(stream, path, max_line=max_line), path, max_line)


def _is_document(head: str, *, lines: bool) -> bool:
    """Whether a JSON file that begins so is an array, or has objects over many lines.

    In a file that is named as one of `lines`, a first line `{"answer": "a",` is a broken line and
    not the beginning of an object over many lines; `{` alone is.
    """
    first, end, _ = head.partition("\n")
    begins = first.rstrip() == "{" if lines else first.rstrip().endswith(("{", "[", ","))
    return head.startswith("[") or (bool(end) and begins)


def _is_header(line: str) -> bool:
    """Whether a line names a column that is read."""
    return any(is_column(name.strip().strip('"')) for name in re.split(f"[{_DELIMITERS}]", line))


def is_column(name: str) -> bool:
    """Whether a column of this name is read as a field of ours."""
    known = any(name in keys for _, keys in FIELDS.values())
    return known or _NUMBERED_CHUNK.fullmatch(name) is not None


def _made(line: int, text: str, path: Path, read: Callable[[], _Fields]) -> Row:
    """A row of a text, which is checked and then read."""
    fields: _Fields | InputError
    try:
        check_encoding(text, line, path)
        fields = read()
    except InputError as error:
        fields = error.at(str(path), line)
    return Row(line, presentable(text), fields)


def jsonl_rows(lines: Lines, path: Path) -> Iterator[Row]:
    """A row for each line that is not blank."""
    while True:
        try:
            number, line = next(lines)
        except StopIteration:
            return
        except LongLine as error:
            yield Row(error.line, presentable(error.head), error)
            continue
        if line.strip():
            yield _made(number, line, path, partial(json_object, line))


def document_rows(lines: TextLines, path: Path) -> Iterator[Row]:
    """A row for each object of a JSON array, and for each object printed over many lines.

    It is numbered by the line on which its array or the object begins, each counting one more than
    the one before.

    Raises:
        InputError: what is there is no JSON, or longer than a line may be.
    """
    kept, size = list[str](), 0
    for number, text in lines:
        check_encoding(text, number, path)
        kept.append(text)
        size += len(text)
        if size > lines.longest:
            what = f"is one JSON document of over {lines.longest / MEGA:g} MB, which is held whole"
            step = "make it lines, as jq -c '.[]' does, or allow more with --max-line"
            raise InputError(f"{what}; {step}", path=str(path))
    number = 0
    for line, value in _values("".join(kept), path):
        for each in value if isinstance(value, list) else [value]:
            number = max(number + 1, line)
            yield row_of(number, each)


def _values(text: str, path: Path) -> Iterator[tuple[int, JsonValue]]:
    """The JSON values in a text, each with the line on which it begins."""
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
            what = f"bad JSON: {error.msg.removesuffix(' at')} at column {error.colno}"
            raise InputError(f"{what}; mend the file", path=str(path), line=error.lineno) from None
        except RecursionError:
            what = "bad JSON: nested too deeply; flatten it"
            raise InputError(what, path=str(path), line=line) from None
        except ValueError as error:  # Python's own limit on digits
            raise InputError(
                f"bad JSON: {error}; mend the file", path=str(path), line=line
            ) from None
        yield line, value
        line += text.count("\n", begin, place)


def row_of(number: int, value: JsonValue) -> Row:
    """A row of a value that was read already."""
    # Half a character, as JSON can name it, stays so named.
    text = json.dumps(value, ensure_ascii=False).encode(errors="backslashreplace").decode()
    if isinstance(value, dict):
        return Row(number, text, value)
    return Row(number, text, InputError(f"holds {short(text)}; each row is one JSON object, {{…}}"))


def wrapped(fields: Mapping[str, object]) -> list[_Fields]:
    """The rows in an object that is none, but has a list of them; else nothing."""
    for key in AROUND:
        inner = fields.get(key)
        if isinstance(inner, list) and inner and _OURS.isdisjoint(fields):
            found = [each for each in inner if isinstance(each, dict)]
            return found if len(found) == len(inner) else []
    return []


def json_object(line: str) -> _Fields:
    """The object on a line; InputError where there is none."""
    try:
        # With its end, a line cut off inside a string would be blamed on a control character.
        value = JSON.decode(line.rstrip("\r\n"))
    except json.JSONDecodeError as error:
        what = error.msg.removesuffix(" at")
        message = f"bad JSON: {what} at column {error.colno}: {short(line)}; mend the line"
    except RecursionError:
        message = "bad JSON: lists or objects stand too deep in each other; mend the line"
    except ValueError:  # Python's own limit on digits
        message = "bad JSON: a number has too many digits; mend the line"
    else:
        if isinstance(value, dict):
            return value
        message = f"holds {short(line)}; each line is one JSON object, {{…}}"
        if isinstance(value, list):
            message += ". Of a JSON array, jq -c '.[]' makes such lines"
    raise InputError(message)


# NaN, which Python writes and JSON has not, is no number: null, as in a table.
JSON: Final = json.JSONDecoder(parse_constant=lambda _: None)


def short(text: str) -> str:
    """A text as a message shows it."""
    text = text.strip()
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "…")


class _Record:
    """Lines for a CSV reader, which keeps those of the record that is being read."""

    def __init__(self, lines: Lines, path: Path, max_line: float) -> None:
        self._lines = lines
        self._path = path
        self._max_line = max_line
        self.begin()

    def begin(self) -> None:
        """A record begins."""
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
            raise InputError(f"{what}, or {ALLOW_MORE}", path=str(self._path), line=self.kept[0][0])
        return line


def csv_rows(lines: Lines, path: Path, max_line: float = MAX_LINE) -> Iterator[Row]:
    """A row for each CSV record; the header names the fields, an empty cell is an absent field.

    Raises:
        InputError: there is no header, it names a column twice, or a record is too long.
    """
    record = _Record(lines, path, max_line)
    first = next(record, "")
    check_encoding(first, 1, path)
    reader = csv_reader(chain([first], record), max(_DELIMITERS, key=first.count))
    try:
        header = [name.strip() for name in next(reader, [])]
    except csv.Error as error:
        raise _bad_csv(error).at(str(path), 1) from None
    if twice := sorted({name for name in header if name and header.count(name) > 1}):
        raise InputError(f"column {twice[0]!r} stands twice; rename one", path=str(path), line=1)
    while True:
        record.begin()
        bad, cells = None, None
        try:
            cells = next(reader, None)
        except csv.Error as error:
            bad = _bad_csv(error)
        if bad is None and cells is None:
            return
        number, text = record.kept[0][0], "".join(line for _, line in record.kept)
        if bad is not None:
            yield Row(number, presentable(text), bad.at(str(path), number))
        elif any(cells or ()):
            yield _made(number, text, path, partial(csv_object, header, cells or []))


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
