"""The application: live answers, the operator's routes, errors, and all other routes."""

import asyncio
import math
import re
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeVar
from urllib.parse import urlsplit

from fastapi import APIRouter, Body, Depends, FastAPI, Header, Request, Security
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.docs import get_swagger_ui_html
from pydantic import JsonValue, RootModel, model_validator
from starlette.exceptions import HTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import ClientDisconnect
from starlette.responses import FileResponse, JSONResponse, Response

from judge.compose import address
from judge.config import Config
from judge.errors import InputError, JudgeError, JudgeUnavailable, WorkerLost
from judge.evaluator import Evaluator
from judge.inputs.fields import SCORE_NEEDS, sample_from
from judge.inputs.rows import json_object
from judge.inputs.runs import line_of
from judge.records import Sample, SampleResult
from judge.service import collection, label
from judge.service.access import OwnOrigin, Tokens, authorize
from judge.service.batches import Batches
from judge.service.monitoring import LOG, MEDIA, Metrics
from judge.service.problems import (
    Problem,
    for_log,
    problem_of,
    problem_of_http,
    responses,
    without_texts,
)
from judge.service.requests import CLIENT_GONE, Limits, Requests
from judge.service.wire import SAMPLE
from judge.text.visible import clip

_Result = TypeVar("_Result")
_WAIT: Final = re.compile(r"(?:^|[,;\s])wait\s*=\s*\"?([0-9]{1,6})\"?", re.IGNORECASE)
_GRACE_SECONDS: Final = 5.0
"""Time to make a result once the judge is asked no more."""
_PROBE_SECONDS: Final = 2.0
_PROBE_VALID_SECONDS: Final = 5.0
_MAX_RETRY_SECONDS: Final = 300
_LATENCY_WEIGHT: Final = 0.1
_MAX_SHOWN: Final = 80
_DOCS_POLICY: Final = (
    "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'"
)


def batch_config(config: Config, running: int) -> Config:
    """Return the settings of one batch.

    All batches together have as many requests in flight as live answers have, and half of the
    requests and tokens a minute.
    """
    return _shared(config, config.concurrency // running, 2 * running)


def _shared(config: Config, concurrency: int, parts: int) -> Config:
    rates = {name: getattr(config, name) for name in ("rpm", "tpm")}
    share: dict[str, object] = {
        name: max(1, rate // parts) for name, rate in rates.items() if rate is not None
    }
    share["concurrency"] = max(1, concurrency)
    given = {name: getattr(config, name) for name in config.model_fields_set}
    return Config.model_validate(given | share)


class Service:
    """What the routes share: one open evaluator for live answers, and the batches.

    Args:
        config: the settings.
        data: the folder of the batches.
        limits: what is accepted.
    """

    def __init__(self, config: Config, data: Path, limits: Limits) -> None:
        self.config = config
        self.limits = limits
        self.metrics = Metrics()
        self.batches = Batches(
            data, batch_config(config, limits.running), limits.running, self.metrics
        )
        # A live client gets the failure at once; a patient evaluator would wait for the server.
        live = _shared(config, config.concurrency, 2).model_copy(update={"patience": 0.0})
        self.evaluator = Evaluator(live)
        self.lost: WorkerLost | None = None
        """Set when a process of the evaluator has died: the service must be restarted."""
        self.stop: Callable[[], None] = lambda: None
        """Stops the server."""
        self._live = 0
        self._latency = 1.0
        self._probe = (-math.inf, "")
        self.metrics.gauge("judge_live", "Live requests.", lambda: self._live)
        self.metrics.gauge("judge_in_flight", "Live answers in flight.", lambda: self._in_flight)
        self.metrics.gauge(
            "judge_queue", "Live requests that wait.", lambda: self._live - self._in_flight
        )

    @property
    def _in_flight(self) -> int:
        return min(self._live, self.config.concurrency)

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[None]:
        """Hold the evaluator and the batches open.

        Raises:
            ConfigError: a setting is wrong.
            JudgeUnavailable: the judge cannot be reached.
            RunError: another service holds the folder.
        """
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self.evaluator)
            await stack.enter_async_context(self.batches)
            yield

    async def score(self, sample: Sample, seconds: float) -> SampleResult:
        """Return the result of one answer within `seconds`, the wait in the queue included.

        Raises:
            Problem: the queue is full, or there is no result in time.
            JudgeUnavailable: the judge cannot be reached.
        """
        if self._live - self.config.concurrency >= self.limits.queue:
            retry = min(_MAX_RETRY_SECONDS, max(1, math.ceil(self._latency)))
            raise Problem(
                "queue-full",
                f"{self.limits.queue} answers are waiting; send it again after Retry-After seconds",
                headers={"Retry-After": str(retry)},
            )
        # A slow server makes claims unscored by itself; for other judges this time-out is the end.
        grace = _GRACE_SECONDS if self.config.asks_server else 0.0
        self._live += 1
        began = time.monotonic()
        try:
            async with asyncio.timeout(seconds + grace):
                result = await self.evaluator.evaluate_one(sample, seconds=seconds)
        except WorkerLost as error:
            self.lost = error
            self.stop()
            raise
        except TimeoutError:
            detail = f"there was no result within {seconds:g} seconds; allow more time"
            raise Problem("too-late", detail) from None
        finally:
            self._live -= 1
        self._latency += _LATENCY_WEIGHT * (time.monotonic() - began - self._latency)
        self.metrics.judged(result)
        return result

    def forget_probe(self) -> None:
        """Have the next `trouble` look again whether the judge's server can be reached."""
        self._probe = (-math.inf, "")

    async def trouble(self) -> str:
        """Return why the service should get no requests; empty if it should."""
        try:
            self.batches.new_folder().rmdir()
        except OSError:
            return "the data folder cannot be written"
        if not self.config.asks_server:
            return ""
        when, why = self._probe
        if time.monotonic() - when > _PROBE_VALID_SECONDS:
            why = await _probe(address(self.config))
            self._probe = time.monotonic(), why
        return why


async def _probe(url: str) -> str:
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        async with asyncio.timeout(_PROBE_SECONDS):
            _, writer = await asyncio.open_connection(parts.hostname, port)
    except (OSError, TimeoutError):
        return "the judge's server cannot be reached"
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
    return ""


async def unless_gone(request: Request, work: Coroutine[Any, Any, _Result]) -> _Result:
    """Return the result of `work`; cancel it if the client hangs up."""

    async def gone() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    tasks = asyncio.ensure_future(work), asyncio.ensure_future(gone())
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        if tasks[0].done():
            return tasks[0].result()
        raise ClientDisconnect
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _sample(body: Any) -> Sample:  # noqa: ANN401  JSON, or bytes where the client did not say so
    try:
        row: dict[str, JsonValue] = (
            json_object(body.decode("utf-8-sig")) if isinstance(body, bytes) else body
        )
        if not isinstance(row, dict):
            raise Problem("bad-request", "the body is no object; send one JSON object")
    except UnicodeDecodeError as error:
        raise Problem("bad-request", f"the body is not UTF-8 (at byte {error.start})") from None
    except InputError as error:
        detail = without_texts(error).replace("mend the line", "mend the body")
        raise Problem("bad-request", detail) from None
    return sample_from(row, line=1, needs=SCORE_NEEDS)


class SampleBody(RootModel[Sample]):
    """One answer with its question and its chunks."""

    @model_validator(mode="before")
    @classmethod
    def _read(cls, body: object) -> Sample:
        return _sample(body)


api: Final = APIRouter(prefix="/v1", responses=responses(400, 401, 403))


@api.post(
    "/evaluations", response_model=SampleResult, responses=responses(408, 413, 422, 429, 503, 504)
)
async def evaluate(
    request: Request,
    sample: Annotated[SampleBody, Body(examples=[SAMPLE])],
    prefer: Annotated[
        str, Header(description="`wait=SECONDS` allows less time than --deadline.")
    ] = "",
) -> Response:
    """Judge one answer. The response equals the line of `results.jsonl` for it.

    What a language model has not judged in time is `unscored` for a `timeout`. Hanging up cancels
    the calls to the model. Other names for the fields of a sample are read as by `judge score`.
    """
    service: Service = request.app.state.service
    wait, seconds = _WAIT.search(prefer), service.config.deadline
    if wait:
        seconds = min(float(wait[1]), seconds)
    result = await unless_gone(request, service.score(sample.root, seconds))
    headers = {"Preference-Applied": f"wait={wait[1]}"} if wait else None
    return Response(line_of(result), headers=headers, media_type="application/json")


operations: Final = APIRouter()


@operations.get("/healthz")
async def health() -> dict[str, str]:
    """Report that the process is up."""
    return {"status": "ok"}


@operations.get(
    "/readyz",
    response_model=dict[str, str],
    responses={503: {"model": dict[str, str], "description": "Not ready; `status` says why"}},
)
async def ready(request: Request) -> Response:
    """Report whether the judge can be reached and the data folder written."""
    trouble = await request.app.state.service.trouble()
    return JSONResponse({"status": trouble or "ok"}, 503 if trouble else 200)


@operations.get(
    "/metrics",
    response_class=Response,
    responses=responses(401, 403) | {200: {"content": {"text/plain": {}}}},
    dependencies=[Security(authorize)],
)
async def metrics(request: Request) -> Response:
    """Return the metrics for Prometheus."""
    return Response(request.app.state.service.metrics.page(), media_type=MEDIA)


@operations.get("/docs", include_in_schema=False)
async def docs(request: Request) -> Response:
    """Return a page to call each request by hand."""
    response = get_swagger_ui_html(
        openapi_url="/openapi.json",
        title=request.app.title,
        swagger_js_url="/docs/swagger-ui-bundle.js",
        swagger_css_url="/docs/swagger-ui.css",
        swagger_favicon_url="/docs/favicon-32x32.png",
    )
    response.headers["content-security-policy"] = _DOCS_POLICY
    return response


@operations.get("/docs/{name}", include_in_schema=False)
async def docs_file(
    name: Literal["swagger-ui-bundle.js", "swagger-ui.css", "favicon-32x32.png"],
) -> Response:
    """Return a file of Swagger UI."""
    return FileResponse(Path(str(files("fastapi_swagger"))) / "resources" / name)


async def _on_error(request: Request, error: Exception) -> Response:
    """Return every error as a problem."""
    name: str = request.scope.get("judge.request", "")
    if isinstance(error, HTTPException) and isinstance(error.__cause__, JudgeError):
        error = error.__cause__  # raised while FastAPI read the body
    match error:
        case ClientDisconnect():
            return Response(status_code=CLIENT_GONE)
        case RequestValidationError():
            problem = _invalid(error)
        case HTTPException():
            problem = problem_of_http(error)
        case JudgeError():
            if isinstance(error, JudgeUnavailable | WorkerLost):
                LOG.error(
                    "judge unavailable: %s", for_log(error), extra={"entry": {"request": name}}
                )
            problem = problem_of(error, **_places(request))
        case _:
            problem = Problem("bug", "report it with the lines of the log for this request")
    return problem.response(name)


def _invalid(error: RequestValidationError) -> Problem:
    first = error.errors()[0]
    place, value = ".".join(map(str, first["loc"][1:])), first.get("input")
    if first["type"] == "json_invalid":
        return Problem("bad-request", f"bad JSON: {first['ctx']['error']} at column {place}")
    is_text_of_sample = first["loc"][0] == "body" and not isinstance(value, int | float)
    shown = isinstance(value, str | int | float) and not is_text_of_sample
    given = f" = {clip(repr(value), _MAX_SHOWN)}" if shown else ""
    return Problem("wrong-field", f"{place}{given}: {first['msg']}", field=place)


def _places(request: Request) -> dict[str, Path]:
    """Return the folders of this machine that a problem must not name, by what it calls them."""
    service: Service | None = getattr(request.app.state, "service", None)
    if service is None:
        return {}
    data, batch = service.batches.data, request.path_params.get("id")
    return ({batch: data / batch} if batch else {}) | {"data": data}


def application(service: Service, tokens: Tokens, hosts: list[str]) -> FastAPI:
    """Return the application of `judge serve`; its lifespan opens the service."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with service.opened():
            yield

    app = _empty(tokens, hosts, service.limits, service.metrics, lifespan)
    app.state.service = service
    secured = [Security(authorize)]
    for router in (api, collection.router, collection.pages):
        app.include_router(router, dependencies=secured)
    app.include_router(
        label.router,
        prefix="/v1/batches/{id}",
        dependencies=[*secured, Depends(collection.labelled_run)],
    )
    app.include_router(operations)
    return app


def label_application(run: Path, hosts: list[str]) -> FastAPI:
    """Return the application of `judge label`, for this machine alone."""

    async def of_run(request: Request) -> None:
        request.state.run, request.state.name = run, str(run)

    app = _empty(Tokens(), hosts, Limits(), Metrics())
    app.include_router(label.router, dependencies=[Depends(of_run)])
    return app


def _empty(
    tokens: Tokens,
    hosts: list[str],
    limits: Limits,
    metrics: Metrics,
    lifespan: Callable[[FastAPI], Any] | None = None,
) -> FastAPI:
    app = FastAPI(
        title="judge",
        description="Which sentences of RAG answers their chunks support.",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        generate_unique_id_function=lambda route: route.name,
        # Nothing of what is judged goes anywhere else.
        telemetry={"tracing": False, "metrics": False, "logs": False, "auto_configure": False},
        exception_handlers=dict.fromkeys(
            (JudgeError, RequestValidationError, HTTPException, ClientDisconnect, Exception),
            _on_error,
        ),
    )
    app.state.tokens = tokens
    app.add_middleware(OwnOrigin)
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=hosts, www_redirect=False)
    app.add_middleware(Requests, limits=limits, metrics=metrics)
    return app
