"""Input of many files, in blocks: each is read, scored and written as one."""

import hashlib
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path
from typing import IO, Final, cast
from urllib.parse import quote, unquote, urlsplit

from pyarrow import ArrowException
from pyarrow.fs import FileSelector, FileSystem, FileType

from judge.errors import InputError
from judge.inputs.fields import SCORE_NEEDS
from judge.inputs.inputs import COLUMNS, WILD, input_files, meant, none_in
from judge.inputs.samples import Rejected, read_samples
from judge.inputs.source import Digest
from judge.records import Sample

SIZE: Final = 500
"""Samples of a block: it is part of the names of shards, and so of what can be gone on with."""
_TASK: Final = 16 << 20
"""Bytes that one process reads: in the time that another takes to start."""
_PIECE: Final = 4 << 20
"""Bytes in one request to an object store."""
_OPTIONS: Final = re.compile(r"\?(?=\w+=)")
"""What begins options of an address; any other question mark stands for a character."""
_MEANT: Final = "%/:@!$&'()*+,;=~?"
"""Characters that an address has for itself."""


class Source:
    """A file wherever Arrow reads: what `read_samples` needs of a path.

    Args:
        address: an absolute path, or an address such as `s3://…`, its odd characters escaped.
        size: in bytes, where known.
    """

    def __init__(self, address: str, size: int | None = None) -> None:
        self.address, self.size = address, size
        self.name = str(self).rpartition("/")[2]

    def __str__(self) -> str:
        return unquote(shown(self.address)) if "://" in self.address else self.address

    @property
    def has_lines(self) -> bool:
        """Whether it holds lines, and not columns."""
        return not self.name.lower().endswith(COLUMNS)

    def open(self, _: str = "rb") -> IO[bytes]:
        """Its bytes; OSError where there are none to be had."""
        if "://" not in self.address:
            return Path(self.address).open("rb")
        system, path = FileSystem.from_uri(self.address)
        return io.BufferedReader(cast("io.RawIOBase", system.open_input_file(path)), _PIECE)


def sources(given: str) -> list[Source]:
    """The files that a name means: one, those of a folder, those of a pattern; `s3://`, too.

    Raises:
        InputError: there are none.
    """
    if "://" not in given:
        return [Source(str(each), _size(each)) for each in input_files(Path(given).absolute())]
    address = quote(given, _MEANT) if _OPTIONS.search(given) else quote(given, _MEANT[:-1])
    if "@" in urlsplit(address).netloc and urlsplit(address).password:
        raise InputError("an address with keys in it is not taken; set them in the environment")
    plain, mark, options = address.partition("?")
    try:
        system, path = FileSystem.from_uri(address)
        begin, pattern = unquote(plain).rstrip("/").removesuffix(path.rstrip("/")), ""
        found = system.get_file_info(path)
        if found.type is FileType.NotFound and not WILD.isdisjoint(path):
            parts = path.split("/")
            fixed = next(i for i, part in enumerate(parts) if not WILD.isdisjoint(part))
            pattern, path = path, "/".join(parts[:fixed])
            found = system.get_file_info(path)
        if found.type is FileType.File:
            return [Source(address, found.size)]
        if found.type is FileType.NotFound:
            raise InputError("no such file or folder; check the path", path=shown(given))
        every = system.get_file_info(FileSelector(path, recursive=True))
    except (OSError, ArrowException) as error:
        raise InputError(f"cannot be read: {error}; check it", path=shown(given)) from None
    sizes = {each.path: each.size for each in every if each.type is FileType.File}
    names = meant(sizes, pattern)
    if not names:
        raise none_in(shown(given), folder=not pattern)
    return [Source(f"{begin}{quote(each)}{mark}{options}", sizes[each]) for each in names]


def shown(address: str) -> str:
    """An address without its options, which may be nobody else's to read."""
    return _OPTIONS.split(address, maxsplit=1)[0]


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except (OSError, ValueError):  # whoever reads it says why
        return None


def tasks(files: Sequence[Source]) -> int:
    """How many tasks shall read these: many small files are one's, for each costs a process."""
    total = sum(_TASK if each.size is None else each.size for each in files)
    return max(1, min(len(files), ceil(total / _TASK)))


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

    samples = read_samples(
        cast("Path", source),
        needs=needs,
        on_bad=set_aside if skip else None,
        digest=digest,
        max_line=max_line,
        unique=False,
        mapping=mapping,
    )
    for sample in samples:
        if len(block.samples) == SIZE:
            yield block
            block = Block(file, block.number + 1)
        block.samples.append(sample)
    yield block
