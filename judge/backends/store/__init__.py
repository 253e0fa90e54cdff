"""Texts kept on disk by key: SQLite, laid out by diskcache, of which only text is ever trusted."""

from judge.backends.store.disk import TextDisk
from judge.backends.store.folder import DATABASE
from judge.backends.store.store import DiskStore, empty

__all__ = ["DATABASE", "DiskStore", "TextDisk", "empty"]
