"""Translate error responses and exceptions of the SDK into failures."""

import json
import math
import re
import time
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Final

import httpx2
from pydantic import JsonValue

from judge.backends.openai.sdk import APIStatusError, OpenAIError
from judge.records import UnscoredReason
from judge.text.visible import clip, printable

Hide = Callable[[str], str]
"""Takes secrets out of a text."""

OWN_FAULT: Final = 500
"""The lowest status of an internal error of the server."""
_MESSAGE_CHARACTERS: Final = 2_000
_DETAIL_CHARACTERS: Final = 200
_FIELD_CHARACTERS: Final = 400
"""The beginning of a message, where a field that it is about is named; the rest may quote."""
_TAGS: Final = re.compile(r"<(style|script).*?</\1>|<[^>]*>", re.DOTALL)
"""Tags in the HTML page of a proxy, and their styles and scripts."""
_SHAPE: Final = re.compile(
    r"response[_ ]format|json[_ ]?schema|json[_ ]object|json mode|\bschema\b|\bgrammar\b"
    r"|text\.format|structured output|guided",
    re.IGNORECASE,
)
_WORDS: Final = ("temperature", "seed", "max_tokens", "max_completion_tokens", "max_output_tokens")
_FIELDS: Final[Mapping[str, re.Pattern[str]]] = {
    **dict.fromkeys(("response_format", "text"), _SHAPE),
    **{word: re.compile(rf"\b{word}\b", re.IGNORECASE) for word in _WORDS},
}
"""The optional fields, and what they are called in error messages of servers."""


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
    unsent: bool = False
    """Whether no connection was made."""
    status: int = 0
    """The HTTP status of an error response; 0 without one."""
    message: str = ""
    """The error response's message, on one line."""
    param: str = ""
    """The field of the request that the error response names; may be empty."""
    wait: float | None = None
    """The wait in seconds that the error response asks for, or null."""

    @property
    def gone(self) -> bool:
        """Whether no connection was made, it broke off, or the status is 5xx."""
        if self.status:
            return self.status >= OWN_FAULT
        return self.unsent or self.reason is UnscoredReason.CONNECTION

    @property
    def has_no_reply(self) -> bool:
        """Whether a response came that holds no reply."""
        return self.reason is UnscoredReason.SERVER_ERROR and not self.status

    def field(self, sent: Mapping[str, JsonValue]) -> str | None:
        """Return the optional field of the sent body that the error is about, or None.

        Without `param`, it is the field that the message names first: "Unsupported parameter:
        'max_tokens'. Use 'max_completion_tokens' instead" is about `max_tokens`.
        """
        if self.param in sent:
            return self.param if self.param in _FIELDS else None
        beginning = self.message[:_FIELD_CHARACTERS]
        found = (
            (match.start(), field)
            for field, pattern in _FIELDS.items()
            if field in sent and (match := pattern.search(beginning))
        )
        return min(found, default=(0, None))[1]


_ADD_CREDIT: Final = "add credit, or set OPENAI_API_KEY to another key"
_QUOTA: Final = {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"}
_FILTERS: Final = {"content_filter", "content_policy_violation", "invalid_prompt", "bio_policy"}
_FLAGGED: Final = "flagged_input"
"""What OpenRouter says beside the error of a prompt that was filtered."""
_DELAY: Final = re.compile(r"(\d{1,6}(?:\.\d+)?)s")
"""A wait as Gemini writes it, such as `38s`."""
_INVALID_KEYS: Final = {"API_KEY_INVALID"}  # Gemini, with status 400
_LENGTHS: Final = {"context_length_exceeded", "exceed_context_size_error"}
_LENGTH: Final = re.compile(
    r"context (?:length|size|window)|maximum context|longer than the model|prompt is too long"
    r"|input token count",
    re.IGNORECASE,
)
_STEPS: Final[Mapping[int, str]] = {
    401: "set OPENAI_API_KEY to a key of this server",
    402: _ADD_CREDIT,
    403: "check that this key may use this model (OPENAI_API_KEY, {option})",
    404: "check {option}, and that --base-url ends as the server wants it, mostly in /v1",
}
"""The action that the user must take, by status."""


def _classify(
    status: int, codes: AbstractSet[str], message: str
) -> tuple[UnscoredReason, bool, str]:
    """Return the reason of a failure, whether another attempt may succeed, and the user's step."""
    reason, again, step = UnscoredReason.SERVER_ERROR, False, ""
    match status:
        case _ if codes & _QUOTA:
            reason, step = UnscoredReason.RATE_LIMITED, f"the quota is used up: {_ADD_CREDIT}"
        case _ if codes & _INVALID_KEYS:
            step = _STEPS[401]
        case _ if codes & _FILTERS:
            reason = UnscoredReason.CONTENT_FILTER
        case _ if codes & _LENGTHS:
            reason = UnscoredReason.TRUNCATED
        case 400 | 413 | 422 | 500 if _LENGTH.search(message):
            reason = UnscoredReason.TRUNCATED
        case _ if status == HTTPStatus.TOO_MANY_REQUESTS or "rate_limit_exceeded" in codes:
            reason, again = UnscoredReason.RATE_LIMITED, True
        case 408:
            reason, again = UnscoredReason.TIMEOUT, True
        case 500 if _SHAPE.search(message):
            pass  # the server refuses the schema, and will again
        case _:
            # After an informational status, or a body without a reply, the next may be an answer.
            again = status not in range(300, OWN_FAULT) or status == HTTPStatus.CONFLICT
            step = _STEPS.get(status, "")
    return reason, again, step


def from_error(error: Exception, hide: Hide = str) -> Failure:
    """Return the failure of an exception that a request of the SDK ended with."""
    if not isinstance(error, APIStatusError):
        return _from_transport(error, hide)
    response = error.response
    text = response.text
    if target := response.next_request:
        place = f"{target.url.scheme}://{target.url.netloc.decode('ascii', 'replace')}"
        text = f"redirects to {place}, and redirects are not followed"
    return read_failure(response.status_code, text, response.headers, hide)


def _from_transport(error: Exception, hide: Hide) -> Failure:
    """Return the failure of a request without a response, by the root of the cause chain.

    The SDK reports a connection that was refused as a time-out. Other messages than the operating
    system's may quote the key, and are not shown.
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
    unreadable = any(isinstance(each, httpx2.ProxyError | httpx2.DecodingError) for each in chain)
    if isinstance(error, OpenAIError | httpx2.HTTPError) and not unreadable:
        return Failure(UnscoredReason.CONNECTION, f"the connection broke off: {name}")
    status = getattr(root, "status", "no status")
    problem = f"the reply of the server or of a proxy cannot be read: {name}, {status}"
    return Failure(UnscoredReason.SERVER_ERROR, problem)


def read_failure(
    status: int, text: str, headers: Mapping[str, str] | None = None, hide: Hide = str
) -> Failure:
    """Return the failure of an error response; `text` is its body, of any form."""
    codes, param, message, delay = _read_error(text)
    message = printable(hide(message))[:_MESSAGE_CHARACTERS]
    reason, again, step = _classify(status, codes, message)
    detail = brief(f"HTTP {status}: {message or 'no message'}")
    if reason is UnscoredReason.TRUNCATED:
        detail = brief(f"more than this model takes, lower --max-evidence-tokens ({detail})")
    return Failure(
        reason,
        detail,
        again,
        step,
        status=status,
        message=message,
        param=param,
        wait=_wait(headers or {}, delay),
    )


def broken(status: int, text: str) -> Failure:
    """Return the failure of a successful response without a reply; it may name an error."""
    codes, _, message, _ = _read_error(text)
    reason, again, step = _classify(status, codes, "")
    detail = brief(f"HTTP {status}, but no reply in it: {printable(message) or 'an empty body'}")
    return Failure(reason, detail, again, step)


def _read_error(text: str) -> tuple[AbstractSet[str], str, str, str]:
    """Return the codes, the field of the request, the message and the wait in an error's body."""
    try:
        body: JsonValue = json.loads(text)
    except (ValueError, RecursionError):
        body = _TAGS.sub(" ", text[:_MESSAGE_CHARACTERS])
    if isinstance(body, list) and body and isinstance(body[0], dict):  # as Gemini sends it
        body = body[0]
    error = body.get("error") or body if isinstance(body, dict) else body
    parts = error if isinstance(error, dict) else {}
    param, details, metadata = (parts.get(name) for name in ("param", "details", "metadata"))
    message = parts.get("message") or parts.get("detail") or error
    codes = [parts.get("code"), parts.get("type")]
    delay = ""
    for detail in details if isinstance(details, list) else ():
        if isinstance(detail, dict):
            codes.append(detail.get("reason"))
            delay = str(detail.get("retryDelay") or delay)
    if isinstance(metadata, dict) and _FLAGGED in metadata:
        codes.append("content_filter")
    return (
        {code for code in codes if isinstance(code, str)},
        re.split(r"[.\[]", param)[0] if isinstance(param, str) else "",
        message if isinstance(message, str) else json.dumps(message),
        delay,
    )


def _wait(headers: Mapping[str, str], delay: str) -> float | None:
    """Return the seconds that a response asks to wait, by a header or else by its body."""
    for name, scale in (("retry-after-ms", 1e-3), ("retry-after", 1.0)):
        text = headers.get(name, "")
        try:
            seconds = float(text) * scale
        except ValueError:
            try:
                moment = parsedate_to_datetime(text)
                # One of the three forms of a date has no zone, and is in UTC like the others.
                seconds = moment.replace(tzinfo=moment.tzinfo or UTC).timestamp() - time.time()
            except (ValueError, OverflowError):
                continue
        if math.isfinite(seconds):
            return max(0.0, seconds)
    found = _DELAY.fullmatch(delay)
    return float(found[1]) if found else None


def brief(text: str) -> str:
    """Return the text cut to a line, without control characters."""
    return clip(printable(text), _DETAIL_CHARACTERS)
