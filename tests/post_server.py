"""An HTTP server on loopback for webhooks, with scripted replies and failures."""

import json
import ssl
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from aiohttp import web
from pydantic import JsonValue

from tests.replies import Answer, Status
from tests.server import JudgeServer, send

SELF_SIGNED: Final = """\
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgIOk85oe2STWNdDbj
Pz4Z75obNl/Mtw/MNJLbt3u4w7ShRANCAASm4ez95oeONBvrhPbKvRElVM83Mx6g
ojTo7oVAPZIleHASobfaZVO774CSZxGVGd0BjVdUYnYIqPCtug1/qumC
-----END PRIVATE KEY-----
-----BEGIN CERTIFICATE-----
MIIBbjCCARWgAwIBAgIUDg/0936nxwV3jLbI7EygZkt4xKowCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJMTI3LjAuMC4xMCAXDTIwMDEwMTAwMDAwMFoYDzIxMjAwMTAx
MDAwMDAwWjAUMRIwEAYDVQQDDAkxMjcuMC4wLjEwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAASm4ez95oeONBvrhPbKvRElVM83Mx6gojTo7oVAPZIleHASobfaZVO7
74CSZxGVGd0BjVdUYnYIqPCtug1/qumCo0MwQTAPBgNVHRMBAf8EBTADAQH/MA8G
A1UdEQQIMAaHBH8AAAEwHQYDVR0OBBYEFO6XgfDQPo5RxbRXabmMDG07u8zPMAoG
CCqGSM49BAMCA0cAMEQCIDd9GyF67yZOLnrrEVX8aVXlqP90PW8cYXOo4zAe6O8a
AiAfvQwg/RwWxucrlmoa00ihf+LQ2ApX2DUHr/eyc4SHVw==
-----END CERTIFICATE-----
"""
"""Test data: a self-signed certificate of 127.0.0.1, valid from 2020 to 2120, and its key."""


@dataclass(frozen=True)
class Posted:
    """A received request."""

    path: str
    headers: Mapping[str, str]
    raw: bytes

    @property
    def body(self) -> dict[str, JsonValue]:
        """The body as JSON."""
        parsed: dict[str, JsonValue] = json.loads(self.raw)
        return parsed


class PostServer(JudgeServer):
    """A server that takes requests at any path while its `with` block lasts.

    Args:
        replies: to the first request, the second and so on; the last stays.
        tls: whether it speaks https, with the certificate `SELF_SIGNED`.
    """

    def __init__(self, *replies: Answer, tls: bool = False) -> None:
        super().__init__()
        self._replies = replies or (Status(200, None),)
        self._tls = tls
        self.posted: list[Posted] = []

    @property
    def origin(self) -> str:
        """The address without a path."""
        origin = self.base_url.removesuffix("/v1")
        return origin.replace("http:", "https:") if self._tls else origin

    @property
    def url(self) -> str:
        """The address, with a secret in path and query."""
        return f"{self.origin}/services/T0/s3cret?token=s3cret"

    def add_routes(self, router: web.UrlDispatcher) -> None:
        router.add_post("/{path:.*}", self._post)

    def certificate(self) -> ssl.SSLContext | None:
        if not self._tls:
            return None
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "pair.pem")
            path.write_text(SELF_SIGNED)
            context.load_cert_chain(path)
        return context

    async def _post(self, request: web.Request) -> web.StreamResponse:
        reply = self._replies[min(len(self.posted), len(self._replies) - 1)]
        self.posted.append(Posted(request.path_qs, request.headers, await request.read()))
        return await send(request, reply)
