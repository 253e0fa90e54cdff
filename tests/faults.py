"""Faulty replies and errors, as real models and servers send them."""

import random
from typing import Final

from pydantic import JsonValue

from tests.chat_call import ChatCall
from tests.replies import (
    TOO_MANY,
    Answer,
    Body,
    Hang,
    Reset,
    Says,
    Script,
    Status,
    packed,
    verdict,
    verdicts,
)

# Replies of status 200 with a faulty text


def fewer(call: ChatCall) -> Answer:
    """Leave the last id out."""
    return Says(packed([verdict(call, each) for each in call.ids[:-1]]))


def double(call: ChatCall) -> Answer:
    """Give two different verdicts on the first id."""
    replies = [verdict(call, each) for each in call.ids]
    return Says(packed([*replies, verdict(call, call.ids[0], "none")]))


def unknown(call: ChatCall) -> Answer:
    """Add a verdict on an id that the request does not have."""
    return Says(packed([verdict(call, each) for each in [*call.ids, "s99"]]))


def renamed(call: ChatCall) -> Answer:
    """Replace the last id by one that the request does not have."""
    return Says(packed([verdict(call, each) for each in [*call.ids[:-1], "s99"]]))


def off_menu(call: ChatCall) -> Answer:
    """Give the first sentence an unknown label."""
    return Says(verdicts(call, **{call.ids[0]: "supported"}))


def fenced(call: ChatCall) -> Answer:
    """Put the reply into a Markdown fence."""
    return Says(f"```json\n{verdicts(call)}\n```")


def prose(call: ChatCall) -> Answer:
    """Put remarks with brackets and braces around the reply."""
    before = "Sure! Here is my judgement of {all sentences} [1]:"
    return Says(f"{before}\n\n{verdicts(call)}\n\nLet me know if you need more :-}}")


def tricky_quotes(call: ChatCall) -> Answer:
    """Quote braces, brackets, a fence and escapes."""
    return Says(verdicts(call, quote='he said: "}]} [1] {\\n```json {"id":"s1"}```'))


def glued(call: ChatCall) -> Answer:
    """Give one object a sentence, with nothing between them."""
    return Says("".join(packed([verdict(call, each)]) for each in call.ids))


def broken(call: ChatCall) -> Answer:
    """Leave the last brackets out, under the finish reason of a complete reply."""
    return Says(verdicts(call)[:-2])


def cut(call: ChatCall) -> Answer:
    """Cut the reply in half, as the token limit does."""
    text = verdicts(call)
    return Says(text[: len(text) // 2], finish="length")


REFUSED: Final = Says(None, refusal="I'm sorry, I can't help with that.")
FILTERED: Final = Says(None, finish="content_filter")
NULL_CONTENT: Final = Says(None)
HTML: Final = Body("<html><body><h1>Sign in</h1></body></html>", "text/html")
BROKEN_BODY: Final = Body('{"id": "chatcmpl-1", "object": "chat.completion", "choices": [')
EMPTY_CHOICES: Final = Body('{"id": "chatcmpl-1", "object": "chat.completion", "choices": []}')

# Errors: a status and a body


def error(
    code: int,
    message: str,
    param: str | None = None,
    name: str | None = None,
    kind: str | None = None,
) -> Status:
    """Return an error in the form of OpenAI."""
    kind = kind or ("invalid_request_error" if code < 500 else "server_error")
    return Status(code, {"error": {"message": message, "type": kind, "param": param, "code": name}})


NO_TEMPERATURE: Final = error(
    400,
    "Unsupported value: 'temperature' does not support 0 with this model. "
    "Only the default (1) value is supported.",
    "temperature",
    "unsupported_value",
)
TOO_LONG: Final = error(
    400,
    "This model's maximum context length is 8192 tokens. However, your messages resulted in "
    "9000 tokens. Please reduce the length of the messages.",
    "messages",
    "context_length_exceeded",
)
AZURE_FILTERED: Final = Status(
    400,
    {
        "error": {
            "message": "The response was filtered due to the prompt triggering Azure OpenAI's "
            "content management policy.",
            "type": None,
            "param": "prompt",
            "code": "content_filter",
            "status": 400,
            "innererror": {"code": "ResponsibleAIPolicyViolation"},
        }
    },
)
_EXTRA_SEED: Final[JsonValue] = {"loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}
NO_SEED_422: Final = Status(422, {"detail": [_EXTRA_SEED]})

_NO_QUOTA: Final = "You exceeded your current quota, please check your plan and billing."
QUOTA: Final = error(429, _NO_QUOTA, None, "insufficient_quota", "insufficient_quota")


def wrong_key(call: ChatCall) -> Answer:
    """Return a 401 that repeats the key of the request."""
    key = call.headers.get("Authorization", "").removeprefix("Bearer ")
    return error(401, f"Incorrect API key provided: {key}.", None, "invalid_api_key")


UNAUTHORIZED: Final = Status(401, {"error": "Unauthorized"})
FORBIDDEN: Final = error(403, "Country, region, or territory not supported", None, "unsupported")
NO_MODEL: Final = error(404, "The model `tiny` does not exist", None, "model_not_found")
CRASHED: Final = error(500, "The server had an error while processing your request.")


class Faulty:
    """Fail requests at random: 2 % 500, 1 % cut, 3 % broken, .5 % resets, 1 % hangs.

    Args:
        then: the script that answers the other requests.
        refusing: the share of requests that get a 429 besides.
    """

    def __init__(self, then: Script, refusing: float = 0.0) -> None:
        self._then = then
        self.failed = 0
        """The number of failed requests."""
        self._random = random.Random(7)  # noqa: S311  the same faults each time
        self._faults: list[tuple[float, Answer | Script]] = [
            (refusing, TOO_MANY),
            (0.02, Status(500, {"error": {"message": "oops"}})),
            (0.01, cut),
            (0.03, broken),
            (0.005, Reset()),
            (0.01, Hang()),
        ]

    def __call__(self, call: ChatCall) -> Answer:
        number = self._random.random()
        for share, fault in [] if call.is_probe else self._faults:
            number -= share
            if number < 0:
                self.failed += 1
                return fault(call) if callable(fault) else fault
        return self._then(call)
