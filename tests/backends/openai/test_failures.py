import ssl
from itertools import pairwise

import aiohttp
import httpx2
import openai
import pytest
from pydantic import JsonValue

from judge.backends.openai.body import Secret, TooLargeError
from judge.backends.openai.failures import broken, from_error, from_response

KEY = "sk-secret-0123456789"
SECRET = Secret(KEY)


def status(code: int, error: dict[str, JsonValue] | None = None) -> httpx2.Response:
    return httpx2.Response(code, json={"error": error or {"message": "words"}})


@pytest.mark.parametrize(
    ("code", "error", "reason", "again"),
    [
        (400, {"message": "bad"}, "server_error", False),
        (405, {"message": "bad"}, "server_error", False),
        (418, {"message": "bad"}, "server_error", False),
        (304, {"message": ""}, "server_error", False),
        (408, {"message": "slow"}, "timeout", True),
        (409, {"message": "lock"}, "server_error", True),
        (429, {"message": "slow down"}, "rate_limited", True),
        (500, {"message": "oops"}, "server_error", True),
        (503, {"message": "busy"}, "server_error", True),
        (529, {"message": "overloaded"}, "server_error", True),
        (400, {"message": "x", "code": "content_filter"}, "content_filter", False),
        (
            400,
            {"message": "x", "innererror": {"code": "ResponsibleAIPolicyViolation"}},
            "content_filter",
            False,
        ),
        (403, {"message": "x", "metadata": {"flagged_input": ""}}, "content_filter", False),
        (400, {"message": "x", "code": "context_length_exceeded"}, "truncated", False),
        (400, {"message": "x", "type": "exceed_context_size_error"}, "truncated", False),
        (400, {"message": "This model's maximum context length is 4096"}, "truncated", False),
        (500, {"message": "exceeds the available context size"}, "truncated", False),
    ],
)
def test_what_a_status_means(
    code: int, error: dict[str, JsonValue], reason: str, again: object
) -> None:
    failure = from_response(status(code, error))
    assert (failure.reason, failure.again, failure.step) == (reason, again, "")
    assert f"HTTP {code}: " in failure.detail


@pytest.mark.parametrize(
    ("code", "error", "step"),
    [
        (401, None, "OPENAI_API_KEY"),
        (402, None, "credit"),
        (403, None, "{option}"),
        (404, None, "{option}"),
        (404, None, "--base-url"),
        (429, {"message": "x", "code": "insufficient_quota"}, "credit"),
        (429, {"message": "x", "type": "insufficient_quota"}, "credit"),
    ],
)
def test_what_only_the_user_can_mend_says_how(
    code: int, error: dict[str, JsonValue] | None, step: str
) -> None:
    failure = from_response(status(code, error))
    assert step in failure.step
    assert not failure.again


def test_too_long_a_request_names_the_option_that_shortens_it() -> None:
    error: dict[str, JsonValue] = {"message": "too long", "code": "context_length_exceeded"}
    detail = from_response(status(400, error)).detail
    assert "--max-evidence-tokens" in detail
    assert "too long" in detail


def caused(*chain: BaseException) -> Exception:
    """The first, caused by the second, and so on."""
    for error, cause in pairwise(chain):
        error.__cause__ = cause
    first = chain[0]
    assert isinstance(first, Exception)
    return first


REQUEST = httpx2.Request("POST", "http://h/", headers={"Authorization": f"Bearer {KEY}"})


@pytest.mark.parametrize(
    ("root", "reason"),
    [
        (ConnectionRefusedError(111, "refused"), "connection"),
        (ssl.SSLError(1, "bad certificate"), "connection"),
        (aiohttp.ServerDisconnectedError(), "connection"),
        (aiohttp.http_exceptions.ContentLengthError("short"), "connection"),
        (TimeoutError(), "timeout"),
        (aiohttp.SocketTimeoutError("slow"), "timeout"),
        (aiohttp.http_exceptions.BadStatusLine("HTTQ"), "server_error"),
        (TooLargeError("a body of over 16 MiB"), "server_error"),
        (RuntimeError("never seen"), "server_error"),
    ],
)
def test_the_root_of_the_chain_decides_and_not_the_outermost(root: Exception, reason: str) -> None:
    outer = caused(openai.APITimeoutError(REQUEST), httpx2.ConnectTimeout("x"), root)
    failure = from_error(outer, SECRET)
    assert (failure.reason, failure.again) == (reason, True)
    assert "\n" not in failure.detail
    # A cause that Python noted by itself counts as well.
    outer.__cause__ = None
    outer.__context__ = root
    assert from_error(outer, SECRET).reason == reason


def test_a_status_error_is_read_as_its_response() -> None:
    response = httpx2.Response(429, json={"error": {"message": "slow"}}, request=REQUEST)
    error = openai.RateLimitError("x", response=response, body=None)
    assert from_error(error, SECRET) == from_response(response)


def test_an_error_in_words_of_its_own_does_not_show_the_key() -> None:
    # What is no HTTP at all: aiohttp quotes the line it could not read.
    failure = from_error(aiohttp.http_exceptions.BadStatusLine(f"got {KEY}"), SECRET)
    assert "got [key]" in failure.detail
    assert KEY not in repr(failure)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("", "an empty body"),
        ("<html><b>Welcome</b></html>", "Welcome"),
        ('{"error": {"message": "upstream broke off", "code": 502}}', "upstream broke off"),
    ],
)
def test_a_broken_reply_says_what_came_instead(body: str, said: str) -> None:
    failure = broken(httpx2.Response(200, text=body))
    assert (failure.reason, failure.again) == ("server_error", True)
    assert failure.detail == f"HTTP 200, but no reply in it: {said}"
