"""A model that is asked by files: requests are written, and replies are read from others."""

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple, Self

from pydantic import JsonValue

from judge.backends.openai.chat import Capabilities
from judge.backends.openai.client import Exchange
from judge.backends.openai.completion import Completion, read_completion
from judge.backends.openai.failures import Failure, broken, from_refusal, read_refusal
from judge.backends.openai.model import ChatModel
from judge.backends.openai.server import Server
from judge.protocols import Store
from judge.records import UnscoredReason

WAITS: Final = "waits for the reply to a batch"
"""The detail of an outcome that a reply may still bring."""
_LIMITS: Final = ("max_tokens", "max_completion_tokens", "max_output_tokens")
_ID: Final = re.compile(r"judge-([0-9a-f]{40})-(\d+)")
_FINE: Final = 200


class RequestKey(NamedTuple):
    """The name of a request in a batch, made from its body."""

    digest: str
    """Hash of the request without the limit on the reply."""
    limit: int
    """Limit on the reply, in tokens."""

    @classmethod
    def of(cls, body: Mapping[str, JsonValue]) -> Self:
        """Return the key of a request's body."""
        rest = {name: value for name, value in body.items() if name not in _LIMITS}
        limit = next((body[name] for name in _LIMITS if name in body), 0)
        written = json.dumps(rest, sort_keys=True).encode()
        return cls(hashlib.sha256(written).hexdigest()[:40], int(str(limit)))

    @classmethod
    def parse(cls, text: object) -> Self | None:
        """Return the key with this text, or None if judge made no such key.

        >>> RequestKey.parse(str(RequestKey("ab" * 20, 512)))
        RequestKey(digest='abababababababababababababababababababab', limit=512)
        """
        found = _ID.fullmatch(text) if isinstance(text, str) else None
        return cls(found[1], int(found[2])) if found else None

    def __str__(self) -> str:
        return f"judge-{self.digest}-{self.limit}"


class BatchReply(NamedTuple):
    """One line of a provider's output."""

    key: RequestKey
    status: int
    """HTTP status; 0 if the provider did not send the request."""
    body: str
    """The response's body."""
    why: str = ""
    """Why the provider did not send the request."""

    @classmethod
    def parse(cls, line: bytes) -> "BatchReply | None":
        """Return the reply in a line of output, or None if it answers no request of judge."""
        try:
            read = json.loads(line)
        except (ValueError, RecursionError):
            return None
        key = RequestKey.parse(read.get("custom_id")) if isinstance(read, dict) else None
        if key is None:
            return None
        response, error = read.get("response"), read.get("error")
        if not isinstance(response, dict):
            said = error.get("message") or error.get("code") if isinstance(error, dict) else error
            return cls(key, 0, "", str(said or "no response"))
        status = response.get("status_code")
        try:
            # Plain ASCII: half a surrogate pair, which models do write, is no UTF-8.
            body = json.dumps(response.get("body"))
        except RecursionError:
            return None
        return cls(key, status if type(status) is int else 0, body)

    def is_whole(self) -> bool:
        """Return whether it is a reply that was not cut."""
        outcome = self.outcome()
        return isinstance(outcome, Completion) and outcome.finish != "length"

    def served(self) -> str:
        """Return the model that the server names, or an empty text."""
        outcome = self.outcome()
        return outcome.model if isinstance(outcome, Completion) else ""

    def outcome(self) -> Completion | Failure:
        """Return its completion or its failure."""
        if self.status != _FINE:
            return from_refusal(read_refusal(self.status, self.body))
        try:
            return read_completion(self.body)
        except ValueError:
            return broken(self.status, self.body)

    def trouble(self) -> str:
        """Return the failure for which the request must be sent again; empty for a reply."""
        if not self.status:
            return self.why or "no status"
        outcome = self.outcome()
        failed = isinstance(outcome, Failure) and (outcome.again or outcome.step)
        return outcome.detail if isinstance(outcome, Failure) and failed else ""


class BatchModel(ChatModel):
    """Answers with the replies to a batch, and hands on the requests that have none.

    Args:
        find: returns the reply to a request; None where none has come.
        hand_on: is given every request without a reply, each time it is made.
    """

    step = "judge batch write, without --no-probe, will find out anew what it takes"

    def __init__(
        self,
        server: Server,
        model: str,
        capabilities: Capabilities,
        memory: Store | None,
        *,
        find: Callable[[RequestKey], BatchReply | None],
        hand_on: Callable[[RequestKey, Mapping[str, JsonValue]], None],
    ) -> None:
        super().__init__(server, model, capabilities, memory)
        self._find = find
        self._hand_on = hand_on

    async def send(
        self,
        body: Mapping[str, JsonValue],
        deadline: float | None,  # noqa: ARG002  nothing is waited for
    ) -> Exchange[Completion]:
        """Return the reply to `body`, or a failure with the detail `WAITS`."""
        key = RequestKey.of(body)
        reply = self._find(key)
        if reply is None:
            self._hand_on(key, body)
            return Exchange(Failure(UnscoredReason.CONNECTION, WAITS, again=False), 0.0, 0)
        return Exchange(reply.outcome(), 0.0, 0)
