"""Read the reply in a response's body, of either endpoint."""

import json
from dataclasses import dataclass
from typing import Annotated, Final, Literal

from pydantic import BaseModel, Field, JsonValue

from judge.backends.openai.failures import brief
from judge.records.exchange import MOST_TOKENS

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
_INCOMPLETE: Final[dict[str, Finish]] = {
    "max_output_tokens": "length",
    "": "length",  # what else a server that names none would mean
    "content_filter": "content_filter",
}
"""Why a reply ended, by the `reason` of an incomplete response."""
_CHAT: Final = ("prompt", "completion")
_RESPONSES: Final = ("input", "output")
"""The names of prompt and reply tokens in `usage`."""
_LONGEST_WHOLE: Final = 300
"""Digits."""
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


class _Message(BaseModel):
    content: JsonValue = None
    refusal: JsonValue = None
    reasoning_content: JsonValue = None
    reasoning: JsonValue = None

    @property
    def said(self) -> str:
        """The text, or only the thoughts if it has none."""
        text = _text(self.content) or _word(self.refusal)
        thought = _word(self.reasoning_content) or _word(self.reasoning)
        if text.strip() or not thought.strip():
            return text
        # A server that takes all for thinking may hold the reply itself there, whole and alone.
        bare = thought.strip()
        return thought if bare.startswith("{") and bare.endswith("}") else f"<think>{thought}"


class _Choice(BaseModel):
    message: _Message
    finish_reason: JsonValue = None


class _Body(BaseModel):
    choices: Annotated[list[_Choice], Field(min_length=1)]
    model: JsonValue = None
    usage: JsonValue = None


class _Item(BaseModel):
    type: JsonValue = None
    content: JsonValue = None
    summary: JsonValue = None
    phase: JsonValue = None

    def parts(self, kind: str, field: str = "text") -> str:
        """Return the joined texts of parts of this kind."""
        listed = [*_list(self.content), *_list(self.summary)]
        return "".join(_word(part.get(field)) for part in listed if part.get("type") == kind)


class _Response(BaseModel):
    """A body of /responses, as `openai.types.responses.Response` has it."""

    output: list[_Item]
    status: JsonValue = None
    incomplete_details: JsonValue = None
    model: JsonValue = None
    usage: JsonValue = None

    @property
    def finish(self) -> Finish:
        """Why the reply ended; raises ValueError if there is no whole reply."""
        if self.status in (None, "completed"):
            return "stop"
        details = self.incomplete_details
        why = _word(details.get("reason")) if isinstance(details, dict) else ""
        if self.status != "incomplete" or why not in _INCOMPLETE:
            raise ValueError("the response is no whole one")
        return _INCOMPLETE[why]

    @property
    def message(self) -> _Message:
        """The final answer without commentary, and the thoughts."""
        said = [each for each in self.output if each.type == "message"]
        said = [each for each in said if each.phase != "commentary"]
        thoughts = (
            each.parts("reasoning_text") or each.parts("summary_text") for each in self.output
        )
        return _Message(
            content="".join(each.parts("output_text") for each in said),
            refusal="".join(each.parts("refusal", "refusal") for each in said),
            reasoning_content="".join(thoughts),
        )


def read_completion(body: bytes) -> Completion:
    """Return the reply in a response's body: the first choice, or the final message of /responses.

    Raises:
        ValueError: there is none.
    """
    try:
        # pydantic's own parser refuses half a surrogate pair, which models do write.
        parsed: JsonValue = json.loads(body.decode("utf-8-sig"), parse_int=_whole)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if isinstance(parsed, dict) and "output" in parsed and "choices" not in parsed:
        response = _Response.model_validate(parsed)
        finish, message = response.finish, response.message
        if finish == "stop" and not response.output:
            raise ValueError("there is nothing in the response")
        return _completion(message, finish, response.model, response.usage, _RESPONSES)
    read = _Body.model_validate(parsed)
    choice = read.choices[0]
    ended = _word(choice.finish_reason)
    if ended in _BROKEN_OFF:
        raise ValueError("the choice is an error")
    # Gemini may say which filter it was: "content_filter: RECITATION".
    finish = _FINISHES.get(ended.partition(":")[0], "stop")
    return _completion(choice.message, finish, read.model, read.usage, _CHAT)


def _completion(
    message: _Message,
    finish: Finish,
    model: JsonValue,
    usage: JsonValue,
    counted: tuple[str, str],
) -> Completion:
    if _word(message.refusal):
        finish = finish if finish == "content_filter" else "refusal"
    return Completion(
        text=message.said,
        finish=finish,
        model=brief(_word(model)),
        prompt_tokens=_count(usage, f"{counted[0]}_tokens"),
        reply_tokens=_spent(usage, counted),
    )


def _word(value: JsonValue) -> str:
    return value if isinstance(value, str) else ""


def _text(content: JsonValue) -> str:
    # Some servers send parts, those of thinking among them.
    parts = [part for part in _list(content) if part.get("type") == "text"]
    return "".join(_word(part.get("text")) for part in parts) or _word(content)


def _list(parts: JsonValue) -> list[dict[str, JsonValue]]:
    return [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []


def _spent(usage: JsonValue, counted: tuple[str, str]) -> int | None:
    """Return the reply's tokens; some servers count thoughts in the total only."""
    prompt, reply, total = (_count(usage, f"{name}_tokens") for name in (*counted, "total"))
    if reply is None or prompt is None or total is None:
        return reply
    return max(reply, total - prompt)


def _count(usage: JsonValue, name: str) -> int | None:
    count = usage.get(name) if isinstance(usage, dict) else None
    # A truth value is an integer to Python.
    return count if type(count) is int and 0 <= count <= MOST_TOKENS else None


def _whole(digits: str) -> int | float:
    # Python refuses the longest, and there is no reply that holds a number that matters so long.
    return int(digits) if len(digits) <= _LONGEST_WHOLE else float(digits)
