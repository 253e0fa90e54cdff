"""The application: live answers, the operator's routes, errors, and all other routes."""

import asyncio
import json
import shutil
import socket
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import fastapi_swagger  # type: ignore[import-untyped]
from fastapi import APIRouter, Depends, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import ClientDisconnect
from starlette.responses import PlainTextResponse
from starlette.staticfiles import StaticFiles

from judge.compose import address
from judge.config import SERVICE_TOKENS, Config
from judge.errors import ConfigError, JudgeError, JudgeUnavailable, WorkerLost
from judge.evaluator import Evaluator
from judge.inputs.fields import SCORE_NEEDS, sample_from
from judge.inputs.runs import line_of
from judge.records import Sample, SampleResult
from judge.service.batches import Batches
from judge.service.monitoring import LOG, Metrics
from judge.service.requests import (
    CLIENT_GONE,
    LIVE_TASK,
    Limits,
    Requests,
    Tokens,
    host_names,
    is_loopback,
    response_of,
)
from judge.service.routes import label_router, labelled_run, router
from judge.service.wire import (
    PROBLEM,
    SAMPLE,
    Problem,
    ProblemDetails,
    for_log,
    problem_of,
    with_settings,
)
from judge.text.visible import clip

_GRACE_SECONDS: Final = 5.0
"""Time to make a result once the judge is asked no more."""
_PROBE_SECONDS: Final = 2.0
_PROBE_BYTES: Final = 1_000_000
_MAX_SHOWN: Final = 80
_NOT_FOUND: Final = 404
_DETAILS: Final = {"schema": ProblemDetails.model_json_schema()}
_SAMPLE_BODY: Final = {
    "required": True,
    "content": {
        "application/json": {"schema": {"$ref": "#/components/schemas/Sample"}, "example": SAMPLE}
    },
}
_OPEN_TO_ALL: Final[dict[str, Any]] = {"security": []}


def _shared(config: Config, concurrency: int, parts: int) -> Config:
    """Return settings with `concurrency`, and a part of the requests and tokens a minute."""
    rates = {name: getattr(config, name) for name in ("rpm", "tpm")}
    return with_settings(
        config,
        concurrency=max(1, concurrency),
        patience=config.patience,  # as if given: a batch waits for a server that restarts
        **{name: max(1, rate // parts) for name, rate in rates.items() if rate is not None},
    )


class Service:
    """The state of the service: an evaluator for live answers, the batches and the metrics.

    Args:
        config: the settings.
        data: the folder of the batches.
        limits: the limits of requests and batches.
    """

    def __init__(self, config: Config, data: Path, limits: Limits) -> None:
        self.config = config
        self.limits = limits
        self.metrics = Metrics()
        # All batches together have as many requests in flight as live answers have, and live
        # answers and batches each have half of the requests and tokens a minute.
        running = limits.running
        of_batch = _shared(config, config.concurrency // running, 2 * running)
        self.batches = Batches(data, of_batch, running, self.metrics)
        # A live client gets the failure at once; a patient evaluator would wait for the server.
        live = _shared(config, config.concurrency, 2).model_copy(update={"patience": 0.0})
        self.evaluator = Evaluator(live)
        self._live = 0
        self.metrics.gauge("judge_in_flight", "Live answers in flight.", lambda: self._in_flight)
        self.metrics.gauge(
            "judge_queue", "Live requests that wait.", lambda: self._live - self._in_flight
        )

    @property
    def _in_flight(self) -> int:
        return min(self._live, self.config.concurrency)

    async def score(self, sample: Sample) -> SampleResult:
        """Return the result of one answer before the deadline, the wait in the queue included.

        Raises:
            Problem: the queue is full, or there is no result in time.
            JudgeUnavailable: the judge cannot be reached.
        """
        if self._live - self.config.concurrency >= self.limits.queue:
            detail = f"{self.limits.queue} answers are waiting; send it again a second later"
            raise Problem("queue-full", detail)
        seconds = self.config.deadline
        # A slow server makes claims unscored by itself; for other judges this time-out is the end.
        grace = _GRACE_SECONDS if self.config.asks_server else 0.0
        self._live += 1
        try:
            async with asyncio.timeout(seconds + grace):
                result = await self.evaluator.evaluate_one(sample, seconds=seconds)
        except TimeoutError:
            detail = f"there was no result within {seconds:g} seconds; raise --deadline"
            raise Problem("too-late", detail) from None
        finally:
            self._live -= 1
        self.metrics.count_answer(result)
        return result

    def trouble(self) -> str:
        """Return why the service should get no requests; empty if it should. Blocks a moment."""
        try:
            folder = self.batches.new_folder()
            try:
                (folder / "probe").write_bytes(bytes(_PROBE_BYTES))
            finally:
                shutil.rmtree(folder, ignore_errors=True)
        except OSError as error:
            return f"the data folder cannot be written ({error.strerror})"
        if self.config.asks_server:
            parts = urlsplit(address(self.config))
            port = parts.port or (443 if parts.scheme == "https" else 80)
            try:
                socket.create_connection((parts.hostname, port), _PROBE_SECONDS).close()
            except OSError:
                return "the judge's server cannot be reached"
        return ""


def _sample_in(body: bytes) -> Sample:
    """Return the sample in the body of a request; `Problem` or `InputError` if there is none."""
    try:
        row = json.loads(body)
    except json.JSONDecodeError as error:
        raise Problem("bad-request", f"bad JSON: {error.msg} at column {error.pos}") from None
    except (ValueError, RecursionError):
        raise Problem("bad-request", "the body is not JSON") from None
    if not isinstance(row, dict):
        raise Problem("bad-request", "the body is no object; send a JSON object")
    return sample_from(row, line=1, needs=SCORE_NEEDS)


class LiveRoute(APIRoute):
    """A route whose function reads the request, and not FastAPI (`# D178`)."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the function of the route."""
        return self.endpoint


async def evaluate(request: Request) -> Response:
    """Judge one answer. The response equals the line of `results.jsonl` for it.

    What a language model has not judged in time is `unscored` for a `timeout`. Hanging up cancels
    the calls to the model. Other names for the fields of a sample are read as by `judge score`.
    """
    service: Service = request.app.state.service
    sample = _sample_in(await request.body())
    request.scope[LIVE_TASK] = asyncio.current_task()
    try:
        result = await service.score(sample)
    except WorkerLost as error:  # the service must be restarted
        request.app.state.lost = error
        request.app.state.server.should_exit = True
        raise
    except asyncio.CancelledError:
        if LIVE_TASK in request.scope:  # the service stops
            raise
        raise ClientDisconnect from None  # the connection has cancelled the task
    finally:
        request.scope.pop(LIVE_TASK, None)
    return Response(line_of(result), media_type="application/json")


api: Final = APIRouter()


@api.get("/healthz", openapi_extra=_OPEN_TO_ALL)
async def health() -> dict[str, str]:
    """Report that the process is up."""
    return {"status": "ok"}


@api.get("/readyz", responses={503: {"description": "Not ready"}}, openapi_extra=_OPEN_TO_ALL)
def ready(request: Request, response: Response) -> dict[str, str]:
    """Report whether the judge can be reached and the data folder written."""
    trouble = request.app.state.service.trouble()
    response.status_code = 503 if trouble else 200
    return {"status": trouble or "ok"}


@api.get("/metrics", response_class=PlainTextResponse)
async def metrics(request: Request) -> Response:
    """Return the metrics for Prometheus."""
    return PlainTextResponse(request.app.state.service.metrics.page())


@api.get("/docs", include_in_schema=False)
async def docs(request: Request) -> Response:
    """Return a page to call each request by hand."""
    title: str = request.app.title
    return get_swagger_ui_html(
        openapi_url="/openapi.json",
        title=title,
        swagger_js_url="/docs/swagger-ui-bundle.js",
        swagger_css_url="/docs/swagger-ui.css",
        swagger_favicon_url="/docs/favicon-32x32.png",
    )


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
        case HTTPException(status_code=404 | 405):
            kind = "not-found" if error.status_code == _NOT_FOUND else "wrong-method"
            problem = Problem(kind, f"{error.detail}; see /docs")
        case HTTPException():
            problem = Problem("bad-request", "the body is not JSON")
        case JudgeError():
            if isinstance(error, JudgeUnavailable | WorkerLost):
                entry = {"request": name}
                LOG.error("judge unavailable: %s", for_log(error), extra={"entry": entry})
            problem = problem_of(error, getattr(request.app.state, "data", None))
        case _:
            problem = Problem("bug", "report it with the lines of the log for this request")
    response = response_of(problem, name)
    response.headers.update(getattr(error, "headers", None) or {})
    return response


def _invalid(error: RequestValidationError) -> Problem:
    """Return the problem of a wrong field, with its value where this is no text of a sample."""
    first = error.errors()[0]
    field, value = ".".join(map(str, first["loc"][1:])), first.get("input")
    is_text_of_sample = first["loc"][0] == "body" and not isinstance(value, int | float)
    shown = isinstance(value, str | int | float) and not is_text_of_sample
    actual = f" = {clip(repr(value), _MAX_SHOWN)}" if shown else ""
    return Problem("wrong-field", f"{field}{actual}: {first['msg']}", field=field)


class Application(FastAPI):
    """An application whose errors are problems, behind the checks of `Requests`.

    `hosts` are the names that a `Host` header may have.
    """

    def __init__(
        self,
        tokens: Tokens,
        hosts: list[str],
        limits: Limits,
        metrics: Metrics,
        lifespan: Callable[[FastAPI], Any] | None = None,
    ) -> None:
        super().__init__(
            title="judge",
            description="Which sentences of RAG answers their chunks support.",
            docs_url=None,
            redoc_url=None,
            lifespan=lifespan,
            strict_content_type=False,
            responses={"default": {"description": "A problem", "content": {PROBLEM: _DETAILS}}},
            generate_unique_id_function=lambda route: route.name,
            # Nothing of what is judged goes anywhere else.
            telemetry={"tracing": False, "metrics": False, "logs": False, "auto_configure": False},
            exception_handlers=dict.fromkeys(
                (JudgeError, RequestValidationError, HTTPException, ClientDisconnect, Exception),
                _on_error,
            ),
        )
        self.add_middleware(TrustedHostMiddleware, allowed_hosts=hosts, www_redirect=False)
        self.add_middleware(Requests, tokens=tokens, limits=limits, metrics=metrics)

    def openapi(self) -> dict[str, Any]:
        """Return the OpenAPI document, with samples, and the tokens that `Requests` checks."""
        document = super().openapi()
        sample = Sample.model_json_schema(ref_template="#/components/schemas/{model}")
        document["components"]["schemas"] |= sample.pop("$defs", {}) | {"Sample": sample}
        schemes = {name: {"type": "http", "scheme": name} for name in ("bearer", "basic")}
        document["components"]["securitySchemes"] = schemes
        document["security"] = [{name: []} for name in schemes]
        return document


def application(
    config: Config, data: Path, limits: Limits, tokens: Tokens, host: str, names: Iterable[str] = ()
) -> FastAPI:
    """Return the application of `judge serve`; its lifespan opens the service.

    Entering the lifespan may raise ConfigError for a wrong setting, JudgeUnavailable, and RunError
    if another service holds the folder.

    Args:
        config: the settings.
        data: the folder of the batches.
        limits: the limits of requests and batches.
        tokens: the accepted tokens.
        host: the address that the service listens at.
        names: other names that clients may use, such as a proxy's.

    Raises:
        ConfigError: other machines could use the service without a token.
    """
    if not tokens and not is_loopback(host):
        raise ConfigError(
            f"other machines can reach --host {host!r}, and there are no tokens: set "
            f"{SERVICE_TOKENS} to NAME:TOKEN, or listen at 127.0.0.1"
        )
    service = Service(config, data, limits)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with service.evaluator, service.batches:
            yield

    app = Application(tokens, host_names(host, names), limits, service.metrics, lifespan)
    app.state.service, app.state.data = service, data
    app.router.add_api_route(
        "/v1/evaluations",
        evaluate,
        methods=["POST"],
        response_model=SampleResult,
        openapi_extra={"requestBody": _SAMPLE_BODY},
        route_class_override=LiveRoute,
    )
    app.include_router(api)
    app.include_router(router)
    of_batch = [Depends(labelled_run)]
    app.include_router(label_router, prefix="/v1/batches/{id}", dependencies=of_batch)
    app.mount("/docs", StaticFiles(packages=[(fastapi_swagger.__name__, "resources")]))
    return app


def label_application(run: Path) -> FastAPI:
    """Return the application of `judge label`, for this machine alone."""

    async def of_run(request: Request) -> None:
        request.state.run, request.state.name = run, str(run)

    app = Application({}, host_names("127.0.0.1"), Limits(), Metrics())
    app.include_router(label_router, dependencies=[Depends(of_run)])
    return app
