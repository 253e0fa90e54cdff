"""Where verdicts are kept: texts by key, in a folder by diskcache or on a Redis server."""

from judge.backends.store.cache import BackgroundStore, cache_folder, open_store
from judge.backends.store.disk import DATABASE, DiskStore, empty

__all__ = ["DATABASE", "BackgroundStore", "DiskStore", "cache_folder", "empty", "open_store"]
