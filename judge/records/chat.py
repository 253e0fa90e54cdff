"""One exchange with a language model, free of any vendor's shape."""

from typing import Literal

from pydantic import JsonValue

from judge.records.record import Record
from judge.records.verdict import UnscoredReason


class ChatRequest(Record):
    """A system and a user message, and the shape the reply must have."""

    system: str
    """Instructions."""
    user: str
    """The material."""
    reply_schema: dict[str, JsonValue]
    """JSON schema of the reply."""
    max_tokens: int
    """Limit on the reply."""
    deadline: float | None = None
    """When the answer must be there, on the event loop's clock; null means no limit."""


class ChatReply(Record):
    """What came back."""

    text: str
    """The reply as received, unparsed."""
    finish: Literal["stop", "length", "refusal", "content_filter"]
    """Why it ended."""
    model: str
    """The model the server named."""
    prompt_tokens: int
    """Tokens in."""
    reply_tokens: int
    """Tokens out."""
    seconds: float
    """From sending to the last byte, failed attempts and the waits between them included."""
    retries: int = 0
    """Attempts that failed before this one."""


class ChatFailure(Record):
    """No reply. The world's failure is a value: what became of the request, and at what cost."""

    reason: UnscoredReason
    """Which failure: that of the last attempt."""
    detail: str = ""
    """What happened, in one line, without secrets."""
    seconds: float = 0.0
    """From the first sending until it was given up."""
    retries: int = 0
    """Attempts that failed before the last one."""
