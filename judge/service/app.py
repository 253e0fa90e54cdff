"""The application: every call over HTTP, and what it asks of the evaluator and of the batches."""

import asyncio
import re
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, Final, TypeVar

from fastapi import APIRouter, Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import JsonValue
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import (
    JSONResponse,
    Response,
)

from judge.errors import InputError, JudgeError, JudgeUnavailable
from judge.inputs.fields import SCORE_NEEDS, sample_from
from judge.inputs.rows import json_object
from judge.inputs.runs import line_of
from judge.records import SampleResult
from judge.service.access import GONE, Access, Names, Tokens
from judge.service.collection import Found
from judge.service.collection import router as collection
from judge.service.docs import EVALUATION, problems
from judge.service.label import router as label
from judge.service.live import Service, body_of, service_of
from judge.service.monitoring import LOG, MEDIA, Metrics
from judge.service.problems import Problem, problem_of, told, unquoted
from judge.service.site import NO_RUN, views
from judge.service.site import router as site
from judge.text.visible import clip

_Result = TypeVar("_Result")
_WAIT: Final = re.compile(r"(?:^|[,;\s])wait\s*=\s*\"?([0-9]{1,6})\"?", re.IGNORECASE)
_SHOWN: Final = 80


async def unless_gone(request: Request, work: Coroutine[Any, Any, _Result]) -> _Result:
    """What the work returns; cancelled where the client hangs up, which is a `ClientDisconnect`."""

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


def json_of(body: bytes) -> dict[str, JsonValue]:
    """The JSON object that a body is; `Problem` where it is none."""
    try:
        return json_object(body.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise Problem("bad-request", f"the body is not UTF-8 (at byte {error.start})") from None
    except InputError as error:
        raise Problem(
            "bad-request", told(error).replace("mend the line", "mend the body")
        ) from None


api: Final = APIRouter(prefix="/v1", responses=problems(400, 401, 403))


@api.post(
    "/evaluations",
    summary="Judge one answer",
    response_model=SampleResult,
    responses=problems(408, 413, 415, 422, 429, 503, 504),
    openapi_extra=EVALUATION,
)
async def evaluate(request: Request) -> Response:
    """The result of one answer: the very line that `results.jsonl` would hold.

    `Prefer: wait=SECONDS` gives it less time than the service would. What a language model has not
    judged by then is `unscored` for a `timeout`. Whoever hangs up cancels its calls.
    """
    service = service_of(request)
    if service.draining:
        raise Problem("draining", "ask another one", headers={"Retry-After": "5"})
    fields = json_of(await body_of(request))
    sample = sample_from(fields, line=1, needs=SCORE_NEEDS)
    asked = _WAIT.search(request.headers.get("prefer", ""))
    seconds = min(float(asked[1]) if asked else service.config.deadline, service.config.deadline)
    result = await unless_gone(request, service.score(sample, seconds))
    headers = {"Preference-Applied": f"wait={asked[1]}"} if asked else None
    return Response(line_of(result), headers=headers, media_type="application/json")


plain: Final = APIRouter(responses=problems(403))


@plain.get("/healthz", summary="Whether the service lives", response_model=dict[str, str])
async def health() -> Response:
    """Report that the process is up."""
    return JSONResponse({"status": "ok"})


@plain.get(
    "/readyz",
    summary="Whether to send work here",
    response_model=dict[str, str],
    responses={503: {"model": dict[str, str], "description": "Not now; `status` says why"}},
)
async def ready(request: Request) -> Response:
    """The judge can be reached, the data folder be written, and the service is not draining."""
    why = await service_of(request).unready()
    return JSONResponse({"status": why or "ok"}, 503 if why else 200)


@plain.get(
    "/metrics",
    summary="Figures for Prometheus",
    responses=problems(401) | {200: {"content": {"text/plain": {}}}},
    response_class=Response,
)
async def metrics(request: Request) -> Response:
    """Requests, latency, queue, what the model cost, failures, batches by state."""
    return Response(service_of(request).metrics.page(), media_type=MEDIA)


@plain.get("/openapi.json", include_in_schema=False)
async def openapi(request: Request) -> Response:
    """What every call takes and answers, for programs."""
    return JSONResponse(await asyncio.to_thread(request.app.openapi))


def _invalid(errors: Any, skip: int) -> Problem:  # noqa: ANN401  pydantic's own
    first = errors[0]
    place, given = ".".join(map(str, first["loc"][skip:])), first.get("input")
    shown = f" = {clip(repr(given), _SHOWN)}" if isinstance(given, str | int | float) else ""
    return Problem("wrong-field", f"{place}{shown}: {first['msg']}", field=place)


_STATUSES: Final[dict[int, str]] = {404: "not-found", 405: "wrong-method"}


async def _troubled(request: Request, error: Exception) -> Response:
    """Every error as a problem."""
    name: str = request.scope.get("judge.request", "")
    match error:
        case RequestValidationError():
            problem = _invalid(error.errors(), 1)
        case HTTPException():
            kind = _STATUSES.get(error.status_code, "bad-request")
            problem = Problem(
                kind,
                f"{request.method} is not to be had there; see /openapi.json",
                headers=error.headers,
            )
        case ClientDisconnect():
            return Response(status_code=GONE)
        case JudgeUnavailable():
            LOG.error("judge unavailable: %s", unquoted(error), extra={"told": {"request": name}})
            problem = problem_of(error)
        case JudgeError():
            problem = problem_of(error, **_places(request))
        case _:
            problem = Problem("bug", "its log tells more; say which request it was")
    return problem.response(name)


_TROUBLES: Final = (
    JudgeError,
    RequestValidationError,
    HTTPException,
    ClientDisconnect,
    Exception,
)


def _places(request: Request) -> dict[str, Path]:
    """What folders of this machine are called in a message; of one's own run as they are."""
    if (service := getattr(request.app.state, "service", None)) is None:
        return {}
    data: Path = service.batches.data
    batch = request.path_params.get("id")
    return ({batch: data / batch} if batch else {}) | {"data": data}


def application(service: Service, tokens: Tokens, names: Names) -> Access:
    """The whole application, its access in front."""
    app = _empty()
    app.state.service = service
    for router in (api, collection, views, plain, site):
        app.include_router(router)
    app.include_router(label, prefix="/v1/batches/{id}", dependencies=[Depends(_labelled)])
    return Access(app, tokens, names, service.metrics)


def labelling(run: Path, host: str) -> Access:
    """The application to label one run with; it is for this machine alone."""

    async def of_run(request: Request) -> None:
        request.state.run, request.state.name = run, str(run)

    app = _empty()
    app.include_router(label, dependencies=[Depends(of_run)])
    return Access(app, Tokens({}), Names(host), Metrics())


async def _labelled(request: Request, batch: Found) -> None:
    if batch.state != "finished":
        raise Problem("conflict", NO_RUN.format(state=batch.state))
    request.state.run, request.state.name = batch.folder, ""


def _empty() -> FastAPI:
    return FastAPI(
        title="judge",
        description="Which sentences of RAG answers their chunks support.",
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        generate_unique_id_function=lambda route: route.name,
        # What the package promises: nothing of what is judged goes anywhere else.
        telemetry={"tracing": False, "metrics": False, "logs": False, "auto_configure": False},
        exception_handlers=dict.fromkeys(_TROUBLES, _troubled),
    )
