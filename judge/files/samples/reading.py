"""Samples from a file, one at a time; and the check of a whole file before anything is paid for."""

import hashlib
import sqlite3
from collections.abc import Callable, Collection, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Final

from judge.errors import InputError
from judge.files.samples.fields import sample_from
from judge.files.samples.rows import Row, csv_rows, jsonl_rows
from judge.files.samples.source import Digest, open_source, text_lines
from judge.records import Sample

SCORE_NEEDS: Final = frozenset({"answer", "chunks"})
"""What a sample must have to be scored."""

_Check = Callable[[Sample], None]


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


def read_samples(
    path: str | Path,
    *,
    needs: Collection[str] = SCORE_NEEDS,
    on_bad: Callable[[Rejected], None] | None = None,
    digest: Digest | None = None,
    check: _Check | None = None,
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
                sample = _sample(row, path, needs, check)
                seen.add(sample.qid, row.line, path)
            except InputError as error:
                if on_bad is None:
                    raise
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


def _sample(row: Row, path: Path, needs: Collection[str], check: _Check | None) -> Sample:
    if isinstance(row.fields, InputError):
        raise row.fields
    try:
        sample = sample_from(row.fields, line=row.line, needs=needs)
        if check is not None:
            check(sample)
    except InputError as error:
        raise error.at(str(path), row.line) from None
    return sample


class _Seen:
    """The qids so far, in a private database on disk: a set of them would grow with the file."""

    def __init__(self) -> None:
        # One thread at a time reads a generator, but it need not be the thread that began.
        self._database = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self._database.execute("PRAGMA synchronous = OFF")
        self._database.execute("PRAGMA journal_mode = OFF")
        self._database.execute("CREATE TABLE seen (qid TEXT PRIMARY KEY, line) WITHOUT ROWID")
        self._database.execute("BEGIN")

    def add(self, qid: str, line: int, path: Path) -> None:
        try:
            self._database.execute("INSERT INTO seen VALUES (?, ?)", (qid, line))
        except sqlite3.IntegrityError:
            found = self._database.execute("SELECT line FROM seen WHERE qid = ?", (qid,))
            message = f"{qid!r} stands already on line {found.fetchone()[0]}; make each qid unique"
            raise InputError(message, path=str(path), line=line, field="qid") from None

    def close(self) -> None:
        self._database.close()
