"""Chat completions as servers speak them: which options one takes, and what its reply says."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Final, Literal

from pydantic import BaseModel, Field, JsonValue, ValidationError

from judge.backends.openai.failures import brief
from judge.protocols import Store
from judge.records import ChatRequest, Record
from judge.records.exchange import MOST_TOKENS
from judge.signature import Signature, part

Format = Literal["json_schema", "json_object+schema", "json_object", "text"]
Finish = Literal["stop", "length", "refusal", "content_filter"]

Extra = Mapping[str, JsonValue]
"""Fields of a request that the user added."""

SEED: Final = 7
NOTHING: Final[Extra] = {}

_FORMATS: Final[tuple[Format, ...]] = ("json_schema", "json_object+schema", "json_object", "text")
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
_HASH: Final = 8
_LONGEST_WHOLE: Final = 300
"""Digits."""
_BROKEN_OFF: Final = frozenset({"error", "network_error", "insufficient_system_resource"})
"""How OpenRouter, GLM and DeepSeek say that the model did not come to an end."""


class Capabilities(Record):
    """What was settled with one server about one model: part of what makes its verdicts."""

    response_format: Format = "json_schema"
    """The way in which the reply's JSON shape is requested."""
    temperature: bool = True
    """Whether temperature 0 is taken; reasoning models refuse it."""
    seed: bool = True
    """Whether a seed is taken."""
    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    """Name of the field that limits the reply."""
    extra: dict[str, JsonValue] = Field(default_factory=dict)
    """What the user has sent beside, which wins over what is named above."""
    served: str = ""
    """The model the server named in its answer; empty where it named none."""
    remembered: bool = Field(default=False, exclude=True)
    """True where it comes from the memory of an earlier run and nobody was asked."""

    def signature(self, model: str, host: str, later: int = 0) -> str:
        """`llm:MODEL@HOST|…`, then the options; the user's own, but for the known ones, by hash.

        The seed is that of a request whose own is `later`.
        """
        rest = dict(self.extra)
        heat = rest.pop("temperature", 0 if self.temperature else "default")
        seed = _later(rest.pop("seed", SEED if self.seed else "none"), later)
        effort = str(rest.pop("reasoning_effort", ""))
        made = Signature(part("llm", f"{model}@{host}")).having(
            part("served", self.served) if self.served not in {"", model} else "",
            self.response_format,
            part("t", str(heat)),
            part("seed", str(seed)),
            self.limit,
            part("effort", effort) if effort else "",
            f"body:{hashlib.sha256(_written(rest)).hexdigest()[:_HASH]}" if rest else "",
        )
        return str(made)

    def body(self, model: str, request: ChatRequest) -> dict[str, JsonValue]:
        """The request as this server takes it."""
        body: dict[str, JsonValue] = {
            "model": model,
            "messages": [
                {"role": "system", "content": request.system},
                {"role": "user", "content": request.user},
            ],
            self.limit: request.max_tokens,
        }
        if self.temperature:
            body["temperature"] = 0
        if self.seed:
            body["seed"] = SEED
        schema = request.reply_schema
        match self.response_format:
            case "json_schema":
                named: JsonValue = {"name": "reply", "strict": True, "schema": schema}
                body["response_format"] = {"type": "json_schema", "json_schema": named}
            case "json_object+schema":
                body["response_format"] = {"type": "json_object", "schema": schema}
            case "json_object":
                body["response_format"] = {"type": "json_object"}
        body |= self.extra
        if request.seed and "seed" in body:
            body["seed"] = _later(body["seed"], request.seed)
        return body

    def without(self, field: str) -> "Capabilities | None":
        """The next best without this field of the body, as it stands; null if there is none."""
        match field:
            case "temperature" | "seed" if getattr(self, field):
                return self.model_copy(update={field: False})
            case "max_tokens" if self.limit == "max_tokens":
                return self.model_copy(update={"limit": "max_completion_tokens"})
            case "response_format" if self.response_format != "text":
                less = _FORMATS[_FORMATS.index(self.response_format) + 1]
                return self.model_copy(update={"response_format": less})
        return None


async def recall(
    memory: Store | None, base_url: str, model: str, extra: Extra = NOTHING
) -> Capabilities | None:
    """What an earlier run settled; null where none did, or none that can be read."""
    if memory is None:
        return None
    key = memory_key(base_url, model, extra)
    return remembered((await memory.get([key])).get(key, ""))


def remembered(text: str) -> Capabilities | None:
    """What is remembered under `memory_key`; null where it is nothing."""
    try:
        known = Capabilities.model_validate_json(text)
    except ValidationError:
        return None
    return known.model_copy(update={"remembered": True})


async def remember(
    memory: Store | None,
    base_url: str,
    model: str,
    settled: Capabilities | None,
    extra: Extra = NOTHING,
) -> None:
    """Keep what was settled for the next run; with null, have it ask anew."""
    if memory is not None:
        text = settled.model_dump_json() if settled else ""
        await memory.put({memory_key(base_url, model, extra): text})


def memory_key(base_url: str, model: str, extra: Extra = NOTHING) -> str:
    """Under which a store remembers what was settled with a server about a model so asked."""
    whole = f"{base_url} {model}".encode() + (_written(extra) if extra else b"")
    return f"probe:{hashlib.sha256(whole).hexdigest()}"


def _later(seed: JsonValue, by: int) -> JsonValue:
    return seed + by if type(seed) is int else seed


def _written(fields: Extra) -> bytes:
    return json.dumps(fields, sort_keys=True).encode()


@dataclass(frozen=True, slots=True)
class Completion:
    """The first choice of a chat completion."""

    text: str
    """The text of the reply; where there is none, `<think>` and the thoughts, if any are told."""
    finish: Finish
    """Why the reply ended."""
    model: str
    """The model the server names; empty where it names none."""
    prompt_tokens: int | None
    """Tokens in, as counted by the server; null where it does not count."""
    reply_tokens: int | None
    """Tokens of the reply, counted likewise."""


class _Message(BaseModel):
    content: JsonValue = None
    refusal: JsonValue = None
    reasoning_content: JsonValue = None
    reasoning: JsonValue = None

    @property
    def said(self) -> str:
        """What it says, the thoughts alone where it says nothing."""
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


def read_completion(body: bytes) -> Completion:
    """The first choice in a response's body.

    Raises:
        ValueError: there is none.
    """
    try:
        # pydantic's own parser refuses half a surrogate pair, which models do write.
        parsed: JsonValue = json.loads(body.decode("utf-8-sig"), parse_int=_whole)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    read = _Body.model_validate(parsed)
    choice = read.choices[0]
    ended = _word(choice.finish_reason)
    if ended in _BROKEN_OFF:
        raise ValueError("the choice is an error")
    finish = _FINISHES.get(ended, "stop")
    text = choice.message.said
    if _word(choice.message.refusal):
        finish = finish if finish == "content_filter" else "refusal"
    return Completion(
        text=text,
        finish=finish,
        model=brief(_word(read.model)),
        prompt_tokens=_count(read.usage, "prompt_tokens"),
        reply_tokens=_spent(read.usage),
    )


def _word(value: JsonValue) -> str:
    return value if isinstance(value, str) else ""


def _text(content: JsonValue) -> str:
    if isinstance(content, list):
        # Some servers send parts, those of thinking among them.
        parts = [part for part in content if isinstance(part, dict)]
        return "".join(_word(part.get("text")) for part in parts if part.get("type") == "text")
    return _word(content)


def _spent(usage: JsonValue) -> int | None:
    """Tokens of the reply; some servers count what a model thinks in the total alone."""
    counts = [_count(usage, f"{name}_tokens") for name in ("completion", "prompt", "total")]
    reply, prompt, total = counts
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
