import asyncio
import json
import logging
from collections.abc import Awaitable, Callable

import pytest
from pydantic import JsonValue

from judge.backends.fake import FakeStore
from judge.backends.openai import Capabilities, Connection, OpenAIModel, Policy
from judge.backends.openai.capabilities import recall, remember
from judge.errors import JudgeUnavailable
from judge.protocols import Model
from judge.records import ChatFailure, ChatReply, ChatRequest
from tests.replies import calls
from tests.server import Answer, Body, JudgeServer, Reset, Says, Status

KEY = "sk-secret-0123456789"
COMPLETION: dict[str, JsonValue] = {"choices": [{"message": {"content": "{}"}}]}
REASONING = Capabilities(temperature=False, limit="max_completion_tokens", served="m")


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
    found = recall(memory, url, "m")
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
    assert 0 < reply.seconds < 5


def test_the_request_is_made_of_what_was_settled(question: ChatRequest) -> None:
    settled = Capabilities(response_format="json_object", seed=False, served="m")
    with JudgeServer(calls(Says("{}"))) as server:
        chat(server.base_url, question, settled)
    (asked,) = server.requests
    assert asked.body == settled.body("m", question)
    assert asked.ids == ["s1"]


def test_a_reasoning_model_gets_room_to_think(question: ChatRequest) -> None:
    with JudgeServer(calls(Says("{}"))) as server:
        chat(server.base_url, question, REASONING)
    assert server.requests[0].body["max_completion_tokens"] == 100 + 16_384


@pytest.mark.parametrize(
    ("said", "text", "finish"),
    [
        (Says("{", finish="length"), "{", "length"),
        (Says("", finish="content_filter"), "", "content_filter"),
        (Says(None, refusal="I cannot."), "I cannot.", "refusal"),
        (Says(None), "", "stop"),
        (Says("x", finish="tool_calls"), "x", "stop"),
    ],
)
def test_how_a_reply_ended(question: ChatRequest, said: Says, text: str, finish: str) -> None:
    with JudgeServer(calls(said)) as server:
        reply = chat(server.base_url, question)
    assert isinstance(reply, ChatReply)
    assert (reply.text, reply.finish) == (text, finish)


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
        (Reset(), "connection", 2),
        (Status(500, {"error": "oops"}), "server_error", 2),
        (Status(429, {"error": "slow down"}), "rate_limited", 2),
        (Body("<html></html>", "text/html"), "server_error", 2),
        (Status(400, {"error": {"message": "x", "code": "content_filter"}}), "content_filter", 0),
        (
            Status(400, {"error": {"message": "max_tokens, maximum context length"}}),
            "truncated",
            0,
        ),
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


def test_the_deadline_of_a_request_is_kept(question: ChatRequest) -> None:
    async def use(model: OpenAIModel, _: Connection) -> object:
        deadline = asyncio.get_running_loop().time() + 1.0
        return await model.chat(question.model_copy(update={"deadline": deadline}))

    with JudgeServer(calls(Status(429, {"error": "x"}, {"Retry-After": "9"}))) as server:
        failure = run(server.base_url, use)
    assert isinstance(failure, ChatFailure)
    assert failure.reason == "rate_limited"
    assert failure.seconds < 0.9


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
        remember(memory, server.base_url, "m", Capabilities())
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
        remember(memory, server.base_url, "m", Capabilities())
        outcomes = run(server.base_url, use, memory=memory)
        # Nor does a model that serves later bring back what the next run is to find out anew.
        assert known(memory, server.base_url) is None
    assert isinstance(outcomes, list)
    failure, reply = outcomes
    assert isinstance(failure, ChatFailure)
    assert (failure.reason, failure.retries) == ("server_error", 0)
    assert "21 degrees" in failure.detail
    assert isinstance(reply, ChatReply)


def test_a_wrong_key_stops_the_run(question: ChatRequest) -> None:
    with (
        JudgeServer(calls(Status(401, {"error": "bad key"}))) as server,
        pytest.raises(JudgeUnavailable, match="OPENAI_API_KEY"),
    ):
        chat(server.base_url, question)


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
        remember(memory, server.base_url, "m", first)
        run(server.base_url, use, first, memory)
        assert known(memory, server.base_url) == first.model_copy(update={"served": "m-3"})
    told = [r.getMessage() for r in caplog.records if r.levelno >= logging.WARNING]
    assert [message.count("'m-2'") for message in told] == [1, 1]
    assert "'m-1'" in told[0]
    assert "'m-3'" in told[1]
    served = [signature.split("|")[1] for signature in signatures]
    assert served == ["served:m-1", "served:m-2", "served:m-2", "served:m-2", "served:m-3"]


def test_a_gateway_that_goes_to_and_fro_is_told_once_each_way(
    question: ChatRequest, caplog: pytest.LogCaptureFixture
) -> None:
    async def use(model: OpenAIModel, _: Connection) -> object:
        return [await model.chat(question) for _ in range(6)]

    with JudgeServer(calls(*[Says("{}", model=f"m-{i % 2}") for i in range(6)])) as server:
        run(server.base_url, use, Capabilities(served="m-1"))
    assert len([r for r in caplog.records if r.levelno >= logging.WARNING]) == 2


def test_a_model_first_named_by_a_reply_is_learnt_without_a_word(
    question: ChatRequest, caplog: pytest.LogCaptureFixture
) -> None:
    async def use(model: OpenAIModel, _: Connection) -> object:
        await model.chat(question)
        return model.signature

    with JudgeServer(calls(Says("{}", model="m-1"))) as server:
        assert "|served:m-1|" in str(run(server.base_url, use, Capabilities()))
    assert not [r for r in caplog.records if r.levelno >= logging.WARNING]


def test_the_key_in_a_reply_reaches_neither_text_nor_signature(question: ChatRequest) -> None:
    seen: list[object] = []

    async def use(model: OpenAIModel, _: Connection) -> object:
        reply = await model.chat(question)
        seen.extend([reply, model.signature, memory.texts])
        return reply

    memory = FakeStore()
    with JudgeServer(calls(Says(f'{{"a": "{KEY}"}}', model=f"m {KEY}"))) as server:
        remember(memory, server.base_url, "m", Capabilities(served="m"))
        reply = run(server.base_url, use, memory=memory)
    assert isinstance(reply, ChatReply)
    assert (reply.text, reply.model) == ('{"a": "[key]"}', "m [key]")
    assert "served:m [key]" in str(seen[1])
    assert KEY not in repr(seen)


def test_half_a_surrogate_pair_is_a_reply(question: ChatRequest) -> None:
    with JudgeServer(calls(Says("好 \ud83d ok", model="m"))) as server:
        reply = chat(server.base_url, question)
    assert isinstance(reply, ChatReply)
    assert (reply.text, reply.retries, len(server.requests)) == ("好 \ud83d ok", 0, 1)


@pytest.mark.parametrize(("settled", "limit"), [(REASONING, 107), (Capabilities(), 100)])
def test_the_room_to_think_can_be_set(
    question: ChatRequest, settled: Capabilities, limit: int
) -> None:
    async def use(_: OpenAIModel, connection: Connection) -> object:
        return await OpenAIModel(connection, "m", settled, room=7).chat(question)

    with JudgeServer(calls(Says("{}"))) as server:
        run(server.base_url, use)
    assert server.requests[0].body[settled.limit] == limit


def test_the_model_that_was_probed_is_nothing_to_tell(
    question: ChatRequest, caplog: pytest.LogCaptureFixture
) -> None:
    for settled in (Capabilities(served="m-1"), Capabilities()):
        with JudgeServer(calls(Says("{}", model="m-1"))) as server:
            chat(server.base_url, question, settled)
    assert not [r for r in caplog.records if r.levelno >= logging.WARNING]


def test_the_signature_names_model_host_and_options() -> None:
    async def use(model: OpenAIModel, _: Connection) -> object:
        same: Model = model
        return same.signature

    signature = "llm:m@127.0.0.1:9|json_schema|t:default|seed:7|max_completion_tokens"
    assert run("http://127.0.0.1:9/v1", use, REASONING) == signature


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
