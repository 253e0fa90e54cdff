"""Labelling over HTTP: a page for one reviewer, and what it asks for and keeps.

The routes are one set: `judge label` mounts them alone, `judge serve` for each of its batches. Who
mounts them puts the folder of the run into `request.state.run`.
"""

import asyncio
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Final, Literal

from fastapi import APIRouter, Query, Request
from pydantic import Field, ValidationError, field_validator
from starlette.responses import HTMLResponse, Response

from judge.errors import RunError
from judge.inputs.runs import RESULTS
from judge.messages import Lang
from judge.pages.label import page
from judge.review.records import Draw
from judge.review.sheet import read_label
from judge.review.targets import For
from judge.review.worksheet import Entry, Question, Questions, Skip, Worksheet, draws_for
from judge.service.body import read
from judge.service.docs import problems
from judge.service.problems import Problem
from judge.service.wire import Told

HEADERS: Final = {"content-security-policy": "frame-ancestors 'none'; form-action 'none'"}
"""Of a page: what it must say in a header; its own policy, in the page, says the rest."""
_MOST: Final = 1.0
"""MB of a label with its comment."""
_REVIEWER: Final = r"^[^\x00-\x1f\x7f]{0,100}$"

router: Final = APIRouter(responses=problems(400, 401, 403))


class Who(Told):
    """Who labels what."""

    reviewer: str = Field(default="", pattern=_REVIEWER)
    """The name; may be empty."""
    target: For = "faithfulness"
    """What is checked."""
    draw: str | None = Field(default=None, pattern=r"^r[0-9a-f]{8}$")
    """Which draw; without, the last that was made for the target."""
    lang: Lang | None = None
    """Language of the page; without, as the browser prefers."""


class Said(Told):
    """What a reviewer says of a sentence."""

    label: str = Field(default="", max_length=40)
    """As `human_support` of a sheet; empty where there is none."""
    skip: Skip | Literal[""] = ""
    """Why there is none."""
    note: str = Field(default="", max_length=10_000)
    """A comment."""

    @field_validator("label")
    @classmethod
    def _is_label(cls, label: str) -> str:
        read_label(label)
        return label


class LabelRow(Said):
    """A drawn sentence, and what is said of it so far."""

    review_id: str
    """The id of its row."""


class Labels(Told):
    """What one reviewer has to label."""

    rows: tuple[LabelRow, ...]
    """In the order of the sheet."""
    fresh: bool
    """Whether the sample was drawn only now."""


RowId = Annotated[
    str, Field(description="The row of the sheet.", pattern=r"^r[0-9a-f]{8}-[0-9a-f]{12}$")
]
_Who = Annotated[Who, Query()]


@router.get("/label", include_in_schema=False)
async def label_page(request: Request, who: _Who) -> Response:
    """The page."""
    made = await asyncio.to_thread(page, _lang(request, who), request.state.name)
    return HTMLResponse(made, headers=HEADERS)


@router.get(
    "/label/rows",
    summary="What is to be labelled",
    response_model=Labels,
    responses=problems(404, 409, 422),
)
async def to_label(request: Request, who: _Who) -> Response:
    """The rows of the sheet by id, with the reviewer's own labels; draws them where nobody did."""
    found = await asyncio.to_thread(_rows, request.state.run, who)
    return _json(found)


@router.get(
    "/label/rows/{row}",
    summary="A sentence to label",
    response_model=Question,
    responses=problems(404, 409, 422),
)
async def question(request: Request, row: RowId, who: _Who) -> Response:
    """What the sheet shows of it: nothing that the judge said."""
    _, questions = await asyncio.to_thread(_drawn, request.state.run, row)
    return _json(await asyncio.to_thread(questions.of, row, _lang(request, who)))


@router.put(
    "/label/rows/{row}",
    summary="Label a sentence",
    response_model=Said,
    responses=problems(404, 408, 409, 413, 415, 422),
)
async def set_label(request: Request, row: RowId, who: _Who) -> Response:
    """Keeps it, on disk before this answers; an empty label without a reason takes it back."""
    try:
        said = Said.model_validate_json(await read(request, _MOST))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise Problem("wrong-field", f"{place}: {first['msg']}", field=place) from None
    draw, _ = await asyncio.to_thread(_drawn, request.state.run, row)
    sheet = Worksheet(request.state.run, draw, who.reviewer)
    entry = Entry(label=said.label, skip=said.skip, note=said.note)
    await asyncio.to_thread(sheet.put, row, entry)
    return _json(said)


def _lang(request: Request, who: Who) -> Lang:
    preferred: Lang = request.scope["judge.lang"]
    return who.lang or preferred


def _json(record: Told | Question) -> Response:
    return Response(record.model_dump_json(), media_type="application/json")


def _rows(run: Path, who: Who) -> Labels:
    draws, fresh = draws_for(run, who.target, who.draw)
    found = []
    for draw in draws:
        entries = Worksheet(run, draw, who.reviewer).entries()
        for each in draw.sentences:
            entry = entries.get(each.review_id, Entry())
            found.append(LabelRow.model_construct(review_id=each.review_id, **entry.model_dump()))
    return Labels.model_construct(rows=tuple(found), fresh=fresh)


def _drawn(run: Path, row: str) -> tuple[Draw, Questions]:
    """The draw of a row and its questions; `Problem` where it has no such row."""
    try:
        stamp = (run / RESULTS).stat()
    except OSError as error:
        raise RunError(f"{run}: {error.strerror}") from None
    draw, questions = _read(run, row.partition("-")[0], (stamp.st_mtime_ns, stamp.st_size))
    if all(each.review_id != row for each in draw.sentences):
        raise Problem("not-found", f"draw {draw.draw} has no row {row}")
    return draw, questions


def made_ready(run: Path, draws: Iterable[Draw]) -> None:
    """Read what is to be asked before anybody asks; RunError where the samples are gone."""
    for each in draws:
        if each.sentences:
            _drawn(run, each.sentences[0].review_id)


@lru_cache(maxsize=8)
def _read(run: Path, name: str, _stamp: tuple[int, int]) -> tuple[Draw, Questions]:
    (draw,), _ = draws_for(run, "faithfulness", name)
    return draw, Questions(run, draw)
