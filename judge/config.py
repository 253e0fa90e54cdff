"""The settings of a run: what each one means, and where they are read from."""

import json
import logging
import os
import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    SecretStr,
    StringConstraints,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from judge.errors import ConfigError
from judge.prompt import FAITHFULNESS, versions
from judge.records import Record, Rules
from judge.signature import BAR
from judge.text.visible import clip, nearest

_LOG: Final = logging.getLogger("judge")

SETTINGS_FILE: Final = "judge.toml"
"""The file of settings that is read from the working folder if it is there."""
PREFIX: Final = "JUDGE_"
"""The environment variable of a setting is its name behind this prefix, such as JUDGE_MODEL."""

REVIEW_TOKEN: Final = "JUDGE_REVIEW_TOKEN"  # noqa: S105  the name of a variable
"""The bearer token that is sent to a review hook at an http address."""
SERVICE_TOKENS: Final = "JUDGE_SERVICE_TOKENS"
"""The bearer tokens that the service accepts: NAME:TOKEN, separated by commas."""
CLIENT_TOKEN: Final = "JUDGE_SERVICE_TOKEN"  # noqa: S105  the name of a variable
"""The bearer token that a client sends to the service."""
REDIS_USERNAME: Final = "JUDGE_REDIS_USERNAME"
REDIS_PASSWORD: Final = "JUDGE_REDIS_PASSWORD"  # noqa: S105  the name of a variable
"""The password of a shared cache."""
_SECRETS: Final = {REVIEW_TOKEN, SERVICE_TOKENS, CLIENT_TOKEN, REDIS_USERNAME, REDIS_PASSWORD}
"""Environment variables with our prefix that are secrets and no settings."""
SECRET_HEADER: Final = re.compile("key|secret|token|auth|cookie|password", re.IGNORECASE)
"""Matches the name of a header whose value is a secret."""
_GUARDED: Final = (
    *("base_url", "headers", "extra_body", "cache_dir", "cache_url", "citation_pattern"),
    *("nli_model", "embedding_model"),
)
"""Settings that a file may only have if the user named the file (`# D75`)."""
_MAX_FILE_BYTES: Final = 1 << 14
"""The largest file of settings: the memory of the TOML parser grows with the square of a key."""
_MAX_SHOWN: Final = 200
"""Characters of a value that an error shows."""
_LIMITS: Final = {"gt": "above", "ge": "at least", "lt": "below", "le": "at most"}

LOCAL: Final = "local:"
"""The prefix of an embedding model that is loaded on this machine and not called on a server."""
Endpoint = Literal["chat", "responses"]
_Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
_Effort = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,20}$")]

_OURS: Final[dict[str, set[str]]] = {
    "chat": {"messages", "response_format", "max_tokens", "max_completion_tokens", "n"},
    "responses": {"input", "instructions", "text", "max_output_tokens", "background"},
}
"""Fields of a request that judge itself sets, by endpoint."""
_OUR_HEADERS: Final = {"connection", "content-length", "content-type", "host", "transfer-encoding"}
"""Headers that say where a message goes and where it ends."""
_HEADER: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_HOST: Final = r"(\[[0-9a-f:.]+\]|[^\s\[\]/:]+)(:[1-9]\d*)?"
_ADDRESSES: Final = {
    "base_url": (
        "http",
        rf"https?://{_HOST}(/\S*)?",
        "http://localhost:8000/v1",
        "the key as OPENAI_API_KEY",
    ),
    "cache_url": (
        "Redis",
        rf"rediss?://{_HOST}(/\d*)?|unix:///[^\s/]\S*",
        "redis://localhost:6379/0",
        f"them as {REDIS_USERNAME} and {REDIS_PASSWORD}",
    ),
}
"""For each setting that is an address: its kind, its pattern, an example, and where secrets go."""


class _SettingError(ValueError):
    """A fault whose message is complete. `names` are the settings that cause it."""

    def __init__(self, message: str, *names: str) -> None:
        self.names = names
        super().__init__(message)


def _parse_json(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        raise ValueError('is not JSON; give an object, such as {"name": "value"}') from None


def _parse_paths(value: object) -> object:
    """Read FIELD=PATH: a mapping, a list of pairs, or pairs separated by commas."""
    if isinstance(value, str) and not value.lstrip().startswith("{"):
        value = value.split(",")
    if not isinstance(value, list | tuple):
        return _parse_json(value)
    mapping: dict[str, str] = {}
    for pair in value:
        name, _, path = str(pair).partition("=")
        if not path:
            raise ValueError(f"{pair!r} is not FIELD=PATH, such as answer=result.text")
        if name.strip() in mapping:
            raise ValueError(f"{name.strip()!r} is given twice; keep one")
        mapping[name.strip()] = path.strip()
    return mapping


_Paths = Annotated[dict[str, str], BeforeValidator(_parse_paths)]
_Headers = Annotated[dict[str, SecretStr], BeforeValidator(_parse_json)]
_Fields = Annotated[dict[str, JsonValue], BeforeValidator(_parse_json)]


class Config(Record):
    """Every setting of a run, checked when it is made; ConfigError names a wrong one and its value.

    The docstring of a field is also the help of its command-line option. `load_config` also reads
    the environment and a file. The key of a server is no setting, but read from OPENAI_API_KEY.
    """

    model_config = ConfigDict(use_attribute_docstrings=True)

    judge: Literal["auto", "llm", "nli", "similarity"] = "auto"
    """The kind of judge; auto chooses llm with --model, nli with --nli-model, else similarity."""
    model: _Name | None = None
    """The language model that judges, by the name its server knows."""
    base_url: _Name | None = None
    """The address of an OpenAI-compatible server, also from OPENAI_BASE_URL; else OpenAI's."""
    endpoint: Endpoint = "chat"
    """The endpoint for requests: chat (/chat/completions), or responses of OpenAI (/responses)."""
    embedding_model: _Name | None = None
    """An embedding model for similarity: one of the server, or local: and one on this machine."""
    nli_model: _Name | None = None
    """A natural language inference (NLI) model: a folder, or its name on the Hugging Face hub."""
    fallback: bool = True
    """Show the verdict of NLI or similarity where the language model gave none."""
    prompt: _Name = "v3"
    """The version of the faithfulness prompt; judge prompts list shows all."""
    repeat: int = Field(default=1, ge=1, le=20)
    """How often a partial, contradicted or unverified sentence is judged; the majority decides."""
    sentences_per_call: int = Field(default=16, ge=1, le=100)
    """The maximum number of sentences in one call."""
    max_evidence_tokens: int = Field(default=24_000, ge=500)
    """The maximum number of tokens of chunks in one call; more are judged in several windows."""
    max_reply_tokens: int | None = Field(default=None, ge=1)
    """The highest token limit of any request for verdicts, and the limit after a reply was cut off.
    By default, the limit after a cut is twice the first one, and at least 8192."""
    reasoning_effort: _Effort | None = None
    """The reasoning effort of the language model: none, minimal, low, medium or high."""
    extra_body: _Fields | None = None
    """Additional fields of each request to the language model; part of the signature."""
    headers: _Headers | None = Field(default=None, exclude=True, repr=False)
    """Additional headers of each request. They are never shown or saved; set secret ones in the
    environment variable JUDGE_HEADERS."""
    timeout: float = Field(default=120.0, gt=0, allow_inf_nan=False)
    """The maximum time for one attempt at a call, in seconds."""
    deadline: float = Field(default=600.0, gt=0, allow_inf_nan=False)
    """The maximum time for one answer with all its retries, in seconds."""
    attempts: int = Field(default=6, ge=1)
    """The maximum number of attempts at one call. Refusals (429) do not count, nor do attempts
    while the server is away (no connection, 502, 503)."""
    patience: float = Field(default=120.0, ge=0, allow_inf_nan=False)
    """How long a server may give no reply (no connection, 429, 5xx, nothing to read) before the run
    stops, in seconds; with 0 it never stops. By default, a server that is not there at the start is
    waited for 10 seconds if there is no terminal."""
    cache: bool = True
    """Keep the verdicts of language models, and reuse them for equal requests."""
    cache_dir: Path | None = None
    """The folder of the cache; by default judge in the user's cache folder."""
    cache_url: _Name | None = None
    """The address of a Redis server with the cache, such as redis://localhost:6379/0."""
    cache_ttl: int | None = Field(default=None, ge=1)
    """The time after which the Redis server deletes a verdict, in seconds. Without it, never."""
    durable: bool = False
    """Wait until verdicts are on the disk, so that they survive a power failure, too."""
    prior: float = Field(default=0.9, gt=0, lt=1)
    """The share of sentences that is expected to be supported, for similarity."""
    concurrency: int = Field(default=64, ge=1)
    """The maximum number of answers that are judged at the same time."""
    rpm: int | None = Field(default=None, ge=1)
    """The maximum number of requests per minute. They are sent at equal intervals."""
    tpm: int | None = Field(default=None, ge=1)
    """The maximum number of tokens per minute, in prompts and replies."""
    workers: int | None = Field(default=None, ge=1, le=64)
    """The number of processes that judge by similarity. By default, judge score uses one per core,
    at most 4, and 1 for fewer than 200 answers or where a server judges."""
    input_price: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """The price of a million prompt tokens, in any currency."""
    output_price: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """The price of a million reply tokens, in the same currency."""
    max_tokens: int | None = Field(default=None, ge=1)
    """The budget of the run in tokens; beyond it sentences are unscored, and the exit code is 4."""
    max_cost: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    """The budget of the run in money, by the two prices; beyond it the same as with max_tokens."""
    max_unscored: float = Field(default=0.05, ge=0, le=1)
    """The share of claims without a verdict above which a run is untrusted: exit code 3."""
    map: _Paths | None = None
    """Where the rows of samples have a field, such as answer=result.text or
    chunks=docs[].page_content; may be repeated. Other fields are found by the shape of the rows."""
    seed: int = Field(default=0, ge=0)
    """The seed of random draws: of --limit, and of answers for people to review."""
    review_rate: float = Field(default=0.02, ge=0, le=1)
    """The share of answers that is passed to a review hook."""
    correctness: bool = False
    """Also compare each answer with its gold_answer, with one more call in each direction."""
    relevance: bool = False
    """Also ask the language model whether each answer answers its query, with one more call."""
    context: bool = False
    """Also judge gold_answer by the chunks, with one more call: context recall and precision."""
    triad: bool = False
    """Measure faithfulness, answer relevance and context: relevance and context together."""
    faithful_from: float = Field(default=0.8, ge=0, le=1)
    """The lowest faithfulness of a faithful answer, in the table of cells."""
    correct_from: float = Field(default=0.8, ge=0, le=1)
    """The lowest recall of the reference of a correct answer, in the table of cells; without gold
    evidence, also the lowest context recall of evidence that was retrieved."""
    gold_match: Literal["exact", "prefix"] = "exact"
    """What gold names: chunks with exact, documents with prefix. The id of a chunk then begins with
    that of its document and a separator."""
    prose_citations: bool = False
    """Also read "passage 2" and "文档2" as citations."""
    citation_pattern: str | None = None
    """A regular expression for another form of citations; its group 1 is the id."""
    require_quotes: bool = False
    """Count a full or partial verdict without a verified quote as unscored."""

    @property
    def rules(self) -> Rules:
        """The settings that concern the reading of answers."""
        return Rules.model_validate({name: getattr(self, name) for name in Rules.model_fields})

    @property
    def limited(self) -> bool:
        """Whether the run has a budget."""
        return self.max_tokens is not None or self.max_cost is not None

    def cost(self, prompt_tokens: int, reply_tokens: int) -> float | None:
        """Return the cost of prompt and reply tokens, or None if the prices are not set."""
        if self.input_price is None or self.output_price is None:
            return None
        return (prompt_tokens * self.input_price + reply_tokens * self.output_price) / 1e6

    @property
    def asked_beside(self) -> dict[str, JsonValue]:
        """The fields that the user added to each chat request."""
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
        """The kind of judge that needs no language model."""
        return "nli" if self.infers else "similarity"

    @property
    def local_embedding(self) -> str | None:
        """The embedding model on this machine, if similarity uses one."""
        name = self.embedding_model or ""
        return name.removeprefix(LOCAL) if name.startswith(LOCAL) else None

    @property
    def served_embedding(self) -> str | None:
        """The embedding model of the server, if similarity uses one."""
        name = self.embedding_model
        return None if not name or name.startswith(LOCAL) else name

    @property
    def asks_server(self) -> bool:
        """Whether a server is called, for a language model or for embeddings."""
        return self.asks_model or self.served_embedding is not None

    @property
    def loads_model(self) -> bool:
        """Whether a model is loaded on this machine."""
        local = self.infers or self.local_embedding is not None
        return local and (self.fallback or not self.asks_model)

    @model_validator(mode="after")
    def _expand_triad(self) -> Self:
        if self.triad:
            # Settings that were not given stay so, because those given are passed on.
            for name in ("relevance", "context"):
                object.__setattr__(self, name, True)
        return self

    @field_validator("citation_pattern")
    @classmethod
    def _check_pattern(cls, pattern: str | None) -> str | None:
        if pattern is not None:
            import regex  # noqa: PLC0415  few runs have a pattern

            try:
                regex.compile(pattern)
            except (regex.error, RecursionError) as error:
                raise ValueError(f"is not a regular expression: {error}") from None
        return pattern

    @field_validator("extra_body")
    @classmethod
    def _check_fields(cls, fields: _Fields | None, info: ValidationInfo) -> object:
        ours = _OURS[info.data.get("endpoint", "chat")] | {"model", "stream"}
        if reserved := sorted(ours.intersection(fields or ())):
            raise ValueError(f"judge itself sets {reserved[0]!r}; leave it out")
        if "reasoning_effort" in (fields or ()):
            raise ValueError("there is a setting for 'reasoning_effort'; use that")
        return fields

    @field_validator("headers")
    @classmethod
    def _check_headers(cls, headers: dict[str, SecretStr] | None) -> object:
        check_headers({name: text.get_secret_value() for name, text in (headers or {}).items()})
        return headers

    @field_validator("model", "embedding_model", "nli_model")
    @classmethod
    def _check_name(cls, name: str | None) -> str | None:
        if name is not None and (BAR in name or not name.isprintable()):
            raise ValueError(f"contains {BAR!r} or a character that is not printable")
        if name == LOCAL:
            raise ValueError("names no model; add its folder, or its name on the hub")
        return name

    @field_validator("prompt")
    @classmethod
    def _check_version(cls, version: str) -> str:
        if version not in (known := versions(FAITHFULNESS)):
            raise ValueError(f"no version of {FAITHFULNESS}; there are: {', '.join(known)}")
        return version

    @field_validator("cache_dir", mode="before")
    @classmethod
    def _check_folder(cls, path: object) -> object:
        if path == "" or path == Path() or not isinstance(path, str | Path | None):
            raise ValueError("is not a folder; leave it out, or name one")
        return path

    @field_validator("base_url", "cache_url")
    @classmethod
    def _check_address(cls, url: str | None, field: ValidationInfo) -> str | None:
        name = str(field.field_name)
        try:
            return None if url is None else checked_url(url, name)
        except ConfigError as error:
            raise _SettingError(str(error), name) from None

    @model_validator(mode="after")
    def _check_combinations(self) -> Self:
        has_model = self.model or self.nli_model or self.served_embedding
        if self.judge == "auto" and self.base_url is not None and not has_model:
            raise _SettingError(
                f"base_url {self.base_url!r} (--base-url or OPENAI_BASE_URL) names a server and "
                "nothing names its model: add --model or JUDGE_MODEL, or say --judge similarity",
                "base_url",
            )
        if self.judge == "llm" and self.model is None:
            raise _SettingError(
                "judge 'llm' needs a model: name one with --model or JUDGE_MODEL", "judge"
            )
        if self.judge == "nli" and self.nli_model is None:
            raise _SettingError("judge 'nli' needs a model: name one with --nli-model", "judge")
        if self.infers and self.embedding_model is not None:
            both = f"nli_model {self.nli_model!r} and embedding_model {self.embedding_model!r}"
            step = "cannot be combined: leave one out, or say --judge similarity"
            raise _SettingError(f"{both} {step}", "nli_model", "embedding_model")
        if (self.input_price is None) != (self.output_price is None):
            message = "input_price and output_price: only one is set; set both, and 0 for no price"
            raise _SettingError(message, "input_price", "output_price")
        if self.max_cost is not None and self.input_price is None:
            step = "set input_price and output_price, each for a million tokens"
            raise _SettingError(f"max_cost: the price of tokens is not known; {step}", "max_cost")
        if self.relevance and not self.asks_model:
            name, other = "relevance", "--no-relevance"
            if self.triad:
                name, other = "triad", "--context in the place of --triad"
            needed = "only a language model can measure answer relevance"
            step = f"name one with --model or JUDGE_MODEL, or say {other}"
            raise _SettingError(f"{name}: {needed}: {step}", name)
        return self

    @model_validator(mode="wrap")
    @classmethod
    def _raise_our_error(
        cls,
        data: Any,  # noqa: ANN401  unchecked input
        handler: Callable[[Any], Self],
        info: ValidationInfo,
    ) -> Self:
        try:
            return handler(data)
        except ValidationError as error:
            raise ConfigError(_message(error, info.context or {})) from None


def _message(error: ValidationError, places: Mapping[str, str]) -> str:
    """Return one line about the first fault; `places` says where each setting was read from."""
    first = error.errors(include_url=False)[0]
    fault = first.get("ctx", {}).get("error")
    names = fault.names if isinstance(fault, _SettingError) else tuple(map(str, first["loc"][:1]))
    found = {places[name] for name in names if name in places}
    place = found.pop() if len(found) == 1 else ""
    if isinstance(fault, _SettingError):
        return f"{place}{fault}"
    name = ".".join(map(str, first["loc"]))
    if first["type"] == "extra_forbidden":
        near = nearest(name, Config.model_fields)
        hint = f"did you mean {near!r}?" if near else f"there are: {', '.join(Config.model_fields)}"
        return f"{place}unknown setting {clip(repr(name), _MAX_SHOWN)}; {hint}"
    message = first["msg"].removeprefix("Value error, ").replace("Input should be", "give")
    if _LIMITS.keys() & first.get("ctx", {}):
        message = f"give a number that is {_range(names[0])}"
    if first["type"] == "string_too_short":
        message = "is empty; leave it out, or name one"
    if names == ("headers",):  # the value may be a secret
        return f"{place}setting headers: {message}"
    return f"{place}setting {name} = {clip(repr(first['input']), _MAX_SHOWN)}: {message}"


def _range(setting: str) -> str:
    """Return the numbers that a setting may have, such as `above 0 and below 1`."""
    bounds = Config.model_fields[setting].metadata
    found = ((word, getattr(each, key, None)) for each in bounds for key, word in _LIMITS.items())
    return " and ".join(f"{word} {limit}" for word, limit in found if limit is not None)


def load_config(options: Mapping[str, object], file: Path | None = None) -> Config:
    """Read the settings from `options`, the environment and a file. The first that has one decides.

    The file is TOML: `file`, which the user named, or else `judge.toml` of the working folder if it
    exists. That one may have come with somebody else's data. So its settings are logged, and some
    are refused (`# D75`).

    Raises:
        ConfigError: the file cannot be read or has a setting that it must not have, or a setting is
            unknown or out of range.
    """
    path = file or Path(SETTINGS_FILE)
    file_settings = {}
    if file is not None or os.path.lexists(path):
        file_settings = _read_file(path)
        if file is None:
            _refuse_guarded(file_settings)
    sources = {f"{path}: ": file_settings, "environment: ": _read_environment(), "": options}
    places = {name: place for place, settings in sources.items() for name in settings}
    merged = {name: sources[place][name] for name, place in places.items()}
    config = Config.model_validate(merged, context=places)
    model_is_blank = not os.environ.get(f"{PREFIX}MODEL", "unset").strip()
    if model_is_blank and config.judge == "auto" and not (config.model or config.nli_model):
        raise ConfigError(
            "environment: JUDGE_MODEL is empty, so no model would judge: fill it in, name one with "
            "--model, unset it, or say --judge similarity"
        )
    if file is None and file_settings:
        _LOG.info("settings from %s: %s", path, ", ".join(file_settings))
    return config


def _read_environment() -> dict[str, object]:
    """Return the settings of the environment, and warn of variables that are no setting."""
    variables = [name for name in sorted(os.environ) if name.upper().startswith(PREFIX)]
    settings = _read_variables() if variables else {}
    if (address := os.environ.get("OPENAI_BASE_URL", "")).strip():
        settings.setdefault("base_url", address)
    known = {f"{PREFIX}{name}".upper() for name in Config.model_fields} | _SECRETS
    unknown = []
    for variable in variables:
        if variable.upper() not in known:
            near = nearest(variable.upper().removeprefix(PREFIX).lower(), Config.model_fields)
            unknown.append(variable + (f" (did you mean {PREFIX}{near.upper()}?)" if near else ""))
    if unknown:
        _LOG.warning("environment: %s: no setting, ignored", clip(", ".join(unknown), _MAX_SHOWN))
    return settings


def _read_variables() -> dict[str, object]:
    from pydantic_settings import (  # noqa: PLC0415  importing it takes 50 ms
        BaseSettings,
        EnvSettingsSource,
        SettingsConfigDict,
    )

    class Settings(Config, BaseSettings):
        """The settings that the source looks for. No object of this class is made."""

        # `Config` reads JSON and FIELD=PATH itself.
        model_config = SettingsConfigDict(
            env_prefix=PREFIX, enable_decoding=False, use_attribute_docstrings=False
        )

    found = EnvSettingsSource(Settings)()
    return {name: text for name, text in found.items() if text.strip()}


def _read_file(path: Path) -> dict[str, object]:
    """Return the settings of a file, which must not hold secrets."""
    if not path.is_file():  # reading a pipe would wait for its writer
        raise ConfigError(f"{path}: is not a file; name the file of settings")
    try:
        if path.stat().st_size > _MAX_FILE_BYTES:
            raise ConfigError(f"{path}: is larger than a file of settings (16 KB); name another")
        # Some editors on Windows write a byte order mark.
        settings = tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}; name the file of settings") from None
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: is not TOML in UTF-8 ({error})") from None
    for name in settings:
        if "key" in name.lower() or "secret" in name.lower():
            raise ConfigError(
                f"{path}: {name!r} is a secret, which must not be in a file; "
                "set OPENAI_API_KEY in the environment"
            )
    try:
        headers = _parse_json(settings.get("headers"))
    except ValueError as error:
        raise ConfigError(f"{path}: setting headers: {error}") from None
    if isinstance(headers, dict) and any(map(SECRET_HEADER.search, headers)):
        raise ConfigError(
            f"{path}: headers contain a secret, which must not be in a file; "
            f"set {PREFIX}HEADERS in the environment"
        )
    return settings


def _refuse_guarded(settings: Mapping[str, object]) -> None:
    """Raise for a setting that `judge.toml` must not have unless the user names the file."""
    names = [name for name in _GUARDED if name in settings]
    if not str(settings.get("embedding_model", LOCAL)).strip().startswith(LOCAL):
        names.remove("embedding_model")  # a model of the server, which the user chooses
    if not names:
        return
    leak = ""
    if "base_url" in names and os.environ.get("OPENAI_API_KEY", "").strip():
        leak = f" (OPENAI_API_KEY would have gone to {checked_url(str(settings['base_url']))})"
    raise ConfigError(
        f"{SETTINGS_FILE}: sets {', '.join(names)}{leak}, which a file that is merely found may "
        f"not; read the file, then pass it with --config {SETTINGS_FILE}"
    )


def check_headers(headers: Mapping[str, str]) -> None:
    """Raise ValueError if a header cannot be sent; the message shows no value of a header."""
    for name, text in headers.items():
        if not _HEADER.fullmatch(name) or not (text.isascii() and text.isprintable()):
            raise ValueError("a name or a value contains a character that a header cannot")
        if name.lower() in _OUR_HEADERS:
            raise ValueError(f"judge itself sets {name.lower()}; leave it out")


def bearer(token: str, source: str) -> dict[str, str]:
    """Return the header for a bearer token, and no header if the token is empty.

    A ConfigError about its characters names `source`, such as an environment variable, alone.
    """
    if not (token.isascii() and token.isprintable()):
        raise ConfigError(f"{source} contains a character that no token has; set printable ASCII")
    return {"Authorization": f"Bearer {token}"} if token else {}


def checked_url(url: str, setting: str = "base_url") -> str:
    """Return the HTTP address of `base_url`, or Redis address of `cache_url`, without a last slash.

    Raises:
        ConfigError: it is not an address, or may contain a secret, which is not repeated.
    """
    url = url.strip()
    kind, pattern, example, variable = _ADDRESSES[setting]
    if re.match(r"[^/]*//[^/]*@|.*[?#]", url):
        raise ConfigError(
            f"setting {setting} holds a user name, a password, or something behind ? or #; "
            f"give the bare address, and {variable}"
        )
    if not (re.fullmatch(pattern, url, re.IGNORECASE) and url.isprintable()):
        # A text without a scheme may be a key that was pasted in the wrong place.
        value = f" = {url!r}" if "://" in url else ""
        raise ConfigError(f"setting {setting}{value}: no {kind} address; try {example}")
    return url.rstrip("/")
