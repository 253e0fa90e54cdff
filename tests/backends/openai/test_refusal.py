import json
import time
from email.utils import formatdate

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from judge.backends.openai.refusal import Refusal, clip, one_line, read_refusal

SENT: dict[str, JsonValue] = {
    "model": "m",
    "messages": [],
    "response_format": {},
    "temperature": 0,
    "seed": 7,
    "max_tokens": 9,
}


def response(
    body: JsonValue, status: int = 400, headers: dict[str, str] | None = None
) -> httpx2.Response:
    text = body if isinstance(body, str) else json.dumps(body)
    return httpx2.Response(status, text=text, headers=headers)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"error": {"message": "no such\n model"}}, "no such model"),  # OpenAI, Azure, llama.cpp
        ({"error": "model 'x' not found"}, "model 'x' not found"),  # Ollama
        ({"object": "error", "message": "bad"}, "bad"),  # vLLM
        ({"detail": "Not Found"}, "Not Found"),  # FastAPI
        (
            "<html><head><style>p {}</style><title>502</title></head><b>Bad Gateway</b>",
            "502 Bad Gateway",
        ),
        ("额度不足", "额度不足"),
        ("", ""),
        ("[" * 100_000, "[" * 2_000),
        ([1, {"a": None}], '[1, {"a": null}]'),
    ],
)
def test_the_words_are_found_in_the_shapes_that_servers_use(body: JsonValue, message: str) -> None:
    assert read_refusal(response(body)).message == message


def test_codes_are_the_error_s_its_type_s_and_the_inner_one() -> None:
    inner: JsonValue = {"code": "ResponsibleAIPolicyViolation"}
    error: JsonValue = {
        "code": "content_filter",
        "type": "bad",
        "innererror": inner,
        "message": "x",
    }
    found = read_refusal(response({"error": error}))
    assert found.codes == {"content_filter", "bad", "ResponsibleAIPolicyViolation"}
    # OpenRouter: numbers for codes, and what was flagged beside them.
    error = {"code": 403, "message": "flagged", "metadata": {"flagged_input": "…"}}
    assert read_refusal(response({"error": error}, 403)).codes == {"flagged_input"}


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({}, None),
        ({"Retry-After": "3"}, 3.0),
        ({"Retry-After": "0.25"}, 0.25),
        ({"Retry-After": "-1"}, 0.0),
        ({"Retry-After": "inf"}, None),
        ({"Retry-After": "soon"}, None),
        ({"retry-after-ms": "150", "Retry-After": "9"}, 0.15),
        ({"retry-after-ms": "x", "Retry-After": "9"}, 9.0),
        ({"Retry-After": "Fri, 01 Jan 2021 00:00:00 GMT"}, 0.0),
    ],
)
def test_how_long_to_wait(headers: dict[str, str], wait: float | None) -> None:
    assert read_refusal(response("x", 429, headers)).wait == wait


def test_a_date_to_wait_for_is_so_many_seconds_away() -> None:
    headers = {"Retry-After": formatdate(time.time() + 60, usegmt=True)}
    wait = read_refusal(response("x", 429, headers)).wait
    assert wait is not None
    assert 55 < wait <= 60


@pytest.mark.parametrize(
    ("error", "field"),
    [
        ({"param": "temperature", "message": "seed"}, "temperature"),
        ({"param": "response_format.json_schema", "message": ""}, "response_format"),
        # About the messages, whatever else it names.
        ({"param": "messages", "message": "must hold 'json' to use 'response_format'"}, None),
        # A field that was not sent cannot be what is refused.
        ({"param": "top_p", "message": "the seed"}, "seed"),
        (
            {
                "param": None,
                "message": "Unsupported parameter: 'max_tokens' is not supported with this "
                "model. Use 'max_completion_tokens' instead.",
            },
            "max_tokens",
        ),
        ({"message": "temperature does not support 0; seed is fine"}, "temperature"),
        ({"message": "failed to parse grammar"}, "response_format"),
        ({"message": "Extra inputs: json_schema"}, "response_format"),
        ({"message": "something else went wrong"}, None),
        ({"message": "max_tokens_per_day is reached"}, None),
        # So far behind, it is an echo of the request.
        ({"message": "bad input: " + "x" * 400 + " temperature"}, None),
        ({"detail": [{"loc": ["body", "seed"], "msg": "Extra", "input": "temperature"}]}, "seed"),
    ],
)
def test_the_field_an_error_is_about(error: dict[str, JsonValue], field: str | None) -> None:
    body: JsonValue = error if "detail" in error else {"error": error}
    assert read_refusal(response(body)).field(SENT) == field


def test_a_field_that_is_no_longer_sent_is_not_refused_again() -> None:
    sent = {name: value for name, value in SENT.items() if name != "temperature"}
    assert Refusal(400, message="temperature is not supported").field(sent) is None


def test_only_a_named_field_is_more_than_a_guess() -> None:
    guessed = Refusal(400, message="temperature must be 1")
    assert (guessed.field(SENT), guessed.named_field(SENT)) == ("temperature", None)
    named = Refusal(400, param="response_format.type", message="temperature")
    assert (named.field(SENT), named.named_field(SENT)) == ("response_format", "response_format")
    for param in ("messages", "top_p", ""):
        assert Refusal(400, param=param).named_field(SENT) is None


def test_half_a_surrogate_pair_and_control_characters_are_blanks() -> None:
    assert one_line("a\ud83d\x1b[1m\r\nb\u200b") == "a [1m b"
    assert read_refusal(response({"error": "a\ud83db"})).message == "a b"


def test_a_long_text_is_cut_to_a_line() -> None:
    assert clip("x" * 200) == "x" * 200
    assert clip("x" * 201) == "x" * 199 + "…"


@given(st.text(), st.integers(400, 599), st.dictionaries(st.text(), st.text()))
def test_any_body_reads_as_one_short_line(text: str, status: int, more: JsonValue) -> None:
    bodies: list[JsonValue] = [text, {"error": more}, {"error": {"message": text}}, [more]]
    for body in bodies:
        try:
            made = response(body, status)
        except UnicodeEncodeError:  # no server can send this
            continue
        detail = read_refusal(made).detail
        assert len(detail) <= 200
        assert len(detail.splitlines()) == 1
