"""The application: every call over HTTP, and what it asks of the evaluator and of the batches."""

import asyncio
import re
from collections.abc import Coroutine
from typing import Annotated, Any, Final, TypeVar

from fastapi import APIRouter, FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from pydantic import Field, JsonValue, ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import (
    FileResponse,
    HTMLResponse,
    JSONResponse,
    Response,
    StreamingResponse,
)

from judge.errors import InputError, JudgeError, JudgeUnavailable
from judge.files.fields import sample_from
from judge.files.runs import REJECTED, line_of
from judge.files.samples import SCORE_NEEDS, json_object
from judge.records import Sample
from judge.retrieval import measure_retrieval
from judge.retrieval.records import RankingReport, RankRules
from judge.service.batches import ID
from judge.service.body import keep, read
from judge.service.docs import BATCH, EVALUATION, NDJSON, RANKING, page, problems
from judge.service.door import GONE, Door
from judge.service.live import Service
from judge.service.logs import LOG
from judge.service.metrics import MEDIA
from judge.service.problems import Problem, problem_of, unquoted
from judge.service.review import router as review
from judge.service.streams import results
from judge.service.tokens import Names, Tokens
from judge.service.wire import BatchList, BatchStatus, Options, ResultLine, Told
from judge.service.worker import UPLOAD
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


def service_of(request: Request) -> Service:
    """The service that the application is of."""
    found: Service = request.app.state.service
    return found


def json_of(body: bytes) -> dict[str, JsonValue]:
    """The JSON object that a body is; `Problem` where it is none."""
    try:
        return json_object(body.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise Problem("bad-request", f"the body is not UTF-8 (at byte {error.start})") from None
    except InputError as error:
        wrong = problem_of(error)
        raise Problem(
            "bad-request", wrong.detail.replace("mend the line", "mend the body")
        ) from None


api: Final = APIRouter(prefix="/v1", responses=problems(400, 401, 403))


@api.post(
    "/evaluations",
    summary="Judge one answer",
    response_model=ResultLine,
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
    fields = json_of(await read(request, service.limits.max_body))
    sample = sample_from(fields, line=1, needs=SCORE_NEEDS)
    asked = _WAIT.search(request.headers.get("prefer", ""))
    seconds = min(float(asked[1]) if asked else service.config.deadline, service.config.deadline)
    result = await unless_gone(request, service.score(sample, seconds))
    headers = {"Preference-Applied": f"wait={asked[1]}"} if asked else None
    return Response(line_of(result), headers=headers, media_type="application/json")


class Sent(Options):
    """How a batch is to be judged, as query parameters."""

    name: Annotated[str, Field(max_length=200)] = ""
    """What you call it; shown, and nothing else."""


async def _taken(request: Request, sent: Sent, name: str | None) -> Response:
    service = service_of(request)
    if service.draining:
        raise Problem("draining", "send it again later", headers={"Retry-After": "5"})
    options = Options.model_validate(sent.model_dump(exclude={"name"}))
    options.gates(options.config(service.config))
    folder = service.batches.fresh()
    try:
        kept = await keep(request, folder / UPLOAD, service.limits.max_batch)
        batch, new = await service.batches.add(folder, kept, name, sent.name, options)
    finally:
        await asyncio.to_thread(_emptied, folder)
    status = await asyncio.to_thread(batch.status)
    place = f"/v1/batches/{batch.id}"
    return JSONResponse(status.model_dump(mode="json"), 201 if new else 200, {"Location": place})


def _emptied(folder: Any) -> None:  # noqa: ANN401
    import shutil  # noqa: PLC0415

    shutil.rmtree(folder, ignore_errors=True)


_SENT: Final = problems(408, 409, 413, 415, 422, 503)
_BatchId = Annotated[str, Field(pattern=f"^{ID.pattern}$")]


@api.post(
    "/batches",
    summary="Send many answers",
    status_code=201,
    response_model=BatchStatus,
    responses=_SENT,
    openapi_extra=BATCH,
)
async def submit(request: Request, sent: Annotated[Sent, Query()]) -> Response:
    """JSON lines or CSV, also gzip, are kept on disk and judged in their turn; see `Location`."""
    return await _taken(request, sent, None)


@api.put(
    "/batches/{id}",
    summary="Send many answers under an id",
    status_code=201,
    response_model=BatchStatus,
    responses=_SENT | {200: {"model": BatchStatus, "description": "It is there already"}},
    openapi_extra=BATCH,
)
async def put(request: Request, id: _BatchId, sent: Annotated[Sent, Query()]) -> Response:  # noqa: A002
    """As above, and safe to send again: the same id, bytes and options are the same batch.

    One that had failed or was cancelled is taken up again. Other bytes or options are a conflict.
    """
    return await _taken(request, sent, id)


class Paging(Told):
    """Which page."""

    after: str | None = None
    """The id behind which it begins."""
    limit: int = Field(default=50, ge=1, le=500)
    """How many at most."""


@api.get("/batches", summary="List batches", response_model=BatchList, responses=problems(404, 422))
async def listed(request: Request, paging: Annotated[Paging, Query()]) -> Response:
    """A page of batches, oldest first."""
    batches = service_of(request).batches
    every = batches.all()
    start = 0 if paging.after is None else every.index(batches.get(paging.after)) + 1
    found = every[start : start + paging.limit]
    more = start + paging.limit < len(every)
    shown = await asyncio.to_thread(lambda: tuple(each.status(whole=False) for each in found))
    said = BatchList(batches=shown, next=found[-1].id if more else None)
    return JSONResponse(said.model_dump(mode="json"))


@api.get(
    "/batches/{id}",
    summary="How a batch stands",
    response_model=BatchStatus,
    responses=problems(404, 422),
)
async def status(request: Request, id: _BatchId) -> Response:  # noqa: A002
    """Its state, what is done of all, failures by reason, and the totals once it is finished."""
    batch = service_of(request).batches.get(id)
    found = await asyncio.to_thread(batch.status)
    return JSONResponse(found.model_dump(mode="json"))


class Wanted(Told):
    """Which results."""

    after: int = Field(default=0, ge=0, le=10**12)
    """Lines to pass over: those that you have."""
    limit: int | None = Field(default=None, ge=1, le=10**12)
    """How many lines at most."""
    follow: bool = False
    """Wait for those to come, until the batch ends."""


@api.get(
    "/batches/{id}/results",
    summary="The results of a batch",
    response_class=StreamingResponse,
    responses=problems(404, 422) | {200: NDJSON},
)
async def lines(request: Request, id: _BatchId, wanted: Annotated[Wanted, Query()]) -> Response:  # noqa: A002
    """A `SampleResult` a line, in input order, while the batch runs and after."""
    service = service_of(request)
    batch = service.batches.get(id)
    until = (lambda: service.draining) if wanted.follow else None
    return StreamingResponse(
        results(batch, wanted.after, wanted.limit, until), media_type="application/x-ndjson"
    )


@api.get(
    "/batches/{id}/rejected",
    summary="The bad lines of a batch",
    response_class=FileResponse,
    responses=problems(404, 422) | {200: NDJSON},
)
async def rejected(request: Request, id: _BatchId) -> Response:  # noqa: A002
    """The lines that were set aside, as they came, and what is wrong with each."""
    path = service_of(request).batches.get(id).folder / REJECTED
    if not path.is_file():
        return Response(b"", media_type="application/x-ndjson")
    return FileResponse(path, media_type="application/x-ndjson")


class Removal(Told):
    """How a batch goes."""

    purge: bool = False
    """Remove its folder, too: results, labels and all."""


@api.delete(
    "/batches/{id}",
    summary="Cancel a batch",
    response_model=BatchStatus,
    responses=problems(404, 422) | {204: {"description": "It is gone"}},
)
async def delete(request: Request, id: _BatchId, removal: Annotated[Removal, Query()]) -> Response:  # noqa: A002
    """No more of it is judged; what was judged stays, unless it is purged."""
    batches = service_of(request).batches
    batch = batches.get(id)
    await batches.cancel(batch, purge=removal.purge)
    if removal.purge:
        return Response(status_code=204)
    found = await asyncio.to_thread(batch.status)
    return JSONResponse(found.model_dump(mode="json"))


class Ranked(Told):
    """What is to be measured."""

    samples: list[dict[str, JsonValue]]
    """Samples as elsewhere: `retrieved` or the order of `chunks`, and gold."""
    rules: RankRules = RankRules()
    """How."""


@api.post(
    "/retrieval",
    summary="Rank measures",
    response_model=RankingReport,
    responses=problems(408, 413, 415, 422),
    openapi_extra=RANKING,
)
async def retrieval(request: Request) -> Response:
    """Whether retrieval found the evidence: measures of samples that name gold."""
    fields = json_of(await read(request, service_of(request).limits.max_body))
    try:
        asked = Ranked.model_validate(fields)
    except ValidationError as error:
        raise _invalid(error.errors(include_url=False, include_input=False), 0) from None
    seen: set[str] = set()

    def samples() -> list[Sample]:
        found = []
        for number, each in enumerate(asked.samples, 1):
            try:
                found.append(sample_from(each, line=number, needs=()))
            except InputError as error:
                raise error.at("", number) from None
            if found[-1].qid in seen:
                raise InputError("stands twice; make each qid unique", line=number, field="qid")
            seen.add(found[-1].qid)
        return found

    report = await asyncio.to_thread(lambda: measure_retrieval(samples(), asked.rules))
    return Response(report.model_dump_json(), media_type="application/json")


plain: Final = APIRouter(responses=problems(403))


@plain.get("/healthz", summary="Whether the service lives", response_model=dict[str, str])
async def health() -> Response:
    """It does."""
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


@plain.get("/docs", include_in_schema=False)
async def docs(request: Request) -> Response:
    """Every call with an example, on a page that loads nothing."""
    described = await asyncio.to_thread(request.app.openapi)
    return HTMLResponse(page(described, str(request.base_url).rstrip("/")))


def _invalid(errors: Any, skip: int) -> Problem:  # noqa: ANN401  pydantic's own
    first = errors[0]
    place = ".".join(map(str, first["loc"][skip:]))
    given = first.get("input")
    shown = f" = {clip(repr(given), _SHOWN)}" if isinstance(given, str | int | float) else ""
    return Problem("wrong-field", f"{place}{shown}: {first['msg']}", field=place)


_STATUSES: Final[dict[int, str]] = {404: "not-found", 405: "wrong-method", 406: "not-acceptable"}


async def _troubled(request: Request, error: Exception) -> Response:
    """Every error as a problem."""
    name: str = request.scope.get("judge.request", "")
    match error:
        case RequestValidationError():
            problem = _invalid(error.errors(), 1)
        case HTTPException():
            kind = _STATUSES.get(error.status_code, "bad-request")
            problem = Problem(
                kind, f"{request.method} is not to be had there; see /docs", headers=error.headers
            )
        case ClientDisconnect():
            return Response(status_code=GONE)
        case JudgeUnavailable():
            LOG.error("judge unavailable: %s", unquoted(error), extra={"told": {"request": name}})
            problem = problem_of(error)
        case JudgeError():
            batch = request.path_params.get("id")
            data = service_of(request).batches.data
            places = {batch: data / batch} if batch else {}
            problem = problem_of(error, **places, data=data)
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


def application(service: Service, tokens: Tokens, names: Names) -> Door:
    """The whole application, its door in front."""
    app = FastAPI(
        title="judge",
        description="Which sentences of RAG answers their chunks support.",
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        # What the package promises: nothing of what is judged goes anywhere else.
        telemetry={"tracing": False, "metrics": False, "logs": False, "auto_configure": False},
        exception_handlers=dict.fromkeys(
            (JudgeError, RequestValidationError, HTTPException, ClientDisconnect, Exception),
            _troubled,
        ),
    )
    app.state.service = service
    for router in (api, review, plain):
        app.include_router(router)
    return Door(app, tokens, names, service.metrics)
