"""Texts kept on disk by key: diskcache in SQLite, of which only text is ever trusted."""

import asyncio
import errno
import hashlib
import logging
import os
import shlex
import sqlite3
import stat
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final, Generic, Self, TypeVar

from diskcache import Cache, Disk, Timeout
from diskcache.core import DBNAME, DEFAULT_SETTINGS, METADATA, MODE_RAW

from judge.errors import ConfigError, JudgeError, RunError, UsageError

Given = TypeVar("Given")
Made = TypeVar("Made")

_LOGGER: Final = logging.getLogger("judge")
DATABASE: Final = DBNAME
_FILES: Final = (DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm")
_PRIVATE: Final = 0o700
_PATIENCE: Final = 60.0
"""Seconds to wait for another process's transaction, which takes milliseconds."""
_AT_ONCE: Final = 64
"""Callers whose texts are read or written together."""
_SETTINGS: Final[Mapping[str, object]] = {
    **DEFAULT_SETTINGS,
    "statistics": 0,
    "eviction_policy": "none",
    "cull_limit": 0,  # nothing is ever culled: the cache is the crash journal
    "disk_min_file_size": 2**63 - 1,
    "sqlite_auto_vacuum": 0,  # `clear` vacuums
    # A write-ahead log with this much syncing loses no committed row to a kill -9.
    "sqlite_journal_mode": "wal",
    "sqlite_synchronous": 1,
    # What SQLite's manual advises for files that others may have written.
    "sqlite_trusted_schema": 0,
    "sqlite_cell_size_check": 1,
    "sqlite_mmap_size": 0,
}

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
_LOST: Final = (
    "cache %s: its disk was full, and what %d calls said is not kept: it stands in the results "
    "alone, and is asked for again with --force"
)
_MALFORMED: Final = "is no sound database ({}); try `{}`, or name another cache directory"
_ROWS: Final = """
    SELECT key, mode, filename, CASE typeof(value) WHEN 'text' THEN CAST(value AS BLOB) END, tag
    FROM Cache WHERE raw = 1 AND key IN ({})
"""
_KEYS_AT_ONCE: Final = 500
"""In one query, of which SQLite allows 999 values wherever it was built."""
_SPOILT: Final = {sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_NO_ROOM: Final = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_SHMSIZE}
_NO_ROOM_FOR_FILES: Final = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


class DiskFull(RunError):
    """A cache's disk, or the room that its user may have on it.

    Also one that fails: SQLite tells both by one code where a file may grow no further.
    """


class DiskStore:
    """A store that processes share, and that outlives them; close it, or use it in a `with`.

    Reading and writing block. A row that is not plain text (a pickle, one that names a file), or
    was changed since it was put, counts as absent; the first is told to the logger `judge`. The
    folder holds questions and
    verdicts, so only its owner may enter: it is made or tightened; somebody else's is refused,
    since they could change what is in it. A link is followed.

    Raises:
        ConfigError: the folder cannot be used, or does not hold a sound database.
        RunError: from reading and writing, where the database fails; it names the next step.
        UsageError: from reading and writing, once the store is closed.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = _private(directory)
        self._warned = self._closed = False
        with _translated(self.directory, ConfigError, _UNREAD):
            # SQLite gives its other files the mode of this one.
            (self.directory / DATABASE).touch(mode=0o600)
            with closing(sqlite3.connect(self.directory / DATABASE, timeout=_PATIENCE)) as db:
                _drop_foreign_settings(db)
            self._cache = self._opened()

    def _opened(self) -> "_Texts":
        return _Texts(str(self.directory), timeout=_PATIENCE, disk=_Disk, **_SETTINGS)

    def _stay(self) -> None:
        """Begin anew where the folder was removed: SQLite would go on in a file without a name."""
        if not (self.directory / DATABASE).exists():
            _LOGGER.warning("cache %s: was removed meanwhile, and is begun anew", self.directory)
            self.release()
            self.directory.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
            (self.directory / DATABASE).touch(mode=0o600)
            self._cache = self._opened()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the database for good; a second time does nothing."""
        self._closed = True
        self.release()

    def release(self) -> None:
        """Close this thread's connection; the next use on it makes another."""
        self._cache.close()

    def get(self, keys: Sequence[str]) -> dict[str, str]:
        """The texts known for these keys; a missing key is absent."""
        with self._used(_UNREAD):
            found = self._cache.texts(keys)
        if None in found.values():
            self._refuse()
        return {key: text for key, text in found.items() if text is not None}

    def put(self, texts: Mapping[str, str]) -> None:
        """Keep all of these in one transaction, or none; what is kept outlives a kill -9."""
        with self._used(_UNWRITTEN):
            try:
                self._stay()
                with self._cache.transact():
                    for key, text in texts.items():
                        self._cache.set(key, text, tag=_checksum(key, text))
            except BaseException:
                self.release()  # a commit that failed may leave its transaction open
                raise

    def rows(self) -> Iterator[tuple[str, str]]:
        """Every key and its text, oldest first."""
        with self._used(_UNREAD):
            keys = iter(self._cache)
        end = object()
        while True:
            with self._used(_UNREAD):
                key = next(keys, end)
            if isinstance(key, str):
                yield from self.get([key]).items()
            elif key is end:
                return
            else:
                self._refuse()

    @property
    def size(self) -> int:
        """Bytes on disk."""
        with self._used(_UNREAD):
            files = (path for path in self.directory.iterdir() if path.name in _FILES)
            return sum(path.stat().st_size for path in files)

    def clear(self) -> int:
        """Remove every row, give the room back, and tell how many rows there were."""
        with self._used(_UNWRITTEN):
            removed = int(self._cache.clear())
            self.release()
            # diskcache has no door to these two that leaves other files alone.
            with closing(sqlite3.connect(self.directory / DATABASE, timeout=_PATIENCE)) as db:
                db.execute("VACUUM")
                db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return removed

    def _refuse(self) -> None:
        if not self._warned:
            self._warned = True
            _LOGGER.warning(
                "cache %s: rows that are no text of ours, or were changed, are not read",
                self.directory,
            )

    @contextmanager
    def _used(self, what: str) -> Iterator[None]:
        if self._closed:
            raise UsageError(f"cache {self.directory}: closed; ask while its `with` is open")
        with _translated(self.directory, RunError, what):
            yield


class BackgroundStore:
    """A `DiskStore` that never stops the event loop: a `judge.protocols.Store`, opened on entering.

    It is read on one thread and written on another, since writers do not stop readers. What
    several callers want at a time is joined: one transaction keeps what many answers brought.
    Leaving its `async with` waits for all that is to be kept. A disk that fills meanwhile ends
    nothing, for what was paid for is in hand: how much it could not keep is told, once and at the
    end. One that is full before anything is paid for is an error.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._disk: DiskStore
        self._reading = _Lane(self._read, "judge-cache-read")
        self._writing = _Lane(self._write, "judge-cache-write")
        self._lost = 0

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        self._disk = await loop.run_in_executor(self._writing.thread, DiskStore, self._directory)
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.to_thread(self._end)

    def _end(self) -> None:
        for lane in (self._reading, self._writing):
            lane.thread.submit(self._disk.release)
            lane.thread.shutdown()
        self._disk.close()
        if self._lost:
            _LOGGER.warning(_LOST, self._directory, self._lost)

    async def get(self, keys: Sequence[str]) -> Mapping[str, str]:
        """The texts known for these keys; a missing key is absent."""
        return await self._reading.done(keys) if keys else {}

    async def put(self, texts: Mapping[str, str]) -> None:
        """Keep all of these in one transaction, or none; what is kept outlives a kill -9."""
        try:
            await self._writing.done(texts)
        except DiskFull as error:
            if not self._lost:
                _LOGGER.warning("%s", error)
            self._lost += 1

    def _read(self, wanted: Sequence[Sequence[str]]) -> list[Mapping[str, str]]:
        found = self._disk.get([key for keys in wanted for key in keys])
        return [{key: found[key] for key in keys if key in found} for keys in wanted]

    def _write(self, given: Sequence[Mapping[str, str]]) -> list[None]:
        self._disk.put({key: text for texts in given for key, text in texts.items()})
        return [None] * len(given)


class _Lane(Generic[Given, Made]):
    """A thread that does, whenever it is free, all that waits for it at once.

    `work` makes one for each given, in order; what it raises, all who waited get.
    """

    def __init__(self, work: Callable[[Sequence[Given]], Sequence[Made]], name: str) -> None:
        self._work = work
        self.thread: Final = ThreadPoolExecutor(1, name)
        self._waiting: deque[tuple[Given, asyncio.Future[Made]]] = deque()

    async def done(self, given: Given) -> Made:
        """What `work` makes of it. A caller that is cancelled leaves the work to be done."""
        future: asyncio.Future[Made] = asyncio.get_running_loop().create_future()
        self._waiting.append((given, future))
        if len(self._waiting) == 1:  # else the thread has been told, and goes on until none waits
            try:
                self.thread.submit(self._drain, future.get_loop())
            except RuntimeError:
                self._waiting.clear()
                raise UsageError("cache: closed; ask while its `async with` is open") from None
        return await future

    def _drain(self, loop: asyncio.AbstractEventLoop) -> None:
        """On the thread. It finds nothing where an earlier one took all that waited."""
        while self._waiting:
            taken = [self._waiting.popleft() for _ in range(min(len(self._waiting), _AT_ONCE))]
            made: Sequence[Made] | Exception
            try:
                made = self._work([given for given, _ in taken])
            except Exception as error:  # noqa: BLE001  raised where it is waited for
                made = error
            with suppress(RuntimeError):  # the loop has closed since
                loop.call_soon_threadsafe(_settle, [future for _, future in taken], made)


def _settle(futures: Sequence["asyncio.Future[Made]"], made: Sequence[Made] | Exception) -> None:
    for number, future in enumerate(futures):
        if future.done():
            continue
        if isinstance(made, Exception):
            future.set_exception(made)
        else:
            future.set_result(made[number])


def empty(directory: Path) -> int | None:
    """Remove all that is stored, and a database in which SQLite finds no sense.

    Tells how many rows there were; None where there is no telling.

    Raises:
        ConfigError: the folder is not ours to change.
        RunError: another process holds the database, or the disk fails.
    """
    try:
        with DiskStore(directory) as store:
            return store.clear()
    except JudgeError as error:
        if not _malformed(_first(error)):
            raise
    folder = _private(directory)
    with _translated(folder, ConfigError, _UNUSABLE):
        for name in _FILES:
            (folder / name).unlink(missing_ok=True)
    return None


class _Disk(Disk):  # type: ignore[misc]  # diskcache ships no types
    """Holds text in the database and nowhere else, whatever a planted row says.

    diskcache's own would unpickle values and keys (CVE-2025-69872), and read and delete the files
    that a row names, wherever those are. None is what it refuses to read.
    """

    def put(self, key: object) -> tuple[str, bool]:
        return _text(key, "key"), True

    def get(self, key: object, raw: object) -> str | None:
        return key if raw == 1 and type(key) is str else None

    def store(self, value: object, read: bool, key: object = None) -> tuple[int, int, None, str]:  # noqa: ARG002, FBT001  diskcache's signature
        return 0, MODE_RAW, None, _text(value, "value")

    def fetch(self, mode: object, filename: object, value: object, read: bool) -> str | None:  # noqa: ARG002, FBT001  diskcache's signature
        sound = mode == MODE_RAW and filename is None and type(value) is str
        return str(value) if sound else None

    def remove(self, file_path: object) -> None:
        """Remove nothing: no file is ours, and only a planted row names one."""


class _Texts(Cache):  # type: ignore[misc]  # diskcache ships no types
    """Lets go of the database where it cannot be opened, and reads many rows at once."""

    def __init__(self, *arguments: object, **settings: object) -> None:
        try:
            super().__init__(*arguments, **settings)
        except BaseException:
            self.close()
            raise

    def texts(self, keys: Sequence[str]) -> dict[str, str | None]:
        """The text of each row that has one of these keys.

        None where `_Disk` refuses it, or its checksum, in `tag`, is another's. Rows of older
        versions have none, and are read: they were paid for.
        """
        found: dict[str, str | None] = {}
        for low in range(0, len(keys), _KEYS_AT_ONCE):
            some = keys[low : low + _KEYS_AT_ONCE]
            query = _ROWS.format(", ".join("?" * len(some)))
            for key, mode, filename, value, tag in self._sql(query, some):
                try:
                    text = None if value is None else value.decode()
                except UnicodeDecodeError:
                    text = None
                text = self._disk.fetch(mode, filename, text, read=False)
                sound = text is not None and tag in {None, _checksum(key, text)}
                found[key] = text if sound else None
        return found


def _checksum(key: str, text: str) -> str:
    """Shows accidents and casual editing, a text moved to another key included.

    It proves nothing against somebody who computes it anew, for it needs no secret.
    """
    return hashlib.sha256(f"{key} {text}".encode()).hexdigest()[:16]


def _text(given: object, what: str) -> str:
    if type(given) is not str:
        raise TypeError(f"a {what} is text, not {type(given).__name__}")
    return given


def _drop_foreign_settings(db: sqlite3.Connection) -> None:
    """Remove settings not ours: diskcache makes attributes and PRAGMAs of any it finds."""
    db.execute("PRAGMA trusted_schema = 0")
    db.text_factory = lambda data: data.decode("utf-8", "replace")
    if db.execute("SELECT 1 FROM sqlite_master WHERE name = 'Settings'").fetchone():
        for row, key, value in db.execute("SELECT rowid, key, value FROM Settings").fetchall():
            if key not in METADATA and (key not in _SETTINGS or _SETTINGS[key] != value):
                db.execute("DELETE FROM Settings WHERE rowid = ?", (row,))
        db.commit()


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


@contextmanager
def _translated(directory: Path, kind: Callable[[str], JudgeError], what: str) -> Iterator[None]:
    """Errors of the disk and of the database become ours.

    The message is `what` with the cause for "{}"; where the database is malformed, that it can be
    cleared.
    """
    try:
        yield
    except (sqlite3.Error, OSError, Timeout, ValueError) as error:
        # A ValueError is diskcache's surprise at more rows than it expects.
        first = _first(error)
        if _malformed(first):
            clear = f"judge cache clear --yes --cache-dir {shlex.quote(str(directory))}"
            words = _MALFORMED.format(_why(first), clear)
        elif _full(first):
            words, kind = _FULL.format(_why(first)), DiskFull
        else:
            words = what.format(_why(first))
        raise kind(f"cache {directory}: {words}") from None


def _first(error: BaseException) -> BaseException:
    """The error that others came of: diskcache hides it, and so does a rollback that fails."""
    cause = error.__context__
    return _first(cause) if isinstance(cause, sqlite3.Error | Timeout) else error


def _malformed(error: BaseException) -> bool:
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
