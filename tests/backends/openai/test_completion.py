import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from judge.backends.openai.completion import Completion, read_completion


def body(
    message: JsonValue, finish: JsonValue = "stop", usage: JsonValue = None, model: JsonValue = "m"
) -> bytes:
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return json.dumps({"choices": [choice], "usage": usage, "model": model}).encode()


def test_a_plain_reply() -> None:
    usage: JsonValue = {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15}
    read = read_completion(body({"role": "assistant", "content": "好"}, usage=usage))
    assert read == Completion("好", "stop", "m", 12, 3)
    assert read_completion(b"\xef\xbb\xbf" + body({"content": "好"})).text == "好"


@pytest.mark.parametrize(
    ("message", "finish", "text", "ended"),
    [
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
    ],
)
def test_how_it_ended(message: JsonValue, finish: JsonValue, text: str, ended: str) -> None:
    read = read_completion(body(message, finish))
    assert (read.text, read.finish) == (text, ended)


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


@pytest.mark.parametrize(("model", "name"), [(None, ""), (3, ""), ("a\nb", "a b")])
def test_an_odd_model_name_breaks_no_line(model: JsonValue, name: str) -> None:
    assert read_completion(body({"content": "x"}, model=model)).model == name


@pytest.mark.parametrize(
    "broken",
    [
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
    ],
)
def test_what_holds_no_reply_is_refused(broken: bytes) -> None:
    with pytest.raises(ValueError, match=r"validation error|is an error|line 1|codec|nested"):
        read_completion(broken)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["type", "text"]), inner),
    max_leaves=6,
)


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
