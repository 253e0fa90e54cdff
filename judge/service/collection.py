"""The collection of batches over HTTP: sent, listed, looked at, read, cancelled."""

import asyncio
import shutil
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Annotated, Final

from fastapi import APIRouter, Depends, Query, Request
from pydantic import Field
from starlette.responses import FileResponse, Response, StreamingResponse

from judge.inputs.runs import PART, REJECTED, RESULTS
from judge.service.batches import ID, Batch
from judge.service.body import keep
from judge.service.docs import BATCH, NDJSON, problems
from judge.service.live import service_of
from judge.service.problems import Problem
from judge.service.wire import BatchList, BatchStatus, Options, Told
from judge.service.worker import UPLOAD

_BLOCK: Final = 1 << 18
"""Bytes of results that are read and sent at a time."""

router: Final = APIRouter(prefix="/v1", responses=problems(400, 401, 403))
BatchId = Annotated[str, Field(description="The batch.", pattern=f"^{ID.pattern}$")]


async def _found(request: Request, id: BatchId) -> Batch:  # noqa: A002  as it is called in paths
    return service_of(request).batches.get(id)


Found = Annotated[Batch, Depends(_found)]
"""The batch that a path names; `Problem` where there is none."""


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
        limits = service.limits
        kept = await keep(request, folder / UPLOAD, limits.max_batch, limits.body_timeout)
        batch, new = await service.batches.add(folder, kept, name, sent.name, options)
    finally:
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
    headers = {"Location": f"/v1/batches/{batch.id}"}
    return _json(await asyncio.to_thread(batch.status), 201 if new else 200, headers)


def _json(record: Told, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return Response(record.model_dump_json(), status, headers, "application/json")


_SENT: Final = problems(408, 409, 413, 415, 422, 503)


@router.post(
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


@router.put(
    "/batches/{id}",
    summary="Send many answers under an id",
    status_code=201,
    response_model=BatchStatus,
    responses=_SENT | {200: {"model": BatchStatus, "description": "It is there already"}},
    openapi_extra=BATCH,
)
async def submit_as(request: Request, id: BatchId, sent: Annotated[Sent, Query()]) -> Response:  # noqa: A002
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


@router.get(
    "/batches", summary="List batches", response_model=BatchList, responses=problems(404, 422)
)
async def listed(request: Request, paging: Annotated[Paging, Query()]) -> Response:
    """A page of batches, oldest first."""
    batches = service_of(request).batches
    every = batches.all()
    start = 0 if paging.after is None else every.index(batches.get(paging.after)) + 1
    found = every[start : start + paging.limit]
    more = start + paging.limit < len(every)
    shown = await asyncio.to_thread(lambda: [each.status(whole=False) for each in found])
    return _json(BatchList(batches=tuple(shown), next=found[-1].id if more else None))


@router.get(
    "/batches/{id}",
    summary="How a batch stands",
    response_model=BatchStatus,
    responses=problems(404, 422),
)
async def status(batch: Found) -> Response:
    """Its state, what is done of all, failures by reason, and the totals once it is finished."""
    return _json(await asyncio.to_thread(batch.status))


class Wanted(Told):
    """Which results."""

    after: int = Field(default=0, ge=0, le=10**12)
    """Lines to pass over: those that you have."""
    limit: int | None = Field(default=None, ge=1, le=10**12)
    """How many lines at most."""


@router.get(
    "/batches/{id}/results",
    summary="The results of a batch",
    response_class=StreamingResponse,
    responses=problems(404, 422) | {200: NDJSON},
)
async def lines(batch: Found, wanted: Annotated[Wanted, Query()]) -> Response:
    """A `SampleResult` a line, in input order, while the batch runs and after."""
    blocks = _whole_lines(batch.folder, wanted.after, wanted.limit)
    return StreamingResponse(blocks, media_type="application/x-ndjson")


def _whole_lines(folder: Path, after: int, limit: int | None) -> Iterator[bytes]:
    """The lines of a batch's results behind `after`, in blocks; a line half written is left out."""
    for name in (RESULTS, PART, RESULTS):  # it may be renamed meanwhile
        try:
            file = (folder / name).open("rb")
        except FileNotFoundError:
            continue
        with file:
            if any(not line.endswith(b"\n") for line in islice(file, after)):
                return
            while lines := file.readlines(_BLOCK)[:limit]:
                if not lines[-1].endswith(b"\n"):
                    yield b"".join(lines[:-1])
                    return
                yield b"".join(lines)
                limit = None if limit is None else limit - len(lines)
        return


@router.get(
    "/batches/{id}/rejected",
    summary="The bad lines of a batch",
    response_class=FileResponse,
    responses=problems(404, 422) | {200: NDJSON},
)
async def rejected(batch: Found) -> Response:
    """The lines that were set aside, as they came, and what is wrong with each."""
    path = batch.folder / REJECTED
    if not path.is_file():
        return Response(b"", media_type="application/x-ndjson")
    return FileResponse(path, media_type="application/x-ndjson")


class Removal(Told):
    """How a batch goes."""

    purge: bool = False
    """Remove its folder, too: results, labels and all."""


@router.delete(
    "/batches/{id}",
    summary="Cancel a batch",
    response_model=BatchStatus,
    responses=problems(404, 422) | {204: {"description": "It is gone"}},
)
async def delete(request: Request, batch: Found, removal: Annotated[Removal, Query()]) -> Response:
    """No more of it is judged; what was judged stays, unless it is purged."""
    await service_of(request).batches.cancel(batch, purge=removal.purge)
    return Response(status_code=204) if removal.purge else await status(batch)
