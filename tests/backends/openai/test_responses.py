"""OpenAI's newer endpoint, /responses, over real HTTP: all that the older one does."""

import json
from pathlib import Path

import pytest
from openai.types.responses import response_create_params
from openai.types.responses.response_output_message import ResponseOutputMessage
from pydantic import JsonValue

from judge.backends.openai.chat import read_completion
from judge.inputs.runs import read_record
from judge.records import Verdict
from tests.batch_provider import BatchProvider
from tests.chat_call import ChatCall
from tests.commands import Ran, judge, line, results, write
from tests.faults import FILTERED, REFUSED, cut, error
from tests.replies import Answer, Body, Script, Status, calls, picky, right
from tests.server import JudgeServer

ANSWERS = [
    line(qid="one", answer="The canteen opens at seven. It closes at three."),
    line(qid="two", answer="食堂早上七点开门。"),
]
THERE = ("--endpoint", "responses")
FIELDS = response_create_params.ResponseCreateParamsNonStreaming.__annotations__.keys()


@pytest.fixture(autouse=True)
def samples(place: Path) -> Path:
    return write(place / "samples.jsonl", ANSWERS)


def score(server: JudgeServer, *words: object, into: str = "run") -> Ran:
    return judge("score", "samples.jsonl", "-o", into, *server.words, *THERE, *words)


def outcomes(run: str = "run") -> list[object]:
    return [each.outcome for result in results(Path(run)) for each in result.sentences]


def message(*parts: JsonValue, **fields: JsonValue) -> dict[str, JsonValue]:
    return {"type": "message", "id": "m", "role": "assistant", "content": [*parts], **fields}


def says(text: str) -> dict[str, JsonValue]:
    return {"type": "output_text", "text": text, "annotations": []}


def test_a_run_at_responses_has_its_own_verdicts_and_signature() -> None:
    with JudgeServer() as server:
        ran = score(server)
        older = judge("score", "samples.jsonl", "-o", "older", *server.words)
        again = score(server, into="again")
    assert (ran.code, older.code, again.code) == (0, 0, 0), ran
    assert (server.probes, server.calls) == (2, 4)  # nothing is taken over, and nothing asked twice
    new, old = server.requests[:3], server.requests[3:]
    assert ["input" in each.body for each in new + old] == [True] * 3 + [False] * 3
    (seen,) = {str(sorted(each.body)) for each in new}
    assert seen == str(["input", "max_output_tokens", "model", "store", "temperature", "text"])
    assert new[0].body.keys() <= FIELDS
    assert [each.messages for each in new] == [each.messages for each in old]
    shape = old[0].body["response_format"]
    assert isinstance(shape, dict)
    assert isinstance(shape["json_schema"], dict)
    assert new[0].body["text"] == {"format": {"type": "json_schema", **shape["json_schema"]}}
    assert (new[0].body["store"], new[0].body["max_output_tokens"]) == (False, 256)
    assert all(isinstance(each, Verdict) for each in outcomes())
    signature = read_record(Path("run")).signature
    assert "|t:0|seed:none|endpoint:responses|max_output_tokens|" in signature


THINKS: dict[str, JsonValue] = {
    "type": "reasoning",
    "summary": [],
    "content": [{"type": "reasoning_text", "text": "Hm."}],
}
SUMMED: dict[str, JsonValue] = {
    "type": "reasoning",
    "summary": [{"type": "summary_text", "text": "So."}],
}
NO: dict[str, JsonValue] = {"type": "refusal", "refusal": "I cannot."}
FULL: JsonValue = {"reason": "max_output_tokens"}
# status, incomplete_details, output; text, finish
READ: list[tuple[JsonValue, JsonValue, list[JsonValue], str, str]] = [
    ("completed", None, [message(says("{}"))], "{}", "stop"),
    ("completed", None, [message(says("{"), says("}"))], "{}", "stop"),
    ("completed", None, [THINKS, SUMMED, message(says("{}"))], "{}", "stop"),
    # Remarks on the way are no verdict.
    ("completed", None, [message(says("Well."), phase="commentary"), message(says("{}"), phase="final_answer")], "{}", "stop"),  # noqa: E501
    ("completed", None, [message(NO)], "I cannot.", "refusal"),
    ("incomplete", FULL, [message(says("{"))], "{", "length"),
    ("incomplete", FULL, [], "", "length"),
    ("incomplete", FULL, [THINKS, SUMMED], "<think>Hm.So.", "length"),
    ("incomplete", None, [message(says("{"))], "{", "length"),
    ("incomplete", {"reason": "content_filter"}, [message(says("x"))], "x", "content_filter"),
    ("completed", None, [{"type": "odd"}, {"type": "message"}], "", "stop"),
]  # fmt: skip
NONE: list[tuple[JsonValue, JsonValue, JsonValue]] = [
    ("completed", None, []),
    ("completed", None, None),
    ("failed", None, [message(says("{}"))]),
    ("queued", None, []),
    ({"odd": 1}, None, [message(says("{}"))]),
]


def body(status: JsonValue, details: JsonValue, output: JsonValue) -> str:
    usage = {"input_tokens": 7, "output_tokens": 5, "total_tokens": 14}
    named = {"status": status, "incomplete_details": details, "output": output}
    return json.dumps({"object": "response", "model": "m", "usage": usage, **named})


def test_the_reply_in_a_response() -> None:
    for status, details, output, text, finish in READ:
        read = read_completion(body(status, details, output), {})
        assert (read.text, read.finish, read.model) == (text, finish, "m"), output
        # Some count thoughts in the total alone.
        assert (read.prompt_tokens, read.reply_tokens) == (7, 7)
    for status, details, none in NONE:
        with pytest.raises(ValueError, match=r"reply|response"):
            read_completion(body(status, details, none), {})
    ResponseOutputMessage.model_validate(message(says("{}"), status="completed", phase=None))


def ended(code: str) -> dict[str, JsonValue]:
    """A response that failed, which comes with status 200."""
    named: JsonValue = {"code": code, "message": "It went wrong."}
    return {"object": "response", "status": "failed", "error": named, "output": []}


def failed(code: str) -> Body:
    return Body(json.dumps(ended(code)))


TROUBLES: list[tuple[Answer | Script, str]] = [
    (FILTERED, "content_filter"),
    (REFUSED, "refused"),
    (cut, "truncated"),
    (failed("bio_policy"), "content_filter"),
    (failed("something new"), "server_error"),
]


def test_failures_have_their_own_reasons(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUDGE_ATTEMPTS", "1")
    for trouble, reason in TROUBLES:
        with JudgeServer(calls(trouble)) as server:
            words = ("--no-fallback", "--no-cache")
            ran = score(server, *words, "--max-reply-tokens", 1_000, "--force")
        assert ran.code == 3, ran
        assert {str(getattr(each, "reason", "")) for each in outcomes()} == {reason}, trouble


def test_the_probe_steps_down_and_leaves_room_for_thinking() -> None:
    refused = {
        "json_schema": error(400, "Not supported with this model.", "text.format"),
        "json_object": error(400, "Invalid value: 'text.format.type' is no type."),
        "temperature": error(400, "Unsupported parameter: 'temperature'", "temperature"),
    }

    def thinks(asked: ChatCall) -> Answer:
        # Thinking takes 4 000 tokens of the limit.
        limit = asked.body["max_output_tokens"]
        assert isinstance(limit, int)
        return right(asked) if asked.is_probe or limit > 4_000 else cut(asked)

    with JudgeServer(picky(refused, thinks)) as server:
        ran = score(
            server,
            "--reasoning-effort",
            "low",
            "--extra-body",
            '{"reasoning": {"summary": "auto"}}',
        )
    assert (ran.code, server.probes, server.calls) == (0, 4, 2), ran
    asked = server.requests[-1].body
    assert asked["reasoning"] == {"summary": "auto", "effort": "low"}
    assert not {"text", "temperature", "reasoning_effort"} & asked.keys()
    assert "|text|t:default|seed:none|endpoint:responses|max_output_tokens|effort:low|" in (
        read_record(Path("run")).signature
    )


def test_errors_are_one_line_with_the_next_step() -> None:
    rows: list[tuple[Script, tuple[str, ...], str]] = [
        (lambda _: Status(404, {"error": "Not Found"}), (), "check --model and --endpoint, and"),
        (
            lambda _: error(400, "Unknown", "reasoning.effort"),
            ("--reasoning-effort", "odd"),
            "--reasoning-effort",
        ),
        (right, ("--extra-body", '{"text": {"verbosity": "low"}}'), "judge itself sets 'text'"),
        (right, ("--endpoint", "completions"), "'chat', 'responses'"),
    ]
    for refusal, words, said in rows:
        with JudgeServer(refusal) as server:
            ran = score(server, *words)
        assert (ran.code, ran.err.count("\n"), server.calls) == (2, 1, 0), ran
        assert said in ran.err


def test_batches_and_dry_runs_use_the_endpoint() -> None:
    with BatchProvider() as server:
        dry = judge("score", "samples.jsonl", "--dry-run", *server.words, *THERE)
        assert (dry.code, server.calls) == (0, 0), dry
        written = ("samples.jsonl", "-o", "night", *server.words, *THERE)
        for step in ("write", "send", "read"):
            ran = judge("batch", step, *(written if step == "write" else ["night"]))
            assert ran.code == 0, ran
        (order,) = server.batches.values()
        rows = [json.loads(row) for row in server.files[str(order["input_file_id"])].splitlines()]
        ends = (str(row["body"]["max_output_tokens"]) for row in rows)
        assert [row["custom_id"].rpartition("-")[2] for row in rows] == [*ends]
        assert order["endpoint"] == "/v1/responses"
        assert score(server).code == 0
        assert server.calls == 0
        mixed = judge("batch", "write", "samples.jsonl", "-o", "night", *server.words)
    assert "2 answers, 3 claims: 3 judged" in ran.out
    assert (mixed.code, "settings (endpoint)" in mixed.err) == (2, True)
