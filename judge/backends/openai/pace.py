"""The pace: how many requests are out at a server at a time, and when the next one may leave."""

import asyncio
import math
import random
import re
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Final

_LAST: Final = 100
"""Replies that tell whether a refusal is an isolated one."""
_ISOLATED: Final = 0.1
"""Share of them under which refusals are isolated."""
_LESS: Final = 0.8
_EVERY: Final = 1.0
"""Seconds between two cuts: whatever was out at the first is no reason for a second."""
_LEAST: Final = 0.01
"""Below 1, one request is out at a time, and waits in between: at .5 as long as it lasts."""
_MORE: Final = 0.1
"""What a reply adds: a tenth more requests at a time in each round trip."""
_STILL: Final = 10
"""Replies that add nothing after a server failed: where a tenth fails, nothing grows."""
_JITTER: Final = 0.1
"""Of an asked wait: processes told the same moment shall not come back at the same moment."""
_MINUTE: Final = 60.0
"""Seconds. A quota that is filled up later than that is one of a day, of which a refusal tells."""
_INSTANT: Final = 1e-6
"""Seconds that no clock tells apart: who has waited for a moment may find it that much away."""
_NEWEST: Final = 0.1
"""What the last request counts among those before."""
_FINE: Final = range(200, 300)
TOO_MANY: Final = 429
_TIMED_OUT: Final = 408
_OWN_FAULT: Final = 500
_BYTES: Final = 4
"""Of a token, before the server has counted."""
_PARTS: Final = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3}
_DURATION: Final = re.compile(r"(?:\d+(?:\.\d+)?(?:ms|[hms]))+")
_PART: Final = re.compile(r"(\d+(?:\.\d+)?)(ms|[hms])")
_NO_HEADERS: Final[Mapping[str, str]] = {}


class _Rate:
    """So much a minute and no more, evenly spread."""

    def __init__(self, minute: float) -> None:
        self._each = _MINUTE / minute
        self.free = -math.inf
        """When the next one may leave."""

    def spend(self, amount: float, now: float) -> None:
        self.free = max(self.free, now) + amount * self._each

    def correct(self, amount: float) -> None:
        self.free += amount * self._each


class _Quota:
    """What a server last said is left of one of its own limits, and what was sent since."""

    def __init__(self, kind: str) -> None:
        self._whole, self._left, self._reset = (
            f"x-ratelimit-{what}-{kind}" for what in ("limit", "remaining", "reset")
        )
        self.left = self.whole = math.inf
        self.reset = -math.inf
        """When it is whole again."""

    def hear(self, headers: Mapping[str, str], now: float) -> None:
        if (told := headers.get(self._left)) is None:
            return
        left, seconds = _number(told), _seconds(headers.get(self._reset, ""))
        if left is not None and seconds is not None:
            self.left, self.reset = left, now + min(seconds, _MINUTE)
            self.whole = _number(headers.get(self._whole, "")) or math.inf

    def spend(self, amount: float, now: float) -> None:
        if now >= self.reset:
            self.left = self.whole
        self.left -= amount

    def free(self, amount: float) -> float:
        return -math.inf if amount <= self.left else self.reset


class Pace:
    """Lets out as many requests at a time as a server takes, for all who ask it.

    It begins at `ceiling`. Once a tenth of the last 100 replies are refusals (429) it falls to
    four fifths, once a second at most, and grows again by a tenth in each round trip; fewer of
    them delay the refused requests alone. What a server asks to wait then, and what it says of its
    quotas at any time, holds for all.

    Args:
        ceiling: requests out at a time.
        rpm: requests a minute, whatever the server takes; null: no such limit.
        tpm: tokens a minute, likewise.
        clock: in seconds.
    """

    def __init__(
        self,
        ceiling: int,
        rpm: int | None = None,
        tpm: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._ceiling = ceiling
        self.limit: float = ceiling
        """Requests that may be out at a time now."""
        self.out = 0
        """Requests that are."""
        self._clock = clock
        self._rpm = _Rate(rpm or math.inf)
        self._tpm = _Rate(tpm or math.inf)
        self._requests, self._tokens = _Quota("requests"), _Quota("tokens")
        self._refused = deque[bool](maxlen=_LAST)
        self._cut = self._held = -math.inf
        self._still = 0
        self._usual = 0.0
        """Seconds that a request is out."""
        self._idle = deque[float]()
        """When the places of refused requests are free again."""
        self._line = asyncio.Lock()
        self._news = asyncio.Event()

    async def begin(self, size: int, end: float) -> bool:
        """Wait until a request of so many bytes may leave; false where it cannot before `end`.

        Whoever was let out says how it went: `ended`. `end` is on the event loop's clock.
        """
        if not self._line.locked() and self.let_out(size) <= 0:
            return True
        clock = asyncio.get_running_loop().time
        with suppress(TimeoutError):
            async with asyncio.timeout_at(end), self._line:
                while (wait := self.let_out(size)) > 0:
                    if math.isfinite(wait) and clock() + wait >= end:
                        return False
                    self._news.clear()
                    with suppress(TimeoutError):
                        async with asyncio.timeout(min(wait, _MINUTE)):
                            await self._news.wait()
                return True
        return False

    def let_out(self, size: int) -> float:
        """Count the request as out, and 0; or the seconds until it may be tried again."""
        now, tokens = self._clock(), size / _BYTES
        while self._idle and self._idle[0] <= now:
            self._idle.popleft()
        if self.out + len(self._idle) + 1 > max(1.0, self.limit):
            return self._idle[0] - now if self._idle else math.inf
        free = max(
            self._held,
            self._rpm.free,
            self._tpm.free,
            self._requests.free(1),
            self._tokens.free(tokens),
        )
        if free > now + _INSTANT:
            return free - now
        self.out += 1
        self._rpm.spend(1, now)
        self._tpm.spend(tokens, now)
        self._requests.spend(1, now)
        self._tokens.spend(tokens, now)
        return 0.0

    def ended(
        self,
        status: int,
        headers: Mapping[str, str] = _NO_HEADERS,
        wait: float | None = None,
        seconds: float = 0.0,
    ) -> None:
        """One that was out is not any more.

        Args:
            status: of the reply; 0 where none came.
            headers: of the reply.
            wait: seconds that it asks to wait.
            seconds: for which it was out.
        """
        self.out -= 1
        now = self._clock()
        refused = status == TOO_MANY
        if status in _FINE:
            self._usual += (seconds - self._usual) * _NEWEST
        if status:
            self._refused.append(refused or wait is not None)
            self._requests.hear(headers, now)
            self._tokens.hear(headers, now)
        if (refused or wait is not None) and self._crowded():
            self._hold(refused, wait or 0.0, now)
        if status in {0, _TIMED_OUT} or status >= _OWN_FAULT:
            self._still = _STILL
        elif self._still:
            self._still -= 1
        elif not refused and self.limit < self._ceiling and not self._crowded():
            self.limit = min(self._ceiling, self.limit + _MORE * min(1.0, self.limit))
        if self.limit < 1 or (refused and self._crowded()):
            # A refusal comes at once: were its place free at once, the next would be refused, too.
            self._idle.append(now + self._usual / min(1.0, self.limit))
        self._news.set()

    @property
    def held(self) -> float:
        """Seconds for which all shall wait, as a refusal asked."""
        return max(0.0, self._held - self._clock())

    def dropped(self) -> None:
        """One that was out is given up: it says nothing of the server."""
        self.out -= 1
        self._news.set()

    def spent(self, size: int, tokens: int) -> None:
        """What a request of so many bytes took in all, as its server has counted."""
        self._tpm.correct(tokens - size / _BYTES)

    def _crowded(self) -> bool:
        """Whether refusals are no isolated ones."""
        return sum(self._refused) >= _ISOLATED * len(self._refused)

    def _hold(self, refused: bool, wait: float, now: float) -> None:  # noqa: FBT001
        later = random.uniform(wait, wait * (1 + _JITTER))  # noqa: S311  hides nothing
        self._held = max(self._held, now + later)
        if refused and now >= self._cut + _EVERY:
            self._cut = now
            self.limit = max(_LEAST, self.limit * _LESS)


def _number(text: str) -> float | None:
    """A number from 0 on, of a header; None where it is none."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if 0 <= number < math.inf else None


def _seconds(text: str) -> float | None:
    """Of a header that says when: 12, 1.5 or 6m0.5s; None where it is no such.

    >>> _seconds("1m30s"), _seconds("20ms"), _seconds("7"), _seconds("soon")
    (90.0, 0.02, 7.0, None)
    """
    if not _DURATION.fullmatch(text):
        return _number(text)
    return sum(float(number) * _PARTS[unit] for number, unit in _PART.findall(text))
