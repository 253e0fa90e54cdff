"""A store on disk, read and written in SQL of our own."""

import logging
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, Self

from diskcache.core import MODE_RAW

from judge.backends.store.disk import connect
from judge.backends.store.faults import UNREAD, UNUSABLE, UNWRITTEN, malformed, translated
from judge.backends.store.folder import FILES, close_files, private
from judge.errors import ConfigError, JudgeError, RunError

_AT_ONCE: Final = 500
"""Keys in one query, rows in one page."""
_COLUMNS: Final = "rowid, key, raw, mode, filename, value"
# A row that stands there is changed and not replaced: diskcache's triggers, which count rows, hear
# of no deletion behind a replacement.
_KEEP: Final = """
INSERT INTO Cache (key, raw, store_time, access_time, size, mode, value)
VALUES (?, 1, ?, ?, 0, ?, ?)
ON CONFLICT (key, raw) DO UPDATE SET
    store_time = excluded.store_time, access_time = excluded.access_time, expire_time = NULL,
    access_count = 0, tag = NULL, size = 0, mode = excluded.mode, filename = NULL,
    value = excluded.value
"""


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
        self.directory = private(directory)
        self._warned = False
        self._writing = threading.Lock()
        with translated(self.directory, ConfigError, UNREAD):
            close_files(self.directory)
            self._database = connect(self.directory)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the database."""
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
        now = time.time()
        rows = [
            (_text(key, "key"), now, now, MODE_RAW, _text(text, "value"))
            for key, text in texts.items()
        ]
        with translated(self.directory, RunError, UNWRITTEN), self._writing, self._database as db:
            db.execute("BEGIN IMMEDIATE")
            db.executemany(_KEEP, rows)

    def rows(self) -> Iterator[tuple[str, str]]:
        """Every key and its text, oldest first, a page at a time."""
        last: object = -(2**63)
        while page := self._select(f"rowid > ? ORDER BY rowid LIMIT {_AT_ONCE}", [last]):
            last = page[-1][0]
            yield from self._sound(page)

    @property
    def size(self) -> int:
        """Bytes on disk."""
        with translated(self.directory, RunError, UNREAD):
            files = (path for path in self.directory.iterdir() if path.name in FILES)
            return sum(path.stat().st_size for path in files)

    def clear(self) -> int:
        """Remove every row, give the room back, and tell how many rows there were."""
        with translated(self.directory, RunError, UNWRITTEN), self._writing:
            removed = self._database.execute("DELETE FROM Cache").rowcount
            self._database.execute("VACUUM")
            self._database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return removed

    def _select(self, condition: str, values: Sequence[object]) -> list[tuple[object, ...]]:
        query = f"SELECT {_COLUMNS} FROM Cache WHERE {condition}"  # noqa: S608  the values are bound
        with translated(self.directory, RunError, UNREAD):
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
        if not malformed(error.__context__):
            raise
    folder = private(directory)
    with translated(folder, ConfigError, UNUSABLE):
        for name in FILES:
            (folder / name).unlink(missing_ok=True)
    return None


def _text(given: object, what: str) -> str:
    if type(given) is not str:
        raise TypeError(f"a {what} is text, not {type(given).__name__}")
    return given
