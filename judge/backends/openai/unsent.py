"""A server that nobody connects to: it counts what would be sent to it."""

from collections.abc import Callable, Mapping
from typing import Final, TypeVar

from pydantic import JsonValue

from judge.backends.openai.client import Exchange, Policy
from judge.backends.openai.failures import Failure
from judge.backends.openai.server import Server
from judge.records import UnscoredReason
from judge.text.fold import estimate_tokens

T = TypeVar("T")

_TAKEN: Final = 5
"""A reply is thought to take a fifth of its limit."""


class Unsent:
    """A `Client` that answers nothing, and adds up the tokens of what it is asked."""

    policy = Policy()
    again = trouble = ""

    def __init__(self, base_url: str) -> None:
        server = Server(base_url)
        self.host, self.base_url = server.host, server.base_url
        self.calls = self.prompt_tokens = self.reply_tokens = 0

    async def ask(
        self,
        path: str,  # noqa: ARG002  it is a chat
        body: Mapping[str, JsonValue],
        read: Callable[[bytes], T],  # noqa: ARG002  nothing comes
        **_: object,
    ) -> Exchange[T]:
        """A failure for the budget's sake, which nobody makes up for."""
        messages = body.get("messages") or body["input"]
        texts = [each["content"] for each in messages if isinstance(each, dict)]  # type: ignore[union-attr]
        limit = next(body[name] for name in body if name.startswith("max_"))
        self.calls += 1
        self.prompt_tokens += sum(estimate_tokens(str(text)) for text in texts)
        self.reply_tokens += int(str(limit)) // _TAKEN
        return Exchange(Failure(UnscoredReason.BUDGET, "nothing is sent", again=False), 0.0, 0)
