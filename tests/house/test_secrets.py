"""The key is sent to the server alone: all output, logs and files are searched for it."""

import json
import logging
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from judge import Config, ConfigError, Evaluator, JudgeUnavailable, Sample
from judge.records import Chunk
from tests.chat_call import ChatCall
from tests.commands import Ran, judge, line, write
from tests.faults import error
from tests.replies import (
    Answer,
    Body,
    Says,
    Script,
    Status,
    calls,
    packed,
    right,
    verdict,
    verdicts,
)
from tests.server import JudgeServer, refused_url

KEY = "sk-proj-Zebra0123456789Quagga"
PASSWORD = "hunter2hunter2"  # noqa: S105  no secret of anybody's
FIELDS = ("message", "type", "param", "code")
SAMPLE = Sample(qid="q", answer="七点开门。", chunks=(Chunk(chunk_id="a", text="七点开门。"),))


@pytest.fixture
def keyed(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    (place / "judge.toml").write_text("attempts = 1\npatience = 0\n")
    write(place / "in.jsonl", [line(f"q{n}", f"Room {n} is open. 第{n}室开放。") for n in range(3)])
    return place


def given(call: ChatCall) -> str:
    """The key, as the server was sent it."""
    key = call.headers["Authorization"].removeprefix("Bearer ")
    assert key == KEY
    return key


def always(answer: Callable[[str], Answer]) -> Script:
    """Probes and calls are answered with the key."""
    return lambda call: answer(given(call))


def in_calls(answer: Callable[[str], Answer]) -> Script:
    """Calls alone are."""
    return calls(always(answer))


def escaped(key: str) -> str:
    """JSON may write a letter as its number."""
    return "".join(f"\\u{ord(letter):04x}" for letter in key)


def telling(call: ChatCall) -> Says:
    """Right verdicts, and the key is the reason for each."""
    key = given(call)
    return Says(packed([verdict(call, name, "none") | {"reason": key} for name in call.ids]))


def escaping(*, inner: bool) -> Script:
    """The same in escapes of the response, or of the reply in it."""

    def script(call: ChatCall) -> Answer:
        text = telling(call).text or ""
        if inner:
            text = text.replace(KEY, escaped(KEY))
        body = json.dumps({"model": KEY, "choices": [{"message": {"content": text}}]})
        return Body(body.replace(KEY, escaped(KEY)))

    return script


# A reply that repeats the key, and the exit code of the run.
ECHOES: Mapping[str, tuple[Script, int]] = {
    "nothing": (right, 0),
    "401": (always(lambda key: error(401, f"Incorrect API key provided: {key}.")), 2),
    "401 in mid-run": (in_calls(lambda key: error(401, f"Wrong key: {key}")), 2),
    "400 in mid-run": (in_calls(lambda key: error(400, f"what is {key}?", key)), 3),
    "500 in mid-run": (in_calls(lambda key: error(500, f"crashed at {key}")), 3),
    "500 in every field": (
        in_calls(lambda key: Status(500, {"error": dict.fromkeys(FIELDS, key)})),
        3,
    ),
    "500 in escapes": (
        in_calls(lambda key: Status(500, f'{{"error": {{"message": "no {escaped(key)}"}}}}')),
        3,
    ),
    "a model's name": (lambda call: Says(verdicts(call), model=given(call)), 0),
    "a verdict's reason": (telling, 0),
    "a verdict's reason in escapes": (escaping(inner=False), 0),
    "a verdict's reason in escapes of escapes": (escaping(inner=True), 0),
}


def look(ran: Ran, place: Path, *secrets: str) -> None:
    """Through standard output and error, and every byte of every file."""
    files = [path for path in place.rglob("*") if path.is_file()]
    for secret in secrets:
        assert secret not in ran.out
        assert secret not in ran.err
        for path in files:
            assert secret.encode() not in path.read_bytes(), path


@pytest.mark.parametrize("name", ECHOES)
def test_the_key_in_a_reply_is_not_shown(
    keyed: Path, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    script, code = ECHOES[name]
    caplog.set_level(logging.DEBUG)
    with JudgeServer(script) as server:
        words = ("-o", keyed / "run", *server.words, "--debug")
        ran = judge("score", keyed / "in.jsonl", *words)
        assert all(given(asked) for asked in server.requests)
        assert server.requests
    assert ran.code == code, ran.err
    look(ran, keyed, KEY, KEY[3:], KEY[:-3])
    assert (keyed / "run" / "results.jsonl").exists() is (code != 2)
    # This includes the records of the libraries.
    assert not any(KEY in record.getMessage() for record in caplog.records)


def trace(raised: BaseException) -> str:
    return "".join(traceback.format_exception(raised))


@pytest.mark.usefixtures("keyed")
async def test_objects_and_errors_do_not_show_the_key() -> None:
    with JudgeServer(in_calls(lambda key: error(401, f"no {key}", key, key))) as server:
        config = server.config()
        evaluator = Evaluator(config)
        async with evaluator:
            shown = [repr(config), repr(evaluator), str(vars(evaluator)), evaluator.signature]
            with pytest.raises(JudgeUnavailable) as raised:
                [result async for result in evaluator.evaluate([SAMPLE])]
    shown += [str(raised.value), repr(raised.value), trace(raised.value)]
    shown += [config.model_dump_json(), str(config)]
    assert "OPENAI_API_KEY" in str(raised.value)  # the next step
    assert not any(KEY in text for text in shown)


def header_of(call: ChatCall) -> str:
    """Return the password that the request's own header holds."""
    assert call.headers["X-Api-Auth"] == f"Basic {PASSWORD}"
    return PASSWORD


HEADER_ECHOES: Mapping[str, tuple[Script, int]] = {
    "500 in mid-run": (calls(lambda call: error(500, f"crashed at {header_of(call)}")), 3),
    "a name": (lambda call: Says(verdicts(call), model=f"m-{header_of(call)}"), 0),
}


@pytest.mark.parametrize("name", HEADER_ECHOES)
def test_a_secret_header_is_not_shown(
    keyed: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    caplog.set_level(logging.DEBUG)
    script, code = HEADER_ECHOES[name]
    monkeypatch.setenv("JUDGE_HEADERS", f'{{"X-Api-Auth": "Basic {PASSWORD}"}}')
    with JudgeServer(script) as server:
        words = ("-o", keyed / "run", *server.words, "--debug")
        ran = judge("score", keyed / "in.jsonl", *words)
        assert server.requests
        assert {given(asked) for asked in server.requests} == {KEY}
    assert ran.code == code, ran.err
    look(ran, keyed, PASSWORD, KEY)
    assert not any(PASSWORD in record.getMessage() for record in caplog.records)


ADDRESSES = (
    "http://user:{}@127.0.0.1:9/v1",
    "http://{}@127.0.0.1:9/v1",
    "http://127.0.0.1:9/v1?key={}",
    "http://127.0.0.1:9/v1#{}",
    "http://a:{}@[::1",
)


def test_an_address_with_a_password_is_refused_without_it(
    keyed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("score", keyed / "in.jsonl", "-o", keyed / "run", "--model", "tiny", "--debug")
    for address in ADDRESSES:
        url = address.format(PASSWORD)
        monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
        by_option = judge(*words, "--base-url", url)
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        for ran in (by_option, judge(*words)):
            assert (ran.code, ran.out) == (2, "")
            look(ran, keyed, PASSWORD)
        with pytest.raises(ConfigError) as raised:
            Config(base_url=url)
        assert PASSWORD not in trace(raised.value)


def test_a_malformed_key_is_refused_without_it(
    keyed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", f"{PASSWORD}。")
    words = ("--model", "tiny", "--base-url", refused_url(), "--debug", "--patience", 0)
    ran = judge("score", keyed / "in.jsonl", "-o", keyed / "run", *words)
    assert ran.code == 2
    assert "OPENAI_API_KEY" in ran.err
    assert PASSWORD not in ran.err
