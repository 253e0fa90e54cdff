"""Texts kept on disk by key, in SQLite: of what stands there, only text is ever trusted."""

import errno
import hashlib
import logging
import os
import shlex
import sqlite3
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import get_ident
from typing import Final, Self

from judge.backends.store.keeper import Unkept
from judge.errors import ConfigError, JudgeError, RunError, UsageError

_LOGGER: Final = logging.getLogger("judge")
DATABASE: Final = "cache.db"
_FILES: Final = (DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm")
_PRIVATE: Final = 0o700
_PATIENCE: Final = 60.0
"""Seconds to wait for another process's transaction, which takes milliseconds."""

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
_REFUSED: Final = "cache %s: rows that are no text of ours, or were changed, are not read"
_MALFORMED: Final = "is no sound database ({}); try `{}`, or name another cache directory"
_SETUP: Final = (
    # What SQLite's manual advises for files that others may have written.
    "PRAGMA trusted_schema = 0",
    "PRAGMA cell_size_check = 1",
    "PRAGMA mmap_size = 0",
    # A write-ahead log loses no committed row to a kill -9, even where nobody waits for the disk.
    "PRAGMA journal_mode = wal",
    "PRAGMA cache_size = 8192",
    # The columns and the index of diskcache, which older versions kept this table by.
    """CREATE TABLE IF NOT EXISTS Cache (
    rowid INTEGER PRIMARY KEY, key BLOB, raw INTEGER, store_time REAL, expire_time REAL,
    access_time REAL, access_count INTEGER DEFAULT 0, tag BLOB, size INTEGER DEFAULT 0,
    mode INTEGER DEFAULT 0, filename TEXT, value BLOB)""",
    "CREATE UNIQUE INDEX IF NOT EXISTS Cache_key_raw ON Cache (key, raw)",
)
_PUT: Final = """
    INSERT INTO Cache (key, raw, mode, value, tag) VALUES (?, 1, 1, ?, CAST(? AS TEXT))
    ON CONFLICT (key, raw) DO UPDATE
    SET mode = 1, filename = NULL, value = excluded.value, tag = excluded.tag
"""
_ROWS: Final = """
    SELECT rowid, key, value, tag, raw IS 1 AND mode IS 1 AND filename IS NULL
    AND typeof(key) = 'text' AND typeof(value) = 'text' FROM Cache WHERE
"""
_PAGE: Final = 500
"""Keys in one query, of which SQLite allows 999 values wherever it was built; rows likewise."""
_SPOILT: Final = {sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_NO_ROOM: Final = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_SHMSIZE}
_NO_ROOM_FOR_FILES: Final = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}

_Row = tuple[int, bytes, bytes, bytes | None, int]


class DiskFull(Unkept):
    """A cache's disk, or the room that its user may have on it.

    Also one that fails: SQLite tells both by one code where a file may grow no further.
    """


class DiskStore:
    """A store that processes share, and that outlives them; close it, or use it in a `with`.

    Reading and writing block; each thread has a connection of its own. A row that is not plain text
    (a pickle, one that names a file), or was changed since it was put, counts as absent; the first
    is told to the logger `judge`. The folder holds questions and verdicts, so only its owner may
    enter: it is made or tightened; somebody else's is refused, since they could change what is in
    it. A link is followed. What is put outlives a kill -9, and if `durable` a power cut, too.

    Raises:
        ConfigError: the folder cannot be used, or does not hold a sound database.
        RunError: from reading and writing, where the database fails; it names the next step.
        UsageError: from reading and writing, once the store is closed.
    """

    trouble: Final = "its disk was full"

    def __init__(self, directory: Path, *, durable: bool = False) -> None:
        self.directory = _private(directory)
        self.place = str(directory)
        self._path = self.directory / DATABASE
        self._setup = (*_SETUP, f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
        self._warned = self._closed = False
        self._open: dict[int, tuple[sqlite3.Connection, int]] = {}
        with _translated(self.directory, ConfigError, _UNREAD):
            try:
                # What cannot be written shows here, before anything is paid for.
                self._database().execute("PRAGMA user_version = 1")
            except BaseException:
                self.close()
                raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the database for good; a second time does nothing."""
        self._closed = True
        while self._open:
            self._open.popitem()[1][0].close()

    def get(self, keys: Sequence[str]) -> dict[str, str]:
        """The texts known for these keys; a missing key is absent."""
        found: dict[str, str] = {}
        with self._used(_UNREAD) as database:
            for low in range(0, len(keys), _PAGE):
                some = keys[low : low + _PAGE]
                query = f"{_ROWS} raw = 1 AND key IN ({', '.join('?' * len(some))})"
                found.update(self._sound(database.execute(query, some)))
        return found

    def put(self, texts: Mapping[str, str]) -> None:
        """Keep all of these in one transaction, or none."""
        with self._used(_UNWRITTEN) as database:
            rows = [
                (key, text, _checksum(key.encode(), text.encode())) for key, text in texts.items()
            ]
            try:
                with database:
                    database.executemany(_PUT, rows)
            except BaseException:
                self._release()  # a commit that failed may leave its transaction open
                raise

    def rows(self) -> Iterator[tuple[str, str]]:
        """Every key and its text, oldest first."""
        query, last = f"{_ROWS} rowid > ? ORDER BY rowid LIMIT {_PAGE}", 0
        while True:
            with self._used(_UNREAD) as database:
                page = database.execute(query, (last,)).fetchall()
            if not page:
                return
            last = page[-1][0]
            yield from self._sound(page)

    @property
    def size(self) -> int:
        """Bytes on disk."""
        with self._used(_UNREAD):
            files = (path for path in self.directory.iterdir() if path.name in _FILES)
            return sum(path.stat().st_size for path in files)

    def clear(self) -> int:
        """Remove every row, give the room back, and tell how many rows there were."""
        with self._used(_UNWRITTEN) as database:
            with database:
                removed = database.execute("DELETE FROM Cache").rowcount
            database.execute("VACUUM")
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return removed

    def _sound(self, rows: Iterable[_Row]) -> Iterator[tuple[str, str]]:
        """Key and text of each row that is ours, and as it was put.

        Rows of older versions have no checksum, and are read: they were paid for.
        """
        for _, key, text, tag, ours in rows:
            if ours and (tag is None or tag == _checksum(key, text)):
                yield key.decode("utf-8", "replace"), text.decode("utf-8", "replace")
            elif not self._warned:
                self._warned = True
                _LOGGER.warning(_REFUSED, self.directory)

    @contextmanager
    def _used(self, what: str) -> Iterator[sqlite3.Connection]:
        if self._closed:
            raise UsageError(f"cache {self.directory}: closed; ask while its `with` is open")
        with _translated(self.directory, RunError, what):
            yield self._database()

    def _database(self) -> sqlite3.Connection:
        """This thread's connection.

        Another one where the folder was removed: SQLite would go on in a file without a name.
        """
        try:
            here = self._path.stat().st_ino
        except FileNotFoundError:
            here = None
        if (known := self._open.get(get_ident())) and known[1] == here:
            return known[0]
        if here is None and self._open:
            _LOGGER.warning("cache %s: was removed meanwhile, and is begun anew", self.directory)
        self._release()
        self.directory.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
        self._path.touch(mode=0o600)  # SQLite gives its other files the mode of this one
        database = sqlite3.connect(
            self._path, _PATIENCE, isolation_level="IMMEDIATE", check_same_thread=False
        )
        try:
            database.text_factory = bytes
            for statement in self._setup:
                database.execute(statement)
        except BaseException:
            database.close()
            raise
        self._open[get_ident()] = database, self._path.stat().st_ino
        return database

    def _release(self) -> None:
        if known := self._open.pop(get_ident(), None):
            known[0].close()


def empty(directory: Path) -> int | None:
    """Remove all that is stored, and a database without sense, or without room to be emptied in.

    Tells how many rows there were; None where there is no telling.

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
        for name in _FILES:
            (folder / name).unlink(missing_ok=True)
    return None


def _checksum(key: bytes, text: bytes) -> bytes:
    """Shows accidents and casual editing, a text moved to another key included.

    It proves nothing against somebody who computes it anew, for it needs no secret.
    """
    return hashlib.sha256(b"%b %b" % (key, text)).hexdigest()[:16].encode()


def _private(directory: Path) -> Path:
    """The real folder, made if need be, that none but its owner may enter."""
    with _translated(directory, ConfigError, _UNUSABLE):
        directory.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
        real = directory.resolve(strict=True)
        found = real.stat()
        strange = [name for name in _FILES if (real / name).is_symlink()]
        # Windows knows neither these users nor these modes; there a home folder is its user's.
        posix = hasattr(os, "geteuid")
        open_to_others = posix and stat.S_IMODE(found.st_mode) & ~_PRIVATE
        why = ""
        if posix and found.st_uid != os.geteuid():
            why = "it is another user's, who could change the verdicts kept in it"
        elif os.path.expandvars(real) != str(real):
            why = "it bears a variable's name, which nobody expands"
        elif strange:
            why = f"{strange[0]} in it is a link"
        elif open_to_others and not (real / DATABASE).exists() and any(real.iterdir()):
            why = "others may enter it, and it holds other things, so it stays as it is"
        elif open_to_others:
            real.chmod(_PRIVATE)
    if why:
        raise ConfigError(f"cache {directory}: {_UNUSABLE.format(why)}")
    return real


@contextmanager
def _translated(directory: Path, kind: Callable[[str], JudgeError], what: str) -> Iterator[None]:
    """Errors of the disk and of the database become ours.

    The message is `what` with the cause for "{}"; where the database is malformed, that it can be
    cleared.
    """
    try:
        yield
    except (sqlite3.Error, OSError, UnicodeEncodeError) as error:
        if _malformed(error):
            clear = f"judge cache clear --yes --cache-dir {shlex.quote(str(directory))}"
            words = _MALFORMED.format(_why(error), clear)
        elif _full(error):
            words, kind = _FULL.format(_why(error)), DiskFull
        else:
            words = what.format(_why(error))
        raise kind(f"cache {directory}: {words}") from None


def _malformed(error: BaseException | None) -> bool:
    """Whether SQLite can make no sense of the database: that, clearing cures."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in _SPOILT


def _full(error: BaseException) -> bool:
    if isinstance(error, OSError):
        return error.errno in _NO_ROOM_FOR_FILES
    return getattr(error, "sqlite_errorcode", 0) in _NO_ROOM


def _why(error: BaseException) -> str:
    """What went wrong, without any text that is stored: Python's own messages may quote one."""
    if isinstance(error, OSError):
        return error.strerror or type(error).__name__
    return str(error) if hasattr(error, "sqlite_errorcode") else type(error).__name__
