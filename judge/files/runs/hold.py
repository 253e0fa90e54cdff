"""Keeping other processes out of a run folder."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

from judge.errors import RunError

LOCK: Final = ".lock"


@contextlib.contextmanager
def hold(run: Path) -> Iterator[None]:
    """Hold a run that is there while something is added to it.

    Raises:
        RunError: another process writes there, or the folder cannot be written.
    """
    lock = FileLock(run / LOCK, timeout=0)
    try:
        lock.acquire()
    except Timeout:
        raise RunError(f"{run}: another command is writing here; wait for it") from None
    except OSError as error:
        raise RunError(f"{run}: cannot be written ({error.strerror}); mend that first") from None
    try:
        yield
    finally:
        lock.release()
