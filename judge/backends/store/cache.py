"""The cache of verdicts that settings name, used from an event loop through one worker thread."""

import asyncio
import logging
import os
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from judge.backends.store.disk import DiskStore, NotKept
from judge.config import Config
from judge.errors import ConfigError, extra
from judge.text.visible import counted

if TYPE_CHECKING:
    from judge.backends.store.redis import RedisStore

_LOGGER: Final = logging.getLogger("judge")
_LOST: Final = (
    "cache %s: it failed for a while, and what %s said is not kept: it is in the results alone, "
    "and is asked for again with --force"
)
_OLDER: Final = (
    "cache %s: what an earlier version stored there is not read any more; to remove it: "
    "judge cache clear --cache-dir %s"
)


class BackgroundStore:
    """A `judge.protocols.Store` that is opened on entering and used on one thread.

    Reads and writes that arrive while the thread is busy wait, and then share one transaction.
    `put` returns once the texts are stored, so that a kill -9 loses none of them; they are stored
    even where the caller is cancelled.

    A disk that fills up, or a server that goes away, does not end a run, for what was paid for is
    in the results: a warning says so once, and another at the end says how much was not stored. A
    text that cannot be looked up counts as absent. A `strict` store raises these failures.
    """

    def __init__(
        self, opened: "Callable[[], DiskStore | RedisStore]", *, strict: bool = False
    ) -> None:
        self._opened = opened
        self._strict = strict
        self._store: DiskStore | RedisStore
        self._thread: Final = ThreadPoolExecutor(1, "judge-cache")
        self._reads: list[tuple[Sequence[str], asyncio.Future[Mapping[str, str]]]] = []
        self._writes: list[tuple[Mapping[str, str], asyncio.Future[None]]] = []
        self._worker: asyncio.Task[None] | None = None
        self._lost = 0
        self._warned = False

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        self._store = await loop.run_in_executor(self._thread, self._opened)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._worker:
            await self._worker
        self._thread.submit(self._store.close)
        await asyncio.to_thread(self._thread.shutdown)
        if self._lost:
            _LOGGER.warning(_LOST, self._store.place, counted(self._lost, "call"))

    async def get(self, keys: Sequence[str]) -> Mapping[str, str]:
        """Return the texts known for these keys; a missing key is absent."""
        found: asyncio.Future[Mapping[str, str]] = asyncio.get_running_loop().create_future()
        self._reads.append((keys, found))
        self._start()
        return await found

    async def put(self, texts: Mapping[str, str]) -> None:
        """Store the texts in one transaction."""
        stored: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._writes.append((texts, stored))
        self._start()
        await stored

    def _start(self) -> None:
        if self._worker is None:
            self._worker = asyncio.create_task(self._work())

    async def _work(self) -> None:
        """Serve the waiting calls until the queues are empty."""
        loop = asyncio.get_running_loop()
        while self._reads or self._writes:
            writes, self._writes = self._writes, []
            reads, self._reads = self._reads, []
            texts = {key: text for each, _ in writes for key, text in each.items()}
            keys = [key for each, _ in reads for key in each]
            futures: list[asyncio.Future[Any]] = [
                *(stored for _, stored in writes),
                *(found for _, found in reads),
            ]
            known: Mapping[str, str] = {}
            try:
                known = await loop.run_in_executor(self._thread, self._serve, texts, keys)
            except NotKept as error:
                self._lost += len(writes)
                if self._strict:
                    _fail(futures, error)
                elif not self._warned:
                    self._warned = True
                    _LOGGER.warning("%s", error)
            except Exception as error:  # noqa: BLE001  the callers raise it
                _fail(futures, error)
            for _, stored in writes:
                if not stored.done():
                    stored.set_result(None)
            for wanted, found in reads:
                if not found.done():
                    found.set_result({key: known[key] for key in wanted if key in known})
        self._worker = None

    def _serve(self, texts: Mapping[str, str], keys: Sequence[str]) -> Mapping[str, str]:
        if texts:
            self._store.put(texts)
        return self._store.get(keys) if keys else {}


def _fail(futures: Iterable[asyncio.Future[Any]], error: Exception) -> None:
    for future in futures:
        if not future.done():
            future.set_exception(error)


def open_store(config: Config, *, strict: bool = False) -> BackgroundStore:
    """Return the cache of a run; entering it raises ConfigError where it cannot be used."""

    def opened() -> "DiskStore | RedisStore":
        if config.cache_url is None:
            store = DiskStore(cache_folder(config), durable=config.durable)
            if store.holds_older_rows():
                _LOGGER.warning(_OLDER, store.place, shlex.quote(store.place))
            return store
        with extra("redis", "cache_url"):
            from judge.backends.store.redis import RedisStore  # noqa: PLC0415  an extra
        return RedisStore(config.cache_url, ttl=config.cache_ttl)

    return BackgroundStore(opened, strict=strict)


def cache_folder(config: Config) -> Path:
    """Return the folder of the verdicts: as set, else in the user's cache folder (XDG)."""
    usual = Path(os.environ.get("XDG_CACHE_HOME", ""))  # a relative one does not count
    folder = config.cache_dir or (usual if usual.is_absolute() else Path("~/.cache")) / "judge"
    try:
        return folder.expanduser()
    except RuntimeError:
        message = f"cache {folder}: there is no such home folder; name another: --cache-dir"
        raise ConfigError(message) from None
