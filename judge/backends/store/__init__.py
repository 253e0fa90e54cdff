"""Where verdicts are kept: texts by key, in SQLite or on a Redis server."""

from judge.backends.store.disk import DATABASE, DiskStore, empty
from judge.backends.store.journal import BackgroundStore
from judge.backends.store.keeper import Keeper
from judge.backends.store.lease import SharedStore

__all__ = ["DATABASE", "BackgroundStore", "DiskStore", "Keeper", "SharedStore", "empty"]
