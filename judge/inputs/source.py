"""Where the bytes come from: a file, packed or not, or a pipe; as lines and as CSV records."""

import csv
import gzip
import io
import re
import shutil
import sys
import tempfile
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, Protocol, Self, cast

from judge.errors import ConfigError, InputError, RunError
from judge.inputs.arrow import unpacked
from judge.inputs.inputs import is_many

if TYPE_CHECKING:
    from typing_extensions import Buffer  # collections.abc has it from 3.12 on

PIPED: Final = "-"
"""The name of standard input."""

MAX_LINE: Final = 64.0
"""MB of the longest line, or record of a CSV, that is read where nothing else is said."""
MEGA: Final = 1_000_000
ALLOW_MORE: Final = "mend it, or allow more with --max-line"
"""The next step where one is longer."""
CLIPPED: Final = 1_000
"""Bytes of a longer one that are kept."""

PEEK: Final = 4096
"""Bytes that tell what a file is."""

_GZIP: Final = b"\x1f\x8b"
_ZSTD: Final = b"\x28\xb5\x2f\xfd"
_UTF16: Final = (b"\xff\xfe", b"\xfe\xff")
_OLE: Final = b"\xd0\xcf\x11\xe0"
"""Of old Office files, and of new ones that are encrypted."""
_ADDRESS: Final = re.compile(r"\w{2,}:/[^/]")
"""As `Path` writes one; what reads addresses keeps both strokes."""
_BUFFER: Final = 1 << 18
_LONGEST_CELL: Final = 2**31 - 1
"""Characters of a CSV cell. Records have a limit of their own, and the module's is 128 KiB."""
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
    """Names this source in what is wrong with it, as `named` does."""
    try:
        yield
    except InputError as error:
        raise named(error, name) from None


def named(error: InputError, name: str) -> InputError:
    """The error of this source, and not of the copy that was read; one of many keeps its name."""
    own = error.path if is_many(Path(name)) else ""
    return error.at(own or name, error.line)


@contextmanager
def open_source(
    path: Path, digest: Digest | None = None, tables: Collection[bytes] = ()
) -> Iterator[io.BufferedReader]:
    """The file's bytes, decompressed where it is gzip or zstd.

    Args:
        path: the file.
        digest: is fed every byte of the file once, in order, as it is read, or where it begins as a
            table does, behind that.
        tables: how files begin that are read though they are no text.

    Raises:
        InputError: it does not exist, is a folder, cannot be read, or is no text.
        ConfigError: what unpacks it is not installed.
    """
    with ExitStack() as stack:
        try:
            raw = stack.enter_context(path.open("rb"))
            if not raw.seekable():
                message = "is a pipe, and the samples are read twice; "
                message += "name - and pipe into standard input"
                raise InputError(message, path=str(path))
            head = raw.peek(PEEK)
        except FileNotFoundError:
            step = "check the path"
            if _ADDRESS.match(str(path)):
                step = "judge score --engine ray reads addresses; or copy it here and name the copy"
            raise InputError(f"no such file; {step}", path=str(path)) from None
        except IsADirectoryError:
            raise InputError("is a folder; name a file in it", path=str(path)) from None
        except (OSError, ValueError) as error:  # ValueError: a NUL in the path
            raise _unreadable(error, path) from None
        if head.startswith(tuple(tables)):
            yield raw
            raw.seek(0)  # it was read here and there
            feed(raw, digest)
            return
        fed = raw if digest is None else io.BufferedReader(_Fed(raw, digest), _BUFFER)
        try:
            stream = stack.enter_context(_plain(fed, head))
            _refuse_binary(stream.peek(PEEK)[:PEEK], path)
        except (EOFError, OSError, zlib.error) as error:
            message = f"the {_packing(error)} data is damaged ({error}); make the file again"
            raise InputError(message, path=str(path)) from None
        yield stream


def feed(stream: IO[bytes], digest: Digest | None) -> None:
    """Give a digest what a stream holds, from where it stands."""
    while digest is not None and (piece := stream.read(_BUFFER)):
        digest.update(piece)


def _plain(stream: IO[bytes], head: bytes) -> io.BufferedReader:
    if head.startswith(_GZIP):
        return cast("io.BufferedReader", gzip.GzipFile(fileobj=stream))
    return unpacked(stream) if head.startswith(_ZSTD) else cast("io.BufferedReader", stream)


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


class LongLine(InputError):
    """A line over the limit. Those behind it can be read on."""

    def __init__(self, head: str, longest: int, path: Path, line: int) -> None:
        message = f"longer than {longest / MEGA:g} MB; {ALLOW_MORE}"
        super().__init__(message, path=str(path), line=line)
        self.line: int = line
        self.head = head
        """How it begins."""


class TextLines:
    """Lines, line ends kept, each with its number, from 1.

    Bytes that are not UTF-8 come as lone surrogates, for one bad line must not hide the next;
    `check_encoding` finds them.

    Args:
        stream: of `open_source`.
        path: where it stands, for messages.
        size: where above 0, so many bytes and the rest of their last line come together, under
            the number of their first line.
        max_line: MB that a line may have, its end included.

    Raises:
        LongLine: on the next line, where it is over the limit; it is not read whole.
        InputError: the packed data breaks off, or the file can be read no further.
    """

    def __init__(
        self, stream: IO[bytes], path: Path, size: int = 0, *, max_line: float = MAX_LINE
    ) -> None:
        self._stream = stream
        self._path = path
        self._size = size
        self.longest = most_bytes(max_line)
        self._number = 1
        self._begun = False
        self._unread = b""
        """The last piece of a line that was too long; its rest is passed over by the next call."""

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> tuple[int, str]:
        while self._unread and not self._unread.endswith(b"\n"):
            self._unread = self._taken(self._stream.readline, _BUFFER)
        self._unread = b""
        before = self._taken(self._stream.read, self._size) if self._size else b""
        last = self._taken(self._stream.readline, self.longest + 1)
        number = self._number
        if len(last) > self.longest:
            self._number += before.count(b"\n") + 1
            head = self._text(last[:CLIPPED])
            self._unread = last
            raise LongLine(head, self.longest, self._path, self._number - 1)
        if not (text := self._text(before + last)):
            raise StopIteration
        self._number += text.count("\n")
        return number, text

    def _text(self, data: bytes) -> str:
        text = data.decode(errors="surrogateescape")
        if not self._begun:
            text, self._begun = text.removeprefix("\ufeff"), True
        return text

    def _taken(self, read: Callable[[int], bytes], size: int) -> bytes:
        try:
            return read(size)
        except (EOFError, OSError, zlib.error) as error:
            if getattr(error, "errno", None) is not None:
                raise _unreadable(error, self._path).at(str(self._path), self._number) from None
            message = f"the {_packing(error)} data is damaged here ({error}); make the file again"
            raise InputError(message, path=str(self._path), line=self._number) from None


def _packing(error: Exception) -> str:
    return "gzip" if isinstance(error, EOFError | gzip.BadGzipFile | zlib.error) else "zstd"


def most_bytes(megabytes: float) -> int:
    """As many bytes; of what is beyond counting, as many as can be counted."""
    return int(max(1, min(megabytes * MEGA, sys.maxsize - 1)))


def check_encoding(text: str, line: int, path: Path) -> None:
    """Raise an `InputError` for text of `TextLines` that is not UTF-8."""
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
    """A line of `TextLines` that can be written: U+FFFD for each byte that is not UTF-8."""
    return text.encode(errors="surrogateescape").decode(errors="replace")


def _unreadable(error: Exception, path: Path) -> InputError:
    reason = (isinstance(error, OSError) and error.strerror) or str(error)
    return InputError(f"cannot be read: {reason}; check the path and its rights", path=str(path))


def _refuse_binary(head: bytes, path: Path) -> None:
    if head.startswith(_UTF16):
        message = "is UTF-16; convert it: save it as CSV UTF-8, or iconv -f UTF-16 -t UTF-8"
        raise InputError(message, path=str(path))
    if b"\0" in head:
        message = "is a binary file; text is needed (a spreadsheet: save it as CSV)"
        if head.startswith(_OLE):
            message = "is an XLS file or bears a password; save it as XLSX without one, or as CSV"
        raise InputError(message, path=str(path))


def csv_reader(lines: Iterable[str], delimiter: str) -> Iterator[list[str]]:
    """The records of a CSV, strictly read, with cells of any length.

    Raises:
        csv.Error: on the next record, where that one is none.
    """
    csv.field_size_limit(_LONGEST_CELL)
    return csv.reader(lines, delimiter=delimiter, strict=True)
