"""Who may use the service: its tokens and their roles, and the web pages that may call it."""

import hashlib
import hmac
import ipaddress
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Final, Literal, NamedTuple, get_args
from urllib.parse import urlsplit

from fastapi import Request, Security
from fastapi.security import (
    HTTPAuthorizationCredentials,
    HTTPBasic,
    HTTPBasicCredentials,
    HTTPBearer,
)
from starlette.datastructures import Headers
from starlette.responses import Response

from judge.config import SERVICE_TOKENS
from judge.errors import ConfigError
from judge.service.problems import Problem

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

Role = Literal["read", "write", "admin"]
"""`read` looks at batches, `write` also judges, labels and sends batches, and `admin` also purges
the batches of other tokens."""
ROLES: Final[tuple[Role, ...]] = get_args(Role)
_MIN_TOKEN_LENGTH: Final = 16
_LOOPBACK_NAMES: Final = ("localhost", "127.0.0.1", "[::1]")
_READING_METHODS: Final = frozenset({"GET", "HEAD"})
_FORMAT: Final = f"set {SERVICE_TOKENS} to NAME:TOKEN or NAME:ROLE:TOKEN, separated by commas"


class Client(NamedTuple):
    """Whoever sends a request."""

    name: str
    """The name of the token; empty where the service has no tokens."""
    role: Role


ANYONE: Final = Client("", "admin")
"""Every client of a service without tokens."""


class Tokens:
    """The tokens that the service accepts, as hashes.

    >>> tokens = Tokens.read("ci:0123456789abcdef,ops:admin:fedcba9876543210")
    >>> tokens.client("fedcba9876543210"), tokens.client("guess")
    (Client(name='ops', role='admin'), None)
    """

    def __init__(self) -> None:
        self._clients: dict[bytes, Client] = {}

    @classmethod
    def read(cls, text: str) -> "Tokens":
        """Return the tokens in a text of `NAME:TOKEN` or `NAME:ROLE:TOKEN`, separated by commas.

        A token without a role may write.

        Raises:
            ConfigError: the text is malformed. The message repeats no token.
        """
        tokens = cls()
        for number, part in enumerate(filter(None, map(str.strip, text.split(","))), 1):
            name, colon, token = part.partition(":")
            role: Role = "write"
            for each in ROLES:
                if token.startswith(f"{each}:"):
                    role, token = each, token.removeprefix(f"{each}:")
            if not (colon and name.isascii() and name.replace("-", "").replace("_", "").isalnum()):
                raise ConfigError(f"{SERVICE_TOKENS}: token {number} has no name; {_FORMAT}")
            if len(token) < _MIN_TOKEN_LENGTH or not (token.isascii() and token.isprintable()):
                raise ConfigError(
                    f"{SERVICE_TOKENS}: the token of {name!r} has fewer than {_MIN_TOKEN_LENGTH} "
                    "characters, or characters that no header can contain; make one with "
                    "openssl rand -hex 16"
                )
            if any(client.name == name for client in tokens._clients.values()):
                raise ConfigError(f"{SERVICE_TOKENS}: two tokens are named {name!r}; rename one")
            tokens._clients[_digest(token)] = Client(name, role)
        return tokens

    def __bool__(self) -> bool:
        return bool(self._clients)

    def client(self, token: str) -> Client | None:
        """Return whose token this is; None if the service does not know it."""
        given, found = _digest(token), None
        for known, client in self._clients.items():  # all of them, so that time reveals nothing
            if hmac.compare_digest(given, known):
                found = client
        return found


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()


_bearer: Final = HTTPBearer(auto_error=False, description="A token of the service.")
_basic: Final = HTTPBasic(auto_error=False, description="Any user name; a token as the password.")


async def authorize(
    request: Request,
    bearer: Annotated[HTTPAuthorizationCredentials | None, Security(_bearer)],
    basic: Annotated[HTTPBasicCredentials | None, Security(_basic)],
) -> Client:
    """Return who sends the request, and note the name for the log.

    Raises:
        Problem: the token is missing or unknown, or its role does not allow the request.
    """
    tokens: Tokens = request.app.state.tokens
    client: Client | None = ANYONE
    if tokens:
        given = bearer.credentials if bearer else basic.password if basic else ""
        several = len(request.headers.getlist("authorization")) > 1
        client = None if several else tokens.client(given)
    if client is None:
        raise Problem("no-token", "send Authorization: Bearer TOKEN")
    request.state.client = client.name
    if client.role == "read" and request.method not in _READING_METHODS:
        raise Problem("not-allowed", f"the token of {client.name!r} may only read; use another")
    return client


Authorized = Annotated[Client, Security(authorize)]


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address that a server listens at."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def host_names(host: str, more: Iterable[str] = ()) -> list[str]:
    """Return the names that a `Host` header may have, for Starlette's `TrustedHostMiddleware`.

    Args:
        host: the address that the service listens at.
        more: other names, such as a proxy's. Without them, a service that other machines can reach
            accepts all names.
    """
    more = list(more)
    if not more and not is_loopback(host):
        return ["*"]
    return [*_LOOPBACK_NAMES, f"[{host.strip('[]')}]" if ":" in host else host, *more]


class OwnOrigin:
    """A middleware that refuses requests from the web pages of other sites.

    A browser adds the password that it knows to such requests, and says in `Origin` where the page
    came from. Links from other sites are followed: they have no `Origin`.
    """

    def __init__(self, app: "ASGIApp") -> None:
        self._app = app

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Serve one request."""
        app = self._app
        if scope["type"] == "http":
            headers = Headers(scope=scope)
            origin = headers.get("origin")
            # A proxy in front may end TLS, so http and https both count as our own.
            if origin is not None and urlsplit(origin)[:2] not in {
                (scheme, headers.get("host", "")) for scheme in (scope["scheme"], "https")
            }:
                app = _foreign
        await app(scope, receive, send)


async def _foreign(scope: "Scope", receive: "Receive", send: "Send") -> None:
    problem = Problem("wrong-origin", "a web page of another site may not call this service")
    response: Response = problem.response(scope.get("judge.request", ""))
    await response(scope, receive, send)
