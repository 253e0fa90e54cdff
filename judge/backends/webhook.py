"""A webhook that posts each result that was drawn for review to an address, as JSON."""

import asyncio
import hashlib
import json
from collections.abc import Mapping
from typing import Final

import httpx
from tenacity import (
    AsyncRetrying,
    retry_if_exception,
    stop_after_attempt,
    wait_random_exponential,
)

from judge import __version__
from judge.errors import ConfigError, JudgeError
from judge.records import Sample, SampleResult

_RETRIED: Final = frozenset({408, 429, *range(500, 600)})
_ATTEMPTS: Final = 4
"""All attempts and waits end within the 30 seconds for which a run waits for its hook."""


class WebhookError(JudgeError):
    """An address did not accept a result. The message has the host and the error, but no secret."""

    def __init__(self, message: str, *, again: bool = True) -> None:
        super().__init__(message)
        self.again = again


class Webhook:
    """A `judge.protocols.ReviewHook` that posts each result.

    The body is `{"qid": …, "probability": …, "sample": {…}, "result": {…}}`, with the records as in
    the files of a run. Every attempt to post a body has the same `Idempotency-Key`, its SHA-256. No
    answer, 408, 429 and 5xx are retried; another status and a redirect are not. All of the address
    except its host is secret, and never repeated.

    Raises:
        ConfigError: `url` is not an http address.
    """

    def __init__(
        self,
        url: str,
        *,
        timeout: float = 5.0,
        headers: Mapping[str, str] | None = None,
        first_wait: float = 0.5,
    ) -> None:
        try:
            self._url = _HostOnly(url.strip())
        except httpx.InvalidURL:
            self._url = _HostOnly("")
        if self._url.scheme not in {"http", "https"} or not self._url.host:
            raise ConfigError(
                "the review hook's address (not repeated here, as it may hold a secret) is no http "
                "address; try https://host/path"
            )
        self._timeout = timeout
        own = {"User-Agent": f"judge/{__version__}", "Content-Type": "application/json"}
        self._headers = {**own, **(headers or {})}
        self._wait = wait_random_exponential(multiplier=first_wait)
        self._tls = httpx.create_ssl_context()

    async def __call__(self, sample: Sample, result: SampleResult, probability: float) -> None:
        """Post one result; raise WebhookError if it was not accepted."""
        records = {"sample": sample, "result": result}
        fields = {name: record.model_dump(mode="json") for name, record in records.items()}
        body = json.dumps({"qid": result.qid, "probability": probability} | fields).encode()
        headers = {**self._headers, "Idempotency-Key": hashlib.sha256(body).hexdigest()}
        await AsyncRetrying(
            retry=retry_if_exception(lambda error: isinstance(error, WebhookError) and error.again),
            wait=self._wait,
            stop=stop_after_attempt(_ATTEMPTS),
            reraise=True,
        )(self._post, body, headers)

    async def _post(self, body: bytes, headers: Mapping[str, str]) -> None:
        """Make one attempt."""
        try:
            async with (
                asyncio.timeout(self._timeout),  # httpx's own begins anew with each byte
                httpx.AsyncClient(verify=self._tls, timeout=self._timeout) as client,
            ):
                request = client.build_request("POST", self._url, content=body, headers=headers)
                request.url = self._url  # httpx logs it, and made a copy that shows all of it
                response = await client.send(request)
        except (httpx.TimeoutException, TimeoutError):
            raise WebhookError(f"{self._url}: no answer in time") from None
        except httpx.TransportError as error:  # its message may have the address
            kind = type(error).__name__
            raise WebhookError(f"{self._url}: no connection ({kind})") from None
        if response.is_success:
            return
        message = f"{self._url}: HTTP {response.status_code}"
        if response.has_redirect_location:
            message += ", and redirects are not followed"
        raise WebhookError(message, again=response.status_code in _RETRIED)


class _HostOnly(httpx.URL):
    """An address that shows only its host, in httpx's own log as well."""

    def __str__(self) -> str:
        return f"{self.scheme}://{self.host}"

    __repr__ = __str__
