"""A store that blocks, used from an event loop by way of one worker thread."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, Self

from judge.backends.store.keeper import Keeper, Unkept
from judge.errors import UsageError
from judge.text.visible import counted

_LOGGER: Final = logging.getLogger("judge")
_LOST: Final = (
    "cache %s: %s, and what %s said is not kept: it is in the results alone, and is asked for "
    "again with --force"
)


class BackgroundStore:
    """A `judge.protocols.Store` whose `Keeper` is opened on entering and used on one thread.

    `put` returns once the texts are kept, so that a kill -9 loses none of them.

    A disk that fills meanwhile, or a server that goes away, does not end a run, for what was paid
    for is in the results: a warning says so once, and another at the end says how much was not
    kept. What cannot be looked up counts as absent. A `strict` store raises these failures.
    """

    def __init__(self, opened: Callable[[], Keeper], *, strict: bool = False) -> None:
        self._opened = opened
        self._strict = strict
        self._keeper: Keeper
        self._thread: Final = ThreadPoolExecutor(1, "judge-cache")
        self._lost = 0
        self._closed = self._warned = False

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        self._keeper = await loop.run_in_executor(self._thread, self._opened)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._closed = True
        await asyncio.to_thread(self._close)
        if self._lost:
            keeper, calls = self._keeper, counted(self._lost, "call")
            _LOGGER.warning(_LOST, keeper.place, keeper.trouble, calls)

    def _close(self) -> None:
        self._thread.submit(self._keeper.close)
        self._thread.shutdown()

    async def get(self, keys: Sequence[str]) -> Mapping[str, str]:
        """Return the texts known for these keys; a missing key is absent."""
        self._check()
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._thread, self._keeper.get, keys)
        except Unkept as error:
            self._warn(error)
            return {}

    async def put(self, texts: Mapping[str, str]) -> None:
        """Keep all of these, or none. Where the caller is cancelled they are kept all the same."""
        self._check()
        loop = asyncio.get_running_loop()
        try:
            await loop.run_in_executor(self._thread, self._keeper.put, texts)
        except Unkept as error:
            self._warn(error)
            self._lost += 1

    def _check(self) -> None:
        if self._closed:
            raise UsageError("cache: closed; ask while its `async with` is open")

    def _warn(self, error: Unkept) -> None:
        if self._strict:
            raise error
        if not self._warned:
            self._warned = True
            _LOGGER.warning("%s", error)
