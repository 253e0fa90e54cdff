"""A real HTTP server on loopback that takes what a webhook posts, or fails to, as it is told."""

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Final, Self

from pydantic import JsonValue


@dataclass(frozen=True)
class Reply:
    """A status, and headers beside it."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


HANG: Final = Reply(0)
"""Takes the request and never answers."""
BREAK: Final = Reply(-1)
"""Takes the request and closes the connection."""
TRICKLE: Final = Reply(-2)
"""Begins a head that does not end, with a byte from time to time."""


@dataclass(frozen=True)
class Posted:
    """What arrived."""

    path: str
    headers: Message
    body: dict[str, JsonValue]


class _Server(ThreadingHTTPServer):
    request_queue_size = 128  # at the default of 5 a burst of clients waits a second to connect


class PostServer:
    """Serves while its `with` block lasts.

    Args:
        replies: to the first request, the second and so on; the last stays.
    """

    def __init__(self, *replies: Reply) -> None:
        self._replies = replies or (Reply(),)
        self._closing = threading.Event()
        self._lock = threading.Lock()
        self.posted: list[Posted] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                server.take(self)

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self._server = _Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.005}
        )
        self.port = self._server.server_address[1]

    @property
    def url(self) -> str:
        """With a path that counts as secret."""
        return f"http://127.0.0.1:{self.port}/services/T0/s3cret?token=s3cret"

    def take(self, handler: BaseHTTPRequestHandler) -> None:
        """Handle one request, on a thread of its own."""
        body = handler.rfile.read(int(handler.headers["Content-Length"]))
        with self._lock:
            reply = self._replies[min(len(self.posted), len(self._replies) - 1)]
            self.posted.append(Posted(handler.path, handler.headers, json.loads(body)))
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
        handler.close_connection = True

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
