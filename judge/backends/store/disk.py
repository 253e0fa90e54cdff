"""Texts kept on disk by key, by diskcache in SQLite. Rows that are not plain text are ignored."""

import errno
import logging
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Self

from diskcache import Cache, Disk, Timeout

from judge.errors import ConfigError, RunError

_LOGGER: Final = logging.getLogger("judge")
DATABASE: Final = "cache.db"
_LOCK_SECONDS: Final = 60.0
"""How long a transaction of another process is waited for; each takes milliseconds."""
_MODE_RAW: Final = 1
"""How diskcache marks a value that is in the database as it is."""
_MALFORMED: Final = ("SQLITE_ERROR", "SQLITE_CORRUPT", "SQLITE_NOTADB")
_FULL: Final = (
    "SQLITE_FULL",
    "SQLITE_IOERR_WRITE",
    "SQLITE_IOERR_SHMSIZE",
    *(errno.errorcode[code] for code in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)),
)
_ELSEWHERE: Final = "or name another cache directory (--cache-dir)"


class NotKept(RunError):
    """Texts can neither be kept nor looked up just now."""


class Malformed(ConfigError):
    """SQLite cannot read the database: it can only be removed."""


class TextDisk(Disk):  # type: ignore[misc] # diskcache has no types
    """Keeps text in the database alone.

    diskcache itself unpickles what a row holds, and opens or removes the file that a row names
    (CVE-2025-69872). Here a row with a pickle or a file name counts as absent.
    """

    _warned = False

    def put(self, key: str) -> tuple[str, bool]:
        """Return the key as the database holds it."""
        return key, True

    def get(self, key: object, raw: object) -> str | None:
        """Return the key of a row; None where it is not text."""
        if raw and isinstance(key, str):
            return key
        self._warn()
        return None

    def store(self, value: str, _read: bool, key: object = None) -> tuple[int, int, None, str]:  # noqa: FBT001
        """Return the columns `size`, `mode`, `filename` and `value` of a row."""
        del key
        return len(value), _MODE_RAW, None, value

    def fetch(self, mode: int, filename: str | None, value: object, _read: bool) -> str:  # noqa: FBT001
        """Return the text of a row, or raise OSError, which diskcache counts as an absent row."""
        if mode == _MODE_RAW and filename is None and isinstance(value, str):
            return value
        self._warn()
        raise OSError("not plain text")

    def remove(self, _path: str) -> None:
        """Remove no file: only a row that somebody else wrote can name one."""

    def _warn(self) -> None:
        if not self._warned:
            self._warned = True
            _LOGGER.warning("cache %s: rows that are not plain text are ignored", self._directory)


class DiskStore:
    """Keeps texts in a folder that processes share; close it, or use it in a `with`.

    What is put outlives a kill -9, and where it is `durable` a power cut, too. A new folder is for
    its owner alone, as it holds questions and verdicts.

    Raises:
        ConfigError: the folder cannot be used, or its database is malformed (`Malformed`).
        NotKept: the disk is full.
    """

    def __init__(self, directory: Path, *, durable: bool = False) -> None:
        self.directory = directory
        self.place = str(directory)
        with _translated(directory):
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._cache: Any = Cache(
                str(directory.resolve()),
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
        """Close the database."""
        self._cache.close()

    def get(self, keys: Sequence[str]) -> dict[str, str]:
        """Return the texts known for these keys; a missing key is absent."""
        with _translated(self.directory):
            found = {key: self._cache.get(key) for key in keys}
        return {key: text for key, text in found.items() if text is not None}

    def put(self, texts: Mapping[str, str]) -> None:
        """Store the texts in one transaction."""
        with _translated(self.directory), self._cache.transact():
            for key, text in texts.items():
                self._cache.set(key, text)

    def rows(self) -> Iterator[tuple[str, str]]:
        """Yield every key and its text."""
        with _translated(self.directory):
            for key in self._cache:
                if key is not None and (text := self._cache.get(key)) is not None:
                    yield key, text

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return sum(path.stat().st_size for path in self.directory.glob(f"{DATABASE}*"))

    def clear(self) -> int:
        """Remove every row, and return how many there were."""
        with _translated(self.directory):
            removed: int = self._cache.clear()
            self._cache.close()  # which shrinks the files; the next use opens them again
        return removed


def empty(directory: Path) -> int | None:
    """Remove all rows, and return their number; None where the database cannot be read.

    Raises:
        ConfigError: the folder cannot be changed.
    """
    try:
        with DiskStore(directory) as store:
            return store.clear()
    except (Malformed, NotKept):
        with _translated(directory):
            for path in directory.glob(f"{DATABASE}*"):
                path.unlink()
        return None


@contextmanager
def _translated(directory: Path) -> Iterator[None]:
    """Raise an error of the disk or the database as one of ours, with the next step."""
    try:
        yield
    except Exception as error:
        # Where diskcache's own rollback failed, the cause is the context.
        cause = error.__context__ if hasattr(error.__context__, "sqlite_errorname") else error
        name = getattr(cause, "sqlite_errorname", "")
        if isinstance(error, OSError):
            name = errno.errorcode.get(error.errno or 0, "OSError")
        elif isinstance(error, Timeout):
            name, cause = "SQLITE_BUSY", TimeoutError("another process has held it for a minute")
        elif not name:
            raise
        where, why = f"cache {directory}", f"({getattr(cause, 'strerror', None) or cause})"
        if name in _FULL:
            raise NotKept(
                f"{where}: its disk is full {why}, and takes no verdict; what is there stays: free "
                f"some room, {_ELSEWHERE}"
            ) from None
        if name.startswith(_MALFORMED):
            clear = f"judge cache clear --yes --cache-dir {shlex.quote(str(directory))}"
            raise Malformed(
                f"{where}: is not a sound database {why}; try `{clear}`, {_ELSEWHERE}"
            ) from None
        raise ConfigError(f"{where}: cannot be used {why}; mend that, {_ELSEWHERE}") from None
