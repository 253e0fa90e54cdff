"""Texts kept on disk by key, by diskcache in SQLite. Rows that are not plain text are ignored."""

import errno
import logging
import os
import shlex
import sqlite3
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Self

from diskcache import Cache, Disk, Timeout

from judge.backends.store.keeper import Unkept
from judge.errors import ConfigError, JudgeError, RunError, UsageError

_LOGGER: Final = logging.getLogger("judge")
DATABASE: Final = "cache.db"
_FILES: Final = (DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm")
_PRIVATE: Final = 0o700
_LOCK_SECONDS: Final = 60.0
"""How long a transaction of another process is waited for; each takes milliseconds."""
_MODE_RAW: Final = 1
"""How diskcache marks a value that is in the database as it is."""

_UNUSABLE: Final = "cannot be used ({}); name another cache directory"
_UNREAD: Final = "cannot be read ({}); mend that, or name another cache directory (--cache-dir)"
_UNWRITTEN: Final = (
    "cannot be written ({}); what is there stays: mend that, then run it again, or name another "
    "cache directory (--cache-dir)"
)
_FULL: Final = (
    "its disk is full ({}), and takes no verdict; what is there stays: free some room, or name "
    "another cache directory (--cache-dir)"
)
_REFUSED: Final = "cache %s: rows that are not plain text are ignored"
_MALFORMED: Final = "is not a sound database ({}); try `{}`, or name another cache directory"
_SPOILT: Final = {sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_NO_ROOM: Final = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_SHMSIZE}
_NO_ROOM_FOR_FILES: Final = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


class DiskFull(Unkept):
    """The cache's disk has no room left, or the user's share of it is used up."""


class TextDisk(Disk):  # type: ignore[misc] # diskcache has no types
    """Keeps text in the database alone.

    diskcache itself unpickles what a row holds and opens, or removes, the file that a row names
    (CVE-2025-69872). Here a row with a pickle or a file name counts as absent, and no file beside
    the database is ever touched.
    """

    refused = False
    """Whether a row was ignored."""

    def put(self, key: str) -> tuple[str, bool]:
        """Return the key as the database holds it."""
        return key, True

    def get(self, key: object, raw: object) -> str | None:
        """Return the key of a row; None where it is not text."""
        if raw and isinstance(key, str):
            return key
        self.refused = True
        return None

    def store(self, value: str, _read: bool, key: object = None) -> tuple[int, int, None, str]:  # noqa: FBT001
        """Return the columns `size`, `mode`, `filename` and `value` of a row."""
        del key
        return len(value), _MODE_RAW, None, value

    def fetch(self, mode: int, filename: str | None, value: object, _read: bool) -> str:  # noqa: FBT001
        """Return the text of a row.

        Raises:
            OSError: the row is not plain text; diskcache takes that for an absent row.
        """
        if mode == _MODE_RAW and filename is None and isinstance(value, str):
            return value
        self.refused = True
        raise OSError("not plain text")

    def remove(self, _path: str) -> None:
        """Remove no file: only a row that somebody else wrote can name one."""


class DiskStore:
    """A `Keeper` in a folder, which processes share; close it, or use it in a `with`.

    What is put outlives a kill -9, and where it is `durable` a power cut, too. The folder holds
    questions and verdicts: it is made for its owner alone.

    Raises:
        ConfigError: the folder cannot be used, or does not hold a sound database.
        RunError: from reading and writing, where the database fails; it names the next step.
        UsageError: from reading and writing, once the store is closed.
    """

    trouble: Final = "its disk was full"

    def __init__(self, directory: Path, *, durable: bool = False) -> None:
        self.directory = _private(directory)
        self.place = str(directory)
        self._closed = self._warned = False
        with _translated(self.directory, ConfigError, _UNREAD):
            self._cache: Any = Cache(
                str(self.directory),
                timeout=_LOCK_SECONDS,
                disk=TextDisk,
                disk_min_file_size=2**62,
                eviction_policy="none",
                cull_limit=0,
                sqlite_journal_mode="wal",
                sqlite_synchronous=2 if durable else 1,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the database for good; a second time does nothing."""
        self._closed = True
        self._cache.close()

    def get(self, keys: Sequence[str]) -> dict[str, str]:
        """Return the texts known for these keys; a missing key is absent."""
        with self._used(_UNREAD) as cache:
            found = {key: cache.get(key) for key in keys}
        return {key: text for key, text in found.items() if text is not None}

    def put(self, texts: Mapping[str, str]) -> None:
        """Keep all of these in one transaction, or none."""
        with self._used(_UNWRITTEN) as cache, cache.transact():
            for key, text in texts.items():
                cache.set(key, text)

    def rows(self) -> Iterator[tuple[str, str]]:
        """Yield every key and its text."""
        with self._used(_UNREAD) as cache:
            for key in cache:
                if key is not None and (text := cache.get(key)) is not None:
                    yield key, text

    @property
    def size(self) -> int:
        """Bytes on disk."""
        with self._used(_UNREAD):
            return sum(path.stat().st_size for path in _there(self.directory))

    def clear(self) -> int:
        """Remove every row, and return how many there were."""
        with self._used(_UNWRITTEN) as cache:
            removed: int = cache.clear()
            cache.close()  # which shrinks the files; the next use opens them again
        return removed

    @contextmanager
    def _used(self, what: str) -> Iterator[Any]:
        if self._closed:
            raise UsageError(f"cache {self.directory}: closed; ask while its `with` is open")
        with _translated(self.directory, RunError, what):
            yield self._cache
        if self._cache.disk.refused and not self._warned:
            self._warned = True
            _LOGGER.warning(_REFUSED, self.directory)


def empty(directory: Path) -> int | None:
    """Remove all that is stored, and a database that cannot be read.

    Returns:
        The number of rows that were removed; None where it could not be counted.

    Raises:
        ConfigError: the folder is not ours to change.
        RunError: another process holds the database, or the disk fails.
    """
    try:
        with DiskStore(directory) as store:
            return store.clear()
    except JudgeError as error:
        if not (_malformed(error.__context__) or isinstance(error, DiskFull)):
            raise
    folder = _private(directory)
    with _translated(folder, ConfigError, _UNUSABLE):
        for path in _there(folder):
            path.unlink()
    return None


def _there(folder: Path) -> list[Path]:
    return [folder / name for name in _FILES if (folder / name).exists()]


def _private(directory: Path) -> Path:
    """Return the real folder, made if need be, that only its owner may enter."""
    with _translated(directory, ConfigError, _UNUSABLE):
        directory.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
        real = directory.resolve(strict=True)
        if os.name == "posix" and stat.S_IMODE(real.stat().st_mode) & ~_PRIVATE:
            if not (real / DATABASE).exists() and any(real.iterdir()):
                why = "others may enter it, and it holds other things, so it stays as it is"
                raise ConfigError(f"cache {directory}: {_UNUSABLE.format(why)}")
            real.chmod(_PRIVATE)
    return real


@contextmanager
def _translated(directory: Path, kind: Callable[[str], JudgeError], what: str) -> Iterator[None]:
    """Raise errors of the disk and of the database as errors of ours.

    The message is `what` with the cause for "{}"; where the database is malformed, it says how to
    clear it.
    """
    try:
        yield
    except (sqlite3.Error, OSError, UnicodeEncodeError, Timeout) as error:
        cause: BaseException = error
        if isinstance(error.__context__, sqlite3.Error):
            cause = error.__context__  # diskcache's own rollback failed after it
        if _malformed(cause):
            clear = f"judge cache clear --yes --cache-dir {shlex.quote(str(directory))}"
            words = _MALFORMED.format(_why(cause), clear)
        elif _full(cause):
            words, kind = _FULL.format(_why(cause)), DiskFull
        else:
            words = what.format(_why(cause))
        raise kind(f"cache {directory}: {words}") from None


def _malformed(error: BaseException | None) -> bool:
    """Whether SQLite cannot read the database: then it can only be cleared."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in _SPOILT


def _full(error: BaseException) -> bool:
    if isinstance(error, OSError):
        return error.errno in _NO_ROOM_FOR_FILES
    return getattr(error, "sqlite_errorcode", 0) in _NO_ROOM


def _why(error: BaseException) -> str:
    """Return what went wrong, without any stored text: Python's own messages may quote one."""
    if isinstance(error, OSError):
        return error.strerror or type(error).__name__
    if isinstance(error, Timeout):
        return "another process has held it for a minute"
    return str(error) if hasattr(error, "sqlite_errorcode") else type(error).__name__
