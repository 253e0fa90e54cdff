"""What limits the requests to a server: a pace, a budget, and patience with an outage."""

import asyncio
import math
import time
from collections import deque
from collections.abc import Callable
from typing import Final

from judge.backends.openai.failures import Failure
from judge.config import Config
from judge.records import UnscoredReason

REFUSAL_WINDOW_SECONDS: Final = 10.0
_BYTES_PER_TOKEN: Final = 4
_LULL_SECONDS: Final = 60.0
"""The time without a failure after which the next failure begins a new outage."""
_FIRST_REPLY_TOKENS: Final = 300
"""The estimate for a reply before one has arrived."""


class Pace:
    """Limits the requests in flight, and spreads them evenly over a minute.

    A request that the server refuses (429) waits outside the pace, so that it never delays another
    one. `ceiling` is the most requests in flight, `rpm` and `tpm` the most requests and tokens a
    minute; unused capacity is lost.
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
        self._request_seconds = 60 / (rpm or math.inf)
        self._token_seconds = 60 / (tpm or math.inf)
        self._next_by_requests = self._next_by_tokens = -math.inf
        self._refusals = deque[float]()
        self.release: Final = self._places.release
        """Counts one request less as in flight."""

    async def begin(self, size: int, end: float) -> bool:
        """Wait until a request of `size` bytes may leave; return False if that is after `end`.

        `end` is on the event loop's clock. The caller calls `release` once after each True.
        """
        try:
            async with asyncio.timeout_at(end if self._places.locked() else None):
                await self._places.acquire()
        except TimeoutError:
            return False
        try:
            wait = self.reserve(size, end - asyncio.get_running_loop().time())
            if wait:
                await asyncio.sleep(wait)
        except BaseException:
            self.release()
            raise
        if wait is None:
            self.release()
        return wait is not None

    def reserve(self, size: int, within: float = math.inf) -> float | None:
        """Count a request of `size` bytes against the rates, and return the seconds to wait.

        Return None, and count nothing, if that is not below `within`.
        """
        now = self._clock()
        start = max(now, self._next_by_requests, self._next_by_tokens)
        if start > now and start - now >= within:
            return None
        self._next_by_requests = start + self._request_seconds
        self._next_by_tokens = start + size / _BYTES_PER_TOKEN * self._token_seconds
        return start - now

    def spent(self, size: int, tokens: int) -> None:
        """Replace the estimated tokens of a request of `size` bytes by the server's count."""
        self._next_by_tokens += (tokens - size / _BYTES_PER_TOKEN) * self._token_seconds

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


class Outage:
    """The state of an outage, which begins with a failure and ends with any other response.

    Failures are a server that cannot be reached, an internal error (5xx) and a refusal (429). A
    refusal that asks to wait counts from the end of that wait.

    Args:
        patience: the most seconds of an outage; 0 for no limit.
        deadline: the most seconds that a server may ask to wait.
        first_patience: the same as `patience`, while the server has accepted no connection yet.
        clock: by default the event loop's.
    """

    def __init__(
        self,
        patience: float,
        deadline: float = math.inf,
        first_patience: float = math.inf,
        clock: Callable[[], float] | None = None,
    ) -> None:
        self._patience = patience
        self._first_patience = min(patience, first_patience)
        self._deadline = deadline
        self._clock = clock or (lambda: asyncio.get_running_loop().time())
        self._since = self._last = math.inf
        self._failure: Failure | None = None
        self.has_connected = False
        """Whether the server has ever accepted a connection."""

    @property
    def patience(self) -> float:
        """The most seconds of the present outage; 0 for no limit."""
        return self._patience if self.has_connected else self._first_patience

    @property
    def end(self) -> float:
        """The end of patience on that clock; infinite while the server answers.

        It ends at once if the server asks to wait for longer than the deadline.
        """
        if not self.patience or self._failure is None:
            return math.inf
        return -math.inf if self._is_too_long else self._since + self.patience

    @property
    def _is_too_long(self) -> bool:
        return self._failure is not None and (self._failure.wait or 0.0) > self._deadline

    def hear(self, failure: Failure | None) -> None:
        """Record the failure of an attempt, or None for an answer.

        An attempt that took too long neither begins nor ends an outage.
        """
        self.has_connected = self.has_connected or failure is None or not failure.unsent
        if failure is None:
            self._failure = None
        elif failure.gone or failure.reason is UnscoredReason.RATE_LIMITED:
            now = self._clock()
            is_new = self._failure is None or now > self._last + _LULL_SECONDS
            self._failure = failure
            self._last = now if self._is_too_long else now + (failure.wait or 0.0)
            self._since = self._last if is_new else self._since
        elif failure.status:
            self._failure = None

    @property
    def why(self) -> str:
        """The reason for which the run ends, with the next step; empty before that."""
        failure = self._failure
        if failure is None or self._clock() < self.end:
            return ""
        if self._is_too_long:
            return (
                f"it asks to wait for longer than {self._deadline:g} s (--deadline), last: "
                f"{failure.detail}; go on when that is over, or name another --model"
            )
        step = "is the server running? is --base-url right?"
        if failure.reason is UnscoredReason.RATE_LIMITED:
            step = "is the quota used up? does something else use it? try --rpm"
        return f"no answer for {self.patience:g} s (--patience), last: {failure.detail}; {step}"

    @property
    def state(self) -> str:
        """The time without an answer, for people; empty while the server answers."""
        seconds = self._clock() - self._since
        if not self.patience or self._failure is None or seconds < 0:
            return ""
        return f"no answer for {seconds:.0f} of {self.patience:g} s ({self._failure.detail})"


class Budget:
    """Allows requests until the next one might exceed the budget of the settings, and then none.

    Shorter requests that would still fit are refused too: they would be a biased sample.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        self._prompt_tokens = self._reply_tokens = self._replies = 0
        self._reserved_tokens = self._in_flight = 0
        self.over = ""
        """The option whose limit was reached; empty before that."""

    def begin(self, tokens: int) -> bool:
        """Reserve a request of `tokens` and its reply; return whether the budget allows it."""
        reply = _FIRST_REPLY_TOKENS
        if self._replies:
            reply = math.ceil(self._reply_tokens / self._replies)
        prompts = self._prompt_tokens + self._reserved_tokens + tokens
        replies = self._reply_tokens + (self._in_flight + 1) * reply
        config, cost = self._config, self._config.cost(prompts, replies)
        if config.max_tokens is not None and prompts + replies > config.max_tokens:
            self.over = self.over or f"--max-tokens {config.max_tokens}"
        if config.max_cost is not None and cost is not None and cost > config.max_cost:
            self.over = self.over or f"--max-cost {config.max_cost:g}"
        if self.over:
            return False
        self._reserved_tokens += tokens
        self._in_flight += 1
        return True

    def end(self, tokens: int, prompt: int = 0, reply: int = 0) -> None:
        """Release a reservation and count the tokens used; both are 0 if no reply came."""
        self._reserved_tokens -= tokens
        self._in_flight -= 1
        self._prompt_tokens += prompt
        self._reply_tokens += reply
        self._replies += reply > 0
