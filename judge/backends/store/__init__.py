"""Where verdicts are kept: texts by key, in a folder by diskcache or on a Redis server."""

from judge.backends.store.disk import DATABASE, DiskStore, empty
from judge.backends.store.keeper import Keeper
from judge.backends.store.worker import BackgroundStore

__all__ = ["DATABASE", "BackgroundStore", "DiskStore", "Keeper", "empty"]
