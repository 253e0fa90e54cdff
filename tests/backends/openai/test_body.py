import asyncio
import gzip
import json
import tracemalloc
from collections.abc import AsyncIterator, Sequence

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.backends.openai import Connection, Policy
from judge.backends.openai.body import Guard, Secret, TooLargeError
from judge.backends.openai.connection import Exchange
from judge.backends.openai.failures import Failure

KEY = "sk-secret-0123456789"
MIB = 2**20


class Stream(httpx2.AsyncByteStream):
    """These parts, the last of them for ever where `endless`."""

    def __init__(self, parts: Sequence[bytes], *, endless: bool = False) -> None:
        self._parts = parts
        self._endless = endless
        self.sent = 0
        self.closed = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for part in self._parts:
            self.sent += len(part)
            yield part
        while self._endless:
            self.sent += len(self._parts[-1])
            yield self._parts[-1]

    async def aclose(self) -> None:
        self.closed = True


async def guarded(
    stream: Stream, headers: dict[str, str] | None = None, status: int = 200
) -> httpx2.Response:
    request = httpx2.Request("POST", "http://h/")
    response = httpx2.Response(status, headers=headers, stream=stream, request=request)
    await Guard(Secret(KEY))(response)
    await response.aread()
    return response


@pytest.mark.parametrize("status", [200, 307, 401])
async def test_the_key_is_blotted_out_even_across_two_parts(status: int) -> None:
    stream = Stream([b'{"a": "', KEY[:5].encode(), KEY[5:].encode(), '好"}'.encode()])
    response = await guarded(stream, status=status)
    assert response.json() == {"a": "[key]好"}
    assert stream.closed


async def test_a_packed_body_is_unpacked_once() -> None:
    packed = gzip.compress(f"page {KEY}".encode())
    response = await guarded(Stream([packed]), {"Content-Encoding": "gzip"})
    assert response.text == "page [key]"


async def test_what_is_no_utf_8_is_read_in_the_charset_it_names() -> None:
    for charset, words in (("gbk", "网关错误"), ("latin-1", "dépassé")):
        page = f"{words} {KEY}".encode(charset)
        response = await guarded(Stream([page]), {"Content-Type": f"text/html; charset={charset}"})
        assert response.text == f"{words} [key]"
    # A server that names another charset for its JSON sends UTF-8 all the same.
    response = await guarded(Stream(["好".encode()]), {"Content-Type": "a/b; charset=latin-1"})
    assert response.text == "好"


async def test_a_key_that_the_material_says_as_well_is_a_word() -> None:
    # Blotted out, it would spoil a quote, and the cache would keep that.
    stream = Stream([f'{{"quote": "{KEY}"}}'.encode()])
    request = httpx2.Request("POST", "http://h/", content=f"The chunk says {KEY}.".encode())
    response = httpx2.Response(200, stream=stream, request=request)
    await Guard(Secret(KEY))(response)
    await response.aread()
    assert response.json() == {"quote": KEY}


@pytest.mark.parametrize(
    "charset", ["", "none-such", "hex", "undefined", "idna", "punycode", "unicode_escape", "utf-7"]
)
async def test_an_odd_charset_is_no_fault(charset: str) -> None:
    page = b"\xff " + KEY.encode()
    response = await guarded(Stream([page]), {"Content-Type": f"text/html; charset={charset}"})
    assert "[key]" in response.text
    assert KEY not in response.text


async def test_a_body_may_be_as_large_as_the_limit_and_no_larger() -> None:
    response = await guarded(Stream([b"x" * MIB] * 16))
    assert len(response.content) == 16 * MIB
    stream = Stream([b"x" * MIB] * 16 + [b"x"])
    with pytest.raises(TooLargeError, match="a body of over 16 MiB"):
        await guarded(stream)
    endless = Stream([b"x" * MIB], endless=True)
    with pytest.raises(TooLargeError):
        await guarded(endless)
    assert endless.sent == 17 * MIB


async def test_a_body_is_counted_as_unpacked() -> None:
    bomb = gzip.compress(b"\0" * 64 * MIB)
    assert len(bomb) < MIB
    tracemalloc.start()
    with pytest.raises(TooLargeError):
        await guarded(Stream([bomb]), {"Content-Encoding": "gzip"})
    assert tracemalloc.get_traced_memory()[1] < 40 * MIB
    tracemalloc.stop()


@pytest.mark.parametrize("status", ["200 OK", "500 Oops", "307 Elsewhere\r\nLocation: /"])
async def test_a_body_without_end_is_left_where_it_is(key: str, quick: Policy, status: str) -> None:
    left = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"{}")
        writer.write(f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\n\r\n".encode())
        try:
            while True:
                writer.write(b" " * 2**18)
                await writer.drain()
        except ConnectionError:
            left.set()
            writer.close()

    async def ask(url: str) -> Exchange[bytes]:
        policy = Policy(timeout=quick.timeout, attempts=1)
        async with Connection(url, key, policy=policy) as connection:
            exchange = await connection.ask("/x", {}, bytes)
            await asyncio.wait_for(left.wait(), 2)
        return exchange

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        exchange = await ask(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1")
    assert isinstance(exchange.outcome, Failure)
    assert exchange.outcome.reason == "server_error"
    assert "a body of over 16 MiB" in exchange.outcome.detail


@pytest.mark.parametrize(
    ("key", "sent"),
    [
        ("sk-plain-key", r'{"a": "sk-plain-key"}'),
        ("sk-plain-key", r'{"a": "\nsk-plain-key\n"}'),
        ("nsecret-key", r'{"a": "line\nsecret-key"}'),
        ("ab/cd+ef==", r'{"a": "ab\/cd\u002bef\u003D="}'),
        ("ab/cd+ef==", r'{"a": "{\"b\": \"ab\\/cd\\u002Bef==\"}"}'),
        ('q"uo\\te-key', r'{"a": "q\"uo\\te-key"}'),
        ("sk-plain-key", r'{"a": "\u0073\u006b\u002d\u0070lain-key"}'),
    ],
)
def test_the_key_is_known_however_json_escapes_it(key: str, sent: str) -> None:
    blotted = json.dumps(json.loads(Secret(key).blot(sent.encode())))
    assert "[key]" in blotted
    assert key[-4:] not in blotted


@pytest.mark.parametrize("key", ["", "none", "EMPTY", "1234567"])
def test_a_placeholder_is_no_key_and_garbles_nothing(key: str) -> None:
    text = b"there is none; EMPTY 1234567 \\u0041"
    assert Secret(key).blot(text) == text


def test_a_text_of_backslashes_takes_no_time() -> None:
    text = b"\\" * MIB + b"\\u0041 0123456789"
    assert Secret(KEY).blot(text) == text


@given(
    st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=8, max_size=30),
    st.text(),
    st.text(),
)
def test_no_key_is_left_in_any_json(key: str, before: str, after: str) -> None:
    sent = json.dumps({"a": f"{before} {key} {after}"}).encode()
    assert key not in Secret(key).blot(sent).decode()
    plain = f"{before} {key} {after}".encode(errors="replace")
    assert key.encode() not in Secret(key).blot(plain)
