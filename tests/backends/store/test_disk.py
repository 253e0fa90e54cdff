import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from judge.backends.store import DiskStore, TextDisk
from judge.backends.store.disk import connect


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def plant(folder: Path, statement: str, *values: object) -> None:
    database = sqlite3.connect(folder / "cache.db")
    with database:
        database.execute(statement, values)
    database.close()


def pragma(store: DiskStore, name: str) -> object:
    database = sqlite3.connect(store.directory / "cache.db")
    (value,) = database.execute(f"PRAGMA {name}").fetchone()
    database.close()
    return value


def test_settings_in_the_file_change_nothing(folder: Path) -> None:
    DiskStore(folder).close()
    elsewhere = folder.with_name("elsewhere")
    elsewhere.mkdir()
    foreign = {
        "_directory": str(elsewhere),
        "sqlite_journal_mode": "delete",
        "sqlite_synchronous": 0,
        "sqlite_writable_schema": 1,
        "disk_bogus": 1,
        "disk_min_file_size": 0,
        "cull_limit": 10,
        "eviction_policy": "least-recently-used",
        "_sql": None,
    }
    for name, value in foreign.items():
        plant(folder, "INSERT OR REPLACE INTO Settings VALUES (?, ?)", name, value)
    with DiskStore(folder) as store:
        store.put({"k": "x" * 100_000})
        assert store.get(["k"]) == {"k": "x" * 100_000}
        assert pragma(store, "journal_mode") == "wal"
        kept = sqlite3.connect(folder / "cache.db")
        settings = dict(kept.execute("SELECT key, value FROM Settings").fetchall())
        kept.close()
    assert list(elsewhere.iterdir()) == []
    assert not settings.keys() & {"_directory", "_sql", "disk_bogus", "sqlite_writable_schema"}
    assert (settings["cull_limit"], settings["eviction_policy"]) == (0, "none")
    assert settings["sqlite_synchronous"] == 1


def test_nothing_but_text_passes_the_disk(tmp_path: Path) -> None:
    disk = TextDisk(str(tmp_path))
    refused: list[Callable[[], object]] = [
        lambda: disk.put(("k",)),
        lambda: disk.put(b"k"),
        lambda: disk.store(b"v", read=False),
        lambda: disk.store(["v"], read=False),
    ]
    for attempt in refused:
        with pytest.raises(TypeError, match="is text, not"):
            attempt()
    unread: list[Callable[[], object]] = [
        lambda: disk.get(b"k", raw=True),
        lambda: disk.get("k", raw=False),
        lambda: disk.fetch(4, None, b"v", read=False),
        lambda: disk.fetch(3, "file", None, read=False),
        lambda: disk.fetch(1, "file", "v", read=False),
        lambda: disk.fetch(1, None, b"v", read=False),
    ]
    for attempt in unread:
        with pytest.raises(ValueError, match="is not read"):
            attempt()
    assert disk.fetch(1, None, "v", read=False) == "v"
    assert disk.get("k", raw=True) == "k"


def test_a_commit_is_as_safe_as_the_log_makes_it(tmp_path: Path) -> None:
    with closing(connect(tmp_path)) as database:
        for name, value in (("journal_mode", "wal"), ("synchronous", 1), ("trusted_schema", 0)):
            assert database.execute(f"PRAGMA {name}").fetchone() == (value,)
