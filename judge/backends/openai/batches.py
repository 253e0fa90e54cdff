"""A provider's batches: files of requests sent up, watched, and what came of them brought down."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Container
from functools import partial
from pathlib import Path
from typing import IO, Annotated, Final, TypeVar

import aiohttp
from pydantic import BaseModel, BeforeValidator, Field, JsonValue, ValidationError

from judge.backends.openai.chat import PATHS
from judge.backends.openai.client import Connection
from judge.backends.openai.failures import (
    TRANSPORT,
    Answer,
    Failure,
    brief,
    from_error,
    from_refusal,
)
from judge.config import Endpoint
from judge.errors import JudgeUnavailable, JudgeUnhealthy, RunError
from judge.records import UnscoredReason

T = TypeVar("T")
_Kind = TypeVar("_Kind", bound=BaseModel)

_FINE: Final = range(200, 300)
_LISTED: Final = 100
"""Of the newest batches, in which one that was sent already is looked for."""
_USELESS: Final = frozenset({"failed", "cancelling", "cancelled"})
"""States of a batch whose requests somebody else must answer."""
_MARK: Final = "judge"
"""Of a batch's metadata: the hash of its file."""
_MOST: Final = 1 << 20
"""Bytes of an answer that is no file."""
_NEWEST: Final = f"/batches?limit={_LISTED}"
_AGAIN: Final = "free some space, and run the same command again"
_STEP: Final = "does this server take batches (/files, /batches)? the same command tries again"
_PIECE: Final = 1 << 16


class _Counts(BaseModel):
    completed: int = 0
    failed: int = 0


class _Trouble(BaseModel):
    message: str = ""


class _Troubles(BaseModel):
    data: Annotated[list[_Trouble], BeforeValidator(lambda given: given or [])] = []


class Batch(BaseModel):
    """A batch as its provider tells of it."""

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
        """The files of replies and of errors, as far as there are any."""
        return tuple(each for each in (self.output_file_id, self.error_file_id) if each)

    @property
    def counts(self) -> tuple[int, int]:
        """Requests that were answered, and that failed."""
        counts = self.request_counts or _Counts()
        return counts.completed, counts.failed

    @property
    def why(self) -> str:
        """What was wrong with it, as the provider says; empty where nothing was."""
        return "; ".join(each.message for each in (self.errors or _Troubles()).data)


class _Named(BaseModel):
    id: Annotated[str, Field(min_length=1)]


class _List(BaseModel):
    data: list[Batch]


def _nothing() -> None:
    """What a request without a body sends."""


class Provider(Connection):
    """The files and batches of an OpenAI-compatible provider; entered as a `Connection` is.

    Every method raises JudgeUnavailable where the provider refuses, and JudgeUnhealthy where it
    cannot be reached, or is too busy, in as many attempts as the policy says.
    """

    async def find(self, digest: str, known: Container[str]) -> Batch | None:
        """The batch of a file with this hash, of the newest; None where none was sent.

        Those that are `known` were of an earlier file: what failed there is sent once more.
        """
        return _sent(await self._call("GET", _NEWEST, _of(_List)), digest, known)

    async def send(
        self, path: Path, digest: str, known: Container[str], endpoint: Endpoint = "chat"
    ) -> Batch:
        """Send a file up and have its requests answered there; `known` as of `find`."""

        def form() -> aiohttp.FormData:
            data = aiohttp.FormData({"purpose": "batch"})
            data.add_field("file", path.open("rb"), filename=path.name)  # which aiohttp closes
            return data

        file = await self._call("POST", "/files", _of(_Named), form)
        order = {
            "input_file_id": file.id,
            "endpoint": f"/v1{PATHS[endpoint]}",
            "completion_window": "24h",
            "metadata": {_MARK: digest},
        }
        ordered = False

        async def once(end: float) -> Batch | Failure:
            nonlocal ordered
            if ordered:  # and it may be the answer alone that was lost
                listed = await self._once("GET", _NEWEST, _of(_List), _nothing, end)
                found = listed if isinstance(listed, Failure) else _sent(listed, digest, known)
                if found:
                    return found
            ordered = True
            return await self._once("POST", "/batches", _of(Batch), lambda: json.dumps(order), end)

        return await self._persist("POST", "/batches", once)

    async def status(self, batch: str) -> Batch:
        """How far a batch is."""
        return await self._call("GET", f"/batches/{batch}", _of(Batch))

    def why(self, batch: Batch) -> str:
        """What was wrong with a batch, on a line; empty where nothing was."""
        return brief(self._hide(batch.why))

    async def fetch(self, file: str, copy: IO[bytes]) -> None:
        """Bring a file down, in place of what the copy holds.

        Raises:
            RunError: the copy cannot be written.
        """

        async def save(response: aiohttp.ClientResponse) -> None:
            copy.seek(0)
            copy.truncate()
            async for piece in response.content.iter_chunked(_PIECE):
                try:
                    copy.write(piece)
                except OSError as error:
                    raise RunError(f"{file}: cannot be kept ({error.strerror}); {_AGAIN}") from None

        await self._call("GET", f"/files/{file}/content", save)

    async def _call(
        self,
        method: str,
        path: str,
        read: Callable[[aiohttp.ClientResponse], Awaitable[T]],
        data: Callable[[], object] = _nothing,
    ) -> T:
        return await self._persist(method, path, partial(self._once, method, path, read, data))

    async def _once(
        self,
        method: str,
        path: str,
        read: Callable[[aiohttp.ClientResponse], Awaitable[T]],
        data: Callable[[], object],
        end: float,
    ) -> T | Failure:
        """Ask once; a file may take until the end, and all else no longer than `--timeout`."""
        if not path.startswith("/files"):
            end = min(end, asyncio.get_running_loop().time() + self.policy.timeout)
        url, given, headers = self.base_url + path, data(), dict(self._route.headers)
        if not isinstance(given, str):
            del headers["content-type"]  # aiohttp's own names the boundary between parts
        asking = self._session.request(
            method,
            url,
            data=given,
            headers=headers,
            allow_redirects=False,
            proxy=self._route.proxy,
            proxy_headers=self._route.proxy_headers,
        )
        try:
            async with asyncio.timeout_at(end), asking as response:
                if response.status in _FINE:
                    return await read(response)
                body = await _start(response)
        except ValidationError:
            return Failure(UnscoredReason.SERVER_ERROR, "no answer in what came")
        except TRANSPORT as error:
            late = type(error) is TimeoutError
            slow = Failure(UnscoredReason.TIMEOUT, "no whole answer in time; raise JUDGE_TIMEOUT")
            return slow if late else from_error(error, self._hide)
        text = self._hide(body.decode(errors="replace")).encode()
        return from_refusal(Answer(response.status, response.headers, text, url), self._hide)

    async def _persist(
        self, method: str, path: str, attempt: Callable[[float], Awaitable[T | Failure]]
    ) -> T:
        outcome, _ = await self.policy.persist(attempt, None)
        if isinstance(outcome, Failure):
            where = f"{method} {self.base_url}{path.partition('?')[0]}: {outcome.detail}"
            if outcome.again or outcome.gone:
                raise JudgeUnhealthy(f"{where}; wait, and run the same command again")
            raise JudgeUnavailable(f"{where}; {outcome.step.format(option='--model') or _STEP}")
        return outcome


def _sent(listed: _List, digest: str, known: Container[str]) -> Batch | None:
    """The batch of a file with this hash that is of use, and not known."""
    fresh = (each for each in listed.data if each.id not in known and each.status not in _USELESS)
    return next((each for each in fresh if (each.metadata or {}).get(_MARK) == digest), None)


async def _start(response: aiohttp.ClientResponse) -> bytes:
    """A body, as far as one that is no file goes."""
    body = b""
    async for piece in response.content.iter_any():
        body += piece
        if len(body) > _MOST:
            break
    return body


def _of(kind: type[_Kind]) -> Callable[[aiohttp.ClientResponse], Awaitable[_Kind]]:
    """Reads a body that holds one of these."""

    async def read(response: aiohttp.ClientResponse) -> _Kind:
        return kind.model_validate_json(await _start(response))

    return read
