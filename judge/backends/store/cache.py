"""The cache of verdicts: texts by key, kept by diskcache in SQLite or on a Redis server."""

import asyncio
import errno
import logging
import os
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Generic, Self, TypeVar

from diskcache import Cache, Disk, Timeout

from judge.backends.store import NotKept
from judge.config import Config
from judge.errors import ConfigError, extra

if TYPE_CHECKING:
    from judge.backends.store.redis import RedisStore

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")
_LOGGER: Final = logging.getLogger("judge")
DATABASE: Final = "cache.db"
_LOCK_SECONDS: Final = 60.0
"""How long a transaction of another process is waited for; each takes milliseconds."""
_MODE_RAW: Final = 1
"""How diskcache marks a value that is in the database as it is."""
_OLDER_KEY: Final = "reply:"
_MALFORMED: Final = ("SQLITE_ERROR", "SQLITE_CORRUPT", "SQLITE_NOTADB")
_FULL: Final = ("SQLITE_FULL", "SQLITE_IOERR", "ENOSPC", "EDQUOT", "EFBIG")
_ELSEWHERE: Final = "or name another cache directory (--cache-dir)"


class MalformedError(ConfigError):
    """SQLite cannot read the database, so that it can only be removed."""


class TextDisk(Disk):  # type: ignore[misc] # diskcache has no types
    """Keeps text in the database alone.

    diskcache itself unpickles what a row holds, and opens or removes the file that a row names
    (CVE-2025-69872). Here a row with a pickle or a file name counts as absent.
    """

    _warned = False

    def put(self, key: str) -> tuple[str, bool]:
        """Return the key as the database holds it."""
        return key, True

    def get(self, key: object, raw: object) -> str | None:
        """Return the key of a row; None where it is not text."""
        if raw and isinstance(key, str):
            return key
        self._warn()
        return None

    def store(self, value: str, _read: bool, key: object = None) -> tuple[int, int, None, str]:  # noqa: ARG002, FBT001
        """Return the columns `size`, `mode`, `filename` and `value` of a row."""
        return len(value), _MODE_RAW, None, value

    def fetch(self, mode: int, filename: str | None, value: object, _read: bool) -> str:  # noqa: FBT001
        """Return the text of a row, or raise OSError, which diskcache counts as an absent row."""
        if mode == _MODE_RAW and filename is None and isinstance(value, str):
            return value
        self._warn()
        raise OSError("not plain text")

    def remove(self, _path: str) -> None:
        """Remove no file: only a row that somebody else wrote can name one."""

    def _warn(self) -> None:
        if not self._warned:
            self._warned = True
            _LOGGER.warning("cache %s: rows that are not plain text are ignored", self._directory)


class DiskStore(AbstractContextManager["DiskStore"]):
    """Keeps texts in a folder that processes share; close it, or use it in a `with`.

    What is put outlives a kill -9, and where it is `durable` a power cut, too. A new folder is for
    its owner alone, as it holds questions and verdicts. It raises ConfigError where the folder
    cannot be used, or its database is malformed, and NotKept where the disk is full.
    """

    def __init__(self, directory: Path, *, durable: bool = False) -> None:
        self.directory = directory
        with _our_errors(directory):
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._cache: Any = Cache(
                str(directory.resolve()),
                timeout=_LOCK_SECONDS,
                disk=TextDisk,
                disk_min_file_size=2**62,
                eviction_policy="none",
                cull_limit=0,
                sqlite_journal_mode="wal",
                sqlite_synchronous=2 if durable else 1,
            )

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the database."""
        self._cache.close()

    def get(self, keys: Sequence[str]) -> dict[str, str]:
        """Return the texts known for these keys; a missing key is absent."""
        with _our_errors(self.directory):
            found = {key: self._cache.get(key) for key in keys}
        return {key: text for key, text in found.items() if text is not None}

    def put(self, texts: Mapping[str, str]) -> None:
        """Store the texts in one transaction."""
        with _our_errors(self.directory), self._cache.transact():
            for key, text in texts.items():
                self._cache.set(key, text)

    def clear(self) -> None:
        """Remove every row."""
        with _our_errors(self.directory):
            self._cache.clear()

    def rows(self) -> Iterator[tuple[str, str]]:
        """Yield every key and its text."""
        with _our_errors(self.directory):
            for key in self._cache:
                if key is not None and (text := self._cache.get(key)) is not None:
                    yield key, text

    def warn_of_older_rows(self) -> None:
        """Log whether an older version of judge stored verdicts here, which are never found.

        It stored replies by themselves, under keys that sort after all other keys.
        """
        with _our_errors(self.directory):
            last = next(self._cache.iterkeys(reverse=True), None)
        if last is not None and last.startswith(_OLDER_KEY):
            clear = f"judge cache clear --yes --cache-dir {shlex.quote(str(self.directory))}"
            _LOGGER.warning(
                "cache %s: holds verdicts of an older version of judge, which are not used; `%s` "
                "removes all verdicts",
                self.directory,
                clear,
            )


def empty(directory: Path) -> int:
    """Remove all rows, and return the size of the database before that, in bytes.

    A run that uses the cache can go on. If the database cannot be read or the disk is full, its
    files are removed, and what a running run still stores is lost with them.
    """
    with _our_errors(directory):
        files = list(directory.glob(f"{DATABASE}*"))
        size = sum(path.stat().st_size for path in files)
    try:
        with DiskStore(directory) as store:
            store.clear()
    except (MalformedError, NotKept):
        with _our_errors(directory):
            for path in files:
                path.unlink(missing_ok=True)
    return size


@contextmanager
def _our_errors(directory: Path) -> Iterator[None]:
    """Raise an error of the disk or the database as one of ours, with the next step."""
    try:
        yield
    except Exception as error:
        # Where diskcache's own rollback failed, the cause is the context.
        cause = error.__context__ if hasattr(error.__context__, "sqlite_errorname") else error
        name = getattr(cause, "sqlite_errorname", "")
        if not name and not isinstance(error, OSError | Timeout):
            raise
        name = name or errno.errorcode.get(getattr(error, "errno", 0), "")
        why = getattr(cause, "strerror", None) or str(cause) or "another process has locked it"
        where = f"cache {directory}"
        if name.startswith(_FULL):
            raise NotKept(
                f"{where}: its disk is full or fails ({why}), and takes no verdict; what is there "
                f"stays: free some room, {_ELSEWHERE}"
            ) from None
        if name.startswith(_MALFORMED):
            clear = f"judge cache clear --yes --cache-dir {shlex.quote(str(directory))}"
            raise MalformedError(
                f"{where}: is not a sound database ({why}); try `{clear}`, {_ELSEWHERE}"
            ) from None
        raise ConfigError(f"{where}: cannot be used ({why}); mend that, {_ELSEWHERE}") from None


class _Batches(Generic[_Item, _Result]):
    """Calls a function on a thread with the items of all callers that wait for the thread."""

    def __init__(self, thread: ThreadPoolExecutor, work: Callable[[list[_Item]], _Result]) -> None:
        self._thread = thread
        self._work = work
        self._working = asyncio.Lock()
        self._items: list[_Item] = []
        self._next: asyncio.Task[_Result] | None = None
        """The task that will call the function with `_items`; None while nothing waits."""

    async def add(self, items: Iterable[_Item]) -> _Result:
        """Return the result for these items and others; a cancelled caller's are processed, too."""
        self._items.extend(items)
        if self._next is None:
            self._next = asyncio.create_task(self._call())
        return await asyncio.shield(self._next)  # another caller may wait for it, too

    async def _call(self) -> _Result:
        async with self._working:
            items, self._items, self._next = self._items, [], None
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._thread, self._work, items)

    async def finish(self) -> None:
        """Wait for the items of callers that were cancelled."""
        if self._next is not None:
            await asyncio.wait([self._next])


class BackgroundStore:
    """A `judge.protocols.Store` that is opened on entering and used on one thread.

    A disk that fills up, or a server that goes away, does not end a run: the results hold what was
    paid for. This is logged once, and a text that cannot be looked up counts as absent. A `strict`
    store raises these failures.
    """

    def __init__(
        self, opened: "Callable[[], DiskStore | RedisStore]", *, strict: bool = False
    ) -> None:
        self._opened = opened
        self._strict = strict
        self._store: DiskStore | RedisStore
        self._thread: Final = ThreadPoolExecutor(1, "judge-cache")
        self._reads: Final = _Batches(self._thread, self._look_up)
        self._writes: Final = _Batches(self._thread, self._keep)
        self._warned = False

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        self._store = await loop.run_in_executor(self._thread, self._opened)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._reads.finish()
        await self._writes.finish()
        self._thread.submit(self._store.close)
        await asyncio.to_thread(self._thread.shutdown)

    async def get(self, keys: Sequence[str]) -> Mapping[str, str]:
        """Return the texts known for these keys; a missing key is absent."""
        try:
            found = await self._reads.add(keys)
        except NotKept as error:
            self._warn(error)
            return {}
        return {key: found[key] for key in keys if key in found}

    async def put(self, texts: Mapping[str, str]) -> None:
        """Store the texts in one transaction, with those of callers that wait meanwhile.

        They are stored on return, so that a kill -9 loses none; a cancelled caller loses none, too.
        """
        try:
            await self._writes.add(texts.items())
        except NotKept as error:
            self._warn(error)

    def _look_up(self, keys: list[str]) -> dict[str, str]:
        return self._store.get(keys)

    def _keep(self, items: list[tuple[str, str]]) -> None:
        self._store.put(dict(items))

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
            store = DiskStore(cache_folder(config), durable=config.durable)
            store.warn_of_older_rows()
            return store
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
