"""Logins of browsers: a token is given once, and a cookie that says nothing of it stands for it.

A cookie that no script can read (`HttpOnly`), and not the token in `sessionStorage`: whatever
script might slip into a page, it could not carry the token off; and links to a report, which a
browser follows without a script's headers, work. What a cookie brings along is met at the door: it
is sent to this site's own pages alone (`SameSite=Strict`), and a request that changes something
counts only with the `Origin` of this service.
"""

import hashlib
import secrets
import time
from collections.abc import Callable
from typing import Final, Literal

from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.responses import Response

from judge.service.tokens import Tokens

HOURS: Final = 12
"""For which a login lasts, at most until the service ends."""
_MOST: Final = 10_000
_SAFE: Final = frozenset({"GET", "HEAD"})
_OWN: Final = frozenset({"same-origin", "none", ""})


class Logins:
    """Who has logged in, by the hash of the random key in their cookie."""

    def __init__(self, tokens: Tokens, clock: Callable[[], float] = time.monotonic) -> None:
        self._tokens = tokens
        self._clock = clock
        self._owners: dict[bytes, tuple[str, float]] = {}

    def begin(self, token: str, headers: Headers, answer: Response) -> bool:
        """Set the cookie of a new login; False where the token is nobody's."""
        owner = self._tokens.owner(f"Bearer {token}")
        if owner is None:
            return False
        now = self._clock()
        self._owners = {key: each for key, each in self._owners.items() if each[1] > now}
        if len(self._owners) >= _MOST:
            del self._owners[next(iter(self._owners))]
        key = secrets.token_urlsafe(32)
        self._owners[_hash(key)] = owner, now + HOURS * 3600
        self._set(headers, answer, key, HOURS * 3600)
        return True

    def end(self, headers: Headers, answer: Response) -> None:
        """Forget a login, and have the browser do so."""
        self._owners.pop(_hash(_key(headers)), None)
        self._set(headers, answer, "", 0)

    def owner(self, method: str, headers: Headers) -> str | None:
        """Who asks by cookie, from a page of this service; None where nobody who may.

        That an `Origin` is this service's own has been seen to.
        """
        owner, until = self._owners.get(_hash(_key(headers)), ("", 0.0))
        own = headers.get("sec-fetch-site", "") in _OWN
        if until <= self._clock() or not own or not (method in _SAFE or "origin" in headers):
            return None
        return owner

    def state(self, headers: Headers) -> Literal["free", "needed", "done"]:
        """Whether whoever asks has to log in first: nobody has to, they do, they have."""
        if not self._tokens:
            return "free"
        return "needed" if self.owner("GET", headers) is None else "done"

    @staticmethod
    def _set(headers: Headers, answer: Response, key: str, seconds: int) -> None:
        # A proxy in front hides TLS from us; the browser tells of it.
        secure = headers.get("origin", "").startswith("https:")
        answer.set_cookie(
            _name(headers), key, seconds, secure=secure, httponly=True, samesite="strict"
        )


def _name(headers: Headers) -> str:
    """What the cookie is called: other ports of a host see it, and may have one of their own."""
    port = headers.get("host", "").rpartition(":")[2]
    return f"judge_{port}" if port.isdecimal() else "judge"


def _key(headers: Headers) -> str:
    return cookie_parser(headers.get("cookie", "")).get(_name(headers), "")


def _hash(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).digest()
