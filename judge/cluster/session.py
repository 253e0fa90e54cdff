"""The connection to Ray, and what is waited for meanwhile."""

import logging
import os
import socket
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import ray
import ray.data
from ray.exceptions import RayError, RayTaskError

from judge.errors import ConfigError, WorkerLost
from judge.job import BEAT, Watcher
from judge.processes import cores

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is told to anybody
os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")

_HERE: Final = "127.0.0.1"
_PATIENCE: Final = 10.0
"""Seconds in which a cluster must be heard of."""


@contextmanager
def ticking(watcher: Watcher, what: str = "") -> Iterator[None]:
    """The watcher is told, on a thread, that time goes by, and what is done meanwhile."""
    done = threading.Event()

    def tick() -> None:
        while not done.wait(BEAT):
            watcher.waiting(what)

    ticker = threading.Thread(target=tick, daemon=True)
    ticker.start()
    try:
        yield
    finally:
        done.set()
        ticker.join()


@contextmanager
def connected(address: str | None) -> Iterator[None]:
    """Ray, connected to or started; one that runs in this process stays as it is."""
    if ray.is_initialized():
        with _quiet():
            yield
        return
    address = address or os.environ.get("RAY_ADDRESS") or "local"
    here: dict[str, object] = {}
    if address == "local":
        here = {"num_cpus": cores(), "include_dashboard": False, "_node_ip_address": _HERE}
    host, _, port = address.rpartition(":")
    with _quiet():
        try:
            if host and port.isdecimal() and "//" not in host:  # Ray would try for minutes
                socket.create_connection((host, int(port)), _PATIENCE).close()
            with _unseen():
                ray.init(address, log_to_driver=False, logging_level="ERROR", **here)
        except (OSError, ValueError, RuntimeError) as error:
            told = f"--address {address}: {error}; start Ray there, or leave it out"
            raise ConfigError(told) from None
        try:
            yield
        except RayTaskError:
            raise  # a mistake of ours
        except RayError as error:
            why = str(error).partition("\n")[0]
            raise WorkerLost(f"Ray: {why}; the same command goes on from there") from None
        finally:
            ray.shutdown()


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
