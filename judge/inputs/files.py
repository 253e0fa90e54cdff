"""The files that the name of an input means, and their text."""

import gzip
import hashlib
import io
import os
import re
import shutil
import sys
import tempfile
import zlib
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from glob import iglob
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, NamedTuple, cast
from urllib.parse import quote, unquote, urlsplit

from judge.errors import ConfigError, InputError, RunError, extra

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

PIPED: Final = "-"
"""The name of standard input."""
STDIN: Final = "standard input"
"""The name of standard input in messages."""
MAX_LINE: Final = 64_000_000
"""The most bytes of a line, and characters of a CSV cell; more are not held in memory."""
PEEK: Final = 4096
"""Bytes that tell the format of a file."""
_TEXT_ENDINGS: Final = (".jsonl", ".ndjson", ".json", ".csv", ".tsv")
COLUMN_ENDINGS: Final = (".parquet", ".pq", ".arrow", ".feather")
_PACKED_ENDINGS: Final = tuple(f"{each}.gz" for each in _TEXT_ENDINGS)
_ENDINGS: Final = (*_TEXT_ENDINGS, *_PACKED_ENDINGS, *COLUMN_ENDINGS, ".xlsx")
_WILDCARDS: Final = frozenset("*?[")
_GZIP: Final = b"\x1f\x8b"
_UTF16: Final = (b"\xff\xfe", b"\xfe\xff")
CHINESE: Final = "gb18030"
"""The encoding of a CSV that Excel and WPS save where Windows speaks Chinese."""
_REMOTE_PIECE: Final = 4 << 20
"""Bytes of one request to an object store."""


# Names


class InputFile(NamedTuple):
    """A file on this machine, or at an address that Arrow reads, such as `s3://bucket/key`."""

    address: str
    """A path, or an address whose special characters are escaped."""
    alias: str = ""
    """What messages call the file, if it is a copy of something else, such as standard input."""

    def __str__(self) -> str:
        name = unquote(self.address) if is_address(self.address) else self.address
        return self.alias or name

    @property
    def name(self) -> str:
        """The last part of its name."""
        return str(self).rpartition("/")[2]

    def open(self) -> io.BufferedReader:
        """Return its bytes; raise OSError if it cannot be read."""
        if not is_address(self.address):
            try:
                return Path(self.address).open("rb")
            except ValueError as error:  # a NUL in the path
                raise OSError(0, str(error)) from None
        system, path = _file_system(self.address)
        raw = cast("io.RawIOBase", system.open_input_file(path))
        return io.BufferedReader(raw, _REMOTE_PIECE)


def _file_system(address: str) -> tuple["FileSystem", str]:
    """Return Arrow's file system of an address, and the path within it."""
    with extra("data", address.partition(":")[0]):
        from pyarrow import ArrowException  # noqa: PLC0415  an extra, and slow to load
        from pyarrow.fs import FileSystem  # noqa: PLC0415
    try:
        system, path = FileSystem.from_uri(address)
    except ArrowException as error:
        raise OSError(0, str(error)) from None
    return system, path


InputName = str | Path | InputFile
"""The name of an input: a file, a folder, a pattern or an address; or one file."""


def is_address(name: str | Path) -> bool:
    """Return whether a name is an address such as `s3://bucket/key`, and no path."""
    return "://" in str(name)


def input_files(name: InputName) -> list[InputFile]:
    """Return the files that a name means, in the order in which they are read.

    A folder means the files below it whose names end as samples do. Hidden files and those that
    begin with `_` are left out. A pattern means the files that match it.

    Raises:
        InputError: there is no such file.
    """
    if isinstance(name, InputFile):
        return [name]
    path, is_pattern = Path(name), not _WILDCARDS.isdisjoint(str(name))
    if is_address(name):
        found = _remote_files(str(name))
    elif os.path.isdir(path):  # noqa: PTH112  False where no file can have such a name
        found = [str(each) for each in path.rglob("*") if each.is_file() and _is_read(str(each))]
    elif is_pattern and not os.path.exists(path):  # noqa: PTH110  as above
        every = iglob(str(path), recursive=True)  # noqa: PTH207  as a shell does: no hidden files
        found = [each for each in every if Path(each).is_file()]
    else:
        return [InputFile(str(path))]
    if not found:
        kinds = "" if is_pattern else f" that ends in {', '.join(_ENDINGS)}"
        raise InputError(f"no file there{kinds}; check the name", path=str(name))
    return list(map(InputFile, sorted(found)))


def _remote_files(name: str) -> list[str]:
    """Return the addresses of a file, or of the files below a folder of an object store."""
    parts = urlsplit(name)
    if parts.password or "=" in parts.query:
        raise InputError(
            "an address with keys or options in it is not read; set them in the environment"
        )
    address = quote(name, "%/:@!$&'()*+,;=~")
    try:
        system, path = _file_system(address)
        from pyarrow.fs import FileSelector, FileType  # noqa: PLC0415  an extra, and slow to load

        found = system.get_file_info(path)
        if found.type is FileType.File:
            return [address]
        if found.type is FileType.NotFound:
            raise InputError("no such file or folder; check the path", path=name)
        every = system.get_file_info(FileSelector(path, recursive=True))
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", "") or str(error)).partition("\n")[0]
        step = "check the address, or download the file and name its path"
        raise InputError(f"cannot be read: {reason}; {step}", path=name) from None
    begin = unquote(address).rstrip("/").removesuffix(path.rstrip("/"))
    is_file = FileType.File
    return [begin + quote(e.path) for e in every if e.type is is_file and _is_read(e.path)]


def _is_read(path: str) -> bool:
    name = path.rpartition("/")[2].lower()
    return not name.startswith((".", "_")) and name.endswith(_ENDINGS)


def run_name(name: str) -> str:
    """Return the default name of a run folder for an input's name.

    >>> run_name("night.jsonl.gz"), run_name("part-*.csv"), run_name(".jsonl")
    ('night', 'part', 'run')
    """
    name = re.sub(rf"({'|'.join(map(re.escape, _ENDINGS))})$", "", name)
    # `..` would name the folder above.
    return re.sub(r"[*?\[\]]+", "", name).strip("-_.") or "run"


def input_name(name: str) -> str:
    """Return what messages call an input."""
    return STDIN if name == PIPED else name


def standard_input() -> IO[bytes]:
    """Return standard input; raise ConfigError if it is closed."""
    if sys.stdin is None:
        raise ConfigError("standard input is closed; pipe the samples in, or name a file")
    return sys.stdin.buffer


@contextmanager
def readable(name: str) -> Iterator[InputName]:
    """Yield an input that can be read again; standard input is copied first."""
    if not name:  # a script's unset variable would mean the current folder
        raise ConfigError("the name of a file is empty; name a path, or - for standard input")
    if name != PIPED:
        yield name
        return
    with tempfile.NamedTemporaryFile() as copy:
        try:
            shutil.copyfileobj(standard_input(), copy)
            copy.flush()
        except OSError as error:
            message = f"{STDIN}: cannot be copied ({error.strerror})"
            raise RunError(f"{message}; save it to a file and name that") from None
        yield InputFile(copy.name, STDIN)


# Bytes and text


def hash_of(name: InputName) -> str:
    """Return the SHA-256 of an input: of a file's bytes, or of several files' hashes in order."""
    return hash_of_hashes(list(map(hash_of_file, input_files(name))))


def hash_of_file(file: InputFile) -> str:
    """Return the SHA-256 of a file's bytes; the errors are those of `hash_of`."""
    with open_raw(file) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def hash_of_hashes(hashes: list[str]) -> str:
    """Return the hash of an input whose files have these hashes, in order."""
    return hashes[0] if len(hashes) == 1 else hashlib.sha256("".join(hashes).encode()).hexdigest()


@contextmanager
def open_raw(file: InputFile) -> Iterator[io.BufferedReader]:
    """Yield a file's bytes; raise InputError if they cannot be opened or read twice."""
    try:
        with file.open() as raw:
            if not raw.seekable():
                step = "name - and pipe into standard input"
                what = f"is a pipe, and the samples are read twice; {step}"
                raise InputError(what, path=str(file))
            yield raw
    except FileNotFoundError:
        raise InputError("no such file; check the path", path=str(file)) from None
    except OSError as error:
        reason = f"cannot be read: {error.strerror or error}; check the path and its rights"
        raise InputError(reason, path=str(file)) from None


@contextmanager
def open_text(file: InputFile) -> Iterator[io.BufferedReader]:
    """Yield the bytes of a text file, decompressed if they are gzip; errors name the file."""
    try:
        with open_raw(file) as raw, decompress(raw) as stream:
            yield stream
    except InputError as error:
        raise error.at(error.path or str(file), error.line) from None


@contextmanager
def decompress(raw: io.BufferedReader) -> Iterator[io.BufferedReader]:
    """Yield the bytes of the text in an open file; raise InputError if it is damaged or no text."""
    is_packed = raw.peek(PEEK).startswith(_GZIP)
    stream = cast("io.BufferedReader", gzip.GzipFile(fileobj=raw) if is_packed else raw)
    try:
        head = stream.peek(PEEK)[:PEEK]
        if head.startswith(_UTF16) or b"\0" in head:
            what = "is UTF-16 or a binary file, and text in UTF-8 is needed"
            step = "save a spreadsheet as XLSX without a password, or as CSV UTF-8"
            raise InputError(f"{what}; {step}")
        yield stream
    except (EOFError, OSError, zlib.error) as error:
        if not is_packed or getattr(error, "errno", None) is not None:
            raise
        raise InputError(f"the gzip data is damaged ({error}); make the file again") from None


def byte_lines(stream: IO[bytes]) -> Iterator[bytes]:
    """Yield the lines of a file without its BOM; raise InputError at one that is too long."""
    number = 0
    while data := stream.readline(MAX_LINE + 1):
        number += 1
        if len(data) > MAX_LINE:
            what = f"longer than {MAX_LINE // 1_000_000} MB; mend it, or shorten its texts"
            raise InputError(what, line=number)
        yield data.removeprefix(BOM_UTF8) if number == 1 else data


def text_lines(
    stream: IO[bytes],
    on_chinese: Callable[[], object] | None = None,
    on_bad: Callable[[InputError], object] | None = None,
) -> Iterator[str]:
    """Yield the lines of a UTF-8 file; raise InputError at one that is not UTF-8, or too long.

    With `on_bad`, a line that is not UTF-8 does not raise: the function is called with the error.

    With `on_chinese`, lines are decoded as GB18030 from the first one that is not ASCII, if it is
    GB18030 and not UTF-8; the function is then called once.
    """
    encoding = ""
    for number, data in enumerate(byte_lines(stream), 1):
        if not encoding and not data.isascii():
            encoding = "utf-8"
            if on_chinese is not None and not _is(data, encoding) and _is(data, CHINESE):
                encoding = CHINESE
                on_chinese()
        try:
            yield data.decode(encoding or "utf-8")
        except UnicodeDecodeError as error:
            problem = wrong_encoding(error).at("", number)
            if on_bad is None:
                raise problem from None
            on_bad(problem)
            yield data.decode(encoding, "replace")


def _is(data: bytes, encoding: str) -> bool:
    with suppress(UnicodeDecodeError):
        return bool(data.decode(encoding))
    return False


def wrong_encoding(error: UnicodeDecodeError) -> InputError:
    """Return the error of text that cannot be decoded, with the byte and its place."""
    line = error.object.count(b"\n", 0, error.start) + 1
    column = error.start - error.object.rfind(b"\n", 0, error.start)
    byte = f"byte {error.object[error.start]:#04x} at column {column}"
    step = "convert the file, for example: iconv -f GB18030 -t UTF-8"
    return InputError(f"not {error.encoding.upper()} ({byte}); {step}", line=line)
