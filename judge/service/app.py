"""The application: live answers, the operator's routes, errors; and uvicorn, which serves it."""

import asyncio
import gc
import json
import shutil
import signal
import socket
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import fastapi_swagger  # type: ignore[import-untyped]
import uvicorn
from fastapi import APIRouter, Depends, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import ClientDisconnect
from starlette.responses import PlainTextResponse
from starlette.staticfiles import StaticFiles
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from judge.compose import address
from judge.config import SERVICE_TOKENS, Config
from judge.errors import ConfigError, JudgeError, JudgeUnavailable, WorkerLost
from judge.evaluator import Evaluator
from judge.inputs.fields import SCORE_NEEDS, sample_from
from judge.inputs.runs import line_of
from judge.pool import at_once, sockets
from judge.records import Sample, SampleResult
from judge.service.batches import Batches
from judge.service.monitoring import LOG, Metrics
from judge.service.requests import (
    CLIENT_GONE,
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

_BACKLOG: Final = 100
"""Connections that asyncio accepts at a time, before it closes the ones that are too many."""
_MAX_CONNECTIONS: Final = 1000
_HEAD_SECONDS: Final = 20.0
_MAX_HEAD_BYTES: Final = 1 << 16
_UNREAD_SECONDS: Final = 60.0
_KEEPALIVE_SECONDS: Final = 20
_SHUTDOWN_SECONDS: Final = 30
_LIVE_TASK: Final = "judge.task"
"""The key, in the scope of a request, of the task that is cancelled if the client hangs up."""
_GRACE_SECONDS: Final = 5.0
"""Time to make a result once the judge is asked no more."""
_PROBE_SECONDS: Final = 2.0
_PROBE_BYTES: Final = 1_000_000
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
    """The state of the service: an evaluator for live answers, the batches and the metrics."""

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

        Raise `Problem` if the queue is full, or there is no result in time.
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


def _sample_in(body: bytes) -> Sample:
    """Return the sample in a request's body; raise `Problem` or `InputError` if it is no sample."""
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
    request.scope[_LIVE_TASK] = asyncio.current_task()
    try:
        result = await service.score(sample)
    except WorkerLost as error:  # the service must be restarted
        request.app.state.lost = error
        request.app.state.server.should_exit = True
        raise
    except asyncio.CancelledError:
        if _LIVE_TASK in request.scope:  # the service stops
            raise
        raise ClientDisconnect from None  # the connection has cancelled the task
    finally:
        request.scope.pop(_LIVE_TASK, None)
    return Response(line_of(result), media_type="application/json")


api: Final = APIRouter()


@api.get("/healthz", openapi_extra=_OPEN_TO_ALL)
async def health() -> dict[str, str]:
    """Report that the process is up."""
    return {"status": "ok"}


@api.get("/readyz", responses={503: {"description": "Not ready"}}, openapi_extra=_OPEN_TO_ALL)
def ready(request: Request, response: Response) -> dict[str, str]:
    """Report whether the judge can be reached and the data folder written."""
    service: Service = request.app.state.service
    response.status_code = 503
    try:
        folder = service.batches.new_folder()
        try:
            (folder / "probe").write_bytes(bytes(_PROBE_BYTES))
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    except OSError as error:
        return {"status": f"the data folder cannot be written ({error.strerror})"}
    if service.config.asks_server:
        parts = urlsplit(address(service.config))
        port = parts.port or (443 if parts.scheme == "https" else 80)
        try:
            socket.create_connection((parts.hostname, port), _PROBE_SECONDS).close()
        except OSError:
            return {"status": "the judge's server cannot be reached"}
    response.status_code = 200
    return {"status": "ok"}


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
            first = error.errors()[0]  # its value may be a text of a sample
            field = ".".join(map(str, first["loc"][1:]))
            problem = Problem("wrong-field", f"{field}: {first['msg']}", field=field)
        case HTTPException():
            kind = {404: "not-found", 405: "wrong-method"}.get(error.status_code, "bad-request")
            problem = Problem(kind, f"{error.detail}; see /docs")
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


class Application(FastAPI):
    """An application whose errors are problems, behind the checks of `Requests`."""

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
        tokens: the accepted tokens; ConfigError if there are none and other machines can reach it.
        host: the address that the service listens at.
        names: other names that clients may use, such as a proxy's.
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


class Connection(HttpToolsProtocol):
    """A connection that is closed when the head of a request takes too long, or is too long.

    Where there are too many, the one that has waited longest for a request is closed (`# D123`).
    """

    head_seconds = _HEAD_SECONDS
    _head_bytes = 0
    """Bytes since the last head or piece of a body was complete, those of trailers included."""

    def data_received(self, data: bytes) -> None:
        """Parse the next bytes."""
        self._head_bytes += len(data)
        super().data_received(data)
        if self._head_bytes > _MAX_HEAD_BYTES:
            self.transport.abort()

    def on_headers_complete(self) -> None:
        """Begin to serve a request."""
        self._head_bytes = 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Take a piece of a body."""
        self._head_bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """End a request."""
        self._head_bytes = 0
        super().on_message_complete()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first request."""
        super().connection_made(transport)
        self._await_head()
        lines: Iterable[Any] = self.connections
        still_open = [each for each in lines if not each.transport.is_closing()]
        if len(still_open) >= (self.limit_concurrency or 0):
            waiting = [
                each for each in still_open if not each.cycle or each.cycle.response_complete
            ]
            min(waiting, key=lambda each: each.waits_since).transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel what is judged for the client."""
        super().connection_lost(exc)
        scope: Any = self.cycle.scope if self.cycle else {}
        if (task := scope.pop(_LIVE_TASK, None)) is not None:
            task.cancel()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._await_head()

    def _await_head(self) -> None:
        last = self.cycle
        self.waits_since = self.loop.time()

        def close() -> None:
            if self.cycle is last:
                self.transport.abort()

        self.loop.call_later(self.head_seconds, close)


def server_of(app: FastAPI, config: Config) -> uvicorn.Server:
    """Return the server of an application, which is also its `state.server`.

    Its connections leave enough open files for those to the judge's server.
    """
    connections = sockets() - at_once(config) - _BACKLOG
    app.state.server = server = uvicorn.Server(
        uvicorn.Config(
            app,
            http=Connection,
            ws="none",
            loop="asyncio",
            lifespan="off",  # `serve` enters it, so that its errors are the command's
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            backlog=_BACKLOG,
            limit_concurrency=int(max(1, min(_MAX_CONNECTIONS, connections))),
            timeout_keep_alive=_KEEPALIVE_SECONDS,
            timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
        )
    )
    return server


def listen(host: str, port: int, unread_seconds: float = _UNREAD_SECONDS) -> socket.socket:
    """Return a socket that listens; ConfigError if it cannot. The port 0 is a free one.

    The system closes a connection whose client reads nothing for `unread_seconds`.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Only for a socket that names TCP does asyncio send small responses at once.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if hasattr(socket, "TCP_USER_TIMEOUT"):  # Linux
            listening.setsockopt(
                socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(1000 * unread_seconds)
            )
        listening.bind((host.strip("[]"), port))
        listening.listen(_BACKLOG)
    except OSError as error:
        listening.close()
        raise ConfigError(f"--host {host} --port {port}: {error.strerror}; name another") from None
    return listening


async def serve(
    app: FastAPI, config: Config, host: str, port: int, on_start: Callable[[str], None]
) -> int:
    """Serve an application until a signal, and return its number; 0 if there was none.

    `on_start` is called with the URL. Errors are those of entering the lifespan of the application,
    ConfigError if the address cannot be used, and WorkerLost if a process of the evaluator died.
    """
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    server = server_of(app, config)
    numbers: list[int] = []

    def stop(number: int) -> None:
        if not numbers:  # uvicorn raises the signal again at its end
            LOG.info("draining")
        numbers.append(number)
        server.should_exit = True
        if not server.started and task is not None:
            task.cancel()

    with suppress(NotImplementedError):  # Windows: uvicorn's own handlers, once it listens
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stop, number)
    try:
        with listen(host, port) as listening:
            async with app.router.lifespan_context(app):
                gc.freeze()  # modules are never freed
                name = f"[{host}]" if ":" in host else host
                on_start(f"http://{name}:{listening.getsockname()[1]}")
                await server.serve([listening])
    except asyncio.CancelledError:
        if not numbers:
            raise
    if (lost := getattr(app.state, "lost", None)) is not None:
        raise lost
    return numbers[0] if numbers else 0
