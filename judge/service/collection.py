"""The routes of batches: send, list, look at, read and cancel them, and their pages."""

import asyncio
import gzip
import hashlib
import os
import shutil
import zlib
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from itertools import chain, islice
from pathlib import Path
from typing import Annotated, Any, Final, cast

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi import Path as InPath
from pydantic import Field
from starlette.responses import FileResponse, HTMLResponse, StreamingResponse

from judge import review
from judge.inputs.runs import (
    OWN,
    PAGE,
    PART,
    REJECTED,
    RESULTS,
    REVIEW,
    finished_run,
    whole_lines,
)
from judge.pages.agreement import page as agreement_page
from judge.pages.compare import MOST_ANSWERS, comparison
from judge.pages.report import report as report_pieces
from judge.pages.service import batches_page
from judge.reports.compare import compare_runs
from judge.review.records import Agreement
from judge.service.access import Client
from judge.service.batches import ID_PATTERN, Batch, Batches, BatchRecord
from judge.service.label import IN_LANGUAGE, PAGE_HEADERS
from judge.service.problems import Problem
from judge.service.requests import MEGABYTE, too_large
from judge.service.wire import SAMPLES, BatchList, BatchStatus, Options
from judge.service.worker import UPLOAD

_GZIP: Final = b"\x1f\x8b"
_LINES_AT_A_TIME: Final = 100
_TEXT: Final = {"schema": {"type": "string"}}
_BODY: Final[dict[str, Any]] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/x-ndjson": _TEXT | {"example": SAMPLES},
            "text/csv": _TEXT,
            "application/gzip": {"schema": {"type": "string", "format": "binary"}},
        },
    }
}

router: Final = APIRouter()


class LinesResponse(StreamingResponse):
    """JSON, an object a line."""

    media_type = "application/x-ndjson"


async def _batches(request: Request) -> Batches:
    return cast("Batches", request.app.state.service.batches)


AllBatches = Annotated[Batches, Depends(_batches)]
BatchId = Annotated[str, InPath(description="The id of the batch.", pattern=f"^{ID_PATTERN}$")]


async def _batch(batches: AllBatches, id: BatchId) -> Batch:  # noqa: A002  its name in paths
    """Return the batch; refuse one with links, which may lead out of its folder."""
    batch = batches.get(id)
    for name in ("", REVIEW, *OWN):
        if (batch.folder / name).is_symlink():
            place = f"{id}/{name}".rstrip("/")
            raise Problem("conflict", f"{place} is a link; move it away")
    return batch


OneBatch = Annotated[Batch, Depends(_batch)]


async def _finished(batch: OneBatch) -> Batch:
    if batch.state != "finished":
        detail = f"it is {batch.state}; only a finished batch has a report and can be labelled"
        raise Problem("conflict", detail)
    return batch


FinishedBatch = Annotated[Batch, Depends(_finished)]


class Sending(Options):
    """How to judge a batch, as query parameters."""

    name: Annotated[str, Field(max_length=200)] = ""
    """What you call the batch; only shown."""


@router.post("/v1/batches", status_code=201, openapi_extra=_BODY)
async def send_batch(
    request: Request, response: Response, sending: Annotated[Sending, Query()]
) -> BatchStatus:
    """Send many answers as JSON lines or CSV, also as gzip; they are judged in the background."""
    return await _receive(request, response, sending, None)


@router.put(
    "/v1/batches/{id}",
    status_code=201,
    responses={200: {"model": BatchStatus, "description": "It was there already"}},
    openapi_extra=_BODY,
)
async def put_batch(
    request: Request,
    response: Response,
    id: BatchId,  # noqa: A002  its name in paths
    sending: Annotated[Sending, Query()],
) -> BatchStatus:
    """Send many answers under an id.

    The request may be sent again: a batch with this id, these bytes and options is returned, and
    judging it goes on if it failed or was cancelled. Other bytes or options are a conflict.
    """
    return await _receive(request, response, sending, id)


async def _receive(
    request: Request, response: Response, sending: Sending, id_: str | None
) -> BatchStatus:
    service = request.app.state.service
    if request.headers.get("content-encoding", "identity").lower() not in {"identity", "gzip"}:
        raise Problem("wrong-form", "Content-Encoding may only be gzip")
    options = Options.model_validate(sending.model_dump(exclude={"name"}))
    options.gates(options.config(service.config))
    batches: Batches = service.batches
    folder = None
    try:
        folder = batches.new_folder()
        sha256, size = await _keep(request, folder / UPLOAD, service.limits.max_batch)
        record = BatchRecord(
            name=sending.name,
            owner=request.state.client.name,
            options=options,
            arrived=datetime.now(UTC).isoformat(timespec="microseconds"),
            sha256=sha256,
            size=size,
        )
        batch, is_new = await batches.add(folder, id_, record)
    except OSError as error:
        detail = f"the batch cannot be kept ({error.strerror}); make room, then send it again"
        raise Problem("no-space", detail) from None
    finally:
        if folder is not None:
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
    response.status_code = 201 if is_new else 200
    response.headers["Location"] = f"/v1/batches/{batch.id}"
    return await asyncio.to_thread(batch.status)


async def _keep(request: Request, place: Path, megabytes: float) -> tuple[str, int]:
    """Write the body to a new file that survives a power cut; return its hash and its size."""
    digest, size = hashlib.sha256(), 0
    with place.open("xb") as file:
        async for piece in request.stream():
            digest.update(piece)
            size += len(piece)
            file.write(piece)
        file.flush()
        await asyncio.to_thread(os.fsync, file.fileno())
    await asyncio.to_thread(_check_unpacked, place, megabytes)
    return digest.hexdigest(), size


def _check_unpacked(place: Path, megabytes: float) -> None:
    """Raise `Problem` if a gzip file unpacks to more than the limit."""
    with place.open("rb") as file:
        if file.read(len(_GZIP)) != _GZIP:
            return
    size = 0
    # The job reports a damaged file.
    with suppress(OSError, EOFError, zlib.error), gzip.open(place) as unpacked:
        while piece := unpacked.read(MEGABYTE):
            size += len(piece)
            if size > megabytes * MEGABYTE:
                raise too_large(megabytes)


@router.get("/v1/batches")
def list_batches(
    batches: AllBatches, limit: Annotated[int, Query(ge=1, le=1000)] = 50
) -> BatchList:
    """List the last `limit` batches, the newest first."""
    last = batches.all()[: -limit - 1 : -1]
    return BatchList(batches=tuple(each.status(whole=False) for each in last))


@router.get("/v1/batches/{id}")
def get_batch(batch: OneBatch) -> BatchStatus:
    """Return the state, the progress, failures by reason, and the totals of a finished batch."""
    return batch.status()


@router.get("/v1/batches/{id}/results", response_class=LinesResponse)
async def get_results(
    batch: OneBatch,
    after: Annotated[int, Query(ge=0, le=10**12)] = 0,
    limit: Annotated[int | None, Query(ge=1, le=10**12)] = None,
) -> Response:
    """Return up to `limit` lines behind the first `after`, in input order, a `SampleResult` a line.

    A running batch has the results so far.
    """
    return LinesResponse(_results(batch.folder, after, limit))


def _results(folder: Path, after: int, limit: int | None) -> Iterator[bytes]:
    """Yield blocks of the lines of results."""
    for name in (RESULTS, PART, RESULTS):  # it may be renamed meanwhile
        with suppress(FileNotFoundError), (folder / name).open("rb") as file:
            end = None if limit is None else after + limit
            lines = islice(whole_lines(file), after, end)
            while block := b"".join(islice(lines, _LINES_AT_A_TIME)):
                yield block
            return


@router.get("/v1/batches/{id}/rejected", response_class=LinesResponse)
async def get_rejected(batch: OneBatch) -> Response:
    """Return the bad lines that were set aside, and what is wrong with each."""
    path = batch.folder / REJECTED
    if not path.is_file():
        return LinesResponse([])
    return FileResponse(path, media_type=LinesResponse.media_type)


@router.delete(
    "/v1/batches/{id}",
    response_model=BatchStatus,
    responses={204: {"description": "It was removed"}},
)
async def cancel_batch(
    request: Request, batch: OneBatch, batches: AllBatches, *, purge: bool = False
) -> BatchStatus | Response:
    """Stop judging a batch, and with `purge` remove its folder with all results and labels."""
    client: Client = request.state.client
    is_foreign = batch.record.owner not in {"", client.name}
    if purge and is_foreign and client.role != "admin":
        detail = f"{batch.record.owner!r} sent this batch; only an admin may purge it"
        raise Problem("not-allowed", detail)
    await batches.cancel(batch, purge=purge)
    return Response(status_code=204) if purge else await asyncio.to_thread(batch.status)


@router.get("/", include_in_schema=False, dependencies=[IN_LANGUAGE])
def get_page() -> Response:
    """Return the page of batches."""
    return HTMLResponse(batches_page(), headers=PAGE_HEADERS)


@router.get("/v1/batches/{id}/report", response_class=HTMLResponse, dependencies=[IN_LANGUAGE])
def get_report(batch: FinishedBatch) -> Response:
    """Return the report of a batch as a page, as `judge report` writes it."""
    pieces = report_pieces(batch.folder)
    first = next(pieces)  # an error here can still become a status
    return StreamingResponse(chain([first], pieces), headers=PAGE_HEADERS, media_type="text/html")


async def _first(
    batches: AllBatches,
    first: Annotated[
        str, Query(description="The id of the earlier batch.", pattern=f"^{ID_PATTERN}$")
    ],
) -> Batch:
    return await _finished(await _batch(batches, first))


@router.get("/v1/batches/{id}/comparison", response_class=HTMLResponse, dependencies=[IN_LANGUAGE])
def get_comparison(batch: FinishedBatch, first: Annotated[Batch, Depends(_first)]) -> Response:
    """Return how a batch differs from the batch `first`, as a page.

    The page is that of `judge compare --across-signatures`: it warns if the batches were judged in
    different ways.
    """
    both = (first, batch)
    report = compare_runs(
        [finished_run(each.folder) for each in both],
        names=[each.record.name or each.id for each in both],
        by=None,
        scores=(),
        losses=(),
        across=True,
        worst=MOST_ANSWERS,
    )
    addresses = [f"../{each.id}/report" for each in both]
    pieces = comparison(report, [each.folder for each in both], addresses)
    return HTMLResponse("".join(pieces), headers=PAGE_HEADERS)


@router.post("/v1/batches/{id}/labels", dependencies=[IN_LANGUAGE])
def import_labels(batch: OneBatch) -> Agreement:
    """Import the labels that people gave on the page of the batch; there is no body.

    The response has the agreement with people and the corrected score.
    """
    run = batch.folder
    if not (sheets := review.worksheets(run)):
        raise Problem("conflict", "there are no labels; label sentences on the page first")
    return review.import_labels(run, sheets, page=agreement_page).agreement


@router.get("/v1/batches/{id}/agreement", response_class=HTMLResponse)
async def get_agreement(batch: OneBatch) -> Response:
    """Return the page that the last import of labels wrote."""
    path = batch.folder / PAGE
    if not path.is_file():
        detail = "no labels were imported; label on the page, then POST to labels"
        raise Problem("not-found", detail)
    return FileResponse(path, headers=PAGE_HEADERS, media_type="text/html")


async def labelled_run(request: Request, batch: FinishedBatch) -> None:
    """Give the routes of the label page the folder of a batch."""
    request.state.run, request.state.name = batch.folder, ""
