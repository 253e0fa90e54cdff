"""Translate error responses and exceptions of the SDK into failures, by two tables.

The first row that fits counts. Of exceptions the root of the cause chain counts, as the SDK's own
classes say too little.
"""

import json
import math
import re
import zlib
from collections.abc import Callable, Container, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final

import aiohttp
import httpx2
from aiohttp import http_exceptions
from openai import OpenAIError
from pydantic import JsonValue

from judge.backends.retry import asked_wait
from judge.records import UnscoredReason
from judge.text.visible import clip, printable

Hide = Callable[[str], str]
"""Takes the key out of a text."""

_KEPT: Final = 2_000
_SHOWN: Final = 200
_READ: Final = 400
OWN_FAULT: Final = 500
"""The lowest status of an error of the server."""
_NOT_FOUND: Final = 404
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_SECONDS: Final = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)s")
"""A duration as protobuf writes it in JSON."""
_TAGS: Final = re.compile(r"<(style|script).*?</\1>|<[^>]*>", re.DOTALL)
"""Tags in the HTML page of a proxy, and their styles and scripts."""


ERRORS: Final = (OpenAIError, httpx2.HTTPError, aiohttp.ClientError, OSError, ValueError)
"""The exceptions of a client: the transport passes some of aiohttp's on, and raises a ValueError
for a malformed head."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A response."""

    status: int
    """The HTTP status."""
    headers: Mapping[str, str]
    """The headers, under names of any case."""
    body: bytes
    """UTF-8."""
    url: str
    """The address of the request."""


_SHAPE: Final = re.compile(
    r"response[_ ]format|json[_ ]?schema|json[_ ]object|json mode|\bschema\b|\bgrammar\b"
    r"|response[_ ](?:json[_ ])?schema|text\.format|structured output|guided",
    re.IGNORECASE,
)
_FIELDS: Final[Mapping[str, re.Pattern[str]]] = {
    "response_format": _SHAPE,
    "text": _SHAPE,
    "temperature": re.compile(r"\btemperature\b", re.IGNORECASE),
    "seed": re.compile(r"\bseed\b", re.IGNORECASE),
    "max_tokens": re.compile(r"\bmax_(?:completion_)?tokens\b"),
    "max_completion_tokens": re.compile(r"\bmax_completion_tokens\b"),
    "max_output_tokens": re.compile(r"\bmax_output_tokens\b"),
}
"""The names of optional fields in error messages of servers."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """An error response."""

    status: int
    """The HTTP status."""
    codes: frozenset[str] = frozenset()
    """The error's `code`, `type` and inner code."""
    param: str = ""
    """The field of the request that it names; may be empty."""
    message: str = ""
    """The error message, on one line."""
    wait: float | None = None
    """The requested wait in seconds, or null."""

    @property
    def detail(self) -> str:
        """Status and words, short enough for a line."""
        return brief(f"HTTP {self.status}: {self.message or 'no message'}")

    def field(self, sent: Mapping[str, JsonValue]) -> str | None:
        """Return the optional field of the sent body that the error is about, or None.

        `param` decides where there is one. Else the field named first: "Unsupported parameter:
        'max_tokens'. Use 'max_completion_tokens' instead" is about the former. A guess: the
        message may quote what it was sent.
        """
        if self.param in sent:
            return self.named_field(sent)
        found = (
            (match.start(), field)
            for field, pattern in _FIELDS.items()
            if field in sent and (match := pattern.search(self.message[:_READ]))
        )
        return min(found, default=(0, None))[1]

    def names(self, field: str) -> bool:
        """Return whether it seems to be about this field of the request."""
        return field in (self.param or self.message[:_READ])

    def named_field(self, sent: Mapping[str, JsonValue]) -> str | None:
        """Return the optional field of the sent body that `param` names, or None."""
        return self.param if self.param in sent and self.param in _FIELDS else None


@dataclass(frozen=True, slots=True)
class Failure:
    """One attempt that brought no answer."""

    reason: UnscoredReason
    """The reason of the `Unscored` that comes of it."""
    detail: str
    """What happened, in one line, without secrets."""
    again: bool = True
    """Whether another attempt may go better."""
    step: str = ""
    """The action that the user must take before any request can succeed; empty if none is needed.
    `{option}` is replaced by the option that names the model."""
    refusal: Refusal | None = None
    """The error response, if one came."""
    unsent: bool = False
    """Whether no connection was made."""

    @property
    def gone(self) -> bool:
        """Whether the server cannot be reached or has an error of its own."""
        lost = self.reason is UnscoredReason.CONNECTION or self.unsent
        return lost if self.refusal is None else self.refusal.status >= OWN_FAULT


@dataclass(frozen=True, slots=True)
class _Row:
    """A failure by status, and by any of the codes or words if there are any."""

    reason: UnscoredReason
    statuses: Container[int] = range(1000)
    codes: AbstractSet[str] = frozenset()
    words: re.Pattern[str] | None = None
    again: bool = False
    step: str = ""
    hint: str = ""

    def holds(self, refusal: Refusal) -> bool:
        if refusal.status not in self.statuses:
            return False
        found = self.words is not None and self.words.search(refusal.message)
        return bool(found or self.codes & refusal.codes or not (self.words or self.codes))


_TOO_LONG: Final = re.compile(
    r"context (?:length|size|window)|maximum context|longer than the model|prompt is too long"
    r"|input token count",
    re.IGNORECASE,
)
_ADD_CREDIT: Final = "add credit, or set OPENAI_API_KEY to another key"
_SET_KEY: Final = "set OPENAI_API_KEY to a key of this server"
_STATUS: Final = (
    _Row(
        UnscoredReason.RATE_LIMITED,
        codes={"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"},
        step=f"the quota is used up: {_ADD_CREDIT}",
    ),
    _Row(
        UnscoredReason.CONTENT_FILTER,
        {400, 403, 422},
        codes={
            "content_filter",
            "content_policy_violation",
            "ResponsibleAIPolicyViolation",
            "invalid_prompt",
            "flagged_input",
            # Named by a failed response of status 200: openai.types.responses.ResponseError.
            "bio_policy",
            "misalignment_policy_violation",
        },
    ),
    _Row(UnscoredReason.RATE_LIMITED, {429}, codes={"rate_limit_exceeded"}, again=True),
    _Row(
        UnscoredReason.TRUNCATED,
        {400, 413, 422, 500},
        codes={"context_length_exceeded", "exceed_context_size_error"},
        words=_TOO_LONG,
        hint="more than this model takes, try a smaller --max-evidence-tokens",
    ),
    # What only the user can mend.
    _Row(UnscoredReason.SERVER_ERROR, {400}, codes={"API_KEY_INVALID"}, step=_SET_KEY),  # Gemini
    _Row(UnscoredReason.SERVER_ERROR, {401}, step=_SET_KEY),
    _Row(UnscoredReason.SERVER_ERROR, {402}, step=_ADD_CREDIT),
    _Row(
        UnscoredReason.SERVER_ERROR,
        {403},
        step="check that this key may use this model (OPENAI_API_KEY, {option})",
    ),
    _Row(
        UnscoredReason.SERVER_ERROR,
        {404},
        step="check {option}, and that --base-url ends as the server wants it, mostly in /v1",
    ),
    # Passing failures. After an informational status the next one may be an answer.
    _Row(UnscoredReason.RATE_LIMITED, {429}, again=True),
    _Row(UnscoredReason.TIMEOUT, {408}, again=True),
    _Row(UnscoredReason.SERVER_ERROR, {*range(200), 409, *range(500, 1000)}, again=True),
    _Row(UnscoredReason.SERVER_ERROR),
)

_BROKEN: Final = _Row(UnscoredReason.SERVER_ERROR, again=True)

_ROOTS: Final[tuple[tuple[type[Exception], UnscoredReason, str], ...]] = (
    (TimeoutError, UnscoredReason.TIMEOUT, "no answer in time"),
    (OSError, UnscoredReason.CONNECTION, "no connection"),
    (aiohttp.ClientConnectionError, UnscoredReason.CONNECTION, "the connection broke off"),
    (http_exceptions.PayloadEncodingError, UnscoredReason.CONNECTION, "the reply broke off"),
    (http_exceptions.HttpProcessingError, UnscoredReason.SERVER_ERROR, "the reply is not HTTP"),
    (zlib.error, UnscoredReason.SERVER_ERROR, "the reply cannot be decompressed"),
    (Exception, UnscoredReason.SERVER_ERROR, "the request failed"),
)

_UNSENT: Final = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError)
"""The errors of a connection that was not made."""
_QUOTING: Final = (
    http_exceptions.HttpProcessingError,
    aiohttp.ServerDisconnectedError,
    aiohttp.ClientPayloadError,
)
"""They quote what came as far as it came, which may end within the key."""


def from_refusal(answer: Answer, hide: Hide) -> Failure:
    """Return the failure of an error response."""
    refusal = read_refusal(answer, hide)
    row = next(row for row in _STATUS if row.holds(refusal))
    detail = brief(f"{row.hint} ({refusal.detail})") if row.hint else refusal.detail
    newer = answer.url.endswith("/responses") and refusal.status == _NOT_FOUND
    step = f"{row.step}, or leave --endpoint responses out" if newer else row.step
    return Failure(row.reason, detail, row.again, step, refusal)


def from_error(error: Exception, hide: Hide) -> Failure:
    """Return the failure of an exception without a response."""
    root, unsent = error, isinstance(error, _UNSENT)
    while isinstance(cause := root.__cause__ or root.__context__, Exception):
        root, unsent = cause, unsent or isinstance(cause, _UNSENT)
    reason, words = next((why, words) for kind, why, words in _ROOTS if isinstance(root, kind))
    said = "" if isinstance(root, _QUOTING) else printable(hide(str(root)))
    if isinstance(root, aiohttp.ClientResponseError):
        said = f"HTTP {root.status}"  # of a proxy, whose address with its password it quotes
    return Failure(reason, brief(f"{words}: {said or type(root).__name__}"), unsent=unsent)


def broken(answer: Answer, hide: Hide) -> Failure:
    """Return the failure of a response of status 200 without a reply; it may name an error."""
    refusal = read_refusal(answer, hide)
    row = next((row for row in _STATUS if row.codes & refusal.codes), _BROKEN)
    said = refusal.message or "an empty body"
    detail = brief(f"HTTP {answer.status}, but no reply in it: {said}")
    return Failure(row.reason, detail, row.again, row.step)


def read_refusal(answer: Answer, hide: Hide) -> Refusal:
    """Read an error response with a body of any form."""
    text = answer.body.decode()
    if place := _elsewhere(answer):
        text = f"redirects to {place}, and redirects are not followed"
    try:
        body: JsonValue = json.loads(text)
    except (ValueError, RecursionError):
        body = _TAGS.sub(" ", text[:_KEPT])
    if isinstance(body, list) and body and isinstance(body[0], dict):  # as Gemini sends it
        body = body[0]
    error = body.get("error") or body if isinstance(body, dict) else body
    parts = error if isinstance(error, dict) else {}
    message = parts.get("message") or parts.get("detail") or error
    said = message if isinstance(message, str) else json.dumps(message)
    return Refusal(
        status=answer.status,
        codes=_codes(parts),
        param=re.split(r"[.\[]", _param(parts))[0],
        message=printable(hide(said))[:_KEPT],
        wait=_wait(answer.headers, *_details(parts)),
    )


def _elsewhere(answer: Answer) -> str:
    """Return scheme, host and port of a redirect's target; the rest may be a secret."""
    place = answer.headers.get("Location")
    if answer.status not in _REDIRECTS or place is None:
        return ""
    try:
        url = httpx2.URL(answer.url).join(place)
    except (httpx2.InvalidURL, ValueError):
        return ""
    return f"{url.scheme}://{url.netloc.decode('ascii', 'replace')}" if url.host else ""


def brief(text: str) -> str:
    """Return the text cut to a line, without control characters."""
    return clip(printable(text), _SHOWN)


def _codes(error: Mapping[str, JsonValue]) -> frozenset[str]:
    inner, metadata = error.get("innererror"), error.get("metadata")
    within = inner.get("code") if isinstance(inner, dict) else None
    given = [error.get("code"), error.get("type"), within]
    if isinstance(metadata, dict) and "flagged_input" in metadata:
        given.append("flagged_input")
    given += (each.get("reason") for each in _details(error))
    return frozenset(code for code in given if isinstance(code, str))


def _details(error: Mapping[str, JsonValue]) -> list[dict[str, JsonValue]]:
    """Google's `google.rpc` messages, ErrorInfo and RetryInfo among them."""
    details = error.get("details")
    return [each for each in details if isinstance(each, dict)] if isinstance(details, list) else []


def _param(error: Mapping[str, JsonValue]) -> str:
    param = error.get("param")
    if isinstance(param, str):
        return param
    match error.get("detail"):
        # FastAPI: {"detail": [{"loc": ["body", "seed"], "msg": …}]}
        case [{"loc": ["body", str(name), *_]}, *_]:
            return name
    return ""


def _wait(headers: Mapping[str, str], *details: Mapping[str, JsonValue]) -> float | None:
    for name, scale in (("retry-after-ms", 1e-3), ("retry-after", 1.0)):
        asked = asked_wait(headers.get(name, ""), headers.get("date", ""))
        if asked is not None and math.isfinite(asked):
            return asked * scale
    delays = (str(each.get("retryDelay", "")) for each in details)  # "38s", "0.5s"
    return next((float(found[1]) for each in delays if (found := _SECONDS.fullmatch(each))), None)
