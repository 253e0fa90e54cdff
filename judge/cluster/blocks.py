"""Input of many files, in blocks: each is read, scored and written as one."""

import hashlib
import io
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import IO, Final, cast

from pyarrow import ArrowException
from pyarrow.fs import FileSelector, FileSystem, FileType
from pyarrow.parquet import ParquetFile
from pydantic import JsonValue

from judge.errors import InputError
from judge.files.fields import SCORE_NEEDS
from judge.files.samples import Rejected, read_samples
from judge.files.shapes import Reader
from judge.files.source import Digest
from judge.records import Sample

SIZE: Final = 500
"""Samples of a block: it is part of the names of shards, and so of what can be gone on with."""
_TEXT: Final = (".jsonl", ".ndjson", ".json", ".csv", ".tsv")
_COLUMNS: Final = (".parquet", ".pq")
_ENDINGS: Final = (*_TEXT, *(f"{each}.gz" for each in _TEXT), *_COLUMNS)
_WILD: Final = frozenset("*?[")


class Source:
    """A file wherever Arrow reads: what `read_samples` needs of a path.

    Args:
        address: an absolute path, or `s3://…`.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        self.name = address.rpartition("/")[2]

    def __str__(self) -> str:
        return self.address

    @property
    def has_lines(self) -> bool:
        """Whether it holds lines, and not columns."""
        return not self.name.lower().endswith(_COLUMNS)

    def open(self, _: str = "rb") -> IO[bytes]:
        """Its bytes; OSError where there are none to be had."""
        if "://" not in self.address:
            return Path(self.address).open("rb")
        system, path = FileSystem.from_uri(self.address)
        return io.BufferedReader(cast("io.RawIOBase", system.open_input_file(path)))


def sources(given: str) -> list[Source]:
    """The files that a name means: one, those of a folder, those of a pattern; `s3://`, too.

    Raises:
        InputError: there are none.
    """
    whole = given if "://" in given else str(Path(given).absolute())
    parts = whole.split("/")
    try:
        system, path = FileSystem.from_uri(whole)
        begin, pattern = whole.removesuffix(path), ""
        found = system.get_file_info(path)
        if found.type is FileType.NotFound and _WILD.intersection(whole):
            fixed = next(i for i, part in enumerate(parts) if _WILD.intersection(part))
            pattern, path = path, "/".join(parts[:fixed]).removeprefix(begin)
            found = system.get_file_info(path)
        if found.type is FileType.File:
            return [Source(whole)]
        if found.type is FileType.NotFound:
            raise InputError("no such file or folder; check the path", path=given)
        every = system.get_file_info(FileSelector(path, recursive=True))
    except (OSError, ArrowException) as error:
        raise InputError(f"cannot be read: {error}; check it", path=given) from None
    names = sorted(each.path for each in every if each.type is FileType.File)
    names = [each for each in names if _is_meant(each, pattern)]
    if not names:
        kinds = "" if pattern else f" that ends in {', '.join(_ENDINGS)}"
        raise InputError(f"no file there{kinds}; check the name", path=given)
    return [Source(begin + each) for each in names]


def _is_meant(path: str, pattern: str) -> bool:
    parts, wanted = path.split("/"), pattern.split("/")
    if pattern:  # as a shell does: a star stands for no slash
        return len(parts) == len(wanted) and all(map(fnmatchcase, parts, wanted))
    return not parts[-1].startswith((".", "_")) and path.lower().endswith(_ENDINGS)


@dataclass
class Block:
    """Samples that stand behind each other in a file, and the bad lines between them."""

    file: int
    """The number of the file among those of the input."""
    number: int
    """Its number within the file."""
    samples: list[Sample] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Of its files, which sort into input order; of another content it is another."""
        digest = hashlib.sha256()
        for sample in self.samples:
            digest.update(sample.model_dump_json().encode() + b"\n")
        return f"{self.file:06}-{self.number:06}-{digest.hexdigest()[:16]}"


def blocks(
    source: Source,
    file: int,
    *,
    max_line: float,
    skip: bool,
    named: bool,
    digest: Digest | None = None,
    mapping: Mapping[str, str] | None = None,
) -> Iterator[Block]:
    """The blocks of a file.

    Args:
        source: the file.
        file: its number.
        max_line: as of `read_samples`, which raises what this does.
        skip: set bad lines aside.
        named: whether each row must have a qid, for line numbers are no names among many files.
        digest: as of `read_samples`.
        mapping: likewise.
    """
    needs = SCORE_NEEDS | {"qid"} if named else SCORE_NEEDS
    block = Block(file, 0)

    def set_aside(bad: Rejected) -> None:
        block.rejected.append(bad)

    on_bad = set_aside if skip else None
    if source.has_lines:
        samples = read_samples(
            cast("Path", source),
            needs=needs,
            on_bad=on_bad,
            digest=digest,
            max_line=max_line,
            unique=False,
            mapping=mapping,
        )
    else:
        samples = _of_columns(source, Reader(needs, mapping), on_bad)
    for sample in samples:
        if len(block.samples) == SIZE:
            yield block
            block = Block(file, block.number + 1)
        block.samples.append(sample)
    yield block


def _of_columns(
    source: Source, reader: Reader, on_bad: Callable[[Rejected], None] | None
) -> Iterator[Sample]:
    number = 0
    try:
        with source.open() as stream:
            for batch in ParquetFile(stream).iter_batches(SIZE):
                for row in batch.to_pylist():
                    number += 1
                    try:
                        yield sample_of(row, number, reader)
                    except InputError as found:
                        error = found.at(str(source), number)
                        if on_bad is None:
                            raise error from None
                        on_bad(Rejected(number, json.dumps(_plain(row)), error))
    except (OSError, ArrowException) as error:
        raise InputError(f"is no sound Parquet file ({error})", path=str(source)) from None


def sample_of(row: dict[str, object], number: int, reader: Reader) -> Sample:
    """The sample in a row of columns; errors as of `Reader`."""
    return reader.sample(_plain(row), number)


def _plain(row: dict[str, object]) -> dict[str, JsonValue]:
    """A row as JSON would hold it: dates and the like as text, and no field that is null."""
    plain: dict[str, JsonValue] = json.loads(json.dumps(row, default=str))
    return {key: _filled(value) for key, value in plain.items()}


def _filled(value: JsonValue) -> JsonValue:
    """Without nulls: columns give each object all keys that any of them has."""
    if isinstance(value, dict):
        return {key: _filled(each) for key, each in value.items() if each is not None}
    return [_filled(each) for each in value] if isinstance(value, list) else value
