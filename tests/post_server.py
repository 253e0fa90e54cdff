"""An HTTP server on loopback for webhooks, with scripted replies and failures."""

import json
import socket
import ssl
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final, Self

from pydantic import JsonValue


@dataclass(frozen=True)
class Reply:
    """A status, headers beside it, and a body."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


HANG: Final = Reply(0)
"""The server takes the request and never answers."""
BREAK: Final = Reply(-1)
"""The server takes the request and closes the connection."""
TRICKLE: Final = Reply(-2)
"""The server begins a head and sends a byte of it from time to time."""


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
    headers: Message
    raw: bytes

    @property
    def body(self) -> dict[str, JsonValue]:
        """The body as JSON."""
        parsed: dict[str, JsonValue] = json.loads(self.raw)
        return parsed


class _Server(ThreadingHTTPServer):
    request_queue_size = 128  # at the default of 5 a burst of clients waits a second to connect


class PostServer:
    """A server that runs while its `with` block lasts.

    Args:
        replies: to the first request, the second and so on; the last stays.
        tls: whether it speaks https, with the certificate `SELF_SIGNED`.
    """

    def __init__(self, *replies: Reply, tls: bool = False) -> None:
        self._replies = replies or (Reply(),)
        self._closing = threading.Event()
        self._lock = threading.Lock()
        self.posted: list[Posted] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                server.take(self)

            def log_message(self, *_: object) -> None:
                """Print nothing."""

        self._server = _Server(("127.0.0.1", 0), Handler)
        self._scheme = "https" if tls else "http"
        if tls:
            self._server.socket = _secured(self._server.socket)
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.005}
        )
        self.port = self._server.server_address[1]

    @property
    def url(self) -> str:
        """The address, with a secret in path and query."""
        return f"{self._scheme}://127.0.0.1:{self.port}/services/T0/s3cret?token=s3cret"

    def take(self, handler: BaseHTTPRequestHandler) -> None:
        """Handle a request on its own thread."""
        body = handler.rfile.read(int(handler.headers["Content-Length"]))
        with self._lock:
            reply = self._replies[min(len(self.posted), len(self._replies) - 1)]
            self.posted.append(Posted(handler.path, handler.headers, body))
        if reply is HANG:
            self._closing.wait(10)
        elif reply is TRICKLE:
            handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Long: ")
            while not self._closing.wait(0.005):
                handler.wfile.write(b"x")
        if reply.status > 0:
            handler.send_response(reply.status)
            for name, value in reply.headers.items():
                handler.send_header(name, value)
            handler.end_headers()
            handler.wfile.write(reply.body)
        handler.close_connection = True

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def _secured(plain: socket.socket) -> ssl.SSLSocket:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "pair.pem")
        path.write_text(SELF_SIGNED)
        context.load_cert_chain(path)
    return context.wrap_socket(plain, server_side=True)
