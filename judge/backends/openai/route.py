"""The way to a server: its address, a proxy before it, and the headers of each request."""

import os
import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Self
from urllib.request import getproxies, proxy_bypass

import aiohttp
import httpx2

from judge.address import check_headers
from judge.backends.openai.failures import brief
from judge.errors import ConfigError
from judge.signature import release

_OPENAI: Final = ".api.openai.com"
"""Ends the names of OpenAI's own hosts, one for each region; a dot stands before each."""
_ACCOUNT: Final = {
    "OPENAI_ORG_ID": "openai-organization",
    "OPENAI_PROJECT_ID": "openai-project",
    "OPENAI_CUSTOM_HEADERS": "",
}
"""Variables and the headers they fill; the last holds a header a line, with its name."""
_PORTS: Final = {"http": 80, "https": 443}
_LAST_PORT: Final = 65_535
_NO_HOST: Final = re.compile(r"[\s%]")
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
"""A proxy set for the outside world does not lead to this machine."""


@dataclass(frozen=True, slots=True, repr=False)
class Route:
    """What every request to one server has in common; it holds secrets."""

    host: str
    """With the port, if one is named."""
    base_url: str
    """Without a slash at its end."""
    headers: dict[str, str]
    """By names in small letters."""
    secrets: tuple[str, ...]
    """Values of those that nobody else may read, the key aside."""
    proxy: str | None
    """Its address, without a password."""
    proxy_headers: dict[str, str]
    """For the proxy alone."""

    @classmethod
    def to(cls, base_url: str, key: str, given: Mapping[str, str]) -> Self:
        """The way to this address with this key and these headers, which win over ours.

        Raises:
            ConfigError: the address leads nowhere, or a proxy of the environment does not.
        """
        url = _url(base_url)
        host, path = url.netloc.decode("ascii"), url.raw_path.decode("ascii").rstrip("/")
        private = _account(url) | {name.lower(): text for name, text in given.items()}
        headers, to_proxy = _headers(key) | private, dict[str, str]()
        proxy = _proxy(url)
        if proxy and proxy.auth:
            word = {"proxy-authorization": aiohttp.encode_basic_auth(*proxy.auth)}
            # What is encrypted passes a proxy unread: it is told beforehand, and nobody else is.
            (to_proxy if url.scheme == "https" else headers).update(word)
        address = str(proxy.url) if proxy else None
        secrets = tuple(private.values())
        return cls(host, f"{url.scheme}://{host}{path}", headers, secrets, address, to_proxy)

    def certificates(self) -> ssl.SSLContext | bool:
        """What a server or proxy is known by, read where one is to prove itself."""
        encrypted = any(url.startswith("https:") for url in (self.base_url, self.proxy or ""))
        return httpx2.create_ssl_context() if encrypted else True


def _url(base_url: str) -> httpx2.URL:
    try:
        return httpx2.URL(base_url)
    except (httpx2.InvalidURL, ValueError) as error:
        raise ConfigError(
            f"setting base_url = {brief(repr(base_url))}: no address ({brief(str(error))}); "
            "try http://localhost:8000/v1"
        ) from None


def _proxy(server: httpx2.URL) -> httpx2.Proxy | None:
    """The environment's proxy to the server.

    Raises:
        ConfigError: a proxy is no address of one, and is not repeated; or the server's is a SOCKS
            proxy: the transport would speak HTTP to it, key and all.
    """
    found = {
        scheme: url if "://" in url else f"http://{url}"
        for scheme, url in getproxies().items()
        if url
    }
    place = server.netloc.decode("ascii")
    place += "" if server.port else f":{_PORTS.get(server.scheme, 0)}"
    direct = server.host in _LOOPBACK or proxy_bypass(server.host) or proxy_bypass(place)
    used = None if direct else server.scheme if server.scheme in found else "all"
    for scheme in ("http", "https", "all"):
        problem = ""
        try:
            made = httpx2.Proxy(found.get(scheme, "http://h"))
            aiohttp.encode_basic_auth(*(made.auth or ("", "")))
            proxy = made.url
            proxy.host.encode("idna")
            if not proxy.host or _NO_HOST.search(proxy.host) or (proxy.port or 0) > _LAST_PORT:
                problem = "is no address of a proxy"
            elif scheme == used and proxy.scheme.startswith("socks"):
                problem = "names a SOCKS proxy, which no model is asked through"
        except (httpx2.InvalidURL, ValueError):
            problem = "is no address of a proxy"
        if problem:
            name = f"{scheme}_proxy"
            name = name if os.environ.get(name) else name.upper()
            raise ConfigError(
                f"{name} in the environment {problem} (not repeated here, as it may hold a "
                "password); try http://host:port, or unset it"
            )
    return httpx2.Proxy(found[used]) if used in found else None


def _headers(key: str) -> dict[str, str]:
    return {
        "authorization": f"Bearer {key}",
        "content-type": "application/json",
        "accept": "application/json",
        "user-agent": f"judge/{release('judge')}",
    }


def _account(server: httpx2.URL) -> dict[str, str]:
    """What the environment holds of an account at OpenAI, and headers meant for that.

    Raises:
        ConfigError: no header can hold it; it is not repeated.
    """
    if server.scheme != "https" or not f".{server.host}".endswith(_OPENAI):
        return {}
    headers = dict[str, str]()
    for variable, name in _ACCOUNT.items():
        text = os.environ.get(variable, "")
        lines = [f"{name}:{text}"] if name and text else text.splitlines()
        named = (line.partition(":") for line in lines)
        found = {each.strip().lower(): value.strip() for each, colon, value in named if colon}
        try:
            check_headers(found)
        except ValueError as error:
            raise ConfigError(f"{variable} in the environment: {error}") from None
        headers |= found
    return headers
