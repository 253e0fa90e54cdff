"""The files that an input's name means, their bytes and their lines."""

import gzip
import hashlib
import io
import re
import shutil
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from fnmatch import fnmatchcase
from glob import iglob
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, NamedTuple, Self, cast
from urllib.parse import quote, unquote, urlsplit

from judge.errors import ConfigError, InputError, RunError, extra

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

PIPED: Final = "-"
"""The name of standard input."""
MAX_LINE: Final = 64.0
"""The default limit of a line, or of a CSV record, in MB."""
MEGA: Final = 1_000_000
ALLOW_MORE: Final = "mend it, or allow more with --max-line"
CLIPPED: Final = 1_000
"""Bytes of an overlong line that are kept."""
PEEK: Final = 4096
"""Bytes that tell the format of a file."""
_TEXT_ENDINGS: Final = (".jsonl", ".ndjson", ".json", ".csv", ".tsv")
TABLE_ENDINGS: Final = (".parquet", ".pq", ".arrow", ".feather", ".xlsx")
_ENDINGS: Final = (*(e + z for e in _TEXT_ENDINGS for z in ("", ".gz", ".zst")), *TABLE_ENDINGS)
_WILDCARDS: Final = frozenset("*?[")
_GZIP: Final = b"\x1f\x8b"
_ZSTD: Final = b"\x28\xb5\x2f\xfd"
_UTF16: Final = (b"\xff\xfe", b"\xfe\xff")
_OLE: Final = b"\xd0\xcf\x11\xe0"
"""The first bytes of old Office files, and of new ones that are encrypted."""
_JOINED_SLASHES: Final = re.compile(r"^(\w{2,}):/(?=[^/])")
"""The beginning of an address after `Path` has made one slash of two."""
_OPTIONS: Final = re.compile(r"\?(?=\w+=)")
"""The beginning of an address's options; any other question mark is a wildcard."""
_ADDRESS_SIGNS: Final = "%/:@!$&'()*+,;=~?"
"""Characters that have a meaning in an address, and are not escaped."""
_REMOTE_PIECE: Final = 4 << 20
"""Bytes of one request to an object store."""
_BUFFER: Final = 1 << 18
_ESCAPED_BYTE: Final = 0xDC00
"""What Python's surrogateescape adds to a byte that is not UTF-8."""


class InputFile(NamedTuple):
    """A file on this machine, or at an address that Arrow reads, such as `s3://bucket/key`."""

    address: str
    """A path, or an address whose special characters are escaped."""
    size: int | None = None
    """In bytes, if known."""

    def __str__(self) -> str:
        return unquote(without_options(self.address)) if self.is_remote else self.address

    @property
    def name(self) -> str:
        """The last part of the address."""
        return str(self).rpartition("/")[2]

    @property
    def is_remote(self) -> bool:
        """Whether it is at an address and not on this machine."""
        return "://" in self.address

    @property
    def has_lines(self) -> bool:
        """Whether its name is that of a text file."""
        return not self.name.lower().endswith(TABLE_ENDINGS)

    def open(self) -> io.BufferedReader:
        """Return its bytes; raise OSError or ValueError if it cannot be read."""
        if not self.is_remote:
            return Path(self.address).open("rb")
        system, path = file_system(self.address)
        raw = cast("io.RawIOBase", system.open_input_file(path))
        return io.BufferedReader(raw, _REMOTE_PIECE)


def file_system(address: str) -> tuple["FileSystem", str]:
    """Return Arrow's file system of an address, and the path within it."""
    with extra("data", address.partition(":")[0]):
        from pyarrow import ArrowException  # noqa: PLC0415  an extra, and slow to load
        from pyarrow.fs import FileSystem  # noqa: PLC0415
    try:
        system, path = FileSystem.from_uri(address)
    except ArrowException as error:
        raise OSError(0, str(error)) from None
    return system, path


def is_address(given: str | Path) -> bool:
    """Return whether a name is an address such as `s3://bucket/key`, and no path."""
    return "://" in whole_address(given)


def whole_address(given: str | Path) -> str:
    """Return an address whose two slashes `Path` may have joined."""
    # A `file:` address has an empty host: file:///tmp/a.
    return _JOINED_SLASHES.sub(lambda m: f"{m[1]}:{'///' if m[1] == 'file' else '//'}", str(given))


def without_options(address: str) -> str:
    """Return an address without its options, which may be secret."""
    return _OPTIONS.split(address, maxsplit=1)[0]


def is_many(given: str | Path) -> bool:
    """Return whether a name is a folder or a pattern, or an address, which may be either."""
    if is_address(given):
        return True
    path = Path(given)
    try:
        return path.is_dir() or (not _WILDCARDS.isdisjoint(str(path)) and not path.exists())
    except (OSError, ValueError):  # not a possible file name; opening it says why
        return False


def input_files(given: str | Path) -> list[InputFile]:
    """Return the files that a name means, in the order in which they are read.

    A folder means the files below it whose names end as samples do, without hidden ones and those
    that begin with `_`; a pattern means the files that it matches; any other name means itself.

    Raises:
        InputError: a folder or a pattern has no such file, or an address cannot be read.
    """
    if is_address(given):
        return _remote_files(whole_address(given))
    path = Path(given)
    if not is_many(path):
        try:
            return [InputFile(str(path), path.stat().st_size)]
        except (OSError, ValueError):
            return [InputFile(str(path))]
    if path.is_dir():
        found = [str(each) for each in path.rglob("*") if each.is_file() and _is_meant(str(each))]
    else:
        every = iglob(str(path), recursive=True)  # noqa: PTH207  as a shell does: no hidden files
        found = [each for each in every if Path(each).is_file()]
    if not found:
        raise _no_file(str(path), folder=path.is_dir())
    return [InputFile(each, Path(each).stat().st_size) for each in sorted(found)]


def _remote_files(given: str) -> list[InputFile]:
    from pyarrow.fs import FileSelector, FileType  # noqa: PLC0415

    signs = _ADDRESS_SIGNS if _OPTIONS.search(given) else _ADDRESS_SIGNS[:-1]
    address = quote(given, signs)
    if urlsplit(address).password:
        raise InputError("an address with keys in it is not taken; set them in the environment")
    plain, mark, options = address.partition("?")
    shown, pattern = without_options(given), ""
    try:
        system, path = file_system(address)
        begin = unquote(plain).rstrip("/").removesuffix(path.rstrip("/"))
        found = system.get_file_info(path)
        if found.type is FileType.NotFound and not _WILDCARDS.isdisjoint(path):
            parts = path.split("/")
            fixed = next(i for i, part in enumerate(parts) if not _WILDCARDS.isdisjoint(part))
            pattern, path = path, "/".join(parts[:fixed])
            found = system.get_file_info(path)
        if found.type is FileType.File:
            return [InputFile(address, found.size)]
        if found.type is FileType.NotFound:
            raise InputError("no such file or folder; check the path", path=shown)
        every = system.get_file_info(FileSelector(path, recursive=True))
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read: {error}; check it", path=shown) from None
    sizes = {each.path: each.size for each in every if each.type is FileType.File}
    names = sorted(name for name in sizes if _is_meant(name, pattern))
    if not names:
        raise _no_file(shown, folder=not pattern)
    return [InputFile(f"{begin}{quote(each)}{mark}{options}", sizes[each]) for each in names]


def _is_meant(path: str, pattern: str = "") -> bool:
    parts, wanted = path.split("/"), pattern.split("/")
    if pattern:  # as in a shell, an asterisk matches no slash
        return len(parts) == len(wanted) and all(map(fnmatchcase, parts, wanted))
    return not parts[-1].startswith((".", "_")) and path.lower().endswith(_ENDINGS)


def _no_file(given: str, *, folder: bool) -> InputError:
    kinds = f" that ends in {', '.join(_ENDINGS)}" if folder else ""
    return InputError(f"no file there{kinds}; check the name", path=given)


def run_name(name: str) -> str:
    """Return the default name of a run folder for an input's name.

    >>> run_name("night.jsonl.gz"), run_name("part-*.csv"), run_name(".jsonl")
    ('night', 'part', 'run')
    """
    for ending in (".gz", ".zst", *TABLE_ENDINGS, *_TEXT_ENDINGS):
        name = name.removesuffix(ending)
    if not _WILDCARDS.isdisjoint(name):
        name = re.sub(r"[*?\[\]]+", "", name).strip("-_")
    # `...jsonl` would name the folder above, and `.jsonl` none.
    return name if name.strip(".") else "run"


def would_hold(path: str | Path, folder: Path) -> bool:
    """Return whether an input that is read as a folder contains another folder."""
    return Path(path).is_dir() and folder.resolve().is_relative_to(Path(path).resolve())


def hash_of(given: str | Path) -> str:
    """Return the SHA-256 of the bytes of all files of an input, in their order.

    Raises:
        InputError: a file cannot be opened.
        OSError: a file cannot be read.
    """
    digest = hashlib.sha256()
    for each in input_files(given):
        with open_raw(each) as file:
            while piece := file.read(_BUFFER):
                digest.update(piece)
    return digest.hexdigest()


def standard_input() -> IO[bytes]:
    """Return standard input; raise ConfigError if it is closed."""
    if sys.stdin is None:
        raise ConfigError("standard input is closed; pipe the samples in, or name a file")
    return sys.stdin.buffer


def spoken(name: str) -> str:
    """Return what messages call an input."""
    return "standard input" if name == PIPED else name


def is_fifo(path: Path) -> bool:
    """Return whether a path is a pipe, such as a shell's `<(…)`, which is read only once."""
    try:
        return path.is_fifo()
    except OSError:  # the name is too long, for example; opening it says what is wrong
        return False


@contextmanager
def readable(name: str) -> Iterator[Path]:
    """Yield the path of an input that can be read again: a pipe is copied first.

    Raises:
        ConfigError: the name is empty, or standard input is closed.
        RunError: there is no room for the copy.
    """
    if not name:  # a script's unset variable would mean the current folder
        raise ConfigError("the name of a file is empty; name a path, or - for standard input")
    if name != PIPED and not is_fifo(Path(name)):
        yield Path(name)
        return
    with tempfile.NamedTemporaryFile() as copy:
        try:
            with ExitStack() as stack:
                piped = name == PIPED
                pipe = standard_input() if piped else stack.enter_context(Path(name).open("rb"))
                shutil.copyfileobj(pipe, copy)
            copy.flush()
        except OSError as error:
            message = f"{spoken(name)}: cannot be copied ({error.strerror}); "
            raise RunError(message + "save it to a file and name that") from None
        yield Path(copy.name)


@contextmanager
def placed(name: str) -> Iterator[None]:
    """Name this input, and not a copy of it, in errors."""
    try:
        yield
    except InputError as error:
        raise named(error, name) from None


def named(error: InputError, name: str) -> InputError:
    """Return the error with the name of its input; a file of several keeps its own name."""
    own = error.path if is_many(name) else ""
    return error.at(own or name, error.line)


@contextmanager
def open_text(file: InputFile) -> Iterator[io.BufferedReader]:
    """Yield a file's bytes, decompressed if they are gzip or zstd.

    Raises:
        InputError: the file does not exist, is a folder, cannot be read, or is not text.
        ConfigError: the library that decompresses it is not installed.
    """
    with open_raw(file) as raw, decompressed(raw, file) as stream:
        yield stream


@contextmanager
def decompressed(raw: io.BufferedReader, file: InputFile) -> Iterator[io.BufferedReader]:
    """Yield the text in an open file; errors as in `open_text`."""
    stream, head = raw, raw.peek(PEEK)
    with ExitStack() as stack:
        try:
            if head.startswith(_GZIP):
                stream = cast("io.BufferedReader", gzip.GzipFile(fileobj=raw))
            elif head.startswith(_ZSTD):
                stream = stack.enter_context(_zstd(raw))
            _refuse_binary(stream.peek(PEEK)[:PEEK], file)
        except (EOFError, OSError, zlib.error) as error:
            message = f"the {_packing(error)} data is damaged ({error}); make the file again"
            raise InputError(message, path=str(file)) from None
        yield stream


@contextmanager
def open_raw(file: InputFile) -> Iterator[io.BufferedReader]:
    """Yield a file's bytes as they are; errors as in `open_text`."""
    try:
        raw = file.open()
    except FileNotFoundError:
        raise InputError("no such file; check the path", path=str(file)) from None
    except IsADirectoryError:
        raise InputError("is a folder; name a file in it", path=str(file)) from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise _unreadable(error, file) from None
    with raw:
        if not raw.seekable():
            message = "is a pipe, and the samples are read twice; name - and pipe into standard "
            raise InputError(f"{message}input", path=str(file))
        yield raw


def _zstd(stream: IO[bytes]) -> io.BufferedReader:
    with extra("data", "zstd"):
        import pyarrow as pa  # noqa: PLC0415  an extra, and slow to load
    raw = pa.CompressedInputStream(pa.PythonFile(stream, "r"), "zstd")
    return io.BufferedReader(cast("io.RawIOBase", raw))


def _packing(error: Exception) -> str:
    return "gzip" if isinstance(error, EOFError | gzip.BadGzipFile | zlib.error) else "zstd"


def _refuse_binary(head: bytes, file: InputFile) -> None:
    if head.startswith(_UTF16):
        message = "is UTF-16; convert it: save it as CSV UTF-8, or iconv -f UTF-16 -t UTF-8"
    elif head.startswith(_OLE):
        message = "is an XLS file or bears a password; save it as XLSX without one, or as CSV"
    elif b"\0" in head:
        message = "is a binary file; text is needed (a spreadsheet: save it as CSV)"
    else:
        return
    raise InputError(message, path=str(file))


def _unreadable(error: Exception, file: InputFile) -> InputError:
    reason = (isinstance(error, OSError) and error.strerror) or str(error)
    return InputError(f"cannot be read: {reason}; check the path and its rights", path=str(file))


class LongLine(InputError):
    """A line over the limit; the lines behind it can still be read."""

    def __init__(self, head: str, longest: int, file: InputFile, line: int) -> None:
        message = f"longer than {longest / MEGA:g} MB; {ALLOW_MORE}"
        super().__init__(message, path=str(file), line=line)
        self.line: int = line
        self.head = head
        """The beginning of the line."""


class TextLines:
    """An iterator over lines with their ends, each with its number, from 1.

    Bytes that are not UTF-8 become lone surrogates, so that one bad line does not hide the next;
    `check_encoding` finds them.

    Args:
        stream: of `open_text`.
        file: named in messages.
        size: if positive, return pieces of about this many bytes, cut at a line end, with the
            number of their first line.
        max_line: the limit of a line in MB, its end included.

    Raises:
        LongLine: by `next`, for a line over the limit, which is not read whole.
        InputError: the compressed data breaks off, or the file can be read no further.
    """

    def __init__(
        self, stream: IO[bytes], file: InputFile, size: int = 0, *, max_line: float = MAX_LINE
    ) -> None:
        self._stream = stream
        self._file = file
        self._size = size
        self.longest = most_bytes(max_line)
        self._number = 1
        self._at_start = True
        self._unread = b""
        """The last piece of an overlong line; the next call skips the rest of it."""

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> tuple[int, str]:
        while self._unread and not self._unread.endswith(b"\n"):
            self._unread = self._read(self._stream.readline, _BUFFER)
        self._unread = b""
        before = self._read(self._stream.read, self._size) if self._size else b""
        last = self._read(self._stream.readline, self.longest + 1)
        number = self._number
        if len(last) > self.longest:
            self._number += before.count(b"\n") + 1
            self._unread = last
            head = self._text(last[:CLIPPED])
            raise LongLine(head, self.longest, self._file, self._number - 1)
        if not (text := self._text(before + last)):
            raise StopIteration
        self._number += text.count("\n")
        return number, text

    def _text(self, data: bytes) -> str:
        text = data.decode(errors="surrogateescape")
        if self._at_start:
            text, self._at_start = text.removeprefix("\ufeff"), False
        return text

    def _read(self, read: Callable[[int], bytes], size: int) -> bytes:
        try:
            return read(size)
        except (EOFError, OSError, zlib.error) as error:
            if getattr(error, "errno", None) is not None:
                raise _unreadable(error, self._file).at(str(self._file), self._number) from None
            message = f"the {_packing(error)} data is damaged here ({error}); make the file again"
            raise InputError(message, path=str(self._file), line=self._number) from None


def most_bytes(megabytes: float) -> int:
    """Return a limit in MB as bytes; infinity becomes the largest possible size."""
    return int(max(1, min(megabytes * MEGA, sys.maxsize - 1)))


def check_encoding(text: str, line: int, file: object) -> None:
    """Raise an InputError if a text of `TextLines` was not UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        column = len(text[: error.start].encode()) + 1
        message = (
            f"not UTF-8 (byte {ord(text[error.start]) - _ESCAPED_BYTE:#04x} at column {column}); "
            "convert the file, for example: iconv -f GB18030 -t UTF-8"
        )
        raise InputError(message, path=str(file), line=line) from None


def presentable(text: str) -> str:
    """Return a line of `TextLines` with U+FFFD for each byte that is not UTF-8."""
    return text.encode(errors="surrogateescape").decode(errors="replace")
