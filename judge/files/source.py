"""Where the bytes come from: a file, gzipped or not, as lines of text and as CSV records."""

import csv
import gzip
import importlib.util
import io
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import IO, TYPE_CHECKING, Any, Final, Protocol, cast

from judge.errors import InputError

if TYPE_CHECKING:
    from typing_extensions import Buffer  # collections.abc has it from 3.12 on

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


@contextmanager
def open_source(path: Path, digest: Digest | None = None) -> Iterator[IO[bytes]]:
    """The file's bytes, decompressed where it is gzip.

    Args:
        path: the file.
        digest: is fed every byte of the file once, in order, as it is read.

    Raises:
        InputError: it does not exist, is a folder, cannot be read, or is no text.
    """
    try:
        raw = path.open("rb")
    except FileNotFoundError:
        raise InputError("no such file; check the path", path=str(path)) from None
    except IsADirectoryError:
        message = "is a folder; name a file in it"
        raise InputError(message, path=str(path)) from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise _unreadable(error, path) from None
    with raw:
        zipped = _is_gzip(raw, path)
        fed = raw if digest is None else io.BufferedReader(_Fed(raw, digest), _BUFFER)
        stream = gzip.GzipFile(fileobj=fed) if zipped else fed
        with stream:
            _refuse_binary(stream, path)
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


def text_lines(stream: IO[bytes], path: Path) -> Iterator[tuple[int, str]]:
    """Numbered lines, from 1, line ends kept.

    Bytes that are not UTF-8 come as lone surrogates, for one bad line must not hide the next;
    `encoding_error` finds them.

    Raises:
        InputError: the gzip data breaks off, or the file can be read no further.
    """
    number = 0
    with _decoded(stream) as decoded:
        try:
            for number, line in enumerate(decoded, 1):
                yield number, line
        except (EOFError, OSError, zlib.error) as error:
            raise _broken(error, path, number + 1) from None


def text_blocks(stream: IO[bytes], path: Path, size: int) -> Iterator[tuple[int, str]]:
    """The same text in whole lines, `size` characters and a little more at a time.

    Each comes with the number of its first line.

    Raises:
        InputError: as above; its line is the first of the text that could not be read.
    """
    number = 1
    with _decoded(stream) as decoded:
        while True:
            try:
                text = decoded.read(size) + decoded.readline()
            except (EOFError, OSError, zlib.error) as error:
                raise _broken(error, path, number) from None
            if not text:
                return
            yield number, text
            number += text.count("\n")


@contextmanager
def _decoded(stream: IO[bytes]) -> Iterator[io.TextIOWrapper]:
    decoded = io.TextIOWrapper(stream, "utf-8-sig", errors="surrogateescape", newline="\n")
    try:
        yield decoded
    finally:
        decoded.detach()  # the stream is its opener's to close


def _broken(error: Exception, path: Path, line: int) -> InputError:
    if isinstance(error, OSError) and not isinstance(error, gzip.BadGzipFile):
        return _unreadable(error, path).at(str(path), line)
    message = f"the gzip data is damaged here ({error}); make the file again"
    return InputError(message, path=str(path), line=line)


def _is_gzip(raw: io.BufferedReader, path: Path) -> bool:
    if not raw.seekable():
        message = "is a pipe, and the samples are read twice; name - and pipe into standard input"
        raise InputError(message, path=str(path))
    try:
        return raw.peek(2)[:2] == _GZIP
    except OSError as error:
        raise _unreadable(error, path) from None


def _unreadable(error: Exception, path: Path) -> InputError:
    reason = (isinstance(error, OSError) and error.strerror) or str(error)
    return InputError(f"cannot be read: {reason}; check the path and its rights", path=str(path))


def encoding_error(text: str, number: int, path: Path) -> InputError | None:
    """What is wrong with a line of `text_lines` that is not UTF-8; None where it is."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        column = len(text[: error.start].encode()) + 1
        message = (
            f"not UTF-8 (byte {ord(text[error.start]) - _ESCAPED:#04x} at column {column}); "
            "convert the file, for example: iconv -f GB18030 -t UTF-8"
        )
        return InputError(message, path=str(path), line=number)
    return None


def presentable(text: str) -> str:
    """A line of `text_lines` that can be written: U+FFFD for each byte that is not UTF-8."""
    return text.encode(errors="surrogateescape").decode(errors="replace")


def _refuse_binary(stream: "io.BufferedReader[Any] | gzip.GzipFile", path: Path) -> None:
    try:
        head = stream.peek(_PEEK)[:_PEEK]
    except (EOFError, OSError, zlib.error) as error:
        message = f"the gzip data is damaged ({error}); make the file again"
        raise InputError(message, path=str(path)) from None
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
