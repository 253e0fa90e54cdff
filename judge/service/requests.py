"""What every request passes: its id, its token, the limits of its body, the log and the metrics."""

import asyncio
import hashlib
import ipaddress
import json
import re
import secrets
import time
from base64 import b64decode
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, cast

from starlette.datastructures import Headers
from starlette.responses import Response

from judge.config import SERVICE_TOKENS
from judge.errors import ConfigError
from judge.service.monitoring import LOG, Metrics
from judge.service.wire import PROBLEM, Problem

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

Role = Literal["read", "write", "admin"]
"""`write` also judges, labels and sends batches, `admin` also purges those of other tokens."""
MEGABYTE: Final = 1_000_000
CLIENT_GONE: Final = 499
"""The status in the log where the client hung up before the response."""
# "?+" never takes a role for the beginning of a token, as in "ci:read:0123456789a".
_ENTRY: Final = re.compile(r"([\w-]+):(?:(read|write|admin):)?+([!-~]{16,})", re.ASCII)
_LOOPBACK_NAMES: Final = ("localhost", "127.0.0.1", "[::1]")
_READING_METHODS: Final = frozenset({"GET", "HEAD"})
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
    # Only a header can set this policy; the pages contain the rest.
    (b"content-security-policy", b"frame-ancestors 'none'; form-action 'none'"),
)
_PROBLEM_HEADERS: Final[Mapping[str, tuple[tuple[str, str], ...]]] = {
    "no-token": (
        ("WWW-Authenticate", 'Bearer realm="judge"'),
        # It has a browser ask for a password, which is the token.
        ("WWW-Authenticate", 'Basic realm="judge", charset="UTF-8"'),
    ),
    "queue-full": (("Retry-After", "1"),),
    "too-slow": (("Connection", "close"),),
}


class Client(NamedTuple):
    """The sender of a request."""

    name: str
    """The name of the token; empty where the service has no tokens."""
    role: Role


Tokens = Mapping[bytes, Client]
"""The clients by the hashes of their tokens; empty if the service accepts anyone."""
_ANYONE: Final = Client("", "admin")


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


def read_tokens(text: str) -> Tokens:
    """Return the tokens in a text of `NAME:TOKEN` or `NAME:ROLE:TOKEN`, separated by commas.

    Raise ConfigError, without a token in its message, if the text is malformed.

    >>> list(read_tokens("ci:0123456789abcdef").values())
    [Client(name='ci', role='write')]
    """
    tokens: dict[bytes, Client] = {}
    for number, entry in enumerate(filter(None, map(str.strip, text.split(","))), 1):
        if (parts := _ENTRY.fullmatch(entry)) is None:
            raise ConfigError(
                f"{SERVICE_TOKENS}: entry {number} is neither NAME:TOKEN nor NAME:ROLE:TOKEN with "
                "a token of at least 16 printable characters; make a token with openssl rand -hex "
                "16"
            )
        name, role, token = parts.groups(default="write")
        tokens[_digest(token)] = Client(name, cast("Role", role))
    return tokens


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach the address."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def host_names(host: str, more: Iterable[str] = ()) -> list[str]:
    """Return the names that a `Host` header may have, for Starlette's `TrustedHostMiddleware`.

    `more` are other names than the address, such as a proxy's. Without them, a service that other
    machines can reach accepts all names.
    """
    more = list(more)
    if not more and not is_loopback(host):
        return ["*"]
    return [*_LOOPBACK_NAMES, f"[{host.strip('[]')}]" if ":" in host else host, *more]


def response_of(problem: Problem, request: str) -> Response:
    """Return a problem as the response to the request with this id."""
    details = problem.details(request).model_dump(exclude_none=True)
    body = json.dumps(details, ensure_ascii=False).encode("utf-8", "replace")
    response = Response(body, details["status"], media_type=PROBLEM)
    for name, value in _PROBLEM_HEADERS.get(problem.name, ()):
        response.headers.append(name, value)
    return response


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
            app = response_of(problem, name)
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
        if _NEEDS_NO_TOKEN.fullmatch(scope["path"]):
            return
        # A browser adds the password that it knows to requests of other sites; links have no
        # `Origin`. A proxy in front may end TLS, so http and https both count as our own.
        origin, host = headers.get("origin"), headers["host"]
        if origin is not None and origin not in {f"{scope['scheme']}://{host}", f"https://{host}"}:
            raise Problem("wrong-origin", "a web page of another site may not call this service")
        client = _ANYONE
        if self._tokens:
            tokens = [_token_in(each) for each in headers.getlist("authorization")]
            # The time of a look-up of a hash reveals nothing about a token.
            known = self._tokens.get(_digest(tokens[0])) if len(tokens) == 1 else None
            if known is None:
                raise Problem("no-token", "send Authorization: Bearer TOKEN")
            client = known
        if client.role == "read" and scope["method"] not in _READING_METHODS:
            detail = f"the token of {client.name!r} may only read; use another"
            raise Problem("not-allowed", detail)
        scope.setdefault("state", {})["client"] = client

    def _note(self, scope: "Scope", status: int, seconds: float) -> None:
        """Log and count a request that has ended."""
        # Made-up paths must not make as many metrics.
        route = getattr(scope.get("route"), "path", "other")
        client = scope.get("state", {}).get("client", _ANYONE).name or "-"
        self._metrics.request(scope["method"], route, status, client, seconds)
        if scope["path"] in _PROBES and status < _ERROR_STATUS:
            return
        entry = {"request": scope["judge.request"], "client": client}
        entry |= {"method": scope["method"], "route": route, "status": status}
        entry["ms"] = round(1000 * seconds, 1)
        entry |= {key: str(value)[:64] for key, value in scope.get("path_params", {}).items()}
        LOG.info("request", extra={"entry": entry})


def _token_in(authorization: str) -> str:
    """Return the bearer token, or the password of `Basic`; empty if there is neither."""
    scheme, _, value = authorization.partition(" ")
    if scheme.lower() != "basic":
        return value if scheme.lower() == "bearer" else ""
    try:
        return b64decode(value).decode().partition(":")[2]
    except ValueError:
        return ""


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
            detail = f"the body did not arrive within {self._seconds:g} seconds; send it faster"
            raise Problem("too-slow", detail) from None
        if self._size > self._megabytes * MEGABYTE:
            raise too_large(self._megabytes)
        requests = self._requests
        most = max(requests.limits.max_memory, requests.limits.max_body)
        if not self._is_upload:  # a batch goes to disk
            requests.bytes_in_memory += self._size - self._in_memory
            self._in_memory = self._size
        if requests.bytes_in_memory > most * MEGABYTE and self._in_memory:
            self.release()
            raise Problem("queue-full", f"over {most:g} MB are being judged; send it again later")
        return message

    async def _next(self) -> "Message":
        message = await self._receive()
        self._is_held_back = False
        self._is_complete = not message.get("more_body", False)
        self._size += len(message.get("body", b""))
        return message

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
        with suppress(TimeoutError):
            async with asyncio.timeout(_DISCARD_SECONDS):
                while not self._is_complete and self._size < most:
                    await self._next()
