"""Where the bytes come from: a file, gzipped or not, or a pipe; as lines and as CSV records."""

import csv
import gzip
import importlib.util
import io
import shutil
import sys
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import ModuleType
from typing import IO, TYPE_CHECKING, Final, Protocol, cast

from judge.errors import ConfigError, InputError, RunError

if TYPE_CHECKING:
    from typing_extensions import Buffer  # collections.abc has it from 3.12 on

PIPED: Final = "-"
"""The name of standard input."""

_GZIP: Final = b"\x1f\x8b"
_UTF16: Final = (b"\xff\xfe", b"\xfe\xff")
_PEEK: Final = 4096
_BUFFER: Final = 1 << 18
_ESCAPED: Final = 0xDC00
"""What Python adds to a byte that it could not decode."""


class Digest(Protocol):
    """What is fed the bytes of a file as they are read, such as a hash."""

    def update(self, data: bytes, /) -> None:
        """Take in the next bytes."""


def standard_input() -> IO[bytes]:
    """What is piped in; `ConfigError` where nothing can be, for it is closed."""
    if sys.stdin is None:
        raise ConfigError("standard input is closed; pipe the samples in, or name a file")
    return sys.stdin.buffer


def spoken(name: str) -> str:
    """What to call a source in a message."""
    return "standard input" if name == PIPED else name


def is_fifo(path: Path) -> bool:
    """Whether a name is that of a pipe, such as a shell's `<(…)`, which is read only once."""
    try:
        return path.is_fifo()
    except OSError:  # a name that is too long, say; opening it says what is wrong
        return False


@contextmanager
def readable(name: str) -> Iterator[Path]:
    """A file that can be read again: what is piped in, or `<(…)`, is copied first.

    Raises:
        ConfigError: the name is empty, or standard input is meant and closed.
        RunError: there is no room for the copy.
    """
    if not name:  # a script's unset variable would mean the current folder
        raise ConfigError("the name of a file is empty; name a path, or - for standard input")
    path = Path(name)
    if name != PIPED and not is_fifo(path):
        yield path
        return
    with tempfile.NamedTemporaryFile() as copy:
        try:
            with ExitStack() as stack:
                pipe = standard_input() if name == PIPED else stack.enter_context(path.open("rb"))
                shutil.copyfileobj(pipe, copy)
            copy.flush()
        except OSError as error:
            message = f"{spoken(name)}: cannot be copied ({error.strerror}); "
            raise RunError(message + "save it to a file and name that") from None
        yield Path(copy.name)


@contextmanager
def placed(name: str) -> Iterator[None]:
    """Names this source in what is wrong with it, and not the copy that was read."""
    try:
        yield
    except InputError as error:
        raise error.at(name, error.line) from None


@contextmanager
def open_source(path: Path, digest: Digest | None = None) -> Iterator[IO[bytes]]:
    """The file's bytes, decompressed where it is gzip.

    Args:
        path: the file.
        digest: is fed every byte of the file once, in order, as it is read.

    Raises:
        InputError: it does not exist, is a folder, cannot be read, or is no text.
    """
    with ExitStack() as stack:
        try:
            raw = stack.enter_context(path.open("rb"))
            if not raw.seekable():
                message = "is a pipe, and the samples are read twice; "
                message += "name - and pipe into standard input"
                raise InputError(message, path=str(path))
            zipped = raw.peek(2)[:2] == _GZIP
        except FileNotFoundError:
            raise InputError("no such file; check the path", path=str(path)) from None
        except IsADirectoryError:
            raise InputError("is a folder; name a file in it", path=str(path)) from None
        except (OSError, ValueError) as error:  # ValueError: a NUL in the path
            raise _unreadable(error, path) from None
        fed = raw if digest is None else io.BufferedReader(_Fed(raw, digest), _BUFFER)
        stream = gzip.GzipFile(fileobj=fed) if zipped else fed
        stack.enter_context(stream)
        try:
            _refuse_binary(stream.peek(_PEEK)[:_PEEK], path)
        except (EOFError, OSError, zlib.error) as error:
            message = f"the gzip data is damaged ({error}); make the file again"
            raise InputError(message, path=str(path)) from None
        yield cast("IO[bytes]", stream)


class _Fed(io.RawIOBase):
    """A file that feeds a digest with what is read of it."""

    def __init__(self, raw: io.BufferedReader, digest: Digest) -> None:
        self._raw = raw
        self._digest = digest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "Buffer", /) -> int:
        size = self._raw.readinto(buffer)
        self._digest.update(bytes(memoryview(buffer)[:size]))
        return size


def text_lines(stream: IO[bytes], path: Path, size: int = 0) -> Iterator[tuple[int, str]]:
    """Lines, line ends kept, each with its number, from 1.

    Bytes that are not UTF-8 come as lone surrogates, for one bad line must not hide the next;
    `check_encoding` finds them.

    Args:
        stream: of `open_source`.
        path: where it stands, for messages.
        size: where above 0, so many characters and the rest of their last line come together,
            under the number of their first line.

    Raises:
        InputError: the gzip data breaks off, or the file can be read no further.
    """
    decoded = io.TextIOWrapper(stream, "utf-8-sig", errors="surrogateescape", newline="\n")
    number = 1
    try:
        while text := decoded.read(size) + decoded.readline():
            yield number, text
            number += text.count("\n")
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        message = f"the gzip data is damaged here ({error}); make the file again"
        raise InputError(message, path=str(path), line=number) from None
    except OSError as error:
        raise _unreadable(error, path).at(str(path), number) from None
    finally:
        decoded.detach()  # the stream is its opener's to close


def check_encoding(text: str, line: int, path: Path) -> None:
    """Raise an `InputError` for text of `text_lines` that is not UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        column = len(text[: error.start].encode()) + 1
        message = (
            f"not UTF-8 (byte {ord(text[error.start]) - _ESCAPED:#04x} at column {column}); "
            "convert the file, for example: iconv -f GB18030 -t UTF-8"
        )
        raise InputError(message, path=str(path), line=line) from None


def presentable(text: str) -> str:
    """A line of `text_lines` that can be written: U+FFFD for each byte that is not UTF-8."""
    return text.encode(errors="surrogateescape").decode(errors="replace")


def _unreadable(error: Exception, path: Path) -> InputError:
    reason = (isinstance(error, OSError) and error.strerror) or str(error)
    return InputError(f"cannot be read: {reason}; check the path and its rights", path=str(path))


def _refuse_binary(head: bytes, path: Path) -> None:
    if head.startswith(_UTF16):
        message = "is UTF-16; convert it, for example: iconv -f UTF-16 -t UTF-8"
        raise InputError(message, path=str(path))
    if b"\0" in head:
        message = "is a binary file; text is needed (a spreadsheet: save it as CSV)"
        raise InputError(message, path=str(path))


def csv_reader(lines: Iterable[str], delimiter: str) -> Iterator[list[str]]:
    """The records of a CSV, strictly read, with cells of any length.

    Raises:
        CsvError: on the next record, where that one is none.
    """
    records: Iterator[list[str]] = _CSV.reader(lines, delimiter=delimiter, strict=True)
    return records


def _own_csv() -> ModuleType:
    """A copy of what stands behind `csv`, for its limit on a cell is one for the whole process.

    That limit, 128 KiB, is under one long answer, and not ours to lift for others.
    """
    spec = importlib.util.find_spec("_csv")
    if spec is None or spec.loader is None:  # another Python than CPython
        return csv
    own = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(own)
    own.field_size_limit(2**31 - 1)
    return own


_CSV: Final = _own_csv()
CsvError: Final[type[Exception]] = _CSV.Error
"""What is wrong with a record of `csv_reader`."""
