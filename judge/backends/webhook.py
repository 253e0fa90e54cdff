"""A webhook: each result that is drawn for people goes to an address, as JSON."""

import asyncio
import hashlib
import json
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import httpx
from tenacity import AsyncRetrying, RetryCallState, retry_if_result
from tenacity.stop import stop_after_attempt, stop_before_delay

from judge.backends.retry import asked_wait, last, pause
from judge.errors import ConfigError, JudgeError
from judge.records import Sample, SampleResult
from judge.signature import release

_AGAIN: Final = frozenset({408, 425, 429})
_OWN_FAULT: Final = 500
"""From this status on it is the server that failed."""


class WebhookError(JudgeError):
    """An address did not take a result; says its host and what happened, and no secret."""


@dataclass(frozen=True, slots=True)
class _Failure:
    said: str
    again: bool
    wait: float | None = None
    """Seconds the server asks to wait."""


# The first row that holds. Our own words: those of the client may repeat the address.
_FAULTS: Final[tuple[tuple[type[Exception], str, bool], ...]] = (
    (httpx.TimeoutException, "no answer in time", True),
    (TimeoutError, "no answer in time", True),
    (httpx.ProxyError, "the proxy does not let it through", True),
    (httpx.ConnectError, "no connection", True),
    (httpx.LocalProtocolError, "the headers cannot be sent", False),
    (UnicodeError, "the headers cannot be sent", False),
    (httpx.TransportError, "the connection broke off", True),
    (OSError, "no connection", True),
    (httpx.HTTPError, "the request failed", False),
    (httpx.InvalidURL, "the address cannot be used", False),
    (ImportError, "a proxy of the environment cannot be used", False),
    (ValueError, "a proxy of the environment cannot be used", False),
)


class Webhook:
    """A `judge.protocols.ReviewHook` that posts each result.

    The body is `{"qid": …, "probability": …, "sample": {…}, "result": {…}}`; the records stand in
    it as they do in the files of a run. A body that is posted twice bears the same
    `Idempotency-Key`, its SHA-256. A server that has trouble (no connection, no answer, 408, 425,
    429, 5xx) is asked again after a wait that grows, or that it names, unless that is too long; one
    that refuses (another 4xx) or redirects is not. The proxies of the environment hold. Each
    attempt has a connection of its own: there is nothing to close.

    Args:
        url: of http or https. All of it but the host counts as secret, and is never repeated.
        timeout: seconds for one attempt.
        attempts: how many at most.
        within: seconds for all of them and the waits between: none is begun that might end later.
        headers: more of them, such as `Authorization`.
        first_wait: seconds before the second attempt, at most; doubled each time after.

    Raises:
        ConfigError: the address is none.
    """

    def __init__(
        self,
        url: str,
        *,
        timeout: float = 5.0,
        attempts: int = 4,
        within: float = 25.0,
        headers: Mapping[str, str] | None = None,
        first_wait: float = 0.5,
    ) -> None:
        self._url = _checked(url)
        self._timeout = timeout
        self._stop = stop_after_attempt(attempts) | stop_before_delay(within - timeout)
        self._headers = {
            "User-Agent": f"judge/{release('judge')}",
            "Content-Type": "application/json",
            **(headers or {}),
        }
        self._first_wait = first_wait

    def __repr__(self) -> str:
        return f"Webhook({str(self._url)!r})"

    async def __call__(self, sample: Sample, result: SampleResult, probability: float) -> None:
        """Post one result.

        Raises:
            WebhookError: it was not taken.
        """
        body = json.dumps(
            {
                "qid": result.qid,
                "probability": probability,
                "sample": sample.model_dump(mode="json"),
                "result": result.model_dump(mode="json"),
            },
            allow_nan=False,
        ).encode()
        headers = {**self._headers, "Idempotency-Key": hashlib.sha256(body).hexdigest()}
        failure: _Failure | None = await AsyncRetrying(
            retry=retry_if_result(lambda failure: failure is not None and failure.again),
            wait=self._wait,
            stop=self._stop,
            retry_error_callback=last,
        )(self._post, body, headers)
        if failure is not None:
            raise WebhookError(f"{self._url}: {failure.said}")

    async def _post(self, body: bytes, headers: Mapping[str, str]) -> _Failure | None:
        """One attempt; what goes wrong is a value."""
        try:
            async with (
                asyncio.timeout(self._timeout),  # the client's own begins anew with each byte
                httpx.AsyncClient(verify=self._tls, timeout=self._timeout) as client,
            ):
                request = client.build_request("POST", self._url, content=body, headers=headers)
                request.url = self._url  # a copy was made of it, which would be logged
                # Whatever it has to say is not read.
                response = await client.send(request, stream=True)
                await response.aclose()
        except tuple(kind for kind, _, _ in _FAULTS) as error:
            return next(
                _Failure(said, again) for kind, said, again in _FAULTS if isinstance(error, kind)
            )
        status = response.status_code
        if response.is_success:
            return None
        said = f"HTTP {status}"
        if response.is_redirect:
            there = response.next_request.url if response.next_request else None
            place = f" to {there.scheme}://{there.netloc.decode()}" if there else ""
            said += f"{place}, and redirects are not followed"
        again = status in _AGAIN or status >= _OWN_FAULT
        headers = response.headers
        wait = asked_wait(headers.get("Retry-After", ""), headers.get("Date", ""))
        return _Failure(said, again, wait)

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        # Reading all certificates takes longer than all else; once is enough.
        return httpx.create_ssl_context()

    def _wait(self, state: RetryCallState) -> float:
        failure: _Failure = last(state)
        return pause(state.attempt_number, failure.wait, self._first_wait)


class _Veiled(httpx.URL):
    """An address that shows its host and nothing else, in the client's own log, too."""

    def __str__(self) -> str:
        return f"{self.scheme}://{self.host}"

    __repr__ = __str__


def _checked(url: str) -> _Veiled:
    try:
        veiled = _Veiled(url.strip())
    except httpx.InvalidURL:
        veiled = _Veiled("")
    if veiled.scheme not in {"http", "https"} or not veiled.host:
        raise ConfigError(
            "the review hook's address (not repeated here, as it may hold a secret) is no http "
            "address; try https://host/path"
        )
    return veiled
