"""One server: where it is, the key it knows, and every request sent to it, as often as it takes."""

import asyncio
import json
import logging
import os
import re
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, Generic, Self, TypeVar
from urllib.request import getproxies, proxy_bypass

import httpx2
import openai
from pydantic import JsonValue
from tenacity import AsyncRetrying, RetryCallState, retry_if_result

from judge.backends.openai.failures import (
    TRANSPORT,
    Failure,
    Hide,
    Refusal,
    TooLargeError,
    brief,
    broken,
    from_error,
)
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
_ELSEWHERE: Final = range(300, 400)
_PLACEHOLDER: Final = 8
"""A key below this length is none ("EMPTY", "none"); blotting it out would garble messages."""
_NO_HEADERS: Final[Mapping[str, str]] = {}
_OPENAI: Final = ".api.openai.com"
"""Ends the names of OpenAI's own hosts, one for each region; a dot stands before each."""
_LAST_PORT: Final = 65_535
_NO_HOST: Final = re.compile(r"[\s%]")
_LOOPBACK: Final[Mapping[str, str]] = {
    "localhost": "all://localhost",
    "127.0.0.1": "all://127.0.0.1",
    "::1": "all://[::1]",
}


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
            attempt: given the time by which it must end, on the event loop's clock.
            deadline: on the same clock. A rate limit is then sat out until it, however many
                attempts that takes. Null: `attempts` times `timeout` from now.
        """
        clock = asyncio.get_running_loop().time
        end = clock() + self.attempts * self.timeout if deadline is None else deadline
        if clock() >= end:
            return Failure(UnscoredReason.TIMEOUT, "no time was left to ask", again=False), 0
        outcome = await attempt(min(clock() + self.timeout, end))
        if not _fails(outcome):
            return outcome, 0  # as most are: those need none of what follows
        made = spent = 0

        async def once() -> T | Failure:
            nonlocal outcome, made, spent
            if made and clock() >= end and isinstance(outcome, Failure):
                # Woken too late: what stood in the way is still the last failure.
                return replace(outcome, again=False)
            if made:
                outcome = await attempt(min(clock() + self.timeout, end))
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
        return pause(state, asked, self.first_wait, self.longest_wait)


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
        headers: Mapping[str, str] = _NO_HEADERS,
    ) -> None:
        url = _url(base_url)
        key = api_key.strip()
        if not key.isascii() or not key.isprintable():
            raise ConfigError("OPENAI_API_KEY holds characters that no key has; copy it again")
        self.policy: Final = policy or Policy()
        self.host: Final = url.netloc.decode("ascii")
        self.base_url: Final = (
            f"{url.scheme}://{self.host}{url.raw_path.decode('ascii').rstrip('/')}"
        )
        # A header may hold the name of a scheme, and a secret behind it.
        secrets = (key, *(word for value in headers.values() for word in (value, *value.split())))
        self._hides = [
            _hiding(each) for each in dict.fromkeys(secrets) if len(each) >= _PLACEHOLDER
        ]
        _check_proxies(url)
        # A proxy set for the outside world does not lead to this machine.
        direct = {_LOOPBACK[url.host]: None} if url.host in _LOOPBACK else {}
        timeout = httpx2.Timeout(None, connect=min(_CONNECT, self.policy.timeout))
        # The client's own defaults: what is left out, it copies deep for each request.
        self._options: openai.RequestOptions = {
            "headers": dict(headers),
            "max_retries": 0,
            "timeout": timeout,
        }
        self._client = openai.AsyncOpenAI(
            base_url=self.base_url,
            api_key=key or "none",
            max_retries=0,
            http_client=openai.DefaultAioHttpClient(
                timeout=timeout,
                limits=httpx2.Limits(max_connections=_SOCKETS, keepalive_expiry=_KEPT_ALIVE),
                mounts=direct,
                event_hooks={"response": [self._guard]},
                # Nobody gets question, answer, chunks or key but who was named.
                follow_redirects=False,
            ),
        )

        if url.scheme != "https" or not f".{url.host}".endswith(_OPENAI):
            # What the environment holds of an account at OpenAI, and headers meant for that.
            self._client.organization = self._client.project = None
            self._client._custom_headers = {}  # noqa: SLF001  it asks nobody before it takes them

    def __repr__(self) -> str:
        return f"Connection({self.base_url!r})"

    async def __aenter__(self) -> Self:
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
        final: Callable[[Failure], bool] = lambda _: False,
        option: str = "--model",
    ) -> Exchange[T]:
        """Post `body` to `path` until it is answered or the policy's patience is used up.

        Args:
            path: below the base URL.
            body: sent as JSON; its "model" is named where it cannot be asked.
            read: makes the answer of a response's bytes; a `ValueError` says that they hold none.
            deadline: on the event loop's clock.
            final: whether a failure that others would try again ends this request.
            option: which one names the model, for the hint what to do.

        Raises:
            JudgeUnavailable: no request to this model can succeed before the user has acted.
        """
        clock = asyncio.get_running_loop().time
        started = clock()
        attempt = partial(self._attempt, path, body, read, final)
        outcome, retries = await self.policy.persist(attempt, deadline)
        if isinstance(outcome, Failure) and outcome.step:
            step = outcome.step.format(option=option)
            raise self.unavailable(str(body.get("model", "")), f"{outcome.detail}; {step}")
        return Exchange(outcome, clock() - started, retries)

    def unavailable(self, model: str, why: str) -> JudgeUnavailable:
        """The error that ends a run, with the model and the server named before the reason."""
        return JudgeUnavailable(f"model {model!r} at {self.base_url} cannot be asked: {why}")

    async def _guard(self, response: httpx2.Response) -> None:
        """A response hook: whatever is read of a response afterwards is safe to read."""
        headers, coming = response.headers, response.stream
        if not isinstance(coming, httpx2.AsyncByteStream):
            raise TypeError("a response of a client that is not asynchronous")
        parts: AsyncIterable[bytes] = coming
        if "Content-Encoding" in headers:
            # A few bytes of gzip can be a lot of text: what is counted is unpacked.
            parts = httpx2.Response(200, headers=headers, stream=coming).aiter_bytes()
            del headers["Content-Encoding"]
        if "Content-Type" in headers:
            del headers["Content-Type"]  # it may name another charset
        # What the material says as well is a word, and a server may well repeat it.
        sent = response.request.content.decode(errors="replace")
        response.stream = _Body(
            coming, parts, partial(_hidden, [hide for hide in self._hides if hide(sent) == sent])
        )

    def _hide(self, text: str) -> str:
        return _hidden(self._hides, text)

    async def _attempt(
        self,
        path: str,
        body: Mapping[str, JsonValue],
        read: Callable[[bytes], T],
        final: Callable[[Failure], bool],
        end: float,
    ) -> T | Failure:
        clock = asyncio.get_running_loop().time
        started = clock()
        try:
            # A body that trickles in outruns the client's own timeout, which is between two reads.
            async with asyncio.timeout_at(end):
                # Whole, for the client takes its base address apart again for each request.
                url = self.base_url + path
                response = await self._client.post(
                    url, cast_to=httpx2.Response, body=body, options=self._options
                )
        except TimeoutError:
            waited = f"no whole answer within {clock() - started:.3g} s"
            failure = Failure(UnscoredReason.TIMEOUT, waited)
        except TRANSPORT as error:
            failure = from_error(error, self._hide)
        else:
            try:
                return read(response.content)
            except ValueError:
                failure = broken(response, self._hide)
        status = failure.refusal.status if failure.refusal else 0
        _LOG.debug("attempt failed: %s, status %d", failure.reason, status)
        return replace(failure, again=False) if failure.again and final(failure) else failure


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


def _url(base_url: str) -> httpx2.URL:
    try:
        return httpx2.URL(base_url)
    except (httpx2.InvalidURL, ValueError) as error:
        raise ConfigError(
            f"setting base_url = {brief(repr(base_url))}: no address ({brief(str(error))}); "
            "try http://localhost:8000/v1"
        ) from None


def _check_proxies(server: httpx2.URL) -> None:
    """That each proxy of the environment is the address of one, which may hold a password.

    And that the server's is no SOCKS proxy: the transport would speak HTTP to it, key and all.

    Raises:
        ConfigError: one is not; it is named, and not repeated.
    """
    found = {scheme: url for scheme, url in getproxies().items() if url}
    direct = server.host in _LOOPBACK or proxy_bypass(server.host)
    used = None if direct else server.scheme if server.scheme in found else "all"
    for scheme in ("http", "https", "all"):
        url = found.get(scheme, "http://h")
        problem = ""
        try:
            proxy = httpx2.Proxy(url if "://" in url else f"http://{url}").url
            proxy.host.encode("idna")
            if not proxy.host or _NO_HOST.search(proxy.host) or (proxy.port or 0) > _LAST_PORT:
                problem = "is no address of a proxy"
            elif scheme == used and proxy.scheme.startswith("socks"):
                problem = "names a SOCKS proxy, which no model is asked through"
        except (httpx2.InvalidURL, ValueError):
            problem = "is no address of a proxy"
        if problem:
            name = f"{scheme}_proxy"
            name = name if os.environ.get(name) else name.upper()
            raise ConfigError(
                f"{name} in the environment {problem} (not repeated here, as it may hold a "
                "password); try http://host:port, or unset it"
            )


class _Body(httpx2.AsyncByteStream):
    """A body in one part, for a key may lie across two; no longer than the limit, and in UTF-8."""

    def __init__(
        self, coming: httpx2.AsyncByteStream, parts: AsyncIterable[bytes], hide: Hide
    ) -> None:
        self._coming = coming
        self._parts = parts
        self._hide = hide

    async def __aiter__(self) -> AsyncIterator[bytes]:
        parts, size = [], 0
        async for part in self._parts:
            size += len(part)
            if size > _LIMIT_MIB * 2**20:
                raise TooLargeError(f"a body of over {_LIMIT_MIB} MiB")
            parts.append(part)
        yield self._hide(b"".join(parts).decode(errors="replace")).encode()

    async def aclose(self) -> None:
        await self._coming.aclose()


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
