"""The service's other end: answers, batches and reviews over HTTP, with the records of the package.

What is asked is written once, as steps that either client takes, with or without an event loop.
"""

import asyncio
import json
import os
import secrets
import time
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Callable,
    Generator,
    Iterable,
    Iterator,
    Mapping,
)
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any, Final, NamedTuple, Self, TypeVar

import httpx
from pydantic import ValidationError

from judge.config import checked_url
from judge.errors import (
    ConfigError,
    InputError,
    JudgeError,
    JudgeUnavailable,
    JudgeUnhealthy,
    RunError,
)
from judge.files.runs import results_in
from judge.files.tables import replacing
from judge.records import Sample, SampleResult
from judge.service.wire import OPEN, TYPE, BatchStatus, Findings, Options, ProblemDetails
from judge.settings import CLIENT_TOKEN

_Result = TypeVar("_Result")
_Steps = Generator["_Ask | float", httpx.Response | httpx.TransportError | None, _Result]

_ERRORS: Final[dict[str, type[JudgeError]]] = {
    "wrong-field": InputError,
    "bad-request": InputError,
    "too-large": InputError,
    "not-found": RunError,
    "conflict": RunError,
    "judge-unavailable": JudgeUnavailable,
    "judge-unhealthy": JudgeUnhealthy,
    "queue-full": JudgeUnavailable,
    "draining": JudgeUnavailable,
    "too-late": JudgeUnavailable,
    "too-slow": JudgeUnavailable,
    "bug": JudgeError,
}
"""By the name of a problem; of others it is the caller's settings that are wrong."""
_BUSY: Final = frozenset({429, 502, 503})
_PAGE: Final = 500
"""Results asked for at a time."""
_FIRST: Final = 0.2
_LONGEST: Final = 10.0
"""Seconds between two attempts, doubled from the first."""
_PIECE: Final = 1 << 20
_XLSX: Final = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


class _Ask(NamedTuple):
    """A request."""

    method: str
    path: str
    params: dict[str, Any] = {}  # noqa: RUF012  never changed
    body: bytes | Path = b""
    headers: dict[str, str] = {}  # noqa: RUF012  likewise


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
        return raised(ProblemDetails.model_validate_json(answer.content))
    except ValidationError:
        return JudgeUnavailable(
            f"{answer.request.url.host} answered {answer.status_code}, and not as judge serve "
            "does; see its address, and the proxy between"
        )


def raised(problem: ProblemDetails) -> JudgeError:
    """The error that a problem tells of."""
    kind = _ERRORS.get(problem.type.removeprefix(TYPE), ConfigError)
    if kind is InputError:
        path = "" if problem.line is None else "what was sent"
        return InputError(problem.detail, path=path, line=problem.line, field=problem.field or "")
    return kind(problem.detail)


def _fields(sample: Sample) -> dict[str, Any]:
    """A sample as a line of input holds it."""
    return sample.metadata | sample.model_dump(mode="json", exclude_none=True, exclude={"metadata"})


def _evaluated(sample: Sample, seconds: float | None, patience: float) -> _Steps[SampleResult]:
    body = json.dumps(_fields(sample), ensure_ascii=False).encode()
    headers = {"Content-Type": "application/json"}
    headers |= {} if seconds is None else {"Prefer": f"wait={seconds:.0f}"}
    answer = yield from _exchange(_Ask("POST", "/v1/evaluations", {}, body, headers), patience)
    return next(_sound([answer.content]))


def _sound(lines: Iterable[bytes]) -> Iterator[SampleResult]:
    for found in results_in(lines):
        if isinstance(found, str):
            raise RunError(f"the results of the service: {found}; ask for them again")
        yield found


def _status(name: str, patience: float) -> _Steps[BatchStatus]:
    answer = yield from _exchange(_Ask("GET", f"/v1/batches/{name}"), patience)
    return BatchStatus.model_validate_json(answer.content)


def _submitted(
    source: Path, name: str | None, label: str, given: Mapping[str, Any], patience: float
) -> _Steps[BatchStatus]:
    try:
        options = Options.model_validate(given)
    except ValidationError as error:
        wrong = error.errors()[0]
        place = ".".join(map(str, wrong["loc"]))
        message = f"option {place}: {wrong['msg']}; see judge.service.wire.Options"
        raise ConfigError(message) from None
    # An id of our own makes a second attempt the same batch.
    path = f"/v1/batches/{name or f'c{secrets.token_hex(12)}'}"
    asked = options.model_dump(mode="json", exclude_defaults=True, exclude_none=True)
    params = asked | ({"name": label} if label else {})
    answer = yield from _exchange(_Ask("PUT", path, params, _readable(source)), patience)
    return BatchStatus.model_validate_json(answer.content)


def _waited(
    name: str, progress: Callable[[BatchStatus], None] | None, every: float, patience: float
) -> _Steps[BatchStatus]:
    while True:
        status = yield from _status(name, patience)
        if progress is not None:
            progress(status)
        if status.state not in OPEN:
            if status.problem is not None:
                raise raised(status.problem)
            return status
        yield every


def _page(name: str, after: int, every: float, patience: float) -> _Steps[list[SampleResult]]:
    """The next results; none where the batch has ended, and there are no more."""
    ask = _Ask("GET", f"/v1/batches/{name}/results", {"after": after, "limit": _PAGE})
    while True:
        before = yield from _status(name, patience)
        answer = yield from _exchange(ask, patience)
        if answer.content or before.state not in OPEN:
            return list(_sound(answer.content.splitlines(keepends=True)))
        yield every


def _drawn(
    name: str, sheet: Path, choices: dict[str, Any], *, force: bool, patience: float
) -> _Steps[None]:
    if sheet.exists() and not force:
        raise RunError(f"{sheet}: stands there already; name another, or say force")
    headers = {"Accept": _media(sheet)}
    ask = _Ask("POST", f"/v1/batches/{name}/draws", choices, b"", headers)
    answer = yield from _exchange(ask, patience)
    with replacing(sheet) as part:
        part.write_bytes(answer.content)


def _imported(name: str, sheet: Path, *, replace: bool, patience: float) -> _Steps[Findings]:
    headers = {"Content-Type": _media(sheet)}
    ask = _Ask(
        "POST", f"/v1/batches/{name}/labels", {"replace": replace}, _readable(sheet), headers
    )
    answer = yield from _exchange(ask, patience)
    return Findings.model_validate_json(answer.content)


def _readable(path: Path) -> Path:
    try:
        path.open("rb").close()
    except OSError as error:
        raise InputError(f"{error.strerror}; check the path", path=str(path)) from None
    return path


def _media(sheet: Path) -> str:
    return _XLSX if sheet.suffix.lower() == ".xlsx" else "text/csv"


class _Client:
    """What both clients have: the address, the token, and how patient they are.

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
        self._settings: dict[str, Any] = {
            "base_url": checked_url(url),
            "headers": {"Authorization": f"Bearer {given}"} if given else {},
            "timeout": httpx.Timeout(timeout, connect=10.0),
            # What a proxy of the environment would see is nobody's business.
            "trust_env": False,
        }


class JudgeClient(_Client):
    """A service, as `judge.evaluate` and `judge.review` are the package; a context manager."""

    def __init__(self, url: str, **choices: Any) -> None:  # noqa: ANN401  those of `_Client`
        super().__init__(url, **choices)
        self._http = httpx.Client(**self._settings)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def _taken(self, steps: _Steps[_Result]) -> _Result:
        answer: httpx.Response | httpx.TransportError | None = None
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

    def _sent(self, ask: _Ask) -> httpx.Response | httpx.TransportError:
        method, path, params, body, headers = ask
        try:
            if isinstance(body, bytes):
                return self._http.request(
                    method, path, params=params, content=body, headers=headers
                )
            with body.open("rb") as file:
                return self._http.request(
                    method, path, params=params, content=file, headers=headers
                )
        except httpx.TransportError as error:
            return error

    def check(self) -> None:
        """Raise JudgeUnavailable where no service is reached."""
        self._taken(_exchange(_Ask("GET", "/healthz"), self._patience))

    def evaluate_one(self, sample: Sample, *, seconds: float | None = None) -> SampleResult:
        """The result of one answer, within so many seconds; errors as of `judge.evaluate`."""
        return self._taken(_evaluated(sample, seconds, self._patience))

    def evaluate(self, samples: Iterable[Sample], *, at_once: int = 16) -> list[SampleResult]:
        """Score `samples`, so many at once, and wait for all results."""
        with ThreadPoolExecutor(at_once) as pool:
            return list(pool.map(self.evaluate_one, samples))

    def submit(
        self,
        source: str | Path,
        *,
        batch: str | None = None,
        name: str = "",
        **options: Any,  # noqa: ANN401
    ) -> BatchStatus:
        """Send a file of samples as a batch; options are those of `judge.service.wire.Options`."""
        return self._taken(_submitted(Path(source), batch, name, options, self._patience))

    def status(self, batch: str) -> BatchStatus:
        """How a batch stands."""
        return self._taken(_status(batch, self._patience))

    def wait(
        self,
        batch: str,
        progress: Callable[[BatchStatus], None] | None = None,
    ) -> BatchStatus:
        """Wait until a batch has ended; `progress` is called with each look at it.

        Raises:
            JudgeError: it has failed; as `judge score` would have.
        """
        return self._taken(_waited(batch, progress, self._every, self._patience))

    def results(self, batch: str, after: int = 0) -> Iterator[SampleResult]:
        """The results behind so many, in input order, until the batch has ended."""
        while page := self._taken(_page(batch, after, self._every, self._patience)):
            yield from page
            after += len(page)

    def draw(
        self,
        batch: str,
        sheet: str | Path = "review.csv",
        *,
        force: bool = False,
        **choices: Any,  # noqa: ANN401
    ) -> None:
        """Draw verdicts into a sheet, CSV or XLSX; choices as of `judge.review.draw`."""
        self._taken(_drawn(batch, Path(sheet), choices, force=force, patience=self._patience))

    def import_labels(self, batch: str, sheet: str | Path, *, replace: bool = False) -> Findings:
        """Read a filled-in sheet: what the labels say of the judge."""
        return self._taken(_imported(batch, Path(sheet), replace=replace, patience=self._patience))


class AsyncJudgeClient(_Client):
    """The same for an event loop, as `judge.Evaluator` is; an asynchronous context manager."""

    def __init__(self, url: str, **choices: Any) -> None:  # noqa: ANN401  those of `_Client`
        super().__init__(url, **choices)
        self._http = httpx.AsyncClient(**self._settings)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def _taken(self, steps: _Steps[_Result]) -> _Result:
        answer: httpx.Response | httpx.TransportError | None = None
        try:
            while True:
                step = steps.send(answer)
                answer = None
                if isinstance(step, _Ask):
                    answer = await self._sent(step)
                else:
                    await asyncio.sleep(step)
        except StopIteration as end:
            found: _Result = end.value
            return found

    async def _sent(self, ask: _Ask) -> httpx.Response | httpx.TransportError:
        method, path, params, body, headers = ask
        content = body if isinstance(body, bytes) else _pieces(body)
        try:
            return await self._http.request(
                method, path, params=params, content=content, headers=headers
            )
        except httpx.TransportError as error:
            return error

    async def evaluate_one(self, sample: Sample, *, seconds: float | None = None) -> SampleResult:
        """As of `JudgeClient`; cancelling it cancels the calls to the model."""
        return await self._taken(_evaluated(sample, seconds, self._patience))

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

    async def submit(
        self,
        source: str | Path,
        *,
        batch: str | None = None,
        name: str = "",
        **options: Any,  # noqa: ANN401
    ) -> BatchStatus:
        """As of `JudgeClient`."""
        return await self._taken(_submitted(Path(source), batch, name, options, self._patience))

    async def status(self, batch: str) -> BatchStatus:
        """As of `JudgeClient`."""
        return await self._taken(_status(batch, self._patience))

    async def wait(
        self,
        batch: str,
        progress: Callable[[BatchStatus], None] | None = None,
    ) -> BatchStatus:
        """As of `JudgeClient`."""
        return await self._taken(_waited(batch, progress, self._every, self._patience))

    async def results(self, batch: str, after: int = 0) -> AsyncGenerator[SampleResult]:
        """As of `JudgeClient`."""
        while page := await self._taken(_page(batch, after, self._every, self._patience)):
            for result in page:
                yield result
            after += len(page)

    async def draw(
        self,
        batch: str,
        sheet: str | Path = "review.csv",
        *,
        force: bool = False,
        **choices: Any,  # noqa: ANN401
    ) -> None:
        """As of `JudgeClient`."""
        await self._taken(_drawn(batch, Path(sheet), choices, force=force, patience=self._patience))

    async def import_labels(
        self, batch: str, sheet: str | Path, *, replace: bool = False
    ) -> Findings:
        """As of `JudgeClient`."""
        steps = _imported(batch, Path(sheet), replace=replace, patience=self._patience)
        return await self._taken(steps)


async def _pieces(path: Path) -> AsyncIterator[bytes]:
    with await asyncio.to_thread(path.open, "rb") as file:
        while piece := await asyncio.to_thread(file.read, _PIECE):
            yield piece
