"""The files that the name of an input means, and their text."""

import gzip
import hashlib
import io
import re
import shutil
import sys
import tempfile
import zlib
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from fnmatch import fnmatchcase
from glob import iglob
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, NamedTuple, cast
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
_TABLE_ENDINGS: Final = (".parquet", ".pq", ".arrow", ".feather", ".xlsx")
_ENDINGS: Final = (*(e + z for e in _TEXT_ENDINGS for z in ("", ".gz", ".zst")), *_TABLE_ENDINGS)
_WILDCARDS: Final = frozenset("*?[")
_GZIP: Final = b"\x1f\x8b"
_ZSTD: Final = b"\x28\xb5\x2f\xfd"
UTF16: Final = (b"\xff\xfe", b"\xfe\xff")
_OLE: Final = b"\xd0\xcf\x11\xe0"
"""The first bytes of old Office files, and of new ones that are encrypted."""
CHINESE: Final = "gb18030"
"""The encoding of a CSV that Excel and WPS save where Windows speaks Chinese."""
_JOINED_SLASHES: Final = re.compile(r"^(\w{2,}):/(?=[^/])")
"""The beginning of an address after `Path` has made one slash of two."""
_REMOTE_PIECE: Final = 4 << 20
"""Bytes of one request to an object store."""
_BUFFER: Final = 1 << 18


# Names


class InputFile(NamedTuple):
    """A file on this machine, or at an address that Arrow reads, such as `s3://bucket/key`."""

    address: str
    """A path, or an address whose special characters are escaped."""
    size: int | None = None
    """In bytes, if known."""

    def __str__(self) -> str:
        return unquote(self.address) if "://" in self.address else self.address

    @property
    def name(self) -> str:
        """The last part of the address."""
        return str(self).rpartition("/")[2]

    def open(self) -> io.BufferedReader:
        """Return its bytes; raise OSError or ValueError if it cannot be read."""
        if "://" not in self.address:
            return Path(self.address).open("rb")
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


def is_address(given: str | Path) -> bool:
    """Return whether a name is an address such as `s3://bucket/key`, and no path."""
    return "://" in whole_address(given)


def whole_address(given: str | Path) -> str:
    """Return an address whose two slashes `Path` may have joined."""
    # A `file:` address has an empty host: file:///tmp/a.
    return _JOINED_SLASHES.sub(lambda m: f"{m[1]}:{'///' if m[1] == 'file' else '//'}", str(given))


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
    with extra("data", given.partition(":")[0]):
        from pyarrow.fs import FileSelector, FileType  # noqa: PLC0415  an extra, and slow to load
    parts = urlsplit(given)
    if parts.password or "=" in parts.query:
        raise InputError(
            "an address with keys or options in it is not read; set them in the environment"
        )
    address, pattern = quote(given, "%/:@!$&'()*+,;=~"), ""
    try:
        system, path = _file_system(address)
        begin = unquote(address).rstrip("/").removesuffix(path.rstrip("/"))
        found = system.get_file_info(path)
        if found.type is FileType.NotFound and not _WILDCARDS.isdisjoint(path):
            names = path.split("/")
            fixed = next(i for i, name in enumerate(names) if not _WILDCARDS.isdisjoint(name))
            pattern, path = path, "/".join(names[:fixed])
            found = system.get_file_info(path)
        if found.type is FileType.File:
            return [InputFile(address, found.size)]
        if found.type is FileType.NotFound:
            raise InputError("no such file or folder; check the path", path=given)
        every = system.get_file_info(FileSelector(path, recursive=True))
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read: {error}; check it", path=given) from None
    meant = [e for e in every if e.type is FileType.File and _is_meant(e.path, pattern)]
    if not meant:
        raise _no_file(given, folder=not pattern)
    meant.sort(key=lambda each: each.path)
    return [InputFile(begin + quote(each.path), each.size) for each in meant]


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
    for ending in (".gz", ".zst", *_TABLE_ENDINGS, *_TEXT_ENDINGS):
        name = name.removesuffix(ending)
    if not _WILDCARDS.isdisjoint(name):
        name = re.sub(r"[*?\[\]]+", "", name).strip("-_")
    # `...jsonl` would name the folder above, and `.jsonl` none.
    return name if name.strip(".") else "run"


def would_hold(path: str | Path, folder: Path) -> bool:
    """Return whether an input that is read as a folder contains another folder."""
    return Path(path).is_dir() and folder.resolve().is_relative_to(Path(path).resolve())


def input_name(name: str) -> str:
    """Return what messages call an input."""
    return "standard input" if name == PIPED else name


@contextmanager
def naming_input(name: str) -> Iterator[None]:
    """Name this input, and not a copy of it, in errors."""
    try:
        yield
    except InputError as error:
        raise with_input_name(error, name) from None


def with_input_name(error: InputError, name: str) -> InputError:
    """Return the error with the name of its input; a file of several keeps its own name."""
    own = error.path if is_many(name) else ""
    return error.at(own or name, error.line)


# Pipes


def standard_input() -> IO[bytes]:
    """Return standard input; raise ConfigError if it is closed."""
    if sys.stdin is None:
        raise ConfigError("standard input is closed; pipe the samples in, or name a file")
    return sys.stdin.buffer


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
            message = f"{input_name(name)}: cannot be copied ({error.strerror}); "
            raise RunError(message + "save it to a file and name that") from None
        yield Path(copy.name)


# Bytes and text


def hash_of(given: str | Path) -> str:
    """Return the SHA-256 of an input: of the file's bytes, or of several files' hashes in order.

    Raises:
        InputError: a file cannot be opened.
        OSError: a file cannot be read.
    """
    return hash_of_hashes(list(map(hash_of_file, input_files(given))))


def hash_of_file(file: InputFile) -> str:
    """Return the SHA-256 of a file's bytes; errors as in `hash_of`."""
    with _opened(file) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def hash_of_hashes(hashes: list[str]) -> str:
    """Return the hash of an input whose files have these hashes, in order."""
    return hashes[0] if len(hashes) == 1 else hashlib.sha256("".join(hashes).encode()).hexdigest()


@contextmanager
def open_text(file: InputFile) -> Iterator[io.BufferedReader]:
    """Yield a file's bytes, decompressed if they are gzip or zstd.

    Raises:
        InputError: the file does not exist, is a folder, is not text, or cannot be read, also
            where the reading within the block fails.
        ConfigError: the library that decompresses it is not installed.
    """
    with open_raw(file) as raw, decompress(raw, file) as stream:
        yield stream


@contextmanager
def open_raw(file: InputFile) -> Iterator[io.BufferedReader]:
    """Yield a file's bytes as they are; errors as in `open_text`."""
    try:
        with _opened(file) as raw:
            yield raw
    except OSError as error:
        raise _unreadable(error, file) from None


@contextmanager
def _opened(file: InputFile) -> Iterator[io.BufferedReader]:
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


@contextmanager
def decompress(raw: io.BufferedReader, file: InputFile) -> Iterator[io.BufferedReader]:
    """Yield the text in an open file; errors as in `open_text`."""
    head = raw.peek(PEEK)
    packing = "gzip" if head.startswith(_GZIP) else "zstd" if head.startswith(_ZSTD) else ""
    try:
        with _unpacked(raw, packing) as stream:
            _refuse_binary(stream.peek(PEEK)[:PEEK], file)
            yield stream
    except (EOFError, OSError, zlib.error) as error:
        if not packing or getattr(error, "errno", None) is not None:
            raise
        message = f"the {packing} data is damaged ({error}); make the file again"
        raise InputError(message, path=str(file)) from None


@contextmanager
def _unpacked(raw: io.BufferedReader, packing: str) -> Iterator[io.BufferedReader]:
    if packing == "zstd":
        with extra("data", "zstd"):
            import pyarrow as pa  # noqa: PLC0415  an extra, and slow to load
        unpacked = pa.CompressedInputStream(pa.PythonFile(raw, "r"), "zstd")
        with io.BufferedReader(cast("io.RawIOBase", unpacked)) as stream:
            yield cast("io.BufferedReader", stream)
    else:
        yield cast("io.BufferedReader", gzip.GzipFile(fileobj=raw) if packing else raw)


def _refuse_binary(head: bytes, file: InputFile) -> None:
    if head.startswith(UTF16):
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


class LongLineError(InputError):
    """A line over the limit."""


class Line(NamedTuple):
    """A line of a text file with its end."""

    number: int
    """From 1."""
    text: str
    """The text, cut if the line is too long; bytes that cannot be decoded become U+FFFD."""
    error: InputError | None = None
    """An overlong line, or one in another encoding."""


def text_lines(
    stream: IO[bytes], max_line: float, on_chinese: Callable[[], object] | None = None
) -> Iterator[Line]:
    """Yield the lines of a UTF-8 file; one bad line does not hide the next.

    Args:
        stream: of `open_text`.
        max_line: the limit of a line in MB, its end included; no more of it is held.
        on_chinese: called once if the first line that is not ASCII is GB18030 and not UTF-8; all
            lines are decoded as GB18030 from there on. Without it such a line is an error.
    """
    most, number, encoding, is_ascii = most_bytes(max_line), 0, "utf-8", True
    while data := stream.readline(most + 1):
        number += 1
        if number == 1:
            data = data.removeprefix(BOM_UTF8)
        if len(data) > most:
            rest = data
            while rest and not rest.endswith(b"\n"):
                rest = stream.readline(_BUFFER)
            long = LongLineError(f"longer than {most / MEGA:g} MB; {ALLOW_MORE}")
            yield Line(number, data[:CLIPPED].decode(errors="replace"), long)
            continue
        if is_ascii and not data.isascii():
            is_ascii = False
            if on_chinese is not None and not _is(data, "utf-8") and _is(data, CHINESE):
                encoding = CHINESE
                on_chinese()
        try:
            yield Line(number, data.decode(encoding))
        except UnicodeDecodeError as error:
            yield Line(number, data.decode(encoding, "replace"), wrong_encoding(error))


def _is(data: bytes, encoding: str) -> bool:
    try:
        data.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


def wrong_encoding(error: UnicodeDecodeError) -> InputError:
    """Return the error of a line that cannot be decoded, with the byte and its column."""
    column = error.start - error.object.rfind(b"\n", 0, error.start)
    byte = f"byte {error.object[error.start]:#04x} at column {column}"
    step = "convert the file, for example: iconv -f GB18030 -t UTF-8"
    return InputError(f"not {error.encoding.upper()} ({byte}); {step}")


def most_bytes(megabytes: float) -> int:
    """Return a limit in MB as bytes; infinity becomes the largest possible size."""
    return int(max(1, min(megabytes * MEGA, sys.maxsize - 1)))
