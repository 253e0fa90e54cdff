"""The client of `judge serve`: it sends answers and batches, and returns the package's records."""

import asyncio
import json
import math
import os
import secrets
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator
from contextlib import AbstractAsyncContextManager, AbstractContextManager, aclosing
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, Final, ParamSpec, TypeVar

import httpx
from pydantic import ValidationError
from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_result,
    stop_before_delay,
    wait_exponential,
)

from judge.config import CLIENT_TOKEN, bearer, checked_url
from judge.errors import InputError, JudgeError, JudgeUnavailable, UsageError
from judge.inputs.runs import parse
from judge.inputs.samples import each
from judge.pool import in_order
from judge.records import Sample, SampleResult
from judge.service.wire import OPEN, BatchStatus, Problem, ProblemDetails

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")

_BUSY_STATUSES: Final = frozenset({429, 502, 503})
_PAGE_RESULTS: Final = 500
_CONNECT_PATIENCE_SECONDS: Final = 10.0
"""A service that accepts no connection for this long counts as absent."""
_READ_SECONDS: Final = 660.0
_ABSENT: Final = "absent"
"""The extension of a response that stands for a connection that was not accepted."""
_PIECE_BYTES: Final = 1 << 20
_backoff: Final = wait_exponential(multiplier=0.2, max=10.0)


class AsyncJudgeClient(AbstractAsyncContextManager["AsyncJudgeClient"]):
    """Scores answers and batches by a service; an asynchronous context manager.

    Args:
        url: the address of the service, such as http://127.0.0.1:8080.
        token: a bearer token; by default JUDGE_SERVICE_TOKEN of the environment.
        patience: seconds for which a request to a busy service is repeated, at most ten where it
            accepts no connection.
        every: seconds between two requests for the status of a batch.
    """

    def __init__(
        self, url: str, *, token: str | None = None, patience: float = 120.0, every: float = 1.0
    ) -> None:
        source = CLIENT_TOKEN if token is None else "token"
        token = os.environ.get(CLIENT_TOKEN, "").strip() if token is None else token
        self._patience = patience
        self._every = every
        self._http = httpx.AsyncClient(
            base_url=checked_url(url),
            headers=bearer(token, source),
            timeout=httpx.Timeout(_READ_SECONDS, connect=_CONNECT_PATIENCE_SECONDS),
            # A proxy of the environment must not see the texts.
            trust_env=False,
        )

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def _send(self, method: str, path: str, **request: Any) -> httpx.Response:  # noqa: ANN401
        """Return the response. A busy service or a broken connection is tried again."""

        async def attempt() -> httpx.Response:
            file = request.get("content")
            sent = request | {"content": _pieces(file)} if isinstance(file, Path) else request
            try:
                return await self._http.request(method, path, **sent)
            except httpx.TransportError as error:
                return _unreachable(error)

        answer: httpx.Response = await AsyncRetrying(
            retry=retry_if_result(lambda answer: answer.status_code in _BUSY_STATUSES),
            wait=_wait,
            stop=self._is_over,
            retry_error_callback=_response,
        )(attempt)
        if not answer.is_success:
            raise _error_of(answer)
        return answer

    def _is_over(self, state: RetryCallState) -> bool:
        is_absent = _response(state).extensions.get(_ABSENT, False)
        most = _CONNECT_PATIENCE_SECONDS if is_absent else math.inf
        return stop_before_delay(min(self._patience, most))(state)

    async def evaluate_one(self, sample: Sample) -> SampleResult:
        """Return the result of one answer; cancelling it cancels the calls to the model."""
        fields = sample.model_dump(mode="json", exclude_none=True, exclude={"metadata"})
        body = json.dumps(sample.metadata | fields, ensure_ascii=False).encode()
        headers = {"Content-Type": "application/json"}
        answer = await self._send("POST", "/v1/evaluations", content=body, headers=headers)
        return _result(answer.content)

    async def evaluate(self, samples: object, *, at_once: int = 16) -> AsyncGenerator[SampleResult]:
        """Yield the results of what `judge.evaluate` takes, in order; `at_once` are in flight."""
        results = in_order(each(samples), self.evaluate_one, ahead=max(1, at_once), piles_up=False)
        async with aclosing(results):
            async for result in results:
                yield result

    async def submit(
        self, /, source: str | Path, *, batch: str | None = None, **options: object
    ) -> BatchStatus:
        """Send a file of samples as a batch, by default under a new id.

        The options are `name`, and the fields of `judge.service.wire.Options`.
        """
        # An id of our own makes a second attempt the same batch.
        path = f"/v1/batches/{batch or f'c{secrets.token_hex(12)}'}"
        params = {name: value for name, value in options.items() if value is not None}
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

    async def wait(self, batch: str) -> BatchStatus:
        """Wait until a batch has ended, and return its status.

        If it has failed, raise the error that `judge score` raises.
        """
        while True:
            status = await self.status(batch)
            if status.state not in OPEN:
                break
            await asyncio.sleep(self._every)
        if status.problem is not None:
            raise status.problem.error()
        return status

    async def results(self, batch: str) -> AsyncGenerator[SampleResult]:
        """Yield the results that a batch has, in input order."""
        after = 0
        while True:
            params = {"after": after, "limit": _PAGE_RESULTS}
            answer = await self._send("GET", f"/v1/batches/{batch}/results", params=params)
            lines = answer.content.splitlines()
            if not lines:
                return
            for line in lines:
                yield _result(line)
            after += len(lines)


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
        return list(self._each(self._client.evaluate(samples, at_once=at_once)))

    def results(self, batch: str) -> Iterator[SampleResult]:
        """Yield the results that a batch has, in input order."""
        return self._each(self._client.results(batch))

    def _each(self, results: AsyncGenerator[SampleResult]) -> Iterator[SampleResult]:
        async def following() -> SampleResult | None:
            return await anext(results, None)

        while (result := self._run(following())) is not None:
            yield result


def _unreachable(error: httpx.TransportError) -> httpx.Response:
    """Return an error of the connection as a response."""
    detail = f"the service cannot be reached ({type(error).__name__}); check that judge serve runs "
    problem = Problem("judge-unavailable", detail + "there, and the address").details()
    is_absent = isinstance(error, httpx.ConnectError | httpx.ConnectTimeout)
    body, extensions = problem.model_dump_json(), {_ABSENT: is_absent}
    return httpx.Response(problem.status, content=body, extensions=extensions)


def _response(state: RetryCallState) -> httpx.Response:
    """Return the response to the last attempt."""
    if state.outcome is None:
        raise RuntimeError("there was no attempt")
    response: httpx.Response = state.outcome.result()
    return response


def _wait(state: RetryCallState) -> float:
    """Return the seconds until the next attempt: at least those that the service asks for."""
    asked = _response(state).headers.get("Retry-After", "")
    return max(_backoff(state), float(asked) if asked.isdecimal() else 0.0)


def _error_of(answer: httpx.Response) -> JudgeError:
    """Return the error that the package raises in the same case."""
    try:
        return ProblemDetails.model_validate_json(answer.content).error()
    except ValidationError:
        return JudgeUnavailable(
            f"{answer.request.url.host} answered {answer.status_code}, and not as judge serve "
            "does; see its address, and the proxy between"
        )


def _result(line: bytes) -> SampleResult:
    return parse(line, SampleResult, "the results of the service", "ask for them again")


async def _pieces(path: Path) -> AsyncGenerator[bytes]:
    with await asyncio.to_thread(path.open, "rb") as file:
        while piece := await asyncio.to_thread(file.read, _PIECE_BYTES):
            yield piece
