"""Send files of requests to a provider as batches, watch the batches, and fetch their output."""

import asyncio
from collections.abc import Awaitable, Callable, Container
from functools import partial
from pathlib import Path
from typing import IO, Annotated, Final, Literal, Self, TypeVar

from openai import AsyncOpenAI
from pydantic import BaseModel, BeforeValidator, Field, JsonValue, ValidationError

from judge.backends.openai.client import CONNECT_SECONDS, Policy
from judge.backends.openai.failures import Failure, brief, from_error
from judge.backends.openai.server import Server
from judge.config import Endpoint
from judge.errors import JudgeError, JudgeUnavailable, JudgeUnhealthy, RunError
from judge.records import UnscoredReason

T = TypeVar("T")

_LISTED: Final = 100
"""The number of newest batches that are searched for one that was sent already."""
_USELESS: Final = frozenset({"failed", "cancelling", "cancelled"})
"""States of a batch whose requests must be sent again."""
_MARK: Final = "judge"
"""The key, in a batch's metadata, of the hash of its file."""
_AGAIN: Final = "free some space, and run the same command again"
_ENDPOINTS: Final[dict[Endpoint, Literal["/v1/chat/completions", "/v1/responses"]]] = {
    "chat": "/v1/chat/completions",
    "responses": "/v1/responses",
}
_STEP: Final = "mend that, and run the same command again"
_NO_BATCHES: Final = (
    "there is no Batch API at this address: write the folder with another --base-url, or have its "
    "requests answered elsewhere, and give the replies to judge batch read"
)
_NOT_FOUND: Final = frozenset({404, 405})


class _Counts(BaseModel):
    completed: int = 0
    failed: int = 0


class _Trouble(BaseModel):
    message: str = ""


class _Troubles(BaseModel):
    data: Annotated[list[_Trouble], BeforeValidator(lambda given: given or [])] = []


class Batch(BaseModel):
    """A provider's record of a batch."""

    id: str
    status: str
    """`validating in_progress finalizing completed failed expired cancelling cancelled`."""
    output_file_id: str | None = None
    error_file_id: str | None = None
    request_counts: _Counts | None = None
    errors: _Troubles | None = None
    metadata: dict[str, JsonValue] | None = None

    @property
    def outputs(self) -> tuple[str, ...]:
        """The existing files of replies and of errors."""
        return tuple(each for each in (self.output_file_id, self.error_file_id) if each)

    @property
    def counts(self) -> tuple[int, int]:
        """The numbers of answered and of failed requests."""
        counts = self.request_counts or _Counts()
        return counts.completed, counts.failed

    @property
    def why(self) -> str:
        """The provider's error messages, joined; empty without an error."""
        return "; ".join(each.message for each in (self.errors or _Troubles()).data)


class _Named(BaseModel):
    id: Annotated[str, Field(min_length=1)]


class _List(BaseModel):
    data: list[Batch]


class Provider:
    """The files and batches of an OpenAI-compatible provider, an async context manager.

    Every method raises JudgeUnavailable where the provider refuses, and JudgeUnhealthy where it
    cannot be reached, or is too busy, in as many attempts as the policy says.
    """

    def __init__(self, server: Server, policy: Policy) -> None:
        self._server = server
        self._policy = policy
        self._client: AsyncOpenAI
        self.base_url: Final = server.base_url

    async def __aenter__(self) -> Self:
        self._client = self._server.open(min(CONNECT_SECONDS, self._policy.timeout))
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.close()

    async def find(self, digest: str, known: Container[str]) -> Batch | None:
        """Return the newest batch of a file with this hash, or None.

        Batches that are `known` belong to an earlier file and do not count.
        """
        return _sent(await self._call("GET /batches", self._list), digest, known)

    async def send(
        self, path: Path, digest: str, known: Container[str], endpoint: Endpoint = "chat"
    ) -> Batch:
        """Upload a file and start a batch for it; `known` is the one of `find`."""

        async def upload() -> _Named:
            with path.open("rb") as file:
                raw = await self._client.files.with_raw_response.create(
                    file=(path.name, file), purpose="batch"
                )
            return _Named.model_validate_json(raw.content)

        file = await self._call("POST /files", upload, whole=True)
        ordered = False

        async def order() -> Batch:
            nonlocal ordered
            # After the first attempt, it may be the answer alone that was lost.
            if ordered and (found := _sent(await self._list(), digest, known)):
                return found
            ordered = True
            raw = await self._client.batches.with_raw_response.create(
                input_file_id=file.id,
                endpoint=_ENDPOINTS[endpoint],
                completion_window="24h",
                metadata={_MARK: digest},
            )
            return Batch.model_validate_json(raw.content)

        return await self._call("POST /batches", order)

    async def status(self, batch: str) -> Batch:
        """Return the current record of a batch."""

        async def look() -> Batch:
            raw = await self._client.batches.with_raw_response.retrieve(batch)
            return Batch.model_validate_json(raw.content)

        return await self._call(f"GET /batches/{batch}", look)

    def why(self, batch: Batch) -> str:
        """Return a batch's error messages on one line, without secrets."""
        return brief(self._server.hide(batch.why))

    async def fetch(self, file: str, copy: IO[bytes]) -> None:
        """Download a file into `copy`, replacing its content.

        Raises:
            RunError: the copy cannot be written.
        """

        async def save() -> None:
            copy.seek(0)
            copy.truncate()
            content = self._client.files.with_streaming_response.content(file)
            async with content as response:
                async for piece in response.iter_bytes():
                    try:
                        copy.write(piece)
                    except OSError as error:
                        why = f"{file}: cannot be kept ({error.strerror}); {_AGAIN}"
                        raise RunError(why) from None

        await self._call(f"GET /files/{file}/content", save, whole=True)

    async def _list(self) -> _List:
        raw = await self._client.batches.with_raw_response.list(limit=_LISTED)
        return _List.model_validate_json(raw.content)

    async def _call(
        self, what: str, attempt: Callable[[], Awaitable[T]], *, whole: bool = False
    ) -> T:
        """Attempt a request as often as the policy allows.

        The transfer of a `whole` file has no time limit; any other request has `--timeout`.
        """
        outcome, _ = await self._policy.persist(partial(self._once, attempt, whole), None)
        if isinstance(outcome, Failure):
            method, _, path = what.partition(" ")
            where = f"{method} {self.base_url}{path}: {outcome.detail}"
            if outcome.again or outcome.gone:
                raise JudgeUnhealthy(f"{where}; wait, and run the same command again")
            # Any other path names a file or a batch, which may be gone.
            status = outcome.refusal.status if outcome.refusal else None
            if path in {"/files", "/batches"} and status in _NOT_FOUND:
                raise JudgeUnavailable(f"{where}; {_NO_BATCHES}")
            raise JudgeUnavailable(f"{where}; {outcome.step.format(option='--model') or _STEP}")
        return outcome

    async def _once(
        self,
        attempt: Callable[[], Awaitable[T]],
        whole: bool,  # noqa: FBT001  given by `partial`
        end: float,
    ) -> T | Failure:
        if not whole:
            end = min(end, asyncio.get_running_loop().time() + self._policy.timeout)
        try:
            async with asyncio.timeout_at(end) as limit:
                return await attempt()
        except ValidationError:
            return Failure(UnscoredReason.SERVER_ERROR, "no answer in what came")
        except JudgeError:
            raise
        except Exception as error:  # noqa: BLE001  the transport raises errors of its own as well
            if limit.expired():
                slow = "no whole answer in time; raise JUDGE_TIMEOUT"
                return Failure(UnscoredReason.TIMEOUT, slow)
            return from_error(error, self._server.hide)


def _sent(listed: _List, digest: str, known: Container[str]) -> Batch | None:
    """Return the batch of a file with this hash that is usable and not known."""
    fresh = (each for each in listed.data if each.id not in known and each.status not in _USELESS)
    return next((each for each in fresh if (each.metadata or {}).get(_MARK) == digest), None)
