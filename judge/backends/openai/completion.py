"""Read the reply in a response's body, of either endpoint."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from pydantic import JsonValue

from judge.backends.openai.chat import prompt_tokens
from judge.backends.openai.failures import brief
from judge.text.fold import estimate_tokens

_Object = dict[str, JsonValue]
Finish = Literal["stop", "length", "refusal", "content_filter"]

_MAX_TOKENS: Final = 10**9
"""A larger token count of one call is an error of the server."""
_FINISHES: Final[dict[JsonValue, Finish]] = {
    "length": "length",
    "max_tokens": "length",  # Anthropic
    "MAX_TOKENS": "length",  # Gemini
    "model_length": "length",  # Mistral
    "model_context_window_exceeded": "length",  # GLM
    "content_filter": "content_filter",
    "sensitive": "content_filter",  # GLM
    # Gemini passes its own names on.
    "SAFETY": "content_filter",
    "RECITATION": "content_filter",
    "BLOCKLIST": "content_filter",
    "PROHIBITED_CONTENT": "content_filter",
    "SPII": "content_filter",
}
_INCOMPLETE: Final[dict[str, Finish]] = {
    "max_output_tokens": "length",
    "": "length",  # without a reason, the limit is the likely one
    "content_filter": "content_filter",
}
"""Why a reply ended, by the `reason` of an incomplete response."""
_BROKEN_OFF: Final = frozenset({"error", "network_error", "insufficient_system_resource"})
"""The finish reasons of OpenRouter, GLM and DeepSeek for a reply that broke off."""


@dataclass(frozen=True, slots=True)
class Completion:
    """One reply: the first choice of a chat completion, or the final answer of a response."""

    text: str
    """The text of the reply; if it is empty, `<think>` and the thoughts."""
    finish: Finish
    """Why the reply ended."""
    model: str
    """The model that the server names; may be empty."""
    prompt_tokens: int | None
    """The server's count of prompt tokens; may be null."""
    reply_tokens: int | None
    """The server's count of reply tokens; may be null."""

    def spent(self, body: Mapping[str, JsonValue]) -> tuple[int, int]:
        """Return the tokens of prompt and reply; an absent count is estimated.

        `body` is the request's.
        """
        prompt, reply = self.prompt_tokens, self.reply_tokens
        return (
            prompt_tokens(body) if prompt is None else prompt,
            estimate_tokens(self.text) if reply is None else reply,
        )


def read_completion(text: str) -> Completion:
    """Return the reply in a response's body: the first choice, or the final message of /responses.

    Raises:
        ValueError: the body holds no reply.
    """
    try:
        # pydantic's own parser refuses half a surrogate pair, which models do write.
        body = _object(json.loads(text))
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return _read_response(body) if "output" in body and "choices" not in body else _read_chat(body)


def _read_chat(body: _Object) -> Completion:
    choice = next(iter(_objects(body.get("choices"))), {})
    ended = _word(choice.get("finish_reason"))
    if not isinstance(message := choice.get("message"), dict) or ended in _BROKEN_OFF:
        raise ValueError("no choice with a message")
    content = message.get("content")
    # Some servers send parts, those of thinking among them.
    text = "".join(_word(each.get("text")) for each in _objects(content, "text"))
    return _completion(
        body,
        ("prompt", "completion"),
        # Gemini may say which filter it was: "content_filter: RECITATION".
        _FINISHES.get(ended.partition(":")[0], "stop"),
        text or _word(content),
        _word(message.get("refusal")),
        _word(message.get("reasoning_content")) or _word(message.get("reasoning")),
    )


def _read_response(body: _Object) -> Completion:
    output, status = body["output"], body.get("status")
    finish: Finish | None = "stop" if status in (None, "completed") else None
    if status == "incomplete":
        finish = _INCOMPLETE.get(_word(_object(body.get("incomplete_details")).get("reason")))
    if finish is None:
        raise ValueError("the response is not whole")
    if not isinstance(output, list) or (finish == "stop" and not output):
        raise ValueError("there is nothing in the response")
    items = _objects(output)
    final = [each for each in _objects(output, "message") if each.get("phase") != "commentary"]
    return _completion(
        body,
        ("input", "output"),
        finish,
        "".join(_parts(each, "output_text") for each in final),
        "".join(_parts(each, "refusal", "refusal") for each in final),
        "".join(_parts(each, "reasoning_text") or _parts(each, "summary_text") for each in items),
    )


def _completion(
    body: _Object, counts: tuple[str, str], finish: Finish, reply: str, refusal: str, thought: str
) -> Completion:
    if refusal and finish != "content_filter":
        finish = "refusal"
    text = reply or refusal
    if not text.strip() and thought.strip():
        # A server that takes all for thinking may hold the reply itself there, whole and alone.
        is_reply = thought.strip().startswith("{") and thought.strip().endswith("}")
        text = thought if is_reply else f"<think>{thought}"
    usage = _object(body.get("usage"))
    prompt, tokens, total = (_count(usage.get(f"{name}_tokens")) for name in (*counts, "total"))
    if tokens is not None and prompt is not None and total is not None:
        tokens = max(tokens, total - prompt)  # some servers count thoughts in the total only
    return Completion(text, finish, brief(_word(body.get("model"))), prompt, tokens)


def _parts(item: _Object, kind: str, field: str = "text") -> str:
    """Return the joined texts of parts of this kind."""
    parts = (*_objects(item.get("content"), kind), *_objects(item.get("summary"), kind))
    return "".join(_word(part.get(field)) for part in parts)


def _word(value: JsonValue) -> str:
    return value if isinstance(value, str) else ""


def _object(value: JsonValue) -> _Object:
    return value if isinstance(value, dict) else {}


def _objects(value: JsonValue, kind: str = "") -> list[_Object]:
    """Return the objects in a list, of one `type` if it is given; none if it is no list."""
    found = [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
    return [each for each in found if not kind or each.get("type") == kind]


def _count(value: JsonValue) -> int | None:
    # In Python, true is an integer.
    return value if type(value) is int and 0 <= value <= _MAX_TOKENS else None
