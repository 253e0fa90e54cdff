import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial

import pytest
from pydantic import JsonValue

from judge.backends.fake import FakeStore
from judge.backends.openai.chat import Capabilities, recall, remember
from judge.backends.openai.client import Connection, Policy
from judge.backends.openai.model import ChatModel, send_request, settle
from judge.errors import JudgeUnavailable
from judge.protocols import Store
from judge.records import ChatFailure, ChatReply, ChatRequest
from tests.replies import Answer, Body, Reset, Says, Script, Status, calls, picky
from tests.server import JudgeServer

KEY = "sk-secret-0123456789"
COMPLETION: dict[str, JsonValue] = {"choices": [{"message": {"content": "{}"}}]}


# The options of a server.

SCHEMA: dict[str, JsonValue] = {"type": "object", "properties": {"verdicts": {"type": "array"}}}

Settle = Callable[..., Capabilities]


@pytest.fixture
def probe(key: str, quick: Policy) -> Settle:
    def settled(
        url: str, memory: Store | None = None, model: str = "m", **policy: float
    ) -> Capabilities:
        async def main() -> Capabilities:
            changed = replace(quick, **policy)  # type: ignore[arg-type]  # attempts is an int
            async with Connection(url, key, policy=changed) as connection:
                return await settle(connection, model, SCHEMA, memory, Capabilities())

        return asyncio.run(main())

    return settled


def refuses(message: str, param: str | None = None, code: int = 400) -> Status:
    return Status(code, {"error": {"message": message, "param": param}})


def always(answer: Answer) -> Script:
    return lambda _: answer


fine = always(Says('{"verdicts": []}'))


TEMPERATURE = refuses(
    "Unsupported value: 'temperature' does not support 0 with this model.", "temperature"
)
LIMIT = refuses(
    "Unsupported parameter: 'max_tokens' is not supported with this model. "
    "Use 'max_completion_tokens' instead."
)


def test_a_server_that_accepts_everything_is_probed_once(probe: Settle) -> None:
    with JudgeServer(fine) as server:
        assert probe(server.base_url) == Capabilities(served="m")
    (asked,) = server.requests
    assert asked.is_probe
    assert asked.body["max_tokens"] == 256
    assert (asked.body["temperature"], asked.body["seed"]) == (0, 7)
    shape = asked.body["response_format"]
    assert isinstance(shape, dict)
    assert shape["json_schema"] == {"name": "reply", "strict": True, "schema": SCHEMA}
    # OpenAI refuses json_object where no message holds the word.
    assert "JSON" in asked.user


def test_the_probe_steps_down_to_the_accepted_options(probe: Settle) -> None:
    refused = {
        "max_tokens": LIMIT,
        "temperature": TEMPERATURE,
        "seed": Status(422, {"detail": [{"loc": ["body", "seed"], "msg": "temperature"}]}),
        "response_format": Status(500, "<html>failed to parse grammar</html>"),
    }
    with JudgeServer(picky(refused, fine)) as server:
        settled = probe(server.base_url)
    assert settled == Capabilities(
        response_format="text",
        temperature=False,
        seed=False,
        limit="max_completion_tokens",
        served="m",
    )
    assert len(server.requests) == 7
    extra = {"schema": refuses("extra field: schema", "response_format.schema")}
    with JudgeServer(
        picky(extra | {"json_schema": refuses("no structured output")}, fine)
    ) as server:
        assert probe(server.base_url).response_format == "json_object"


def test_a_model_that_reaches_the_limit_has_accepted_the_options(probe: Settle) -> None:
    cut = refuses(
        "Could not finish the message because max_tokens or model output limit was reached."
    )
    script = picky({"max_tokens": LIMIT, "temperature": TEMPERATURE}, always(cut))
    with JudgeServer(script) as server:
        settled = probe(server.base_url)
    assert settled == Capabilities(temperature=False, limit="max_completion_tokens")


REFUSALS: dict[str, Answer] = {
    "The sky is falling": refuses("The sky is falling"),
    "CUDA out of memory": Status(500, {"error": "CUDA out of memory"}),
    "nor that": refuses("max_completion_tokens: nor that", code=422),
    "at all": refuses("temperature must not be set at all"),
    "Welcome to nginx": Body("<html>Welcome to nginx</html>", "text/html"),
    "OPENAI_API_KEY": Status(401, {"error": "no such key"}),
    "model 'm' not found": Status(404, {"error": "model 'm' not found"}),
}


def test_a_refusal_that_no_option_explains_ends_the_probe(probe: Settle) -> None:
    steps = ("--base-url", "OPENAI_API_KEY", "the server has trouble of its own")
    for said, answer in REFUSALS.items():
        memory = FakeStore()
        with JudgeServer(always(answer)) as server, pytest.raises(JudgeUnavailable) as caught:
            probe(server.base_url, memory)
        message = str(caught.value)
        assert said in message
        assert server.base_url in message
        assert any(step in message for step in steps), message
        assert len(server.requests) <= 6
        assert not memory.texts


def test_a_silent_server_is_asked_three_times_with_one_message(
    probe: Settle, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "judge")
    with JudgeServer(always(Reset())) as server:
        with pytest.raises(JudgeUnavailable, match=r"is the server running\?"):
            probe(server.base_url, attempts=6)
        assert len(server.requests) == 3
    (told,) = (r.getMessage() for r in caplog.records if r.name == "judge")
    assert told.startswith(f"no answer yet from {server.base_url} (")
    assert told.endswith("; trying again")


# One request.


def run(
    url: str,
    use: Callable[[ChatModel, Connection], Awaitable[object]],
    settled: Capabilities | None = None,
    memory: FakeStore | None = None,
) -> object:
    async def main() -> object:
        policy = Policy(timeout=5.0, attempts=3, first_wait=0.004)
        async with Connection(url, KEY, policy=policy) as connection:
            capabilities = settled or Capabilities(served="m")
            send = partial(send_request, connection, capabilities, None)
            model = ChatModel(connection.server, "m", capabilities, memory, send)
            return await use(model, connection)

    return asyncio.run(main())


def known(memory: FakeStore, url: str) -> Capabilities | None:
    """Return the options that the next run starts from."""
    return asyncio.run(recall(memory, url, "m", Capabilities()))


def chat(
    url: str,
    question: ChatRequest,
    settled: Capabilities | None = None,
    memory: FakeStore | None = None,
) -> ChatReply | ChatFailure:
    outcome = run(url, lambda model, _: model.chat(question), settled, memory)
    assert isinstance(outcome, (ChatReply, ChatFailure))
    return outcome


def test_options_do_not_step_down_during_a_run(question: ChatRequest) -> None:
    memory = FakeStore()
    error: JsonValue = {"message": "no", "param": "response_format.type"}
    with JudgeServer(calls(Status(400, {"error": error}))) as server:
        asyncio.run(remember(memory, server.base_url, "m", Capabilities()))
        with pytest.raises(JudgeUnavailable, match="no longer takes 'response_format'") as caught:
            chat(server.base_url, question, memory=memory)
        assert known(memory, server.base_url) is None
    assert server.base_url in str(caught.value)
    assert "the same command" in str(caught.value)
    assert len(server.requests) == 1


def test_a_limit_that_is_too_high_is_a_failure_of_one_request(question: ChatRequest) -> None:
    with JudgeServer(calls(refuses("max_tokens is too large: 9999", "max_tokens"))) as server:
        failure = chat(server.base_url, question)
    assert isinstance(failure, ChatFailure)
    assert (failure.reason, failure.refused) == ("truncated", True)


def test_a_message_that_may_quote_judged_text_does_not_end_the_run(question: ChatRequest) -> None:
    async def use(model: ChatModel, _: Connection) -> object:
        return [await model.chat(question) for _ in range(2)]

    memory = FakeStore()
    quoting = Status(422, {"error": {"message": "cannot read 'the temperature is 21 degrees'"}})
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


def test_a_change_of_the_serving_model_is_remembered(question: ChatRequest) -> None:
    signatures = []

    async def use(model: ChatModel, _: Connection) -> object:
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
    served = [signature.split("|")[1] for signature in signatures]
    assert served == ["served:m-1", "served:m-2", "served:m-2", "served:m-2", "served:m-3"]
