"""Translate error responses and exceptions of the SDK into failures, by one table."""

import json
import math
import re
from collections.abc import Callable, Container, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final

import httpx2
from pydantic import JsonValue

from judge.backends.openai.sdk import APIStatusError, OpenAIError
from judge.backends.retry import parse_retry_after
from judge.records import UnscoredReason
from judge.text.visible import clip, printable

Hide = Callable[[str], str]
"""Takes secrets out of a text."""

_MESSAGE_CHARACTERS: Final = 2_000
_DETAIL_CHARACTERS: Final = 200
_FIELD_CHARACTERS: Final = 400
"""The beginning of a message, where a field that it is about is named; the rest may quote."""
OWN_FAULT: Final = 500
"""The lowest status of an internal error of the server."""
_SECONDS: Final = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)s")
"""A duration as protobuf writes it in JSON."""
_TAGS: Final = re.compile(r"<(style|script).*?</\1>|<[^>]*>", re.DOTALL)
"""Tags in the HTML page of a proxy, and their styles and scripts."""
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
    """The field of the request that the error names; may be empty."""
    message: str = ""
    """The error message, on one line."""
    wait: float | None = None
    """The requested wait in seconds, or null."""

    @property
    def detail(self) -> str:
        """Status and message, short enough for a line."""
        return brief(f"HTTP {self.status}: {self.message or 'no message'}")

    def field(self, sent: Mapping[str, JsonValue]) -> str | None:
        """Return the optional field of the sent body that the error is about, or None.

        Without `param`, it is the field that the message names first: "Unsupported parameter:
        'max_tokens'. Use 'max_completion_tokens' instead" is about `max_tokens`. That is a guess,
        because the message may quote the request.
        """
        if self.param in sent:
            return self.named_field(sent)
        beginning = self.message[:_FIELD_CHARACTERS]
        found = (
            (match.start(), field)
            for field, pattern in _FIELDS.items()
            if field in sent and (match := pattern.search(beginning))
        )
        return min(found, default=(0, None))[1]

    def named_field(self, sent: Mapping[str, JsonValue]) -> str | None:
        """Return the optional field of the sent body that `param` names, or None."""
        return self.param if self.param in sent and self.param in _FIELDS else None


@dataclass(frozen=True, slots=True)
class Failure:
    """One attempt that brought no answer."""

    reason: UnscoredReason
    """The reason of the resulting `Unscored`."""
    detail: str
    """What happened, in one line, without secrets."""
    again: bool = True
    """Whether another attempt may succeed."""
    step: str = ""
    """The action that the user must take before any request can succeed; empty if none is needed.
    `{option}` is replaced by the option that names the model."""
    refusal: Refusal | None = None
    """The error response, if one came."""
    unsent: bool = False
    """Whether no connection was made."""

    @property
    def status(self) -> int:
        """The HTTP status; 0 without a response."""
        return self.refusal.status if self.refusal else 0

    @property
    def gone(self) -> bool:
        """Whether the server cannot be reached, or reports an internal error (5xx)."""
        lost = self.reason is UnscoredReason.CONNECTION or self.unsent
        return lost if self.refusal is None else self.status >= OWN_FAULT


@dataclass(frozen=True, slots=True)
class _FailureRule:
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
_TABLE: Final = (
    _FailureRule(
        UnscoredReason.RATE_LIMITED,
        codes={"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"},
        step=f"the quota is used up: {_ADD_CREDIT}",
    ),
    _FailureRule(
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
    _FailureRule(UnscoredReason.RATE_LIMITED, {429}, codes={"rate_limit_exceeded"}, again=True),
    _FailureRule(
        UnscoredReason.TRUNCATED,
        {400, 413, 422, 500},
        codes={"context_length_exceeded", "exceed_context_size_error"},
        words=_TOO_LONG,
        hint="more than this model takes, try a smaller --max-evidence-tokens",
    ),
    # Failures that end only when the user acts.
    _FailureRule(
        UnscoredReason.SERVER_ERROR, {400}, codes={"API_KEY_INVALID"}, step=_SET_KEY
    ),  # Gemini
    _FailureRule(UnscoredReason.SERVER_ERROR, {401}, step=_SET_KEY),
    _FailureRule(UnscoredReason.SERVER_ERROR, {402}, step=_ADD_CREDIT),
    _FailureRule(
        UnscoredReason.SERVER_ERROR,
        {403},
        step="check that this key may use this model (OPENAI_API_KEY, {option})",
    ),
    _FailureRule(
        UnscoredReason.SERVER_ERROR,
        {404},
        step="check {option}, and that --base-url ends as the server wants it, mostly in /v1",
    ),
    # Failures that may pass. After an informational status the next one may be an answer.
    _FailureRule(UnscoredReason.RATE_LIMITED, {429}, again=True),
    _FailureRule(UnscoredReason.TIMEOUT, {408}, again=True),
    _FailureRule(UnscoredReason.SERVER_ERROR, {*range(200), 409, *range(500, 1000)}, again=True),
    _FailureRule(UnscoredReason.SERVER_ERROR),
)
"""The first row that holds counts."""
_BROKEN: Final = _FailureRule(UnscoredReason.SERVER_ERROR, again=True)


def from_error(error: Exception, hide: Hide = str) -> Failure:
    """Return the failure of an exception that a request of the SDK ended with."""
    if not isinstance(error, APIStatusError):
        return _from_transport(error, hide)
    response = error.response
    text = response.text
    if target := response.next_request:
        place = f"{target.url.scheme}://{target.url.netloc.decode('ascii', 'replace')}"
        text = f"redirects to {place}, and redirects are not followed"
    return from_refusal(read_refusal(response.status_code, text, response.headers, hide))


def _from_transport(error: Exception, hide: Hide) -> Failure:
    """Return the failure of a request without a response.

    The root of the cause chain decides, because the SDK reports a connection that was refused as a
    time-out. Other messages than the operating system's may quote the key, and are not shown.
    """
    chain: list[Exception] = [error]
    while isinstance(cause := chain[-1].__cause__ or chain[-1].__context__, Exception):
        chain.append(cause)
    root = chain[-1]
    name = type(root).__name__
    if isinstance(root, TimeoutError):
        return Failure(UnscoredReason.TIMEOUT, f"no answer in time: {name}", unsent=True)
    if isinstance(root, OSError):
        detail = brief(f"no connection: {printable(hide(str(root))) or name}")
        unsent = not isinstance(root, ConnectionResetError | BrokenPipeError)
        return Failure(UnscoredReason.CONNECTION, detail, unsent=unsent)
    kinds = {type(each) for each in chain}
    if httpx2.ProxyError in kinds:
        problem = f"the proxy refused: HTTP {getattr(root, 'status', 'error')}"
    elif httpx2.DecodingError in kinds:
        problem = f"the reply cannot be decompressed: {name}"
    elif isinstance(error, OpenAIError | httpx2.HTTPError):
        return Failure(UnscoredReason.CONNECTION, f"the connection broke off: {name}")
    else:
        problem = f"the reply is not HTTP: {name}"
    return Failure(UnscoredReason.SERVER_ERROR, problem)


def from_refusal(refusal: Refusal) -> Failure:
    """Return the failure of an error response."""
    rule = next(rule for rule in _TABLE if rule.holds(refusal))
    detail = brief(f"{rule.hint} ({refusal.detail})") if rule.hint else refusal.detail
    return Failure(rule.reason, detail, rule.again, rule.step, refusal)


def broken(status: int, text: str) -> Failure:
    """Return the failure of a successful response without a reply; it may name an error."""
    refusal = read_refusal(status, text)
    rule = next((rule for rule in _TABLE if rule.codes & refusal.codes), _BROKEN)
    detail = brief(f"HTTP {status}, but no reply in it: {refusal.message or 'an empty body'}")
    return Failure(rule.reason, detail, rule.again, rule.step)


def read_refusal(
    status: int, text: str, headers: Mapping[str, str] | None = None, hide: Hide = str
) -> Refusal:
    """Read an error response; `text` is its body, of any form."""
    try:
        body: JsonValue = json.loads(text)
    except (ValueError, RecursionError):
        body = _TAGS.sub(" ", text[:_MESSAGE_CHARACTERS])
    if isinstance(body, list) and body and isinstance(body[0], dict):  # as Gemini sends it
        body = body[0]
    error = body.get("error") or body if isinstance(body, dict) else body
    parts = error if isinstance(error, dict) else {}
    message = parts.get("message") or parts.get("detail") or error
    text = message if isinstance(message, str) else json.dumps(message)
    param = parts.get("param")
    details = _details(parts)
    return Refusal(
        status=status,
        codes=_codes(parts, details),
        param=re.split(r"[.\[]", param)[0] if isinstance(param, str) else "",
        message=printable(hide(text))[:_MESSAGE_CHARACTERS],
        wait=_wait(headers or {}, details),
    )


def brief(text: str) -> str:
    """Return the text cut to a line, without control characters."""
    return clip(printable(text), _DETAIL_CHARACTERS)


def _details(error: Mapping[str, JsonValue]) -> list[dict[str, JsonValue]]:
    """Return Google's `google.rpc` messages, ErrorInfo and RetryInfo among them."""
    details = error.get("details")
    return [each for each in details if isinstance(each, dict)] if isinstance(details, list) else []


def _codes(error: Mapping[str, JsonValue], details: list[dict[str, JsonValue]]) -> frozenset[str]:
    inner, metadata = error.get("innererror"), error.get("metadata")
    codes = [error.get("code"), error.get("type"), *(each.get("reason") for each in details)]
    if isinstance(inner, dict):
        codes.append(inner.get("code"))
    if isinstance(metadata, dict) and "flagged_input" in metadata:
        codes.append("flagged_input")
    return frozenset(code for code in codes if isinstance(code, str))


def _wait(headers: Mapping[str, str], details: list[dict[str, JsonValue]]) -> float | None:
    for name, scale in (("retry-after-ms", 1e-3), ("retry-after", 1.0)):
        asked = parse_retry_after(headers.get(name, ""))
        if asked is not None and math.isfinite(asked):
            return asked * scale
    delays = (str(each.get("retryDelay", "")) for each in details)  # "38s", "0.5s"
    return next((float(found[1]) for each in delays if (found := _SECONDS.fullmatch(each))), None)
