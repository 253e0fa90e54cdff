import asyncio
import json
import logging
from collections.abc import Awaitable, Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from judge.backends.fake import FakeStore
from judge.backends.openai import Capabilities, Connection, OpenAIModel, Policy
from judge.backends.openai.model import read_completion, recall, remember
from judge.errors import JudgeUnavailable
from judge.records import ChatFailure, ChatReply, ChatRequest
from tests.replies import Answer, Body, Reset, Says, Status, calls
from tests.server import JudgeServer

KEY = "sk-secret-0123456789"
URL = "http://h/v1"
COMPLETION: dict[str, JsonValue] = {"choices": [{"message": {"content": "{}"}}]}
REASONING = Capabilities(temperature=False, limit="max_completion_tokens", served="m")


# Options: what is asked for, and what is remembered.


def test_the_shape_is_asked_for_ever_less_strictly(question: ChatRequest) -> None:
    schema: JsonValue = dict(question.reply_schema)
    shapes = []
    settled: Capabilities | None = Capabilities()
    while settled is not None:
        shapes.append(settled.body("m", question).get("response_format"))
        settled = settled.without("response_format")
    assert shapes == [
        {"type": "json_schema", "json_schema": {"name": "reply", "strict": True, "schema": schema}},
        {"type": "json_object", "schema": schema},
        {"type": "json_object"},
        None,
    ]


@pytest.mark.parametrize(
    ("settled", "signature"),
    [
        (Capabilities(), "llm:m@h:1|json_schema|t:0|seed:7|max_tokens"),
        (Capabilities(served="m"), "llm:m@h:1|json_schema|t:0|seed:7|max_tokens"),
        (Capabilities(served="m|t:1"), "llm:m@h:1|served:m/t:1|json_schema|t:0|seed:7|max_tokens"),
        (
            Capabilities(served="m-2024", temperature=False, limit="max_completion_tokens"),
            "llm:m@h:1|served:m-2024|json_schema|t:default|seed:7|max_completion_tokens",
        ),
        (
            Capabilities(response_format="json_object+schema", seed=False),
            "llm:m@h:1|json_object+schema|t:0|seed:none|max_tokens",
        ),
    ],
)
def test_the_signature_holds_what_was_settled(settled: Capabilities, signature: str) -> None:
    assert settled.signature("m", "h:1") == signature


async def test_what_was_settled_is_remembered_for_its_server_and_model_alone() -> None:
    memory = FakeStore()
    settled = Capabilities(seed=False, served="x")
    await remember(memory, URL, "m", settled)
    known = await recall(memory, URL, "m")
    assert known == settled.model_copy(update={"remembered": True})
    assert known.signature("m", "h") == settled.signature("m", "h")
    assert await recall(memory, URL, "n") is None
    assert await recall(memory, "http://i/v1", "m") is None
    await remember(memory, URL, "m", None)
    assert await recall(memory, URL, "m") is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"temperature": "odd"}', '{"of": "tomorrow"}'])
async def test_what_cannot_be_read_is_not_remembered(text: str) -> None:
    memory = FakeStore()
    await remember(memory, URL, "m", Capabilities())
    await memory.put(dict.fromkeys(memory.texts, text))
    assert await recall(memory, URL, "m") is None
    await remember(None, URL, "m", Capabilities())
    assert await recall(None, URL, "m") is None


# Completions.


def body(
    message: JsonValue, finish: JsonValue = "stop", usage: JsonValue = None, model: JsonValue = "m"
) -> bytes:
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return json.dumps({"choices": [choice], "usage": usage, "model": model}).encode()


ENDS: list[tuple[JsonValue, JsonValue, str, str]] = [
    ({"content": "{"}, "length", "{", "length"),
    ({"content": "{"}, "max_tokens", "{", "length"),
    ({"content": "{"}, "MAX_TOKENS", "{", "length"),
    ({"content": "{"}, "model_length", "{", "length"),
    ({"content": "{"}, "model_context_window_exceeded", "{", "length"),
    ({"content": ""}, "content_filter", "", "content_filter"),
    ({"content": ""}, "SAFETY", "", "content_filter"),
    ({"content": ""}, "PROHIBITED_CONTENT", "", "content_filter"),
    ({"content": ""}, "sensitive", "", "content_filter"),
    ({"content": None, "refusal": "I cannot."}, "stop", "I cannot.", "refusal"),
    ({"content": "x", "refusal": "no"}, "content_filter", "x", "content_filter"),
    ({"content": "x", "refusal": ""}, "stop", "x", "stop"),
    ({"content": None}, "stop", "", "stop"),
    ({}, None, "", "stop"),
    ({"content": "x", "tool_calls": [{"id": "1"}]}, "tool_calls", "x", "stop"),
    ({"content": None, "tool_calls": []}, "tool_calls", "", "stop"),
    (
        {"content": [{"type": "thinking", "text": "hm"}, {"type": "text", "text": "{}"}]},
        "stop",
        "{}",
        "stop",
    ),
    ({"content": ["odd", {"type": "text", "text": 3}]}, ["odd"], "", "stop"),
]


def test_how_it_ended() -> None:
    wrong = []
    for message, finish, text, ended in ENDS:
        read = read_completion(body(message, finish))
        if (read.text, read.finish) != (text, ended):
            wrong.append((message, finish, read))
    assert wrong == []


def test_half_a_surrogate_pair_is_no_reason_to_lose_a_reply() -> None:
    sent = body({"content": "a\ud83d"}, model="m\ud83d")
    assert b"a\\ud83d" in sent
    read = read_completion(sent)
    assert (read.text, read.model) == ("a\ud83d", "m")


@pytest.mark.parametrize(
    "usage", [None, {}, [], "x", {"prompt_tokens": None, "completion_tokens": -1}]
)
def test_an_odd_count_is_no_count(usage: JsonValue) -> None:
    read = read_completion(body({"content": "x"}, usage=usage))
    assert (read.text, read.prompt_tokens, read.reply_tokens) == ("x", None, None)


NO_REPLIES = [
    b"",
    b"null",
    b"[]",
    b"<html>",
    b'{"choices": [{"mess',
    b"{}",
    b'{"choices": null}',
    b'{"choices": []}',
    b'{"choices": [{"finish_reason": "stop"}]}',
    b'{"choices": "none"}',
    b'{"error": {"message": "x"}}',
    b"\xff\xfe",
    body({"content": "half"}, "error"),
    body({"content": "half"}, "network_error"),
    body({"content": "half"}, "insufficient_system_resource"),
    b'{"choices": ' + b"[" * 100_000,
    b'{"choices": [{"message": {"content": ' + b"[" * 900 + b"]" * 900 + b"}}]}",
]


def test_what_holds_no_reply_is_refused() -> None:
    for broken in NO_REPLIES:
        with pytest.raises(ValueError, match=r"validation error|is an error|line 1|codec|nested"):
            read_completion(broken)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["type", "text"]), inner),
    max_leaves=6,
)


@settings(deadline=None)
@given(
    st.none() | st.fixed_dictionaries({}, optional={"content": ANYTHING, "refusal": ANYTHING}),
    ANYTHING,
    ANYTHING,
    ANYTHING,
)
def test_any_message_is_a_reply_and_any_other_is_none(
    message: JsonValue, finish: JsonValue, usage: JsonValue, model: JsonValue
) -> None:
    given_body = body(message, finish, usage, model)
    if message is None or finish == "error":
        with pytest.raises(ValueError, match=r"validation error|is an error"):
            read_completion(given_body)
    else:
        read = read_completion(given_body)
        assert isinstance(read.text, str)
        assert len(read.model.splitlines()) <= 1


# Over HTTP.


def run(
    url: str,
    use: Callable[[OpenAIModel, Connection], Awaitable[object]],
    settled: Capabilities | None = None,
    memory: FakeStore | None = None,
) -> object:
    async def main() -> object:
        policy = Policy(timeout=5.0, attempts=3, first_wait=0.004)
        async with Connection(url, KEY, policy=policy) as connection:
            capabilities = settled or Capabilities(served="m")
            return await use(OpenAIModel(connection, "m", capabilities, memory), connection)

    return asyncio.run(main())


def known(memory: FakeStore, url: str) -> Capabilities | None:
    """What the next run starts from."""
    found = asyncio.run(recall(memory, url, "m"))
    return found and found.model_copy(update={"remembered": False})


def chat(
    url: str,
    question: ChatRequest,
    settled: Capabilities | None = None,
    memory: FakeStore | None = None,
) -> ChatReply | ChatFailure:
    outcome = run(url, lambda model, _: model.chat(question), settled, memory)
    assert isinstance(outcome, (ChatReply, ChatFailure))
    return outcome


def test_a_reply(question: ChatRequest) -> None:
    with JudgeServer(calls(Reset(), Says("{}", model="m"))) as server:
        reply = chat(server.base_url, question)
    assert isinstance(reply, ChatReply)
    assert (reply.text, reply.finish, reply.model, reply.retries) == ("{}", "stop", "m", 1)
    assert (reply.prompt_tokens, reply.reply_tokens) == (server.prompt_tokens, 1)
    assert reply.seconds > 0


def test_tokens_that_are_not_counted_are_estimated(question: ChatRequest) -> None:
    body = '{"choices": [{"message": {"content": "好的 ok"}}], "usage": null}'
    changed = question.model_copy(update={"system": "判断 Judge", "user": "abcd" * 5})
    with JudgeServer(lambda _: Body(body)) as server:
        reply = chat(server.base_url, changed)
    assert isinstance(reply, ChatReply)
    # A token for each CJK character and for every four others: 2 and 6; 0 and 20; 2 and 3.
    assert reply.prompt_tokens == (2 + 2) + 5
    assert reply.reply_tokens == 2 + 1
    assert reply.model == "m"


@pytest.mark.parametrize(
    ("answer", "reason", "retries"),
    [
        (Status(400, {"error": {"message": "max_tokens, maximum context length"}}), "truncated", 0),
        (Status(400, {"error": {"message": "odd", "param": "messages"}}), "server_error", 0),
        (Status(500, {"error": "seed: the sampler failed"}), "server_error", 2),
    ],
)
def test_a_failure_is_a_value(
    question: ChatRequest, answer: Answer, reason: str, retries: int
) -> None:
    with JudgeServer(calls(answer)) as server:
        failure = chat(server.base_url, question)
    assert isinstance(failure, ChatFailure)
    assert (failure.reason, failure.retries) == (reason, retries)
    assert failure.detail
    assert failure.seconds > 0


@pytest.mark.parametrize(
    ("error", "field"),
    [
        ({"message": "no", "param": "temperature"}, "temperature"),
        ({"message": "no", "param": "response_format.type"}, "response_format"),
    ],
)
def test_nothing_steps_down_in_the_middle_of_a_run(
    question: ChatRequest, error: JsonValue, field: str
) -> None:
    memory = FakeStore()
    with JudgeServer(calls(Status(400, {"error": error}))) as server:
        asyncio.run(remember(memory, server.base_url, "m", Capabilities()))
        with pytest.raises(JudgeUnavailable, match=f"no longer takes '{field}'") as caught:
            chat(server.base_url, question, memory=memory)
        assert known(memory, server.base_url) is None
    assert server.base_url in str(caught.value)
    assert "the same command" in str(caught.value)
    assert "--max-reply-tokens" not in str(caught.value)
    assert len(server.requests) == 1


def test_a_limit_too_high_for_the_model_names_the_option_that_lowers_it(
    question: ChatRequest,
) -> None:
    error: JsonValue = {"message": "max_tokens is too large: 9999", "param": "max_tokens"}
    with (
        JudgeServer(calls(Status(400, {"error": error}))) as server,
        pytest.raises(JudgeUnavailable, match="--max-reply-tokens"),
    ):
        chat(server.base_url, question)


@pytest.mark.parametrize("code", [400, 422])
def test_a_message_that_may_quote_what_is_judged_stops_nobody(
    question: ChatRequest, code: int
) -> None:
    async def use(model: OpenAIModel, _: Connection) -> object:
        return [await model.chat(question) for _ in range(2)]

    memory = FakeStore()
    quoting = Status(code, {"error": {"message": "cannot read 'the temperature is 21 degrees'"}})
    with JudgeServer(calls(quoting, Says("{}", model="m-2"))) as server:
        asyncio.run(remember(memory, server.base_url, "m", Capabilities()))
        outcomes = run(server.base_url, use, memory=memory)
        # Nor does a model that serves later bring back what the next run is to find out anew.
        assert known(memory, server.base_url) is None
    assert isinstance(outcomes, list)
    failure, reply = outcomes
    assert isinstance(failure, ChatFailure)
    assert (failure.reason, failure.retries) == ("server_error", 0)
    assert "21 degrees" in failure.detail
    assert isinstance(reply, ChatReply)


def test_another_model_behind_the_name_is_told_and_remembered(
    question: ChatRequest, caplog: pytest.LogCaptureFixture
) -> None:
    signatures = []

    async def use(model: OpenAIModel, _: Connection) -> object:
        signatures.append(model.signature)
        for _name in names:
            await model.chat(question)
            signatures.append(model.signature)
        return None

    memory = FakeStore()
    first = Capabilities(served="m-1", seed=False)
    names = ["m-2", "m-2", "", "m-3"]
    bodies = [Body(json.dumps(COMPLETION | {"model": name})) for name in names]
    with JudgeServer(calls(*bodies)) as server:
        asyncio.run(remember(memory, server.base_url, "m", first))
        run(server.base_url, use, first, memory)
        assert known(memory, server.base_url) == first.model_copy(update={"served": "m-3"})
    told = [r.getMessage() for r in caplog.records if r.levelno >= logging.WARNING]
    assert [message.count("'m-2'") for message in told] == [1, 1]
    assert "'m-1'" in told[0]
    assert "'m-3'" in told[1]
    served = [signature.split("|")[1] for signature in signatures]
    assert served == ["served:m-1", "served:m-2", "served:m-2", "served:m-2", "served:m-3"]


@pytest.mark.parametrize(
    ("settled", "room", "limit"),
    [(REASONING, 7, 107), (REASONING, 16_384, 16_484), (Capabilities(), 7, 100)],
)
def test_the_room_to_think_can_be_set(
    question: ChatRequest, settled: Capabilities, room: int, limit: int
) -> None:
    async def use(_: OpenAIModel, connection: Connection) -> object:
        return await OpenAIModel(connection, "m", settled, room=room).chat(question)

    with JudgeServer(calls(Says("{}"))) as server:
        run(server.base_url, use)
    assert server.requests[0].body[settled.limit] == limit


@pytest.mark.parametrize(("counted", "warned"), [(499, 1), (500, 0), (0, 0)])
def test_a_prompt_that_seems_cut_is_told_once(
    question: ChatRequest, caplog: pytest.LogCaptureFixture, counted: int, warned: int
) -> None:
    usage: JsonValue = {"prompt_tokens": counted, "completion_tokens": 1}
    long = question.model_copy(update={"system": "", "user": "字" * 4000})

    async def ask(model: OpenAIModel, _: Connection) -> None:
        for _again in range(2):
            await model.chat(long)

    with JudgeServer(lambda _: Body(json.dumps(COMPLETION | {"usage": usage}))) as server:
        run(server.base_url, ask)
    told = [r.getMessage() for r in caplog.records if r.levelno >= logging.WARNING]
    assert len(told) == warned
    assert all("--max-evidence-tokens" in each for each in told)
