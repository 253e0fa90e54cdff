"""Where verdicts are kept: texts by key, in SQLite."""

from judge.backends.store.disk import DATABASE, DiskStore, empty
from judge.backends.store.journal import BackgroundStore

__all__ = ["DATABASE", "BackgroundStore", "DiskStore", "empty"]
