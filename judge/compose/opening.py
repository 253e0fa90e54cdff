"""What a run keeps its verdicts in."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from judge.config import Config
from judge.errors import ConfigError

if TYPE_CHECKING:
    from judge.backends.store import DiskStore


def open_store(config: Config) -> "DiskStore":
    """The cache of verdicts.

    Raises:
        ConfigError: its folder cannot be used.
    """
    from judge.backends.store import DiskStore  # noqa: PLC0415

    return DiskStore(cache_folder(config))


def cache_folder(config: Config) -> Path:
    """Where verdicts are kept: as set, else in the user's cache folder (XDG).

    Raises:
        ConfigError: it is in a home folder that there is not.
    """
    place = config.cache_dir
    if place is None:
        caches = Path(os.environ.get("XDG_CACHE_HOME", ""))
        # A relative one is to be ignored, says the standard.
        place = (caches if caches.is_absolute() else Path("~/.cache")) / "judge"
    if os.environ.get("HOME") != "" or place.parts[0] != "~":  # an empty one would mean /
        try:
            return place.expanduser()
        except RuntimeError:
            pass
    raise ConfigError(f"cache {place}: there is no such home folder; name another: --cache-dir")
