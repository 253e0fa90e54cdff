"""The connection to Ray, and what is waited for meanwhile."""

import logging
import os
import queue
import socket
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

import ray
import ray.data

from judge.errors import ConfigError
from judge.job import BEAT, Watcher
from judge.processes import cores

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is told to anybody
os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
_T = TypeVar("_T")

_HERE: Final = "127.0.0.1"
_PATIENCE: Final = 10.0
"""Seconds in which a cluster must be heard of."""


def beaten(work: Callable[[], Iterable[_T]], watcher: Watcher) -> Iterator[_T]:
    """What work brings, made on a thread, while the watcher is told that time goes by."""
    come: queue.SimpleQueue[tuple[bool, Any]] = queue.SimpleQueue()

    given_up = threading.Event()

    def run() -> None:
        try:
            for each in work():
                if given_up.is_set():
                    return
                come.put((False, each))
            come.put((True, None))
        except BaseException as error:  # noqa: BLE001  raised where it is waited for
            come.put((True, error))

    threading.Thread(target=run, daemon=True).start()
    try:
        while True:
            try:
                last, value = come.get(timeout=BEAT)
            except queue.Empty:
                watcher.waiting("")
                continue
            if last and value is not None:
                raise value
            if last:
                return
            yield value
    finally:
        given_up.set()


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
