"""How the database is laid out: by diskcache, which gets to see no row."""

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Final

from diskcache import Cache, Disk
from diskcache.core import DEFAULT_SETTINGS, METADATA, MODE_RAW

from judge.backends.store.folder import DATABASE

PATIENCE: Final = 60.0
"""Seconds to wait for another process's transaction, which takes milliseconds."""
# What SQLite's manual advises for files that others may have written.
_WARY: Final = {"trusted_schema": 0, "cell_size_check": 1, "mmap_size": 0}
# A write-ahead log with this much syncing loses no committed row to a kill -9.
_SYNCHRONOUS: Final = {"synchronous": 1}
_SETTINGS: Final[Mapping[str, object]] = {
    **DEFAULT_SETTINGS,
    "statistics": 0,
    "eviction_policy": "none",
    "cull_limit": 0,  # nothing is ever culled: the cache is the crash journal
    "disk_min_file_size": 2**63 - 1,
    "sqlite_journal_mode": "wal",
    "sqlite_auto_vacuum": 0,  # `clear` vacuums
    **{f"sqlite_{name}": value for name, value in (_WARY | _SYNCHRONOUS).items()},
}


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


class _Layout(Cache):  # type: ignore[misc]  # diskcache ships no types
    """Lays the database out and lets go of it, also where that fails."""

    def __init__(self, *arguments: object, **settings: object) -> None:
        try:
            super().__init__(*arguments, **settings)
        finally:
            self.close()


def connect(folder: Path) -> sqlite3.Connection:
    """The folder's database, laid out where it is new; whoever gets it closes it."""
    with closing(_opened(folder / DATABASE)) as db:
        _drop_foreign_settings(db)
    _Layout(str(folder), timeout=PATIENCE, disk=TextDisk, **_SETTINGS)
    # Opened anew: one that was open before knows of no write-ahead log yet.
    return _opened(folder / DATABASE)


def _opened(path: Path) -> sqlite3.Connection:
    # Whichever thread: SQLite itself takes turns.
    db = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
    try:
        for name, value in (_WARY | _SYNCHRONOUS).items():
            db.execute(f"PRAGMA {name} = {value}")
    except sqlite3.Error:
        db.close()
        raise
    # Bytes that are no UTF-8 would end the query; so they end as a row that nobody understands.
    db.text_factory = lambda data: data.decode("utf-8", "replace")
    return db


def _drop_foreign_settings(db: sqlite3.Connection) -> None:
    """Remove settings not ours: diskcache makes attributes and PRAGMAs of any it finds."""
    if db.execute("SELECT 1 FROM sqlite_master WHERE name = 'Settings'").fetchone():
        for row, key, value in db.execute("SELECT rowid, key, value FROM Settings").fetchall():
            if key not in METADATA and (key not in _SETTINGS or _SETTINGS[key] != value):
                db.execute("DELETE FROM Settings WHERE rowid = ?", (row,))
