"""One server: every request sent to it, as often as it takes, and what came of each."""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, Generic, Self, TypeVar

import aiohttp
from pydantic import JsonValue
from pydantic_core import to_json
from tenacity import AsyncRetrying, RetryCallState, retry_if_result

from judge.backends.openai.failures import (
    TRANSPORT,
    Answer,
    Failure,
    Hide,
    Refusal,
    TooLargeError,
    broken,
    from_error,
    from_refusal,
)
from judge.backends.openai.pace import Pace
from judge.backends.openai.route import Route
from judge.backends.retry import last, pause
from judge.errors import ConfigError, JudgeUnavailable, JudgeUnhealthy
from judge.records import UnscoredReason

T = TypeVar("T")

_LOG: Final = logging.getLogger("judge")
_CONNECT: Final = 15.0
"""Seconds to reach the server: one that is there answers sooner, even while it is busy."""
_SOCKETS: Final = 4096
"""More than are ever in flight: who asks bounds that. Unset, the transport stops at 100."""
_KEPT_ALIVE: Final = 4.0
"""Seconds an idle socket is kept: uvicorn closes them after 5, and a request sent then is lost."""
_LIMIT_MIB: Final = 16
"""Of a body: thousands of times a reply, and more than the rows of any batch of embeddings."""
_UNANSWERED: Final = 3
"""First attempts where nobody answers at all: a server about to start is not waited for."""
_OWN_FAULT: Final = 500
"""From this status on it is the server that failed."""
_SOONER: Final = 8.0
"""Seconds a wait may last after a refusal: the pace spares the server already."""
_FINE: Final = range(200, 300)
_ELSEWHERE: Final = range(300, 400)
_PLACEHOLDER: Final = 8
"""A key below this length is none ("EMPTY", "none"); blotting it out would garble messages."""
_NO_HEADERS: Final[Mapping[str, str]] = {}


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

    async def persist(
        self, attempt: Callable[[float], Awaitable[T | Failure]], deadline: float | None
    ) -> tuple[T | Failure, int]:
        """The answer or the last failure, and how many attempts failed before it.

        Args:
            attempt: given the time by which it must end, on the event loop's clock; it lasts no
                longer than `timeout` by itself.
            deadline: on the same clock. A rate limit is then sat out until it, however many
                attempts that takes. Null: `attempts` times `timeout` from now.
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
            if made and clock() >= end and isinstance(outcome, Failure):
                # Woken too late: what stood in the way is still the last failure.
                return replace(outcome, again=False)
            if made:
                outcome = await attempt(end)
            made += 1
            limited = isinstance(outcome, Failure) and outcome.reason is UnscoredReason.RATE_LIMITED
            spent += deadline is None or not limited
            return outcome

        return await AsyncRetrying(
            retry=retry_if_result(_fails),
            wait=self._wait,
            stop=lambda state: spent >= self.attempts or clock() + state.upcoming_sleep >= end,
            retry_error_callback=last,
        )(once), made - 1

    def _wait(self, state: RetryCallState) -> float:
        refusal: Refusal | None = last(state).refusal
        asked = refusal.wait if refusal else None
        limited = last(state).reason is UnscoredReason.RATE_LIMITED
        longest = min(self.longest_wait, _SOONER) if limited else self.longest_wait
        return pause(state, asked, self.first_wait, longest)


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
        headers: Mapping[str, str] = _NO_HEADERS,
    ) -> None:
        key = api_key.strip()
        if not key.isascii() or not key.isprintable():
            raise ConfigError("OPENAI_API_KEY holds characters that no key has; copy it again")
        self._route = Route.to(base_url, key or "none", headers)
        self.policy: Final = policy or Policy()
        self._pace: Final = pace or Pace(_SOCKETS)
        self.host: Final = self._route.host
        self.base_url: Final = self._route.base_url
        # A header may hold the name of a scheme, and a secret behind it.
        values = self._route.secrets
        secrets = (key, *(word for value in values for word in (value, *value.split())))
        self._hides = [
            _hiding(each) for each in dict.fromkeys(secrets) if len(each) >= _PLACEHOLDER
        ]
        self.date = ""
        """When the server last answered, by its own clock; empty where it does not say."""
        self._session: aiohttp.ClientSession

    def __repr__(self) -> str:
        return f"Connection({self.base_url!r})"

    async def __aenter__(self) -> Self:
        sockets = aiohttp.TCPConnector(
            limit=_SOCKETS, keepalive_timeout=_KEPT_ALIVE, ssl=self._route.certificates()
        )
        wait = aiohttp.ClientTimeout(None, sock_connect=min(_CONNECT, self.policy.timeout))
        self._session = aiohttp.ClientSession(
            connector=sockets, timeout=wait, cookie_jar=aiohttp.DummyCookieJar()
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._session.close()

    async def ask(
        self,
        path: str,
        body: Mapping[str, JsonValue],
        read: Callable[[bytes], T],
        *,
        deadline: float | None = None,
        final: Callable[[Failure], bool] = lambda _: False,
        spent: Callable[[T], int] = lambda _: 0,
        option: str = "--model",
    ) -> Exchange[T]:
        """Post `body` to `path` until it is answered or the policy's patience is used up.

        Args:
            path: below the base URL.
            body: sent as JSON; its "model" is named where it cannot be asked.
            read: makes the answer of a response's bytes; a `ValueError` says that they hold none.
            deadline: on the event loop's clock.
            final: whether a failure that others would try again ends this request.
            spent: the tokens that an answer took in all; 0 where nobody counted them.
            option: which one names the model, for the hint what to do.

        Raises:
            JudgeUnavailable: no request to this model can succeed before the user has acted.
        """
        clock = asyncio.get_running_loop().time
        started = clock()
        content = to_json(body)
        attempt = partial(self._attempt, self.base_url + path, content, read, final)
        outcome, retries = await self.policy.persist(attempt, deadline)
        if not isinstance(outcome, Failure) and (tokens := spent(outcome)):
            self._pace.spent(len(content), tokens)
        if isinstance(outcome, Failure) and outcome.step:
            step = outcome.step.format(option=option)
            raise self.unavailable(str(body.get("model", "")), f"{outcome.detail}; {step}")
        return Exchange(outcome, clock() - started, retries)

    def unavailable(self, model: str, why: str) -> JudgeUnavailable:
        """The error that ends a run, with the model and the server named before the reason."""
        return JudgeUnavailable(f"model {model!r} at {self.base_url} cannot be asked: {why}")

    def _hide(self, text: str) -> str:
        return _hidden(self._hides, text)

    async def _attempt(
        self,
        url: str,
        content: bytes,
        read: Callable[[bytes], T],
        final: Callable[[Failure], bool],
        end: float,
    ) -> T | Failure:
        if not await self._pace.begin(len(content), end):
            late = "no turn to ask before the deadline, as fewer requests are taken"
            return Failure(UnscoredReason.RATE_LIMITED, late, again=False)
        clock = asyncio.get_running_loop().time
        started = clock()
        try:
            async with asyncio.timeout_at(min(started + self.policy.timeout, end)):
                answer = await self._post(url, content)
        except TRANSPORT as error:
            self._pace.ended(0)
            if type(error) is TimeoutError:  # of our own making
                waited = f"no whole answer within {clock() - started:.3g} s"
                failure = Failure(UnscoredReason.TIMEOUT, waited)
            else:
                failure = from_error(error, self._hide)
        except BaseException:
            self._pace.dropped()
            raise
        else:
            self.date = answer.headers.get("Date", "")
            outcome = self._read(answer, read)
            refusal = outcome.refusal if isinstance(outcome, Failure) else None
            self._pace.ended(answer.status, answer.headers, refusal.wait if refusal else None)
            if not isinstance(outcome, Failure):
                return outcome
            failure = outcome
        status = failure.refusal.status if failure.refusal else 0
        _LOG.debug("attempt failed: %s, status %d", failure.reason, status)
        return replace(failure, again=False) if failure.again and final(failure) else failure

    def _read(self, answer: Answer, read: Callable[[bytes], T]) -> T | Failure:
        if answer.status not in _FINE:
            return from_refusal(answer, self._hide)
        try:
            return read(answer.body)
        except ValueError:
            return broken(answer, self._hide)

    async def _post(self, url: str, content: bytes) -> Answer:
        """The answer, safe to read: no longer than the limit, without the key, and in UTF-8."""
        # Nobody gets question, answer, chunks or key but who was named.
        asking = self._session.post(
            url,
            data=content,
            headers=self._route.headers,  # no session's, which proxies are sent, too
            allow_redirects=False,
            proxy=self._route.proxy,
            proxy_headers=self._route.proxy_headers,
        )
        async with asking as response:
            parts, size = list[bytes](), 0
            async for part in response.content.iter_any():
                size += len(part)
                if size > _LIMIT_MIB * 2**20:
                    raise TooLargeError(f"a body of over {_LIMIT_MIB} MiB")
                parts.append(part)
        # Whole, for a key may lie across two. What the material says as well is a word, and a
        # server may well repeat it.
        sent = content.decode()
        hides = [hide for hide in self._hides if hide(sent) == sent]
        text = _hidden(hides, b"".join(parts).decode(errors="replace"))
        return Answer(response.status, response.headers, text.encode(), url)


class Watch:
    """The first question: it gives up sooner than one in a run, and says once that it tries again.

    `option` names the model; `purpose` is what that must be able to do, in words.
    """

    def __init__(self, connection: Connection, model: str, option: str, purpose: str) -> None:
        self._connection = connection
        self._model = model
        self._option = option
        self._purpose = purpose
        self._told = False
        self._failed = 0
        self._begun = asyncio.get_running_loop().time()
        self._end = 0.0

    def start(self) -> float:
        """The deadline of a request that is sent now: one attempt's time, on the loop's clock."""
        self._failed = 0
        self._end = asyncio.get_running_loop().time() + self._connection.policy.timeout
        return self._end

    def gives_up(self, failure: Failure) -> bool:
        """Whether the request ends with this failure of an attempt."""
        self._failed += 1
        allowed = self._connection.policy.attempts
        if failure.refusal is None:
            allowed = min(allowed, _UNANSWERED)
        now = asyncio.get_running_loop().time()
        if failure.reason is not UnscoredReason.RATE_LIMITED and self._failed >= allowed:
            return True
        if failure.reason is UnscoredReason.RATE_LIMITED:
            asked = failure.refusal.wait if failure.refusal else None
            if now + (asked or 0.0) >= self._begun + self._connection.policy.deadline:
                return True
        if not self._told and now < self._end:
            self._told = True
            text = "no answer yet from %s (%s); trying again"
            _LOG.info(text, self._connection.base_url, failure.detail)
        return False

    def hopeless(self, failure: Failure) -> JudgeUnavailable:
        """The error that says what to do about the last failure."""
        if failure.reason is UnscoredReason.RATE_LIMITED:
            step = "wait, then try again, or set OPENAI_API_KEY to a key with a higher limit"
        elif failure.refusal is None and failure.reason is UnscoredReason.SERVER_ERROR:
            step = "is --base-url right? does a proxy change what the server says?"
        elif failure.refusal is None:
            step = "is the server running? is --base-url right?"
        elif failure.refusal.status in _ELSEWHERE:
            step = "if another address is right, name it with --base-url"
        elif failure.refusal.status >= _OWN_FAULT:
            step = "the server has trouble of its own; see its log, or try again later"
        else:
            step = f"is --base-url right, and can this model {self._purpose} ({self._option})?"
        error = self._connection.unavailable(self._model, f"{failure.detail}; {step}")
        limited = failure.reason is UnscoredReason.RATE_LIMITED
        return JudgeUnhealthy(str(error)) if limited else error


def _hiding(key: str) -> Hide:
    """What puts "[key]" in place of the key, as it is or as JSON may have it."""
    escaped = json.dumps(key)[1:-1]
    forms = dict.fromkeys((key, escaped, escaped.replace("/", "\\/")))

    def hide(text: str) -> str:
        for form in forms:
            text = text.replace(form, "[key]")
        return text

    return hide


def _hidden(hides: Iterable[Hide], text: str) -> str:
    for hide in hides:
        text = hide(text)
    return text


def _fails(outcome: object) -> bool:
    """Whether another attempt may go better."""
    return isinstance(outcome, Failure) and outcome.again
