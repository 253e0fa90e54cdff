"""A server: its address, the secrets that it is sent, and the SDK's client for it."""

import re
from collections.abc import Mapping
from ssl import PROTOCOL_TLS_CLIENT, SSLContext
from typing import Final

import httpx2

from judge import __version__
from judge.backends.openai.failures import brief
from judge.backends.openai.sdk import AsyncOpenAI, DefaultAioHttpClient, Omit
from judge.config import SECRET_HEADER
from judge.errors import ConfigError

SOCKETS: Final = 4096
"""The limit on sockets, beyond that of the pace; the SDK's own limit is 1,000."""
_CONNECT_SECONDS: Final = 15.0
"""A running server accepts a connection sooner, even a busy one."""
_KEEPALIVE_SECONDS: Final = 4.0
"""uvicorn closes an idle socket after 5 seconds, and a request that is sent then is lost."""
_OPENAI: Final = ".api.openai.com"
"""The end of the names of OpenAI's own hosts, one for each region, with a dot before each."""
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_SHORTEST_SECRET: Final = 8
"""A shorter key is a placeholder ("EMPTY", "none"); replacing it would garble messages."""
_SCHEME: Final = re.compile(r"\s*(?:basic|bearer|token)\s", re.IGNORECASE)
"""Matches the name of a scheme before the token in a header."""
_ESCAPES: Final = ("\\u", "\\/")
"""How JSON may begin a character of a secret; most replies have no such escape."""
NO_HEADERS: Final[Mapping[str, str]] = {}


class _OtherServer(AsyncOpenAI):
    """The SDK's client for a server that is not OpenAI's: it sends no header of the environment."""

    own_headers: Mapping[str, str]

    @property
    def default_headers(self) -> dict[str, str | Omit]:
        json = "application/json"
        return {"Accept": json, "Content-Type": json, **self.own_headers}


class Server:
    """One server, and the secrets that its requests hold; no text shows a secret.

    An empty key is sent as "none". Additional `headers` override all others. A malformed address
    or key raises ConfigError.
    """

    def __init__(
        self, base_url: str, api_key: str = "", headers: Mapping[str, str] = NO_HEADERS
    ) -> None:
        self._key = api_key.strip() or "none"
        if not (self._key.isascii() and self._key.isprintable()):
            raise ConfigError("OPENAI_API_KEY holds characters that no key has; copy it again")
        try:
            self._url = httpx2.URL(base_url)
        except (httpx2.InvalidURL, ValueError) as error:
            raise ConfigError(
                f"setting base_url = {brief(repr(base_url))}: no address ({brief(str(error))}); "
                "try http://localhost:8000/v1"
            ) from None
        self._headers = {"User-Agent": f"judge/{__version__}", **headers}
        self.host: Final = self._url.netloc.decode("ascii")
        """Host name, and the port if the address has one."""
        path = self._url.raw_path.decode("ascii").rstrip("/")
        self.base_url: Final = f"{self._url.scheme}://{self.host}{path}"
        """The address without a slash at its end."""
        secrets = [self._key]
        for name, value in headers.items():
            in_words = SECRET_HEADER.search(name) or _SCHEME.match(value)
            secrets += (value.strip(), *(value.split() if in_words else ()))
        self._secrets = {each: _pattern(each) for each in secrets if len(each) >= _SHORTEST_SECRET}

    def open(self, timeout: float, *, read: float | None = None, retries: int = 0) -> AsyncOpenAI:
        """Return a client that follows no redirects; a malformed proxy raises ConfigError.

        It connects within `timeout` seconds, reads each part of a response within `read`, and
        repeats a request that failed `retries` times.
        """
        is_openai = self._url.scheme == "https" and f".{self._url.host}".endswith(_OPENAI)
        # A proxy for the outside world does not lead to this machine.
        direct = ("all://", "http://", "https://") if self._url.host in _LOOPBACK else ()
        # Loading the certificates of the system takes longer than a local server's reply.
        no_tls = direct and self._url.scheme == "http"
        try:
            http = DefaultAioHttpClient(
                follow_redirects=False,
                limits=httpx2.Limits(max_connections=SOCKETS, keepalive_expiry=_KEEPALIVE_SECONDS),
                mounts=dict.fromkeys(direct),
                verify=SSLContext(PROTOCOL_TLS_CLIENT) if no_tls else True,
            )
        except (ValueError, httpx2.InvalidURL):
            raise ConfigError(
                "a proxy in the environment is no address of an HTTP proxy (not repeated here, as "
                "it may hold a password); try http://host:port, or unset it"
            ) from None
        except OSError as error:
            raise ConfigError(
                "the certificates cannot be read that SSL_CERT_FILE or SSL_CERT_DIR names "
                f"({error.strerror or error}); mend that variable, or unset it"
            ) from None
        client = (AsyncOpenAI if is_openai else _OtherServer)(
            api_key=self._key,
            admin_api_key="",
            base_url=self.base_url,
            timeout=httpx2.Timeout(read, connect=min(_CONNECT_SECONDS, timeout)),
            max_retries=retries,
            default_headers=self._headers,
            http_client=http,
        )
        if isinstance(client, _OtherServer):
            client.own_headers = self._headers
        return client

    def hide(self, text: str, sent: bytes = b"") -> str:
        """Return the text with "[key]" for each secret that was not in the body that was `sent`.

        A word of the judged texts is no secret, and a server may repeat it.
        """
        is_escaped = any(map(text.__contains__, _ESCAPES))
        for secret, pattern in self._secrets.items():
            if (is_escaped or secret in text) and secret.encode() not in sent:
                text = pattern.sub("[key]", text)
        return text


def _pattern(secret: str) -> re.Pattern[str]:
    """Return a pattern of a secret, as it is or in escapes of JSON, also of JSON within JSON."""
    either = (rf"\\{{0,7}}(?:{re.escape(char)}|(?i:u{ord(char):04x}))" for char in secret)
    return re.compile("".join(either))
