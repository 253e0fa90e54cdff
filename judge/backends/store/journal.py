"""A blocking store off the event loop: look-ups joined, and what is put written a moment later."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event, Lock
from typing import Final, Self

from judge.backends.store.keeper import Keeper, Unkept
from judge.errors import UsageError
from judge.text.visible import plural

_LOGGER: Final = logging.getLogger("judge")
_MOMENT: Final = 0.05
"""Seconds that what is to be kept waits for more, to share a transaction with it."""
_AT_ONCE: Final = 32
"""Answers whose texts wait no longer."""
_MANY: Final = 10 * _AT_ONCE
"""Answers whose texts may wait where the disk is slow; the next ones wait with theirs."""
_LOST: Final = (
    "cache %s: %s, and what %d %s said is not kept: it stands in the results alone, and is "
    "asked for again with --force"
)


class BackgroundStore:
    """A `Keeper` that never stops the event loop: a `judge.protocols.Store`, opened on entering.

    It is read on one thread and written on another, since writers do not stop readers. One
    statement looks up what is asked in one turn of the loop, or while an earlier one is under way.
    One transaction keeps what 32 answers brought, or all of them in 50 ms; `get` knows it at once.
    That much a kill -9 loses. Leaving the `async with`, for whatever reason, loses nothing. `put`
    of a `durable` store waits until the disk has it, or the server.

    A disk that fills meanwhile, or a server that goes away, ends nothing, for what was paid for is
    in hand: that is told once, and at the end how much it could not keep. What cannot be looked up
    counts as absent. One that is full before anything is paid for is an error, and so is one that
    fills, to who is `strict`, for what is kept there is then all that matters. Other failures to
    write are raised by the next use, or on leaving.
    """

    def __init__(
        self, opened: Callable[[], Keeper], *, durable: bool = False, strict: bool = False
    ) -> None:
        self._opened = opened
        self._strict = strict
        self._durable = durable
        self._keeper: Keeper
        self._reader: Final = ThreadPoolExecutor(1, "judge-cache-read")
        self._writer: Final = ThreadPoolExecutor(1, "judge-cache-write")
        self._turn: Final = asyncio.Lock()
        self._next: tuple[list[str], asyncio.Task[dict[str, str]]] | None = None
        """The keys of the next look-up, which takes more until its turn comes."""
        self._lock: Final = Lock()
        """Of the texts that are not on disk yet."""
        self._fresh: dict[str, str] = {}
        self._writing: dict[str, str] = {}
        self._kept: Future[None]
        """Done when the fresh texts are on disk."""
        self._due: Final = Event()
        self._puts = self._lost = 0
        self._closed = self._warned = False
        self._failure: Exception | None = None

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        self._keeper = await loop.run_in_executor(self._writer, self._opened)
        return self

    async def __aexit__(self, _: object, error: BaseException | None, __: object) -> None:
        self._closed = True
        await asyncio.to_thread(self._end)
        if self._failure and error is None:
            raise self._failure
        if self._failure not in {None, error}:
            _LOGGER.warning("%s", self._failure)

    def _end(self) -> None:
        self._due.set()
        self._writer.shutdown()
        self._reader.shutdown()
        self._keeper.close()
        if self._lost:
            keeper, calls = self._keeper, plural(self._lost, "call")
            _LOGGER.warning(_LOST, keeper.place, keeper.trouble, self._lost, calls)

    def _check(self) -> None:
        if self._closed:
            raise UsageError("cache: closed; ask while its `async with` is open")
        if self._failure:
            raise self._failure

    async def get(self, keys: Sequence[str]) -> Mapping[str, str]:
        """The texts known for these keys; a missing key is absent."""
        self._check()
        with self._lock:
            held = {} if self._durable else self._writing | self._fresh
        known = {key: held[key] for key in keys if key in held} if held else {}
        if len(known) == len(keys):
            return known
        if self._next is None or self._next[1].done():
            fresh: list[str] = []
            self._next = fresh, asyncio.create_task(self._look_up(fresh))
        wanted, looking = self._next
        wanted.extend(keys)
        found = await asyncio.shield(looking)
        return {key: found[key] for key in keys if key in found} | known

    async def _look_up(self, wanted: Sequence[str]) -> dict[str, str]:
        async with self._turn:
            self._next = None
            if self._closed:
                return {}  # whoever asked was given up, or it had not come to this
            loop = asyncio.get_running_loop()
            try:
                return await loop.run_in_executor(self._reader, self._keeper.get, wanted)
            except Unkept as error:
                if self._strict:
                    raise
                self._warn(error)
                return {}

    async def put(self, texts: Mapping[str, str]) -> None:
        """Keep all of these, or none. A caller that is cancelled leaves them to be kept."""
        self._check()
        with self._lock:
            if not self._puts:
                self._kept = self._writer.submit(self._write)
            self._puts += 1
            self._fresh.update(texts)
            if self._durable or self._puts >= _AT_ONCE:
                self._due.set()
            kept = self._kept
            slow = self._puts > _MANY
        if self._durable or slow:
            await asyncio.wait([asyncio.wrap_future(kept)])
            if self._failure:
                raise self._failure

    def _write(self) -> None:
        self._due.wait(_MOMENT)
        with self._lock:
            self._writing, self._fresh = self._fresh, {}
            puts, self._puts = self._puts, 0
            self._due.clear()
        try:
            self._keeper.put(self._writing)
        except Unkept as error:
            if self._strict:
                self._failure = error
            else:
                self._warn(error)
            self._lost += puts
        except Exception as error:  # noqa: BLE001  raised by the next use
            self._failure = error
        self._writing = {}

    def _warn(self, error: Unkept) -> None:
        if not self._warned:
            self._warned = True
            _LOGGER.warning("%s", error)
