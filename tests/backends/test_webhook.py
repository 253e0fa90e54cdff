import asyncio
import hashlib
import json
import logging
import traceback

import pytest

from judge import ConfigError, Sample, SampleResult, evaluate
from judge.backends.webhook import Webhook, WebhookError
from judge.records import Chunk
from tests.posted import BREAK, HANG, TRICKLE, PostServer, Reply
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


async def test_the_same_result_bears_the_same_key_and_another_another() -> None:
    other = SAMPLE.model_copy(update={"answer": "八点开门。"})
    resigned = RESULT.model_copy(update={"signature": "other"})
    renamed = RESULT.model_copy(update={"qid": "2"})
    with PostServer(Reply(500), Reply()) as server:
        send = hook(server.url)
        await send(SAMPLE, RESULT, 0.5)
        await send(SAMPLE, RESULT, 0.7)
        await send(other, RESULT, 0.5)
        await send(SAMPLE, resigned, 0.5)
        await send(SAMPLE, renamed, 0.5)
    keys = [posted.headers["Idempotency-Key"] for posted in server.posted]
    assert keys[0] == keys[1] == keys[2]
    assert len(set(keys)) == 4
    parts = json.dumps([RESULT.qid, RESULT.signature, SAMPLE.answer])
    assert keys[0] == hashlib.sha256(parts.encode()).hexdigest()


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 599])
async def test_a_server_in_trouble_is_asked_again(status: int) -> None:
    with PostServer(Reply(status), BREAK, Reply(status), Reply(201)) as server:
        await hook(server.url)(SAMPLE, RESULT, 1.0)
    assert len(server.posted) == 4
    assert len({str(posted.body) for posted in server.posted}) == 1


@pytest.mark.parametrize(
    "asked", ["0", "0.0", "-5", "Wed, 21 Oct 2015 07:28:00 GMT", "soon", "nan"]
)
async def test_a_wait_that_the_server_asks_for(asked: str) -> None:
    with PostServer(Reply(429, {"Retry-After": asked}), Reply()) as server:
        await hook(server.url)(SAMPLE, RESULT, 1.0)
    assert len(server.posted) == 2


async def test_a_wait_is_taken_but_not_for_long() -> None:
    # Ten seconds at most: the call is ended while it waits, which shows that it does.
    with PostServer(Reply(503, {"Retry-After": "86400"}), Reply()) as server:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await hook(server.url)(SAMPLE, RESULT, 1.0)
        assert len(server.posted) == 1


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
        (HANG, 0.2, "no answer in time"),
        (TRICKLE, 0.2, "no answer in time"),
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


@pytest.mark.parametrize(
    "url",
    [
        "",
        "s3cret",
        "ftp://host/s3cret",
        "http://",
        "https:///s3cret",
        "http://[::1",
        "http://h:port",
    ],
)
def test_what_is_no_address_is_refused_unrepeated(url: str) -> None:
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


async def test_half_a_surrogate_pair_arrives() -> None:
    sample = SAMPLE.model_copy(update={"qid": "\ud83d", "answer": "\ud83d"})
    with PostServer() as server:
        await hook(server.url)(sample, RESULT.model_copy(update={"qid": "\ud83d"}), 1.0)
    assert server.posted[0].body["qid"] == "\ud83d"


def test_one_object_serves_several_loops() -> None:
    with PostServer() as server:
        send = hook(server.url)
        for _ in range(2):
            asyncio.run(send(SAMPLE, RESULT, 1.0))
    assert len(server.posted) == 2
