"""Admission: who may be judged now, who waits, and who is told to come again."""

import math
import time
from asyncio import CancelledError, Future, get_running_loop
from collections import Counter, deque
from collections.abc import Callable
from contextlib import suppress
from typing import Final

_RECENT: Final = 60.0
"""Seconds over which the rate is measured."""
_LONGEST: Final = 300
"""Seconds: whoever comes again later than that might as well ask now and then."""

Taker = Callable[[], None]
"""Is called when a place is given to a batch."""


class Slots:
    """The places for answers in flight, shared by live requests and batches: live ones go first.

    They are the `judge.pool.Places` of the live evaluator.

    Args:
        size: how many there are.
        clock: seconds.
    """

    def __init__(self, size: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.size = size
        self.free = size
        self._clock = clock
        self._live: deque[Future[None]] = deque()
        self._wanted: Counter[Taker] = Counter()
        self._left: deque[float] = deque(maxlen=4096)
        self._born = clock()

    @property
    def waiting(self) -> int:
        """Live requests that wait."""
        return len(self._live)

    @property
    def rate(self) -> float:
        """Answers a second, of late."""
        now = self._clock()
        while self._left and now - self._left[0] > _RECENT:
            self._left.popleft()
        full = len(self._left) == self._left.maxlen
        since = self._left[0] if full else max(self._born, now - _RECENT)
        return len(self._left) / max(now - since, 1.0)

    async def __aenter__(self) -> None:
        """Take a place for a live request, once there is one."""
        if self.free and not self._live:
            self.free -= 1
            return
        turn: Future[None] = get_running_loop().create_future()
        self._live.append(turn)
        try:
            await turn
        except CancelledError:
            if turn.cancelled():
                with suppress(ValueError):
                    self._live.remove(turn)
            else:
                self.give_back()
            raise

    async def __aexit__(self, *_: object) -> None:
        self.leave()

    def wait(self, before: int) -> int:
        """Seconds until so many before one had their turn, at the measured rate; 1 at least."""
        rate = self.rate
        return min(_LONGEST, max(1, math.ceil((before + 1) / rate))) if rate else 1

    def leave(self) -> None:
        """Give a place back: an answer is done."""
        self._left.append(self._clock())
        self.give_back()

    def want(self, taker: Taker) -> None:
        """Ask for a place for an answer of a batch."""
        self._wanted[taker] += 1
        self._grant()

    def forget(self, taker: Taker) -> None:
        """Give a batch no more places."""
        del self._wanted[taker]

    def give_back(self) -> None:
        """Give a place back of which nothing came."""
        self.free += 1
        self._grant()

    def _grant(self) -> None:
        while self.free and self._live:
            turn = self._live.popleft()
            if not turn.done():
                self.free -= 1
                turn.set_result(None)
        while self.free and self._wanted:
            # Each batch in turn: who has been served goes to the end.
            taker = next(iter(self._wanted))
            count = self._wanted.pop(taker)
            if count > 1:
                self._wanted[taker] = count - 1
            self.free -= 1
            taker()
