"""Provider batches: files of requests, which are sent to a provider, and their replies."""

import hashlib
import json
import re
from collections.abc import AsyncGenerator, Callable, Container, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple, Self, TypeVar

from openai.types import Batch as Batch  # noqa: PLC0414  jobs/batch.py names it, too
from openai.types import FileObject
from pydantic import JsonValue

from judge.backends.openai.chat import LIMITS, PATHS, read_completion, reply_limit
from judge.backends.openai.client import Exchange
from judge.backends.openai.failures import Failure, brief, broken, from_error, read_failure
from judge.backends.openai.sdk import AsyncOpenAI
from judge.backends.openai.server import Server
from judge.config import Endpoint
from judge.errors import JudgeUnavailable, JudgeUnhealthy
from judge.records import ChatReply, UnscoredReason

_Made = TypeVar("_Made", Batch, FileObject)

WAITS: Final = "waits for the reply to a batch"
"""The detail of an outcome that a reply may still bring."""
_ID: Final = re.compile(r"judge-([0-9a-f]{40})-(\d+)")
_SEARCHED_BATCHES: Final = 100
"""The newest batches, among which one that was sent already is looked for."""
_USELESS: Final = frozenset({"failed", "cancelling", "cancelled"})
"""States of a batch whose requests must be sent again."""
_DIGEST_KEY: Final = "judge"
"""The key, in a batch's metadata, of the hash of its file."""
_NO_BATCHES: Final = (
    "there is no Batch API at this address: write the folder with another --base-url, or have its "
    "requests answered elsewhere, and give the replies to judge batch read"
)
_NOT_FOUND: Final = frozenset({404, 405})


class RequestKey(NamedTuple):
    """The name of a request in a batch, made from its body."""

    digest: str
    """Hash of the request without the limit on the reply."""
    limit: int
    """Limit on the reply, in tokens."""

    @classmethod
    def of(cls, body: Mapping[str, JsonValue]) -> Self:
        """Return the key of a request's body."""
        rest = {name: value for name, value in body.items() if name not in LIMITS}
        written = json.dumps(rest, sort_keys=True).encode()
        return cls(hashlib.sha256(written).hexdigest()[:40], reply_limit(body))

    @classmethod
    def parse(cls, text: object) -> Self | None:
        """Return the key with this text, or None if judge made no such key."""
        found = _ID.fullmatch(text) if isinstance(text, str) else None
        return cls(found[1], int(found[2])) if found else None

    def __str__(self) -> str:
        return f"judge-{self.digest}-{self.limit}"


class BatchReply(NamedTuple):
    """One line of a provider's output."""

    key: RequestKey
    outcome: ChatReply | Failure
    """The reply, or the failure of the request."""

    @classmethod
    def parse(cls, line: bytes) -> "BatchReply | None":
        """Return the reply in a line of output, or None if it answers no request of judge."""
        try:
            fields = json.loads(line)
        except (ValueError, RecursionError):
            return None
        key = RequestKey.parse(fields.get("custom_id")) if isinstance(fields, dict) else None
        return cls(key, _read_outcome(fields)) if key else None

    @property
    def is_whole(self) -> bool:
        """Whether it is a reply that was not cut."""
        return isinstance(self.outcome, ChatReply) and self.outcome.finish != "length"

    @property
    def served(self) -> str:
        """The model that the server names, or an empty text."""
        return self.outcome.model if isinstance(self.outcome, ChatReply) else ""

    @property
    def trouble(self) -> str:
        """The failure for which the request must be sent again; empty for a reply."""
        failure = self.outcome
        if isinstance(failure, Failure) and (failure.again or failure.step):
            return failure.detail
        return ""


def _read_outcome(fields: Mapping[str, JsonValue]) -> ChatReply | Failure:
    match fields:
        case {"response": {"status_code": 200, "body": body}}:
            text = json.dumps(body)
            try:
                return read_completion(text, {})
            except ValueError:
                return broken(200, text)
        case {"response": {"status_code": int(status), "body": body}}:
            return read_failure(status, json.dumps(body))
        case {"error": {"message": str(why)} | {"code": str(why)}} if why:
            return Failure(UnscoredReason.SERVER_ERROR, brief(why))
    return Failure(UnscoredReason.SERVER_ERROR, "no response")


async def ask_batch(
    find: Callable[[RequestKey], BatchReply | None],
    hand_on: Callable[[RequestKey, Mapping[str, JsonValue]], None],
    body: Mapping[str, JsonValue],
    deadline: float | None,  # noqa: ARG001  nothing is waited for
) -> Exchange[ChatReply]:
    """Return the reply to `body` that `find` returns, or a failure with the detail `WAITS`.

    `hand_on` is called with each request without a reply. A `partial` with the first two arguments
    is a `Send`.
    """
    key = RequestKey.of(body)
    if reply := find(key):
        return Exchange(reply.outcome)
    hand_on(key, body)
    return Exchange(Failure(UnscoredReason.CONNECTION, WAITS, again=False))


class Provider:
    """The files and batches of an OpenAI-compatible provider.

    Every method raises JudgeUnavailable where the provider refuses, and JudgeUnhealthy where it
    cannot be reached, or is too busy. The SDK repeats requests, except one that starts a batch.
    """

    def __init__(self, server: Server, client: AsyncOpenAI) -> None:
        self._server = server
        self._client = client
        self.base_url: Final = server.base_url

    async def find(self, digest: str, known: Container[str]) -> Batch | None:
        """Return the newest usable batch of a file with this hash; `known` ones do not count."""
        with self._our_errors("GET", "/batches"):
            page = await self._client.batches.list(limit=_SEARCHED_BATCHES)
            for batch in page.data:
                usable = batch.id not in known and batch.status not in _USELESS
                if usable and (batch.metadata or {}).get(_DIGEST_KEY) == digest:
                    return batch
        return None

    async def send(self, path: Path, digest: str, endpoint: Endpoint) -> Batch:
        """Upload a file and start a batch for it."""
        with path.open("rb") as content, self._our_errors("POST", "/files"):
            name = (path.name, content)
            file = _with_id(await self._client.files.create(file=name, purpose="batch"))
        order = {
            "input_file_id": file.id,
            "endpoint": f"/v1{PATHS[endpoint]}",
            "completion_window": "24h",
            "metadata": {_DIGEST_KEY: digest},
        }
        with self._our_errors("POST", "/batches"):
            # If the request succeeds and its answer is lost, `find` finds the batch.
            sending = self._client.post(
                "/batches", cast_to=Batch, body=order, options={"max_retries": 0}
            )
            return _with_id(await sending)

    async def status(self, batch: str) -> Batch:
        """Return the current record of a batch."""
        with self._our_errors("GET", f"/batches/{batch}"):
            return _with_id(await self._client.batches.retrieve(batch))

    def why(self, batch: Batch) -> str:
        """Return a batch's error messages on one line, without secrets; empty without an error."""
        errors = batch.errors.data if batch.errors else None
        return brief(self._server.hide("; ".join(each.message or "" for each in errors or ())))

    async def fetch(self, file: str) -> AsyncGenerator[bytes]:
        """Download a file; yield its parts, without secrets."""
        rest = b""
        with self._our_errors("GET", f"/files/{file}/content"):
            content = self._client.files.with_streaming_response.content(file)
            async with content as response:
                async for part in response.iter_bytes():
                    lines, end, rest = (rest + part).rpartition(b"\n")
                    yield self._hide(lines + end)
        yield self._hide(rest)

    def _hide(self, content: bytes) -> bytes:
        text = content.decode(errors="surrogateescape")
        return self._server.hide(text).encode(errors="surrogateescape")

    @contextmanager
    def _our_errors(self, method: str, path: str) -> Iterator[None]:
        """Raise an error of the SDK or of the provider's answer as one of ours."""
        try:
            yield
        except Exception as error:  # noqa: BLE001  the transport raises errors of its own
            failure = from_error(error, self._server.hide)
        else:
            return
        where = f"{method} {self.base_url}{path}: {failure.detail}"
        if failure.again or failure.gone:
            raise JudgeUnhealthy(f"{where}; wait, and run the same command again")
        step = failure.step.format(option="--model") or "mend that, and run the same command again"
        # Any other path names a file or a batch, which may be gone.
        if path in {"/files", "/batches"} and failure.status in _NOT_FOUND:
            step = _NO_BATCHES
        raise JudgeUnavailable(f"{where}; {step}")


def _with_id(made: _Made) -> _Made:
    """Return the provider's answer, or raise ValueError if it has no id; the SDK does not check."""
    if not isinstance(getattr(made, "id", None), str):
        raise ValueError("no id")  # noqa: TRY004  the provider's answer is wrong, not a type of ours
    return made
