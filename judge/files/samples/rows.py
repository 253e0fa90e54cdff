"""Lines of text into rows: one JSON object, or one CSV record, and the line it began on."""

import csv
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Final

from pydantic import JsonValue

from judge.errors import InputError
from judge.files.samples.source import encoding_error, presentable

_DELIMITERS: Final = ",;\t"
_NUMBERED_CHUNK: Final = re.compile(r"chunk_([1-9]\d*)")
_JSON_COLUMNS: Final = frozenset(
    {
        "chunks",
        "contexts",
        "retrieved_contexts",
        "retrieved",
        "gold_evidence",
        "relevance",
        "rel_map",
    }
)
# A spreadsheet cannot tell an empty answer from none; an empty answer is a result, not an error.
_MAY_BE_EMPTY: Final = frozenset({"answer", "response"})


@dataclass(frozen=True, slots=True)
class Row:
    """One row. `fields` is an error where the line is no row at all."""

    line: int
    text: str
    fields: dict[str, JsonValue] | InputError


def jsonl_rows(lines: Iterator[tuple[int, str]], path: Path) -> Iterator[Row]:
    """A row for each line that is not blank."""
    for number, line in lines:
        if line.strip():
            error = encoding_error(line, number, path)
            yield Row(number, presentable(line), error or _json_object(line, number, path))


def csv_rows(lines: Iterator[tuple[int, str]], path: Path) -> Iterator[Row]:
    """A row for each CSV record; the header names the fields, an empty cell is an absent field.

    Raises:
        InputError: there is no header, or it names a column twice.
    """
    # The default limit, 128 KiB a cell, is under one long answer.
    csv.field_size_limit(2**31 - 1)
    tape = _Tape(lines)
    first = next(tape, "")
    if error := encoding_error(first, 1, path):
        raise error
    delimiter = max(_DELIMITERS, key=first.count)
    reader = csv.reader(chain([first], tape), delimiter=delimiter, strict=True)
    try:
        header = [name.strip() for name in next(reader, [])]
    except csv.Error as error:
        raise _bad_csv(str(error), 1, path) from None
    twice = sorted({name for name in header if name and header.count(name) > 1})
    if twice:
        raise InputError(f"column {twice[0]!r} stands twice; rename one", path=str(path), line=1)
    while True:
        tape.start()
        try:
            cells = next(reader, None)
        except csv.Error as error:
            text = presentable(tape.text())
            yield Row(tape.first, text, _bad_csv(str(error), tape.first, path))
            continue
        if cells is None:
            return
        if any(cells):
            text = tape.text()
            unread = encoding_error(text, tape.first, path)
            fields = unread or _csv_object(header, cells, tape.first, path)
            yield Row(tape.first, presentable(text), fields)


class _Tape(Iterator[str]):
    """Hands lines to the CSV reader and remembers those of the record it is reading."""

    def __init__(self, lines: Iterator[tuple[int, str]]) -> None:
        self._lines = lines
        self._seen: list[str] = []
        self._number = 0
        self.first = 1

    def __next__(self) -> str:
        self._number, line = next(self._lines)
        self._seen.append(line)
        return line

    def start(self) -> None:
        self.first = self._number + 1
        self._seen.clear()

    def text(self) -> str:
        return "".join(self._seen)


def _bad_csv(message: str, line: int, path: Path) -> InputError:
    hint = "mend the line"
    if "end of data" in message:
        hint = "close the quotation mark that opens on this line"
    elif "new-line character" in message:
        message = "a carriage return outside quotation marks"
        hint = "end lines with a line feed"
    return InputError(f"bad CSV: {message}; {hint}", path=str(path), line=line)


def _csv_object(
    header: list[str], cells: list[str], line: int, path: Path
) -> dict[str, JsonValue] | InputError:
    if any(cells[len(header) :]):
        message = f"{len(cells)} cells under {len(header)} columns; quote cells that hold commas"
        return InputError(message, path=str(path), line=line)
    named = {
        name: cell
        for name, cell in zip(header, cells, strict=False)
        if name and (cell or name in _MAY_BE_EMPTY)
    }
    fields: dict[str, JsonValue] = {}
    numbered: dict[int, str] = {}
    for name, cell in named.items():
        match = _NUMBERED_CHUNK.fullmatch(name)
        if match:
            numbered[int(match[1])] = cell
        elif name in _JSON_COLUMNS and cell.strip():
            value = _cell(name, cell, line, path)
            if isinstance(value, InputError):
                return value
            fields[name] = value
        else:
            fields[name] = cell
    if numbered or ("chunks" not in fields and any(map(_NUMBERED_CHUNK.fullmatch, header))):
        fields.setdefault(
            "chunks", [{"chunk_id": str(i), "text": text} for i, text in sorted(numbered.items())]
        )
    return fields


def _cell(name: str, cell: str, line: int, path: Path) -> JsonValue | InputError:
    try:
        value: JsonValue = json.loads(cell)
    except (ValueError, RecursionError) as error:
        message = f"not JSON ({error}): {_short(cell)}; write the cell with json.dumps"
        return InputError(message, path=str(path), line=line, field=name)
    return value


def _json_object(line: str, number: int, path: Path) -> dict[str, JsonValue] | InputError:
    try:
        # With its end, a line cut off inside a string would be blamed on a control character.
        value = json.loads(line.rstrip("\r\n"))
    except json.JSONDecodeError as error:
        what = error.msg.removesuffix(" at")
        message = f"bad JSON: {what} at column {error.colno}: {_short(line)}; mend the line"
    except (ValueError, RecursionError) as error:
        message = f"bad JSON: {error}; mend the line"
    else:
        if isinstance(value, dict):
            return value
        message = f"holds {_short(line)}; each line is one JSON object, {{…}}"
        if isinstance(value, list):
            message += ". Of a JSON array, jq -c '.[]' makes such lines"
    if line.strip() in {"[", "{"} and number == 1:
        message = "is one JSON document over many lines; make it lines with jq -c"
        message += " '.[]'" if line.strip() == "[" else " ."
    return InputError(message, path=str(path), line=number)


def _short(text: str, size: int = 60) -> str:
    text = text.strip()
    return repr(text if len(text) <= size else text[:size] + "…")
