"""The connection to Ray."""

import contextlib
import logging
import os
import signal
import socket
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import ray
import ray.data
from ray.exceptions import RayError, RayTaskError, UserCodeException

from judge.errors import ConfigError, WorkerLost
from judge.jobs.job import TICK_SECONDS, Watcher
from judge.pool import cores

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # no telemetry
os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")

_LOOPBACK: Final = "127.0.0.1"
_CONNECT_SECONDS: Final = 10.0
_HTTP2_HELLO: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes((0, 0, 0, 4, 0, 0, 0, 0, 0))
"""The beginning of HTTP/2, and so of Ray's gRPC."""
_AUTH: Final = "RAY_AUTH_MODE"


@contextmanager
def ticking(watcher: Watcher, text: str = "") -> Iterator[None]:
    """Call the watcher's `on_tick` from a thread, with what is done meanwhile."""
    done = threading.Event()

    def tick() -> None:
        while not done.wait(TICK_SECONDS):
            watcher.on_tick(text)

    ticker = threading.Thread(target=tick, daemon=True)
    ticker.start()
    try:
        yield
    finally:
        done.set()
        ticker.join(2 * TICK_SECONDS)  # it may wait for a cluster that is gone


def reason(error: RayError) -> str:
    """Return the first line of an error of Ray's own; raise the error if it is a bug of ours."""
    cause = error.cause if isinstance(error, RayTaskError) else error
    if not isinstance(cause, RayError) or isinstance(cause, UserCodeException):
        raise error
    return str(cause).partition("\n")[0]


@contextmanager
def connected(address: str | None) -> Iterator[None]:
    """Connect to a Ray cluster, or start one here; one that runs in this process stays as it is.

    Raises:
        ConfigError: the cluster cannot be reached or started.
        WorkerLost: it is lost meanwhile.
    """
    if ray.is_initialized():
        with _quiet():
            yield
        return
    with _quiet():
        _connect(address)
        try:
            yield
        except RayError as error:
            raise WorkerLost(f"Ray: {reason(error)}; the same command goes on from there") from None
        finally:
            ray.shutdown()


def _connect(address: str | None) -> None:
    option = f"--address {address}" if address else f"RAY_ADDRESS {os.environ.get('RAY_ADDRESS')}"
    address = address or os.environ.get("RAY_ADDRESS") or "local"
    options: dict[str, object] = {}
    if address == "local":
        options = {"num_cpus": cores(), "include_dashboard": False, "_node_ip_address": _LOOPBACK}
    host, _, port = address.rpartition(":")
    handler = signal.getsignal(signal.SIGTERM)
    try:
        if host and port.isdecimal() and "//" not in host:
            _greet(host, int(port))
        # Ray puts the driver's working folder on the import path of its workers.
        with _silent(), contextlib.chdir("/"):
            ray.init(address, log_to_driver=False, logging_level="ERROR", **options)
    except (OSError, ValueError, RuntimeError, RayError) as error:
        why = str(error).partition("\n")[0].partition(". ")[0]
        step = "" if _AUTH in os.environ else f", set {_AUTH}=token where it asks for a token"
        message = f"{option}: {why}; start Ray there{step}, or leave it out"
        if options:
            message = f"Ray cannot be started here: {why}; RAY_TMPDIR names another folder for it"
        raise ConfigError(message) from None
    finally:
        if threading.current_thread() is threading.main_thread():
            # Ray's own handler ends the process without a word.
            signal.signal(signal.SIGTERM, handler)


def _greet(host: str, port: int) -> None:
    """Raise OSError if no server answers HTTP/2 there: `ray.init` would try for ever."""
    with socket.create_connection((host, port), _CONNECT_SECONDS) as line:
        line.sendall(_HTTP2_HELLO)
        line.recv(1)


@contextmanager
def _silent() -> Iterator[None]:
    """Close standard error meanwhile: Ray's C++ announces its log level there."""
    stderr = os.dup(2)
    with Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(stderr, 2)
        os.close(stderr)


@contextmanager
def _quiet() -> Iterator[None]:
    """Hide Ray Data's plans, and its warnings about idle actors."""
    for name in ("ray", "ray.data"):
        logging.getLogger(name).setLevel(logging.ERROR)
    ray.data.DataContext.get_current().enable_progress_bars = False
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The m(in|ax)imum number of concurrent", UserWarning)
        yield
