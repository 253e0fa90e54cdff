"""Tokens and names: who may ask, and under which name the service is reached."""

import hashlib
import hmac
import ipaddress
from collections.abc import Iterable, Mapping
from typing import Final
from urllib.parse import urlsplit

from judge.errors import ConfigError
from judge.service.problems import Problem
from judge.settings import SERVICE_TOKENS

_LEAST: Final = 16
"""Characters of a token."""
_LOCAL: Final = frozenset({"localhost", "127.0.0.1", "[::1]"})
_STEP: Final = f"set {SERVICE_TOKENS} to NAME:TOKEN, several with commas between them"


class Tokens:
    """Who may ask, by a bearer token.

    >>> tokens = Tokens.read("ci:0123456789abcdef,web:fedcba9876543210")
    >>> tokens.owner("Bearer fedcba9876543210"), tokens.owner("Bearer guess")
    ('web', None)
    """

    def __init__(self, hashes: Mapping[str, bytes]) -> None:
        self._hashes = dict(hashes)

    @classmethod
    def read(cls, text: str) -> "Tokens":
        """The tokens in a text such as the environment holds.

        Raises:
            ConfigError: it is none; no token is repeated.
        """
        hashes: dict[str, bytes] = {}
        for number, pair in enumerate(filter(None, map(str.strip, text.split(","))), 1):
            name, colon, token = pair.partition(":")
            if not (colon and name.isascii() and name.replace("-", "").replace("_", "").isalnum()):
                raise ConfigError(f"{SERVICE_TOKENS}: number {number} has no name; {_STEP}")
            if len(token) < _LEAST or not (token.isascii() and token.isprintable()):
                raise ConfigError(
                    f"{SERVICE_TOKENS}: the token of {name!r} is under {_LEAST} characters, or "
                    "holds what no header can; make one: openssl rand -hex 16"
                )
            if name in hashes:
                raise ConfigError(f"{SERVICE_TOKENS}: {name!r} stands twice; name them apart")
            hashes[name] = _hash(token)
        return cls(hashes)

    def __bool__(self) -> bool:
        return bool(self._hashes)

    def owner(self, header: str) -> str | None:
        """Whose token an `Authorization` header holds; None where it is nobody's.

        All are compared, each in a time that tells nothing of it.
        """
        scheme, _, token = header.partition(" ")
        given, found = _hash(token.strip()), None
        for name, known in self._hashes.items():
            if hmac.compare_digest(given, known):
                found = name
        return found if scheme.lower() == "bearer" else None


def _hash(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()


def is_loopback(host: str) -> bool:
    """Whether an address to listen at is reached from this machine alone."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


class Names:
    """The names under which the service may be reached.

    A web page of elsewhere can have a browser ask a server of this machine: by a name of its own
    that leads here, which `Host` shows, or across origins, which `Origin` shows.

    Args:
        host: the address it listens at; `more` names are allowed beside, such as a proxy's.
    """

    def __init__(self, host: str, more: Iterable[str] = ()) -> None:
        more = frozenset(each.lower() for each in more)
        bracketed = f"[{host}]" if ":" in host and not host.startswith("[") else host
        self._known = _LOCAL | {bracketed.lower()} | more
        self._any = not is_loopback(host) and not more

    def check(self, host: str, origin: str | None, scheme: str) -> None:
        """Raise a `Problem` where a request is not to be served."""
        name = _name(host)
        if not name or not (self._any or name in self._known):
            raise Problem("wrong-host", "Host is no name of this service; see --allow-host")
        # Of a proxy that ends TLS, pages are https.
        own = {f"{each}://{host}".lower() for each in (scheme, "https")}
        if origin is not None and origin.lower() not in own:
            raise Problem("wrong-host", "Origin is another than this service: no page may ask it")


def _name(host: str) -> str:
    try:
        parts = urlsplit(f"//{host}")
        _ = parts.port
    except ValueError:
        return ""
    name = (parts.hostname or "").lower()
    bare = not (parts.path or parts.query or parts.fragment or "@" in parts.netloc)
    return (f"[{name}]" if ":" in name else name) if bare else ""
