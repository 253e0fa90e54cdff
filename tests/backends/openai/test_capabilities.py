import pytest
from pydantic import JsonValue

from judge.backends.fake import FakeStore
from judge.backends.openai import Capabilities
from judge.backends.openai.capabilities import recall, remember
from judge.records import ChatRequest

URL = "http://h/v1"


def test_all_options_are_asked_for_at_first(question: ChatRequest) -> None:
    assert Capabilities().body("m", question) == {
        "model": "m",
        "messages": [
            {"role": "system", "content": question.system},
            {"role": "user", "content": question.user},
        ],
        "max_tokens": 100,
        "temperature": 0,
        "seed": 7,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "reply", "strict": True, "schema": question.reply_schema},
        },
    }


def test_none_is_asked_for_where_none_is_taken(question: ChatRequest) -> None:
    least = Capabilities(
        response_format="text", temperature=False, seed=False, limit="max_completion_tokens"
    )
    body = least.body("m", question)
    assert body.keys() == {"model", "messages", "max_completion_tokens"}


def test_the_shape_is_asked_for_ever_less_strictly(question: ChatRequest) -> None:
    schema: JsonValue = dict(question.reply_schema)
    shapes = []
    settled: Capabilities | None = Capabilities()
    while settled is not None:
        shapes.append(settled.body("m", question).get("response_format"))
        settled = settled.without("response_format")
    assert shapes == [
        {
            "type": "json_schema",
            "json_schema": {"name": "reply", "strict": True, "schema": schema},
        },
        {"type": "json_object", "schema": schema},
        {"type": "json_object"},
        None,
    ]


def test_each_option_goes_once_and_takes_no_other_with_it() -> None:
    every = Capabilities()
    assert every.without("temperature") == Capabilities(temperature=False)
    assert every.without("seed") == Capabilities(seed=False)
    assert every.without("max_tokens") == Capabilities(limit="max_completion_tokens")
    for field in ("temperature", "seed", "max_tokens"):
        less = every.without(field)
        assert less is not None
        assert less.without(field) is None
    assert every.without("max_completion_tokens") is None
    assert every.without("messages") is None


@pytest.mark.parametrize(
    ("settled", "signature"),
    [
        (Capabilities(), "llm:m@h:1|json_schema|t:0|seed:7|max_tokens"),
        (Capabilities(served="m"), "llm:m@h:1|json_schema|t:0|seed:7|max_tokens"),
        (
            Capabilities(served="m|t:1"),
            "llm:m@h:1|served:m/t:1|json_schema|t:0|seed:7|max_tokens",
        ),
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


def test_what_was_settled_is_remembered_for_its_server_and_model_alone() -> None:
    memory = FakeStore()
    settled = Capabilities(seed=False, served="x")
    remember(memory, URL, "m", settled)
    known = recall(memory, URL, "m")
    assert known == settled.model_copy(update={"remembered": True})
    assert known.signature("m", "h") == settled.signature("m", "h")
    assert recall(memory, URL, "n") is None
    assert recall(memory, "http://i/v1", "m") is None
    remember(memory, URL, "m", None)
    assert recall(memory, URL, "m") is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"temperature": "odd"}', '{"of": "tomorrow"}'])
def test_what_cannot_be_read_is_not_remembered(text: str) -> None:
    memory = FakeStore()
    remember(memory, URL, "m", Capabilities())
    memory.put(dict.fromkeys(memory.texts, text))
    assert recall(memory, URL, "m") is None


def test_without_a_memory_nothing_is_known() -> None:
    remember(None, URL, "m", Capabilities())
    assert recall(None, URL, "m") is None
