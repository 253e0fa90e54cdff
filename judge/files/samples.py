"""Samples, read one at a time from JSON lines or CSV, and the check of a whole file."""

import hashlib
import json
import re
import sqlite3
import sys
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Collection, Iterable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from io import BufferedReader
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple, Self

from pydantic import JsonValue

from judge.errors import InputError, RunError
from judge.files.fields import FIELDS, sample_from
from judge.files.source import (
    ALLOW_MORE,
    CLIPPED,
    MAX_LINE,
    PEEK,
    CsvError,
    Digest,
    LongLine,
    TextLines,
    check_encoding,
    csv_reader,
    most_bytes,
    open_source,
    placed,
    presentable,
    readable,
    spoken,
)
from judge.records import Sample
from judge.text.visible import visible

SCORE_NEEDS: Final = frozenset({"answer", "chunks"})
"""What a sample must have to be scored."""

_DELIMITERS: Final = ",;\t"
_NUMBERED_CHUNK: Final = re.compile(r"chunk_([1-9][0-9]{0,8})")
_JSON_COLUMNS: Final = frozenset(
    key
    for field in ("chunks", "retrieved", "gold_evidence", "relevance")
    for key in FIELDS[field][1]
)
_MAY_BE_EMPTY: Final = frozenset(FIELDS["answer"][1])
"""A spreadsheet cannot tell an empty answer from none; an empty answer is a result, no error."""
_JSON_HEAD: Final = re.compile(r"""\{|\[\s*(?:[\[{"\]]|$)""")
_FORMS: Final = "one JSON object a line (.jsonl), or CSV under a header (.csv), is needed"
_SHOWN: Final = 60
"""Characters of a line, in a message."""

Samples = Iterable[Sample] | AsyncIterable[Sample]
_Lines = Iterator[tuple[int, str]]
_Fields = dict[str, JsonValue]


class Rejected(NamedTuple):
    """A line that is no sample: where, as it stood, and why."""

    line: int
    text: str
    error: InputError


class Checked(NamedTuple):
    """What a check of a whole file found."""

    samples: int
    rejected: int
    sha256: str


class Row(NamedTuple):
    """One row. `fields` is an error where the line is no row at all."""

    line: int
    text: str
    fields: _Fields | InputError


def read_samples(
    path: str | Path,
    *,
    needs: Collection[str] = SCORE_NEEDS,
    on_bad: Callable[[Rejected], None] | None = None,
    digest: Digest | None = None,
    check: Callable[[Sample], None] | None = None,
    max_line: float = MAX_LINE,
    unique: bool = True,
) -> Iterator[Sample]:
    """Read samples one at a time; memory does not grow with the file.

    Args:
        path: JSONL or CSV, as the name says (`.jsonl`, `.ndjson`, `.json`; `.csv`, `.tsv`), else as
            the first line does; UTF-8 with or without BOM, plain or gzip.
        needs: fields that must be present; an empty answer or an empty chunk list is present.
        on_bad: called with each bad line, which is then left out. Without it a bad line raises.
        digest: is fed the bytes of the file as they are read, compressed or not.
        check: raises `InputError` for a sample that is of no use: its line is a bad one.
        max_line: MB that a line, or a record of a CSV, may have; a longer one is a bad one, and is
            not read whole.
        unique: whether a qid that stood already makes a line a bad one.

    Raises:
        InputError: names file, line, field and value.
    """
    path = Path(path)
    with closing(_Seen()) as seen, open_source(path, digest) as stream:
        for row in _rows(stream, path, max_line):
            try:
                if isinstance(row.fields, InputError):
                    raise row.fields
                sample = sample_from(row.fields, line=row.line, needs=needs)
                if check is not None:
                    check(sample)
                if unique:
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
    on_bad: Callable[[Rejected], None] | None = None,
    max_line: float = MAX_LINE,
) -> Checked:
    """Read the whole file once and keep nothing but counts and its hash. Arguments as above.

    Raises:
        InputError: as `read_samples`; also where there is not one sample in it.
    """
    rejected = 0
    first: InputError | None = None
    digest = hashlib.sha256()

    def count(line: Rejected) -> None:
        nonlocal rejected, first
        rejected += 1
        first = first or line.error
        if on_bad is not None:
            on_bad(line)

    read = read_samples(path, on_bad=on_bad and count, digest=digest, max_line=max_line)
    samples = sum(1 for _ in read)
    if not samples:
        if first is None:
            message = f"holds no sample; {_FORMS}"
            raise InputError(message, path=str(path))
        what = "the only line is bad" if rejected == 1 else f"all {rejected} lines are bad"
        field = f", field {first.field!r}" if first.field else ""
        message = f"{what}; the first: line {first.line}{field}: {first.problem}"
        raise InputError(message, path=str(path))
    return Checked(samples, rejected, digest.hexdigest())


class Source:
    """Samples to be read once or more; bad lines raise, or are told and left out.

    Args:
        name: a path, or `-` for standard input.
        needs: fields of a sample that must be there.
        skip_bad_lines: tell of a bad line on standard error, and go on.
        check: raises `InputError` for a sample that is of no use.
        max_line: as of `read_samples`.
        unique: likewise.
    """

    def __init__(
        self,
        name: str,
        needs: Collection[str],
        *,
        skip_bad_lines: bool,
        check: Callable[[Sample], None] | None = None,
        max_line: float = MAX_LINE,
        unique: bool = True,
    ) -> None:
        self.name = spoken(name)
        self.rejected = 0
        self._last = 0
        self._source = name
        on_bad = self._tell if skip_bad_lines else None
        self._read = partial(
            read_samples,
            needs=needs,
            on_bad=on_bad,
            check=check,
            max_line=max_line,
            unique=unique,
        )

    @contextmanager
    def samples(self) -> Iterator[Iterator[Sample]]:
        """The samples, one at a time. What can be read but once is read from a copy.

        Raises:
            InputError: also of what is done with them; it names the source.
            RunError: there is no room for the copy.
        """
        with self.again() as read:
            yield read()

    @contextmanager
    def again(self) -> Iterator[Callable[[], Iterator[Sample]]]:
        """What reads the samples, from the first each time; otherwise as above.

        Bad lines are told once, however often they are read.
        """
        with placed(self.name), readable(self._source) as path:
            yield partial(self._read, path)

    def _tell(self, line: Rejected) -> None:
        if line.line <= self._last:  # it was told when the file was first read
            return
        self.rejected, self._last = self.rejected + 1, line.line
        # No log: it would hold texts, and logs hold names.
        error = line.error.at(self.name, line.line)
        sys.stderr.write(visible(f"judge: left out: {error}") + "\n")


async def each(samples: Samples) -> AsyncGenerator[Sample]:
    """Every sample, in order; of what can be read both ways, the way that waits."""
    if isinstance(samples, AsyncIterable):
        async for sample in samples:
            yield sample
    else:
        for sample in samples:
            yield sample


class _Seen:
    """The qids so far, in a private database on disk: a set of them would grow with the file."""

    def __init__(self) -> None:
        # One thread at a time reads a generator, but it need not be the thread that began.
        self._database = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self.close = self._database.close
        for statement in (
            "PRAGMA synchronous = OFF",
            "PRAGMA journal_mode = OFF",
            "CREATE TABLE seen (qid TEXT PRIMARY KEY, line) WITHOUT ROWID",
            "BEGIN",
        ):
            self._database.execute(statement)

    def add(self, qid: str, line: int) -> None:
        try:
            self._database.execute("INSERT INTO seen VALUES (?, ?)", (qid, line))
        except sqlite3.IntegrityError:
            found = self._database.execute("SELECT line FROM seen WHERE qid = ?", (qid,))
            message = f"{qid!r} stands already on line {found.fetchone()[0]}; make each qid unique"
            raise InputError(message, field="qid") from None
        except sqlite3.OperationalError as error:
            message = f"temporary files cannot be written ({error}); "
            raise RunError(message + "free some room, or name another folder in TMPDIR") from None


def _rows(stream: BufferedReader, path: Path, max_line: float) -> Iterator[Row]:
    lines = TextLines(stream, path, max_line=max_line)
    name = path.name.lower().removesuffix(".gz")
    if name.endswith((".jsonl", ".ndjson", ".json")):
        return jsonl_rows(lines, path)
    if not name.endswith((".csv", ".tsv")):
        head = stream.peek(PEEK).decode("utf-8-sig", "replace").lstrip()
        if not head or _JSON_HEAD.match(head):
            return jsonl_rows(lines, path)
        if not _is_header(head.partition("\n")[0]):
            begun = _short(head.partition("\n")[0])
            what = f"is neither JSON lines nor CSV: it begins with {begun}"
            raise InputError(
                f"{what}, which names no column such as answer; {_FORMS}", path=str(path)
            )
    return csv_rows(lines, path, max_line)


def _is_header(line: str) -> bool:
    """Whether a line names a column that is read."""
    known = {key for _, keys in FIELDS.values() for key in keys}
    names = [name.strip().strip('"') for name in re.split(f"[{_DELIMITERS}]", line)]
    return any(name in known or _NUMBERED_CHUNK.fullmatch(name) for name in names)


def _row(line: int, text: str, path: Path, read: Callable[[], _Fields]) -> Row:
    fields: _Fields | InputError
    try:
        check_encoding(text, line, path)
        fields = read()
    except InputError as error:
        fields = error.at(str(path), line)
    return Row(line, presentable(text), fields)


def jsonl_rows(lines: _Lines, path: Path) -> Iterator[Row]:
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
            yield _row(number, line, path, partial(json_object, line, first=number == 1))


def json_object(line: str, *, first: bool = False) -> _Fields:
    """The object on a line; InputError where there is none."""
    try:
        # With its end, a line cut off inside a string would be blamed on a control character.
        value = _JSON.decode(line.rstrip("\r\n"))
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
    if first and line.strip() in {"[", "{"}:
        message = "is one JSON document over many lines; make it lines with jq -c"
        message += " '.[]'" if line.strip() == "[" else " ."
    raise InputError(message)


def _object(pairs: list[tuple[str, JsonValue]]) -> _Fields:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        key = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise InputError(f"the key {_short(key)} stands twice in an object; keep one")
    return fields


_JSON: Final = json.JSONDecoder(object_pairs_hook=_object)


class _Tape:
    """Lines for a CSV reader, which keeps those of the record that is being read.

    Of a record that is too long it hands on quotation marks alone, so that its end is found.
    """

    def __init__(self, lines: _Lines, longest: int) -> None:
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


def csv_rows(lines: _Lines, path: Path, max_line: float = MAX_LINE) -> Iterator[Row]:
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
    except CsvError as error:
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
        except CsvError as error:
            bad = _bad_csv(error)
        if bad is None and cells is None:
            return
        number, text = tape.kept[0][0], "".join(line for _, line in tape.kept)
        if tape.ran_over:
            yield Row(number, presentable(text[:CLIPPED]), long.at(str(path), number))
        elif bad is not None:
            yield Row(number, presentable(text), bad.at(str(path), number))
        elif any(cells or ()):
            yield _row(number, text, path, partial(_csv_object, header, cells or []))


def _bad_csv(error: Exception) -> InputError:
    message, hint = str(error), "mend the line"
    if "end of data" in message:
        hint = "close the quotation mark that opens on this line"
    elif "new-line character" in message:
        message = "a carriage return outside quotation marks"
        hint = "end lines with a line feed"
    return InputError(f"bad CSV: {message}; {hint}")


def _csv_object(header: list[str], cells: list[str]) -> _Fields:
    if any(cells[len(header) :]):
        message = f"{len(cells)} cells under {len(header)} columns; quote cells that hold commas"
        raise InputError(message)
    fields: _Fields = {}
    numbered: dict[int, str] = {}
    for name, cell in zip(header, cells, strict=False):
        if not name or not (cell or name in _MAY_BE_EMPTY):
            continue
        if match := _NUMBERED_CHUNK.fullmatch(name):
            numbered[int(match[1])] = cell
        elif name in _JSON_COLUMNS and cell.strip():
            try:
                fields[name] = _JSON.decode(cell)
            except InputError as error:
                raise InputError(error.problem, field=name) from None
            except (json.JSONDecodeError, RecursionError) as error:
                message = f"not JSON ({error}): {_short(cell)}; write the cell with json.dumps"
                raise InputError(message, field=name) from None
            except ValueError:  # Python's own limit on digits
                message = "bad JSON: a number has too many digits; mend the cell"
                raise InputError(message, field=name) from None
        else:
            fields[name] = cell
    if numbered or ("chunks" not in fields and any(map(_NUMBERED_CHUNK.fullmatch, header))):
        chunks: list[JsonValue] = [
            {"chunk_id": str(number), "text": text} for number, text in sorted(numbered.items())
        ]
        fields.setdefault("chunks", chunks)
    return fields


def _short(text: str) -> str:
    text = text.strip()
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "…")
