"""The folder of a store, which none but its owner may enter."""

import os
import stat
from pathlib import Path
from typing import Final

from diskcache.core import DBNAME

from judge.backends.store.faults import UNUSABLE, translated
from judge.errors import ConfigError

DATABASE: Final = DBNAME
FILES: Final = (DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm")
_PRIVATE: Final = 0o700
_OTHERS: Final = 0o077


def private(directory: Path) -> Path:
    """The real folder, made if need be, that none but its owner may enter.

    Raises:
        ConfigError: it cannot be made so, or is not ours to change.
    """
    with translated(directory, ConfigError, UNUSABLE):
        directory.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
        real = directory.resolve(strict=True)
        found = real.stat()
        strange = [name for name in FILES if (real / name).is_symlink()]
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
        raise ConfigError(f"cache {directory}: {UNUSABLE.format(why)}")
    return real


def close_files(folder: Path) -> None:
    """Have none but their owner read the files, wherever they are copied to with their modes.

    The database is made where there is none: SQLite gives its other files the mode of that one.
    """
    (folder / DATABASE).touch(mode=0o600)
    for path in (folder / name for name in FILES):
        try:
            mode = stat.S_IMODE(path.stat().st_mode)
            if mode & _OTHERS:
                path.chmod(mode & ~_OTHERS)
        except FileNotFoundError:  # the last process to close it removes its other files
            continue
