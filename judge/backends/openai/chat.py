"""The bodies of chat requests and of their replies, for either endpoint."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Mapping
from typing import Any, Final, Literal, Self, get_args

from pydantic import Field, JsonValue, ValidationError

from judge.backends.openai.failures import brief
from judge.config import Endpoint
from judge.protocols import Store
from judge.records import ChatReply, ChatRequest, Record
from judge.signature import Signature, part
from judge.text.fold import estimate_tokens

Format = Literal["json_schema", "json_object+schema", "json_object", "text"]
Limit = Literal["max_tokens", "max_completion_tokens", "max_output_tokens"]
Finish = Literal["stop", "length", "refusal", "content_filter"]
_Object = dict[str, Any]

PATHS: Final[Mapping[Endpoint, str]] = {"chat": "/chat/completions", "responses": "/responses"}
"""The path of each endpoint below the base URL."""
LIMITS: Final[tuple[Limit, ...]] = get_args(Limit)
"""The names of the field that limits the reply."""
SEED: Final = 7
_FORMATS: Final[tuple[Format, ...]] = get_args(Format)
_HASH: Final = 8
_MAX_TOKENS: Final = 10**9
"""A larger token count of one call is an error of the server."""
_FINISHES: Final[Mapping[str, Finish]] = {
    # Also as Gemini, Anthropic and others call it.
    **dict.fromkeys(
        ("length", "max_tokens", "MAX_TOKENS", "model_length", "model_context_window_exceeded"),
        "length",
    ),
    **dict.fromkeys(
        ("content_filter", "sensitive", "SAFETY", "RECITATION", "BLOCKLIST", "SPII"),
        "content_filter",
    ),
    "PROHIBITED_CONTENT": "content_filter",
}
"""Why a reply ended, by `finish_reason`; any other reason is the usual end."""
_BROKEN_OFF: Final = frozenset({"error", "network_error", "insufficient_system_resource"})
"""The `finish_reason` of a reply that is not whole because the server failed."""


class Capabilities(Record):
    """The options that one server accepts for one model."""

    response_format: Format = "json_schema"
    """The way in which the reply's JSON shape is requested."""
    temperature: bool = True
    """Whether temperature 0 is accepted; reasoning models refuse it."""
    seed: bool = True
    """Whether a seed is accepted."""
    limit: Limit = "max_tokens"
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
        return cls(seed=False, limit="max_output_tokens", endpoint=endpoint, extra=dict(extra))

    def signature(self, model: str, host: str, later: int = 0) -> str:
        """Return `llm:MODEL@HOST|…` with the options; `later` is added to the seed."""
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
            f"body:{_digest(rest)[:_HASH]}" if rest else "",
        )
        return str(made)

    def body(self, model: str, request: ChatRequest, later: int = 0) -> dict[str, JsonValue]:
        """Return the body of the request for this server; `later` is added to the seed."""
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
        if "seed" in body:
            body["seed"] = _later(body["seed"], later)
        return body

    def _shape(self, schema: dict[str, JsonValue]) -> dict[str, JsonValue]:
        """Return the field that requests a reply of this shape."""
        if self.response_format == "text":
            return {}
        strict: dict[str, JsonValue] = {"name": "reply", "strict": True, "schema": schema}
        chat = self.endpoint == "chat"
        kind, _, with_schema = self.response_format.partition("+")
        shape: dict[str, JsonValue] = {"type": kind}
        if kind == "json_schema":
            shape |= {"json_schema": strict} if chat else strict
        elif with_schema:
            shape["schema"] = schema
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


async def recall(
    memory: Store | None, base_url: str, model: str, wanted: Capabilities
) -> Capabilities | None:
    """Return the options that an earlier run found for the `wanted` ones, or None."""
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
    settled: Capabilities,
    *,
    still_valid: bool = True,
) -> None:
    """Store the options for the next run; if they are no longer valid, it probes again."""
    if memory is not None:
        text = settled.model_dump_json() if still_valid else ""
        await memory.put({_memory_key(base_url, model, settled): text})


def _memory_key(base_url: str, model: str, wanted: Capabilities) -> str:
    return f"probe:{_digest([base_url, model, wanted.endpoint, wanted.extra])}"


def _later(seed: JsonValue, by: int) -> JsonValue:
    return seed + by if type(seed) is int else seed


def _digest(fields: JsonValue) -> str:
    return hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()


def prompt_tokens(body: Mapping[str, Any]) -> int:
    """Return the estimated tokens of the messages in a request's body."""
    messages = body.get("messages") or body.get("input") or ()
    return sum(estimate_tokens(each["content"]) for each in messages)


def reply_limit(body: Mapping[str, Any]) -> int:
    """Return the limit on the reply in a request's body, in tokens; 0 without a limit."""
    return next((int(body[name]) for name in LIMITS if name in body), 0)


def read_completion(text: str, sent: Mapping[str, JsonValue]) -> ChatReply:
    """Return the reply in a response's body, or raise ValueError if it holds none.

    Tokens that the server does not count are estimated; `sent` is the request's body. A reply of
    thoughts alone has `<think>` before it.
    """
    try:
        # pydantic's own parser refuses half a surrogate pair, which models do write.
        body = json.loads(text)
        read = _read_chat if "choices" in body else _read_response
        finish, reply, refusal, thoughts = read(body)
        if refusal and finish != "content_filter":
            finish = "refusal"
        reply = reply or refusal
        if not reply.strip() and thoughts.strip():
            # A server that takes all for thinking may hold the reply there, whole and alone.
            is_reply = thoughts.strip().startswith("{") and thoughts.strip().endswith("}")
            reply = thoughts if is_reply else f"<think>{thoughts}"
        usage = body.get("usage") or {}
        prompt = _count(usage, "prompt_tokens", "input_tokens")
        tokens = _count(usage, "completion_tokens", "output_tokens")
        total = _count(usage, "total_tokens")
        if tokens is not None and prompt is not None and total is not None:
            tokens = max(tokens, total - prompt)  # some servers count thoughts in the total only
        return ChatReply(
            text=reply,
            finish=finish,
            model=brief(body.get("model") or ""),
            prompt_tokens=prompt_tokens(sent) if prompt is None else prompt,
            reply_tokens=estimate_tokens(reply) if tokens is None else tokens,
            seconds=0.0,
        )
    except (AttributeError, IndexError, KeyError, RecursionError, TypeError):
        raise ValueError("no reply in the body") from None


def _read_chat(body: _Object) -> tuple[Finish, str, str, str]:
    """Return the end, the reply, the refusal and the thoughts of a chat completion."""
    choice = body["choices"][0]
    # Gemini may say which filter it was: "content_filter: RECITATION".
    ended = (choice.get("finish_reason") or "").partition(":")[0]
    if ended in _BROKEN_OFF:
        raise ValueError("no reply in the body: it broke off")
    message = choice["message"]
    content = message.get("content") or ""
    if isinstance(content, list):  # a list of parts, of which some are thoughts
        content = "".join(each["text"] for each in content if each.get("type") == "text")
    return (
        _FINISHES.get(ended, "stop"),
        content,
        message.get("refusal") or "",
        message.get("reasoning_content") or message.get("reasoning") or "",
    )


def _read_response(body: _Object) -> tuple[Finish, str, str, str]:
    """Return the end, the reply, the refusal and the thoughts of a response."""
    status, output = body["status"], body["output"]
    if status not in {"completed", "incomplete"} or (status == "completed" and not output):
        raise ValueError("the response is not whole")
    reason = (body.get("incomplete_details") or {}).get("reason")
    texts = defaultdict[str, str](str)
    for item in output:
        if item.get("phase") != "commentary":
            for content in (*(item.get("content") or ()), *(item.get("summary") or ())):
                texts[content["type"]] += content.get("text") or content.get("refusal") or ""
    return (
        "stop" if status == "completed" else _FINISHES.get(reason or "", "length"),
        texts["output_text"],
        texts["refusal"],
        texts["reasoning_text"] + texts["summary_text"],
    )


def _count(usage: _Object, *names: str) -> int | None:
    """Return the first count among these fields; None if it is absent or implausible."""
    count = next((usage[name] for name in names if name in usage), None)
    # In Python, true is an integer.
    return count if type(count) is int and 0 <= count <= _MAX_TOKENS else None
