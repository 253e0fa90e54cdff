"""Addresses of servers, and headers for them, checked before anything is sent."""

import re
from collections.abc import Mapping
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from judge.errors import ConfigError

_FRAME: Final = frozenset(
    ["connection", "content-length", "content-type", "host", "transfer-encoding"]
)
"""Headers that say where a message goes and ends."""
_HEADER: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")


def check_headers(headers: Mapping[str, str]) -> None:
    """That these can be sent beside judge's own.

    Raises:
        ValueError: they cannot; what is wrong may be a secret in the wrong place, and is not told.
    """
    for name, text in headers.items():
        if not _HEADER.fullmatch(name) or not (text.isascii() and text.isprintable()):
            raise ValueError("a name or a value holds what no header can")
        if name.lower() in _FRAME:
            raise ValueError(f"judge itself sets {name.lower()}; leave it out")


def bearer(token: str, source: str) -> dict[str, str]:
    """Return the header for a bearer token, and no header if the token is empty.

    Args:
        token: the token, which an error does not repeat.
        source: where the token comes from, such as the name of an environment variable.

    Raises:
        ConfigError: the token contains a character that a header cannot.
    """
    if not (token.isascii() and token.isprintable()):
        raise ConfigError(
            f"{source} contains a character that no token has; set it to the bare token, which is "
            "printable ASCII"
        )
    return {"Authorization": f"Bearer {token}"} if token else {}


class _Address(NamedTuple):
    """What an address of a kind is like."""

    kind: str
    schemes: tuple[str, ...]
    path: str
    """The pattern of what may stand behind the host."""
    example: str
    secret: str
    """The variable of the environment for what it may not hold."""


_ADDRESSES: Final = {
    "base_url": _Address(
        "http", ("http", "https"), ".*", "http://localhost:8000/v1", "the key as OPENAI_API_KEY"
    ),
    "cache_url": _Address(
        "Redis",
        ("redis", "rediss", "unix"),
        r"/?|/\d+",
        "redis://localhost:6379/0",
        "them as JUDGE_REDIS_USERNAME and JUDGE_REDIS_PASSWORD",
    ),
}


def checked_url(url: str, setting: str = "base_url") -> str:
    """A base URL, or another setting's address, without its last slash.

    Raises:
        ConfigError: it is none, or holds what might be a secret, which is not repeated.
    """
    like = _ADDRESSES[setting]
    try:
        parts = urlsplit(url.strip())
        secret = "@" in parts.netloc or bool(parts.query or parts.fragment)
        there = bool(parts.hostname) and parts.port != 0
        there = there and re.fullmatch(like.path, parts.path) is not None
        if parts.scheme == "unix":
            there = bool(parts.path.strip("/")) and not parts.netloc
        sound = parts.scheme in like.schemes and there
        sound = sound and url.strip().isprintable() and len(url.split()) == 1
    except ValueError:
        secret, sound = "@" in url, False
    if secret:
        raise ConfigError(
            f"setting {setting} holds a user name, a password, or something behind ? or #; "
            f"give the bare address, and {like.secret}"
        )
    if not sound:
        # What has no scheme may be a key that was pasted in the wrong place.
        said = f" = {url!r}" if "://" in url else ""
        raise ConfigError(f"setting {setting}{said}: no {like.kind} address; try {like.example}")
    return url.strip().rstrip("/")
