"""The cache of verdicts that settings name, used from an event loop through one worker thread."""

import asyncio
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from judge.backends.store.disk import DiskStore, NotKept
from judge.config import Config
from judge.errors import ConfigError, extra
from judge.text.visible import counted

if TYPE_CHECKING:
    from judge.backends.store.redis import RedisStore

_LOGGER: Final = logging.getLogger("judge")
_LOST: Final = (
    "cache %s: it failed for a while, and the verdicts of %s are not kept: they are in the results "
    "alone, and are asked for again with --force"
)


class BackgroundStore:
    """A `judge.protocols.Store` that is opened on entering and used on one thread.

    `put` returns once the texts are stored, so that a kill -9 loses none of them; they are stored
    even if the caller is cancelled.

    A disk that fills up, or a server that goes away, does not end a run: the results hold what was
    paid for. This is logged once, and again at the end with the number of lost calls; a text that
    cannot be looked up counts as absent. A `strict` store raises these failures.
    """

    def __init__(
        self, opened: "Callable[[], DiskStore | RedisStore]", *, strict: bool = False
    ) -> None:
        self._opened = opened
        self._strict = strict
        self._store: DiskStore | RedisStore
        self._thread: Final = ThreadPoolExecutor(1, "judge-cache")
        self._writing: Final = asyncio.Lock()
        self._next: dict[str, str] = {}
        self._next_stored: asyncio.Task[None] | None = None
        """The task that stores `_next`; None while nothing waits."""
        self._lost = 0
        self._warned = False

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        self._store = await loop.run_in_executor(self._thread, self._opened)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._next_stored is not None:  # its callers were cancelled
            await asyncio.wait([self._next_stored])
        self._thread.submit(self._store.close)
        await asyncio.to_thread(self._thread.shutdown)
        if self._lost:
            _LOGGER.warning(_LOST, self._store.place, counted(self._lost, "call"))

    async def get(self, keys: Sequence[str]) -> Mapping[str, str]:
        """Return the texts known for these keys; a missing key is absent."""
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._thread, self._store.get, keys)
        except NotKept as error:
            self._warn(error)
            return {}

    async def put(self, texts: Mapping[str, str]) -> None:
        """Store the texts in one transaction, with those of callers that wait meanwhile."""
        self._next.update(texts)
        if self._next_stored is None:
            self._next_stored = asyncio.create_task(self._store_next())
        try:
            await asyncio.shield(self._next_stored)  # another caller may wait for it, too
        except NotKept as error:
            self._lost += 1
            self._warn(error)

    async def _store_next(self) -> None:
        async with self._writing:
            texts, self._next, self._next_stored = self._next, {}, None
            loop = asyncio.get_running_loop()
            await loop.run_in_executor(self._thread, self._store.put, texts)

    def _warn(self, error: NotKept) -> None:
        if self._strict:
            raise error
        if not self._warned:
            self._warned = True
            _LOGGER.warning("%s", error)


def open_store(config: Config, *, strict: bool = False) -> BackgroundStore:
    """Return the cache of a run; entering it raises ConfigError where it cannot be used."""

    def opened() -> "DiskStore | RedisStore":
        if config.cache_url is None:
            return DiskStore(cache_folder(config), durable=config.durable)
        with extra("redis", "cache_url"):
            from judge.backends.store.redis import RedisStore  # noqa: PLC0415  an extra
        return RedisStore(config.cache_url, ttl=config.cache_ttl)

    return BackgroundStore(opened, strict=strict)


def cache_folder(config: Config) -> Path:
    """Return the folder of the verdicts: as set, else in the user's cache folder (XDG)."""
    user = Path(os.environ.get("XDG_CACHE_HOME", ""))  # a relative one does not count
    folder = config.cache_dir or (user if user.is_absolute() else Path("~/.cache")) / "judge"
    try:
        return folder.expanduser()
    except RuntimeError:
        message = f"cache {folder}: there is no such home folder; name another: --cache-dir"
        raise ConfigError(message) from None
