import hashlib
import json
import logging
import traceback
from pathlib import Path

import pytest

from judge import ConfigError, Sample, SampleResult, evaluate
from judge.backends.webhook import Webhook, WebhookError
from judge.records import Chunk
from tests.post_server import SELF_SIGNED, PostServer
from tests.replies import Answer, Hang, Status, Trickle, Wire
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


BREAK = Wire(b"")
"""The server takes the request and closes the connection."""


def hook(url: str, *, timeout: float = 5.0) -> Webhook:
    return Webhook(url, timeout=timeout, first_wait=0)


async def test_what_arrives() -> None:
    with PostServer(Status(204, None)) as server:
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


async def test_server_errors_are_retried() -> None:
    for status in (408, 429, 599):
        with PostServer(Status(status, {}), BREAK, Status(status, {}), Status(201, {})) as server:
            await hook(server.url)(SAMPLE, RESULT, 1.0)
        assert len(server.posted) == 4, status
        assert len({posted.raw for posted in server.posted}) == 1
        keys = {posted.headers["Idempotency-Key"] for posted in server.posted}
        assert keys == {hashlib.sha256(server.posted[0].raw).hexdigest()}


# The reply, the time-out in seconds, the message, and the number of posts.
REFUSALS: list[tuple[Answer, float, str, int]] = [
    (Status(404, {}), 5.0, "HTTP 404", 1),
    (
        Status(307, {}, {"Location": "http://u:s3cret@127.0.0.1:9/s3cret"}),
        5.0,
        "HTTP 307, and redirects are not followed",
        1,
    ),
    (Status(304, {}), 5.0, "HTTP 304", 1),
    (Status(500, {}), 5.0, "HTTP 500", 4),
    (Hang(), 0.3, "no answer in time", 4),
    (Trickle(), 0.3, "no answer in time", 4),
    (BREAK, 5.0, "no connection (RemoteProtocolError)", 4),
]


async def test_refusals_are_not_retried_and_other_failures_end_after_the_attempts() -> None:
    found = []
    for reply, seconds, *_ in REFUSALS:
        with PostServer(reply) as server:
            with pytest.raises(WebhookError) as caught:
                await hook(server.url, timeout=seconds)(SAMPLE, RESULT, 1.0)
            found.append((reply, seconds, str(caught.value), len(server.posted)))
    assert found == [(*row[:2], f"http://127.0.0.1: {row[2]}", row[3]) for row in REFUSALS]


SECRETS = ("s3cret", "t0ken", "passw0rd", "hunter2")


async def test_messages_and_logs_hold_no_secret(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    caplog.set_level(logging.DEBUG, "httpx")  # which other packages quiet as they are imported
    with PostServer(Status(200, {}), Status(404, {})) as server:
        url = server.url.replace("//", "//us3r:passw0rd@")
        send = Webhook(url, headers={"X-Key": "hunter2"})
        await send(SAMPLE, RESULT, 1.0)
        with pytest.raises(WebhookError) as refused:
            await send(SAMPLE, RESULT, 1.0)
    assert server.posted[0].headers["Authorization"].startswith("Basic ")
    nobody = refused_url().replace("/v1", "/s3cret?key=s3cret")
    with pytest.raises(WebhookError, match=r"^http://127\.0\.0\.1: no connection") as missing:
        await hook(nobody)(SAMPLE, RESULT, 1.0)
    shown = [repr(send), str(send)]
    for error in (refused.value, missing.value):
        shown += traceback.format_exception(error)
    shown += [record.getMessage() for record in caplog.records]
    assert any("POST http://127.0.0.1 " in text for text in shown)  # the client's own log
    for secret in SECRETS:
        assert not any(secret in text for text in shown)


def test_a_malformed_address_is_refused_and_not_repeated() -> None:
    nowhere = ["", "s3cret", "ftp://host/s3cret", "http://", "https:///s3cret", "http://h:port"]
    for url in (*nowhere, "http://[::1"):
        with pytest.raises(ConfigError, match="is no http address") as caught:
            Webhook(url)
        assert "s3cret" not in "".join(traceback.format_exception(caught.value))


async def test_a_certificate_must_be_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with PostServer(tls=True) as server:
        with pytest.raises(WebhookError) as caught:
            await hook(server.url)(SAMPLE, RESULT, 1.0)
        assert server.posted == []
        assert str(caught.value) == "https://127.0.0.1: no connection (ConnectError)"
        assert "s3cret" not in "".join(traceback.format_exception(caught.value))
        (tmp_path / "trusted.pem").write_text(SELF_SIGNED)
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "trusted.pem"))
        await hook(server.url)(SAMPLE, RESULT, 1.0)
    assert len(server.posted) == 1
