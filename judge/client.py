"""The client of `judge serve`: it sends answers and batches, and returns the package's records."""

import asyncio
import json
import math
import os
import secrets
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable, Iterator
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, Final, ParamSpec, TypeVar

import httpx
from pydantic import ValidationError
from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_exception_type,
    stop_before_delay,
    wait_exponential,
)

from judge.config import CLIENT_TOKEN, bearer, checked_url
from judge.errors import (
    ConfigError,
    InputError,
    JudgeError,
    JudgeUnavailable,
    RunError,
    UsageError,
)
from judge.inputs.runs import results_in
from judge.inputs.samples import each
from judge.records import Sample, SampleResult
from judge.service.wire import OPEN, BatchStatus, Options, ProblemDetails

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")

_BUSY_STATUSES: Final = frozenset({429, 502, 503})
_PAGE_RESULTS: Final = 500
_CONNECT_PATIENCE_SECONDS: Final = 10.0
"""A service that accepts no connection for this long counts as absent."""
_PIECE_BYTES: Final = 1 << 20


class _Retry(Exception):
    """A failure that another attempt may not have."""

    def __init__(self, error: JudgeError, *, retry_after: str = "", absent: bool = False) -> None:
        super().__init__()
        self.error = error
        self.seconds = float(retry_after) if retry_after.isdecimal() else 0.0
        """The wait that the service asks for."""
        self.absent = absent
        """Whether there was no connection."""


_backoff: Final = wait_exponential(multiplier=0.2, max=10.0)


def _failure(state: RetryCallState) -> _Retry | None:
    error = state.outcome.exception() if state.outcome else None
    return error if isinstance(error, _Retry) else None


def _wait(state: RetryCallState) -> float:
    failure = _failure(state)
    return max(_backoff(state), failure.seconds if failure else 0.0)


class AsyncJudgeClient(AbstractAsyncContextManager["AsyncJudgeClient"]):
    """Scores answers and batches by a service; an asynchronous context manager.

    Args:
        url: the address of the service, such as http://127.0.0.1:8080.
        token: a bearer token; by default JUDGE_SERVICE_TOKEN of the environment.
        patience: seconds for which a request to a busy service is repeated. A service that accepts
            no connection is tried for ten seconds at most.
        timeout: seconds without a byte after which a connection counts as broken.
        every: seconds between two requests for the status of a batch.
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
        if token is None:
            headers = bearer(os.environ.get(CLIENT_TOKEN, "").strip(), CLIENT_TOKEN)
        else:
            headers = bearer(token, "token")
        self._patience = patience
        self._every = every
        self._http = httpx.AsyncClient(
            base_url=checked_url(url),
            headers=headers,
            timeout=httpx.Timeout(timeout, connect=10.0),
            # A proxy of the environment must not see the texts.
            trust_env=False,
        )

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    def _is_over(self, state: RetryCallState) -> bool:
        failure, patience = _failure(state), self._patience
        if failure and failure.absent:
            patience = min(patience, _CONNECT_PATIENCE_SECONDS)
        return stop_before_delay(patience)(state)

    async def _send(self, method: str, path: str, **request: Any) -> httpx.Response:  # noqa: ANN401
        """Return the response. A busy service or a broken connection is tried again.

        Every request may be sent twice: a batch is sent under an id of its own.
        """
        attempts = AsyncRetrying(
            retry=retry_if_exception_type(_Retry), wait=_wait, stop=self._is_over, reraise=True
        )
        try:
            return await attempts(self._send_once, method, path, **request)
        except _Retry as failure:
            raise failure.error from None

    async def _send_once(self, method: str, path: str, **request: Any) -> httpx.Response:  # noqa: ANN401
        if isinstance(file := request.get("content"), Path):
            request["content"] = _pieces(file)
        try:
            response = await self._http.request(method, path, **request)
        except httpx.TransportError as error:
            message = f"the service cannot be reached ({type(error).__name__}); check that judge "
            unavailable = JudgeUnavailable(message + "serve runs there, and the address")
            absent = isinstance(error, httpx.ConnectError | httpx.ConnectTimeout)
            raise _Retry(unavailable, absent=absent) from None
        if response.is_success:
            return response
        if response.status_code not in _BUSY_STATUSES:
            raise _error_of(response)
        raise _Retry(_error_of(response), retry_after=response.headers.get("Retry-After", ""))

    async def evaluate_one(self, sample: Sample, *, seconds: float | None = None) -> SampleResult:
        """Return the result of one answer; cancelling it cancels the calls to the model.

        Args:
            sample: the answer.
            seconds: the time that the judge may take; by default the service's own limit.

        Raises:
            JudgeError: as `judge.evaluate` does.
        """
        fields = sample.model_dump(mode="json", exclude_none=True, exclude={"metadata"})
        body = json.dumps(sample.metadata | fields, ensure_ascii=False).encode()
        headers = {"Content-Type": "application/json"}
        headers |= {} if seconds is None else {"Prefer": f"wait={max(1, math.ceil(seconds))}"}
        answer = await self._send("POST", "/v1/evaluations", content=body, headers=headers)
        return _checked([answer.content])[0]

    async def evaluate(self, samples: object, *, at_once: int = 16) -> AsyncGenerator[SampleResult]:
        """Yield the results in the order of `samples`.

        Args:
            samples: what `judge.evaluate` takes: samples, rows as dicts, tables, and others.
            at_once: the number of requests in flight.
        """
        under_way: list[asyncio.Task[SampleResult]] = []
        try:
            async for sample in each(samples):
                under_way.append(asyncio.create_task(self.evaluate_one(sample)))
                if len(under_way) >= at_once:
                    yield await under_way.pop(0)
            while under_way:
                yield await under_way.pop(0)
        finally:
            for task in under_way:
                task.cancel()
            await asyncio.gather(*under_way, return_exceptions=True)

    async def submit(
        self,
        /,
        source: str | Path,
        *,
        batch: str | None = None,
        name: str = "",
        **options: Any,  # noqa: ANN401
    ) -> BatchStatus:
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
        try:
            Path(source).open("rb").close()  # noqa: ASYNC230  says at once that it is not there
        except OSError as error:
            raise InputError(f"{error.strerror}; check the path", path=str(source)) from None
        answer = await self._send("PUT", path, content=Path(source), params=params)
        return BatchStatus.model_validate_json(answer.content)

    async def status(self, batch: str) -> BatchStatus:
        """Return the status of a batch."""
        answer = await self._send("GET", f"/v1/batches/{batch}")
        return BatchStatus.model_validate_json(answer.content)

    async def wait(
        self, batch: str, progress: Callable[[BatchStatus], None] | None = None
    ) -> BatchStatus:
        """Wait until a batch has ended, and return its status; `progress` gets each one before.

        Raises:
            JudgeError: the batch has failed; the error is that of `judge score`.
        """
        while True:
            status = await self.status(batch)
            if progress is not None:
                progress(status)
            if status.state not in OPEN:
                if status.problem is not None:
                    raise status.problem.error()
                return status
            await asyncio.sleep(self._every)

    async def results(self, batch: str, after: int = 0) -> AsyncGenerator[SampleResult]:
        """Yield the results after the first `after`, in input order, until the batch has ended."""
        path = f"/v1/batches/{batch}/results"
        while True:
            before = await self.status(batch)
            wanted = {"after": after, "limit": _PAGE_RESULTS}
            answer = await self._send("GET", path, params=wanted)
            results = _checked(answer.content.splitlines(keepends=True))
            for result in results:
                yield result
            after += len(results)
            if not results:
                if before.state not in OPEN:
                    return
                await asyncio.sleep(self._every)


def _sync(
    method: Callable[Concatenate[AsyncJudgeClient, _Arguments], Coroutine[Any, Any, _Result]],
) -> Callable[Concatenate["JudgeClient", _Arguments], _Result]:
    """Return a method of `AsyncJudgeClient` as one of `JudgeClient`."""

    @wraps(method)
    def run(self: "JudgeClient", /, *args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Result:
        return self._run(method(self._client, *args, **kwargs))

    return run


class JudgeClient(AbstractContextManager["JudgeClient"]):
    """Runs an `AsyncJudgeClient` on another thread; a context manager for synchronous programs.

    It takes the same arguments and has the same methods, except that `evaluate` returns a list.
    """

    def __init__(self, url: str, **choices: Any) -> None:  # noqa: ANN401
        self._client = AsyncJudgeClient(url, **choices)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections; a second time does nothing."""
        if self._loop.is_closed():
            return
        self._run(self._client.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _run(self, work: Coroutine[Any, Any, _Result]) -> _Result:
        if self._loop.is_closed():
            work.close()
            raise UsageError("the client is closed; make another one, or ask inside its `with`")
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    evaluate_one = _sync(AsyncJudgeClient.evaluate_one)
    submit = _sync(AsyncJudgeClient.submit)
    status = _sync(AsyncJudgeClient.status)
    wait = _sync(AsyncJudgeClient.wait)

    def evaluate(self, samples: object, *, at_once: int = 16) -> list[SampleResult]:
        """Return the results of what `judge.evaluate` takes, in order."""
        return list(self._iterate(self._client.evaluate(samples, at_once=at_once)))

    def results(self, batch: str, after: int = 0) -> Iterator[SampleResult]:
        """Yield the results after the first `after`, in input order, until the batch has ended."""
        return self._iterate(self._client.results(batch, after))

    def _iterate(self, results: AsyncGenerator[_Result]) -> Iterator[_Result]:
        async def following() -> list[_Result]:
            async for result in results:
                return [result]
            return []

        while found := self._run(following()):
            yield from found


def _error_of(answer: httpx.Response) -> JudgeError:
    """Return the error that the package raises in the same case."""
    try:
        return ProblemDetails.model_validate_json(answer.content).error()
    except ValidationError:
        return JudgeUnavailable(
            f"{answer.request.url.host} answered {answer.status_code}, and not as judge serve "
            "does; see its address, and the proxy between"
        )


def _checked(lines: Iterable[bytes]) -> list[SampleResult]:
    found = list[SampleResult]()
    for result in results_in(lines):
        if isinstance(result, str):
            raise RunError(f"the results of the service: {result}; ask for them again")
        found.append(result)
    return found


async def _pieces(path: Path) -> AsyncGenerator[bytes]:
    with await asyncio.to_thread(path.open, "rb") as file:
        while piece := await asyncio.to_thread(file.read, _PIECE_BYTES):
            yield piece
