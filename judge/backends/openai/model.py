"""A language model behind an OpenAI-compatible server: what is sent, and what its reply says."""

import hashlib
import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Final, Literal

from pydantic import BaseModel, Field, JsonValue, ValidationError

from judge.backends.openai.client import Connection
from judge.backends.openai.failures import Failure, clip, one_line
from judge.protocols import Store
from judge.records import ChatFailure, ChatReply, ChatRequest, Record, UnscoredReason
from judge.signature import Signature, part
from judge.text.fold import estimate_tokens

_LOG: Final = logging.getLogger("judge")
_SPARSE: Final = 8
"""Characters a token stands for at most; English has four or five, Chinese fewer than two."""
_LONG: Final = 4000
"""Characters of a prompt that might not fit."""
_WARNINGS: Final = 20
"""A server that makes up a name for each reply is not to fill the log."""
_REFUSES: Final = frozenset({400, 422})

Format = Literal["json_schema", "json_object+schema", "json_object", "text"]

SEED: Final = 7

_FORMATS: Final[tuple[Format, ...]] = ("json_schema", "json_object+schema", "json_object", "text")


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


async def recall(memory: Store | None, base_url: str, model: str) -> Capabilities | None:
    """What an earlier run settled; null where none did, or none that can be read."""
    if memory is None:
        return None
    key = memory_key(base_url, model)
    return remembered((await memory.get([key])).get(key, ""))


def remembered(text: str) -> Capabilities | None:
    """What is remembered under `memory_key`; null where it is nothing."""
    try:
        known = Capabilities.model_validate_json(text)
    except ValidationError:
        return None
    return known.model_copy(update={"remembered": True})


async def remember(
    memory: Store | None, base_url: str, model: str, settled: Capabilities | None
) -> None:
    """Keep what was settled for the next run; with null, have it ask anew."""
    if memory is not None:
        text = settled.model_dump_json() if settled else ""
        await memory.put({memory_key(base_url, model): text})


def memory_key(base_url: str, model: str) -> str:
    """Under which a store remembers what was settled with a server about a model."""
    return f"probe:{hashlib.sha256(f'{base_url} {model}'.encode()).hexdigest()}"


class OpenAIModel:
    """Asks one model with the options that `settle` found.

    Args:
        connection: to the server; outlives this object.
        model: as the server knows it.
        capabilities: what the server takes.
        memory: where `settle` remembered them, to be corrected once they no longer hold.
        room: tokens for thinking, where the limit covers what a model thinks and what it says.
    """

    def __init__(
        self,
        connection: Connection,
        model: str,
        capabilities: Capabilities,
        memory: Store | None = None,
        *,
        room: int = 16_384,
    ) -> None:
        self._connection = connection
        self._model = model
        self._capabilities = capabilities
        self._memory = memory
        self._weighed = False
        self._told: set[tuple[str, str]] = set()
        self._room = room if capabilities.limit == "max_completion_tokens" else 0

    @property
    def signature(self) -> str:
        """`llm:MODEL@HOST|…`: then the options that the capability probe settled.

        Names the model that served last: another after a reply than before it, where the server
        changed models in between.
        """
        return self._capabilities.signature(self._model, self._connection.host)

    async def chat(self, request: ChatRequest) -> ChatReply | ChatFailure:
        """Ask once, retries included. A failure of the world is a value.

        Raises:
            JudgeUnavailable: wrong key, unknown model, exhausted quota, or the server no longer
                takes an option that was settled: nothing steps down in the middle of a run.
        """
        body = self._capabilities.body(self._model, request)
        body[self._capabilities.limit] = request.max_tokens + self._room
        exchange = await self._connection.ask(
            "/chat/completions", body, read_completion, deadline=request.deadline
        )
        outcome, seconds, retries = exchange.outcome, exchange.seconds, exchange.retries
        if isinstance(outcome, Failure):
            await self._check(outcome, body)
            return ChatFailure(
                reason=outcome.reason, detail=outcome.detail, seconds=seconds, retries=retries
            )
        await self._compare(outcome.model)
        prompt, reply = outcome.prompt_tokens, outcome.reply_tokens
        self._weigh(prompt, len(request.system) + len(request.user))
        return ChatReply(
            text=outcome.text,
            finish=outcome.finish,
            model=outcome.model or self._model,
            prompt_tokens=(
                estimate_tokens(request.system) + estimate_tokens(request.user)
                if prompt is None
                else prompt
            ),
            reply_tokens=estimate_tokens(outcome.text) if reply is None else reply,
            seconds=seconds,
            retries=retries,
        )

    async def _check(self, failure: Failure, body: Mapping[str, JsonValue]) -> None:
        """That the failure is not one of an option: then the next request would fail, too."""
        refusal = failure.refusal
        # A request too long or filtered may name a field as well, and refuses none.
        if failure.reason is not UnscoredReason.SERVER_ERROR or refusal is None:
            return
        if refusal.status not in _REFUSES or refusal.field(body) is None:
            return
        await remember(self._memory, self._connection.base_url, self._model, None)
        self._memory = None  # what served since is not to bring it back
        # A message alone may quote what is judged: that is no reason to stop all the others.
        if field := refusal.named_field(body):
            step = "the same command will find out anew what it takes"
            if field == self._capabilities.limit:
                # It may be taken, and only be too high for a model: no probe finds that out.
                step += ", or try a smaller --max-reply-tokens"
            raise self._connection.unavailable(
                self._model, f"the server no longer takes {field!r} ({failure.detail}); {step}"
            )

    async def _compare(self, served: str) -> None:
        before = self._capabilities.served
        if served in {"", before}:
            return
        self._capabilities = self._capabilities.model_copy(update={"served": served})
        await remember(self._memory, self._connection.base_url, self._model, self._capabilities)
        # A gateway may go to and fro between two: each way is told once.
        if before and (before, served) not in self._told and len(self._told) < _WARNINGS:
            self._told.add((before, served))
            _LOG.warning(
                "the server now answers with model %r, and no longer with %r", served, before
            )

    def _weigh(self, tokens: int | None, characters: int) -> None:
        """Warn once where a prompt may have been cut, as Ollama does beyond its context length."""
        if not tokens or self._weighed or characters < _LONG or tokens * _SPARSE >= characters:
            return
        self._weighed = True
        _LOG.warning(
            "the server counted %d tokens in a prompt of %d characters; if it cuts prompts, raise "
            "its context length or lower --max-evidence-tokens",
            tokens,
            characters,
        )


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
    """The first choice of a chat completion."""

    text: str
    """The text of the reply; empty where there is none."""
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
        parsed: JsonValue = json.loads(body.decode("utf-8-sig"))
    except RecursionError:
        raise ValueError("nested too deeply") from None
    read = _Body.model_validate(parsed)
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
