import sqlite3
from pathlib import Path

import pytest

from judge.backends.store.faults import UNREAD, UNUSABLE, UNWRITTEN, malformed, translated
from judge.errors import ConfigError, RunError, UsageError

FOLDER = Path("/a cache/二")


def failure(code: int, words: str) -> sqlite3.Error:
    error = sqlite3.OperationalError(words)
    error.sqlite_errorcode = code
    return error


@pytest.mark.parametrize("what", [UNREAD, UNWRITTEN])
@pytest.mark.parametrize(
    ("code", "words"),
    [
        (sqlite3.SQLITE_CORRUPT, "database disk image is malformed"),
        (sqlite3.SQLITE_CORRUPT_INDEX, "database disk image is malformed"),
        (sqlite3.SQLITE_NOTADB, "file is not a database"),
        (sqlite3.SQLITE_ERROR, "no such table: Cache"),
    ],
)
def test_clearing_is_the_cure_for_a_malformed_database(what: str, code: int, words: str) -> None:
    with pytest.raises(RunError) as caught, translated(FOLDER, RunError, what):
        raise failure(code, words)
    assert words in str(caught.value)
    assert "try `judge cache clear --cache-dir '/a cache/二'`" in str(caught.value)
    assert malformed(caught.value.__context__)


@pytest.mark.parametrize("what", [UNREAD, UNWRITTEN, UNUSABLE])
@pytest.mark.parametrize(
    ("error", "words"),
    [
        (failure(sqlite3.SQLITE_CANTOPEN, "unable to open database file"), "unable to open"),
        (failure(sqlite3.SQLITE_FULL, "database or disk is full"), "disk is full"),
        (failure(sqlite3.SQLITE_BUSY, "database is locked"), "database is locked"),
        (PermissionError(13, "Permission denied"), "Permission denied"),
        (ValueError("secret"), "ValueError"),
    ],
)
def test_it_cures_nothing_else(what: str, error: Exception, words: str) -> None:
    with pytest.raises(ConfigError) as caught, translated(FOLDER, ConfigError, what):
        raise error
    message = str(caught.value)
    assert message.startswith(f"cache {FOLDER}: cannot be ")
    assert words in message
    assert "name another cache directory" in message
    assert "clear" not in message
    assert "secret" not in message
    assert not malformed(caught.value.__context__)


def test_a_closed_database_is_the_callers_mistake() -> None:
    with pytest.raises(UsageError, match="closed"), translated(FOLDER, RunError, UNREAD):
        raise sqlite3.ProgrammingError("Cannot operate on a closed database.")
