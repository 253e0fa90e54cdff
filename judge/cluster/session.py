"""The connection to Ray, and what is waited for meanwhile."""

import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

import ray
import ray.data
from ray.exceptions import RayError, RayTaskError, UserCodeException

from judge.errors import ConfigError, WorkerLost
from judge.jobs.job import TICK_SECONDS, Watcher
from judge.pool import cores

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is told to anybody
os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")

_HERE: Final = "127.0.0.1"
_PATIENCE: Final = 10.0
"""Seconds in which a cluster must be heard of."""
_HELLO: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes((0, 0, 0, 4, 0, 0, 0, 0, 0))
"""How HTTP/2 begins, and Ray's gRPC."""
_GUARD: Final = "import sys; sys.stdin.buffer.read() or sys.stderr.write(sys.argv[1])"
_ENDED: Final = (
    "judge: ended before its time: it was killed, or Ray, its head or this machine's part of it, "
    "is gone; the same command goes on from what is done\n"
)
_AUTH: Final = "RAY_AUTH_MODE"


@contextmanager
def ticking(watcher: Watcher, what: str | Callable[[], str] = "") -> Iterator[None]:
    """The watcher is told, on a thread, that time goes by, and what is done meanwhile."""
    done = threading.Event()

    def tick() -> None:
        while not done.wait(TICK_SECONDS):
            watcher.on_tick(what() if callable(what) else what)

    ticker = threading.Thread(target=tick, daemon=True)
    ticker.start()
    try:
        yield
    finally:
        done.set()
        ticker.join(2 * TICK_SECONDS)  # it may ask a cluster that is gone


def free() -> str:
    """How many processors are free, for somebody who waits for one; nothing where enough are."""
    try:
        left, every = (
            each.get("CPU", 0.0) for each in (ray.available_resources(), ray.cluster_resources())
        )
    except (RayError, RuntimeError):  # it may be gone
        return ""
    return f"{left:g} of {every:g} CPUs of the cluster free" if left < 1 else ""


@contextmanager
def connected(address: str | None) -> Iterator[None]:
    """Ray, connected to or started; one that runs in this process stays as it is."""
    if ray.is_initialized():
        with _quiet():
            yield
        return
    named = f"--address {address}" if address else f"RAY_ADDRESS {os.environ.get('RAY_ADDRESS')}"
    address = address or os.environ.get("RAY_ADDRESS") or "local"
    here: dict[str, object] = {}
    if address == "local":
        here = {"num_cpus": cores(), "include_dashboard": False, "_node_ip_address": _HERE}
    host, _, port = address.rpartition(":")
    chosen = _AUTH in os.environ
    with _quiet(), ExitStack() as held:
        try:
            if host and port.isdecimal() and "//" not in host:
                _greet(host, int(port))
            held.enter_context(_guarded())
            with _unseen(), _own_ends():
                ray.init(address, log_to_driver=False, logging_level="ERROR", **here)
        except (OSError, ValueError, RuntimeError, RayError) as error:
            step = "" if chosen else f", set {_AUTH}=token where it asks for a token"
            why = str(error).partition(". ")[0]
            told = f"{named}: {why}; start Ray there{step}, or leave it out"
            if here:
                told = f"Ray cannot be started here: {why}; RAY_TMPDIR names another folder for it"
            raise ConfigError(told) from None
        try:
            yield
        except RayError as error:
            met = error.cause if isinstance(error, RayTaskError) else error
            if not isinstance(met, RayError) or isinstance(met, UserCodeException):
                raise  # a mistake of ours
            why = str(met).partition("\n")[0]
            raise WorkerLost(f"Ray: {why}; the same command goes on from there") from None
        finally:
            ray.shutdown()


def _greet(host: str, port: int) -> None:
    """Raise OSError where nobody is heard who speaks as Ray does: it would try for ever."""
    with socket.create_connection((host, port), _PATIENCE) as line:
        line.sendall(_HELLO)
        line.recv(1)


@contextmanager
def _guarded() -> Iterator[None]:
    """A process says what happened where Ray ends this one without a word, which it does."""
    words = (sys.executable, "-I", "-S", "-c", _GUARD, _ENDED)
    with subprocess.Popen(words, stdin=subprocess.PIPE, start_new_session=True) as guard:  # noqa: S603  our own
        try:
            yield
        finally:
            guard.communicate(b"all is well")


@contextmanager
def _own_ends() -> Iterator[None]:
    """SIGTERM stays as it is heard: Ray ends the process without a word."""
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, before)


@contextmanager
def _quiet() -> Iterator[None]:
    """Ray Data tells of its plans, and warns of actors that have little to do: nobody's concern."""
    for name in ("ray", "ray.data"):
        logging.getLogger(name).setLevel(logging.ERROR)
    ray.data.DataContext.get_current().enable_progress_bars = False
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The m(in|ax)imum number of concurrent", UserWarning)
        yield


@contextmanager
def _unseen() -> Iterator[None]:
    """Ray's C++ says on standard error how much it is going to say there."""
    kept = os.dup(2)
    with Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
