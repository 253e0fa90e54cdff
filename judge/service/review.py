"""Review over HTTP: a sheet is drawn of a finished batch, and its labels are read back."""

import asyncio
import csv
import tempfile
from functools import partial
from pathlib import Path
from typing import Annotated, Final, Literal

from fastapi import APIRouter, Query, Request
from pydantic import Field
from starlette.responses import JSONResponse, Response

from judge import review
from judge.errors import InputError, JudgeError
from judge.files.tables import csv_row, restore
from judge.messages import Lang
from judge.pages.agreement import page as written
from judge.records import Record, Summary
from judge.review.records import Agreement
from judge.review.sheet import column_of
from judge.review.targets import samples_of
from judge.service.batches import Batch
from judge.service.collection import Found
from judge.service.docs import LABELS, SHEET, problems
from judge.service.live import body_of
from judge.service.problems import Problem, problem_of
from judge.service.wire import Findings, Sheet, Told

_XLSX: Final = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_FORMS: Final = {"application/json": "json", "text/csv": "csv", _XLSX: "xlsx"}

router: Final = APIRouter(prefix="/v1", responses=problems(400, 401, 403))


class Drawing(Told):
    """What to draw, as `judge review draw` takes it."""

    size: int = Field(default=60, ge=1, le=1_000_000)
    """Sentences or answers."""
    target: Literal["faithfulness", "correctness"] = "faithfulness"
    """What people are to check."""
    by: Literal["sentence", "answer"] = "sentence"
    """What is drawn."""
    seed: int = Field(default=0, ge=0, le=2**63)
    """Another one draws others."""
    verdicts: bool = False
    """Show what the judge said."""
    lang: Lang = "en"
    """Language of the sheet."""


class LabelRows(Record):
    """A sheet that comes back as rows; columns as they went out."""

    rows: list[dict[str, str]]
    """At least `review_id` and `human_support` of each."""


@router.post(
    "/batches/{id}/draws",
    response_model=Sheet,
    responses=problems(404, 406, 409, 422) | {200: SHEET},
)
async def draw(request: Request, batch: Found, drawing: Annotated[Drawing, Query()]) -> Response:
    """A sheet of claims, more of the doubtful: JSON rows, CSV or XLSX, as `Accept` says."""
    form = _accepted(request.headers.get("accept", "*/*"))
    return await asyncio.to_thread(_drawn, batch, drawing, form)


def _accepted(accept: str) -> str:
    for part in accept.lower().split(","):
        media = part.partition(";")[0].strip()
        if media in _FORMS:
            return media
        if media in {"*/*", "application/*", ""}:
            return "application/json"
        if media == "text/*":
            return "text/csv"
    raise Problem("not-acceptable", "details.sheet-given", forms=", ".join(_FORMS))


def _drawn(batch: Batch, drawing: Drawing, media: str) -> Response:
    form = _FORMS[media]
    with tempfile.TemporaryDirectory() as place:
        sheet = Path(place) / ("review.xlsx" if form == "xlsx" else "review.csv")
        try:
            review.draw(batch.folder, sheet, **drawing.model_dump())
        except JudgeError as error:
            raise _told(error, batch, place) from None
        data = sheet.read_bytes()
    if form != "json":
        name = f'attachment; filename="{batch.id}-review.{form}"'
        return Response(data, media_type=media, headers={"Content-Disposition": name})
    header, *lines = csv.reader(data.decode("utf-8-sig").splitlines(keepends=True))
    columns = [column_of(each) or each for each in header]
    rows = [dict(zip(columns, map(restore, line), strict=True)) for line in lines]
    return JSONResponse(Sheet(rows=tuple(rows)).model_dump())


@router.post(
    "/batches/{id}/labels",
    response_model=Findings,
    responses=problems(404, 408, 409, 413, 415, 422),
    openapi_extra=LABELS,
)
async def labels(
    request: Request, batch: Found, *, replace: bool = False, lang: Lang = "en"
) -> Response:
    """A filled-in sheet, CSV, XLSX or JSON rows: how good the judge is, and the corrected score.

    Without a body, what people labelled last on the page of the batch.
    """
    body = await body_of(request)
    media = request.headers.get("content-type", "text/csv").partition(";")[0].strip().lower()
    if media not in _FORMS:
        raise Problem("wrong-form", "details.sheet-taken", forms=", ".join(_FORMS))
    found = await asyncio.to_thread(_imported, batch, body, _FORMS[media], replace, lang)
    return Response(found.model_dump_json(), media_type="application/json")


def _imported(batch: Batch, body: bytes, form: str, replace: bool, lang: Lang) -> Findings:  # noqa: FBT001
    run = batch.folder

    def page(agreement: Agreement, summary: Summary) -> str:
        return written(agreement, summary, lang, partial(samples_of, run, agreement.target))

    with tempfile.TemporaryDirectory() as place:
        sheet = Path(place) / ("labels.xlsx" if form == "xlsx" else "labels.csv")
        sheet.write_bytes(_sheet(body) if form == "json" else body)
        try:
            sheets = [sheet] if body else review.worksheets(run)
            if not sheets:
                raise Problem("conflict", "details.nobody-labelled")
            made = review.import_labels(run, sheets, replace=replace, page=page)
        except JudgeError as error:
            raise _told(error, batch, place) from None
    others = tuple(each.agreement for each in made.others)
    noted = made.noted + sum(each.noted for each in made.others)
    return Findings(agreement=made.agreement, others=others, noted=noted)


def _sheet(body: bytes) -> bytes:
    """A sheet of JSON rows, as CSV."""
    try:
        rows = LabelRows.model_validate_json(body).rows
    except ValueError as error:
        raise Problem("wrong-field", "details.rows", kind=type(error).__name__) from None
    columns = sorted({name for row in rows for name in row})
    lines = [csv_row(columns), *(csv_row([row.get(name, "") for name in columns]) for row in rows)]
    return "".join(lines).encode("utf-8", "surrogatepass")


def _told(error: JudgeError, batch: Batch, place: str) -> Problem:
    """An error of a sheet, whose rows it names and may show: they are whose who sent them."""
    if isinstance(error, InputError):
        return Problem(
            "wrong-field", str(error).replace(f"{place}/", ""), line=error.line, field=error.field
        )
    return problem_of(error, **{batch.id: batch.folder, "the_sheet": Path(place)})
