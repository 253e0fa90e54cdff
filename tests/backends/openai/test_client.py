import asyncio
import gzip
import json
import traceback
from base64 import b64encode
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from pydantic import JsonValue

from judge.backends.openai.client import Connection, Exchange, Policy
from judge.backends.openai.failures import Failure
from judge.backends.openai.server import Server
from judge.errors import ConfigError
from tests.chat_call import ChatCall
from tests.replies import Answer, Hang, Says, Status, Trickle, too_many
from tests.server import JudgeServer, refused_url

BODY: dict[str, JsonValue] = {
    "model": "m",
    "messages": [{"role": "user", "content": "hello world"}],
}


def words(content: str, _: object) -> str:
    if "choices" not in json.loads(content):
        raise ValueError("no reply")
    return content


Ask = Callable[..., Exchange[str]]


@pytest.fixture
def ask(key: str, quick: Policy) -> Ask:
    """Make one request in a new event loop."""

    def asked(url: str, patience: float | None = None) -> Exchange[str]:
        async def main() -> Exchange[str]:
            async with Connection(url, key, policy=quick) as connection:
                now = asyncio.get_running_loop().time()
                deadline = None if patience is None else now + patience
                return await connection.ask("/chat/completions", BODY, words, deadline=deadline)

        return asyncio.run(main())

    return asked


def reason(exchange: Exchange[str]) -> str:
    assert isinstance(exchange.outcome, Failure)
    return exchange.outcome.reason


Sent = Callable[..., Awaitable[Exchange[str]]]


@pytest.fixture
def sent(key: str, quick: Policy) -> Sent:
    """Make a request that is answered with these bytes; return the body or the failure."""

    async def send(*parts: bytes, attempts: int = 1) -> Exchange[str]:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"}]}")
            writer.writelines(parts)
            writer.close()

        async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
            url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
            policy = replace(quick, attempts=attempts)
            async with Connection(url, key, policy=policy) as connection:
                return await connection.ask("/chat/completions", BODY, lambda text, _: text)

    return send


def page(body: bytes, *headers: bytes) -> bytes:
    """A reply of status 200."""
    length = b"Content-Length: %d" % len(body)
    return b"\r\n".join((b"HTTP/1.1 200 OK", length, *headers, b"", body))


# Malformed responses, and the reason of the failure.
WIRE = {
    "no HTTP": (b"HTTQ/1.1 200 OK\r\n\r\n", "server_error"),
    "no text": (b"HTTP/1.1 2\xff0 OK\r\nContent-Length: 2\r\n\r\n{}", "server_error"),
    "no chunk": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "server_error"),
    "no gzip": (page(b"abc", b"Content-Encoding: gzip"), "server_error"),
    "half a body": (b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{", "connection"),
    "nothing": (b"", "connection"),
    "go on, and nothing": (b"HTTP/1.1 100 Continue\r\n\r\n", "connection"),
    "other protocols": (
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n",
        "server_error",
    ),
    "early hints": (b"HTTP/1.1 103 Early Hints\r\n\r\n", "connection"),
    **{
        f"status {status}": (b"HTTP/1.1 %03d Odd\r\nContent-Length: 0\r\n\r\n" % status, reason)
        for status, reason in (
            (0, "server_error"),
            (99, "server_error"),
            (999, "server_error"),
            (1000, "server_error"),
            (408, "timeout"),
            (409, "server_error"),
            (429, "rate_limited"),
        )
    },
}


async def test_malformed_responses_are_failures_and_retried(sent: Sent) -> None:
    found = {}
    for name, (parts, _) in WIRE.items():
        exchange = await sent(parts, attempts=3)
        assert isinstance(exchange.outcome, Failure)
        assert exchange.outcome.detail
        found[name] = (exchange.outcome.reason.value, exchange.retries)
    assert found == {name: (reason, 2) for name, (_, reason) in WIRE.items()}


def test_a_refused_connection(ask: Ask) -> None:
    for url in (refused_url(), "http://nowhere.invalid/v1"):
        exchange = ask(url)
        assert (reason(exchange), exchange.retries) == ("connection", 2)


@pytest.mark.parametrize("answer", [Hang(), Trickle(0.004), too_many("60")])
async def test_a_request_can_be_cancelled(key: str, quick: Policy, answer: Answer) -> None:
    loop, arrived = asyncio.get_running_loop(), asyncio.Event()

    def script(_: ChatCall) -> Answer:
        loop.call_soon_threadsafe(arrived.set)
        return answer

    with JudgeServer(script) as server:
        async with Connection(server.base_url, key, policy=quick) as connection:
            task = asyncio.create_task(connection.ask("/chat/completions", BODY, words))
            await arrived.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task


PLACES = {
    "https://API.example.com/v1/": ("api.example.com", "https://api.example.com/v1"),
    "http://127.0.0.1:8000/v1": ("127.0.0.1:8000", "http://127.0.0.1:8000/v1"),
    "https://h:443/openai/v1": ("h", "https://h/openai/v1"),
    "http://h/模型/v1": ("h", "http://h/%E6%A8%A1%E5%9E%8B/v1"),
}
NO_PLACES = ["http://a\u200bb/v1", "http://256.256.256.256/v1", "http://h/" + "a" * 70_000]


def test_the_host_and_the_base_url() -> None:
    servers = [Server(url) for url in PLACES]
    assert [(server.host, server.base_url) for server in servers] == list(PLACES.values())
    for url in NO_PLACES:
        with pytest.raises(ConfigError) as caught:
            Server(url)
        message = str(caught.value)
        assert message.startswith(f"setting base_url = {url[:9]!r}"[:-1])
        assert "try http://localhost:8000/v1" in message
        assert message.isprintable()
        assert len(message) < 500


ACCOUNT = {
    "OPENAI_ORG_ID": "org-zebra",
    "OPENAI_PROJECT_ID": "proj-zebra",
    "OPENAI_CUSTOM_HEADERS": "X-Team: team-zebra\nAuthorization: Bearer other-zebra",
    "OPENAI_ADMIN_KEY": "sk-admin-zebra",
    "OPENAI_WEBHOOK_SECRET": "whsec-zebra",
}
TOLD = {
    "https://api.openai.com/v1": True,
    "https://API.openai.com:443/v1": True,
    "https://eu.api.openai.com/v1": True,
    "http://api.openai.com/v1": False,
    "https://api.openai.com.example/v1": False,
    "https://xapi.openai.com/v1": False,
    "https://openai.com/v1": False,
    "https://h.openai.azure.com/openai/v1": False,
}


async def test_account_headers_are_sent_to_openai_only(
    key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in ACCOUNT.items():
        monkeypatch.setenv(name, value)
    with JudgeServer(lambda _: Says("fine")) as server:
        async with Connection(server.base_url, key) as connection:
            await connection.ask("/chat/completions", BODY, words)
    (asked,) = server.requests
    assert asked.headers["Authorization"] == f"Bearer {key}"
    assert "zebra" not in str(asked.headers).lower()
    # No server on this machine is OpenAI, so the headers of the client are compared.
    told = {url: Server(url, key).open(1).default_headers for url in TOLD}
    names = ("OpenAI-Organization", "OpenAI-Project", "X-Team")
    found = {url: [str(headers.get(name)) for name in names] for url, headers in told.items()}
    account = ["org-zebra", "proj-zebra", "team-zebra"]
    assert {url for url, given in found.items() if given == account} == {u for u in TOLD if TOLD[u]}
    assert not any("zebra" in str(found[url]) for url in TOLD if not TOLD[url])


def test_a_word_of_the_judged_texts_is_no_secret(key: str) -> None:
    server = Server("https://h.example/v1", key, {"X-B": "Bearer other-zebra"})
    secrets = (key, "Bearer other-zebra", "other-zebra")
    assert [server.hide(secret) for secret in secrets] == ["[key]", "[key]", "[key]"]
    assert server.hide("other-zebra", sent=b"who is other-zebra?") == "other-zebra"


def test_a_word_of_a_header_is_no_secret() -> None:
    title = "production evaluation of mentioned things"
    headers = {"X-Title": title, "X-A": "Basic zebra-zebra", "Authorization": "Api-Key zebra-two"}
    server = Server("https://h.example/v1", headers=headers)
    texts = ("it is no production", title, "no zebra-zebra", "no zebra-two")
    assert [*map(server.hide, texts)] == ["it is no production", "[key]", "no [key]", "no [key]"]


def test_a_key_in_escapes_of_json_is_hidden() -> None:
    key = "sk-a/b+0123456789"
    server = Server("https://h.example/v1", key)
    for escape in ("\\/", "\\\\/", "\\u002f", "\\\\u002F"):
        text = json.dumps({"a": "key KEY"}).replace("KEY", key.replace("/", escape))
        assert server.hide(text) == '{"a": "key [key]"}'


PASSWORD = "hunter2hunter2"  # noqa: S105  no secret of anybody's
NO_PROXIES = ("gopher://u:{}@h", "http://u:{}@h:port", "http://u:{}@[::1", "\x01{}")


def test_a_malformed_proxy_is_reported_and_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    for form in NO_PROXIES:
        monkeypatch.setenv("ALL_PROXY", form.format(PASSWORD))
        with pytest.raises(ConfigError, match=r"^a proxy in the environment") as none:
            Server("http://h.example/v1").open(1)
        assert PASSWORD not in "".join(traceback.format_exception(none.value))
    monkeypatch.setenv("ALL_PROXY", "https://u:p@h")
    Server("http://h.example/v1").open(1)


def test_certificates_that_cannot_be_read_are_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "absent.pem"))
    with pytest.raises(ConfigError, match=r"SSL_CERT_FILE or SSL_CERT_DIR .* mend that variable"):
        Server("https://h.example/v1").open(1)


async def test_proxies_are_not_used_for_this_machine(
    key: str, quick: Policy, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, refused_url())
    with JudgeServer(lambda _: Says("fine")) as server:
        async with Connection(server.base_url, key, policy=quick) as connection:
            await connection.ask("/chat/completions", BODY, words)
    assert server.requests


@pytest.mark.filterwarnings("ignore:(BasicAuth|The .proxy_auth.):DeprecationWarning")  # of the SDK
async def test_a_proxy_gets_its_own_password_and_no_key(
    key: str, quick: Policy, monkeypatch: pytest.MonkeyPatch
) -> None:
    heads: list[str] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append((await reader.readuntil(b"\r\n\r\n")).decode().lower())
        writer.write(b"HTTP/1.1 407 Who?\r\nContent-Length: 0\r\n\r\n")
        await writer.drain()
        writer.close()

    word = f"proxy-authorization: basic {b64encode(f'u:{PASSWORD}'.encode()).decode().lower()}"
    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        there = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.setenv("NO_PROXY", "")
        monkeypatch.setenv("ALL_PROXY", f"http://u:{PASSWORD}@{there}")
        for scheme, asks in (("http", "post http://h.example/v1/c"), ("https", "connect h.exam")):
            url, policy = f"{scheme}://h.example/v1", replace(quick, attempts=1)
            async with Connection(url, key, policy=policy) as connection:
                failure = (await connection.ask("/chat/completions", BODY, words)).outcome
            assert isinstance(failure, Failure)
            assert "407" in failure.detail
            assert PASSWORD not in failure.detail
            head = heads.pop()
            assert head.startswith(asks)
            assert word in head
            assert head.count(key) == head.count("bearer") == (scheme == "http")


# Bodies.


async def test_the_key_is_removed_from_a_body(key: str, sent: Sent) -> None:
    whole = page(f'{{"a": "{key}好"}}'.encode())
    middle = len(whole) - 15
    exchange = await sent(whole[:middle], whole[middle:])
    assert exchange.outcome == '{"a": "[key]好"}'
    packed = page(gzip.compress(f"page {key}".encode()), b"Content-Encoding: gzip")
    assert (await sent(packed)).outcome == "page [key]"


# The attempts of a request.

BUSY, BAD = Status(500, {"error": "oops"}), Status(400, {"error": "bad"})
FINE = Says("fine")
# The answers in order, the last for ever; the outcome, and the number of retries.
ATTEMPTS: list[tuple[list[Answer], str, int]] = [
    ([FINE], "", 0),
    ([BUSY, too_many("0"), FINE], "", 2),
    ([BAD, FINE], "server_error", 0),
    ([BUSY], "server_error", 2),
    # A refused request waits, and uses up no attempts.
    ([*[too_many("0")] * 7, BUSY, BUSY, FINE], "", 9),
    ([*[Status(503, "loading", {"Retry-After": "0"})] * 7, BUSY, BUSY, FINE], "", 9),
    # No wait goes past the deadline.
    ([too_many("90"), FINE], "rate_limited", 0),
]


def test_the_attempts_of_a_request(ask: Ask) -> None:
    found = []
    for answers, *_ in ATTEMPTS:
        left = iter(answers)
        with JudgeServer(lambda _: next(left, answers[-1])) as server:  # noqa: B023
            exchange = ask(server.base_url, 60)
        outcome = exchange.outcome
        failed = outcome.reason.value if isinstance(outcome, Failure) else ""
        found.append((answers, failed, exchange.retries))
    assert found == ATTEMPTS


async def test_a_wait_that_an_outage_cut_goes_on_once_the_server_answers(
    key: str, quick: Policy
) -> None:
    left = [Status(503, "loading"), too_many("0.4")]
    policy = replace(quick, patience=0.3)
    with JudgeServer(lambda _: left.pop(0) if left else FINE) as server:
        async with Connection(server.base_url, key, policy=policy) as connection:
            deadline = asyncio.get_running_loop().time() + 60
            ask = partial(connection.ask, "/chat/completions", BODY, words, deadline=deadline)
            exchanges = await asyncio.gather(ask(), ask())
    assert not any(isinstance(each.outcome, Failure) for each in exchanges)


async def test_nothing_is_sent_behind_the_deadline(key: str, quick: Policy) -> None:
    with JudgeServer(lambda _: FINE) as server:
        async with Connection(server.base_url, key, policy=quick) as connection:
            await connection.ask("/chat/completions", BODY, words)  # its socket stays open
            late = asyncio.get_running_loop().time() - 1
            exchange = await connection.ask("/chat/completions", BODY, words, deadline=late)
            await asyncio.sleep(0.05)
        assert (reason(exchange), exchange.retries, len(server.requests)) == ("timeout", 0, 1)
