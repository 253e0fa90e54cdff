"""One server: where it is, the key it knows, and every request sent to it."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from types import TracebackType
from typing import Final, Generic, Self, TypeVar

import httpx2
import openai
from pydantic import JsonValue

from judge.backends.openai.body import Guard, Secret
from judge.backends.openai.failures import TRANSPORT, Failure, broken, from_error
from judge.backends.openai.policy import Policy
from judge.backends.openai.refusal import clip, one_line
from judge.errors import ConfigError, JudgeUnavailable
from judge.records import UnscoredReason

T = TypeVar("T")

_LOG: Final = logging.getLogger("judge")
_CONNECT: Final = 15.0
"""Seconds to reach the server: one that is there answers sooner, even while it is busy."""
_SOCKETS: Final = 4096
"""More than are ever in flight: who asks bounds that. Unset, the transport stops at 100."""
_KEPT_ALIVE: Final = 4.0
"""Seconds an idle socket is kept: uvicorn closes them after 5, and a request sent then is lost."""
_LOOPBACK: Final[Mapping[str, str]] = {
    "localhost": "all://localhost",
    "127.0.0.1": "all://127.0.0.1",
    "::1": "all://[::1]",
}


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

    An async context manager, made and closed in the event loop it is used in.

    Args:
        base_url: an http address such as "http://127.0.0.1:8000/v1", as `Config` checks it.
        api_key: shown by nothing this object makes, says or raises.
        policy: how often, how long and how soon again.

    Raises:
        ConfigError: the key cannot be sent, or the address leads nowhere.
    """

    def __init__(self, base_url: str, api_key: str, *, policy: Policy | None = None) -> None:
        url = _url(base_url)
        key = api_key.strip()
        if not key.isascii() or not key.isprintable():
            raise ConfigError("OPENAI_API_KEY holds characters that no key has; copy it again")
        self.policy: Final = policy or Policy()
        self.host: Final = url.netloc.decode("ascii")
        self.base_url: Final = (
            f"{url.scheme}://{self.host}{url.raw_path.decode('ascii').rstrip('/')}"
        )
        self._secret = Secret(key)
        # A proxy set for the outside world does not lead to this machine.
        direct = {_LOOPBACK[url.host]: None} if url.host in _LOOPBACK else {}
        timeout = httpx2.Timeout(None, connect=min(_CONNECT, self.policy.timeout))
        # The client's own defaults: what is left out, it copies deep for each request.
        self._options: openai.RequestOptions = {"headers": {}, "max_retries": 0, "timeout": timeout}
        self._client = openai.AsyncOpenAI(
            base_url=self.base_url,
            api_key=key or "none",
            max_retries=0,
            http_client=openai.DefaultAioHttpClient(
                timeout=timeout,
                limits=httpx2.Limits(max_connections=_SOCKETS, keepalive_expiry=_KEPT_ALIVE),
                mounts=direct,
                event_hooks={"response": [Guard(self._secret)]},
            ),
        )

    def __repr__(self) -> str:
        return f"Connection({self.base_url!r})"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close all sockets; a second time does nothing."""
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
            return _told(Failure(UnscoredReason.TIMEOUT, waited), final)
        except TRANSPORT as error:
            return _told(from_error(error, self._secret), final)
        try:
            return read(response.content)
        except ValueError:
            return _told(broken(response), final)


def _told(failure: Failure, final: Callable[[Failure], bool]) -> Failure:
    """The failure of an attempt, after which there is no other where `final` says so."""
    status = failure.refusal.status if failure.refusal else 0
    _LOG.debug("attempt failed: %s, status %d", failure.reason, status)
    return replace(failure, again=False) if failure.again and final(failure) else failure


def _url(base_url: str) -> httpx2.URL:
    try:
        return httpx2.URL(base_url)
    except (httpx2.InvalidURL, ValueError) as error:
        why = clip(one_line(str(error)))
        raise ConfigError(
            f"setting base_url = {clip(repr(base_url))}: no address ({why}); "
            "try http://localhost:8000/v1"
        ) from None
