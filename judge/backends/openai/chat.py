"""The body of a chat request for either endpoint, and the options that a server accepts."""

import hashlib
import json
from collections.abc import Mapping
from typing import Final, Literal, Self

from pydantic import Field, JsonValue, ValidationError

from judge.config import Endpoint
from judge.protocols import Store
from judge.records import ChatRequest, Record
from judge.signature import Signature, part
from judge.text.fold import estimate_tokens

Format = Literal["json_schema", "json_object+schema", "json_object", "text"]

PATHS: Final[Mapping[Endpoint, str]] = {"chat": "/chat/completions", "responses": "/responses"}
"""The path of each endpoint below the base URL."""

LIMITS: Final = ("max_tokens", "max_completion_tokens", "max_output_tokens")
"""The names of the field that limits the reply."""

SEED: Final = 7

_FORMATS: Final[tuple[Format, ...]] = ("json_schema", "json_object+schema", "json_object", "text")
_HASH: Final = 8


class Capabilities(Record):
    """The options that one server accepts for one model."""

    response_format: Format = "json_schema"
    """The way in which the reply's JSON shape is requested."""
    temperature: bool = True
    """Whether temperature 0 is accepted; reasoning models refuse it."""
    seed: bool = True
    """Whether a seed is accepted."""
    limit: Literal["max_tokens", "max_completion_tokens", "max_output_tokens"] = "max_tokens"
    """Name of the field that limits the reply."""
    endpoint: Endpoint = "chat"
    """The endpoint that requests go to."""
    extra: dict[str, JsonValue] = Field(default_factory=dict)
    """Additional fields of the request, set by the user; they override the fields above."""
    served: str = ""
    """The model that the server named in its reply; may be empty."""

    @classmethod
    def wanted(cls, endpoint: Endpoint, extra: Mapping[str, JsonValue]) -> Self:
        """Return every option of the endpoint, and the user's additional fields."""
        if endpoint == "chat":
            return cls(extra=dict(extra))
        # /responses takes no seed: openai.types.responses.ResponseCreateParams names all fields.
        options = {"seed": False, "limit": "max_output_tokens", "endpoint": endpoint}
        return cls.model_validate(options | {"extra": dict(extra)})

    @property
    def path(self) -> str:
        """The path of the endpoint."""
        return PATHS[self.endpoint]

    def signature(self, model: str, host: str, later: int = 0) -> str:
        """Return `llm:MODEL@HOST|…` with the options; unknown fields of the user enter by hash.

        `later` is added to the seed.
        """
        rest = dict(self.extra)
        temperature = rest.pop("temperature", 0 if self.temperature else "default")
        seed = _later(rest.pop("seed", SEED if self.seed else "none"), later)
        effort = str(rest.pop("reasoning_effort", ""))
        made = Signature(part("llm", f"{model}@{host}")).having(
            part("served", self.served) if self.served not in {"", model} else "",
            self.response_format,
            part("t", str(temperature)),
            part("seed", str(seed)),
            # The guide to moving reports other scores for one model, prompt and setup at the two.
            part("endpoint", self.endpoint) if self.endpoint != "chat" else "",
            self.limit,
            part("effort", effort) if effort else "",
            f"body:{hashlib.sha256(_written(rest)).hexdigest()[:_HASH]}" if rest else "",
        )
        return str(made)

    def body(self, model: str, request: ChatRequest) -> dict[str, JsonValue]:
        """Return the body of the request for this server."""
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
            effort, own = body.pop("reasoning_effort"), body.get("reasoning")
            body["reasoning"] = {**(own if isinstance(own, dict) else {}), "effort": effort}
        if request.seed and "seed" in body:
            body["seed"] = _later(body["seed"], request.seed)
        return body

    def _shape(self, schema: dict[str, JsonValue]) -> dict[str, JsonValue]:
        """Return the field that requests a reply of this shape."""
        strict: dict[str, JsonValue] = {"name": "reply", "strict": True, "schema": schema}
        chat = self.endpoint == "chat"
        match self.response_format:
            case "json_schema" if chat:
                shape: dict[str, JsonValue] = {"type": "json_schema", "json_schema": strict}
            case "json_schema":
                shape = {"type": "json_schema", **strict}
            case "json_object+schema":
                shape = {"type": "json_object", "schema": schema}
            case "json_object":
                shape = {"type": "json_object"}
            case _:
                return {}
        return {"response_format": shape} if chat else {"text": {"format": shape}}

    def without(self, field: str) -> "Capabilities | None":
        """Return the next best options without this field of the body, or None."""
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
    """Return the options that an earlier run found, or None."""
    if memory is None:
        return None
    key = _memory_key(base_url, model, wanted)
    try:
        return Capabilities.model_validate_json((await memory.get([key])).get(key, ""))
    except ValidationError:
        return None


async def remember(
    memory: Store | None,
    base_url: str,
    model: str,
    settled: Capabilities | None,
    wanted: Capabilities = EVERYTHING,
) -> None:
    """Store the options for the next run; with None the next run probes again."""
    if memory is not None:
        text = settled.model_dump_json() if settled else ""
        await memory.put({_memory_key(base_url, model, wanted): text})


def _memory_key(base_url: str, model: str, wanted: Capabilities) -> str:
    """Return a hash of the server, the model, the endpoint and the user's additional fields."""
    whole = f"{base_url} {model}".encode() + (_written(wanted.extra) if wanted.extra else b"")
    whole += b"" if wanted.endpoint == "chat" else f" {wanted.path}".encode()
    return f"probe:{hashlib.sha256(whole).hexdigest()}"


def _later(seed: JsonValue, by: int) -> JsonValue:
    return seed + by if type(seed) is int else seed


def _written(fields: Mapping[str, JsonValue]) -> bytes:
    return json.dumps(fields, sort_keys=True).encode()


def prompt_tokens(body: Mapping[str, JsonValue]) -> int:
    """Return the estimated tokens of the messages in a request's body."""
    messages = body.get("messages") or body.get("input")
    if not isinstance(messages, list):
        return 0
    return sum(estimate_tokens(str(each["content"])) for each in messages if isinstance(each, dict))


def reply_limit(body: Mapping[str, JsonValue]) -> int:
    """Return the limit on the reply in a request's body, in tokens; 0 without a limit."""
    return int(str(next((body[name] for name in LIMITS if name in body), 0)))
