"""How often, how long and how soon again a server is asked."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from tenacity import AsyncRetrying, RetryCallState, retry_if_result, wait_random_exponential

from judge.backends.openai.failures import Failure
from judge.records import UnscoredReason

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Policy:
    """Waits grow exponentially with full jitter; where the server says how long, it is heeded."""

    timeout: float = 120.0
    """Seconds one attempt may take."""
    attempts: int = 6
    """How often a request is sent at most, those aside that met a rate limit before a deadline."""
    first_wait: float = 0.5
    """Seconds the first wait may last; the second may last twice as long, and so on."""
    longest_wait: float = 30.0
    """Seconds a wait may last that the server did not ask for."""

    async def persist(
        self, attempt: Callable[[float], Awaitable[T | Failure]], deadline: float | None
    ) -> tuple[T | Failure, int]:
        """Attempt until it succeeds, cannot succeed, or the patience is used up.

        Args:
            attempt: given the time by which it must end, on the event loop's clock.
            deadline: on the same clock. A rate limit is then sat out until it, however many
                attempts that takes. Null: `attempts` times `timeout` from now.

        Returns:
            The answer or the last failure, and how many attempts failed before it.
        """
        clock = asyncio.get_running_loop().time
        end = clock() + self.attempts * self.timeout if deadline is None else deadline
        if clock() >= end:
            return Failure(UnscoredReason.TIMEOUT, "no time was left to ask", again=False), 0
        first = await attempt(min(clock() + self.timeout, end))
        if not _fails(first):
            return first, 0
        return await self._persist(attempt, first, end, sits_out=deadline is not None)

    async def _persist(
        self,
        attempt: Callable[[float], Awaitable[T | Failure]],
        first: T | Failure,
        end: float,
        *,
        sits_out: bool,
    ) -> tuple[T | Failure, int]:
        """What becomes of a request whose first attempt failed, which most do not."""
        clock = asyncio.get_running_loop().time
        made, spent = 0, 0
        last = first

        async def once() -> T | Failure:
            nonlocal made, spent, last
            if made and clock() >= end:
                # Woken too late: what stood in the way is still the last failure.
                return replace(last, again=False) if isinstance(last, Failure) else last
            outcome = await attempt(min(clock() + self.timeout, end)) if made else first
            made += 1
            if isinstance(outcome, Failure):
                last = outcome
                spent += not sits_out or outcome.reason is not UnscoredReason.RATE_LIMITED
            return outcome

        # Made anew for each request: what it keeps while running is no business of another's.
        outcome: T | Failure = await AsyncRetrying(
            retry=retry_if_result(_fails),
            wait=self._wait,
            stop=lambda state: spent >= self.attempts or clock() + state.upcoming_sleep >= end,
            retry_error_callback=_last,
        )(once)
        return outcome, made - 1

    def _wait(self, state: RetryCallState) -> float:
        refusal = _last(state).refusal
        if refusal is None or refusal.wait is None:
            return wait_random_exponential(self.first_wait, self.longest_wait)(state)
        # All that were told the same moment shall not come back at the same moment.
        return refusal.wait + random.uniform(0, self.first_wait)  # noqa: S311 - hides nothing


def _fails(outcome: object) -> bool:
    """Whether another attempt may go better."""
    return isinstance(outcome, Failure) and outcome.again


def _last(state: RetryCallState) -> Failure:
    if state.outcome is None:
        raise RuntimeError("asked about an attempt that was not made")
    failure: Failure = state.outcome.result()
    return failure
