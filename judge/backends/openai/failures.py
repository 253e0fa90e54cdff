"""What goes wrong between us and a server, in our words: two tables, the first row that holds.

On this transport the outermost exception tells nothing: a refused connection, a name nobody knows
and a reset all surface as `APITimeoutError`. The root of the cause chain tells them apart.
"""

import re
import zlib
from dataclasses import dataclass
from typing import Final

import aiohttp
import httpx2
import openai
from aiohttp import http_exceptions

from judge.backends.openai.body import Secret, TooLargeError
from judge.backends.openai.refusal import Refusal, clip, one_line, read_refusal
from judge.records import UnscoredReason

TRANSPORT: Final = (openai.OpenAIError, aiohttp.ClientError, OSError)
"""All that the client raises: a head that is no HTTP comes as aiohttp's own error."""


@dataclass(frozen=True, slots=True)
class Failure:
    """One attempt that brought no answer."""

    reason: UnscoredReason
    """What it counts as."""
    detail: str
    """What happened, in one line, without secrets."""
    again: bool = True
    """Whether another attempt may go better."""
    step: str = ""
    """What the user must do; set where no request can succeed before that. `{option}` stands for
    the option that names the model."""
    refusal: Refusal | None = None
    """What the server said, where it said something."""


@dataclass(frozen=True, slots=True)
class _Row:
    reason: UnscoredReason
    statuses: range | frozenset[int] = range(300, 1000)
    codes: frozenset[str] = frozenset()
    words: re.Pattern[str] | None = None
    again: bool = False
    step: str = ""
    hint: str = ""

    def holds(self, refusal: Refusal) -> bool:
        if refusal.status not in self.statuses:
            return False
        if self.words is None and not self.codes:
            return True
        found = self.words is not None and self.words.search(refusal.message)
        return bool(self.codes & refusal.codes or found)


_QUOTA: Final = frozenset(
    {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"}
)
_FILTERS: Final = frozenset(
    {
        "content_filter",
        "content_policy_violation",
        "ResponsibleAIPolicyViolation",
        "invalid_prompt",
        "flagged_input",
    }
)
_TOO_LONG: Final = re.compile(
    r"context (?:length|size|window)|maximum context|longer than the model|prompt is too long"
    r"|input token count",
    re.IGNORECASE,
)

_STATUS: Final = (
    _Row(
        UnscoredReason.RATE_LIMITED,
        codes=_QUOTA,
        step="the quota is used up: add credit, or set OPENAI_API_KEY to another key",
    ),
    _Row(UnscoredReason.CONTENT_FILTER, frozenset({400, 403, 422}), codes=_FILTERS),
    _Row(
        UnscoredReason.TRUNCATED,
        frozenset({400, 413, 422, 500}),
        codes=frozenset({"context_length_exceeded", "exceed_context_size_error"}),
        words=_TOO_LONG,
        hint="more than this model takes, try a smaller --max-evidence-tokens",
    ),
    _Row(
        UnscoredReason.SERVER_ERROR,
        frozenset({401}),
        step="set OPENAI_API_KEY to a key of this server",
    ),
    _Row(
        UnscoredReason.SERVER_ERROR,
        frozenset({402}),
        step="add credit, or set OPENAI_API_KEY to another key",
    ),
    _Row(
        UnscoredReason.SERVER_ERROR,
        frozenset({403}),
        step="check that this key may use this model (OPENAI_API_KEY, {option})",
    ),
    _Row(
        UnscoredReason.SERVER_ERROR,
        frozenset({404}),
        step="check {option}, and that --base-url ends as the server wants it, mostly in /v1",
    ),
    _Row(UnscoredReason.RATE_LIMITED, frozenset({429}), again=True),
    _Row(UnscoredReason.TIMEOUT, frozenset({408}), again=True),
    _Row(UnscoredReason.SERVER_ERROR, frozenset({409}), again=True),
    _Row(UnscoredReason.SERVER_ERROR, range(500, 1000), again=True),
    _Row(UnscoredReason.SERVER_ERROR),
)

_ROOTS: Final[tuple[tuple[type[Exception], UnscoredReason, str], ...]] = (
    (TimeoutError, UnscoredReason.TIMEOUT, "no answer in time"),
    (OSError, UnscoredReason.CONNECTION, "no connection"),
    (aiohttp.ClientConnectionError, UnscoredReason.CONNECTION, "the connection broke off"),
    (http_exceptions.PayloadEncodingError, UnscoredReason.CONNECTION, "the reply broke off"),
    (http_exceptions.HttpProcessingError, UnscoredReason.SERVER_ERROR, "the reply is not HTTP"),
    (TooLargeError, UnscoredReason.SERVER_ERROR, "the reply is too long"),
    (zlib.error, UnscoredReason.SERVER_ERROR, "the reply cannot be decompressed"),
    (Exception, UnscoredReason.SERVER_ERROR, "the request failed"),
)


def from_response(response: httpx2.Response) -> Failure:
    """What an error response means."""
    refusal = read_refusal(response)
    row = next(row for row in _STATUS if row.holds(refusal))
    detail = clip(f"{row.hint} ({refusal.detail})") if row.hint else refusal.detail
    return Failure(row.reason, detail, row.again, row.step, refusal)


def from_error(error: Exception, secret: Secret) -> Failure:
    """What an exception of the client means."""
    if isinstance(error, openai.APIStatusError):
        return from_response(error.response)
    root: BaseException = error
    while cause := root.__cause__ or root.__context__:
        root = cause
    reason, words = next((why, words) for kind, why, words in _ROOTS if isinstance(root, kind))
    # What is no HTTP comes in the error's own words, and no guard has seen it.
    told = secret.blot(str(root).encode(errors="replace")).decode(errors="replace")
    said = one_line(told) or type(root).__name__
    return Failure(reason, clip(f"{words}: {said}"))


def broken(response: httpx2.Response) -> Failure:
    """What a response of status 200 means whose body is no reply."""
    said = read_refusal(response).message or "an empty body"
    detail = clip(f"HTTP {response.status_code}, but no reply in it: {said}")
    return Failure(UnscoredReason.SERVER_ERROR, detail)
