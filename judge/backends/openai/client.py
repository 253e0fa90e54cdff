"""Send requests to one server, with retries, a pace and a rule for outages."""

import asyncio
import logging
import math
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, Generic, Self, TypeVar

from httpx2 import Response
from openai import AsyncOpenAI
from pydantic import JsonValue
from pydantic_core import to_json
from tenacity import AsyncRetrying, RetryCallState, retry_if_result

from judge.backends.openai.failures import ERRORS, Answer, Failure, Refusal, broken
from judge.backends.openai.outage import Outage
from judge.backends.openai.pace import REFUSAL_WINDOW_SECONDS, TOO_MANY, Pace
from judge.backends.openai.server import NO_HEADERS, SOCKETS, Server
from judge.backends.retry import last, pause
from judge.errors import JudgeUnavailable, JudgeUnhealthy
from judge.records import UnscoredReason
from judge.text.visible import counted

T = TypeVar("T")

_LOG: Final = logging.getLogger("judge")
CONNECT_SECONDS: Final = 15.0
"""A running server accepts a connection sooner, even a busy one."""
_REFUSED: Final = 4.0
"""The longest wait after a refusal without `Retry-After`."""
_UNSENT: Final = 8.0
"""The longest wait after a connection that was refused."""
LAST: Final = 5.0
"""How long an attempt may go on after the end of patience."""


@dataclass(frozen=True, slots=True)
class Policy:
    """The attempts, time limits and waits of requests to a server."""

    timeout: float = 120.0
    """Seconds one attempt may take."""
    attempts: int = 6
    """The most attempts of a request; refusals (429) before a deadline do not count."""
    first_wait: float = 0.5
    """The longest first wait, in seconds; it doubles after each attempt."""
    longest_wait: float = 30.0
    """The longest wait without `Retry-After`, in seconds."""
    deadline: float = 600.0
    """The longest time in seconds that a server may ask to wait."""
    patience: float = 0.0
    """The longest outage in seconds; a longer one ends the run. Connections refused during an
    outage do not count as attempts. 0 means no limit."""

    async def persist(
        self,
        attempt: Callable[[float], Awaitable[T | Failure]],
        deadline: float | None,
        over: Callable[[], float] = lambda: math.inf,
    ) -> tuple[T | Failure, int]:
        """Return the answer or the last failure, and the number of failed attempts before it.

        Args:
            attempt: given the time by which it must end, on the event loop's clock; it lasts no
                longer than `timeout` by itself.
            deadline: on the same clock. A rate limit is then sat out until it, however many
                attempts that takes. Null: `attempts` times `timeout` from now.
            over: when patience with a server that is gone ends, on the same clock.
        """
        clock = asyncio.get_running_loop().time
        end = clock() + self.attempts * self.timeout if deadline is None else deadline
        if clock() >= end:
            return Failure(UnscoredReason.TIMEOUT, "no time was left to ask", again=False), 0
        outcome = await attempt(end)
        if not _fails(outcome):
            return outcome, 0  # as most are: those need none of what follows
        made = spent = 0

        async def once() -> T | Failure:
            nonlocal outcome, made, spent
            if made and clock() >= min(end, over()) and isinstance(outcome, Failure):
                # Woken too late: what stood in the way is still the last failure.
                return replace(outcome, again=False)
            if made:
                outcome = await attempt(end)
            made += 1
            free = isinstance(outcome, Failure) and self._is_free(outcome)
            spent += deadline is None or not free
            return outcome

        return await AsyncRetrying(
            retry=retry_if_result(_fails),
            wait=lambda state: min(self._wait(state, spent), max(0.0, over() - clock())),
            stop=lambda state: spent >= self.attempts or clock() + state.upcoming_sleep >= end,
            retry_error_callback=last,
        )(once), made - 1

    def _wait(self, state: RetryCallState, spent: int) -> float:
        refusal: Refusal | None = last(state).refusal
        asked = refusal.wait if refusal else None
        # Not the attempt's number: refused twenty times, and then met by a failure, it would wait
        # as after the 21st.
        attempt, longest = spent, self.longest_wait
        if self._is_free(last(state)):
            attempt = state.attempt_number
            longest = min(longest, _UNSENT if last(state).unsent else _REFUSED)
        return pause(attempt, asked, self.first_wait, longest)

    def _is_free(self, failure: Failure) -> bool:
        """Return whether the attempt does not count, as the request cannot be at fault."""
        limited = failure.reason is UnscoredReason.RATE_LIMITED
        return limited or (failure.unsent and self.patience > 0)


@dataclass(frozen=True, slots=True)
class Exchange(Generic[T]):
    """The outcome of one request."""

    outcome: T | Failure
    """The answer or the failure."""
    seconds: float
    """From the first attempt to the end, waits included."""
    retries: int
    """Attempts that failed before the last one."""


class Connection:
    """An async context manager that sends requests to one OpenAI-compatible server.

    Its outcomes and errors show neither the key nor the values of `headers`.

    Raises:
        ConfigError: the key cannot be sent, or the address leads nowhere.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        policy: Policy | None = None,
        pace: Pace | None = None,
        headers: Mapping[str, str] = NO_HEADERS,
    ) -> None:
        self.server: Final = Server(base_url, api_key, headers)
        self.policy: Final = policy or Policy()
        self._pace: Final = pace or Pace(SOCKETS)
        self._outage: Final = Outage(self.policy.patience, self.policy.deadline)
        self.host: Final = self.server.host
        self.base_url: Final = self.server.base_url
        self._client: AsyncOpenAI

    def __repr__(self) -> str:
        return f"Connection({self.base_url!r})"

    async def __aenter__(self) -> Self:
        self._client = self.server.open(min(CONNECT_SECONDS, self.policy.timeout))
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.close()

    async def ask(
        self,
        path: str,
        body: Mapping[str, JsonValue],
        read: Callable[[bytes], T],
        *,
        deadline: float | None = None,
        final: Callable[[Failure], bool] | None = None,
        spent: Callable[[T], int] = lambda _: 0,
        option: str = "--model",
    ) -> Exchange[T]:
        """Post `body` to `path` until it is answered or the policy's limits are reached.

        Args:
            path: below the base URL.
            body: sent as JSON; its "model" is named where it cannot be asked.
            read: returns the answer in a response's bytes, or raises ValueError.
            deadline: on the event loop's clock.
            final: returns whether a failure ends this request, which then has no limit on
                attempts.
            spent: returns the tokens of request and answer; 0 if the server did not count them.
            option: the option that names the model, for error messages.

        Raises:
            JudgeUnavailable: no request to this model can succeed before the user has acted.
            JudgeUnhealthy: the server has been gone for longer than patience lasts.
        """
        clock = asyncio.get_running_loop().time
        started = clock()
        content = to_json(body)
        attempt = partial(self._attempt, self.base_url + path, content, read, final)
        policy = self.policy if final is None else replace(self.policy, attempts=sys.maxsize)
        outcome, retries = await policy.persist(attempt, deadline, lambda: self._outage.end)
        if not isinstance(outcome, Failure) and (tokens := spent(outcome)):
            self._pace.spent(len(content), tokens)
        if isinstance(outcome, Failure) and outcome.step:
            step = outcome.step.format(option=option)
            raise unavailable(
                self.base_url, str(body.get("model", "")), f"{outcome.detail}; {step}"
            )
        if isinstance(outcome, Failure) and (why := self._outage.why):
            raise JudgeUnhealthy(str(unavailable(self.base_url, str(body.get("model", "")), why)))
        return Exchange(outcome, clock() - started, retries)

    @property
    def trouble(self) -> str:
        """The state of an outage, or the number of recent refusals; empty without either."""
        if state := self._outage.state:
            return state
        refused = self._pace.refused_lately
        window = f"{REFUSAL_WINDOW_SECONDS:g} s ({TOO_MANY})"
        return f"{counted(refused, 'request')} refused in the last {window}" if refused else ""

    async def _attempt(
        self,
        url: str,
        content: bytes,
        read: Callable[[bytes], T],
        final: Callable[[Failure], bool] | None,
        end: float,
    ) -> T | Failure:
        if not await self._pace.begin(len(content), end):
            late = "no turn to ask before the deadline (--concurrency, --rpm, --tpm)"
            return Failure(UnscoredReason.RATE_LIMITED, late, again=False)
        clock = asyncio.get_running_loop().time
        started = clock()
        try:
            last_moment = max(self._outage.end, started) + LAST
            async with asyncio.timeout_at(min(started + self.policy.timeout, end, last_moment)):
                response = await self._client.post(url, cast_to=Response, content=content)
        except ERRORS as error:
            if type(error) is TimeoutError:  # of our own making
                waited = f"no whole answer within {clock() - started:.3g} s"
                outcome: T | Failure = Failure(UnscoredReason.TIMEOUT, waited)
            else:
                outcome = self.server.failure(error, content.decode())
        else:
            outcome = self._read(self.server.answer(response, content.decode()), read)
        finally:
            self._pace.release()
        if not isinstance(outcome, Failure):
            self._outage.hear(None)
            return outcome
        if outcome.reason is UnscoredReason.RATE_LIMITED:
            self._pace.refused()
        self._outage.hear(outcome)
        status = outcome.refusal.status if outcome.refusal else 0
        _LOG.debug("attempt failed: %s, status %d", outcome.reason, status)
        ended = outcome.again and final is not None and final(outcome)
        return replace(outcome, again=False) if ended else outcome

    def _read(self, answer: Answer, read: Callable[[bytes], T]) -> T | Failure:
        try:
            return read(answer.body)
        except ValueError:
            return broken(answer, self.server.hide)


def unavailable(base_url: str, model: str, why: str) -> JudgeUnavailable:
    """Return the error that ends a run; model and server are named before the reason."""
    return JudgeUnavailable(f"model {model!r} at {base_url} cannot be asked: {why}")


def _fails(outcome: object) -> bool:
    """Return whether another attempt may succeed."""
    return isinstance(outcome, Failure) and outcome.again
