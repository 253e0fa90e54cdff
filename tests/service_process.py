"""Services on loopback, in a thread of the test process or in another process."""

import asyncio
import hashlib
import json
import os
import re
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx

from judge.config import Config
from judge.service.app import application, listen, server_of
from judge.service.batches import BatchRecord, write_batch
from judge.service.requests import Limits, read_tokens
from tests.commands import judge, start

LOOPBACK = "127.0.0.1"
ROOT = Path(__file__).resolve().parents[1]
QUICKSTART = ROOT / "fixtures" / "quickstart.jsonl"


def judged(data: Path, name: str, samples: Path = QUICKSTART) -> None:
    """Make a finished batch in the folder of a service that has not started."""
    assert judge("score", samples, "-o", data / name).code == 0
    body = samples.read_bytes()
    digest = hashlib.sha256(body).hexdigest()
    record = BatchRecord(arrived="2026-01-01T00:00:00", sha256=digest)
    write_batch(data / name, record)


class Serving:
    """A context manager that serves from a thread."""

    def __init__(
        self,
        data: Path,
        config: Config | None = None,
        limits: Limits | None = None,
        tokens: str = "",
        unread_seconds: float = 60.0,
    ) -> None:
        self.data = data
        known = read_tokens(tokens)
        self._app = application(config or Config(), data, limits or Limits(), known, LOOPBACK)
        self.server = server_of(self._app, config or Config())
        self._unread_seconds = unread_seconds
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()))
        self._ready = threading.Event()
        self._error: BaseException | None = None
        self.url = ""

    async def _serve(self) -> None:
        try:
            with listen(LOOPBACK, 0, self._unread_seconds) as line:
                async with self._app.router.lifespan_context(self._app):
                    self.url = f"http://127.0.0.1:{line.getsockname()[1]}"
                    self._ready.set()
                    await self.server.serve([line])
        except BaseException as error:  # noqa: BLE001  raised where the block is entered, or left
            self._error = error
            self._ready.set()

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(20), "the service does not start"
        if self._error is not None:
            self._thread.join()
            raise self._error
        self.http = httpx.Client(base_url=self.url, timeout=30, trust_env=False)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: object, trace: TracebackType | None
    ) -> None:
        self.http.close()
        self.stop()

    def stop(self) -> None:
        """Stop the service; a second call does nothing."""
        self.server.should_exit = True
        self._thread.join()
        if self._error is not None:
            raise self._error

    def until(self, batch: str, *states: str) -> dict[str, Any]:
        """Wait for a state or the end of a batch, and return its status."""
        return until(self.http, batch, *states)


def until(
    http: httpx.Client, batch: str, *states: str, done: float = float("inf")
) -> dict[str, Any]:
    """Wait for a state, the end, or a number of done answers of a batch, and return its status."""
    wanted = {*states, "finished", "failed", "cancelled"}
    patience = time.monotonic() + 60
    while time.monotonic() < patience:
        found: dict[str, Any] = http.get(f"/v1/batches/{batch}").json()
        if found["state"] in wanted or found["done"] >= done:
            return found
        time.sleep(0.05)  # asking costs more than waiting
    raise AssertionError(f"batch {batch} is still {found['state']}")


@contextmanager
def process(
    data: Path, *words: object, environment: Mapping[str, str] | None = None
) -> Iterator[tuple[subprocess.Popen[str], httpx.Client]]:
    """Start `judge serve` as a process; yield the process and a client."""
    env = {**os.environ, **(environment or {})}
    server = start("serve", "--port", 0, "--data", data, *words, environment=env)
    try:
        assert server.stderr is not None
        url = ""
        for line in server.stderr:
            if "serving" in line:
                url = json.loads(line)["url"]
                break
            assert not re.search("^judge: ", line), line
        threading.Thread(target=server.stderr.read, daemon=True).start()
        with httpx.Client(base_url=url, timeout=30, trust_env=False) as http:
            yield server, http
    finally:
        server.kill()
        server.wait()
        for stream in (server.stdin, server.stdout, server.stderr):
            if stream is not None:
                stream.close()
