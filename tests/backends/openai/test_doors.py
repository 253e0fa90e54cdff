"""Runs with other providers' OpenAI-compatible servers: every verdict comes, or says why not.

What a server ignores, refuses and answers is as its provider documents it, on the page that is
named, or as users quoted it.
"""

import re
import shlex
from collections.abc import Mapping
from pathlib import Path

import pytest
from pydantic import JsonValue

import judge.backends.openai as guided
from judge.inputs.runs import read_record
from judge.records import Unscored
from tests.chat_call import ChatCall
from tests.commands import Ran, judge, line, results, write
from tests.faults import error
from tests.replies import Answer, Says, Script, Status, right
from tests.server import JudgeServer

GEMINI_KEY = "AIza-0123456789"

CANTEEN = [
    line(qid="one", answer="The canteen opens at seven. It closes at three."),
    line(qid="two", answer="食堂早上七点开门。"),
    line(qid="three", answer="It is open all year round."),
]


GUIDE = Path(guided.__file__).with_name("README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```bash\n(.*?)^```$", GUIDE, flags=re.MULTILINE | re.DOTALL)


@pytest.fixture(autouse=True)
def samples(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OPENAI_API_KEY", GEMINI_KEY)
    return write(place / "samples.jsonl", CANTEEN)


def score(server: JudgeServer, *words: object) -> Ran:
    command = ("score", "samples.jsonl", "-o", "run", "--no-fallback", "--force", "--no-cache")
    return judge(*command, *server.words, "--concurrency", 1, *words)


def anthropic(call: ChatCall) -> Answer:
    """`response_format` and `seed` are ignored: see the page that the guide names."""
    assert call.headers["Authorization"].startswith("Bearer ")
    assert call.body.get("n", 1) == 1
    # github.com/decolua/9router/issues/1748, of models from Opus 4.7 on.
    if "temperature" in call.body:
        kind = "invalid_request_error"
        return error(400, "`temperature` is deprecated for this model.", None, kind, kind)
    # platform.claude.com/docs/en/api/errors
    busy = [(529, "overloaded_error"), (429, "rate_limit_error")]
    if not call.is_probe and call.number < len(busy):
        code, kind = busy[call.number]
        return Status(code, error(code, kind, None, kind, kind).body, {"retry-after": "0"})
    reply = right(call)
    assert isinstance(reply, Says)
    return Says(f"I read each sentence [1].\n```json\n{reply.text}\n```\nThat is all.")


def google_error(
    code: int, status: str, message: str, **details: Mapping[str, JsonValue]
) -> Status:
    """An error of Google's, which comes in a list: discuss.ai.google.dev/t/82899."""
    listed: list[JsonValue] = [
        {"@type": f"type.googleapis.com/google.rpc.{kind}", **each}
        for kind, each in details.items()
    ]
    fields: JsonValue = {"code": code, "message": message, "status": status, "details": listed}
    return Status(code, [{"error": fields}])


def unknown_field(name: str, place: str = "") -> Status:
    message = f'Invalid JSON payload received. Unknown name "{name}"{place}: Cannot find field.'
    fields: dict[str, JsonValue] = {"fieldViolations": [{"description": message}]}
    return google_error(400, "INVALID_ARGUMENT", message, BadRequest=fields)


def gemini(call: ChatCall) -> Answer:
    """Of a schema it takes a part: ai.google.dev/gemini-api/docs/openai."""
    shape = call.body.get("response_format")
    if call.headers["Authorization"] != f"Bearer {GEMINI_KEY}":
        message = "API key not valid. Please pass a valid API key."
        reason = {"reason": "API_KEY_INVALID"}
        return google_error(400, "INVALID_ARGUMENT", message, ErrorInfo=reason)
    if "seed" in call.body:  # github.com/Vali-98/ChatterUI/issues/227
        return unknown_field("seed")
    if isinstance(shape, dict) and shape["type"] == "json_schema":
        # github.com/prism-php/prism/issues/974
        return unknown_field("additionalProperties", " at 'generation_config.response_schema'")
    if isinstance(shape, dict) and "schema" in shape:
        return unknown_field("schema", " at 'response_format'")
    if not call.is_probe and call.number == 0:
        message = "You exceeded your current quota, please check your plan and billing details."
        wait = {"retryDelay": "0.02s"}
        return google_error(429, "RESOURCE_EXHAUSTED", message, QuotaFailure={}, RetryInfo=wait)
    if "poem" in call.user:
        # The message has no content then: github.com/bespokelabsai/curator/issues/261
        return Says(None, finish="content_filter: RECITATION")
    return right(call)


SERVERS = [
    (anthropic, "json_schema|t:default|seed:7|max_tokens"),
    (gemini, "json_object|t:0|seed:none|max_tokens"),
]


@pytest.mark.parametrize(("script", "settled"), SERVERS)
def test_all_verdicts_come_through(script: Script, settled: str) -> None:
    with JudgeServer(script) as server:
        ran = score(server)
    assert ran.code == 0, ran
    listed = [each for result in results(Path("run")) for each in result.sentences]
    assert [each.outcome.type for each in listed] == ["verdict"] * 4
    assert f"|{settled}|" in read_record(Path("run")).signature


def test_the_commands_of_the_guide_work() -> None:
    commands = [line for block in BLOCKS for line in block.splitlines()]
    assert commands
    for command in commands:
        with JudgeServer() as server:
            _, *words = shlex.split(re.sub(r"https://\S+", server.base_url, command))
            ran = judge(*words, "--base-url", server.base_url)
        assert ran.code == 0, ran


def test_what_google_withholds_is_said_to_be_withheld() -> None:
    write(Path("samples.jsonl"), [*CANTEEN, line(qid="rose", answer="The poem names a rose.")])
    with JudgeServer(gemini) as server:
        ran = score(server, "--max-unscored", 1)
    assert ran.code == 0, ran
    *_, last = results(Path("run"))
    (withheld,) = (each.outcome for each in last.sentences)
    assert isinstance(withheld, Unscored)
    assert withheld.reason == "content_filter"
