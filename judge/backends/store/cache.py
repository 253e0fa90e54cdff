"""The cache of verdicts that settings name: a folder, or a Redis server."""

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from judge.backends.store.disk import DiskStore
from judge.backends.store.keeper import Keeper
from judge.backends.store.worker import BackgroundStore
from judge.config import Config
from judge.errors import ConfigError, extra

if TYPE_CHECKING:
    from judge.backends.store.redis import RedisStore


def open_store(config: Config, *, strict: bool = False) -> BackgroundStore:
    """Return the cache of a run; entering it raises ConfigError where it cannot be used."""
    return BackgroundStore(partial(open_keeper, config), strict=strict)


def open_keeper(config: Config) -> Keeper:
    """Return what keeps the verdicts; it blocks while it reads and writes.

    Raises:
        ConfigError: it cannot be used.
    """
    if config.cache_url is not None:
        return _server(config.cache_url, config)
    return DiskStore(cache_folder(config), durable=config.durable)


def _server(url: str, config: Config) -> "RedisStore":
    with extra("redis", "cache_url"):
        from judge.backends.store.redis import RedisStore  # noqa: PLC0415  an extra
    return RedisStore(url, ttl=config.cache_ttl)


def cache_folder(config: Config) -> Path:
    """Where verdicts are kept: as set, else in the user's cache folder (XDG)."""
    usual = Path(os.environ.get("XDG_CACHE_HOME", ""))  # a relative one does not count
    place = config.cache_dir or (usual if usual.is_absolute() else Path("~/.cache")) / "judge"
    homeless = os.environ.get("HOME") == "" and place.parts[0] == "~"  # it would mean /
    folder = place if homeless else Path(os.path.expanduser(place))  # noqa: PTH111  it never raises
    if folder.parts[0].startswith("~"):
        message = f"cache {place}: there is no such home folder; name another: --cache-dir"
        raise ConfigError(message)
    return folder
