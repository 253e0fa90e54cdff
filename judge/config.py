"""The settings of a run, checked when they are made."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

from pydantic import (
    BeforeValidator,
    Field,
    JsonValue,
    SecretStr,
    StringConstraints,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from judge.address import check_headers, checked_url
from judge.errors import ConfigError
from judge.prompt import FAITHFULNESS, versions
from judge.records import Record, Rules
from judge.signature import BAR
from judge.text.visible import clip

LOCAL: Final = "local:"
"""Before the name of an embedding model that is loaded here, and not asked for of a server."""
Endpoint = Literal["chat", "responses"]
_Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
_Effort = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,20}$")]
_SHOWN: Final = 200

_OURS: Final[dict[str, set[str]]] = {
    "chat": {"messages", "response_format", "max_tokens", "max_completion_tokens", "n"},
    "responses": {"input", "instructions", "text", "max_output_tokens", "background"},
}
"""Fields of a request that are made of other settings, or that its reply hangs on."""


def _unpacked(given: object) -> object:
    if not isinstance(given, str):
        return given
    try:
        return json.loads(given)
    except (ValueError, RecursionError):
        raise ValueError('is no JSON; give an object, such as {"name": "value"}') from None


def _paths(given: object) -> object:
    """A mapping of fields to paths, which may be `FIELD=PATH` texts or one, with commas between."""
    if isinstance(given, str) and not given.lstrip().startswith("{"):
        given = given.split(",")
    if not isinstance(given, list | tuple):
        return _unpacked(given)
    pairs = [str(each).partition("=") for each in given]
    if bad := [each for each, (*both, path) in zip(given, pairs, strict=True) if not path]:
        raise ValueError(f"{bad[0]!r} is no FIELD=PATH, such as answer=result.text")
    mapping = {name.strip(): path.strip() for name, _, path in pairs}
    if len(mapping) < len(pairs):
        raise ValueError("a field stands twice; keep one")
    return mapping


_Paths = Annotated[dict[str, str], BeforeValidator(_paths)]
_Headers = Annotated[dict[str, SecretStr], BeforeValidator(_unpacked)]
_Fields = Annotated[dict[str, JsonValue], BeforeValidator(_unpacked)]


class Config(Record):
    """Every setting. A key is none: it comes from the environment alone; nor are headers shown.

    Raises:
        ConfigError: a setting is unknown or out of range; the message names it and its value.
    """

    judge: Literal["auto", "llm", "nli", "similarity"] = "auto"
    """Which judge; `auto` is a language model where one is named, else an NLI model likewise."""
    model: _Name | None = None
    """The judging model, as its server calls it."""
    base_url: _Name | None = None
    """An OpenAI-compatible server, such as http://localhost:8000/v1; OpenAI's where left out."""
    endpoint: Endpoint = "chat"
    """Where a language model is asked: /chat/completions, which most servers have, or OpenAI's
    newer /responses; it is part of the signature."""
    embedding_model: _Name | None = None
    """For similarity, instead of the built-in one: of that server, or `local:` and a model here.
    Not beside an NLI model, which takes the place of similarity."""
    nli_model: _Name | None = None
    """A model of natural language inference on this machine: its folder, or its name on the hub."""
    fallback: bool = True
    """Show what NLI or similarity says where the language model gave no verdict."""
    prompt: _Name = "v2"
    """Which version of the faithfulness prompt a language model is asked with, such as v1."""
    repeat: int = Field(default=1, ge=1, le=20)
    """How often a language model is asked about a sentence that is `partial`, `contradicted` or
    unverified: by another seed and with the chunks in another order each time, and the majority
    decides."""
    sentences_per_call: int = Field(default=16, ge=1, le=100)
    """Sentences asked in one call."""
    max_evidence_tokens: int = Field(default=24_000, ge=500)
    """Estimated tokens of chunks in one call; more are judged in windows."""
    max_reply_tokens: int | None = Field(default=None, ge=1)
    """The limit with which a reply that was cut is asked for once more, and the highest of any;
    where left out, twice the limit at which it was cut, and 8192 at least."""
    reasoning_effort: _Effort | None = None
    """How much a model thinks, in its server's word: none, minimal, low, medium, high …"""
    extra_body: _Fields | None = None
    """Further fields of each chat request, as a mapping or as JSON; these and the effort are part
    of the signature."""
    headers: _Headers | None = Field(default=None, exclude=True, repr=False)
    """Further headers of each request, likewise; they may hold secrets, and are shown nowhere."""
    timeout: float = Field(default=120.0, gt=0, allow_inf_nan=False)
    """Seconds for one attempt."""
    deadline: float = Field(default=600.0, gt=0, allow_inf_nan=False)
    """Seconds for one answer, its relevance included, and for each way of a comparison, retries and
    all."""
    attempts: int = Field(default=6, ge=1)
    """Attempts at one call; a server that says "too many requests" is asked until the deadline."""
    patience: float = Field(default=120.0, ge=0, allow_inf_nan=False)
    """Seconds for which a server may be gone, which cost no attempts: then the run ends unfinished,
    and can be gone on with. Where 0, it is asked as often as ever, about all."""
    cache: bool = True
    """Keep a language model's verdicts, and ask for none twice."""
    cache_dir: Path | None = None
    """Where; `judge` in the user's cache folder where left out."""
    cache_url: _Name | None = None
    """Where instead, for many machines: a Redis server, such as redis://localhost:6379/0."""
    cache_ttl: int | None = Field(default=None, ge=1)
    """Seconds after which that server forgets a verdict; never where left out."""
    durable: bool = False
    """A verdict counts once the disk, or that server, has it; otherwise up to 50 ms of them are
    lost with the process (kill -9), and asked again."""
    prior: float = Field(default=0.9, gt=0, lt=1)
    """Share of sentences expected to be supported, for the similarity judge's probabilities."""
    concurrency: int = Field(default=64, ge=1)
    """Answers in flight at once; fewer requests are, where the server refuses as many."""
    rpm: int | None = Field(default=None, ge=1)
    """Requests a minute at most, evenly spread; fewer where the server takes fewer."""
    tpm: int | None = Field(default=None, ge=1)
    """Tokens a minute, questions and replies, likewise; only whole requests are held back."""
    workers: int | None = Field(default=None, ge=1, le=64)
    """Processes that compute: 1 is this one alone. More cut, check and judge by similarity; this
    one asks whoever is asked, and runs models of this machine. If left out `judge score` takes as
    many as there are cores, at most 4, and 1 below 200 answers; anything else takes 1."""
    input_price: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """What a million tokens of questions cost, in whatever money."""
    output_price: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """What a million tokens of replies cost, in the same."""
    max_tokens: int | None = Field(default=None, ge=1)
    """Tokens that the language model may take in a session, questions and replies; what is open
    then is unscored (`budget`)."""
    max_cost: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    """What they may cost, by the two prices; likewise."""
    max_unscored: float = Field(default=0.05, ge=0, le=1)
    """Share of claims without a verdict over which a run is not to be trusted."""
    max_line: float = Field(default=64.0, gt=0, allow_inf_nan=False)
    """MB of the longest line of samples; a longer one is refused, and not read whole."""
    map: _Paths | None = None
    """Where rows of samples hold our fields, as paths by field; what is not named is found by what
    the rows look like."""
    seed: int = Field(default=0, ge=0)
    """Of what is drawn for people."""
    review_rate: float = Field(default=0.02, ge=0, le=1)
    """Share of answers that a review hook is handed, where there is one."""
    correctness: bool = False
    """Compare each answer with its `gold_answer`, too: one more call each way."""
    relevance: bool = False
    """Ask a language model whether each answer answers its `query`, too: one more call."""
    faithful_from: float = Field(default=0.8, ge=0, le=1)
    """The least faithfulness of an answer that counts as faithful in the table of cells."""
    correct_from: float = Field(default=0.8, ge=0, le=1)
    """The least part of its reference that an answer covers to count as correct there."""
    gold_match: Literal["exact", "prefix"] = "exact"
    """Whether gold names chunks, or with `prefix` documents: a chunk's id is then a document's id
    and a character that is no letter or digit, or Chinese after other letters or the reverse."""
    prose_citations: bool = False
    """Also read "passage 2", "文档2" as citations."""
    citation_pattern: str | None = None
    """One more regular expression for citations."""
    require_quotes: bool = False
    """Count a `full` or `partial` without a verified quote as unscored."""

    @property
    def rules(self) -> Rules:
        """The part of the settings that concerns the reading of answers."""
        return Rules.model_validate({name: getattr(self, name) for name in Rules.model_fields})

    @property
    def limited(self) -> bool:
        """Whether there is a budget."""
        return self.max_tokens is not None or self.max_cost is not None

    def cost(self, prompt_tokens: int, reply_tokens: int) -> float | None:
        """What so many tokens cost, by the prices of a million; null where there are none."""
        if self.input_price is None or self.output_price is None:
            return None
        return (prompt_tokens * self.input_price + reply_tokens * self.output_price) / 1e6

    @property
    def asked_beside(self) -> dict[str, JsonValue]:
        """The fields of a chat request that the user added."""
        effort = {"reasoning_effort": self.reasoning_effort} if self.reasoning_effort else {}
        return (self.extra_body or {}) | effort

    @property
    def asks_model(self) -> bool:
        """Whether a language model judges."""
        return self.judge in {"auto", "llm"} and self.model is not None

    @property
    def infers(self) -> bool:
        """Whether the judge that needs no language model is an NLI model, and not similarity."""
        return self.judge in {"auto", "llm", "nli"} and self.nli_model is not None

    @property
    def offline(self) -> Literal["nli", "similarity"]:
        """The judge that needs no language model."""
        return "nli" if self.infers else "similarity"

    @property
    def local_embedding(self) -> str | None:
        """The embedding model of this machine, where similarity uses one."""
        name = self.embedding_model or ""
        return name.removeprefix(LOCAL) if name.startswith(LOCAL) else None

    @property
    def served_embedding(self) -> str | None:
        """The embedding model of the server, where similarity uses one."""
        name = self.embedding_model
        return None if not name or name.startswith(LOCAL) else name

    @property
    def asks_server(self) -> bool:
        """Whether anybody is asked: a language model, or one of embeddings."""
        return self.asks_model or self.served_embedding is not None

    @property
    def loads_model(self) -> bool:
        """Whether a model on this machine is loaded."""
        local = self.infers or self.local_embedding is not None
        return local and (self.fallback or not self.asks_model)

    @field_validator("*", mode="before")
    @classmethod
    def _is_no_truth_value(cls, value: object, field: ValidationInfo) -> object:
        # To Python, true is the number 1.
        asked = cls.model_fields[str(field.field_name)].annotation
        if isinstance(value, bool) and asked is not bool:
            raise ValueError("is true or false, and no number or text")
        return value

    @field_validator("citation_pattern")
    @classmethod
    def _is_a_pattern(cls, pattern: str | None) -> str | None:
        if pattern is not None:
            import regex  # noqa: PLC0415  for those who have a pattern

            try:
                regex.compile(pattern)
            except (regex.error, RecursionError) as error:
                raise ValueError(f"is no regular expression: {error}") from None
        return pattern

    @field_validator("extra_body")
    @classmethod
    def _is_left_to_the_user(cls, fields: _Fields | None, info: ValidationInfo) -> object:
        ours = _OURS[info.data.get("endpoint", "chat")] | {"model", "stream"}
        if taken := sorted(ours.intersection(fields or ())):
            raise ValueError(f"judge itself sets {taken[0]!r}; leave it out")
        if "reasoning_effort" in (fields or ()):
            raise ValueError("there is a setting for 'reasoning_effort'; use that")
        try:
            json.dumps(fields, allow_nan=False, ensure_ascii=False).encode()
        except ValueError:  # TOML knows infinity, JSON can write half a character
            raise ValueError("holds what JSON cannot send") from None
        return fields

    @field_validator("headers")
    @classmethod
    def _can_be_sent(cls, headers: dict[str, SecretStr] | None) -> object:
        check_headers({name: text.get_secret_value() for name, text in (headers or {}).items()})
        return headers

    @field_validator("model", "embedding_model", "nli_model")
    @classmethod
    def _is_a_name(cls, name: str | None) -> str | None:
        # It becomes a part of signatures.
        if name is not None and (BAR in name or not name.isprintable()):
            raise ValueError("holds what no model's name does")
        if name == LOCAL:
            raise ValueError("names no model; give its folder, or its name on the hub, behind it")
        return name

    @field_validator("prompt")
    @classmethod
    def _is_released(cls, version: str) -> str:
        if version not in (known := versions(FAITHFULNESS)):
            raise ValueError(f"no version of {FAITHFULNESS}; there are: {', '.join(known)}")
        return version

    @field_validator("cache_dir", mode="before")
    @classmethod
    def _is_a_place(cls, path: object) -> object:
        if path == "" or path == Path() or not isinstance(path, str | Path | None):
            raise ValueError("no folder; leave it out, or name one")
        return path

    @field_validator("base_url", "cache_url")
    @classmethod
    def _is_an_address(cls, url: str | None, field: ValidationInfo) -> str | None:
        return None if url is None else checked_url(url, str(field.field_name))

    @model_validator(mode="after")
    def _has_a_model(self) -> Self:
        idle = not (self.model or self.nli_model or self.served_embedding)
        if self.judge == "auto" and self.base_url is not None and idle:
            raise ConfigError(
                f"base_url {self.base_url!r} (--base-url or OPENAI_BASE_URL) names a server and "
                "nothing names its model: add --model or JUDGE_MODEL, or say --judge similarity"
            )
        if self.judge == "llm" and self.model is None:
            raise ConfigError("judge 'llm' needs a model: name one with --model or JUDGE_MODEL")
        if (self.input_price is None) != (self.output_price is None):
            raise ConfigError(
                "input_price and output_price: one is set and the other is not; set both, 0 for "
                "what costs nothing"
            )
        if self.max_cost is not None and self.input_price is None:
            raise ConfigError(
                f"max_cost {self.max_cost:g}: what tokens cost is not known; set input_price and "
                "output_price, each for a million tokens"
            )
        if self.cache_url is not None and self.cache_dir is not None:
            raise ConfigError(
                "cache_dir and cache_url: there is one place of verdicts; leave one out"
            )
        if self.cache_url is None and self.cache_ttl is not None:
            raise ConfigError("cache_ttl: only a Redis server forgets; name one with cache_url")
        if self.relevance and not self.asks_model:
            raise ConfigError(
                "relevance: whether an answer answers its question only a language model can tell, "
                "and by similarity or NLI it is not measured: name one with --model or "
                "JUDGE_MODEL, or say --no-relevance"
            )
        return self

    @model_validator(mode="after")
    def _has_one_model_here(self) -> Self:
        if self.judge == "nli" and self.nli_model is None:
            raise ConfigError("judge 'nli' needs a model: name one with --nli-model")
        if self.infers and self.embedding_model is not None:
            raise ConfigError(
                f"nli_model {self.nli_model!r} and embedding_model {self.embedding_model!r}: one "
                "judges or stands by, not both; leave one out, or say judge 'similarity'"
            )
        return self

    @model_validator(mode="wrap")
    @classmethod
    def _name_the_setting(cls, data: Any, handler: Callable[[Any], Self]) -> Self:  # noqa: ANN401
        try:
            return handler(data)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            name = ".".join(map(str, first["loc"]))
            if first["type"] == "extra_forbidden":
                said, known = clip(repr(name), _SHOWN), ", ".join(cls.model_fields)
                raise ConfigError(f"unknown setting {said}; there are: {known}") from None
            message = first["msg"].removeprefix("Value error, ")
            if first["type"] == "string_too_short":
                message = "is empty; leave it out, or name one"
            if first["loc"][:1] == ("headers",):
                raise ConfigError(f"setting headers: {message}") from None
            value = clip(repr(first["input"]), _SHOWN)
            raise ConfigError(f"setting {name} = {value}: {message}") from None
