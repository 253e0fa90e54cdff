"""Samples, one at a time: from files of any form, and from rows and objects in memory."""

import asyncio
import json
import logging
import sys
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sized,
)
from contextlib import contextmanager, suppress
from dataclasses import is_dataclass
from decimal import Decimal
from functools import partial
from hashlib import blake2b
from itertools import chain
from os import PathLike
from pathlib import Path
from random import Random
from typing import Any, Final, NamedTuple
from uuid import UUID

from pydantic import JsonValue

from judge.errors import InputError
from judge.inputs.fields import MAX_DEPTH, SCORE_NEEDS, Fields
from judge.inputs.files import (
    MAX_LINE,
    InputFile,
    hash_of,
    input_files,
    input_name,
    naming_input,
    readable,
    with_input_name,
)
from judge.inputs.rows import (
    FORMS,
    Row,
    batch_rows,
    file_rows,
    plain_fields,
    refuse_doubled,
    row_of,
    table_fields,
    without_nulls,
)
from judge.inputs.shapes import Reader
from judge.records import Sample
from judge.records.run import RunInput
from judge.text.visible import visible

Samples = Iterable[Sample] | AsyncIterable[Sample]
Mapped = Mapping[str, str] | None
"""Paths by field, as in `judge.inputs.shapes.Reader`."""
_LOG: Final = logging.getLogger("judge")
_WRAPPERS: Final = (
    *("data", "results", "examples", "rows", "samples"),
    *("test_cases", "testCases", "test_results"),
)
"""Keys under which an object that is no row has a list of rows."""
_ROWS_BETWEEN_PAUSES: Final = 100
"""Rows that are checked before other tasks of the event loop have their turn."""
_DUMP_METHODS: Final = ("model_dump", "to_dict", "isoformat", "tolist")
_NULL_TYPES: Final = frozenset({"NAType", "NaTType"})
"""pandas' own nulls."""


class Rejected(NamedTuple):
    """A line that is no sample."""

    line: int
    text: str
    error: InputError


class Checked(NamedTuple):
    """The result of reading a whole input."""

    samples: int
    rejected: int
    sha256: str
    """The hash of the bytes of all files."""


def read_samples(
    path: str | Path | InputFile,
    *,
    needs: Collection[str] = SCORE_NEEDS,
    on_bad: Callable[[Rejected], None] | None = None,
    check: Callable[[Sample], object] | None = None,
    max_line: float = MAX_LINE,
    unique: bool = True,
    mapping: Mapped = None,
    report: Callable[[str], object] | None = None,
) -> Iterator[Sample]:
    """Yield the samples of an input one at a time; memory does not grow with the file.

    Args:
        path: a file, a folder, a pattern or an address, as `read_rows` takes it. If it means
            several files, each row must have a qid, because line numbers are not unique.
        needs: fields that must be present; an empty answer or an empty chunk list is present.
        on_bad: called with each bad line, which is then left out; without it a bad line raises.
        check: may raise `InputError` to declare a sample's line a bad one.
        max_line: the limit of a line, or of a CSV record, in MB; a longer one is a bad line.
        unique: whether a qid that is not unique makes its line a bad one.
        mapping: paths by field, as in `judge.inputs.shapes.Reader`.
        report: called with each remark on how the input is read.

    Raises:
        ConfigError: the mapping is wrong, or the library that reads the file is not installed.
        InputError: names file, line, field and value.
    """
    files = [path] if isinstance(path, InputFile) else input_files(path)
    many = len(files) > 1
    reader = Reader(frozenset(needs) | {"qid"} if many else needs, mapping, report)
    seen, is_empty = _Seen("on line"), True
    for row in chain.from_iterable(_unwrapped(file, max_line, reader, report) for file in files):
        is_empty = False
        try:
            if isinstance(row.fields, InputError):
                raise row.fields
            sample = reader.sample(row.fields, row.line)
            if check is not None:
                check(sample)
            if unique:
                seen.add(sample.qid, (row.line, row.file) if many else row.line)
        except InputError as found:
            error = found.at(str(row.file), row.line)
            if on_bad is None:
                raise error from None
            on_bad(Rejected(row.line, row.text, error))
        else:
            yield sample
    # One of several files may be empty.
    if is_empty and not isinstance(path, InputFile):
        raise InputError(f"holds no sample; {FORMS}", path=str(path))


def _unwrapped(
    file: InputFile, max_line: float, reader: Reader, report: Callable[[str], object] | None
) -> Iterator[Row]:
    """Yield the rows of a file, and those in an object such as `{"data": [row, …]}`."""
    number = 0
    for row in file_rows(file, max_line, report):
        whole = {} if isinstance(row.fields, InputError) else row.fields
        inner = _inner_rows(whole)
        if not inner or reader.knows(whole):
            yield row
            continue
        for fields in inner:
            number = max(number + 1, row.line)
            yield row_of(file, number, fields)


def _inner_rows(given: Any) -> list[Any]:  # noqa: ANN401  each tool has its own
    """Return the rows in a tool's result or data set, such as its test cases; else nothing."""
    get = given.get if isinstance(given, Mapping) else partial(getattr, given)
    for key in _WRAPPERS:
        inner = get(key, None)
        if isinstance(inner, list) and inner:
            no_row = any(isinstance(each, str | int | float | list) for each in inner)
            return [] if no_row else inner
    return []


def check_samples(
    path: str | Path,
    *,
    on_bad: Callable[[Rejected], None] | None = None,
    max_line: float = MAX_LINE,
    mapping: Mapped = None,
) -> Checked:
    """Read a whole input once; return its counts and its hash. Arguments as in `read_samples`.

    Raises:
        InputError: as in `read_samples`, or all lines are bad.
    """
    rejected = 0
    first: InputError | None = None
    sha256 = hash_of(path)  # first, so that the caller notices any later change

    def count(line: Rejected) -> None:
        nonlocal rejected, first
        rejected += 1
        first = first or line.error
        if on_bad is not None:
            on_bad(line)

    read = read_samples(
        path, on_bad=on_bad and count, max_line=max_line, mapping=mapping, report=_LOG.info
    )
    samples = sum(1 for _ in read)
    if not samples and first is not None:
        what = "the only line is bad" if rejected == 1 else f"all {rejected} lines are bad"
        field = f", field {first.field!r}" if first.field else ""
        message = f"{what}; the first: line {first.line}{field}: {first.problem}"
        raise InputError(message, path=str(path))
    return Checked(samples, rejected, sha256)


def draw_samples(samples: Iterator[Sample], made_from: RunInput, seed: int) -> Iterator[Sample]:
    """Yield the samples that a run with a limit scores, in the order of the file.

    They are the first `made_from.samples` of a shuffle, so that a greater limit draws the same ones
    and more. All samples are read.
    """
    if made_from.drawn_from is None:
        yield from samples
        return
    order = list(range(made_from.drawn_from))
    Random(seed).shuffle(order)  # noqa: S311  it is to be drawn again
    chosen = set(order[: made_from.samples])
    yield from (sample for number, sample in enumerate(samples) if number in chosen)


class Source:
    """An input that is read once or more; bad lines raise, or are reported and left out.

    Args:
        name: a path, or `-` for standard input.
        needs: fields that a sample must have.
        skip_bad_lines: report a bad line on standard error, and go on.
        check: as in `read_samples`; so are the next two.
    """

    def __init__(
        self,
        name: str,
        needs: Collection[str],
        *,
        skip_bad_lines: bool,
        check: Callable[[Sample], object] | None = None,
        max_line: float = MAX_LINE,
        unique: bool = True,
    ) -> None:
        self.name = input_name(name)
        self.rejected = 0
        self._source = name
        self._skip = skip_bad_lines
        self._reported: set[str] = set()
        self._read = partial(
            read_samples,
            needs=needs,
            check=check,
            max_line=max_line,
            unique=unique,
            report=self._report,
        )

    @contextmanager
    def samples(self) -> Iterator[Iterator[Sample]]:
        """Yield the samples, one at a time. A pipe is copied first.

        Raises:
            InputError: also for errors of the caller's block; it names the source.
            RunError: there is no room for the copy.
        """
        with self.again() as read:
            yield read()

    @contextmanager
    def again(self) -> Iterator[Callable[[], Iterator[Sample]]]:
        """Yield a function that reads the samples from the first each time; errors as above.

        Each bad line is reported once.
        """
        with naming_input(self.name), readable(self._source) as path:
            yield lambda: self._read(path, on_bad=self._rejecter() if self._skip else None)

    def _report(self, text: str) -> None:
        if text not in self._reported:
            self._reported.add(text)
            _LOG.info(text)

    def _rejecter(self) -> Callable[[Rejected], None]:
        """Return a reporter of the bad lines that earlier readings did not report."""
        found = 0

        def reject(line: Rejected) -> None:
            nonlocal found
            found += 1
            if found <= self.rejected:
                return
            self.rejected = found
            # Not logged, because the message holds texts.
            error = with_input_name(line.error, self.name)
            sys.stderr.write(visible(f"judge: left out: {error}") + "\n")

        return reject


class _Seen:
    """The places of the qids so far by 128-bit digest; a million of them take about 130 MB.

    Args:
        where: `on line` or `in row`, before a place in messages.
    """

    def __init__(self, where: str) -> None:
        self._where = where
        self._places: dict[int, int | tuple[int, InputFile]] = {}

    def add(self, qid: str, place: int | tuple[int, InputFile]) -> None:
        """Add a qid with its line or row, and the file of several; raise InputError if it is there.

        No two of a trillion different qids have the same digest.
        """
        digest = int.from_bytes(blake2b(qid.encode(), digest_size=16).digest())
        if digest in self._places:
            earlier = self._places[digest]
            shown = earlier if isinstance(earlier, int) else " of ".join(map(str, earlier))
            message = f"{qid!r} is already {self._where} {shown}; make each qid unique"
            raise InputError(message, field="qid")
        self._places[digest] = place


# Rows and objects in memory


class Rows(NamedTuple):
    """The rows in what a caller gave."""

    read: Callable[[], Iterator[object]]
    """Yields the rows, samples among them."""
    size: int | None
    """The number of rows; null if they can be read only once."""


def rows_of(given: Any, mapping: Mapped = None) -> Rows:  # noqa: ANN401  each tool has its own
    """Return the rows in what a caller gave: a row or several, a table, or a tool's data set.

    Raises:
        InputError: `given` has no rows, for example because it is the name of a file.
    """
    if isinstance(given, str | bytes | PathLike):
        what = f"is a {type(given).__name__}; a file is read by judge.read_samples(path)"
        raise InputError(what, field="samples")
    if isinstance(given, Mapping):
        splits = [name for name, each in given.items() if hasattr(each, "column_names")]
        if splits:
            what = f"are several data sets; give one of them: [{splits[0]!r}]"
            raise InputError(what, field="samples")
    read = _table(given)
    is_object = isinstance(given, Sample | Mapping) or hasattr(given, "model_dump")
    if read is None and (is_object or not isinstance(given, Iterable)):
        inner = [] if isinstance(given, Sample) else _inner_rows(given)
        rows = [given] if not inner or _is_row(given, mapping) else inner
        return Rows(partial(iter, rows), len(rows))
    if read is None and hasattr(given, "to_dict"):  # a row of a DataFrame
        return Rows(partial(iter, (given,)), 1)
    return Rows(read or partial(iter, given), len(given) if isinstance(given, Sized) else None)


def _is_row(given: object, mapping: Mapped) -> bool:
    with suppress(InputError):  # it is no row of any kind
        return Reader(SCORE_NEEDS, mapping).knows(fields_of(given))
    return False


class _TableRow(dict[str, Any]):
    """A row of a table, whose objects have all keys that any object of their column has."""


def _table(given: Any) -> Callable[[], Iterator[object]] | None:  # noqa: ANN401  as above
    """Return what reads the rows of a table; None if this is no table."""
    if hasattr(given, "iter_rows"):  # polars
        return lambda: map(_TableRow, given.iter_rows(named=True))
    if hasattr(given, "itertuples"):  # pandas
        return partial(_frame_rows, given)
    if hasattr(given, "to_batches"):  # Arrow
        batches = given.to_batches()
        return lambda: (
            _TableRow(plain_fields(row)) for batch in batches for row in batch_rows(batch)
        )
    if hasattr(given, "column_names"):  # datasets
        return lambda: map(_TableRow, given)
    return None


def _frame_rows(frame: Any) -> Iterator[object]:  # noqa: ANN401  as above
    """Yield the rows of a DataFrame; an index with a name is a column."""
    index = [name for name in frame.index.names if name is not None and name not in frame.columns]
    frame = frame.reset_index(level=index) if index else frame
    columns = list(map(str, frame.columns))
    refuse_doubled(columns)
    for row in frame.itertuples(index=False, name=None):
        yield _TableRow(zip(columns, row, strict=True))


class _RowReader:
    """Makes samples of rows, one after the other; a sample stays as it is."""

    def __init__(
        self,
        mapping: Mapped = None,
        needs: Collection[str] = SCORE_NEEDS,
        report: Callable[[str], object] | None = _LOG.info,
    ) -> None:
        self._reader = Reader(needs, mapping, report)
        self._seen = _Seen("in row")
        self._number = 0

    def sample(self, row: object) -> Sample:
        """Return the sample in a row.

        Raises:
            InputError: the row is no sample, or an earlier row has its qid.
        """
        self._number += 1
        if isinstance(row, Sample):
            return row
        try:
            fields = fields_of(row)
            fields = without_nulls(fields) if isinstance(row, _TableRow) else fields
            sample = self._reader.sample(fields, self._number)
            self._seen.add(sample.qid, self._number)
        except InputError as error:
            raise error.at(f"row {self._number}", None) from None
        return sample


def samples_in(given: object, needs: Collection[str]) -> Iterator[Sample]:
    """Yield every sample in what `each` takes, in order; `needs` are the required fields."""
    return map(_RowReader(needs=needs).sample, rows_of(given).read())


async def each(given: object, mapping: Mapped = None) -> AsyncGenerator[Sample]:
    """Yield every sample in what a caller gave, in order.

    What has a length is checked to its end before the first sample is yielded, as a file is. How
    another tool's rows are read is logged.

    Args:
        given: what `rows_of` takes, or an asynchronous iterable of rows.
        mapping: paths by field, as in `judge.inputs.shapes.Reader`.

    Raises:
        InputError: names row and field; a qid of a row is not unique.
    """
    reader = _RowReader(mapping)
    if isinstance(given, AsyncIterable):
        async for row in given:
            yield reader.sample(row)
        return
    rows = rows_of(given, mapping)
    if rows.size is not None:
        made = 0
        for row in rows.read():
            made += reader.sample(row) is not row
            if made and made % _ROWS_BETWEEN_PAUSES == 0:
                await asyncio.sleep(0)
        reader = _RowReader(mapping, report=None)  # the check has logged it
    for row in rows.read():
        yield reader.sample(row)


def sample_of(given: object, number: int, mapping: Mapped) -> Sample:
    """Return the sample in a row or an object; see `Sample.of`."""
    return Reader(SCORE_NEEDS, mapping).sample(fields_of(given), number)


def fields_of(given: object) -> Fields:
    """Return the fields of a row, or of a tool's object; raise InputError if it has none.

    A list that is written as text is read as a list, as in CSV.
    """
    fields = _json_value(given, "")
    if not isinstance(fields, dict):
        what = f"is no row ({type(given).__name__}); one with an answer and its chunks is needed"
        raise InputError(what)
    return table_fields(fields)


def _json_value(value: Any, where: str, depth: int = 0) -> JsonValue:  # noqa: ANN401  as above
    """Return a value as JSON has it; NaN becomes null."""
    if depth > MAX_DEPTH:
        raise InputError(f"is nested over {MAX_DEPTH} deep; flatten it", field=where)
    if isinstance(value, UUID | Decimal):
        value = str(value)
    if type(value).__name__ in _NULL_TYPES:
        value = None
    if value is None or isinstance(value, bool | int | float | str):
        atom: JsonValue = json.loads(json.dumps(value), parse_constant=lambda _: None)
        return atom
    if isinstance(value, Mapping):
        return {str(key): _json_value(each, str(key), depth + 1) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_json_value(each, where, depth + 1) for each in value]
    methods = [getattr(value, name, None) for name in _DUMP_METHODS if not isinstance(value, type)]
    for method in filter(callable, methods):
        return _json_value(method(), where, depth + 1)
    if not is_dataclass(value):
        what = f"is a {type(value).__name__}; give a text, a number, a list or a mapping"
        raise InputError(what, field=where)
    return _json_value(vars(value), where, depth + 1)
