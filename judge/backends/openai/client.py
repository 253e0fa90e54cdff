"""Send requests to one server, with retries, a pace and a rule for outages."""

import asyncio
import logging
import math
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, Generic, Self, TypeVar

from httpx2 import Response
from pydantic import JsonValue
from pydantic_core import to_json
from tenacity import AsyncRetrying, RetryCallState, retry_if_result

from judge.backends.openai.failures import OWN_FAULT, Failure, broken, from_error
from judge.backends.openai.limits import REFUSAL_WINDOW_SECONDS, TOO_MANY, Outage, Pace
from judge.backends.openai.sdk import AsyncOpenAI
from judge.backends.openai.server import NO_HEADERS, SOCKETS, Server
from judge.backends.retry import last, pause
from judge.errors import JudgeUnavailable, JudgeUnhealthy
from judge.records import UnscoredReason
from judge.text.visible import counted

T = TypeVar("T")

_LOG: Final = logging.getLogger("judge")
CONNECT_SECONDS: Final = 15.0
"""A running server accepts a connection sooner, even a busy one."""
_LONGEST_WAIT_REFUSED: Final = 2.0
"""After a refusal without `Retry-After`."""
_LONGEST_WAIT_UNSENT: Final = 8.0
"""After a connection that was refused."""
LAST_SECONDS: Final = 5.0
"""How long an attempt may go on after the end of patience."""
_FIRST_ATTEMPTS: Final = 3
_REDIRECTS: Final = range(300, 400)


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
    first_patience: float = math.inf
    """The same for a server that has accepted no connection yet, if that is shorter."""
    errors_count: bool = True
    """Whether errors of the server (5xx) during an outage count as attempts."""

    @property
    def for_first_request(self) -> "Policy":
        """The policy of the first request: fewer attempts, but an outage is waited for."""
        attempts = min(self.attempts, _FIRST_ATTEMPTS)
        return replace(self, attempts=attempts, errors_count=False)

    async def persist(
        self,
        attempt: Callable[[float], Awaitable[T | Failure]],
        deadline: float | None,
        over: Callable[[], float] = lambda: math.inf,
        before_wait: Callable[[Failure], None] = lambda _: None,
    ) -> tuple[T | Failure, int]:
        """Return the answer or the last failure, and the number of failed attempts before it.

        All times are on the event loop's clock. `attempt` is called with its latest end. Refusals
        (429) are waited for until the `deadline`, in any number of attempts; None stands for
        `attempts` times `timeout` from now. `over` returns when patience ends. `before_wait` is
        called with each failure that another attempt follows.
        """
        clock = asyncio.get_running_loop().time
        end = clock() + self.attempts * self.timeout if deadline is None else deadline
        if clock() >= end:
            return Failure(UnscoredReason.TIMEOUT, "no time was left to ask", again=False), 0
        outcome = await attempt(end)
        if not _fails(outcome):
            return outcome, 0  # most requests need none of the following
        made = counted = 0

        async def once() -> T | Failure:
            nonlocal outcome, made, counted
            if made and clock() >= min(end, over()) and isinstance(outcome, Failure):
                # The wait took too long, so the last failure is the outcome.
                return replace(outcome, again=False)
            if made:
                outcome = await attempt(end)
            made += 1
            free = isinstance(outcome, Failure) and self._is_free(outcome)
            counted += deadline is None or not free
            return outcome

        return await AsyncRetrying(
            retry=retry_if_result(_fails),
            wait=lambda state: min(self._wait(state, counted), max(0.0, over() - clock())),
            stop=lambda state: counted >= self.attempts or clock() + state.upcoming_sleep >= end,
            before_sleep=lambda state: before_wait(last(state)),
            retry_error_callback=last,
        )(once), made - 1

    def _wait(self, state: RetryCallState, counted: int) -> float:
        failure: Failure = last(state)
        asked = failure.refusal.wait if failure.refusal else None
        if self._is_free(failure):
            longest = _LONGEST_WAIT_UNSENT if failure.unsent else _LONGEST_WAIT_REFUSED
            longest = min(self.longest_wait, longest)
            return pause(state.attempt_number, asked, self.first_wait, longest)
        # Earlier attempts that did not count do not make the wait longer either.
        return pause(counted, asked, self.first_wait, self.longest_wait)

    def _is_free(self, failure: Failure) -> bool:
        """Return whether the attempt does not count, as the request cannot be at fault."""
        waited_for = failure.unsent or (failure.gone and not self.errors_count)
        return failure.reason is UnscoredReason.RATE_LIMITED or (self.patience > 0 and waited_for)


@dataclass(frozen=True, slots=True)
class Exchange(Generic[T]):
    """The outcome of one request."""

    outcome: T | Failure
    """The answer or the failure."""
    seconds: float = 0.0
    """From the first attempt to the end, waits included."""
    retries: int = 0
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
        self._outage: Final = Outage(
            self.policy.patience, self.policy.deadline, self.policy.first_patience
        )
        self._logged = False
        self.host: Final = self.server.host
        self.base_url: Final = self.server.base_url
        self._client: AsyncOpenAI

    async def __aenter__(self) -> Self:
        self._client = self.server.open(min(CONNECT_SECONDS, self.policy.timeout))
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.close()

    async def ask(
        self,
        path: str,
        body: Mapping[str, JsonValue],
        read: Callable[[str], T],
        *,
        deadline: float | None = None,
        spent: Callable[[T], int] = lambda _: 0,
        option: str = "--model",
        final: Callable[[Failure], bool] | None = None,
    ) -> Exchange[T]:
        """Post `body` as JSON to `path` until it is answered or the policy's limits are reached.

        Args:
            path: below the base URL.
            body: errors name its "model".
            read: returns the answer in a response's text, or raises ValueError.
            deadline: on the event loop's clock.
            spent: returns the tokens of request and answer; 0 if the server did not count them.
            option: the option that names the model, for error messages.
            final: whether a failure ends the request at once; only the first request has it.

        Raises:
            JudgeUnavailable: no request to this model can succeed before the user has acted.
            JudgeUnhealthy: the server has been gone for longer than patience lasts.
        """
        clock = asyncio.get_running_loop().time
        started, content, policy = clock(), to_json(body), self.policy
        if final is not None:
            patience = policy.patience and policy.patience + LAST_SECONDS
            deadline = started + max(policy.timeout, patience)
            policy = policy.for_first_request
        outcome, retries = await policy.persist(
            partial(self._attempt, self.base_url + path, content, read, final),
            deadline,
            lambda: self._outage.end,
            self._log_once if final or not self._outage.has_connected else lambda _: None,
        )
        if isinstance(outcome, Failure):
            self._raise_if_hopeless(outcome, str(body.get("model", "")), option)
        elif tokens := spent(outcome):
            self._pace.spent(len(content), tokens)
        return Exchange(outcome, clock() - started, retries)

    def _log_once(self, failure: Failure) -> None:
        if not self._logged:
            self._logged = True
            patience = self._outage.patience if failure.gone else 0
            long = f" for {patience:g} s (--patience)" if patience else ""
            text = "no answer yet from %s (%s); trying again%s"
            _LOG.info(text, self.base_url, failure.detail, long)

    def _raise_if_hopeless(self, failure: Failure, model: str, option: str) -> None:
        if failure.step:
            step = failure.step.format(option=option)
            raise unavailable(self.base_url, model, f"{failure.detail}; {step}")
        if why := self._outage.why:
            raise JudgeUnhealthy(str(unavailable(self.base_url, model, why)))

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
        read: Callable[[str], T],
        final: Callable[[Failure], bool] | None,
        end: float,
    ) -> T | Failure:
        if not await self._pace.begin(len(content), end):
            late = "no turn to ask before the deadline (--concurrency, --rpm, --tpm)"
            return Failure(UnscoredReason.RATE_LIMITED, late, again=False)
        started = asyncio.get_running_loop().time()
        last_moment = min(
            end, started + self.policy.timeout, max(self._outage.end, started) + LAST_SECONDS
        )
        try:
            async with asyncio.timeout_at(last_moment) as limit:
                response = await self._client.post(url, cast_to=Response, content=content)
        except Exception as error:  # noqa: BLE001  the transport raises errors of its own as well
            outcome: T | Failure = from_error(error, partial(self.server.hide, sent=content))
            if limit.expired():
                late = f"no whole answer within {last_moment - started:.3g} s"
                outcome = Failure(UnscoredReason.TIMEOUT, late)
        else:
            outcome = self._read(response, content, read)
        finally:
            self._pace.release()
        if not isinstance(outcome, Failure):
            self._outage.hear(None)
            return outcome
        self._outage.hear(outcome)
        if outcome.reason is UnscoredReason.RATE_LIMITED:
            self._pace.refused()
        _LOG.debug("attempt failed: %s, status %d", outcome.reason, outcome.status)
        return replace(outcome, again=False) if final and final(outcome) else outcome

    def _read(self, response: Response, sent: bytes, read: Callable[[str], T]) -> T | Failure:
        text = self.server.hide(response.content.decode("utf-8-sig", "replace"), sent)
        try:
            return read(text)
        except ValueError:
            return broken(response.status_code, text)


def unavailable(base_url: str, model: str, why: str) -> JudgeUnavailable:
    """Return the error that ends a run; model and server are named before the reason."""
    return JudgeUnavailable(f"model {model!r} at {base_url} cannot be asked: {why}")


def hopeless(
    failure: Failure, connection: Connection, model: str, option: str, purpose: str
) -> JudgeUnavailable:
    """Return the error for a first request that failed, with the next step.

    `option` names the model, and `purpose` is the verb for its task.
    """
    limited = failure.reason is UnscoredReason.RATE_LIMITED
    if limited:
        step = "wait, then try again, or set OPENAI_API_KEY to a key with a higher limit"
    elif not failure.status and failure.reason is UnscoredReason.SERVER_ERROR:
        step = "is --base-url right? does a proxy change what the server says?"
    elif not failure.status:
        step = "is the server running? is --base-url right?"
    elif failure.status in _REDIRECTS:
        step = "if another address is right, name it with --base-url"
    elif failure.status >= OWN_FAULT:
        step = "the server has trouble of its own; see its log, or try again later"
    else:
        step = f"is --base-url right, and can this model {purpose} ({option})?"
    error = unavailable(connection.base_url, model, f"{failure.detail}; {step}")
    return JudgeUnhealthy(str(error)) if limited else error


def _fails(outcome: object) -> bool:
    """Return whether another attempt may succeed."""
    return isinstance(outcome, Failure) and outcome.again
