"""Send requests to one server, with retries, a pace and a rule for outages."""

import asyncio
import logging
import math
import random
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from http import HTTPStatus
from typing import Final, Generic, Self, TypeVar

from httpx2 import Response
from pydantic import JsonValue
from pydantic_core import to_json
from tenacity import AsyncRetrying, RetryCallState, retry_if_result, wait_random_exponential

from judge.backends.openai.failures import OWN_FAULT, Failure, broken, from_error
from judge.backends.openai.sdk import AsyncOpenAI
from judge.backends.openai.server import NO_HEADERS, SOCKETS, Server
from judge.errors import JudgeUnavailable, JudgeUnhealthy
from judge.records import UnscoredReason
from judge.text.visible import counted

T = TypeVar("T")

_LOG: Final = logging.getLogger("judge")
_LONGEST_WAIT_REFUSED: Final = 2.0
"""After a refusal without `Retry-After`."""
_LAST_SECONDS: Final = 5.0
"""How long an attempt may go on after the end of patience."""
_FIRST_ATTEMPTS: Final = 3
_REDIRECTS: Final = range(300, 400)
_UNAVAILABLE: Final = {502, 503}
"""The statuses of a proxy without its server, and of a server that loads its model."""
_REFUSAL_WINDOW_SECONDS: Final = 10.0
_BYTES_PER_TOKEN: Final = 4
_GRACE_SECONDS: Final = 10.0
"""The time for another answer after the server asked to wait for longer than a deadline."""
_SHOWN_SECONDS: Final = 1.0
"""The age from which an outage is shown; any refusal begins one, which the next answer ends."""
_LULL_SECONDS: Final = 60.0
"""The time without a failure after which the next failure begins a new outage."""


@dataclass(frozen=True, slots=True)
class Policy:
    """The attempts, time limits and waits of requests to a server."""

    timeout: float = 120.0
    """Seconds one attempt may take."""
    attempts: int = 6
    """The most attempts of a request; those for which `is_free` holds do not count."""
    first_wait: float = 0.5
    """The longest first wait, in seconds; it doubles after each attempt."""
    longest_wait: float = 8.0
    """The longest wait without `Retry-After`, in seconds."""
    deadline: float = 600.0
    """The longest time in seconds that a server may ask to wait."""
    patience: float = 0.0
    """The longest outage in seconds, after which the run ends; 0 means no limit."""
    first_patience: float = math.inf
    """The same for a server that has accepted no connection yet, if that is shorter."""

    def wait(self, failure: Failure, state: RetryCallState) -> float:
        """Return the seconds to wait before another attempt, with jitter."""
        if failure.wait is not None:
            return failure.wait + random.uniform(0, self.first_wait / 2)  # noqa: S311  hides nothing
        limited = failure.reason is UnscoredReason.RATE_LIMITED
        longest = min(self.longest_wait, _LONGEST_WAIT_REFUSED if limited else math.inf)
        return wait_random_exponential(multiplier=self.first_wait, max=longest)(state)

    def is_free(self, failure: Failure, *, first: bool = False, lasting: bool = False) -> bool:
        """Return whether the attempt does not count, as the request cannot be at fault.

        It is `lasting` if the server has answered no other request since before the attempt. A 502
        or 503 may then not be about this request.
        """
        asks_to_wait = failure.status == HTTPStatus.SERVICE_UNAVAILABLE and failure.wait is not None
        refused = failure.reason is UnscoredReason.RATE_LIMITED or asks_to_wait
        away = failure.unsent or (lasting and failure.status in _UNAVAILABLE)
        return refused or (self.patience > 0 and (away or (first and failure.gone)))


@dataclass(frozen=True, slots=True)
class Exchange(Generic[T]):
    """The outcome of one request."""

    outcome: T | Failure
    """The answer or the failure."""
    seconds: float = 0.0
    """From the first attempt to the end, waits included."""
    retries: int = 0
    """Attempts that failed before the last one."""


class Pace:
    """Limits the requests in flight (`ceiling`), and spreads them evenly over a minute.

    A request that the server refuses (429) waits outside the pace, so that it never delays another
    one. Unused capacity of `rpm` (requests) and `tpm` (tokens a minute) is lost.
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

    @asynccontextmanager
    async def turn(self, size: int, end: float) -> AsyncGenerator[bool]:
        """Wait until a request of `size` bytes may leave; yield False if that is after `end`."""
        try:
            async with asyncio.timeout_at(end if self._places.locked() else None):
                await self._places.acquire()
        except TimeoutError:
            yield False
            return
        try:
            wait = self.reserve(size, end - asyncio.get_running_loop().time())
            if wait:
                await asyncio.sleep(wait)
            yield wait is not None
        finally:
            self._places.release()

    def reserve(self, size: int, within: float = math.inf) -> float | None:
        """Return the seconds to wait for a request of `size` bytes; None if not below `within`."""
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


class Outage:
    """The state of an outage, which begins with a failure and ends with any other response.

    Failures are a server that cannot be reached, an internal error (5xx), a refusal (429) and a
    response without a reply. A refusal that asks to wait counts from the end of that wait. The
    arguments are those of `Policy`.
    """

    def __init__(
        self,
        patience: float,
        deadline: float = math.inf,
        first_patience: float = math.inf,
        clock: Callable[[], float] | None = None,
    ) -> None:
        self._patience = patience
        self.patience = min(patience, first_patience)
        """The most seconds of the present outage; 0 for no limit."""
        self._deadline = deadline
        self._clock = clock or (lambda: asyncio.get_running_loop().time())
        self._since = self._last = math.inf
        self._long_since = -math.inf
        """When the server first asked for too long a wait since its last answer."""
        self._failure: Failure | None = None
        self._refusals = deque[float]()
        self._has_answered = False
        self.has_connected = False
        """Whether the server has ever accepted a connection."""

    @property
    def end(self) -> float:
        """The end of patience on that clock; infinite while the server answers."""
        if not self.patience or self._failure is None:
            return math.inf
        end = self._since + self.patience
        return min(end, self._long_since + _GRACE_SECONDS) if self._is_too_long else end

    @property
    def _is_too_long(self) -> bool:
        return self._failure is not None and (self._failure.wait or 0.0) > self._deadline

    def began_before(self, moment: float) -> bool:
        """Return whether the server has answered nothing since before this moment."""
        return self._failure is not None and self._since < moment

    def hear(self, failure: Failure | None) -> None:
        """Record an answer (None) or a failure; a failure without a response may be no outage."""
        self._has_answered |= failure is None
        if failure is None or not failure.unsent:
            self.has_connected, self.patience = True, self._patience
        limited = failure is not None and failure.reason is UnscoredReason.RATE_LIMITED
        if failure is not None and (limited or failure.gone or failure.has_no_reply):
            now = self._clock()
            if limited:
                self._refusals.append(now)
            is_new = self._failure is None or now > self._last + _LULL_SECONDS
            was_too_long, self._failure = not is_new and self._is_too_long, failure
            if self._is_too_long and not was_too_long and self._has_answered:
                self._long_since = now
            self._last = now if self._is_too_long else now + (failure.wait or 0.0)
            self._since = self._last if is_new else self._since
        elif failure is None or failure.status:
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
        """The time without an answer, or the number of recent refusals; empty without either."""
        now = self._clock()
        if self._failure and self.patience and now >= self._since + _SHOWN_SECONDS:
            spent = f"{now - self._since:.0f} of {self.patience:g} s"
            return f"no answer for {spent} ({self._failure.detail})"
        while self._refusals and self._refusals[0] < now - _REFUSAL_WINDOW_SECONDS:
            self._refusals.popleft()
        refused = counted(len(self._refusals), "request")
        window = f"{_REFUSAL_WINDOW_SECONDS:g} s (429)"
        return f"{refused} refused in the last {window}" if self._refusals else ""


class Connection:
    """An async context manager that sends requests to one OpenAI-compatible server.

    Its outcomes and errors show neither the key nor the values of `headers`. A malformed key or
    address raises ConfigError.
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
        self._policy: Final = policy or Policy()
        self._pace: Final = pace or Pace(SOCKETS)
        self.outage: Final = Outage(
            self._policy.patience, self._policy.deadline, self._policy.first_patience
        )
        self._logged = False
        self._client: AsyncOpenAI

    async def __aenter__(self) -> Self:
        self._client = self.server.open(self._policy.timeout)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.close()

    async def ask(
        self,
        path: str,
        body: Mapping[str, JsonValue],
        read: Callable[[str, Mapping[str, JsonValue]], T],
        *,
        deadline: float | None = None,
        spent: Callable[[T], int] = lambda _: 0,
        option: str = "--model",
        first: bool = False,
    ) -> Exchange[T]:
        """Post `body` as JSON to `path` until it is answered or the policy's limits are reached.

        `read` returns the answer in a response's text to this body, or raises ValueError, and
        `spent` returns the tokens of both. Refused requests (429) are waited for until the
        `deadline`, on the event loop's clock. The `first` request of a run has fewer attempts, and
        waits for an outage to end. Errors name the body's model and the `option` that names it.

        Raises:
            JudgeUnavailable: no request to this model can succeed before the user has acted.
            JudgeUnhealthy: the server has been gone for longer than patience lasts.
        """
        clock = asyncio.get_running_loop().time
        started, content, policy = clock(), to_json(body), self._policy
        attempts, may_wait = policy.attempts, first or deadline is not None
        end = started + attempts * policy.timeout if deadline is None else deadline
        if first:
            patience = policy.patience and policy.patience + _LAST_SECONDS
            end, attempts = started + max(policy.timeout, patience), min(attempts, _FIRST_ATTEMPTS)
        failure = Failure(UnscoredReason.TIMEOUT, "no time was left to ask", again=False)
        due, counted = started, 0  # `due` is the end of the wait that the server asked for

        async def attempt() -> T | Failure:
            nonlocal failure, due, counted
            # The wait was cut to the end of an outage; if that is over, the rest of it follows.
            if clock() < due < end and clock() < self.outage.end:
                await asyncio.sleep(due - clock())
            if clock() < due or clock() >= (min(end, self.outage.end) if failure.again else end):
                return replace(failure, again=False)  # the wait before it took too long
            url = self.server.base_url + path
            begun = clock()
            outcome = await self._attempt(url, content, lambda text: read(text, body), end)
            if isinstance(outcome, Failure):
                lasting = self.outage.began_before(begun)
                failure, due = outcome, clock() + (outcome.wait or 0.0)
                counted += not (may_wait and policy.is_free(failure, first=first, lasting=lasting))
            return outcome

        outcome, retries = await attempt(), 0
        if isinstance(outcome, Failure) and outcome.again:  # most requests need no waits

            async def again() -> T | Failure:
                is_first = retrying.statistics["attempt_number"] == 1
                return failure if is_first else await attempt()

            def wait(state: RetryCallState) -> float:
                return min(policy.wait(failure, state), max(0.0, self.outage.end - clock()))

            retrying = AsyncRetrying(
                retry=retry_if_result(lambda made: isinstance(made, Failure) and made.again),
                wait=wait,
                stop=lambda state: counted >= attempts or clock() + state.upcoming_sleep >= end,
                before_sleep=lambda _: self._log_once(failure, first=first),
                retry_error_callback=lambda _: failure,
            )
            outcome = await retrying(again)
            retries = retrying.statistics["attempt_number"] - 1
        if isinstance(outcome, Failure):
            step, why = outcome.step.format(option=option), self.outage.why
            if step or why:
                why = f"{outcome.detail}; {step}" if step else why
                error = unavailable(self.server.base_url, str(body["model"]), why)
                raise error if step else JudgeUnhealthy(str(error))
        elif tokens := spent(outcome):
            self._pace.spent(len(content), tokens)
        return Exchange(outcome, clock() - started, retries)

    def _log_once(self, failure: Failure, *, first: bool) -> None:
        if not self._logged and (first or not self.outage.has_connected):
            self._logged = True
            limited = failure.reason is UnscoredReason.RATE_LIMITED
            patience = self.outage.patience if limited or failure.gone else 0
            long = f" for {patience:g} s (--patience)" if patience else ""
            text = "no answer yet from %s (%s); trying again%s"
            _LOG.info(text, self.server.base_url, failure.detail, long)

    async def _attempt(
        self, url: str, content: bytes, read: Callable[[str], T], end: float
    ) -> T | Failure:
        async with self._pace.turn(len(content), end) as is_in_time:
            if not is_in_time:
                late = "no turn to ask before the deadline (--concurrency, --rpm, --tpm)"
                return Failure(UnscoredReason.RATE_LIMITED, late, again=False)
            outcome = await self._post(url, content, read, end)
        failure = outcome if isinstance(outcome, Failure) else None
        self.outage.hear(failure)
        if failure:
            _LOG.debug("attempt failed: %s, status %d", failure.reason, failure.status)
        return outcome

    async def _post(
        self, url: str, content: bytes, read: Callable[[str], T], end: float
    ) -> T | Failure:
        now = asyncio.get_running_loop().time()
        end = min(end, now + self._policy.timeout, max(self.outage.end, now) + _LAST_SECONDS)
        try:
            async with asyncio.timeout_at(end) as limit:
                response = await self._client.post(url, cast_to=Response, content=content)
        except Exception as error:  # noqa: BLE001  the transport raises errors of its own as well
            if limit.expired():
                late = f"no whole answer within {end - now:.3g} s"
                return Failure(UnscoredReason.TIMEOUT, late)
            return from_error(error, partial(self.server.hide, sent=content))
        text = self.server.hide(response.content.decode("utf-8-sig", "replace"), content)
        try:
            return read(text)
        except ValueError:
            return broken(response.status_code, text)


def unavailable(base_url: str, model: str, why: str) -> JudgeUnavailable:
    """Return the error that ends a run; model and server are named before the reason."""
    return JudgeUnavailable(f"model {model!r} at {base_url} cannot be asked: {why}")


def hopeless(failure: Failure, base_url: str, model: str, option: str) -> JudgeUnavailable:
    """Return the error for a first request that failed, with the next step."""
    limited = failure.reason is UnscoredReason.RATE_LIMITED
    if limited:
        step = "wait, then try again, or set OPENAI_API_KEY to a key with a higher limit"
    elif not failure.status:
        step = "is the server running? is --base-url right?"
    elif failure.status in _REDIRECTS:
        step = "if another address is right, name it with --base-url"
    elif failure.status >= OWN_FAULT:
        step = "the server has trouble of its own; see its log, or try again later"
    else:
        step = f"is --base-url right, and does this model take such requests ({option})?"
    error = unavailable(base_url, model, f"{failure.detail}; {step}")
    return JudgeUnhealthy(str(error)) if limited else error
