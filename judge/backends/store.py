"""Texts kept on disk by key: SQLite by way of diskcache, of which only text is ever trusted."""

import logging
import os
import sqlite3
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Final, Self

from diskcache import Cache, Disk, Timeout
from diskcache.core import DBNAME, DEFAULT_SETTINGS, METADATA, MODE_RAW

from judge.errors import ConfigError, JudgeError, RunError, UsageError

DATABASE: Final = DBNAME
_FILES: Final = (DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm")
_PATIENCE: Final = 60.0
"""Seconds to wait for another process's transaction, which takes milliseconds."""
_AT_ONCE: Final = 500
"""Keys in one query, rows in one page."""
_PRIVATE: Final = 0o700
# What SQLite's manual advises for files that others may have written.
_WARY: Final = {"trusted_schema": 0, "cell_size_check": 1, "mmap_size": 0}
_SETTINGS: Final[Mapping[str, object]] = {
    **DEFAULT_SETTINGS,
    "statistics": 0,
    "eviction_policy": "none",
    "cull_limit": 0,  # nothing is ever culled: the cache is the crash journal
    "disk_min_file_size": 2**63 - 1,
    # A write-ahead log with this much syncing loses no committed row to a kill -9.
    "sqlite_journal_mode": "wal",
    "sqlite_synchronous": 1,
    "sqlite_auto_vacuum": 0,  # `clear` vacuums
    **{f"sqlite_{name}": value for name, value in _WARY.items()},
}
_SPOILT: Final = {sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_UNUSABLE: Final = "cannot be used ({}); name another cache directory"
_UNREAD: Final = "cannot be read ({}); try `judge cache clear`, or name another cache directory"
_UNWRITTEN: Final = "cannot be written ({}); what is there stays: mend that, then run it again"
_COLUMNS: Final = "rowid, key, raw, mode, filename, value"


class TextDisk(Disk):  # type: ignore[misc]  # diskcache ships no types
    """Holds text in the database and nowhere else, whatever a planted row says.

    diskcache's own would unpickle values and keys (CVE-2025-69872), and read and delete the files
    that a row names, wherever those are.
    """

    def put(self, key: object) -> tuple[str, bool]:
        """A key as it stands in the database."""
        if type(key) is not str:
            raise TypeError(f"a key is text, not {type(key).__name__}")
        return key, True

    def get(self, key: object, raw: object) -> str:
        """A key as it was given."""
        if raw != 1 or type(key) is not str:
            raise ValueError("a key that is no text is not read")
        return key

    def store(self, value: object, read: bool, key: object = None) -> tuple[int, int, None, str]:  # noqa: ARG002, FBT001  diskcache's signature
        """A value as it stands in the database."""
        if type(value) is not str:
            raise TypeError(f"a value is text, not {type(value).__name__}")
        return 0, MODE_RAW, None, value

    def fetch(self, mode: object, filename: object, value: object, read: bool) -> str:  # noqa: FBT001  diskcache's signature
        """A value as it was given."""
        if mode != MODE_RAW or filename is not None or read or type(value) is not str:
            raise ValueError("a value that is no text of the database is not read")
        return value

    def remove(self, file_path: object) -> None:
        """Remove nothing: no file is ours, and only a planted row names one."""


class DiskStore:
    """A store that processes share, and that outlives them; close it, or use it in a `with`.

    A row that is not plain text (a pickle, one that names a file) counts as absent; the first is
    told to the logger `judge`. Reading and writing raise a `RunError` that names the next step
    where the database fails, and a `UsageError` once the store is closed.

    Args:
        directory: its own folder, made where it does not exist. It holds questions and verdicts,
            so only its owner may enter: one of ours that others may enter is tightened; somebody
            else's is refused, since they could change what is in it. A link is followed.

    Raises:
        ConfigError: the folder cannot be used, or does not hold a sound database.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = _private(directory)
        self._warned = False
        with _translated(self.directory, ConfigError, _UNREAD), ExitStack() as stack:
            self._database = stack.enter_context(closing(_connect(self.directory / DATABASE)))
            _drop_foreign_settings(self._database)
            self._cache = Cache(str(self.directory), timeout=_PATIENCE, disk=TextDisk, **_SETTINGS)
            stack.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the database."""
        self._cache.close()
        self._database.close()

    def get(self, keys: Sequence[str]) -> dict[str, str]:
        """The texts known for these keys; a missing key is absent."""
        found: dict[str, str] = {}
        for low in range(0, len(keys), _AT_ONCE):
            some = keys[low : low + _AT_ONCE]
            found.update(self._sound(self._select(f"key IN ({','.join('?' * len(some))})", some)))
        return found

    def put(self, texts: Mapping[str, str]) -> None:
        """Keep all of these in one transaction, or none; what is kept outlives a kill -9."""
        self._select("0", [])  # fails once closed, where diskcache would open it anew
        with _translated(self.directory, RunError, _UNWRITTEN), self._cache.transact():
            for key, text in texts.items():
                self._cache.set(key, text)

    def rows(self) -> Iterator[tuple[str, str]]:
        """Every key and its text, oldest first, a page at a time."""
        last: object = -(2**63)
        while page := self._select(f"rowid > ? ORDER BY rowid LIMIT {_AT_ONCE}", [last]):
            last = page[-1][0]
            yield from self._sound(page)

    @property
    def size(self) -> int:
        """Bytes on disk."""
        with _translated(self.directory, RunError, _UNREAD):
            files = (path for path in self.directory.iterdir() if path.name in _FILES)
            return sum(path.stat().st_size for path in files)

    def clear(self) -> int:
        """Remove every row, give the room back, and tell how many rows there were."""
        with _translated(self.directory, RunError, _UNWRITTEN):
            removed = self._database.execute("DELETE FROM Cache").rowcount
            self._database.execute("VACUUM")
            self._database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return removed

    def _select(self, condition: str, values: Sequence[object]) -> list[tuple[object, ...]]:
        query = f"SELECT {_COLUMNS} FROM Cache WHERE {condition}"  # noqa: S608  the values are bound
        with _translated(self.directory, RunError, _UNREAD):
            return self._database.execute(query, values).fetchall()

    def _sound(self, rows: Sequence[tuple[object, ...]]) -> Iterator[tuple[str, str]]:
        for _, key, raw, mode, filename, value in rows:
            text = raw == 1 and mode == MODE_RAW and filename is None
            if text and isinstance(key, str) and isinstance(value, str):
                yield key, value
            elif not self._warned:
                self._warned = True
                logging.getLogger("judge").warning(
                    "cache %s: rows that are no text of ours are not read", self.directory
                )


def empty(directory: Path) -> int | None:
    """Remove every row and tell how many; or, where no sense can be made of it, the database.

    Raises:
        ConfigError: the folder is not ours to change.
        RunError: another process holds the database, or the disk fails.
    """
    try:
        with DiskStore(directory) as store:
            return store.clear()
    except JudgeError as error:
        if getattr(error.__context__, "sqlite_errorcode", 0) & 0xFF not in _SPOILT:
            raise
    folder = _private(directory)
    with _translated(folder, ConfigError, _UNUSABLE):
        for name in _FILES:
            (folder / name).unlink(missing_ok=True)
    return None


def _private(directory: Path) -> Path:
    """The real folder, made if need be, that none but its owner may enter."""
    with _translated(directory, ConfigError, _UNUSABLE):
        directory.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
        real = directory.resolve(strict=True)
        found = real.stat()
        strange = [name for name in _FILES if (real / name).is_symlink()]
        open_to_others = stat.S_IMODE(found.st_mode) & ~_PRIVATE
        why = ""
        if found.st_uid != os.geteuid():
            why = "it is another user's, who could change the verdicts kept in it"
        elif os.path.expandvars(real) != str(real):
            why = "it bears a variable's name"  # diskcache would go where the variable says
        elif strange:
            why = f"{strange[0]} in it is a link"
        elif open_to_others and not (real / DATABASE).exists() and any(real.iterdir()):
            why = "others may enter it, and it holds other things, so it stays as it is"
        elif open_to_others:
            real.chmod(_PRIVATE)
    if why:
        raise ConfigError(f"cache {directory}: {_UNUSABLE.format(why)}")
    return real


def _connect(path: Path) -> sqlite3.Connection:
    # Whichever thread: SQLite itself takes turns.
    db = sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False)
    for name, value in _WARY.items():
        db.execute(f"PRAGMA {name} = {value}")
    # Bytes that are no UTF-8 would end the query; so they end as a row that nobody understands.
    db.text_factory = lambda data: data.decode("utf-8", "replace")
    return db


def _drop_foreign_settings(db: sqlite3.Connection) -> None:
    """Remove settings not ours: diskcache makes attributes and PRAGMAs of any it finds."""
    if db.execute("SELECT 1 FROM sqlite_master WHERE name = 'Settings'").fetchone():
        for row, key, value in db.execute("SELECT rowid, key, value FROM Settings").fetchall():
            if key not in METADATA and (key not in _SETTINGS or _SETTINGS[key] != value):
                db.execute("DELETE FROM Settings WHERE rowid = ?", (row,))


@contextmanager
def _translated(directory: Path, kind: Callable[[str], JudgeError], what: str) -> Iterator[None]:
    """Errors of the disk and of the database become ours."""
    try:
        yield
    except sqlite3.ProgrammingError:  # of all its causes, only a closed database is possible
        raise UsageError(f"cache {directory}: closed; ask while its `with` is open") from None
    except (sqlite3.Error, OSError, Timeout, ValueError) as error:
        # A ValueError is diskcache's surprise at more rows than it expects.
        raise kind(f"cache {directory}: {what.format(_why(error))}") from None


def _why(error: Exception) -> str:
    """What went wrong, without any text that is stored: Python's own messages may quote one."""
    if isinstance(error, OSError):
        return error.strerror or type(error).__name__
    if isinstance(error, Timeout):  # diskcache hides what SQLite said
        return "another process holds it, or it may only be read"
    return str(error) if hasattr(error, "sqlite_errorcode") else type(error).__name__
