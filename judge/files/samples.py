"""Samples, read one at a time from JSON lines or CSV, and the check of a whole file."""

import hashlib
import logging
import sqlite3
import sys
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
)
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

from judge.errors import InputError, RunError
from judge.files.fields import SCORE_NEEDS
from judge.files.rows import FORMS, rows
from judge.files.shapes import Reader
from judge.files.source import (
    MAX_LINE,
    Digest,
    open_source,
    placed,
    readable,
    spoken,
)
from judge.records import Sample
from judge.records.run import RunInput
from judge.text.visible import visible

_LOG: Final = logging.getLogger("judge")

Samples = Iterable[Sample] | AsyncIterable[Sample]


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


def read_samples(  # noqa: PLR0913  each is a choice of a caller's
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
            the first line does; UTF-8 with or without BOM, plain or gzip.
        needs: fields that must be present; an empty answer or an empty chunk list is present.
        on_bad: called with each bad line, which is then left out. Without it a bad line raises.
        digest: is fed the bytes of the file as they are read, compressed or not.
        check: raises `InputError` for a sample that is of no use: its line is a bad one.
        max_line: MB that a line, or a record of a CSV, may have; a longer one is a bad one, and is
            not read whole.
        unique: whether a qid that stood already makes a line a bad one.
        mapping: paths by field, as `judge.files.shapes.Reader` has them.
        told: is given what another tool's rows are read as.

    Raises:
        ConfigError: the mapping is none.
        InputError: names file, line, field and value.
    """
    path = Path(path) if isinstance(path, str) else path
    reader = Reader(needs, mapping, told)
    with closing(_Seen()) as seen, open_source(path, digest) as stream:
        for row in rows(stream, path, max_line):
            try:
                if isinstance(row.fields, InputError):
                    raise row.fields
                sample = reader.sample(row.fields, row.line)
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
        self._last = 0
        self._said: set[str] = set()
        self._source = name
        on_bad = self._tell if skip_bad_lines else None
        self._read = partial(
            read_samples,
            needs=needs,
            on_bad=on_bad,
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
            yield partial(self._read, path)

    def _say(self, read_as: str) -> None:
        if read_as not in self._said:
            self._said.add(read_as)
            _LOG.info(read_as)

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
