"""The server: uvicorn with a time-out for request heads, until a signal."""

import asyncio
import gc
import signal
import socket
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, Final

import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from judge.config import Config
from judge.errors import ConfigError
from judge.pool import at_once, sockets
from judge.service.monitoring import LOG
from judge.service.requests import LIVE_TASK

_BACKLOG: Final = 100
"""Connections that asyncio accepts at a time, before it closes the ones that are too many."""
_MAX_CONNECTIONS: Final = 1000
_HEAD_SECONDS: Final = 20.0
_MAX_HEAD_BYTES: Final = 1 << 16
_UNREAD_SECONDS: Final = 60.0
_KEEPALIVE_SECONDS: Final = 20
_SHUTDOWN_SECONDS: Final = 30


class Connection(HttpToolsProtocol):
    """A connection that is closed when the head of a request takes too long, or is too long.

    Where there are too many, the one that has waited longest for a request is closed. See `# D123`.
    """

    head_seconds = _HEAD_SECONDS
    _head_bytes = 0
    """Bytes since the last head or piece of a body was complete, those of trailers included."""

    def data_received(self, data: bytes) -> None:
        """Parse the next bytes."""
        self._head_bytes += len(data)
        super().data_received(data)
        if self._head_bytes > _MAX_HEAD_BYTES:
            self.transport.abort()

    def on_headers_complete(self) -> None:
        """Begin to serve a request."""
        self._head_bytes = 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Take a piece of a body."""
        self._head_bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """End a request."""
        self._head_bytes = 0
        super().on_message_complete()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first request."""
        super().connection_made(transport)
        self._await_head()
        lines: Iterable[Any] = self.connections
        still_open = [each for each in lines if not each.transport.is_closing()]
        if len(still_open) >= (self.limit_concurrency or 0):
            waiting = [
                each for each in still_open if not each.cycle or each.cycle.response_complete
            ]
            min(waiting, key=lambda each: each.waits_since).transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel what is judged for the client."""
        super().connection_lost(exc)
        scope: Any = self.cycle.scope if self.cycle else {}
        if (task := scope.pop(LIVE_TASK, None)) is not None:
            task.cancel()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._await_head()

    def _await_head(self) -> None:
        last = self.cycle
        self.waits_since = self.loop.time()

        def close() -> None:
            if self.cycle is last:
                self.transport.abort()

        self.loop.call_later(self.head_seconds, close)


def server_of(app: FastAPI, config: Config) -> uvicorn.Server:
    """Return the server of an application, which is also its `state.server`.

    Its connections leave enough open files for those to the judge's server.
    """
    connections = sockets() - at_once(config) - _BACKLOG
    app.state.server = server = uvicorn.Server(
        uvicorn.Config(
            app,
            http=Connection,
            ws="none",
            loop="asyncio",
            lifespan="off",  # `serve` enters it, so that its errors are the command's
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            backlog=_BACKLOG,
            limit_concurrency=int(max(1, min(_MAX_CONNECTIONS, connections))),
            timeout_keep_alive=_KEEPALIVE_SECONDS,
            timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
        )
    )
    return server


def listen(host: str, port: int, unread_seconds: float = _UNREAD_SECONDS) -> socket.socket:
    """Return a socket that listens; ConfigError if it cannot. The port 0 is a free one.

    The system closes a connection whose client reads nothing for `unread_seconds`.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Only for a socket that names TCP does asyncio send small responses at once.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if hasattr(socket, "TCP_USER_TIMEOUT"):  # Linux
            listening.setsockopt(
                socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(1000 * unread_seconds)
            )
        listening.bind((host.strip("[]"), port))
        listening.listen(_BACKLOG)
    except OSError as error:
        listening.close()
        raise ConfigError(f"--host {host} --port {port}: {error.strerror}; name another") from None
    return listening


async def serve(
    app: FastAPI, config: Config, host: str, port: int, on_start: Callable[[str], None]
) -> int:
    """Serve an application until a signal, and return its number; 0 if there was none.

    `on_start` is called with the URL.

    Raises:
        ConfigError: the address cannot be used.
        JudgeError: as entering the lifespan of the application.
        WorkerLost: a process of the evaluator has died.
    """
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    server = server_of(app, config)
    numbers: list[int] = []

    def stop(number: int) -> None:
        if not numbers:  # uvicorn raises the signal again at its end
            LOG.info("draining")
        numbers.append(number)
        server.should_exit = True
        if not server.started and task is not None:
            task.cancel()

    with suppress(NotImplementedError):  # Windows: uvicorn's own handlers, once it listens
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stop, number)
    try:
        with listen(host, port) as listening:
            async with app.router.lifespan_context(app):
                gc.freeze()  # modules are never freed
                name = f"[{host}]" if ":" in host else host
                on_start(f"http://{name}:{listening.getsockname()[1]}")
                await server.serve([listening])
    except asyncio.CancelledError:
        if not numbers:
            raise
    if (lost := getattr(app.state, "lost", None)) is not None:
        raise lost
    return numbers[0] if numbers else 0
