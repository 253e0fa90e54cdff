"""What every request passes: its id, the limits of its body, the log and the metrics."""

import asyncio
import re
import secrets
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request

from judge.service.access import client_of
from judge.service.monitoring import LOG
from judge.service.problems import Problem

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from judge.service.monitoring import Metrics

MEGABYTE: Final = 1_000_000
CLIENT_GONE: Final = 499
"""The status in the log where the client hung up before the response."""
_REQUEST_IDS: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")
_PROBES: Final = frozenset({"/healthz", "/readyz"})
_UPLOAD: Final = re.compile(r"/v1/batches(/[^/]*)?")
_ERROR_STATUS: Final = 400
_MAX_DISCARDED_BYTES: Final = 32 * MEGABYTE
_DISCARD_SECONDS: Final = 5.0


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
    max_held: float = 64.0
    """Megabytes of all bodies in memory, except for batches; at least `max_body`."""


def too_large(megabytes: float) -> Problem:
    """Return the problem of a body over this limit."""
    return Problem(
        "too-large", f"over {megabytes:g} MB; send less, or see --max-body and --max-batch"
    )


class Requests:
    """A middleware that identifies, limits, logs and counts requests."""

    def __init__(self, app: "ASGIApp", limits: Limits, metrics: "Metrics") -> None:
        self._app = app
        self._limits = limits
        self._metrics = metrics
        self._held = _Held(max(limits.max_held, limits.max_body))

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers, began, status = Headers(scope=scope), time.monotonic(), CLIENT_GONE
        given = headers.get("x-request-id", "")
        scope["judge.request"] = given if _REQUEST_IDS.fullmatch(given) else secrets.token_hex(8)
        body = _Body(scope, headers, receive, self._limits, self._held)

        async def send_headers(message: "Message") -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                await body.discard()
                response = MutableHeaders(scope=message)
                response["x-request-id"] = scope["judge.request"]
                response["x-content-type-options"] = "nosniff"
                response["cache-control"] = "no-store"
            await send(message)

        app = self._app
        # The parser lets both pass.
        coding = headers.get("transfer-encoding", "chunked").lower()
        if len(headers.getlist("host")) != 1 or coding != "chunked":
            detail = "send one Host header, and no Transfer-Encoding but chunked"
            app = Problem("bad-request", detail).response(scope["judge.request"])
        try:
            await app(scope, body.receive, send_headers)
        except Exception:
            status = 500
            raise
        finally:
            body.release()
            self._note(scope, status, time.monotonic() - began)

    def _note(self, scope: "Scope", status: int, seconds: float) -> None:
        # Made-up paths must not make as many metrics.
        route = getattr(scope.get("route"), "path", "other")
        client = scope.get("state", {}).get("client") or "-"
        self._metrics.request(scope["method"], route, status, client, seconds)
        if scope["path"] in _PROBES and status < _ERROR_STATUS:
            return
        entry = {"request": scope["judge.request"], "client": client, "method": scope["method"]}
        entry |= {"route": route, "status": status, "ms": round(1000 * seconds, 1)}
        entry |= {key: str(value)[:64] for key, value in scope.get("path_params", {}).items()}
        LOG.info("request", extra={"entry": entry})


class _Held:
    """The bodies that all requests hold in memory."""

    def __init__(self, megabytes: float) -> None:
        self.megabytes: Final = megabytes
        """The most that they may have."""
        self.size = 0
        """The number of their bytes."""


class _Body:
    """The body of one request, within its limits."""

    def __init__(
        self, scope: "Scope", headers: Headers, receive: "Receive", limits: Limits, all_held: _Held
    ) -> None:
        is_upload = scope["method"] in {"POST", "PUT"} and _UPLOAD.fullmatch(scope["path"])
        self._request = Request(scope)
        self._receive = receive
        self._all_held = None if is_upload else all_held  # a batch goes to disk
        self._held = 0
        self._megabytes = limits.max_batch if is_upload else limits.max_body
        self._seconds = limits.batch_seconds if is_upload else limits.body_seconds
        self._deadline = asyncio.get_running_loop().time() + self._seconds
        length = headers.get("content-length", "0")
        self._length = int(length) if length.isdecimal() else 0
        self._size = 0
        self._is_complete = not (self._length or "transfer-encoding" in headers)
        # A client that expects "100 Continue" sends its body only once it is read.
        self._is_held_back = "expect" in headers

    async def receive(self) -> "Message":
        """Return the next message of the client."""
        if self._is_complete:
            return await self._receive()
        if not self._size:  # FastAPI reads the body before it solves dependencies
            await client_of(self._request)
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
        self._hold(len(message.get("body", b"")))
        return message

    def _hold(self, size: int) -> None:
        if self._all_held is None:
            return
        self._held += size
        self._all_held.size += size
        if self._all_held.size > self._all_held.megabytes * MEGABYTE:
            self.release()
            detail = f"over {self._all_held.megabytes:g} MB are being judged; send it again later"
            raise Problem("queue-full", detail, headers={"Retry-After": "1"})

    def release(self) -> None:
        """Count the body as no longer in memory."""
        if self._all_held is not None:
            self._all_held.size -= self._held
            self._held = 0

    async def _next(self) -> "Message":
        message = await self._receive()
        self._is_held_back = False
        self._size += len(message.get("body", b""))
        self._is_complete = not message.get("more_body", False)
        return message

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
