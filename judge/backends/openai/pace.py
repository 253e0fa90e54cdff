"""Limits the requests to a server: in flight, per minute, and in tokens per minute."""

import asyncio
import math
import time
from collections import deque
from collections.abc import Callable
from typing import Final

TOO_MANY: Final = 429
REFUSAL_WINDOW_SECONDS: Final = 10.0
_SECONDS_PER_MINUTE: Final = 60.0
_BYTES_PER_TOKEN: Final = 4


class _Rate:
    """A constant rate per minute; unused capacity is lost."""

    def __init__(self, per_minute: float) -> None:
        self._seconds_each = _SECONDS_PER_MINUTE / per_minute
        self.free = -math.inf
        """The earliest time of the next request, on the clock of the pace."""

    def spend(self, amount: float, now: float) -> None:
        self.free = max(self.free, now) + amount * self._seconds_each

    def correct(self, amount: float) -> None:
        self.free += amount * self._seconds_each


class Pace:
    """Limits the requests in flight, and spreads them evenly over a minute.

    A request that the server refuses (429) waits outside the pace, so that it never delays another
    one. Only `rpm` and `tpm` hold for all requests.

    Args:
        ceiling: the most requests in flight.
        rpm: the most requests a minute; None for no limit.
        tpm: the most tokens a minute; None for no limit.
        clock: returns the time in seconds.
    """

    def __init__(
        self,
        ceiling: int,
        rpm: float | None = None,
        tpm: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._clock = clock
        self._places = asyncio.Semaphore(ceiling)
        self._rpm = _Rate(rpm or math.inf)
        self._tpm = _Rate(tpm or math.inf)
        self._refusals = deque[float]()

    async def begin(self, size: int, end: float) -> bool:
        """Wait until a request of `size` bytes may leave; return False if that is after `end`.

        `end` is on the event loop's clock. The caller calls `release` once after each True.
        """
        clock = asyncio.get_running_loop().time
        try:
            async with asyncio.timeout_at(end if self._places.locked() else None):
                await self._places.acquire()
        except TimeoutError:
            return False
        wait = self.reserve(size, end - clock())
        if wait is None:
            self.release()
            return False
        if wait:
            try:
                await asyncio.sleep(wait)
            except BaseException:
                self.release()
                raise
        return True

    def reserve(self, size: int, within: float = math.inf) -> float | None:
        """Count a request of `size` bytes against the rates, and return the seconds to wait.

        Return None, and count nothing, if that is not below `within`.
        """
        now = self._clock()
        wait = max(0.0, max(self._rpm.free, self._tpm.free) - now)
        if wait and wait >= within:
            return None
        self._rpm.spend(1, now + wait)
        self._tpm.spend(size / _BYTES_PER_TOKEN, now + wait)
        return wait

    def release(self) -> None:
        """Count one request less as in flight."""
        self._places.release()

    def spent(self, size: int, tokens: int) -> None:
        """Replace the estimated tokens of a request of `size` bytes by the server's count."""
        self._tpm.correct(tokens - size / _BYTES_PER_TOKEN)

    def refused(self) -> None:
        """Count a refusal."""
        self._refusals.append(self._clock())

    @property
    def refused_lately(self) -> int:
        """The number of requests refused in the last 10 seconds."""
        oldest = self._clock() - REFUSAL_WINDOW_SECONDS
        while self._refusals and self._refusals[0] < oldest:
            self._refusals.popleft()
        return len(self._refusals)
