"""The files that a name means: folders, patterns and addresses, with a loopback S3 server."""

import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Final
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from judge.errors import ConfigError, InputError
from judge.inputs.files import input_files
from judge.inputs.samples import read_samples
from tests.commands import line, write

_OBJECT: Final = "<Contents><Key>{}</Key><Size>{}</Size></Contents>"
_SPACE: Final = 'xmlns="http://s3.amazonaws.com/doc/2006-03-01/"'


class Bucket(ThreadingHTTPServer):
    """A server with the part of S3's protocol that lists and reads files."""

    def __init__(self, files: dict[str, bytes]) -> None:
        super().__init__(("127.0.0.1", 0), _Door)
        self.files = files
        self.ranges: list[str] = []


class _Door(BaseHTTPRequestHandler):
    server: Bucket
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        address = urlsplit(self.path)
        key = unquote(address.path).removeprefix("/bucket").lstrip("/")
        files, wanted = self.server.files, self.headers.get("Range", "")
        if not key:
            prefix = parse_qs(address.query).get("prefix", [""])[0]
            there = [_OBJECT.format(k, len(v)) for k, v in files.items() if k.startswith(prefix)]
            listed = f"<KeyCount>{len(there)}</KeyCount>{''.join(there)}"
            self._answer(200, f"<ListBucketResult {_SPACE}>{listed}</ListBucketResult>".encode())
        elif key not in files:
            self._answer(404, b"")
        elif wanted:
            self.server.ranges.append(wanted)
            first, last = map(int, wanted.removeprefix("bytes=").split("-"))
            self._answer(206, files[key][first : last + 1])
        else:
            self._answer(200, files[key])

    def do_HEAD(self) -> None:
        self.do_GET()

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def bucket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bucket]:
    rows = [line(f"q{number}", "It opens at seven.") for number in range(700)]
    text = write(tmp_path / "rows.jsonl", rows).read_bytes()
    with Bucket({"a/1.jsonl": text, "a/b c/第%20 2.jsonl": text, "a/notes.md": b"-"}) as server:
        Thread(target=server.serve_forever).start()
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.server_port}")
        for name in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY", "DEFAULT_REGION"):
            monkeypatch.setenv(f"AWS_{name}", "us-east-1")
        yield server
        server.shutdown()


def test_files_of_an_object_store_are_read_in_large_pieces(bucket: Bucket) -> None:
    names = ["s3://bucket/a/1.jsonl", "s3://bucket/a/b c/第%20 2.jsonl"]
    assert [str(each) for each in input_files("s3://bucket/a")] == names
    (source,) = input_files("s3://bucket/a/b c/第%2520 2.jsonl")
    assert str(source) == names[1]
    assert len(list(read_samples("s3://bucket/a/b c/第%2520 2.jsonl"))) == 700
    assert len(bucket.ranges) <= 2, "each is a request that takes its time, and is paid for"
    for given, says in {
        "s3://bucket/none": "^s3://bucket/none: no such",
        "s3://bucket/a?geheim=1": "^an address with keys or options in it is not read",
        "s3://key:geheim@bucket/a": "^an address with keys or options",
        "http://bucket/a": "cannot be read: Unrec.*; check the address, or download the file",
    }.items():
        with pytest.raises(InputError, match=says):
            input_files(given)


def test_an_address_names_the_same_files_as_a_path(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    for name in ("b.jsonl", "a.csv", "deep/c.jsonl", ".hidden.jsonl", "_SUCCESS.json", "notes.txt"):
        (tmp_path / name).write_text('{"qid": "q", "answer": "a", "chunks": []}', encoding="utf-8")
    for name, expected in {
        "": ["a.csv", "b.jsonl", "deep/c.jsonl"],
        "/b.jsonl": ["b.jsonl"],
    }.items():
        here = [str(each) for each in input_files(f"{tmp_path}{name}")]
        away = [str(each) for each in input_files(f"file://{tmp_path}{name}")]
        assert here == [f"{tmp_path}/{each}" for each in expected]
        assert away == [f"file://{each}" for each in here]
    (source,) = input_files(f"file://{tmp_path}/b.jsonl")
    assert [sample.qid for sample in read_samples(source)] == ["q"]
    (tmp_path / "b.jsonl").unlink()  # between the listing and the reading
    with pytest.raises(InputError):
        list(read_samples(source))
    home = f"file://{tmp_path}"
    for name in (f"{home}/absent", "nowhere://a"):
        with pytest.raises(InputError):
            input_files(name)


def test_an_address_without_pyarrow_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow.fs", None)
    with pytest.raises(ConfigError, match=r"s3 needs pyarrow\.fs.*\[data\]"):
        input_files("s3://bucket/in.jsonl")
