"""The service's other end: answers and batches over HTTP, with the records of the package.

What is asked is written once, as steps that either client takes, with or without an event loop.
"""

import asyncio
import json
import os
import secrets
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, AbstractContextManager, nullcontext, suppress
from functools import update_wrapper
from itertools import count
from pathlib import Path
from typing import Any, Concatenate, Final, NamedTuple, ParamSpec, TypeVar

import httpx
from pydantic import ValidationError

from judge.address import checked_url
from judge.errors import ConfigError, InputError, JudgeError, JudgeUnavailable, RunError
from judge.files.runs import results_in
from judge.records import Sample, SampleResult
from judge.service.wire import OPEN, BatchStatus, Options, ProblemDetails
from judge.settings import CLIENT_TOKEN

_Result = TypeVar("_Result")
_Given = ParamSpec("_Given")
_Answer = httpx.Response | httpx.TransportError
_Steps = Generator["_Ask | float", _Answer | None, _Result]

_BUSY: Final = frozenset({429, 502, 503})
_PAGE: Final = 500
"""Results asked for at a time."""
_FIRST: Final = 0.2
_LONGEST: Final = 10.0
"""Seconds between two attempts, doubled from the first."""
_PIECE: Final = 1 << 20


class _Ask(NamedTuple):
    """A request; `rest` is what httpx takes of it by name."""

    method: str
    path: str
    body: bytes | Path
    rest: dict[str, Any]


def _exchange(ask: _Ask, patience: float) -> _Steps[httpx.Response]:
    """What is answered; a server that is busy, or breaks off, is asked again for so many seconds.

    Whatever is asked may be asked twice: a batch is sent under an id.
    """
    until = time.monotonic() + patience
    for attempt in count():
        answer = yield ask
        wait = min(_LONGEST, _FIRST * 2**attempt)
        if isinstance(answer, httpx.Response):
            if answer.is_success:
                return answer
            if answer.status_code not in _BUSY:
                raise error_of(answer)
            with suppress(ValueError):
                wait = max(wait, float(answer.headers.get("Retry-After", "0")))
        if time.monotonic() + wait > until:
            if isinstance(answer, httpx.Response):
                raise error_of(answer)
            raise JudgeUnavailable(
                f"the service cannot be reached ({type(answer).__name__}); "
                "see that judge serve runs there, and name its address"
            )
        yield wait
    raise AssertionError("there is always another attempt")


def error_of(answer: httpx.Response) -> JudgeError:
    """The error that the package itself would have raised."""
    try:
        return ProblemDetails.model_validate_json(answer.content).error()
    except ValidationError:
        return JudgeUnavailable(
            f"{answer.request.url.host} answered {answer.status_code}, and not as judge serve "
            "does; see its address, and the proxy between"
        )


def _sound(lines: Iterable[bytes]) -> Iterator[SampleResult]:
    for found in results_in(lines):
        if isinstance(found, str):
            raise RunError(f"the results of the service: {found}; ask for them again")
        yield found


def _readable(path: Path) -> Path:
    try:
        path.open("rb").close()
    except OSError as error:
        raise InputError(f"{error.strerror}; check the path", path=str(path)) from None
    return path


class _Calls:
    """What either client can do, as steps: the address, the token, and how patient it is.

    Args:
        url: of the service, such as http://127.0.0.1:8080.
        token: a bearer token; JUDGE_SERVICE_TOKEN of the environment where left out.
        patience: seconds for which a service that is busy or gone is asked again.
        timeout: seconds without a byte after which a connection counts as broken.
        every: seconds between two looks at a batch.
    """

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        patience: float = 120.0,
        timeout: float = 660.0,
        every: float = 1.0,
    ) -> None:
        given = os.environ.get(CLIENT_TOKEN, "").strip() if token is None else token
        self._patience = patience
        self._every = every
        self.settings: dict[str, Any] = {
            "base_url": checked_url(url),
            "headers": {"Authorization": f"Bearer {given}"} if given else {},
            "timeout": httpx.Timeout(timeout, connect=10.0),
            # What a proxy of the environment would see is nobody's business.
            "trust_env": False,
        }

    def _asked(
        self,
        method: str,
        path: str,
        body: bytes | Path = b"",
        **rest: Any,  # noqa: ANN401  as of `_Ask`
    ) -> _Steps[httpx.Response]:
        return _exchange(_Ask(method, path, body, rest), self._patience)

    def evaluate_one(self, sample: Sample, *, seconds: float | None = None) -> _Steps[SampleResult]:
        """The result of one answer, within so many seconds; errors as of `judge.evaluate`.

        Cancelling it, where there is an event loop, cancels the calls to the model.
        """
        fields = sample.model_dump(mode="json", exclude_none=True, exclude={"metadata"})
        body = json.dumps(sample.metadata | fields, ensure_ascii=False).encode()
        headers = {"Content-Type": "application/json"}
        headers |= {} if seconds is None else {"Prefer": f"wait={seconds:.0f}"}
        answer = yield from self._asked("POST", "/v1/evaluations", body, headers=headers)
        return next(_sound([answer.content]))

    def submit(
        self,
        /,
        source: str | Path,
        *,
        batch: str | None = None,
        name: str = "",
        **options: Any,  # noqa: ANN401
    ) -> _Steps[BatchStatus]:
        """Send a file of samples as a batch; options are those of `judge.service.wire.Options`."""
        try:
            sent = Options.model_validate(options)
        except ValidationError as error:
            wrong = error.errors()[0]
            place = ".".join(map(str, wrong["loc"]))
            message = f"option {place}: {wrong['msg']}; see judge.service.wire.Options"
            raise ConfigError(message) from None
        # An id of our own makes a second attempt the same batch.
        path = f"/v1/batches/{batch or f'c{secrets.token_hex(12)}'}"
        params = sent.model_dump(mode="json", exclude_defaults=True, exclude_none=True)
        params |= {"name": name} if name else {}
        answer = yield from self._asked("PUT", path, _readable(Path(source)), params=params)
        return BatchStatus.model_validate_json(answer.content)

    def status(self, batch: str) -> _Steps[BatchStatus]:
        """How a batch stands."""
        answer = yield from self._asked("GET", f"/v1/batches/{batch}")
        return BatchStatus.model_validate_json(answer.content)

    def wait(
        self, batch: str, progress: Callable[[BatchStatus], None] | None = None
    ) -> _Steps[BatchStatus]:
        """Wait until a batch has ended; `progress` is called with each look at it.

        Raises:
            JudgeError: it has failed; as `judge score` would have.
        """
        while True:
            status = yield from self.status(batch)
            if progress is not None:
                progress(status)
            if status.state not in OPEN:
                if status.problem is not None:
                    raise status.problem.error()
                return status
            yield self._every

    def page(self, batch: str, after: int) -> _Steps[list[SampleResult]]:
        """The next results; none where the batch has ended, and there are no more."""
        path, wanted = f"/v1/batches/{batch}/results", {"after": after, "limit": _PAGE}
        while True:
            before = yield from self.status(batch)
            answer = yield from self._asked("GET", path, params=wanted)
            if answer.content or before.state not in OPEN:
                return list(_sound(answer.content.splitlines(keepends=True)))
            yield self._every


def _blocking(
    steps: Callable[Concatenate[_Calls, _Given], _Steps[_Result]],
) -> Callable[Concatenate["JudgeClient", _Given], _Result]:
    def call(client: "JudgeClient", /, *given: _Given.args, **named: _Given.kwargs) -> _Result:
        return client._taken(steps(client._calls, *given, **named))  # noqa: SLF001  its own

    update_wrapper(call, steps)
    return call


def _awaited(
    steps: Callable[Concatenate[_Calls, _Given], _Steps[_Result]],
) -> Callable[Concatenate["AsyncJudgeClient", _Given], Coroutine[Any, Any, _Result]]:
    async def call(
        client: "AsyncJudgeClient", /, *given: _Given.args, **named: _Given.kwargs
    ) -> _Result:
        return await client._taken(steps(client._calls, *given, **named))  # noqa: SLF001  its own

    update_wrapper(call, steps)
    return call


class JudgeClient(AbstractContextManager["JudgeClient"]):
    """A service, as `judge.evaluate` is the package; a context manager."""

    def __init__(self, url: str, **choices: Any) -> None:  # noqa: ANN401  those of `_Calls`
        self._calls = _Calls(url, **choices)
        self._http = httpx.Client(**self._calls.settings)

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def _taken(self, steps: _Steps[_Result]) -> _Result:
        answer: _Answer | None = None
        try:
            while True:
                step = steps.send(answer)
                answer = None
                if isinstance(step, _Ask):
                    answer = self._sent(step)
                else:
                    time.sleep(step)
        except StopIteration as end:
            found: _Result = end.value
            return found

    def _sent(self, ask: _Ask) -> _Answer:
        body = ask.body
        with nullcontext(body) if isinstance(body, bytes) else body.open("rb") as content:
            try:
                return self._http.request(*ask[:2], content=content, **ask.rest)
            except httpx.TransportError as error:
                return error

    evaluate_one = _blocking(_Calls.evaluate_one)
    submit = _blocking(_Calls.submit)
    status = _blocking(_Calls.status)
    wait = _blocking(_Calls.wait)

    def evaluate(self, samples: Iterable[Sample], *, at_once: int = 16) -> list[SampleResult]:
        """Score `samples`, so many at once, and wait for all results."""
        with ThreadPoolExecutor(at_once) as pool:
            return list(pool.map(self.evaluate_one, samples))

    def results(self, batch: str, after: int = 0) -> Iterator[SampleResult]:
        """The results behind so many, in input order, until the batch has ended."""
        while page := self._taken(self._calls.page(batch, after)):
            yield from page
            after += len(page)


class AsyncJudgeClient(AbstractAsyncContextManager["AsyncJudgeClient"]):
    """The same for an event loop, as `judge.Evaluator` is; an asynchronous context manager."""

    def __init__(self, url: str, **choices: Any) -> None:  # noqa: ANN401  those of `_Calls`
        self._calls = _Calls(url, **choices)
        self._http = httpx.AsyncClient(**self._calls.settings)

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def _taken(self, steps: _Steps[_Result]) -> _Result:
        answer: _Answer | None = None
        try:
            while True:
                step = steps.send(answer)
                answer = await (self._sent(step) if isinstance(step, _Ask) else asyncio.sleep(step))
        except StopIteration as end:
            found: _Result = end.value
            return found

    async def _sent(self, ask: _Ask) -> _Answer:
        content = ask.body if isinstance(ask.body, bytes) else _pieces(ask.body)
        try:
            return await self._http.request(*ask[:2], content=content, **ask.rest)
        except httpx.TransportError as error:
            return error

    evaluate_one = _awaited(_Calls.evaluate_one)
    submit = _awaited(_Calls.submit)
    status = _awaited(_Calls.status)
    wait = _awaited(_Calls.wait)

    async def evaluate(
        self, samples: Iterable[Sample], *, at_once: int = 16
    ) -> AsyncGenerator[SampleResult]:
        """Results one at a time, in the order of `samples`, so many of which are in flight."""
        under_way: list[asyncio.Task[SampleResult]] = []
        try:
            for sample in samples:
                under_way.append(asyncio.create_task(self.evaluate_one(sample)))
                if len(under_way) >= at_once:
                    yield await under_way[0]
                    del under_way[0]
            while under_way:
                yield await under_way[0]
                del under_way[0]
        finally:
            for task in under_way:
                task.cancel()
            await asyncio.gather(*under_way, return_exceptions=True)

    async def results(self, batch: str, after: int = 0) -> AsyncGenerator[SampleResult]:
        """As of `JudgeClient`."""
        while page := await self._taken(self._calls.page(batch, after)):
            for result in page:
                yield result
            after += len(page)


async def _pieces(path: Path) -> AsyncGenerator[bytes]:
    with await asyncio.to_thread(path.open, "rb") as file:
        while piece := await asyncio.to_thread(file.read, _PIECE):
            yield piece
