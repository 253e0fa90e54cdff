"""`judge serve`, from its start to a signal, and what keeps it from starting."""

import logging
import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.commands import judge
from tests.service_process import QUICKSTART


@pytest.fixture(autouse=True)
def loggers() -> Iterator[None]:
    """The service takes the package's log for itself: it is given back."""
    kept = {name: logging.getLogger(name) for name in ("judge", "uvicorn.error", "asyncio")}
    before = {
        name: (list(each.handlers), each.level, each.propagate) for name, each in kept.items()
    }
    yield
    for name, (handlers, level, propagate) in before.items():
        kept[name].handlers[:] = handlers
        kept[name].setLevel(level)
        kept[name].propagate = propagate


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_it_serves_until_a_signal(place: Path, number: signal.Signals, code: int) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    answers: list[int] = []

    def client() -> None:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False) as http:
            for _ in range(400):
                try:
                    http.get("/readyz")
                    break
                except httpx.ConnectError:
                    time.sleep(0.02)
            one = QUICKSTART.read_bytes().splitlines()[0]
            answers.append(http.post("/v1/evaluations", content=one).status_code)
        os.kill(os.getpid(), number)

    thread = threading.Thread(target=client)
    thread.start()
    ran = judge("serve", "--port", port, "--data", place / "data")
    thread.join()
    assert (ran.code, answers) == (code, [200])
    assert f'"url": "http://127.0.0.1:{port}"' in ran.err
    assert '"message": "draining"' in ran.err


def test_what_keeps_it_from_starting(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        for tokens, *words in (
            ("", "--host", "192.0.2.1"),
            ("", "--host", "::"),
            ("short",),
            ("a:short",),
            ("", "--port", port),
            ("", "--model", "tiny", "--base-url", "http://127.0.0.1:1/v1"),
            ("", "--data", place / "file"),
        ):
            (place / "file").write_text("a file")
            monkeypatch.setenv("JUDGE_SERVICE_TOKENS", tokens)
            ran = judge("serve", "--port", 0, *words)
            assert ran.code == 2, (words, ran.err)
            assert ran.err.splitlines()[-1].startswith("judge: ")
            assert "0123456789abcdef" not in ran.err
