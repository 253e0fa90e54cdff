"""The server: it listens, drains when it is told to stop, and cuts off who keeps it waiting."""

import asyncio
import contextlib
import gc
import signal
import socket
import sys
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from weakref import WeakKeyDictionary

import uvicorn

from judge.config import SERVICE_TOKENS, Config
from judge.errors import ConfigError, WorkerLost
from judge.pool import at_once
from judge.service.access import Access, Names, Tokens, is_loopback
from judge.service.admission import Slots
from judge.service.app import application, labelling
from judge.service.batches import Batches
from judge.service.live import Limits, Service
from judge.service.monitoring import LOG, Metrics

_IDLE: Final = 20.0
"""Seconds for a request's head to come."""
_STUCK: Final = 60.0
"""Seconds for a client to read any of what waits for it."""
_LOOK: Final = 20
"""Ticks of a tenth of a second between two looks."""
_BACKLOG: Final = 2048
"""Clients that may wait to be let in."""
_LOOPBACK: Final = "127.0.0.1"
_DRAIN: Final = 30.0
"""Seconds that live requests have to end, once it is to stop."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where the service is reached, and by whom."""

    host: str = "127.0.0.1"
    port: int = 8080
    tokens: Tokens = field(default_factory=lambda: Tokens({}))
    names: tuple[str, ...] = ()

    def check(self) -> None:
        """Raise `ConfigError` where it could be reached by anybody."""
        if not self.tokens and not is_loopback(self.host):
            raise ConfigError(
                f"--host {self.host!r} is reached from elsewhere, and no token is asked for: set "
                f"{SERVICE_TOKENS} to NAME:TOKEN, or listen at 127.0.0.1"
            )


class Server(uvicorn.Server):
    """Leaves signals to us, and looks after its connections."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._still: WeakKeyDictionary[Any, tuple[object, float]] = WeakKeyDictionary()
        """The bytes that a client has yet to read, its last request, and since when."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave them to `serve`."""
        yield

    async def on_tick(self, counter: int) -> bool:
        """Ten times a second."""
        if counter % _LOOK == 0:
            self.sweep(time.monotonic())
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """As uvicorn does, which leaves lines open that are not read, or come in meanwhile."""
        # asyncio drops, and leaves open, whom it is letting in as it stops to listen.
        for listening in sockets or ():
            asyncio.get_running_loop().remove_reader(listening)
        for _ in range(3):
            await asyncio.sleep(0)
        await super().shutdown(sockets)
        for each in list(self.server_state.connections):
            each.transport.abort()
        await asyncio.gather(*self.server_state.tasks, return_exceptions=True)
        while self.server_state.connections:  # noqa: ASYNC110  no line tells of its end
            await asyncio.sleep(0)

    def sweep(self, now: float) -> None:
        """Close connections whose request does not come, or whose client reads nothing."""
        for each in list(self.server_state.connections):
            cycle, line = getattr(each, "cycle", None), getattr(each, "transport", None)
            if line is None:
                continue
            unread = line.get_write_buffer_size()
            idle = not unread and (cycle is None or cycle.response_complete)
            # Whoever reads slowly, or asks now and then, is found otherwise at each look.
            found = unread, cycle
            before, since = self._still.get(each, (None, now))
            if not (idle or unread) or found != before:
                self._still[each] = found, now
            elif now - since > (_IDLE if idle else _STUCK):
                line.abort()


@contextlib.asynccontextmanager
async def opened(
    config: Config, data: Path, limits: Limits, address: Address
) -> AsyncGenerator[tuple[Service, Server]]:
    """A service with its evaluator and its batches open, and what is to serve it.

    Raises:
        ConfigError: anybody could reach it, or a setting is wrong.
        JudgeUnavailable: the judge cannot be asked.
        RunError: another service holds the folder.
    """
    address.check()
    metrics = Metrics()
    slots = Slots(at_once(config))
    batches = Batches(data, config, slots, limits.running, metrics)
    service = Service(config, limits, slots, batches, metrics)
    app = application(service, address.tokens, Names(address.host, address.names))
    async with service.evaluator, batches:
        yield service, server_of(app)


def server_of(app: Access) -> Server:
    """What is to serve an application."""
    return Server(
        uvicorn.Config(
            app,
            http="h11",
            ws="none",
            loop="asyncio",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            backlog=_BACKLOG,
            timeout_graceful_shutdown=5,
        )
    )


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens there; ConfigError where none can."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Named, for only then does asyncio send what is small at once, and not 40 ms later.
    made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((host.strip("[]"), port))
        made.listen(_BACKLOG)
    except OSError as error:
        made.close()
        raise ConfigError(f"--host {host} --port {port}: {error.strerror}; name another") from None
    return made


async def serve(
    config: Config,
    data: Path,
    limits: Limits,
    address: Address,
    started: Callable[[str], None] = lambda _: None,
) -> int:
    """Serve until a signal says to stop; returns which. Errors as of `opened`."""
    stopping: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    with listen(address.host, address.port) as line:
        async with opened(config, data, limits, address) as (service, server):
            with _signals(stopping):
                gc.freeze()  # what is there stays: no collection need walk through it again
                serving = asyncio.create_task(server.serve([line]))
                shown = f"[{address.host}]" if ":" in address.host else address.host
                started(f"http://{shown}:{line.getsockname()[1]}")
                lost = asyncio.create_task(service.lost.wait())
                ends = (serving, stopping, lost)
                await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
                lost.cancel()
                await drained(service)
                server.should_exit = True
                await serving
    if service.lost.is_set():
        raise WorkerLost("a process that computes has ended; start the service anew")
    return stopping.result() if stopping.done() else 0


async def serve_labels(run: Path, port: int, started: Callable[[str], None]) -> int:
    """Serve the page to label a run on, to this machine alone, until a signal; returns which."""
    stopping: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    with listen(_LOOPBACK, port) as line, _signals(stopping):
        server = server_of(labelling(run, _LOOPBACK))
        serving = asyncio.create_task(server.serve([line]))
        started(f"http://{_LOOPBACK}:{line.getsockname()[1]}")
        await stopping
        server.should_exit = True
        await serving
    return stopping.result()


async def drained(service: Service) -> None:
    """Take no more work, and see to the end of what is live; batches stop where they are."""
    service.draining = True
    LOG.info("draining")
    stopping = asyncio.create_task(service.batches.drain())
    until = time.monotonic() + _DRAIN
    while service.live and time.monotonic() < until:  # noqa: ASYNC110  no request tells of its end
        await asyncio.sleep(0.02)
    await stopping


@contextlib.contextmanager
def _signals(stopping: "asyncio.Future[int]") -> Iterator[None]:
    """The first signal is kept in the future; a second ends the process at once."""
    loop = asyncio.get_running_loop()
    before: dict[signal.Signals, Any] = {}

    def stop(number: int) -> None:
        if stopping.done():
            sys.stderr.flush()
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        stopping.set_result(number)

    for number in (signal.SIGTERM, signal.SIGINT):
        with contextlib.suppress(ValueError, RuntimeError, NotImplementedError):  # no main thread
            before[number] = signal.getsignal(number)
            loop.add_signal_handler(number, stop, number)
    try:
        yield
    finally:
        for number, handler in before.items():
            with contextlib.suppress(ValueError, RuntimeError, NotImplementedError):
                loop.remove_signal_handler(number)
                signal.signal(number, handler)
