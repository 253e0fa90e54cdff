"""A chat as servers take it, at either of two endpoints: which options, and what is sent."""

import hashlib
import json
from collections.abc import Mapping
from typing import Final, Literal, Self

from pydantic import Field, JsonValue, ValidationError

from judge.config import Endpoint
from judge.protocols import Store
from judge.records import ChatRequest, Record
from judge.signature import Signature, part

Format = Literal["json_schema", "json_object+schema", "json_object", "text"]

PATHS: Final[Mapping[Endpoint, str]] = {"chat": "/chat/completions", "responses": "/responses"}
"""Where a model is asked, below the base URL."""

SEED: Final = 7

_FORMATS: Final[tuple[Format, ...]] = ("json_schema", "json_object+schema", "json_object", "text")
_HASH: Final = 8


class Capabilities(Record):
    """What was settled with one server about one model: part of what makes its verdicts."""

    response_format: Format = "json_schema"
    """The way in which the reply's JSON shape is requested."""
    temperature: bool = True
    """Whether temperature 0 is taken; reasoning models refuse it."""
    seed: bool = True
    """Whether a seed is taken."""
    limit: Literal["max_tokens", "max_completion_tokens", "max_output_tokens"] = "max_tokens"
    """Name of the field that limits the reply."""
    endpoint: Endpoint = "chat"
    """Which of OpenAI's two endpoints is asked."""
    extra: dict[str, JsonValue] = Field(default_factory=dict)
    """What the user has sent beside, which wins over what is named above."""
    served: str = ""
    """The model the server named in its answer; empty where it named none."""
    remembered: bool = Field(default=False, exclude=True)
    """True where it comes from the memory of an earlier run and nobody was asked."""

    @classmethod
    def wanted(cls, endpoint: Endpoint, extra: Mapping[str, JsonValue]) -> Self:
        """All that can be asked for there, and what the user has sent beside."""
        if endpoint == "chat":
            return cls(extra=dict(extra))
        # /responses takes no seed: openai.types.responses.ResponseCreateParams names all fields.
        taken = {"seed": False, "limit": "max_output_tokens", "endpoint": endpoint}
        return cls.model_validate(taken | {"extra": dict(extra)})

    @property
    def path(self) -> str:
        """Where the model is asked."""
        return PATHS[self.endpoint]

    def sent_as(self, field: str) -> str:
        """What the endpoint calls a field that the user added."""
        moved = self.endpoint == "responses" and field == "reasoning_effort"
        return "reasoning" if moved else field

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
            # The guide to moving reports other scores for one model, prompt and setup at the two.
            part("endpoint", self.endpoint) if self.endpoint != "chat" else "",
            self.limit,
            part("effort", effort) if effort else "",
            f"body:{hashlib.sha256(_written(rest)).hexdigest()[:_HASH]}" if rest else "",
        )
        return str(made)

    def body(self, model: str, request: ChatRequest) -> dict[str, JsonValue]:
        """The request as this server takes it."""
        messages: list[JsonValue] = [
            {"role": "system", "content": request.system},
            {"role": "user", "content": request.user},
        ]
        body: dict[str, JsonValue] = {"model": model}
        if self.endpoint == "chat":
            body |= {"messages": messages}
        else:
            # As `instructions` the first were no message: json_object wants the word JSON in one.
            body |= {"input": messages, "store": False}
        body[self.limit] = request.max_tokens
        if self.temperature:
            body["temperature"] = 0
        if self.seed:
            body["seed"] = SEED
        body |= self._shape(dict(request.reply_schema)) | self.extra
        if self.endpoint == "responses" and "reasoning_effort" in body:
            effort, given = body.pop("reasoning_effort"), body.get("reasoning")
            body["reasoning"] = {**(given if isinstance(given, dict) else {}), "effort": effort}
        if request.seed and "seed" in body:
            body["seed"] = _later(body["seed"], request.seed)
        return body

    def _shape(self, schema: dict[str, JsonValue]) -> dict[str, JsonValue]:
        """The field that asks for a reply of this shape."""
        named: dict[str, JsonValue] = {"name": "reply", "strict": True, "schema": schema}
        chat = self.endpoint == "chat"
        match self.response_format:
            case "json_schema" if chat:
                shape: dict[str, JsonValue] = {"type": "json_schema", "json_schema": named}
            case "json_schema":
                shape = {"type": "json_schema", **named}
            case "json_object+schema":
                shape = {"type": "json_object", "schema": schema}
            case "json_object":
                shape = {"type": "json_object"}
            case _:
                return {}
        return {"response_format": shape} if chat else {"text": {"format": shape}}

    def without(self, field: str) -> "Capabilities | None":
        """The next best without this field of the body, as it stands; null if there is none."""
        match field:
            case "temperature" | "seed" if getattr(self, field):
                return self.model_copy(update={field: False})
            case "max_tokens" if self.limit == "max_tokens":
                return self.model_copy(update={"limit": "max_completion_tokens"})
            case "response_format" | "text" if self.response_format != "text":
                known = [each for each in _FORMATS if self.endpoint == "chat" or "+" not in each]
                less = known[known.index(self.response_format) + 1]
                return self.model_copy(update={"response_format": less})
        return None


EVERYTHING: Final = Capabilities()


async def recall(
    memory: Store | None, base_url: str, model: str, wanted: Capabilities = EVERYTHING
) -> Capabilities | None:
    """What an earlier run settled; null where none did, or none that can be read."""
    if memory is None:
        return None
    key = _memory_key(base_url, model, wanted)
    try:
        known = Capabilities.model_validate_json((await memory.get([key])).get(key, ""))
    except ValidationError:
        return None
    return known.model_copy(update={"remembered": True})


async def remember(
    memory: Store | None,
    base_url: str,
    model: str,
    settled: Capabilities | None,
    wanted: Capabilities = EVERYTHING,
) -> None:
    """Keep what was settled for the next run; with null, have it ask anew."""
    if memory is not None:
        text = settled.model_dump_json() if settled else ""
        await memory.put({_memory_key(base_url, model, wanted): text})


def _memory_key(base_url: str, model: str, wanted: Capabilities) -> str:
    """Under which a store remembers what was settled with a server about a model so asked.

    Of what is `wanted` it holds the endpoint, and what the user has sent beside.
    """
    whole = f"{base_url} {model}".encode() + (_written(wanted.extra) if wanted.extra else b"")
    whole += b"" if wanted.endpoint == "chat" else f" {wanted.path}".encode()
    return f"probe:{hashlib.sha256(whole).hexdigest()}"


def _later(seed: JsonValue, by: int) -> JsonValue:
    return seed + by if type(seed) is int else seed


def _written(fields: Mapping[str, JsonValue]) -> bytes:
    return json.dumps(fields, sort_keys=True).encode()
