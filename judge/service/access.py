"""Access to the service: tokens, their roles, and the web pages that may call it."""

import hashlib
import ipaddress
import re
from base64 import b64decode
from collections.abc import Iterable, Mapping
from typing import Final, Literal, NamedTuple, cast

from starlette.datastructures import Headers

from judge.config import SERVICE_TOKENS
from judge.errors import ConfigError
from judge.service.problems import Problem

Role = Literal["read", "write", "admin"]
"""`read` looks at batches, `write` also judges, labels and sends batches, and `admin` also purges
the batches of other tokens."""
# "?+" never takes a role for the beginning of a token, as in "ci:read:0123456789a".
_ENTRY: Final = re.compile(r"([\w-]+):(?:(read|write|admin):)?+([!-~]{16,})", re.ASCII)
_LOOPBACK_NAMES: Final = ("localhost", "127.0.0.1", "[::1]")
_READING_METHODS: Final = frozenset({"GET", "HEAD"})


class Client(NamedTuple):
    """The sender of a request."""

    name: str
    """The name of the token; empty where the service has no tokens."""
    role: Role


_ANYONE: Final = Client("", "admin")
"""Every client of a service without tokens."""


Tokens = Mapping[bytes, Client]
"""The clients by the hashes of their tokens; empty if the service accepts anyone."""


def read_tokens(text: str) -> Tokens:
    """Return the tokens in a text of `NAME:TOKEN` or `NAME:ROLE:TOKEN`, separated by commas.

    A token without a role may write.

    >>> list(read_tokens("ci:0123456789abcdef").values())
    [Client(name='ci', role='write')]

    Raises:
        ConfigError: the text is malformed. The message repeats no token.
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


def client_of(method: str, scheme: str, headers: Headers, tokens: Tokens) -> Client:
    """Return the client that sends a request.

    Raises:
        Problem: the token is missing or unknown, its role does not allow the request, or a web page
            of another site sends it.
    """
    # A browser adds the password that it knows to such requests; links have no `Origin`. A proxy in
    # front may end TLS, so http and https both count as our own.
    origin, host = headers.get("origin"), headers.get("host", "")
    if origin is not None and origin not in {f"{scheme}://{host}", f"https://{host}"}:
        raise Problem("wrong-origin", "a web page of another site may not call this service")
    if not tokens:
        return _ANYONE
    known = headers.getlist("authorization")
    # The time of a look-up of a hash reveals nothing about a token.
    client = tokens.get(_digest(_token_in(known[0]))) if len(known) == 1 else None
    if client is None:
        raise Problem("no-token", "send Authorization: Bearer TOKEN")
    if client.role == "read" and method not in _READING_METHODS:
        raise Problem("not-allowed", f"the token of {client.name!r} may only read; use another")
    return client


def _token_in(authorization: str) -> str:
    """Return the bearer token, or the password of `Basic`; empty if there is neither."""
    scheme, _, value = authorization.partition(" ")
    match scheme.lower():
        case "bearer":
            return value
        case "basic":
            try:
                return b64decode(value).decode().partition(":")[2]
            except ValueError:
                return ""
    return ""


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
