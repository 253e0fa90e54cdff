"""Samples, read one at a time from JSON lines or CSV, and the check of a whole file."""

import hashlib
import json
import re
import sqlite3
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Collection, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Final

from pydantic import JsonValue

from judge.errors import InputError
from judge.files.fields import ALIASES, sample_from
from judge.files.source import (
    CsvError,
    Digest,
    csv_reader,
    encoding_error,
    open_source,
    presentable,
    text_lines,
)
from judge.records import Sample

SCORE_NEEDS: Final = frozenset({"answer", "chunks"})
"""What a sample must have to be scored."""

_DELIMITERS: Final = ",;\t"
_NUMBERED_CHUNK: Final = re.compile(r"chunk_([1-9]\d*)")
_JSON_COLUMNS: Final = frozenset(
    name
    for field in ("chunks", "retrieved", "gold_evidence", "relevance")
    for name in ALIASES[field]
)
_MAY_BE_EMPTY: Final = frozenset(ALIASES["answer"])
"""A spreadsheet cannot tell an empty answer from none; an empty answer is a result, no error."""

Samples = Iterable[Sample] | AsyncIterable[Sample]


@dataclass(frozen=True, slots=True)
class Rejected:
    """A line that is no sample: where, as it stood, and why."""

    line: int
    text: str
    error: InputError


@dataclass(frozen=True, slots=True)
class Checked:
    """What a check of a whole file found."""

    samples: int
    rejected: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Row:
    """One row. `fields` is an error where the line is no row at all."""

    line: int
    text: str
    fields: dict[str, JsonValue] | InputError


def read_samples(
    path: str | Path,
    *,
    needs: Collection[str] = SCORE_NEEDS,
    on_bad: Callable[[Rejected], None] | None = None,
    digest: Digest | None = None,
    check: Callable[[Sample], None] | None = None,
) -> Iterator[Sample]:
    """Read samples one at a time; memory does not grow with the file.

    Args:
        path: JSONL or CSV (`.csv`, `.tsv`, or a first line that is no JSON), UTF-8 with or
            without BOM, plain or gzip.
        needs: fields that must be present; an empty answer or an empty chunk list is present.
        on_bad: called with each bad line, which is then left out. Without it a bad line raises.
        digest: is fed the bytes of the file as they are read, compressed or not.
        check: raises `InputError` for a sample that is of no use: its line is a bad one.

    Raises:
        InputError: names file, line, field and value.
    """
    path = Path(path)
    with closing(_Seen()) as seen, open_source(path, digest) as stream:
        for row in _rows(text_lines(stream, path), path):
            try:
                sample = _sample(row, needs)
                if check is not None:
                    check(sample)
                seen.add(sample.qid, row.line)
            except InputError as found:
                error = found.at(str(path), row.line)
                if on_bad is None:
                    raise error from None
                on_bad(Rejected(row.line, row.text, error))
            else:
                yield sample


def check_samples(
    path: str | Path,
    *,
    needs: Collection[str] = SCORE_NEEDS,
    on_bad: Callable[[Rejected], None] | None = None,
) -> Checked:
    """Read the whole file once and keep nothing but counts and its hash. Arguments as above.

    Raises:
        InputError: as `read_samples`; also where there is not one sample in it.
    """
    path = Path(path)
    rejected = 0
    digest = hashlib.sha256()

    def count(line: Rejected) -> None:
        nonlocal rejected
        rejected += 1
        if on_bad is not None:
            on_bad(line)

    bad = on_bad and count
    samples = sum(1 for _ in read_samples(path, needs=needs, on_bad=bad, digest=digest))
    if not samples:
        what = f"all {rejected} lines are bad" if rejected else "holds no sample"
        message = f"{what}; one JSON object a line, or CSV under a header, is needed"
        raise InputError(message, path=str(path))
    return Checked(samples, rejected, digest.hexdigest())


async def each(samples: Samples) -> AsyncGenerator[Sample]:
    """Every sample, in order; of what can be read both ways, the way that waits."""
    if isinstance(samples, AsyncIterable):
        async for sample in samples:
            yield sample
    else:
        for sample in samples:
            yield sample


def _rows(lines: Iterator[tuple[int, str]], path: Path) -> Iterator[Row]:
    name = path.name.lower().removesuffix(".gz")
    if name.endswith((".csv", ".tsv")):
        return csv_rows(lines, path)
    if name.endswith((".jsonl", ".ndjson", ".json")):
        return jsonl_rows(lines, path)
    first = next(lines, None)
    if first is None:
        return iter(())
    rows = jsonl_rows if first[1].lstrip()[:1] in {"{", "[", ""} else csv_rows
    return rows(chain([first], lines), path)


def _sample(row: Row, needs: Collection[str]) -> Sample:
    if isinstance(row.fields, InputError):
        raise row.fields
    return sample_from(row.fields, line=row.line, needs=needs)


class _Seen:
    """The qids so far, in a private database on disk: a set of them would grow with the file."""

    def __init__(self) -> None:
        # One thread at a time reads a generator, but it need not be the thread that began.
        self._database = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self._database.execute("PRAGMA synchronous = OFF")
        self._database.execute("PRAGMA journal_mode = OFF")
        self._database.execute("CREATE TABLE seen (qid TEXT PRIMARY KEY, line) WITHOUT ROWID")
        self._database.execute("BEGIN")

    def add(self, qid: str, line: int) -> None:
        try:
            self._database.execute("INSERT INTO seen VALUES (?, ?)", (qid, line))
        except sqlite3.IntegrityError:
            found = self._database.execute("SELECT line FROM seen WHERE qid = ?", (qid,))
            message = f"{qid!r} stands already on line {found.fetchone()[0]}; make each qid unique"
            raise InputError(message, field="qid") from None

    def close(self) -> None:
        self._database.close()


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
    tape = _Tape(lines)
    first = next(tape, "")
    if error := encoding_error(first, 1, path):
        raise error
    delimiter = max(_DELIMITERS, key=first.count)
    reader = csv_reader(chain([first], tape), delimiter)
    try:
        header = [name.strip() for name in next(reader, [])]
    except CsvError as error:
        raise _bad_csv(str(error), 1, path) from None
    twice = sorted({name for name in header if name and header.count(name) > 1})
    if twice:
        raise InputError(f"column {twice[0]!r} stands twice; rename one", path=str(path), line=1)
    while True:
        tape.start()
        try:
            cells = next(reader, None)
        except CsvError as error:
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
    except RecursionError:
        message = "bad JSON: lists or objects stand too deep in each other; mend the line"
    except ValueError:  # Python's own limit on digits
        message = "bad JSON: a number has too many digits; mend the line"
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
