"""The reply in a chat completion, read as it is and not as it should be."""

import json
from dataclasses import dataclass
from typing import Annotated, Final, Literal

from pydantic import BaseModel, Field, JsonValue

from judge.backends.openai.refusal import clip, one_line

Finish = Literal["stop", "length", "refusal", "content_filter"]

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
_BROKEN_OFF: Final = frozenset({"error", "network_error", "insufficient_system_resource"})
"""How OpenRouter, GLM and DeepSeek say that the model did not come to an end."""


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model said."""

    text: str
    """Its words; empty where it said nothing."""
    finish: Finish
    """Why it ended."""
    model: str
    """The model the server names; empty where it names none."""
    prompt_tokens: int | None
    """Tokens in, as counted by the server; null where it does not count."""
    reply_tokens: int | None
    """Tokens out."""


class _Message(BaseModel):
    content: JsonValue = None
    refusal: JsonValue = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: JsonValue = None


class _Body(BaseModel):
    choices: Annotated[list[_Choice], Field(min_length=1)]
    model: JsonValue = None
    usage: JsonValue = None


def read_completion(body: bytes) -> Completion:
    """The first choice in a response's body.

    Raises:
        ValueError: there is none.
    """
    read = _Body.model_validate(_parsed(body))
    choice = read.choices[0]
    ended = _word(choice.finish_reason)
    if ended in _BROKEN_OFF:
        raise ValueError("the choice is an error")
    finish = _FINISHES.get(ended, "stop")
    text = _text(choice.message.content)
    if refused := _word(choice.message.refusal):
        text = text or refused
        finish = finish if finish == "content_filter" else "refusal"
    return Completion(
        text=text,
        finish=finish,
        model=clip(one_line(_word(read.model))),
        prompt_tokens=_count(read.usage, "prompt_tokens"),
        reply_tokens=_count(read.usage, "completion_tokens"),
    )


def _parsed(body: bytes) -> JsonValue:
    # pydantic's own parser refuses half a surrogate pair, which models do write.
    try:
        read: JsonValue = json.loads(body.decode("utf-8-sig"))
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return read


def _word(value: JsonValue) -> str:
    return value if isinstance(value, str) else ""


def _text(content: JsonValue) -> str:
    if isinstance(content, list):
        # Some servers send parts, those of thinking among them.
        parts = [part for part in content if isinstance(part, dict)]
        return "".join(_word(part.get("text")) for part in parts if part.get("type") == "text")
    return _word(content)


def _count(usage: JsonValue, name: str) -> int | None:
    count = usage.get(name) if isinstance(usage, dict) else None
    return count if isinstance(count, int) and count >= 0 else None
