import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace

import pytest
from pydantic import JsonValue

from judge.backends.fake import FakeStore
from judge.backends.openai import Capabilities, Connection, Policy, settle
from judge.backends.openai.failures import Failure, Refusal
from judge.backends.openai.probe import Watch
from judge.errors import JudgeUnavailable
from judge.protocols import Store
from judge.records import UnscoredReason
from tests.asked import Asked
from tests.replies import Answer, Body, Hang, Reset, Says, Script, Status, picky
from tests.server import JudgeServer

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
                return await settle(connection, model, SCHEMA, memory)

        return asyncio.run(main())

    return settled


def refuses(message: str, param: str | None = None, code: int = 400) -> Status:
    return Status(code, {"error": {"message": message, "param": param}})


def fine(_: Asked) -> Answer:
    return Says('{"verdicts": []}')


TEMPERATURE = refuses(
    "Unsupported value: 'temperature' does not support 0 with this model.", "temperature"
)
LIMIT = refuses(
    "Unsupported parameter: 'max_tokens' is not supported with this model. "
    "Use 'max_completion_tokens' instead."
)


def test_a_server_that_takes_everything_is_asked_once(probe: Settle) -> None:
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


def test_it_steps_down_to_what_is_taken(probe: Settle) -> None:
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


def test_a_model_that_thinks_beyond_the_limit_has_taken_the_options(probe: Settle) -> None:
    cut = refuses(
        "Could not finish the message because max_tokens or model output limit was reached."
    )
    script = picky({"max_tokens": LIMIT, "temperature": TEMPERATURE}, lambda _: cut)
    with JudgeServer(script) as server:
        settled = probe(server.base_url)
    assert settled == Capabilities(temperature=False, limit="max_completion_tokens")


def test_a_passing_fault_is_tried_again_and_steps_nothing_down(probe: Settle) -> None:
    faults: list[Answer] = [Status(500, {"error": "oops"}), Body("<html>", "text/html")]

    def script(asked: Asked) -> Answer:
        return faults[asked.number] if asked.number < len(faults) else fine(asked)

    with JudgeServer(script) as server:
        assert probe(server.base_url) == Capabilities(served="m")


@pytest.mark.parametrize(
    ("script", "said"),
    [
        (lambda _: refuses("The sky is falling"), "The sky is falling"),
        (lambda _: Status(500, {"error": "CUDA out of memory"}), "CUDA out of memory"),
        (lambda _: refuses("max_completion_tokens: nor that", code=422), "nor that"),
        (lambda _: refuses("temperature must not be set at all"), "at all"),
        (lambda _: Body("<html>Welcome to nginx</html>", "text/html"), "Welcome to nginx"),
        (lambda _: Status(401, {"error": "no such key"}), "OPENAI_API_KEY"),
        (lambda _: Status(404, {"error": "model 'm' not found"}), "model 'm' not found"),
    ],
)
def test_a_refusal_that_no_option_explains_ends_it(
    probe: Settle, script: Script, said: str
) -> None:
    memory = FakeStore()
    with JudgeServer(script) as server, pytest.raises(JudgeUnavailable) as caught:
        probe(server.base_url, memory)
    message = str(caught.value)
    assert said in message
    assert server.base_url in message
    steps = ("--base-url", "OPENAI_API_KEY", "the server has trouble of its own")
    assert any(step in message for step in steps)
    assert len(server.requests) <= 6
    assert not memory.texts


def test_who_does_not_answer_is_asked_three_times_and_it_is_said_once(
    probe: Settle, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "judge")
    with JudgeServer(lambda _: Reset()) as server:
        with pytest.raises(JudgeUnavailable, match=r"is the server running\?"):
            probe(server.base_url, attempts=6)
        assert len(server.requests) == 3
    (told,) = (r.getMessage() for r in caplog.records if r.name == "judge")
    assert told.startswith(f"no answer yet from {server.base_url} (")
    assert told.endswith("; trying again")


def test_a_server_that_hangs_gets_the_time_of_one_attempt(probe: Settle) -> None:
    with JudgeServer(lambda _: Hang()) as server:
        with pytest.raises(JudgeUnavailable, match=r"no whole answer.*is the server running\?"):
            probe(server.base_url, timeout=0.2)
        assert len(server.requests) == 1


URL = "http://127.0.0.1:9/v1"
REFUSED = Failure(UnscoredReason.CONNECTION, "no connection: refused")
BUSY = Failure(UnscoredReason.SERVER_ERROR, "HTTP 503: loading", refusal=Refusal(503))
LIMITED = Failure(UnscoredReason.RATE_LIMITED, "HTTP 429: slow down", refusal=Refusal(429))


def watch(attempts: int = 6, timeout: float = 5.0) -> Watch:
    made = Watch(
        # Not entered: nothing is sent.
        Connection(URL, "", policy=Policy(timeout=timeout, attempts=attempts)),
        "m",
        "--model",
        "chat",
    )
    made.start()
    return made


def attempts_of(watch: Watch, failure: Failure) -> int:
    return next((number for number in range(1, 20) if watch.gives_up(failure)), 20)


async def test_where_nobody_is_three_attempts_are_enough() -> None:
    assert attempts_of(watch(), REFUSED) == 3
    assert attempts_of(watch(attempts=2), REFUSED) == 2
    assert attempts_of(watch(), BUSY) == 6
    assert attempts_of(watch(), LIMITED) == 20


async def test_nothing_is_said_of_trying_again_where_nobody_does(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    assert watch(attempts=1).gives_up(REFUSED)
    assert not watch(timeout=0.0).gives_up(REFUSED)
    assert not [record for record in caplog.records if record.name == "judge"]
