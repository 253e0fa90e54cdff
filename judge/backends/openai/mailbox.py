"""A server that is written to: requests go into files, and replies come out of others."""

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple, Self, TypeVar

from pydantic import JsonValue

from judge.backends.openai.chat import PATHS
from judge.backends.openai.client import Exchange, Policy
from judge.backends.openai.completion import Completion, read_completion
from judge.backends.openai.failures import Answer, Failure, broken, from_refusal
from judge.backends.openai.server import Server
from judge.errors import JudgeUnavailable
from judge.records import UnscoredReason

T = TypeVar("T")

WAITS: Final = "waits for the reply to a batch"
"""The detail of an outcome that a reply may still bring."""
_LIMITS: Final = ("max_tokens", "max_completion_tokens", "max_output_tokens")
_ID: Final = re.compile(r"judge-([0-9a-f]{40})-(\d+)")
_FINE: Final = 200


class Address(NamedTuple):
    """What tells one request from all others."""

    key: str
    """Hash of all that is sent but the limit on the reply."""
    limit: int
    """That limit, in tokens."""

    @classmethod
    def of(cls, body: Mapping[str, JsonValue]) -> Self:
        """The address of a request's body."""
        rest = {name: value for name, value in body.items() if name not in _LIMITS}
        limit = next((body[name] for name in _LIMITS if name in body), 0)
        written = json.dumps(rest, sort_keys=True).encode()
        return cls(hashlib.sha256(written).hexdigest()[:40], int(str(limit)))

    @classmethod
    def parse(cls, text: object) -> Self | None:
        """The address that was printed so; None where it is none of ours.

        >>> Address.parse(str(Address("ab" * 20, 512)))
        Address(key='abababababababababababababababababababab', limit=512)
        """
        found = _ID.fullmatch(text) if isinstance(text, str) else None
        return cls(found[1], int(found[2])) if found else None

    def __str__(self) -> str:
        return f"judge-{self.key}-{self.limit}"


class Letter(NamedTuple):
    """One line of a provider's output."""

    address: Address
    status: int
    """Of HTTP; 0 where the provider never asked."""
    body: bytes
    """The response's."""
    why: str = ""
    """What kept it from being asked."""

    @classmethod
    def parse(cls, line: bytes) -> "Letter | None":
        """The letter of a line of output; None where it is none to a request of ours."""
        try:
            read = json.loads(line)
        except (ValueError, RecursionError):
            return None
        address = Address.parse(read.get("custom_id")) if isinstance(read, dict) else None
        if address is None:
            return None
        response, error = read.get("response"), read.get("error")
        if not isinstance(response, dict):
            said = error.get("message") or error.get("code") if isinstance(error, dict) else error
            return cls(address, 0, b"", str(said or "no response"))
        status = response.get("status_code")
        try:
            # Plain ASCII: half a surrogate pair, which models do write, is no UTF-8.
            body = json.dumps(response.get("body")).encode()
        except RecursionError:
            return None
        return cls(address, status if type(status) is int else 0, body)

    def is_whole(self) -> bool:
        """Whether it is a reply that no limit cut."""
        completion = self._completion()
        return self.status == _FINE and completion is not None and completion.finish != "length"

    def served(self) -> str:
        """What the server calls the model of this reply; empty where it does not say."""
        completion = self._completion()
        return completion.model if completion else ""

    def _completion(self) -> Completion | None:
        try:
            return read_completion(self.body)
        except ValueError:
            return None

    def trouble(self) -> str:
        """Why it is no reply, and the request is to be sent once more; empty where it is one."""
        if not self.status:
            return self.why or "no status"
        if self.status == _FINE and self._completion():
            return ""
        failure = _failure(self)
        return failure.detail if failure.again or failure.step else ""


Find = Callable[[Address], Letter | None]
"""Looks a letter up; None where none has come."""


class Mailbox:
    """A `Client` that answers with the letter that came, and hands on requests that have none.

    Args:
        base_url: of the server whose model it speaks for; nobody is connected to.
        find: looks a letter up.
        hand_on: is given every request without one, each time it is made.
    """

    policy = Policy()
    again = "judge batch write, without --no-probe,"
    trouble = ""

    def __init__(
        self,
        base_url: str,
        find: Find,
        hand_on: Callable[[Address, Mapping[str, JsonValue]], None],
    ) -> None:
        server = Server(base_url)
        self.host, self.base_url = server.host, server.base_url
        self._find = find
        self._hand_on = hand_on

    async def ask(
        self,
        path: str,
        body: Mapping[str, JsonValue],
        read: Callable[[bytes], T],
        *,
        option: str = "--model",
        **_: object,
    ) -> Exchange[T]:
        """What the letter to `body` says; a failure that `WAITS` where there is none.

        Raises:
            JudgeUnavailable: something else than a chat is asked for.
        """
        if path not in PATHS.values():
            raise JudgeUnavailable(f"{option}: {path} is not asked in batches")
        address = Address.of(body)
        letter = self._find(address)
        if letter is None:
            self._hand_on(address, body)
            return Exchange(Failure(UnscoredReason.CONNECTION, WAITS, again=False), 0.0, 0)
        try:
            outcome = read(letter.body) if letter.status == _FINE else _failure(letter)
        except ValueError:
            outcome = _failure(letter)
        return Exchange(outcome, 0.0, 0)


def _failure(letter: Letter) -> Failure:
    answer = Answer(letter.status, {}, letter.body, "batch")
    return broken(answer, str) if letter.status == _FINE else from_refusal(answer, str)
