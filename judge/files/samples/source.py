"""Where the bytes come from: a file, gzipped or not, as lines of text."""

import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, Protocol, cast

from judge.errors import InputError

if TYPE_CHECKING:
    from typing_extensions import Buffer  # collections.abc has it from 3.12 on

_GZIP: Final = b"\x1f\x8b"
_BOM: Final = b"\xef\xbb\xbf"
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
        if digest is not None:
            raw = io.BufferedReader(_Fed(raw, digest), _BUFFER)
        stream: IO[bytes] = cast("IO[bytes]", gzip.GzipFile(fileobj=raw)) if zipped else raw
        with stream:
            _refuse_binary(stream, path)
            yield stream


class _Fed(io.RawIOBase):
    """A file that feeds what is read of it; what is read again is not fed again."""

    def __init__(self, raw: IO[bytes], digest: Digest) -> None:
        self._raw = raw
        self._digest = digest
        self._fed = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0, /) -> int:
        return self._raw.seek(offset, whence)

    def readinto(self, buffer: "Buffer", /) -> int:
        start = self._raw.tell()
        data = self._raw.read(len(memoryview(buffer)))
        memoryview(buffer)[: len(data)] = data
        if start + len(data) > self._fed:
            self._digest.update(data[self._fed - start :])
            self._fed = start + len(data)
        return len(data)


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


def _is_gzip(raw: IO[bytes], path: Path) -> bool:
    if not raw.seekable():
        message = "is a pipe, and the samples are read twice; name - and pipe into standard input"
        raise InputError(message, path=str(path))
    try:
        zipped = raw.read(2) == _GZIP
    except OSError as error:
        raise _unreadable(error, path) from None
    raw.seek(0)
    return zipped


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


def _refuse_binary(stream: IO[bytes], path: Path) -> None:
    try:
        head = stream.read(_PEEK)
        stream.seek(0)
    except (EOFError, OSError, zlib.error) as error:
        message = f"the gzip data is damaged ({error}); make the file again"
        raise InputError(message, path=str(path)) from None
    if head.startswith(_UTF16):
        message = "is UTF-16; convert it, for example: iconv -f UTF-16 -t UTF-8"
        raise InputError(message, path=str(path))
    if b"\0" in head:
        message = "is a binary file; text is needed (a spreadsheet: save it as CSV)"
        raise InputError(message, path=str(path))
