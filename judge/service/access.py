"""Access to the service: tokens, their roles, and the web pages that may call it."""

import hashlib
import ipaddress
from collections.abc import Iterable
from typing import Annotated, Final, Literal, NamedTuple, get_args
from urllib.parse import urlsplit

from fastapi import Request, Security
from fastapi.security import HTTPBasic, HTTPBearer

from judge.config import SERVICE_TOKENS
from judge.errors import ConfigError
from judge.service.problems import Problem

Role = Literal["read", "write", "admin"]
"""`read` looks at batches, `write` also judges, labels and sends batches, and `admin` also purges
the batches of other tokens."""
ROLES: Final[tuple[Role, ...]] = get_args(Role)
_MIN_TOKEN_LENGTH: Final = 16
_LOOPBACK_NAMES: Final = ("localhost", "127.0.0.1", "[::1]")
_READING_METHODS: Final = frozenset({"GET", "HEAD"})
_FORMAT: Final = f"set {SERVICE_TOKENS} to NAME:TOKEN or NAME:ROLE:TOKEN, separated by commas"


class Client(NamedTuple):
    """The sender of a request."""

    name: str
    """The name of the token; empty where the service has no tokens."""
    role: Role


_ANYONE: Final = Client("", "admin")
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
        """Return the client with this token; None if the service does not know it."""
        # The time of a look-up of a hash reveals nothing about a token.
        return self._clients.get(_digest(token))


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()


_bearer: Final = HTTPBearer(auto_error=False, description="A token of the service.")
_basic: Final = HTTPBasic(auto_error=False, description="Any user name; a token as the password.")


async def client_of(request: Request) -> Client:
    """Return the client that sends the request, and keep its name for the log.

    Raises:
        Problem: the token is missing or unknown, its role does not allow the request, or a web page
            of another site sends it.
    """
    # A browser adds the password that it knows to such requests; links have no `Origin`. A proxy in
    # front may end TLS, so http and https both count as our own.
    origin = request.headers.get("origin")
    if origin is not None and urlsplit(origin)[:2] not in {
        (scheme, request.headers.get("host", "")) for scheme in (request.url.scheme, "https")
    }:
        raise Problem("wrong-origin", "a web page of another site may not call this service")
    tokens: Tokens = request.app.state.tokens
    client: Client | None = _ANYONE
    if tokens:
        bearer, basic = await _bearer(request), await _basic(request)
        given = bearer.credentials if bearer else basic.password if basic else ""
        several = len(request.headers.getlist("authorization")) > 1
        client = None if several else tokens.client(given)
    if client is None:
        raise Problem("no-token", "send Authorization: Bearer TOKEN")
    request.state.client = client.name
    if client.role == "read" and request.method not in _READING_METHODS:
        raise Problem("not-allowed", f"the token of {client.name!r} may only read; use another")
    return client


async def authorize(
    request: Request,
    _: Annotated[object, Security(_bearer)],
    __: Annotated[object, Security(_basic)],
) -> Client:
    """Return the client of a request, or refuse it; the other arguments are for `/docs`."""
    return await client_of(request)


Authorized = Annotated[Client, Security(authorize)]


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach the address."""
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
