"""One asks and the others wait, where many processes share a store."""

import asyncio
import secrets
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Final, Self

from judge.backends.store.journal import BackgroundStore
from judge.backends.store.keeper import Unkept

if TYPE_CHECKING:
    from judge.backends.store.redis import RedisStore

_FIRST: Final = 0.02
"""Seconds until a lease that somebody holds is asked for again; half as many more each time."""
_LAST: Final = 0.5
_OFTEN: Final = 3
"""Renewals of a lease in the time for which it holds."""


class SharedStore(BackgroundStore):
    """One that other processes fill at the same time: `judge.protocols.Leases`, too.

    A lease is renewed for as long as it is held; that of a process that died ends by itself. Where
    the server is gone, everybody asks.
    """

    def __init__(
        self, opened: "Callable[[], RedisStore]", *, durable: bool = False, strict: bool = False
    ) -> None:
        super().__init__(opened, durable=durable, strict=strict)
        self._keeper: RedisStore
        self._leaser: Final = ThreadPoolExecutor(1, "judge-cache-lease")
        self._held: dict[str, str] = {}
        """Names of the leases, by token."""
        self._renewal: asyncio.Task[None]

    async def __aenter__(self) -> Self:
        await super().__aenter__()
        self._renewal = asyncio.create_task(self._renew())
        return self

    def _end(self) -> None:
        self._leaser.shutdown()
        super()._end()

    async def __aexit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._renewal.cancel()
        await super().__aexit__(kind, error, trace)

    @asynccontextmanager
    async def lease(self, name: str, deadline: float | None) -> AsyncGenerator[bool]:
        """Whoever enters is alone with this name in all processes; on leaving, what it put is kept.

        False where somebody else still is at the deadline, a time of the event loop.
        """
        token, pause = secrets.token_hex(8), _FIRST
        loop = asyncio.get_running_loop()
        try:
            while not (ours := await loop.run_in_executor(self._leaser, self._take, name, token)):
                left = _LAST if deadline is None else deadline - loop.time()
                if left <= 0:
                    break
                await asyncio.sleep(min(pause, left))
                pause = min(pause * 1.5, _LAST)
            if ours:
                self._held[token] = name
            yield ours
        finally:
            self._held.pop(token, None)
            # Behind its taking, and behind what was put: each on its thread.
            with suppress(RuntimeError):
                self._leaser.submit(self._writer.submit, self._free, name, token)

    def _take(self, name: str, token: str) -> bool:
        try:
            return self._keeper.take(name, token)
        except Unkept as error:
            self._warn(error)
            return True

    def _free(self, name: str, token: str) -> None:
        with suppress(Unkept):
            self._keeper.free(name, token)

    async def _renew(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(self._keeper.lease / _OFTEN)
            with suppress(Unkept):
                await loop.run_in_executor(self._leaser, self._keeper.renew, dict(self._held))
