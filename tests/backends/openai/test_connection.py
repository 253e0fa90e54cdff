import asyncio
import json
import logging
import traceback
from collections.abc import Callable
from dataclasses import replace

import pytest
from pydantic import JsonValue

from judge.backends.openai import Connection, Policy
from judge.backends.openai.connection import Exchange
from judge.backends.openai.failures import Failure
from judge.errors import ConfigError, JudgeUnavailable
from judge.records import UnscoredReason
from tests.server import (
    Answer,
    Asked,
    Body,
    Hang,
    JudgeServer,
    Reset,
    Says,
    Script,
    Slow,
    Status,
    Trickle,
    refused_url,
)

BODY: dict[str, JsonValue] = {"model": "m", "messages": [{"role": "user", "content": "hello"}]}


def in_turn(*answers: Answer) -> Script:
    return lambda asked: answers[min(asked.number, len(answers) - 1)]


def words(content: bytes) -> str:
    if "choices" not in json.loads(content):
        raise ValueError("no reply")
    return content.decode()


def too_many(**headers: str) -> Status:
    return Status(429, {"error": {"message": "slow down"}}, headers)


@pytest.fixture
def ask(key: str, quick: Policy) -> Callable[..., Exchange[str]]:
    """One request from a loop of its own."""

    def asked(url: str, patience: float | None = None, **policy: float) -> Exchange[str]:
        async def main() -> Exchange[str]:
            changed = replace(quick, **policy)  # type: ignore[arg-type]  # attempts is an int
            async with Connection(url, key, policy=changed) as connection:
                now = asyncio.get_running_loop().time()
                deadline = None if patience is None else now + patience
                return await connection.ask("/chat/completions", BODY, words, deadline=deadline)

        return asyncio.run(main())

    return asked


Ask = Callable[..., Exchange[str]]


def reason(exchange: Exchange[str]) -> str:
    assert isinstance(exchange.outcome, Failure)
    return exchange.outcome.reason


def test_a_request_is_sent_as_it_is_with_the_key(ask: Ask, key: str) -> None:
    with JudgeServer(in_turn(Says("fine"))) as server:
        exchange = ask(server.base_url)
    assert "fine" in str(exchange.outcome)
    assert exchange.retries == 0
    assert 0 < exchange.seconds < 5
    assert server.requests[0].body == BODY
    assert server.requests[0].headers["Authorization"] == f"Bearer {key}"


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (Reset(), "connection"),
        (Body("<html><b>Welcome</b></html>", "text/html"), "server_error"),
        (Body('{"choices": [', "application/json"), "server_error"),
        (Body("{}", "application/json"), "server_error"),
        (Body("", "application/json"), "server_error"),
        (Status(500, {"error": {"message": "oops"}}), "server_error"),
        (Status(502, "<html>Bad Gateway</html>"), "server_error"),
        (Status(409, {"error": "locked"}), "server_error"),
        (Status(408, {"error": "slow"}), "timeout"),
        (too_many(), "rate_limited"),
        (too_many(**{"Retry-After": "0"}), "rate_limited"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_fault_is_tried_again_and_named_by_its_root(
    ask: Ask, fault: Answer, expected: str
) -> None:
    with JudgeServer(in_turn(fault)) as server:
        exchange = ask(server.base_url)
        assert reason(exchange) == expected
        assert exchange.retries == 2
        assert len(server.requests) == 3
    with JudgeServer(in_turn(fault, Says("fine"))) as server:
        exchange = ask(server.base_url)
        assert "fine" in str(exchange.outcome)
        assert exchange.retries == 1


@pytest.mark.parametrize("fault", [Hang(), Trickle(0.004), Slow(1.0, Says("late"))])
def test_an_attempt_ends_in_time_whatever_trickles_in(ask: Ask, fault: Answer) -> None:
    with JudgeServer(in_turn(fault, Says("fine"))) as server:
        exchange = ask(server.base_url, timeout=0.05, attempts=20)
        assert "fine" in str(exchange.outcome)
        assert exchange.retries > 0
    with JudgeServer(in_turn(fault)) as server:
        exchange = ask(server.base_url, timeout=0.05, attempts=1)
        assert reason(exchange) == "timeout"
        assert 0.04 < exchange.seconds < 0.5


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        (b"HTTQ/1.1 200 OK\r\n\r\n", "server_error"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "server_error"),
        (
            b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc",
            "server_error",
        ),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{", "connection"),
        (b"", "connection"),
    ],
)
async def test_what_is_no_http_or_breaks_off(
    key: str, quick: Policy, sent: bytes, expected: str
) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"}]}")
        writer.write(sent)
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        async with Connection(url, key, policy=quick) as connection:
            exchange = await connection.ask("/chat/completions", BODY, words)
    assert reason(exchange) == expected
    assert exchange.retries == 2


@pytest.mark.parametrize("url", [refused_url, lambda: "http://nowhere.invalid/v1"])
def test_nobody_there(ask: Ask, url: Callable[[], str]) -> None:
    exchange = ask(url())
    assert reason(exchange) == "connection"
    assert exchange.retries == 2


@pytest.mark.parametrize("code", [400, 405, 413, 422])
def test_what_the_server_will_not_take_is_not_sent_again(ask: Ask, code: int) -> None:
    with JudgeServer(in_turn(Status(code, {"error": {"message": "bad request"}}))) as server:
        exchange = ask(server.base_url)
    assert isinstance(exchange.outcome, Failure)
    assert exchange.outcome.reason is UnscoredReason.SERVER_ERROR
    assert exchange.outcome.detail == f"HTTP {code}: bad request"
    assert len(server.requests) == 1


def test_a_rate_limit_is_sat_out_until_the_deadline(ask: Ask) -> None:
    with JudgeServer(in_turn(*[too_many()] * 5, Says("fine"))) as server:
        exchange = ask(server.base_url, patience=5.0)
    assert "fine" in str(exchange.outcome)
    assert exchange.retries == 5


def test_past_the_deadline_the_last_failure_comes_at_once(ask: Ask) -> None:
    with JudgeServer(in_turn(too_many(**{"Retry-After": "60"}))) as server:
        exchange = ask(server.base_url, patience=5.0)
    assert reason(exchange) == "rate_limited"
    assert exchange.seconds < 1
    with JudgeServer(in_turn(Hang())) as server:
        exchange = ask(server.base_url, patience=0.05)
    assert reason(exchange) == "timeout"
    assert exchange.seconds < 0.5
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("code", "error", "step"),
    [
        (401, {"message": "Incorrect API key"}, "OPENAI_API_KEY"),
        (402, {"message": "Payment required"}, "credit"),
        (403, {"message": "Forbidden"}, "--model"),
        (404, {"message": "The model `m` does not exist"}, "--base-url"),
        (429, {"message": "You exceeded", "code": "insufficient_quota"}, "credit"),
    ],
)
def test_what_only_the_user_can_mend_ends_the_run(
    ask: Ask, code: int, error: dict[str, JsonValue], step: str
) -> None:
    with JudgeServer(in_turn(Status(code, {"error": error}))) as server:
        with pytest.raises(JudgeUnavailable) as caught:
            ask(server.base_url, patience=5.0)
        assert len(server.requests) == 1
    message = str(caught.value)
    for part in (server.base_url, "'m'", str(error["message"]), step):
        assert part in message
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_the_key_is_shown_nowhere(
    key: str, quick: Policy, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    echo: JsonValue = {"error": {"message": f"key {key} is wrong", "code": key, "param": key}}

    async def main(url: str) -> str:
        shown = []
        async with Connection(url, f"{key}\n", policy=quick) as connection:
            shown.append(repr(connection) + str(connection))
            for _ in range(3):
                try:
                    exchange = await connection.ask("/chat/completions", BODY, words)
                    shown.append(repr(exchange))
                except JudgeUnavailable as error:
                    shown.append("".join(traceback.format_exception(error)) + repr(error))
        return "\n".join(shown)

    answers: list[Answer] = [
        Status(400, echo),
        Status(401, echo),
        Body(f"<b>{key}</b>", "text/html"),
    ]
    with JudgeServer(in_turn(*answers)) as server:
        shown = asyncio.run(main(server.base_url))
    assert shown.count("[key]") >= 3
    assert key not in shown
    assert "attempt failed" in caplog.text
    assert key not in caplog.text
    assert "hello" not in "".join(r.getMessage() for r in caplog.records if r.name == "judge")


async def test_a_failure_can_be_made_final(key: str, quick: Policy) -> None:
    with JudgeServer(in_turn(Status(500, {"error": "no grammar"}))) as server:
        async with Connection(server.base_url, key, policy=quick) as connection:
            exchange = await connection.ask(
                "/chat/completions", BODY, words, final=lambda failure: "grammar" in failure.detail
            )
    assert isinstance(exchange.outcome, Failure)
    assert exchange.outcome.detail == "HTTP 500: no grammar"
    assert len(server.requests) == 1


@pytest.mark.parametrize("answer", [Hang(), Trickle(0.004), too_many(**{"Retry-After": "3"})])
async def test_cancelling_goes_through(key: str, quick: Policy, answer: Answer) -> None:
    with JudgeServer(in_turn(answer)) as server:
        async with Connection(server.base_url, key, policy=quick) as connection:
            task = asyncio.create_task(connection.ask("/chat/completions", BODY, words))
            await asyncio.sleep(0.05)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert task.cancelled()


async def test_many_requests_are_in_flight_at_once(key: str, quick: Policy) -> None:
    loop, arrived = asyncio.get_running_loop(), asyncio.Event()

    def script(asked: Asked) -> Answer:
        if asked.number == 299:
            loop.call_soon_threadsafe(arrived.set)
        return Hang()

    with JudgeServer(script) as server:
        async with Connection(server.base_url, key, policy=quick) as connection:
            asked = [connection.ask("/chat/completions", BODY, words) for _ in range(300)]
            tasks = [asyncio.create_task(each) for each in asked]
            # Nobody is answered: at the transport's own limit of 100 the last would never arrive.
            await asyncio.wait_for(arrived.wait(), 4)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


def test_a_second_loop_gets_a_connection_of_its_own(ask: Ask) -> None:
    with JudgeServer(in_turn(Says("fine"))) as server:
        for _ in range(2):
            assert "fine" in str(ask(server.base_url).outcome)


async def test_closing_twice_or_unused_is_no_fault(key: str) -> None:
    connection = Connection("http://127.0.0.1:9/v1", key)
    async with connection:
        pass
    await connection.close()


@pytest.mark.parametrize(
    ("url", "host", "shown"),
    [
        ("https://API.example.com/v1/", "api.example.com", "https://api.example.com/v1"),
        ("http://127.0.0.1:8000/v1", "127.0.0.1:8000", "http://127.0.0.1:8000/v1"),
        ("http://[::1]:8000", "[::1]:8000", "http://[::1]:8000"),
        ("https://h:443/openai/v1", "h", "https://h/openai/v1"),
        ("http://h/a%2Fb/v1/", "h", "http://h/a%2Fb/v1"),
        ("http://h/模型/v1", "h", "http://h/%E6%A8%A1%E5%9E%8B/v1"),
    ],
)
async def test_where_the_server_is(key: str, url: str, host: str, shown: str) -> None:
    async with Connection(url, key) as connection:
        assert (connection.host, connection.base_url) == (host, shown)


@pytest.mark.parametrize(
    "url",
    [
        "http://a\u200bb/v1",
        "http://h\x01/v1",
        "http://256.256.256.256/v1",
        "http://①/v1",
        "http://h/\ud83d/v1",
        "http://h/" + "a" * 70_000,
    ],
    ids=ascii,
)
def test_an_address_that_is_none_is_named(key: str, url: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Connection(url, key)
    message = str(caught.value)
    assert message.startswith(f"setting base_url = {url[:9]!r}"[:-1])
    assert "try http://localhost:8000/v1" in message
    assert message.isprintable()
    assert len(message) < 500


async def test_a_path_is_asked_as_it_is_written(key: str, quick: Policy) -> None:
    lines = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        lines.append(await reader.readline())
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/a%2Fb/v1"
        async with Connection(url, key, policy=replace(quick, attempts=1)) as connection:
            await connection.ask("/chat/completions", BODY, words)
    assert lines == [b"POST /a%2Fb/v1/chat/completions HTTP/1.1\r\n"]


@pytest.mark.parametrize("key", ["sk-密钥", "sk-a\nb", "sk-\x00"])
def test_a_key_that_cannot_be_sent_is_refused_unshown(key: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Connection("http://h/v1", key)
    assert key not in str(caught.value)
    assert "sk-" not in str(caught.value)


def test_a_proxy_for_the_outside_world_does_not_lead_to_this_machine(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", refused_url())
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    with JudgeServer(in_turn(Says("fine"))) as server:
        assert "fine" in str(ask(server.base_url).outcome)
    assert reason(ask("http://nowhere.invalid/v1")) == "connection"
