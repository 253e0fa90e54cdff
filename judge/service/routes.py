"""The routes of batches, their pages, and the label page, which `judge label` serves alone.

A dependency of the label page's routes sets `request.state.run` to the run folder, and
`request.state.name` to the argument of `judge review import`, if a person has to run it.
"""

import asyncio
import gzip
import hashlib
import os
import shutil
import zlib
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from functools import lru_cache
from itertools import chain, islice
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi import Path as InPath
from pydantic import ConfigDict, Field
from starlette.responses import FileResponse, HTMLResponse, StreamingResponse

from judge import review
from judge.errors import RunError
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
from judge.messages import LANGUAGE, Lang
from judge.pages.agreement import page as agreement_page
from judge.pages.compare import MOST_ANSWERS, comparison
from judge.pages.report import report as report_pieces
from judge.pages.service import batches_page, label_page
from judge.records import Support
from judge.reports.compare import compare_runs
from judge.review.records import Agreement, Draw
from judge.review.worksheet import LabelEntry, Question, Questions, Worksheet, draw_to_label
from judge.service.batches import ID_PATTERN, UPLOAD, Batch, Batches, BatchRecord
from judge.service.requests import MEGABYTE, Client, too_large
from judge.service.wire import SAMPLES, BatchStatus, Message, Options, Problem

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
_DRAW: Final = "r[0-9a-f]{8}"
router: Final = APIRouter()
label_router: Final = APIRouter()


async def _language(
    request: Request,
    lang: Annotated[
        Lang | None, Query(description="Language of the page; by default the browser's.")
    ] = None,
) -> None:
    chinese = request.headers.get("accept-language", "").lower().startswith("zh")
    LANGUAGE.set(lang or ("zh" if chinese else "en"))


IN_LANGUAGE: Final = [Depends(_language)]
"""Dependencies that set the language of the texts in a response."""


class LinesResponse(StreamingResponse):
    """JSON, an object a line."""

    media_type = "application/x-ndjson"


async def _batches(request: Request) -> Batches:
    batches: Batches = request.app.state.service.batches
    return batches


AllBatches = Annotated[Batches, Depends(_batches)]
BatchId = Annotated[str, InPath(description="The id of the batch.", pattern=f"^{ID_PATTERN}$")]


def _batch(batches: AllBatches, id: BatchId) -> Batch:  # noqa: A002  its name in paths
    """Return the batch; refuse one with links, which may lead out of its folder."""
    batch = batches.get(id)
    for name in ("", REVIEW, *OWN):
        if (batch.folder / name).is_symlink():
            place = f"{id}/{name}".rstrip("/")
            raise Problem("conflict", f"{place} is a link; move it away")
    return batch


OneBatch = Annotated[Batch, Depends(_batch)]


def _finished(batch: OneBatch) -> Batch:
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
    """Send many answers under an id; again, if judging them shall go on.

    Other bytes or options under a known id are a conflict.
    """
    return await _receive(request, response, sending, id)


async def _receive(
    request: Request, response: Response, sending: Sending, id_: str | None
) -> BatchStatus:
    service = request.app.state.service
    options = Options.model_validate(sending.model_dump(exclude={"name"}))
    options.gates(options.config(service.config))
    batches: Batches = service.batches
    folder = None
    try:
        folder = batches.new_folder()
        digest = hashlib.sha256()
        with (folder / UPLOAD).open("xb") as file:
            async for piece in request.stream():
                digest.update(piece)
                file.write(piece)
            file.flush()
            await asyncio.to_thread(os.fsync, file.fileno())
        await asyncio.to_thread(_check_unpacked, folder / UPLOAD, service.limits.max_batch)
        record = BatchRecord(
            name=sending.name,
            owner=request.state.client.name,
            options=options,
            arrived=datetime.now(UTC).isoformat(timespec="microseconds"),
            sha256=digest.hexdigest(),
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
) -> dict[str, list[BatchStatus]]:
    """List the last `limit` batches, the newest first, without their summaries."""
    last = batches.all()[: -limit - 1 : -1]
    return {"batches": [each.status(whole=False) for each in last]}


@router.get("/v1/batches/{id}")
def get_batch(batch: OneBatch) -> BatchStatus:
    """Return the state, the progress, and the totals of a finished batch."""
    return batch.status()


@router.get("/v1/batches/{id}/results", response_class=LinesResponse)
async def get_results(
    batch: OneBatch,
    after: Annotated[int, Query(ge=0, le=10**12)] = 0,
    limit: Annotated[int | None, Query(ge=1, le=10**12)] = None,
) -> Response:
    """Return up to `limit` results so far behind the first `after`, a `SampleResult` a line."""
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


@router.get("/", include_in_schema=False, dependencies=IN_LANGUAGE)
def get_page() -> Response:
    """Return the page of batches."""
    return HTMLResponse(batches_page())


@router.get("/v1/batches/{id}/report", response_class=HTMLResponse, dependencies=IN_LANGUAGE)
def get_report(batch: FinishedBatch) -> Response:
    """Return the report of a batch as a page, as `judge report` writes it."""
    pieces = report_pieces(batch.folder)
    first = next(pieces)  # an error here can still become a status
    return StreamingResponse(chain([first], pieces), media_type="text/html")


@router.get("/v1/batches/{id}/comparison", response_class=HTMLResponse, dependencies=IN_LANGUAGE)
def get_comparison(
    batches: AllBatches,
    batch: FinishedBatch,
    first: Annotated[str, Query(pattern=f"^{ID_PATTERN}$")],
) -> Response:
    """Return how a batch differs from the batch `first`, as `judge compare` writes it."""
    both = (_finished(_batch(batches, first)), batch)
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
    return HTMLResponse("".join(pieces))


@router.post("/v1/batches/{id}/labels", dependencies=IN_LANGUAGE)
def import_labels(batch: OneBatch) -> Agreement:
    """Import the labels that people gave on the page; return the agreement and corrected score."""
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
    return FileResponse(path, media_type="text/html")


async def labelled_run(request: Request, batch: FinishedBatch) -> None:
    """Give the routes of the label page the folder of a batch."""
    request.state.run, request.state.name = batch.folder, ""


class Reviewing(Message):
    """The reviewer and the draw, as query parameters."""

    reviewer: str = Field(default="", pattern=r"^[^\x00-\x1f\x7f]{0,100}$")
    """The reviewer's name; may be empty."""
    draw: str | None = Field(default=None, pattern=f"^{_DRAW}$")
    """The draw; by default the last one."""
    lang: Lang | None = None
    """Language of the page; by default the browser's."""


class Labelling(LabelEntry):
    """The label of one reviewer for a sentence."""

    model_config = ConfigDict(defer_build=False)

    label: Support | Literal[""] = ""
    note: str = Field(default="", max_length=10_000)


class LabelRow(LabelEntry):
    """A drawn sentence with the reviewer's label, which may have been edited by hand."""

    review_id: str
    """The id of its row."""


class LabelRows(Message):
    """The sentences that one reviewer labels."""

    rows: tuple[LabelRow, ...]
    """The sentences in the order of the sheet."""
    fresh: bool
    """Whether the sample was drawn by this request."""


RowId = Annotated[
    str, InPath(description="The id of the row.", pattern=rf"^{_DRAW}-[0-9a-f]{{12}}$")
]
Review = Annotated[Reviewing, Query()]


@label_router.get("/label", include_in_schema=False, dependencies=IN_LANGUAGE)
def get_label_page(request: Request) -> Response:
    """Return the page."""
    return HTMLResponse(label_page(request.state.name))


@label_router.get("/label/rows")
def list_rows(request: Request, review: Review) -> LabelRows:
    """List the drawn sentences with the reviewer's labels. Without a draw, draw a sample."""
    run: Path = request.state.run
    draw, fresh = draw_to_label(run, review.draw)
    entries = Worksheet(run, draw, review.reviewer).entries()
    ids = [each.review_id for each in draw.sentences]
    labels = (entries.get(id_, LabelEntry()).model_dump() for id_ in ids)
    rows = [LabelRow(review_id=id_, **label) for id_, label in zip(ids, labels, strict=True)]
    return LabelRows(rows=tuple(rows), fresh=fresh)


@label_router.get("/label/rows/{row}", dependencies=IN_LANGUAGE)
def get_row(request: Request, row: RowId, _: Review) -> Question:
    """Return what the sheet shows of a sentence, without the judge's verdict."""
    _draw, questions = _drawn(request.state.run, row)
    return questions.of(row)


@label_router.put("/label/rows/{row}")
def put_row(request: Request, row: RowId, review: Review, labelling: Labelling) -> Labelling:
    """Keep a label; it is on disk before the response. An empty label removes the last one."""
    draw, _ = _drawn(request.state.run, row)
    sheet = Worksheet(request.state.run, draw, review.reviewer)
    sheet.put(row, LabelEntry(**labelling.model_dump(mode="json")))
    return labelling


def _drawn(run: Path, row: str) -> tuple[Draw, Questions]:
    """Return the draw of a row and its questions; `Problem` if there is no such row."""
    try:
        stamp = (run / RESULTS).stat()
    except OSError as error:
        raise RunError(f"{run}: {error.strerror}") from None
    draw, questions = _read(run, row.partition("-")[0], (stamp.st_mtime_ns, stamp.st_size))
    if all(each.review_id != row for each in draw.sentences):
        raise Problem("not-found", f"draw {draw.draw} has no row {row}")
    return draw, questions


@lru_cache(maxsize=8)
def _read(run: Path, name: str, _stamp: tuple[int, int]) -> tuple[Draw, Questions]:
    draw, _ = draw_to_label(run, name)
    return draw, Questions(run, draw)
