"""Samples, read one at a time from files of any form, and the check of them all."""

import hashlib
import logging
import sqlite3
import sys
from collections.abc import (
    Callable,
    Collection,
    Iterator,
    Mapping,
)
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

from judge.errors import InputError, RunError
from judge.inputs.columns import TABLES, column_rows
from judge.inputs.fields import SCORE_NEEDS
from judge.inputs.inputs import input_files
from judge.inputs.rows import FORMS, Row, row_of, rows, wrapped
from judge.inputs.shapes import Reader
from judge.inputs.source import (
    MAX_LINE,
    PEEK,
    Digest,
    named,
    open_source,
    placed,
    readable,
    spoken,
)
from judge.records import Sample
from judge.records.run import RunInput
from judge.text.visible import visible

_LOG: Final = logging.getLogger("judge")

_Placed = tuple[Path, Row]


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


def read_samples(
    path: str | Path,
    *,
    needs: Collection[str] = SCORE_NEEDS,
    on_bad: Callable[[Rejected], None] | None = None,
    digest: Digest | None = None,
    check: Callable[[Sample], None] | None = None,
    max_line: float = MAX_LINE,
    unique: bool = True,
    mapping: Mapping[str, str] | None = None,
    told: Callable[[str], object] | None = None,
) -> Iterator[Sample]:
    """Read samples one at a time; memory does not grow with the file.

    Args:
        path: JSONL or CSV, as the name says (`.jsonl`, `.ndjson`, `.json`; `.csv`, `.tsv`), else as
            the first line does; UTF-8 with or without BOM, plain, gzip or zstd. Or Parquet, Arrow
            or XLSX, as the first bytes say. Of a folder or a pattern all files, as one, whose rows
            must then have a qid, for lines of several files are no names.
        needs: fields that must be present; an empty answer or an empty chunk list is present.
        on_bad: called with each bad line, which is then left out. Without it a bad line raises.
        digest: is fed the bytes of the file as they are read, compressed or not.
        check: raises `InputError` for a sample that is of no use: its line is a bad one.
        max_line: MB that a line, or a record of a CSV, may have; a longer one is a bad one, and is
            not read whole.
        unique: whether a qid that stood already makes a line a bad one.
        mapping: paths by field, as `judge.inputs.shapes.Reader` has them.
        told: is given what another tool's rows are read as.

    Raises:
        ConfigError: the mapping is none.
        InputError: names file, line, field and value.
    """
    files = input_files(Path(path)) if isinstance(path, str | Path) else [path]
    many = len(files) > 1
    reader = Reader(frozenset(needs) | {"qid"} if many else needs, mapping, told)
    with closing(Seen("on line")) as seen:
        for file, row in _rows(files, digest, max_line, reader):
            try:
                if isinstance(row.fields, InputError):
                    raise row.fields
                sample = reader.sample(row.fields, row.line)
                if check is not None:
                    check(sample)
                if unique:
                    seen.add(sample.qid, f"{row.line} of {file}" if many else row.line)
            except InputError as found:
                error = found.at(str(file), row.line)
                if on_bad is None:
                    raise error from None
                on_bad(Rejected(row.line, row.text, error))
            else:
                yield sample


def _rows(
    files: list[Path], digest: Digest | None, max_line: float, reader: Reader
) -> Iterator[_Placed]:
    for file in files:
        number = 0
        with open_source(file, digest, TABLES) as stream:
            table = stream.peek(PEEK).startswith(TABLES)
            for row in (column_rows if table else rows)(stream, file, max_line):
                whole = {} if isinstance(row.fields, InputError) else row.fields
                inner = wrapped(whole)
                if not inner or reader.knows(whole):
                    yield file, row
                    continue
                for fields in inner:
                    number = max(number + 1, row.line)
                    yield file, row_of(number, fields)


def check_samples(
    path: str | Path,
    *,
    on_bad: Callable[[Rejected], None] | None = None,
    max_line: float = MAX_LINE,
    mapping: Mapping[str, str] | None = None,
) -> Checked:
    """Read the whole file once and keep nothing but counts and its hash. Arguments as above.

    What another tool's rows are read as is logged.

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

    read = read_samples(
        path,
        on_bad=on_bad and count,
        digest=digest,
        max_line=max_line,
        mapping=mapping,
        told=_LOG.info,
    )
    samples = sum(1 for _ in read)
    if not samples:
        if first is None:
            message = f"holds no sample; {FORMS}"
            raise InputError(message, path=str(path))
        what = "the only line is bad" if rejected == 1 else f"all {rejected} lines are bad"
        field = f", field {first.field!r}" if first.field else ""
        message = f"{what}; the first: line {first.line}{field}: {first.problem}"
        raise InputError(message, path=str(path))
    return Checked(samples, rejected, digest.hexdigest())


def drawn(samples: Iterator[Sample], made_from: RunInput, seed: int) -> Iterator[Sample]:
    """Those that a run is of: the first so many of a shuffle, in the order of the file.

    A greater number draws the same ones, and more. All are read, to the last.
    """
    if made_from.drawn_from is None:
        yield from samples
        return
    order = list(range(made_from.drawn_from))
    Random(seed).shuffle(order)  # noqa: S311  it is to be drawn again
    chosen = set(order[: made_from.samples])
    for number, sample in enumerate(samples):
        if number in chosen:
            yield sample


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
        self._said: set[str] = set()
        self._source = name
        self._skip = skip_bad_lines
        self._read = partial(
            read_samples,
            needs=needs,
            check=check,
            max_line=max_line,
            unique=unique,
            told=self._say,
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
            yield lambda: self._read(path, on_bad=self._teller() if self._skip else None)

    def _say(self, read_as: str) -> None:
        if read_as not in self._said:
            self._said.add(read_as)
            _LOG.info(read_as)

    def _teller(self) -> Callable[[Rejected], None]:
        """Tells of the bad lines of one reading that an earlier one has not told."""
        found = 0

        def tell(line: Rejected) -> None:
            nonlocal found
            found += 1
            if found <= self.rejected:
                return
            self.rejected = found
            # No log: it would hold texts, and logs hold names.
            error = named(line.error, self.name)
            sys.stderr.write(visible(f"judge: left out: {error}") + "\n")

        return tell


class Seen:
    """The qids so far, in a private database on disk: a set of them would grow with the file.

    Args:
        where: `on line` or `in row`, before the number of one.
    """

    def __init__(self, where: str) -> None:
        self._where = where
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

    def add(self, qid: str, line: int | str) -> None:
        """Take in one more; InputError where it stood already."""
        try:
            self._database.execute("INSERT INTO seen VALUES (?, ?)", (qid, line))
        except sqlite3.IntegrityError:
            found = self._database.execute("SELECT line FROM seen WHERE qid = ?", (qid,))
            place = f"{self._where} {found.fetchone()[0]}"
            message = f"{qid!r} stands already {place}; make each qid unique"
            raise InputError(message, field="qid") from None
        except sqlite3.OperationalError as error:
            message = f"temporary files cannot be written ({error}); "
            raise RunError(message + "free some room, or name another folder in TMPDIR") from None
