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
from contextlib import contextmanager
from functools import partial
from hashlib import blake2b
from os import PathLike
from random import Random
from typing import Any, Final, NamedTuple

from judge.errors import InputError
from judge.inputs.fields import SCORE_NEEDS, Fields, RowReader
from judge.inputs.files import InputFile, InputName, hash_of, input_files, input_name, readable
from judge.inputs.rows import FORMS, batch_rows, json_object, json_text, read_rows, table_fields
from judge.records import Sample
from judge.records.run import RunInput
from judge.text.visible import visible

Samples = Iterable[Sample] | AsyncIterable[Sample]
Mapped = Mapping[str, str] | None
"""Paths by field, as in `judge.inputs.fields.RowReader`."""
_LOG: Final = logging.getLogger("judge")


class Rejected(NamedTuple):
    """A line that is no sample."""

    line: int
    text: str
    error: InputError

    def as_json(self) -> str:
        """Return the line of `rejected.jsonl`."""
        # The name of a file need not be text.
        problem = str(self.error).encode(errors="replace").decode()
        entry = {"line": self.line, "error": problem, "text": self.text.rstrip("\r\n")}
        return json.dumps(entry, ensure_ascii=False) + "\n"


class Checked(NamedTuple):
    """The result of reading a whole input."""

    samples: int
    rejected: int
    sha256: str
    """The hash of the bytes of all files."""


def read_samples(
    path: InputName,
    *,
    needs: Collection[str] = SCORE_NEEDS,
    on_bad: Callable[[Rejected], None] | None = None,
    check: Callable[[Sample], object] | None = None,
    is_part: bool = False,
    mapping: Mapped = None,
    report: Callable[[str], object] | None = None,
) -> Iterator[Sample]:
    """Yield the samples of an input one at a time; memory does not grow with the file.

    Args:
        path: a file, a folder, a pattern or an address. If it means several files, each row must
            have a qid, because line numbers are not unique.
        needs: fields that must be present; an empty answer or an empty chunk list is present.
        on_bad: called with each bad line, which is then left out; without it a bad line raises.
        check: may raise `InputError` to declare a sample's line a bad one.
        is_part: this is one of several files, which may be empty or repeat a qid.
        mapping: paths by field, as in `judge.inputs.fields.RowReader`.
        report: called with each remark on how the input is read.

    Raises:
        ConfigError: the mapping is wrong, or the library that reads the file is not installed.
        InputError: names file, line, field and value.
    """
    files = input_files(path)
    many = len(files) > 1
    reader = RowReader(frozenset(needs) | {"qid"} if many else needs, mapping, report)
    seen, is_empty = _SeenIds(), True
    rows = ((each, row) for each in files for row in read_rows(each, report))
    for file, row in rows:
        is_empty = False
        try:
            sample = reader.sample(row.read(), row.line)
            if check is not None:
                check(sample)
            if not is_part:
                seen.add(sample.qid, row.line, file if many else None)
        except InputError as problem:
            error = problem.at(str(file), row.line)
            if on_bad is None:
                raise error from None
            on_bad(Rejected(row.line, row.text, error))
        else:
            yield sample
    if is_empty and not is_part:
        raise InputError(f"holds no sample; {FORMS}", path=str(path))


def check_samples(
    path: InputName,
    *,
    on_bad: Callable[[Rejected], None] | None = None,
    mapping: Mapped = None,
) -> Checked:
    """Read a whole input once; return its counts and its hash. All lines bad is an error."""
    rejected = 0
    first: InputError | None = None
    sha256 = hash_of(path)  # first, so that the caller notices any later change

    def count(line: Rejected) -> None:
        nonlocal rejected, first
        rejected += 1
        first = first or line.error
        if on_bad is not None:
            on_bad(line)

    read = read_samples(path, on_bad=on_bad and count, mapping=mapping, report=_LOG.info)
    samples = sum(1 for _ in read)
    if not samples and first is not None:
        what = f"{first.problem}; and no other line is a sample"
        raise InputError(what, path=first.path, line=first.line, field=first.field)
    return Checked(samples, rejected, sha256)


def draw_samples(samples: Iterator[Sample], made_from: RunInput, seed: int) -> Iterator[Sample]:
    """Yield the samples that a run with a limit scores, in the order of the file.

    They are the first of a shuffle, so that a greater limit draws the same ones and more.
    """
    if made_from.drawn_from is None:
        yield from samples
        return
    order = list(range(made_from.drawn_from))
    Random(seed).shuffle(order)  # noqa: S311  it is to be drawn again
    chosen = set(order[: made_from.samples])
    yield from (sample for number, sample in enumerate(samples) if number in chosen)


class Source:
    """An input, or `-`, whose bad lines raise, or are reported on standard error and left out."""

    def __init__(
        self,
        name: str,
        needs: Collection[str],
        *,
        skip_bad_lines: bool,
        check: Callable[[Sample], None] | None = None,
    ) -> None:
        self.rejected = 0
        self._name = name
        on_bad = self._reject if skip_bad_lines else None
        self._read = partial(
            read_samples, needs=needs, on_bad=on_bad, check=check, report=_LOG.info
        )

    @contextmanager
    def samples(self) -> Iterator[Iterator[Sample]]:
        """Yield the samples; an InputError of the caller's block names the source, too."""
        try:
            with readable(self._name) as path:
                yield self._read(path)
        except InputError as error:
            raise error.at(error.path or input_name(self._name), error.line) from None

    def _reject(self, line: Rejected) -> None:
        self.rejected += 1
        # Not logged, because the message holds texts.
        sys.stderr.write(visible(f"judge: left out: {line.error}") + "\n")


class _SeenIds:
    """The places of the qids so far, by digests of 128 bits; a million of them take 130 MB."""

    def __init__(self) -> None:
        self._places: dict[int, int | tuple[int, InputFile]] = {}

    def add(self, qid: str, line: int, file: InputFile | None = None) -> None:
        """Add a qid with its line, and the file of several; raise InputError if it is there."""
        digest = int.from_bytes(blake2b(qid.encode(), digest_size=16).digest())
        if place := self._places.get(digest):
            where = place if isinstance(place, int) else " of ".join(map(str, place))
            raise InputError(f"{qid!r} is already in row {where}; make it unique", field="qid")
        self._places[digest] = (line, file) if file else line


# Rows and objects in memory


def rows_of(value: Any) -> Iterable[object]:  # noqa: ANN401  each tool has its own
    """Return the rows in what a caller passed: a row, several, or a table."""
    if isinstance(value, str | bytes | PathLike):
        what = f"is a {type(value).__name__}; a file is read by judge.read_samples(path)"
        raise InputError(what, field="samples")
    if hasattr(value, "iter_rows"):  # polars
        return list(map(table_fields, value.iter_rows(named=True)))
    if hasattr(value, "itertuples"):  # pandas, where an index with a name is a column
        index = [name for name in value.index.names if name and name not in value.columns]
        frame = value.reset_index(level=index) if index else value
        return list(map(table_fields, frame.to_dict("records")))
    if hasattr(value, "to_batches"):  # Arrow
        return [table_fields(row) for batch in value.to_batches() for row in batch_rows(batch)]
    is_row = isinstance(value, Sample | Mapping) or not isinstance(value, Iterable)
    is_table = hasattr(value, "column_names")  # datasets
    holds_row = hasattr(value, "model_dump") or hasattr(value, "to_dict")
    return [value] if is_row or (holds_row and not is_table) else value


class _MemoryReader:
    """Makes samples of rows in memory, one after the other; a sample stays as it is."""

    def __init__(
        self,
        mapping: Mapped = None,
        needs: Collection[str] = SCORE_NEEDS,
        report: Callable[[str], object] | None = _LOG.info,
    ) -> None:
        self._reader = RowReader(needs, mapping, report)
        self._seen = _SeenIds()
        self._number = 0

    def sample(self, row: object) -> Sample:
        """Return the sample in a row; raise InputError if the row is no sample or repeats a qid."""
        self._number += 1
        if isinstance(row, Sample):
            return row
        try:
            sample = self._reader.sample(fields_of(row), self._number)
            self._seen.add(sample.qid, self._number)
        except InputError as error:
            raise error.at(f"row {self._number}", None) from None
        return sample


def samples_in(value: object, needs: Collection[str]) -> Iterator[Sample]:
    """Yield every sample in what `each` takes, in order; `needs` are the required fields."""
    return map(_MemoryReader(needs=needs).sample, rows_of(value))


async def each(value: object, mapping: Mapped = None) -> AsyncGenerator[Sample]:
    """Yield every sample in what a caller passed, also an asynchronous iterable, in order.

    What has a length is checked to its end before the first sample is yielded, as a file is. How
    another tool's rows are read is logged. An InputError names row and field.
    """
    reader = _MemoryReader(mapping)
    if isinstance(value, AsyncIterable):
        async for row in value:
            yield reader.sample(row)
        return
    rows = rows_of(value)
    unread = 0
    if isinstance(rows, Sized):
        unread = await asyncio.to_thread(lambda: sum(1 for _ in map(reader.sample, rows)))
        reader = _MemoryReader(mapping, report=None)  # the check has logged it
    for row in rows:
        unread -= 1
        yield reader.sample(row)
    if unread > 0:
        raise InputError(
            "has a length, and can be iterated only once; pass a list", field="samples"
        )


def sample_of(value: object, number: int, mapping: Mapped) -> Sample:
    """Return the sample in a row or an object; see `Sample.of`."""
    return RowReader(SCORE_NEEDS, mapping).sample(fields_of(value), number)


def fields_of(value: object) -> Fields:
    """Return the fields of a row, or of a tool's object; raise InputError if it has none."""
    try:
        return json_object(json_text(value))
    except InputError as error:
        what = f"is no row ({type(value).__name__}); one with an answer and its chunks is needed"
        raise InputError(f"{what}: {error.problem}") from None
