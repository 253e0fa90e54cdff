"""Slow, broken and hostile clients get an error or are cut off, and others are served."""

import gzip
import json
import resource
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any

import pytest

from judge.service.app import Connection
from judge.service.requests import Limits
from tests.commands import write
from tests.service_process import QUICKSTART, Serving, judged, process

TOKEN = "0123456789abcdef0123"  # noqa: S105  a test's
PIECE = b"40000\r\n" + b"x" * 0x40000 + b"\r\n"
END = b"0\r\n\r\n"
ONE = QUICKSTART.read_bytes().splitlines()[0]


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    limits = Limits(max_body=1, max_batch=1)
    with Serving(tmp_path_factory.mktemp("data"), limits=limits, tokens=f"me:{TOKEN}") as serving:
        serving.http.headers["Authorization"] = f"Bearer {TOKEN}"
        yield serving


def raw(serving: Serving, data: bytes) -> bytes:
    """Send bytes; return the response until the connection closes, or is silent for two seconds."""
    host, port = serving.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=2) as line:
        line.sendall(data)
        return all_of(line) or b"HTTP/1.1 closed"


def all_of(line: socket.socket) -> bytes:
    """Return the bytes until the connection closes, or is silent for two seconds."""
    line.settimeout(2)
    answer = b""
    with suppress(TimeoutError, ConnectionResetError):
        while piece := line.recv(1 << 16):
            answer += piece
    return answer


def head(path: str, *lines: str, method: str = "POST") -> bytes:
    always = ("Host: localhost", f"Authorization: Bearer {TOKEN}", "Connection: close")
    return "\r\n".join((f"{method} {path} HTTP/1.1", *always, *lines, "", "")).encode("latin-1")


def test_malformed_http_is_refused_or_cut_off(serving: Serving) -> None:
    for data, codes in (
        (b"\x16\x03\x01\x02\x00\x01\x00", b"400"),
        (b"GET / HTTP/1.1\r\n\r\n", b"400"),
        (head("/healthz", "X-A: 1\r\n X-B: 2", method="GET"), b"200 400"),
        (head("/healthz", "X-A: a\x00b", method="GET"), b"400"),
        (b"GET /healthz HTTP/1.1\nHost: localhost\n\n", b"400"),
        (head("/healthz", "X-A: a\nX-B: b", method="GET"), b"400"),
        (head("/healthz", "X-A: b", method="GET").replace(b"\r\n\r\n", b"\r\n\n"), b"400"),
        (head("/healthz", "Host: evil.example", method="GET"), b"400"),
        (head("/healthz", "Host: localhost", method="GET"), b"400"),
        (head("/v1/evaluations", "Content-Length: 2", "Content-Length: 3") + b"{}", b"400"),
        (head("/v1/evaluations", "Transfer-Encoding: chunked") + b"zz\r\n{}\r\n", b"400"),
        (head("/v1/evaluations", "Transfer-Encoding: gzip, chunked") + b"0\r\n\r\n", b"400 501"),
        (head("/v1/evaluations", "Content-Length: 99999999999999999999"), b"400"),
        (head("/v1/evaluations", "Content-Length: 1000000000") + b"x" * 100_000, b"413 closed"),
        (head("/v1/batches", "Content-Length: 1000000000") + b"x" * 100_000, b"413 closed"),
        (head("/v1/batches", "Transfer-Encoding: chunked") + PIECE * 5 + END, b"413"),
        (head("/v1/evaluations", "Transfer-Encoding: chunked") + PIECE * 5 + END, b"413"),
        (head("/v1/batches/a%0d%0aX-Evil:%201", "Content-Length: 2", method="PUT") + b"{}", b"422"),
        (head("/v1/batches/%00", method="GET"), b"422"),
        (head("/healthz", f"X-Request-Id: {'a' * 70_000}", method="GET"), b"200 400 closed"),
        (head("/healthz", "X-Request-Id: a\tb", method="GET"), b"200"),
    ):
        answer = raw(serving, data)
        status = answer[9:12] if not answer.endswith(b"closed") else b"closed"
        assert status in codes.split(), (data[:60], answer[:200])
        first = answer.partition(b"\r\n\r\n")[0].lower()
        assert b"x-evil:" not in first
    assert serving.http.get("/healthz").status_code == 200


def test_an_endless_head_or_trailer_is_cut_off(serving: Serving) -> None:
    start = head("/v1/evaluations", "Transfer-Encoding: chunked")
    port = int(serving.url.rpartition(":")[2])
    for sent in (start[:-2], start + b"2\r\n{}\r\n0\r\n"):
        with (
            socket.create_connection(("127.0.0.1", port), timeout=20) as line,
            pytest.raises(ConnectionError),
        ):
            line.sendall(sent + b"X-A: " + b"a" * 30_000_000)


def test_bombs_are_refused_before_they_unpack(serving: Serving) -> None:
    small, large = gzip.compress(b"\n" * 500_000), gzip.compress(b"0" * 40_000_000)
    for content in (large, small * 3, small + bytes(1000) + large):
        answer = serving.http.post("/v1/batches", content=content)
        assert (answer.status_code, answer.json()["type"][-9:]) == (413, "too-large")
        headers = {"Content-Encoding": "gzip"}
        answer = serving.http.post("/v1/evaluations", content=content, headers=headers)
        assert answer.status_code in {400, 413}
    assert [each.name for each in serving.data.iterdir() if each.name != ".lock"] == []


def test_a_connection_closes_when_the_head_of_a_request_does_not_come(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Connection, "head_seconds", 0.3)
    whole = head("/healthz", method="GET").replace(b"Connection: close\r\n", b"")
    with Serving(tmp_path) as serving:
        port = int(serving.url.rpartition(":")[2])
        for sent in (b"", b"GET /hea", whole, whole + b"GET /hea"):
            with socket.create_connection(("127.0.0.1", port)) as line:
                line.sendall(sent)
                line.settimeout(10)
                with suppress(ConnectionResetError):
                    while line.recv(1 << 16):
                        continue
        with socket.create_connection(("127.0.0.1", port)) as slow:
            slow.sendall(head("/v1/evaluations", "Content-Length: 1000") + b"{")
            slow.settimeout(1)
            # A request whose head has come has longer for its body.
            with pytest.raises(TimeoutError):
                slow.recv(100)


def test_a_body_that_stops_coming_is_cut_off(tmp_path: Path) -> None:
    with Serving(tmp_path, limits=Limits(body_seconds=0.05, batch_seconds=0.05)) as serving:
        for path in ("/v1/evaluations", "/v1/batches"):
            answer = raw(serving, head(path, "Content-Length: 1000") + b"{" * 30)
            assert (answer[9:12], b"urn:judge:problem:too-slow" in answer) == (b"408", True)
        assert [each.name for each in serving.data.iterdir() if each.name != ".lock"] == []


def test_a_client_that_still_sends_gets_the_error(serving: Serving) -> None:
    """A connection that closes with bytes unread is reset, and the client never sees why."""
    for token, path, size, status in (
        (TOKEN, "batches", 3_000_000, b"413"),
        ("guess", "batches", 900_000, b"401"),
        ("guess", "evaluations", 900_000, b"401"),
    ):
        sent = head(f"/v1/{path}", f"Content-Length: {size}").replace(
            TOKEN.encode(), token.encode()
        )
        assert raw(serving, sent + b"x" * size)[9:12] == status


@pytest.mark.skipif(not hasattr(socket, "TCP_USER_TIMEOUT"), reason="the system has no such limit")
def test_a_client_that_never_reads_is_cut_off_and_others_are_served(tmp_path: Path) -> None:
    rows = [json.loads(ONE) | {"qid": str(number), "note": "x" * 240_000} for number in range(25)]
    judged(tmp_path / "data", "big", write(tmp_path / "big.jsonl", rows))
    with (
        Serving(tmp_path / "data", unread_seconds=1.0) as serving,
        closing(socket.socket()) as deaf,
    ):
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.connect(("127.0.0.1", int(serving.url.rpartition(":")[2])))
        deaf.sendall(head("/v1/batches/big/results", method="GET"))
        lines: set[Any] = serving.server.server_state.connections
        deadline = time.monotonic() + 30
        while not any(each.flow.write_paused for each in list(lines) if each.flow):
            assert time.monotonic() < deadline
        assert serving.http.post("/v1/evaluations", content=ONE).status_code == 200
        while any(each.flow.write_paused for each in list(lines) if each.flow):
            assert time.monotonic() < deadline


def test_a_service_goes_on_without_open_files_or_room_on_the_disk(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with ExitStack() as stack:
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
        try:
            server, http = stack.enter_context(process(tmp_path))
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        for _ in range(400):
            line = stack.enter_context(closing(socket.socket()))
            line.connect(("127.0.0.1", http.base_url.port))
        assert http.post("/v1/evaluations", content=ONE).status_code == 200
        assert http.get("/readyz").status_code == 200
        room = resource.prlimit(server.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (100_000, room[1]))
        sent = http.post("/v1/batches", content=b"x" * 200_000)
        assert (sent.status_code, sent.json()["type"][-8:]) == (507, "no-space")
        assert http.get("/readyz").status_code == 503
        resource.prlimit(server.pid, resource.RLIMIT_FSIZE, room)
        assert http.get("/readyz").status_code == 200


def test_a_link_in_the_folder_of_a_batch_is_not_followed(tmp_path: Path) -> None:
    judged(tmp_path / "data", "a")
    results = tmp_path / "data" / "a" / "results.jsonl"
    results.rename(tmp_path / "elsewhere")
    results.symlink_to(tmp_path / "elsewhere")
    with Serving(tmp_path / "data") as serving:
        for path in ("results", "report", "label/rows"):
            answer = serving.http.get(f"/v1/batches/a/{path}")
            assert (answer.status_code, answer.json()["type"][-8:]) == (409, "conflict"), path
