"""What goes wrong with a folder or a database, in our words, and what to do about it."""

import shlex
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from diskcache import Timeout

from judge.errors import JudgeError, UsageError

UNUSABLE: Final = "cannot be used ({}); name another cache directory"
UNREAD: Final = "cannot be read ({}); mend that, or name another cache directory (--cache-dir)"
UNWRITTEN: Final = (
    "cannot be written ({}); what is there stays: mend that, then run it again, or name another "
    "cache directory (--cache-dir)"
)
_MALFORMED: Final = "is no sound database ({}); try `{}`, or name another cache directory"
_SPOILT: Final = {sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


@contextmanager
def translated(directory: Path, kind: Callable[[str], JudgeError], what: str) -> Iterator[None]:
    """Errors of the disk and of the database become ours.

    Args:
        directory: named in the message.
        kind: of the error.
        what: cannot be done, and what to do, with "{}" for the cause; where the database is
            malformed, the message says instead that it can be cleared.
    """
    try:
        yield
    except sqlite3.ProgrammingError:  # of all its causes, only a closed database is possible
        raise UsageError(f"cache {directory}: closed; ask while its `with` is open") from None
    except (sqlite3.Error, OSError, Timeout, ValueError) as error:
        # A ValueError is diskcache's surprise at more rows than it expects.
        why = _why(error)
        if malformed(error):
            clear = f"judge cache clear --cache-dir {shlex.quote(str(directory))}"
            raise kind(f"cache {directory}: {_MALFORMED.format(why, clear)}") from None
        raise kind(f"cache {directory}: {what.format(why)}") from None


def malformed(error: BaseException | None) -> bool:
    """Whether SQLite can make no sense of the database: that, clearing cures."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in _SPOILT


def _why(error: Exception) -> str:
    """What went wrong, without any text that is stored: Python's own messages may quote one."""
    if isinstance(error, OSError):
        return error.strerror or type(error).__name__
    if isinstance(error, Timeout):  # diskcache hides what SQLite said
        return "another process holds it, or it may only be read"
    return str(error) if hasattr(error, "sqlite_errorcode") else type(error).__name__
