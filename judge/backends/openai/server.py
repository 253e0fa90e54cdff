"""A server: its address, the secrets that it is sent, and the SDK's client for it."""

import os
import re
from collections.abc import Mapping
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Final
from urllib.request import getproxies, proxy_bypass

import aiohttp
import httpx2
from openai import APIStatusError, AsyncOpenAI, DefaultAioHttpClient, Omit
from openai._vendor.httpx_aiohttp import AiohttpTransport

from judge.backends.openai.failures import Answer, Failure, brief, from_error, from_refusal
from judge.errors import ConfigError
from judge.signature import release

SOCKETS: Final = 4096
"""More than are ever in flight: who asks bounds that. Unset, the transport stops at 100."""
_KEPT_ALIVE: Final = 4.0
"""Seconds an idle socket is kept: uvicorn closes them after 5, and a request sent then is lost."""
_OPENAI: Final = ".api.openai.com"
"""Ends the names of OpenAI's own hosts, one for each region; a dot stands before each."""
_ACCOUNT: Final = ("OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_CUSTOM_HEADERS")
"""Variables that the SDK sends as headers."""
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
"""A proxy set for the outside world does not lead to this machine."""
_PROXIES: Final = ("http", "https")
_NO_HOST: Final = re.compile(r"[\s%]")
_SHORTEST_SECRET: Final = 8
"""What is shorter is a placeholder ("EMPTY", "none"); replacing it would garble messages."""
NO_HEADERS: Final[Mapping[str, str]] = {}


class _GivenHeaders(AsyncOpenAI):
    """The SDK's client for a server that is not OpenAI's: it sends no header of the environment."""

    given: Mapping[str, str]

    @property
    def default_headers(self) -> dict[str, str | Omit]:
        json = "application/json"
        return {"Accept": json, "Content-Type": json, **self.given}


class Server:
    """One server and what it is sent with each request; it shows no secret.

    Args:
        base_url: its address.
        api_key: the key; "none" where it is empty.
        headers: further ones, which win over all others.

    Raises:
        ConfigError: the address leads nowhere, or something cannot be sent. No secret is repeated.
    """

    def __init__(
        self, base_url: str, api_key: str = "", headers: Mapping[str, str] = NO_HEADERS
    ) -> None:
        self._key = api_key.strip() or "none"
        if not _fits_header(self._key):
            raise ConfigError("OPENAI_API_KEY holds characters that no key has; copy it again")
        self._url = _url(base_url)
        self._proxy = _proxy(self._url)
        self._headers = {"User-Agent": f"judge/{release('judge')}", **headers}
        self.host: Final = self._url.netloc.decode("ascii")
        """With the port, if one is named."""
        path = self._url.raw_path.decode("ascii").rstrip("/")
        self.base_url: Final = f"{self._url.scheme}://{self.host}{path}"
        """Without a slash at its end."""
        self._is_openai = self._url.scheme == "https" and f".{self._url.host}".endswith(_OPENAI)
        values = [*headers.values(), *(_account() if self._is_openai else ())]
        # A header may hold the name of a scheme, and a secret behind it.
        words = (self._key, *(word for value in values for word in (value, *value.split())))
        self._secrets = [each for each in dict.fromkeys(words) if len(each) >= _SHORTEST_SECRET]

    def open(self, connect_timeout: float) -> AsyncOpenAI:
        """Return a client that tries each request once, follows no redirect, keeps no cookie.

        It does not limit the time a request takes.
        """
        kind = AsyncOpenAI if self._is_openai else _GivenHeaders
        client = kind(
            api_key=self._key,
            admin_api_key="",
            base_url=self.base_url,
            timeout=httpx2.Timeout(None, connect=connect_timeout),
            max_retries=0,
            default_headers=self._headers,
            http_client=DefaultAioHttpClient(
                transport=self._transport(),
                follow_redirects=False,
                cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
            ),
        )
        if isinstance(client, _GivenHeaders):
            client.given = self._headers
        return client

    def _transport(self) -> AiohttpTransport:
        def session() -> aiohttp.ClientSession:
            sockets = aiohttp.TCPConnector(
                limit=SOCKETS, keepalive_timeout=_KEPT_ALIVE, ssl=transport.ssl_context
            )
            # The SDK's own session would keep cookies.
            jar = aiohttp.DummyCookieJar()
            return aiohttp.ClientSession(connector=sockets, cookie_jar=jar, proxy=self._proxy)

        transport = AiohttpTransport(client=session)
        return transport

    def hide(self, text: str, sent: str = "") -> str:
        """Return the text with "[key]" for each secret that was not in the body that was `sent`.

        What the judged texts say as well is a word, and a server may well repeat it.
        """
        for secret in self._secrets:
            if secret in text and secret not in sent:
                text = text.replace(secret, "[key]")
        return text

    def answer(self, response: httpx2.Response, sent: str = "") -> Answer:
        """Return what a response says, in UTF-8 and without secrets."""
        text = self.hide(response.content.decode(errors="replace"), sent)
        url = str(response.request.url)
        return Answer(response.status_code, response.headers, text.encode(), url)

    def failure(self, error: Exception, sent: str = "") -> Failure:
        """Return what one of the `ERRORS` means that a client raised."""
        if isinstance(error, APIStatusError):
            return from_refusal(self.answer(error.response, sent), self.hide)
        return from_error(error, self.hide)


def _url(base_url: str) -> httpx2.URL:
    try:
        return httpx2.URL(base_url)
    except (httpx2.InvalidURL, ValueError) as error:
        raise ConfigError(
            f"setting base_url = {brief(repr(base_url))}: no address ({brief(str(error))}); "
            "try http://localhost:8000/v1"
        ) from None


def _proxy(server: httpx2.URL) -> str | None:
    """Return the environment's proxy to the server, or None.

    Raises:
        ConfigError: it is no HTTP proxy. The transport would speak HTTP to a SOCKS proxy, too.
    """
    found = getproxies()
    proxy = found.get(server.scheme) or found.get("all")
    if not proxy or server.host in _LOOPBACK or proxy_bypass(server.netloc.decode("ascii")):
        return None
    proxy = proxy if "://" in proxy else f"http://{proxy}"
    try:
        url = httpx2.URL(proxy)
        sound = url.scheme in _PROXIES and bool(url.host) and not _NO_HOST.search(url.host)
    except (httpx2.InvalidURL, ValueError):
        sound = False
    if not sound:
        raise ConfigError(
            f"the {server.scheme} proxy in the environment is no address of an HTTP proxy (not "
            "repeated here, as it may hold a password); try http://host:port, or unset it"
        )
    return proxy


def _account() -> list[str]:
    """Return what the environment says of an account at OpenAI, value by value.

    Raises:
        ConfigError: no header can hold it.
    """
    values = list[str]()
    for name in _ACCOUNT:
        for line in os.environ.get(name, "").splitlines():
            if not _fits_header(line):
                raise ConfigError(f"{name} in the environment: it holds what no header can")
            values.append(line.partition(":")[2].strip() if name == _ACCOUNT[-1] else line)
    return values


def _fits_header(text: str) -> bool:
    return text.isascii() and text.isprintable()
