"""The reply in a chat completion, read as it is and not as it should be."""

from dataclasses import dataclass
from typing import Annotated, Final, Literal

from pydantic import BaseModel, Field, JsonValue

from judge.backends.openai.refusal import clip, redact

Finish = Literal["stop", "length", "refusal", "content_filter"]

_FINISHES: Final[dict[JsonValue, Finish]] = {
    "length": "length",
    "content_filter": "content_filter",
}


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
    read = _Body.model_validate_json(body)
    choice = read.choices[0]
    if choice.finish_reason == "error":
        # How OpenRouter passes on that the model behind it broke off.
        raise ValueError("the choice is an error")
    finish = _FINISHES.get(_word(choice.finish_reason), "stop")
    text = _text(choice.message.content)
    if refused := _word(choice.message.refusal):
        text = text or refused
        finish = finish if finish == "content_filter" else "refusal"
    return Completion(
        text=text,
        finish=finish,
        model=clip(redact(_word(read.model), "")),
        prompt_tokens=_count(read.usage, "prompt_tokens"),
        reply_tokens=_count(read.usage, "completion_tokens"),
    )


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
