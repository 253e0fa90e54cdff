"""One server: every request sent to it, as often as it takes, and what came of each."""

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
"""Seconds to reach the server: one that is there answers sooner, even while it is busy."""
_REFUSED: Final = 4.0
"""Seconds a wait may last after a refusal that does not say how long to wait."""
_UNSENT: Final = 8.0
"""Likewise where nobody was there."""
LAST: Final = 5.0
"""Seconds that an attempt may go on after the end of patience."""


@dataclass(frozen=True, slots=True)
class Policy:
    """How often, how long and how soon again a server is asked."""

    timeout: float = 120.0
    """Seconds one attempt may take."""
    attempts: int = 6
    """How often a request is sent at most, those aside that met a rate limit before a deadline."""
    first_wait: float = 0.5
    """Seconds the first wait may last; the second may last twice as long, and so on."""
    longest_wait: float = 30.0
    """Seconds a wait may last that the server did not ask for."""
    deadline: float = 600.0
    """Seconds that a server may have too many requests before the first answer."""
    patience: float = 0.0
    """Seconds for which a server may be gone: then nobody is asked any more, and until then it
    costs no attempts that nobody is there. 0 means: as many attempts as ever, and to the end."""

    async def persist(
        self,
        attempt: Callable[[float], Awaitable[T | Failure]],
        deadline: float | None,
        over: Callable[[], float] = lambda: math.inf,
    ) -> tuple[T | Failure, int]:
        """The answer or the last failure, and how many attempts failed before it.

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
        """Whether the request may be at fault in no case, so that the attempt does not count."""
        limited = failure.reason is UnscoredReason.RATE_LIMITED
        return limited or (failure.unsent and self.patience > 0)


@dataclass(frozen=True, slots=True)
class Exchange(Generic[T]):
    """What became of one request."""

    outcome: T | Failure
    """The answer, or why there is none."""
    seconds: float
    """From the first sending until the end, waits included."""
    retries: int
    """Attempts that failed before the last one."""


class Connection:
    """Sends requests to one OpenAI-compatible server, as often as `policy` says.

    An async context manager, made and closed in the event loop it is used in. Nothing it makes,
    says or raises shows the key, or what stands in the further `headers` of its requests.

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
        """Post `body` to `path` until it is answered or the policy's patience is used up.

        Args:
            path: below the base URL.
            body: sent as JSON; its "model" is named where it cannot be asked.
            read: makes the answer of a response's bytes; a `ValueError` says that they hold none.
            deadline: on the event loop's clock.
            final: whether a failure that others would try again ends this request, which then
                may be sent as often as that allows.
            spent: the tokens that an answer took in all; 0 where nobody counted them.
            option: which one names the model, for the hint what to do.

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
        """What is the matter with the server; empty while it answers."""
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
    """Whether another attempt may go better."""
    return isinstance(outcome, Failure) and outcome.again
