"""Where the bytes come from: a file, gzipped or not, as lines of text."""

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final, cast

from judge.errors import InputError

_GZIP: Final = b"\x1f\x8b"
_BOM: Final = b"\xef\xbb\xbf"
_UTF16: Final = (b"\xff\xfe", b"\xfe\xff")
_PEEK: Final = 4096


@contextmanager
def open_source(path: Path) -> Iterator[IO[bytes]]:
    """The file's bytes, decompressed where it is gzip.

    Raises:
        InputError: it does not exist, is a folder, cannot be read, or is no text.
    """
    try:
        raw = path.open("rb")
    except FileNotFoundError:
        raise InputError("no such file; check the path", path=str(path)) from None
    except IsADirectoryError:
        message = "is a folder; name a .jsonl or .csv file in it"
        raise InputError(message, path=str(path)) from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise _unreadable(error, path) from None
    with raw:
        zipped = _is_gzip(raw, path)
        stream: IO[bytes] = cast("IO[bytes]", gzip.GzipFile(fileobj=raw)) if zipped else raw
        with stream:
            _refuse_binary(stream, path)
            yield stream


def text_lines(stream: IO[bytes], path: Path) -> Iterator[tuple[int, str]]:
    """Numbered lines, from 1, line ends kept.

    Raises:
        InputError: a line is not UTF-8, or the gzip data breaks off.
    """
    number = 0
    try:
        for number, line in enumerate(stream, 1):
            yield number, _decode(line.removeprefix(_BOM) if number == 1 else line, number, path)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        message = f"the gzip data is damaged here ({error}); make the file again"
        raise InputError(message, path=str(path), line=number + 1) from None
    except OSError as error:
        raise _unreadable(error, path).at(str(path), number + 1) from None


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


def _decode(line: bytes, number: int, path: Path) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        message = (
            f"not UTF-8 (byte {error.object[error.start]:#04x} at column {error.start + 1}); "
            "convert the file, for example: iconv -f GB18030 -t UTF-8"
        )
        raise InputError(message, path=str(path), line=number) from None


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
        message = "is a binary file; JSONL or CSV text is needed (a spreadsheet: save it as CSV)"
        raise InputError(message, path=str(path))
