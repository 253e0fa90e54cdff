"""What every request passes: its id, its token, the limits of its body, the log and the metrics."""

import asyncio
import re
import secrets
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from starlette.datastructures import Headers

from judge.service.access import Tokens, client_of
from judge.service.monitoring import LOG, Metrics
from judge.service.problems import Problem

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

MEGABYTE: Final = 1_000_000
CLIENT_GONE: Final = 499
"""The status in the log where the client hung up before the response."""
_REQUEST_IDS: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")
_PROBES: Final = frozenset({"/healthz", "/readyz"})
_NEEDS_NO_TOKEN: Final = re.compile(r"/(?:healthz|readyz|openapi\.json|docs(?:/.*)?)")
_UPLOAD: Final = re.compile(r"/v1/batches(/[^/]*)?")
_ERROR_STATUS: Final = 400
_MAX_DISCARDED_BYTES: Final = 32 * MEGABYTE
_DISCARD_SECONDS: Final = 5.0
_RESPONSE_HEADERS: Final = (
    (b"x-content-type-options", b"nosniff"),
    (b"cache-control", b"no-store"),
)


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of requests and batches."""

    queue: int = 256
    """Live requests that may wait."""
    running: int = 2
    """Batches that are judged at a time."""
    max_body: float = 16.0
    """Megabytes of a body, except for batches."""
    max_batch: float = 4096.0
    """Megabytes of a batch, also after unpacking."""
    body_seconds: float = 30.0
    """Time for a whole body to arrive, except for batches."""
    batch_seconds: float = 3600.0
    """Time for a whole batch to arrive."""
    max_memory: float = 64.0
    """Megabytes of all bodies in memory, except for batches; at least `max_body`."""


def too_large(megabytes: float) -> Problem:
    """Return the problem of a body over this limit."""
    return Problem(
        "too-large", f"over {megabytes:g} MB; send less, or see --max-body and --max-batch"
    )


class Requests:
    """A middleware that identifies, limits, logs and counts requests."""

    def __init__(self, app: "ASGIApp", tokens: Tokens, limits: Limits, metrics: Metrics) -> None:
        self._app = app
        self._tokens = tokens
        self._metrics = metrics
        self.limits: Final = limits
        self.bytes_in_memory = 0
        """The size of all bodies in memory."""

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Serve one request."""
        headers, began, status = Headers(scope=scope), time.monotonic(), CLIENT_GONE
        sent_id = headers.get("x-request-id", "")
        name = sent_id if _REQUEST_IDS.fullmatch(sent_id) else secrets.token_hex(8)
        scope["judge.request"] = name
        body = _Body(self, scope, headers, receive)

        async def send_headers(message: "Message") -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                await body.discard()
                own = ((b"x-request-id", name.encode()), *_RESPONSE_HEADERS)
                message["headers"] = [*message["headers"], *own]
            await send(message)

        app = self._app
        try:
            self._check(scope, headers)
        except Problem as problem:
            app = problem.response(name)
        try:
            await app(scope, body.receive, send_headers)
        except Exception:
            status = 500
            raise
        finally:
            body.release()
            self._note(scope, status, time.monotonic() - began)

    def _check(self, scope: "Scope", headers: Headers) -> None:
        """Find the client of a request; raise `Problem` if the request is refused."""
        # The parser lets both pass.
        coding = headers.get("transfer-encoding", "chunked").lower()
        if len(headers.getlist("host")) != 1 or coding != "chunked":
            detail = "send one Host header, and no Transfer-Encoding but chunked"
            raise Problem("bad-request", detail)
        if not _NEEDS_NO_TOKEN.fullmatch(scope["path"]):
            client = client_of(scope["method"], scope["scheme"], headers, self._tokens)
            scope.setdefault("state", {})["client"] = client

    def _note(self, scope: "Scope", status: int, seconds: float) -> None:
        # Made-up paths must not make as many metrics.
        route = getattr(scope.get("route"), "path", "other")
        client = scope.get("state", {}).get("client")
        client_name = client.name if client and client.name else "-"
        self._metrics.request(scope["method"], route, status, client_name, seconds)
        if scope["path"] in _PROBES and status < _ERROR_STATUS:
            return
        entry = {"request": scope["judge.request"], "client": client_name}
        entry |= {"method": scope["method"], "route": route, "status": status}
        entry["ms"] = round(1000 * seconds, 1)
        entry |= {key: str(value)[:64] for key, value in scope.get("path_params", {}).items()}
        LOG.info("request", extra={"entry": entry})


class _Body:
    """The body of one request, within its limits."""

    def __init__(
        self, requests: Requests, scope: "Scope", headers: Headers, receive: "Receive"
    ) -> None:
        limits = requests.limits
        self._requests = requests
        self._receive = receive
        self._is_upload = (
            scope["method"] in {"POST", "PUT"} and _UPLOAD.fullmatch(scope["path"]) is not None
        )
        self._megabytes = limits.max_batch if self._is_upload else limits.max_body
        self._seconds = limits.batch_seconds if self._is_upload else limits.body_seconds
        self._deadline = asyncio.get_running_loop().time() + self._seconds
        length = headers.get("content-length", "0")
        self._length = int(length) if length.isdecimal() else 0
        self._size = self._in_memory = 0
        self._is_complete = not (self._length or "transfer-encoding" in headers)
        # A client that expects "100 Continue" sends its body only once it is read.
        self._is_held_back = "expect" in headers

    async def receive(self) -> "Message":
        """Return the next message of the client."""
        if self._is_complete:
            return await self._receive()
        if self._length > self._megabytes * MEGABYTE:
            raise too_large(self._megabytes)
        try:
            async with asyncio.timeout_at(self._deadline):
                message = await self._next()
        except TimeoutError:
            self._is_complete = True  # nothing more is read
            raise Problem(
                "too-slow",
                f"the body did not arrive within {self._seconds:g} seconds; send it faster",
                headers={"Connection": "close"},
            ) from None
        if self._size > self._megabytes * MEGABYTE:
            raise too_large(self._megabytes)
        if not self._is_upload:  # a batch goes to disk
            self._remember(len(message.get("body", b"")))
        return message

    async def _next(self) -> "Message":
        message = await self._receive()
        self._is_held_back = False
        self._is_complete = not message.get("more_body", False)
        self._size += len(message.get("body", b""))
        return message

    def _remember(self, size: int) -> None:
        requests = self._requests
        most = max(requests.limits.max_memory, requests.limits.max_body)
        self._in_memory += size
        requests.bytes_in_memory += size
        if requests.bytes_in_memory > most * MEGABYTE:
            self.release()
            detail = f"over {most:g} MB are being judged; send it again later"
            raise Problem("queue-full", detail, headers={"Retry-After": "1"})

    def release(self) -> None:
        """Count the body as no longer in memory."""
        self._requests.bytes_in_memory -= self._in_memory
        self._in_memory = 0

    async def discard(self) -> None:
        """Read the rest of a body that nothing needs.

        Otherwise closing the connection resets it before the client has read the response.
        """
        most = self._megabytes * MEGABYTE + _MAX_DISCARDED_BYTES
        if self._is_complete or self._is_held_back or self._length > most:
            return
        try:
            async with asyncio.timeout(_DISCARD_SECONDS):
                while not self._is_complete and self._size < most:
                    await self._next()
        except TimeoutError:
            return
