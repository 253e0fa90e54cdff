"""What a server takes of the options a judge would like."""

import hashlib
from typing import Final, Literal

from pydantic import Field, JsonValue, ValidationError

from judge.protocols import Store
from judge.records import ChatRequest
from judge.records.record import Record
from judge.signature import Signature, part

Format = Literal["json_schema", "json_object+schema", "json_object", "text"]

SEED: Final = 7

_FORMATS: Final[tuple[Format, ...]] = ("json_schema", "json_object+schema", "json_object", "text")


class Capabilities(Record):
    """What was settled with one server about one model: part of what makes its verdicts."""

    response_format: Format = "json_schema"
    """How the shape of a reply is asked for."""
    temperature: bool = True
    """Whether temperature 0 is taken; reasoning models refuse it."""
    seed: bool = True
    """Whether a seed is taken."""
    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    """What the limit on the reply is called."""
    served: str = ""
    """The model the server named in its answer; empty where it named none."""
    remembered: bool = Field(default=False, exclude=True)
    """True where it comes from the memory of an earlier run and nobody was asked."""

    def signature(self, model: str, host: str) -> str:
        """`llm:MODEL@HOST|…`, then the options."""
        made = Signature(part("llm", f"{model}@{host}"))
        if self.served not in {"", model}:
            made = made.having(part("served", self.served))
        made = made.having(
            self.response_format,
            "t:0" if self.temperature else "t:default",
            f"seed:{SEED}" if self.seed else "seed:none",
            self.limit,
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


def recall(memory: Store | None, base_url: str, model: str) -> Capabilities | None:
    """What an earlier run settled; null where none did, or none that can be read."""
    if memory is None:
        return None
    key = _key(base_url, model)
    try:
        known = Capabilities.model_validate_json(memory.get([key]).get(key, ""))
    except ValidationError:
        return None
    return known.model_copy(update={"remembered": True})


def remember(memory: Store | None, base_url: str, model: str, settled: Capabilities | None) -> None:
    """Keep what was settled for the next run; with null, have it ask anew."""
    if memory is not None:
        memory.put({_key(base_url, model): settled.model_dump_json() if settled else ""})


def _key(base_url: str, model: str) -> str:
    return f"probe:{hashlib.sha256(f'{base_url} {model}'.encode()).hexdigest()}"
