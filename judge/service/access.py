"""Who may ask, and what every request passes: its id, its token or cookie, the log, the figures.

A browser gives its token once, and a cookie that says nothing of it stands for it. No script can
read it (`HttpOnly`), and not the token in `sessionStorage`: whatever script might slip into a page,
it could not carry the token off; and links to a report, which a browser follows without a script's
headers, work. The cookie is sent to this site's own pages alone (`SameSite=Strict`), and a request
that changes something counts only with the `Origin` of this service.
"""

import hashlib
import hmac
import ipaddress
import re
import secrets
import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final, Literal
from urllib.parse import urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import RedirectResponse, Response

from judge.config import SERVICE_TOKENS
from judge.errors import ConfigError
from judge.messages import LANGS
from judge.service.monitoring import LOG
from judge.service.problems import Problem

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from judge.messages import Lang
    from judge.service.monitoring import Metrics

_LEAST: Final = 16
"""Characters of a token."""
_LOCAL: Final = frozenset({"localhost", "127.0.0.1", "[::1]"})
_STEP: Final = f"set {SERVICE_TOKENS} to NAME:TOKEN, several with commas between them"
HOURS: Final = 12
"""For which a login lasts, at most until the service ends."""
_SAFE: Final = frozenset({"GET", "HEAD"})
_OWN: Final = frozenset({"same-origin", "none", ""})
REQUEST: Final = "x-request-id"
FREE: Final = frozenset({"/healthz", "/readyz"})
"""What needs no token, and no line in the log."""
OPEN: Final = frozenset({"/", "/session"})
"""What needs no token, either: the page of batches, which holds none, and where one is given."""
BAD: Final = 400
GONE: Final = 499
"""Logged where nobody was left to answer."""
_ID: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")
_ALWAYS: Final = {
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'",
}


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


class Logins:
    """Who has logged in, by the hash of the random key in their cookie."""

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens
        self._owners: dict[bytes, tuple[str, float]] = {}

    def begin(self, token: str, headers: Headers, answer: Response) -> bool:
        """Set the cookie of a new login; False where the token is nobody's."""
        owner = self._tokens.owner(f"Bearer {token}")
        if owner is None:
            return False
        now = time.monotonic()
        self._owners = {key: each for key, each in self._owners.items() if each[1] > now}
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
        if until <= time.monotonic() or not own or not (method in _SAFE or "origin" in headers):
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
            _cookie(headers), key, seconds, secure=secure, httponly=True, samesite="strict"
        )


def _cookie(headers: Headers) -> str:
    """What the cookie is called: other ports of a host see it, and may have one of their own."""
    port = headers.get("host", "").rpartition(":")[2]
    return f"judge_{port}" if port.isdecimal() else "judge"


def _key(headers: Headers) -> str:
    return cookie_parser(headers.get("cookie", "")).get(_cookie(headers), "")


def preferred(accepted: str) -> "Lang":
    """The first language of ours that an `Accept-Language` names; English where it names none.

    >>> preferred("fr, zh-CN;q=0.9, en;q=0.8"), preferred("*")
    ('zh', 'en')
    """
    tags = [re.split("[-;]", each.strip())[0] for each in accepted.lower().split(",")]
    return next((lang for tag in tags for lang in LANGS if tag == lang), "en")


class Access:
    """Lets a request through to `app`, or says why not; logs and counts it."""

    def __init__(
        self,
        app: "ASGIApp",
        tokens: "Tokens",
        names: "Names",
        metrics: "Metrics",
    ) -> None:
        self._app = app
        self._logins = Logins(tokens)
        self._tokens = tokens
        self._names = names
        self._metrics = metrics

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers, clock, status = Headers(scope=scope), time.monotonic(), GONE
        given = headers.get(REQUEST, "")
        name = given if _ID.fullmatch(given) else secrets.token_hex(8)
        scope["judge.request"] = name
        scope["judge.lang"] = preferred(headers.get("accept-language", ""))

        async def told(message: "Message") -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                of_answer = MutableHeaders(scope=message)
                of_answer[REQUEST] = name
                for key, value in _ALWAYS.items():
                    of_answer.setdefault(key, value)
            await send(message)

        client = "-"
        try:
            client = self._admitted(scope, headers)
            await self._app(scope, receive, told)
        except Problem as problem:
            answer = problem.response(name)
            if problem.name == "no-token" and headers.get("sec-fetch-mode") == "navigate":
                query = scope["query_string"].decode("ascii", "replace")
                to = f"{scope['path']}?{query}" if query else scope["path"]
                answer = RedirectResponse("/?" + urlencode({"to": to}), 303)
            await answer(scope, receive, told)
        except Exception as error:  # noqa: BLE001  the last line of defence
            LOG.error("a bug", exc_info=error, extra={"told": {"request": name}})
            if status == GONE:
                await Problem("bug", "its log tells more; say which request it was").response(name)(
                    scope, receive, told
                )
        finally:
            self._note(scope, name, client, status, time.monotonic() - clock)

    def _admitted(self, scope: "Scope", headers: Headers) -> str:
        """Who asks; `Problem` where they may not."""
        if "content-length" in headers and "transfer-encoding" in headers:
            # A proxy in front might believe the other one.
            raise Problem(
                "bad-request",
                "send Content-Length or Transfer-Encoding, not both",
                headers={"Connection": "close"},
            )
        self._names.check(headers.get("host", ""), headers.get("origin"), scope["scheme"])
        scope["judge.logins"] = self._logins
        if scope["path"] in FREE | OPEN or not self._tokens:
            return "-"
        keys = headers.getlist("authorization")
        owner = self._tokens.owner(keys[0]) if len(keys) == 1 else None
        if not keys:
            owner = self._logins.owner(scope["method"], headers)
        if owner is None:
            raise Problem(
                "no-token",
                "send Authorization: Bearer TOKEN",
                headers={"WWW-Authenticate": 'Bearer realm="judge"'},
            )
        return owner

    def _note(self, scope: "Scope", name: str, client: str, status: int, seconds: float) -> None:
        # Paths that somebody made up would make as many figures.
        route = getattr(scope.get("route"), "path", "other")
        self._metrics.request(scope["method"], route, status, client, seconds)
        if scope["path"] in FREE and status < BAD:
            return
        told = {"request": name, "client": client, "method": scope["method"], "route": route}
        told |= {"status": status, "ms": round(1000 * seconds, 1)}
        told |= {key: str(value)[:64] for key, value in scope.get("path_params", {}).items()}
        LOG.info("request", extra={"told": told})
