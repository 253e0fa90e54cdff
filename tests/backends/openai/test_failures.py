import json

from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from judge.backends.openai.failures import Failure, broken, read_failure


def read(body: JsonValue, status: int = 400, headers: dict[str, str] | None = None) -> Failure:
    return read_failure(status, body if isinstance(body, str) else json.dumps(body), headers)


STATUSES: list[tuple[int, dict[str, JsonValue], str, bool]] = [
    (400, {"message": "bad"}, "server_error", False),
    (100, {"message": "go on"}, "server_error", True),
    (101, {"message": "odd"}, "server_error", True),
    (418, {"message": "bad"}, "server_error", False),
    (304, {"message": ""}, "server_error", False),
    (408, {"message": "slow"}, "timeout", True),
    (409, {"message": "lock"}, "server_error", True),
    (429, {"message": "slow down"}, "rate_limited", True),
    (500, {"message": "oops"}, "server_error", True),
    (503, {"message": "busy"}, "server_error", True),
    (529, {"message": "overloaded"}, "server_error", True),
    (400, {"message": "x", "code": "content_filter"}, "content_filter", False),
    (403, {"message": "x", "code": "content_filter"}, "content_filter", False),
    (403, {"message": "x", "metadata": {"flagged_input": ""}}, "content_filter", False),
    (404, {"message": "x", "code": "context_length_exceeded"}, "truncated", False),
    (500, {"message": "failed to parse grammar"}, "server_error", False),
    (400, {"message": "x", "code": "context_length_exceeded"}, "truncated", False),
    (400, {"message": "x", "type": "exceed_context_size_error"}, "truncated", False),
    (400, {"message": "This model's maximum context length is 4096"}, "truncated", False),
    (500, {"message": "exceeds the available context size"}, "truncated", False),
]


def test_the_reason_of_a_status() -> None:
    wrong = []
    for code, error, reason, again in STATUSES:
        failure = read({"error": error}, code)
        told = f"HTTP {code}: " in failure.detail
        if (failure.reason, failure.again, failure.step, told) != (reason, again, "", True):
            wrong.append((code, error, failure))
    assert wrong == []


BROKEN = {
    "": "an empty body",
    "<html><b>Welcome</b></html>": "Welcome",
    '{"error": {"message": "upstream broke off", "code": 502}}': "upstream broke off",
}


def test_a_body_without_a_reply_is_quoted() -> None:
    for body, said in BROKEN.items():
        failure = broken(200, body)
        assert (failure.reason, failure.again) == ("server_error", True)
        assert failure.detail == f"HTTP 200, but no reply in it: {said}"


SENT: dict[str, JsonValue] = {
    "model": "m",
    "messages": [],
    "response_format": {},
    "temperature": 0,
    "seed": 7,
    "max_tokens": 9,
}


BODIES: list[tuple[JsonValue, str]] = [
    ({"error": {"message": "no such\n model"}}, "no such model"),  # OpenAI, Azure, llama.cpp
    ({"error": "model 'x' not found"}, "model 'x' not found"),  # Ollama
    ({"object": "error", "message": "bad"}, "bad"),  # vLLM
    ({"detail": "Not Found"}, "Not Found"),  # FastAPI
    ({"error": None, "message": "gone"}, "gone"),
    (
        "<html><head><style>p {}</style><title>502</title></head><b>Bad Gateway</b>",
        "502 Bad Gateway",
    ),
    ("额度不足", "额度不足"),
    ("", ""),
    ("[" * 100_000, "[" * 2_000),
    ([1, {"a": None}], '[1, {"a": null}]'),
]


def test_messages_are_read_in_the_shapes_of_known_servers() -> None:
    found = [(body, read(body).message) for body, _ in BODIES]
    assert found == BODIES


WAITING: list[tuple[dict[str, str], float | None]] = [
    ({}, None),
    ({"retry-after": "3"}, 3.0),
    ({"retry-after": "inf"}, None),
    ({"retry-after": "soon"}, None),
    ({"retry-after-ms": "150", "retry-after": "9"}, 0.15),
    ({"retry-after-ms": "x", "retry-after": "9"}, 9.0),
    ({"retry-after": "-1"}, 0.0),
    ({"retry-after": "Fri, 01 Jan 2021 00:00:00 GMT"}, 0.0),
]


def test_the_requested_wait() -> None:
    found = [(each, read("x", 429, each).wait) for each, _ in WAITING]
    assert found == WAITING


def test_what_gemini_says_in_the_details_of_an_error() -> None:
    for delay, wait in (("38s", 38.0), ("0.5s", 0.5), ("-1s", None), (38, None)):
        error: JsonValue = {"message": "x", "details": ["odd", {"retryDelay": delay}]}
        assert read([{"error": error}], 429).wait == wait
        assert read({"error": error}, 429, {"retry-after": "3"}).wait == 3
    wrong_key = read([{"error": {"message": "x", "details": [{"reason": "API_KEY_INVALID"}]}}], 400)
    assert wrong_key.step.startswith("set OPENAI_API_KEY")


ABOUT: list[tuple[dict[str, JsonValue], str | None]] = [
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
    # At the end of a long message it is an echo of the request.
    ({"message": "bad input: " + "x" * 400 + " temperature"}, None),
]


def test_the_field_that_an_error_is_about() -> None:
    found = [(error, read({"error": error}).field(SENT)) for error, _ in ABOUT]
    assert found == ABOUT


@given(st.text(), st.integers(400, 599), st.dictionaries(st.text(), st.text()))
def test_any_body_reads_as_one_short_line(text: str, status: int, more: JsonValue) -> None:
    bodies: list[JsonValue] = [text, {"error": more}, {"error": {"message": text}}, [more]]
    for body in bodies:
        detail = read(body, status).detail
        assert len(detail) <= 200
        assert len(detail.splitlines()) == 1
