"""One exchange with a language model, free of any vendor's shape."""

from typing import Literal

from pydantic import JsonValue

from judge.records.record import Record


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
    """From sending to the last byte."""
