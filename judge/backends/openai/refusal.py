"""What a server says when it does not answer: an error response, read once."""

import json
import math
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Final

import httpx2
from pydantic import JsonValue

_KEPT: Final = 2_000
_SHOWN: Final = 200
_READ: Final = 400
_TAGS: Final = re.compile(r"<(style|script).*?</\1>|<[^>]*>", re.DOTALL)
"""What says nothing in a proxy's page."""

_FIELDS: Final[Mapping[str, re.Pattern[str]]] = {
    "response_format": re.compile(
        r"response[_ ]format|json[_ ]?schema|json[_ ]object|json mode|\bschema\b|\bgrammar\b"
        r"|structured output|guided",
        re.IGNORECASE,
    ),
    "temperature": re.compile(r"\btemperature\b", re.IGNORECASE),
    "seed": re.compile(r"\bseed\b", re.IGNORECASE),
    "max_tokens": re.compile(r"\bmax_(?:completion_)?tokens\b"),
    "max_completion_tokens": re.compile(r"\bmax_completion_tokens\b"),
}
"""How the optional fields of a request are named in the error messages of servers."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """An error response."""

    status: int
    """HTTP status."""
    codes: frozenset[str] = frozenset()
    """What the error calls itself: its `code`, `type` and the code within."""
    param: str = ""
    """The field it is about, where it says so."""
    message: str = ""
    """Its words on one line."""
    wait: float | None = None
    """Seconds it asks to wait; null where it does not say."""

    @property
    def detail(self) -> str:
        """Status and words, short enough for a line."""
        return clip(f"HTTP {self.status}: {self.message or 'no message'}")

    def field(self, sent: Mapping[str, JsonValue]) -> str | None:
        """Which optional field of the sent body it is about, null if none.

        `param` decides where there is one. Else the field named first: "Unsupported parameter:
        'max_tokens'. Use 'max_completion_tokens' instead" is about the former. A guess: the
        message may quote what it was sent.
        """
        if self._param in sent:
            return self.named_field(sent)
        found = (
            (match.start(), field)
            for field, pattern in _FIELDS.items()
            if field in sent and (match := pattern.search(self.message[:_READ]))
        )
        return min(found, default=(0, None))[1]

    def named_field(self, sent: Mapping[str, JsonValue]) -> str | None:
        """The optional field of the sent body that `param` says it is about, null if none."""
        return self._param if self._param in sent and self._param in _FIELDS else None

    @property
    def _param(self) -> str:
        return re.split(r"[.\[]", self.param)[0]


def read_refusal(response: httpx2.Response) -> Refusal:
    """What an error response says, whatever its body is."""
    text = response.text
    try:
        body: JsonValue = json.loads(text)
    except (ValueError, RecursionError):
        body = _TAGS.sub(" ", text[:_KEPT])
    error = body.get("error", body) if isinstance(body, dict) else body
    parts = error if isinstance(error, dict) else {}
    message = parts.get("message") or parts.get("detail") or error
    return Refusal(
        status=response.status_code,
        codes=frozenset(_codes(parts)),
        param=_param(parts),
        message=one_line(message if isinstance(message, str) else json.dumps(message))[:_KEPT],
        wait=_wait(response.headers),
    )


def one_line(text: str) -> str:
    """The text on one line, without control characters."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def clip(text: str) -> str:
    """The text, or as much of it as fits a line."""
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def _codes(error: Mapping[str, JsonValue]) -> Iterator[str]:
    inner = error.get("innererror")
    metadata = error.get("metadata")
    for code in (
        error.get("code"),
        error.get("type"),
        inner.get("code") if isinstance(inner, dict) else None,
    ):
        if isinstance(code, str):
            yield code
    if isinstance(metadata, dict) and "flagged_input" in metadata:
        yield "flagged_input"


def _param(error: Mapping[str, JsonValue]) -> str:
    param = error.get("param")
    if isinstance(param, str):
        return param
    match error.get("detail"):
        # FastAPI: {"detail": [{"loc": ["body", "seed"], "msg": …}]}
        case [{"loc": ["body", str(name), *_]}, *_]:
            return name
    return ""


def _wait(headers: Mapping[str, str]) -> float | None:
    for name, scale in (("retry-after-ms", 1e-3), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "nan")) * scale
        except ValueError:
            continue
        if math.isfinite(seconds):
            return max(0.0, seconds)
    try:
        then = parsedate_to_datetime(headers.get("retry-after", ""))
        return max(0.0, then.timestamp() - time.time())
    except (ValueError, OverflowError):
        return None
