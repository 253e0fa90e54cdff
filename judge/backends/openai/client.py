"""One server: every request sent to it, as often as it takes, and what came of each."""

import asyncio
import json
import logging
import math
import sys
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
from judge.backends.openai.outage import Outage
from judge.backends.openai.pace import REFUSAL_WINDOW_SECONDS, TOO_MANY, Pace
from judge.backends.openai.route import Route
from judge.backends.retry import last, pause
from judge.errors import ConfigError, JudgeUnavailable, JudgeUnhealthy
from judge.records import UnscoredReason
from judge.text.visible import counted

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
_REFUSED: Final = 4.0
"""Seconds a wait may last after a refusal that does not say how long to wait."""
_UNSENT: Final = 8.0
"""Likewise where nobody was there."""
LAST: Final = 5.0
"""Seconds that an attempt may go on after the end of patience."""
_FINE: Final = range(200, 300)
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

    again = "the same command"
    """What finds out anew what the server takes, where that has changed."""

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
        self._outage: Final = Outage(self.policy.patience, self.policy.deadline)
        self.host: Final = self._route.host
        self.base_url: Final = self._route.base_url
        # A header may hold the name of a scheme, and a secret behind it.
        values = self._route.secrets
        secrets = (key, *(word for value in values for word in (value, *value.split())))
        self._hides = [
            _hiding(each) for each in dict.fromkeys(secrets) if len(each) >= _PLACEHOLDER
        ]
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
            raise self.unavailable(str(body.get("model", "")), f"{outcome.detail}; {step}")
        if isinstance(outcome, Failure) and (why := self._outage.why):
            raise JudgeUnhealthy(str(self.unavailable(str(body.get("model", "")), why)))
        return Exchange(outcome, clock() - started, retries)

    @property
    def trouble(self) -> str:
        """What is the matter with the server; empty while it answers."""
        if state := self._outage.state:
            return state
        refused = self._pace.refused_lately
        window = f"{REFUSAL_WINDOW_SECONDS:g} s ({TOO_MANY})"
        return f"{counted(refused, 'request')} refused in the last {window}" if refused else ""

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
                answer = await self._post(url, content)
        except TRANSPORT as error:
            if type(error) is TimeoutError:  # of our own making
                waited = f"no whole answer within {clock() - started:.3g} s"
                outcome: T | Failure = Failure(UnscoredReason.TIMEOUT, waited)
            else:
                outcome = from_error(error, self._hide)
        else:
            outcome = self._read(answer, read)
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
