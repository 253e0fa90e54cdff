import asyncio
import hashlib
import json
import logging
import time
import traceback
from collections.abc import Iterator
from pathlib import Path

import pytest

from judge import ConfigError, Sample, SampleResult, evaluate
from judge.backends.webhook import Webhook, WebhookError
from judge.records import Chunk
from tests.posted import BREAK, HANG, SELF_SIGNED, TRICKLE, PostServer, Reply
from tests.server import refused_url

SAMPLE = Sample(
    qid="问题-1",
    query="几点？",
    answer="七点开门 😀 “好”。\n第二行。",
    chunks=(Chunk(chunk_id="a", text="七点开门。"),),
    metadata={"team": "甲"},
)
(RESULT,) = evaluate([SAMPLE])


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


def hook(url: str, *, attempts: int = 4, timeout: float = 5.0) -> Webhook:
    return Webhook(url, attempts=attempts, timeout=timeout, first_wait=0)


async def test_what_arrives() -> None:
    with PostServer(Reply(204)) as server:
        headers = {"Authorization": "Bearer t0ken", "X-Team": "a"}
        await Webhook(server.url, headers=headers)(SAMPLE, RESULT, 0.25)
    (posted,) = server.posted
    assert posted.path == "/services/T0/s3cret?token=s3cret"
    assert posted.body.keys() == {"qid", "probability", "sample", "result"}
    assert (posted.body["qid"], posted.body["probability"]) == ("问题-1", 0.25)
    assert posted.body["sample"] == json.loads(SAMPLE.model_dump_json())
    assert posted.body["result"] == json.loads(RESULT.model_dump_json())
    assert Sample.model_validate(posted.body["sample"]) == SAMPLE
    assert SampleResult.model_validate_json(json.dumps(posted.body["result"])) == RESULT
    assert posted.headers["Content-Type"] == "application/json"
    assert posted.headers["User-Agent"].startswith("judge/")
    assert posted.headers["Authorization"] == "Bearer t0ken"
    assert posted.headers["X-Team"] == "a"


async def test_what_is_posted_again_bears_the_same_key_and_anything_else_another() -> None:
    result = RESULT.model_copy(update={"signature": "other"})
    others = (
        (SAMPLE.model_copy(update={"answer": "八点开门。"}), RESULT, 0.5),
        (SAMPLE.model_copy(update={"query": "何时？"}), RESULT, 0.5),
        (SAMPLE.model_copy(update={"chunks": ()}), RESULT, 0.5),
        (SAMPLE, result, 0.5),
        (SAMPLE, RESULT.model_copy(update={"qid": "2"}), 0.5),
        (SAMPLE, RESULT, 0.7),
    )
    with PostServer(Reply(500), Reply()) as server:
        send = hook(server.url)
        await send(SAMPLE, RESULT, 0.5)
        await send(SAMPLE, RESULT, 0.5)
        for other in others:
            await send(*other)
    keys = [posted.headers["Idempotency-Key"] for posted in server.posted]
    assert keys[0] == keys[1] == keys[2]
    assert len(set(keys)) == 1 + len(others)
    assert [hashlib.sha256(posted.raw).hexdigest() for posted in server.posted] == keys


TROUBLE = [408, 425, 429, 500, 502, 503, 599]


async def test_a_server_in_trouble_is_asked_again() -> None:
    for status in TROUBLE:
        with PostServer(Reply(status), BREAK, Reply(status), Reply(201)) as server:
            await hook(server.url)(SAMPLE, RESULT, 1.0)
        assert len(server.posted) == 4, status
        assert len({str(posted.body) for posted in server.posted}) == 1


PAST = "Wed, 21 Oct 2015 07:28:00 GMT"
FUTURE = "Wed, 21 Oct 2115 07:28:00 GMT"
NEVER = 1e9
"""Seconds of a wait that no webhook has."""


def waiting(url: str, first_wait: float) -> Webhook:
    return Webhook(url, attempts=2, first_wait=first_wait)


async def test_a_wait_that_the_server_asks_for() -> None:
    for asked in ("0", "0.2", "-5", PAST, "Wed Oct 21 07:28:00 2015", "soon", ""):
        with PostServer(Reply(429, {"Retry-After": asked}), Reply()) as server:
            await waiting(server.url, 0)(SAMPLE, RESULT, 1.0)
        assert len(server.posted) == 2, asked


@pytest.mark.parametrize(
    "asked", ["20.5", "60", "1e9", "9" * 400, FUTURE, "Wed Oct 21 07:28:00 2115"]
)
async def test_a_wait_that_is_too_long_is_not_begun_and_the_reason_is_said(asked: str) -> None:
    with PostServer(Reply(429, {"Retry-After": asked}), Reply()) as server:
        async with asyncio.timeout(60):
            with pytest.raises(WebhookError, match=r"^http://127\.0\.0\.1: HTTP 429$"):
                await waiting(server.url, 0)(SAMPLE, RESULT, 1.0)
        assert len(server.posted) == 1


@pytest.mark.parametrize("asked", ["nan", "-1e12", "-inf", "inf", "soon", "0", PAST])
async def test_a_wait_that_is_none_or_over_does_not_bring_all_back_at_once(asked: str) -> None:
    # Up to `first_wait` is added by chance, or stands in its place.
    with PostServer(Reply(429, {"Retry-After": asked}), Reply()) as server:
        async with asyncio.timeout(60):
            with pytest.raises(WebhookError, match="HTTP 429"):
                await waiting(server.url, NEVER)(SAMPLE, RESULT, 1.0)
        assert len(server.posted) == 1


@pytest.fixture
def in_shanghai(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "CST-8")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("in_shanghai")
async def test_a_date_without_a_zone_is_in_gmt() -> None:
    hence = time.asctime(time.gmtime(time.time() + 3600))  # seven hours ago in Shanghai
    with PostServer(Reply(429, {"Retry-After": hence}), Reply()) as server:
        async with asyncio.timeout(60):
            with pytest.raises(WebhookError, match="HTTP 429"):
                await waiting(server.url, 0)(SAMPLE, RESULT, 1.0)
        assert len(server.posted) == 1


async def test_no_attempt_is_begun_that_might_end_too_late() -> None:
    with PostServer(HANG) as server:
        send = Webhook(server.url, timeout=0.1, attempts=99, within=0.35, first_wait=0)
        with pytest.raises(WebhookError, match="no answer in time"):
            await send(SAMPLE, RESULT, 1.0)
        assert len(server.posted) <= 3


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (400, "HTTP 400"),
        (401, "HTTP 401"),
        (404, "HTTP 404"),
        (410, "HTTP 410"),
        (302, "HTTP 302, and redirects are not followed"),
        (304, "HTTP 304, and redirects are not followed"),
    ],
)
async def test_a_refusal_is_not_argued_with(status: int, said: str) -> None:
    with PostServer(Reply(status, {"Location": "http://127.0.0.1:9/elsewhere"})) as server:
        with pytest.raises(WebhookError) as caught:
            await hook(server.url)(SAMPLE, RESULT, 1.0)
        assert len(server.posted) == 1
    assert str(caught.value) == f"http://127.0.0.1: {said}"


@pytest.mark.parametrize(
    ("reply", "seconds", "said"),
    [
        (Reply(500), 5.0, "HTTP 500"),
        (HANG, 0.4, "no answer in time"),
        (TRICKLE, 0.4, "no answer in time"),
        (BREAK, 5.0, "the connection broke off"),
    ],
    ids=["500", "hang", "trickle", "break"],
)
async def test_it_gives_up(reply: Reply, seconds: float, said: str) -> None:
    with PostServer(reply) as server:
        with pytest.raises(WebhookError) as caught:
            await hook(server.url, attempts=2, timeout=seconds)(SAMPLE, RESULT, 1.0)
        assert len(server.posted) == 2
    assert str(caught.value) == f"http://127.0.0.1: {said}"


SECRETS = ("s3cret", "t0ken", "passw0rd", "hunter2")


async def test_no_secret_is_told(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with PostServer(Reply(), Reply(404)) as server:
        url = server.url.replace("//", "//us3r:passw0rd@")
        send = Webhook(url, headers={"X-Key": "hunter2"}, attempts=1)
        await send(SAMPLE, RESULT, 1.0)
        with pytest.raises(WebhookError) as refused:
            await send(SAMPLE, RESULT, 1.0)
    assert server.posted[0].headers["Authorization"].startswith("Basic ")
    nobody = refused_url().replace("/v1", "/s3cret?key=s3cret")
    with pytest.raises(WebhookError, match=r"^http://127\.0\.0\.1: no connection$") as missing:
        await hook(nobody, attempts=2)(SAMPLE, RESULT, 1.0)
    shown = [repr(send), str(send)]
    for error in (refused.value, missing.value):
        shown += traceback.format_exception(error)
    shown += [record.getMessage() for record in caplog.records]
    assert any("POST http://127.0.0.1 " in text for text in shown)  # the client's own log
    for secret in SECRETS:
        assert not any(secret in text for text in shown)


NO_ADDRESSES = [
    "",
    "s3cret",
    "ftp://host/s3cret",
    "http://",
    "https:///s3cret",
    "http://[::1",
    "http://h:port",
]


def test_what_is_no_address_is_refused_unrepeated() -> None:
    for url in NO_ADDRESSES:
        with pytest.raises(ConfigError, match="is no http address") as caught:
            Webhook(url)
        assert "s3cret" not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("value", ["线\n", "a\r\nb: c", "\u0000"])
async def test_headers_that_cannot_be_sent(value: str) -> None:
    with PostServer() as server, pytest.raises(WebhookError, match="the headers cannot be sent"):
        await Webhook(server.url, headers={"X": value})(SAMPLE, RESULT, 1.0)
    assert server.posted == []


async def test_a_proxy_that_cannot_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "gopher://us3r:s3cret@host")
    with pytest.raises(WebhookError, match="a proxy of the environment cannot be used") as caught:
        await hook(refused_url())(SAMPLE, RESULT, 1.0)
    assert "s3cret" not in "".join(traceback.format_exception(caught.value))


async def test_a_proxy_that_lets_nothing_through(monkeypatch: pytest.MonkeyPatch) -> None:
    url = "https://host.example/s3cret"
    with PostServer() as proxy:
        monkeypatch.setenv("HTTPS_PROXY", f"http://us3r:s3cret@127.0.0.1:{proxy.port}")
        with pytest.raises(WebhookError) as caught:
            await hook(url, attempts=2)(SAMPLE, RESULT, 1.0)
    assert str(caught.value) == "https://host.example: the proxy does not let it through"
    assert "s3cret" not in "".join(traceback.format_exception(caught.value))


async def test_a_certificate_that_nobody_vouches_for_is_refused() -> None:
    with PostServer(tls=True) as server:
        with pytest.raises(WebhookError) as caught:
            await hook(server.url, attempts=1)(SAMPLE, RESULT, 1.0)
        assert server.posted == []
    assert str(caught.value) == "https://127.0.0.1: no connection"
    assert "s3cret" not in "".join(traceback.format_exception(caught.value))


async def test_a_certificate_that_is_vouched_for_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "trusted.pem").write_text(SELF_SIGNED)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "trusted.pem"))
    with PostServer(tls=True) as server:
        await hook(server.url, attempts=1)(SAMPLE, RESULT, 1.0)
    assert len(server.posted) == 1
