import json

import pytest
from pydantic import JsonValue

from judge.backends.fake import FakeStore
from judge.backends.openai.chat import Capabilities, read_completion, recall, remember
from judge.records import ChatRequest

URL = "http://h/v1"
ALL = Capabilities()


# Options: what is asked for, and what is remembered.


def test_the_response_format_steps_down(question: ChatRequest) -> None:
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


SIGNATURES = [
    (Capabilities(), "json_schema|t:0|seed:7|max_tokens"),
    (Capabilities(served="m"), "json_schema|t:0|seed:7|max_tokens"),
    (Capabilities(served="m|t:1"), "served:m/t:1|json_schema|t:0|seed:7|max_tokens"),
    (
        Capabilities(served="m-2024", temperature=False, limit="max_completion_tokens"),
        "served:m-2024|json_schema|t:default|seed:7|max_completion_tokens",
    ),
    (
        Capabilities(response_format="json_object+schema", seed=False),
        "json_object+schema|t:0|seed:none|max_tokens",
    ),
    # Fields of the user override others; `printf '{"top_k": 1}' | sha256sum` begins so.
    (
        Capabilities(extra={"temperature": 0.6, "seed": "a|b", "top_k": 1}),
        "json_schema|t:0.6|seed:a/b|max_tokens|body:d22e66c0",
    ),
    (
        Capabilities(extra={"reasoning_effort": "low"}),
        "json_schema|t:0|seed:7|max_tokens|effort:low",
    ),
]


def test_the_signature_names_the_options() -> None:
    found = [settled.signature("m", "h:1") for settled, _ in SIGNATURES]
    assert found == [f"llm:m@h:1|{parts}" for _, parts in SIGNATURES]


async def test_options_are_remembered_by_server_and_model() -> None:
    memory = FakeStore()
    settled = Capabilities(seed=False, served="x")
    await remember(memory, URL, "m", settled)
    assert await recall(memory, URL, "m", ALL) == settled
    assert await recall(memory, URL, "n", ALL) is None
    assert await recall(memory, "http://i/v1", "m", ALL) is None
    await remember(memory, URL, "m", settled, still_valid=False)
    assert await recall(memory, URL, "m", ALL) is None
    # The accepted options may depend on additional fields.
    thinking = Capabilities(extra={"a": 1, "b": 2}, temperature=False)
    await remember(memory, URL, "m", thinking)
    assert await recall(memory, URL, "m", ALL) is None
    assert await recall(memory, URL, "m", Capabilities(extra={"a": 1})) is None
    again = await recall(memory, URL, "m", Capabilities(extra={"b": 2, "a": 1}))
    assert again == thinking


async def test_malformed_options_are_not_remembered() -> None:
    for text in ("", "{", "[]", '{"temperature": "odd"}', '{"of": "tomorrow"}'):
        memory = FakeStore()
        await remember(memory, URL, "m", ALL)
        await memory.put(dict.fromkeys(memory.texts, text))
        assert await recall(memory, URL, "m", ALL) is None, text
    await remember(None, URL, "m", ALL)
    assert await recall(None, URL, "m", ALL) is None


# Completions.


def body(
    message: JsonValue, finish: JsonValue = "stop", usage: JsonValue = None, model: JsonValue = "m"
) -> str:
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return json.dumps({"choices": [choice], "usage": usage, "model": model})


THOUGHT = ' {"verdicts": []}\n'
ENDS: list[tuple[JsonValue, JsonValue, str, str]] = [
    ({"content": "{"}, "length", "{", "length"),
    ({"content": "{"}, "MAX_TOKENS", "{", "length"),
    ({}, "content_filter: RECITATION", "", "content_filter"),
    (
        {"content": [{"type": "thinking", "text": "hm"}, {"type": "text", "text": "{}"}]},
        "stop",
        "{}",
        "stop",
    ),
    ({"content": ""}, "content_filter", "", "content_filter"),
    ({"content": None, "refusal": "I cannot."}, "stop", "I cannot.", "refusal"),
    ({"content": "x", "refusal": "no"}, "content_filter", "x", "content_filter"),
    ({"content": "x", "refusal": ""}, "stop", "x", "stop"),
    ({"content": None}, "stop", "", "stop"),
    ({}, None, "", "stop"),
    ({"content": "x", "tool_calls": [{"id": "1"}]}, "tool_calls", "x", "stop"),
    ({"content": None, "tool_calls": []}, "tool_calls", "", "stop"),
    # Thoughts are no part of a reply; without a reply they are shown.
    ({"content": "{}", "reasoning_content": "Hm."}, "stop", "{}", "stop"),
    ({"content": "", "reasoning_content": "Hm, {s1}"}, "length", "<think>Hm, {s1}", "length"),
    ({"content": None, "reasoning": "Hm."}, "stop", "<think>Hm.", "stop"),
    ({"content": " ", "reasoning_content": ' {"verdicts": []}\n'}, "stop", THOUGHT, "stop"),
    ({"content": None, "reasoning": "{}", "refusal": "No."}, "stop", "No.", "refusal"),
]


def test_the_reason_for_the_end_of_a_reply() -> None:
    wrong = []
    for message, finish, text, ended in ENDS:
        read = read_completion(body(message, finish), {})
        if (read.text, read.finish) != (text, ended):
            wrong.append((message, finish, read))
    assert wrong == []


def test_thinking_tokens_are_counted() -> None:
    # Completion, prompt and total as counted by OpenAI (with thoughts in the completion), xAI and
    # Gemini (only in the total); then an implausible total.
    for completion, prompt, total, spent in (
        (500, 100, 600, 500),
        (50, 100, 600, 500),
        (50, 100, 90, 50),
        (50, 100, None, 50),
        (50, None, 600, 50),
    ):
        usage: JsonValue = {
            "completion_tokens": completion,
            "prompt_tokens": prompt,
            "total_tokens": total,
            "completion_tokens_details": {"reasoning_tokens": 450},
        }
        assert read_completion(body({"content": "x"}, usage=usage), {}).reply_tokens == spent


def test_an_absent_count_is_estimated() -> None:
    odd: list[JsonValue] = [None, {}, {"prompt_tokens": None, "completion_tokens": -1}]
    sent: dict[str, JsonValue] = {"messages": [{"role": "user", "content": "四个汉字"}]}
    for usage in odd:
        read = read_completion(body({"content": "two words"}, usage=usage), sent)
        assert (read.prompt_tokens, read.reply_tokens) == (4, 3)


NO_REPLIES = [
    "",
    "null",
    "[]",
    "<html>",
    '{"choices": [{"mess',
    "{}",
    '{"choices": null}',
    '{"choices": []}',
    '{"choices": [{"finish_reason": "stop"}]}',
    '{"choices": "none"}',
    '{"error": {"message": "x"}}',
    "\ufffd\ufffd",
    body({"content": ["odd"]}),
    body({"content": "x"}, ["odd"]),
    body({"content": "half"}, "error"),
    '{"choices": ' + "[" * 100_000,
]


def test_a_body_without_a_reply_is_an_error() -> None:
    for broken in NO_REPLIES:
        with pytest.raises(ValueError, match=r"no reply|line 1"):
            read_completion(broken, {})
