"""Replies that are wrong, as real models and servers have sent them."""

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

# Replies: status 200, and something is the matter with the text.


def fewer(asked: ChatCall) -> Answer:
    """The last id is left out."""
    return Says(packed([verdict(asked, each) for each in asked.ids[:-1]]))


def double(asked: ChatCall) -> Answer:
    """The first id comes twice, and the two differ."""
    listed = [verdict(asked, each) for each in asked.ids]
    return Says(packed([*listed, verdict(asked, asked.ids[0], "none")]))


def unknown(asked: ChatCall) -> Answer:
    """All that was asked, and one that was not."""
    return Says(packed([verdict(asked, each) for each in [*asked.ids, "s99"]]))


def renamed(asked: ChatCall) -> Answer:
    """An id that nobody asked stands where the last one should."""
    return Says(packed([verdict(asked, each) for each in [*asked.ids[:-1], "s99"]]))


def off_menu(asked: ChatCall) -> Answer:
    """The first label is none of ours."""
    return Says(verdicts(asked, **{asked.ids[0]: "supported"}))


def fenced(asked: ChatCall) -> Answer:
    """In a Markdown fence."""
    return Says(f"```json\n{verdicts(asked)}\n```")


def prose(asked: ChatCall) -> Answer:
    """Between remarks that hold brackets and braces of their own."""
    before = "Sure! Here is my judgement of {all sentences} [1]:"
    return Says(f"{before}\n\n{verdicts(asked)}\n\nLet me know if you need more :-}}")


def tricky_quotes(asked: ChatCall) -> Answer:
    """Braces, brackets, a fence and escapes inside the strings."""
    return Says(verdicts(asked, quote='he said: "}]} [1] {\\n```json {"id":"s1"}```'))


def glued(asked: ChatCall) -> Answer:
    """One object per sentence, with nothing between them."""
    return Says("".join(packed([verdict(asked, each)]) for each in asked.ids))


def broken(asked: ChatCall) -> Answer:
    """The last brackets are missing, though the server says that it was done."""
    return Says(verdicts(asked)[:-2])


def cut(asked: ChatCall) -> Answer:
    """Half of it, cut off by the token limit."""
    text = verdicts(asked)
    return Says(text[: len(text) // 2], finish="length")


REFUSED: Final = Says(None, refusal="I'm sorry, I can't help with that.")
FILTERED: Final = Says(None, finish="content_filter")
NULL_CONTENT: Final = Says(None)
HTML: Final = Body("<html><body><h1>Sign in</h1></body></html>", "text/html")
BROKEN_BODY: Final = Body('{"id": "chatcmpl-1", "object": "chat.completion", "choices": [')
EMPTY_CHOICES: Final = Body('{"id": "chatcmpl-1", "object": "chat.completion", "choices": []}')

# Errors: a status, and a body in the manner of the server named.


def error(
    code: int,
    message: str,
    param: str | None = None,
    name: str | None = None,
    kind: str | None = None,
) -> Status:
    """An error as OpenAI words it."""
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
            "innererror": {
                "code": "ResponsibleAIPolicyViolation",
                "content_filter_result": {"violence": {"filtered": True, "severity": "high"}},
            },
        }
    },
)


_EXTRA_SEED: Final[dict[str, JsonValue]] = {
    "type": "extra_forbidden",
    "loc": ["body", "seed"],
    "msg": "Extra inputs are not permitted",
}
NO_SEED_422: Final = Status(422, {"detail": [_EXTRA_SEED]})

_NO_QUOTA: Final = "You exceeded your current quota, please check your plan and billing."
QUOTA: Final = error(429, _NO_QUOTA, None, "insufficient_quota", "insufficient_quota")


def wrong_key(asked: ChatCall) -> Answer:
    """401 that repeats the key it was given, as a careless server does."""
    key = asked.headers.get("Authorization", "").removeprefix("Bearer ")
    return error(401, f"Incorrect API key provided: {key}.", None, "invalid_api_key")


UNAUTHORIZED: Final = Status(401, {"error": "Unauthorized"})
FORBIDDEN: Final = error(403, "Country, region, or territory not supported", None, "unsupported")
NO_MODEL: Final = error(404, "The model `tiny` does not exist", None, "model_not_found")
CRASHED: Final = error(500, "The server had an error while processing your request.")


class Faulty:
    """Fails at random, each request anew: 2 % 500, 1 % cut, 3 % broken, .5 % resets, 1 % hangs.

    Args:
        then: says what the others get.
        refusing: the share of a 429 besides.
    """

    def __init__(self, then: Script, refusing: float = 0.0) -> None:
        self._then = then
        self.failed = 0
        """How many requests it failed."""
        self._drawn = random.Random(7)  # noqa: S311  the same faults each time
        self._faults: list[tuple[float, Answer | Script]] = [
            (refusing, TOO_MANY),
            (0.02, Status(500, {"error": {"message": "oops"}})),
            (0.01, cut),
            (0.03, broken),
            (0.005, Reset()),
            (0.01, Hang()),
        ]

    def __call__(self, asked: ChatCall) -> Answer:
        drawn = self._drawn.random()
        for share, fault in [] if asked.is_probe else self._faults:
            drawn -= share
            if drawn < 0:
                self.failed += 1
                return fault(asked) if callable(fault) else fault
        return self._then(asked)
