"""The door: what every request passes, whatever it asks: its id, who asks, the log, the figures."""

import re
import secrets
import time
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import RedirectResponse

from judge.messages import LANGS
from judge.service.logins import Logins
from judge.service.logs import LOG
from judge.service.problems import Problem

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from judge.messages import Lang
    from judge.service.metrics import Metrics
    from judge.service.tokens import Names, Tokens

REQUEST: Final = "x-request-id"
FREE: Final = frozenset({"/healthz", "/readyz"})
"""What needs no token, and no line in the log."""
OPEN: Final = frozenset({"/", "/session"})
"""What needs no token, either: the page of batches, which holds none, and where one is given."""
BAD: Final = 400
GONE: Final = 499
"""Logged where nobody was left to answer."""
_ID: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")
_WEIGHT: Final = re.compile(r"[01](?:\.[0-9]{0,3})?")
_ALWAYS: Final = {
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'",
}


def preferred(accepted: str) -> "Lang":
    """The language of ours that an `Accept-Language` weighs most; English where it names none.

    >>> preferred("fr, zh-CN;q=0.9, en;q=0.8"), preferred("*")
    ('zh', 'en')
    """
    best: Lang = "en"
    most = 0.0
    for part in accepted.lower().split(","):
        tag, *rest = (each.strip() for each in part.split(";"))
        weight = next((each[2:] for each in rest if each.startswith("q=")), "1")
        value = float(weight) if _WEIGHT.fullmatch(weight) else 0.0
        for lang in LANGS:
            if tag.partition("-")[0] == lang and value > most:
                best, most = lang, value
    return best


class Door:
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
