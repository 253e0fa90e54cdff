"""The routes of batches: send, list, look at, read and cancel them, and their pages."""

import asyncio
import hashlib
import os
import shutil
import zlib
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Query, Request
from fastapi import Path as InPath
from pydantic import Field
from starlette.responses import FileResponse, HTMLResponse, Response, StreamingResponse

from judge import review
from judge.inputs.runs import PAGE, PART, REJECTED, RESULTS
from judge.pages.agreement import page as agreement_page
from judge.pages.batches import page as batches_page
from judge.pages.report import report as report_pieces
from judge.records import Summary
from judge.review.draws import samples_of
from judge.review.records import Agreement
from judge.service.access import Authorized
from judge.service.batches import ID_PATTERN, Batch, Batches, BatchRecord, Upload
from judge.service.label import IN_LANGUAGE, PAGE_HEADERS
from judge.service.problems import Problem, responses
from judge.service.requests import MEGABYTE, too_large
from judge.service.wire import SAMPLES, BatchList, BatchStatus, Findings, Message, Options
from judge.service.worker import UPLOAD

_BLOCK: Final = 1 << 18
_GZIP: Final = b"\x1f\x8b"
_NDJSON: Final = "application/x-ndjson"
_LINES: Final[dict[int | str, dict[str, Any]]] = {
    200: {
        "description": "One JSON object a line",
        "content": {_NDJSON: {"schema": {"type": "string"}}},
    }
}
_HTML: Final[dict[int | str, dict[str, Any]]] = {
    200: {"content": {"text/html": {"schema": {"type": "string"}}}}
}
_BODY: Final[dict[str, Any]] = {
    "requestBody": {
        "required": True,
        "content": {
            _NDJSON: {"schema": {"type": "string"}, "example": SAMPLES},
            "text/csv": {"schema": {"type": "string"}},
            "application/gzip": {"schema": {"type": "string", "format": "binary"}},
        },
    }
}

router: Final = APIRouter(prefix="/v1", responses=responses(400, 401, 403))


async def _batches(request: Request) -> Batches:
    found: Batches = request.app.state.service.batches
    return found


AllBatches = Annotated[Batches, Depends(_batches)]
BatchId = Annotated[str, InPath(description="The id of the batch.", pattern=f"^{ID_PATTERN}$")]


async def _batch(batches: AllBatches, id: BatchId) -> Batch:  # noqa: A002  its name in paths
    return batches.get(id)


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


_SENDING: Final = responses(408, 409, 413, 415, 422, 503)


@router.post(
    "/batches",
    status_code=201,
    response_model=BatchStatus,
    responses=_SENDING,
    openapi_extra=_BODY,
)
async def send_batch(
    request: Request, client: Authorized, sending: Annotated[Sending, Query()]
) -> Response:
    """Send many answers as JSON lines or CSV, also as gzip; they are judged in the background."""
    return await _receive(request, client.name, sending, None)


@router.put(
    "/batches/{id}",
    status_code=201,
    responses=_SENDING | {200: {"model": BatchStatus, "description": "It was there already"}},
    response_model=BatchStatus,
    openapi_extra=_BODY,
)
async def put_batch(
    request: Request,
    client: Authorized,
    id: BatchId,  # noqa: A002  its name in paths
    sending: Annotated[Sending, Query()],
) -> Response:
    """Send many answers under an id. The same request may be sent again.

    The same id, bytes and options are the same batch, and others a conflict. A batch that failed or
    was cancelled is taken up again.
    """
    return await _receive(request, client.name, sending, id)


async def _receive(request: Request, owner: str, sending: Sending, id_: str | None) -> Response:
    service = request.app.state.service
    if request.headers.get("content-encoding", "identity").lower() not in {"identity", "gzip"}:
        raise Problem("wrong-form", "Content-Encoding may only be gzip")
    options = Options.model_validate(sending.model_dump(exclude={"name"}))
    options.gates(options.config(service.config))
    batches: Batches = service.batches
    folder = batches.new_folder()
    try:
        upload = await _keep(request, folder / UPLOAD, service.limits.max_batch)
        record = BatchRecord(
            name=sending.name,
            owner=owner,
            options=options,
            arrived=datetime.now(UTC).isoformat(timespec="microseconds"),
            sha256=upload.sha256,
            size=upload.size,
        )
        batch, is_new = await batches.add(folder, id_, record)
    finally:
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
    headers = {"Location": f"/v1/batches/{batch.id}"}
    return _json(await asyncio.to_thread(batch.status), 201 if is_new else 200, headers)


async def _keep(request: Request, place: Path, megabytes: float) -> Upload:
    """Write the body to a new file that survives a power cut.

    A gzip file stays one. It is unpacked here only to see that it is not over the limit.
    """
    digest, size, unpacked = hashlib.sha256(), 0, None
    with place.open("xb") as file:
        async for piece in request.stream():
            if not size and piece[:2] == _GZIP:
                unpacked = _Unpacked(megabytes)
            if unpacked is not None:
                await asyncio.to_thread(unpacked.add, piece)
            digest.update(piece)
            size += len(piece)
            file.write(piece)
        file.flush()
        await asyncio.to_thread(os.fsync, file.fileno())
    return Upload(digest.hexdigest(), size)


class _Unpacked:
    """The size of a gzip file after unpacking."""

    def __init__(self, megabytes: float) -> None:
        self._megabytes = megabytes
        self._size = 0
        self._stream = zlib.decompressobj(wbits=31)

    def add(self, piece: bytes) -> None:
        """Unpack the next piece; `Problem` over the limit. The job reports a damaged file."""
        try:
            while piece:
                self._size += len(self._stream.decompress(piece, MEGABYTE))
                if self._size > self._megabytes * MEGABYTE:
                    raise too_large(self._megabytes)
                piece = self._stream.unconsumed_tail
                if self._stream.eof:
                    piece = self._stream.unused_data
                    self._stream = zlib.decompressobj(wbits=31)
        except zlib.error:
            return


class Paging(Message):
    """A part of the list of batches."""

    after: str | None = None
    """The id behind which the part begins."""
    limit: int = Field(default=50, ge=1, le=500)
    """The most batches in it."""


@router.get("/batches", response_model=BatchList, responses=responses(404, 422))
async def list_batches(batches: AllBatches, paging: Annotated[Paging, Query()]) -> Response:
    """List batches, oldest first."""
    every = batches.all()
    start = 0 if paging.after is None else every.index(batches.get(paging.after)) + 1
    part = every[start : start + paging.limit]
    is_last = start + paging.limit >= len(every)
    statuses = await asyncio.to_thread(lambda: [each.status(whole=False) for each in part])
    return _json(BatchList(batches=tuple(statuses), next=None if is_last else part[-1].id))


@router.get("/batches/{id}", response_model=BatchStatus, responses=responses(404, 422))
async def get_batch(batch: OneBatch) -> Response:
    """Return the state, the progress, failures by reason, and the totals of a finished batch."""
    return _json(await asyncio.to_thread(batch.status))


class Lines(Message):
    """A part of the results."""

    after: int = Field(default=0, ge=0, le=10**12)
    """The number of lines to skip."""
    limit: int | None = Field(default=None, ge=1, le=10**12)
    """The most lines to return."""


@router.get(
    "/batches/{id}/results", response_class=Response, responses=responses(404, 422) | _LINES
)
async def get_results(batch: OneBatch, lines: Annotated[Lines, Query()]) -> Response:
    """Return a `SampleResult` a line, in input order, also while the batch is running."""
    blocks = _whole_lines(batch.folder, lines.after, lines.limit)
    return StreamingResponse(blocks, media_type=_NDJSON)


def _whole_lines(folder: Path, after: int, limit: int | None) -> Iterator[bytes]:
    """Yield blocks of whole lines of the results; a line that is half written is left out."""
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
    "/batches/{id}/rejected", response_class=Response, responses=responses(404, 422) | _LINES
)
async def get_rejected(batch: OneBatch) -> Response:
    """Return the bad lines that were set aside, and what is wrong with each."""
    path = batch.folder / REJECTED
    if not path.is_file():
        return Response(b"", media_type=_NDJSON)
    return FileResponse(path, media_type=_NDJSON)


class Removal(Message):
    """How to end a batch."""

    purge: bool = False
    """Also remove its folder with all results and labels."""


@router.delete(
    "/batches/{id}",
    response_model=BatchStatus,
    responses=responses(404, 422) | {204: {"description": "It was removed"}},
)
async def cancel_batch(
    batch: OneBatch, batches: AllBatches, client: Authorized, removal: Annotated[Removal, Query()]
) -> Response:
    """Stop judging a batch. What was judged stays, unless the batch is purged."""
    is_foreign = batch.record.owner not in {"", client.name}
    if removal.purge and is_foreign and client.role != "admin":
        detail = f"{batch.record.owner!r} sent this batch; only an admin may purge it"
        raise Problem("not-allowed", detail)
    await batches.cancel(batch, purge=removal.purge)
    return Response(status_code=204) if removal.purge else await get_batch(batch)


def _json(record: Message, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return Response(record.model_dump_json(), status, headers, "application/json")


pages: Final = APIRouter()


@pages.get("/", include_in_schema=False, dependencies=[IN_LANGUAGE])
async def get_page() -> Response:
    """The page of batches."""
    return HTMLResponse(await asyncio.to_thread(batches_page), headers=PAGE_HEADERS)


@router.get(
    "/batches/{id}/report",
    response_class=Response,
    responses=responses(404, 409, 422) | _HTML,
    dependencies=[IN_LANGUAGE],
)
async def get_report(batch: FinishedBatch) -> Response:
    """Return the report of a batch as a page, as `judge report` writes it."""

    def begin() -> Iterator[str]:
        pieces = report_pieces(batch.folder)
        return chain([next(pieces)], pieces)  # an error here can still become a status

    pieces = await asyncio.to_thread(begin)
    return StreamingResponse(pieces, headers=PAGE_HEADERS, media_type="text/html; charset=utf-8")


@router.post(
    "/batches/{id}/labels",
    response_model=Findings,
    responses=responses(404, 409, 422),
    dependencies=[IN_LANGUAGE],
)
async def import_labels(batch: OneBatch) -> Response:
    """Import the labels that people gave on the page of the batch; there is no body.

    The response has the agreement with people and the corrected score.
    """
    return _json(await asyncio.to_thread(_import, batch.folder))


def _import(run: Path) -> Findings:
    def page_of(agreement: Agreement, summary: Summary) -> str:
        samples = partial(samples_of, run, agreement.target)
        return agreement_page(agreement, summary, samples)

    if not (sheets := review.worksheets(run)):
        raise Problem("conflict", "there are no labels; label sentences on the page first")
    imported = review.import_labels(run, sheets, page=page_of)
    others = tuple(each.agreement for each in imported.others)
    return Findings(agreement=imported.agreement, others=others, noted=imported.noted)


@router.get(
    "/batches/{id}/agreement", response_class=Response, responses=responses(404, 422) | _HTML
)
async def get_agreement(batch: OneBatch) -> Response:
    """Return the page that the last import of labels wrote."""
    path = batch.folder / PAGE
    if not path.is_file():
        raise Problem(
            "not-found", "no labels were imported; label on the page, then POST to labels"
        )
    return FileResponse(path, headers=PAGE_HEADERS, media_type="text/html; charset=utf-8")


async def labelled_run(request: Request, batch: FinishedBatch) -> None:
    """Give the routes of the label page the folder of a batch."""
    request.state.run, request.state.name = batch.folder, ""
