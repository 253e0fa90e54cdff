"""The routes of the label page. `judge label` serves them alone, `judge serve` for each batch.

A dependency of theirs sets `request.state.run` to the run folder. It sets `request.state.name` to
the argument of `judge review import`, if a person has to run that command, else to nothing.
"""

import re
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Final, Literal

from fastapi import APIRouter, Depends, Query, Request
from fastapi import Path as InPath
from pydantic import Field, field_validator
from starlette.responses import HTMLResponse, Response

from judge.errors import RunError
from judge.inputs.runs import RESULTS
from judge.messages import LANGS, LANGUAGE, Lang
from judge.pages.service import label_page
from judge.review.records import Draw
from judge.review.sheet import read_label
from judge.review.worksheet import LabelEntry, Question, Questions, Skip, Worksheet, draw_to_label
from judge.service.problems import Problem
from judge.service.wire import Message

PAGE_HEADERS: Final = {"content-security-policy": "frame-ancestors 'none'; form-action 'none'"}
"""The policy that only a header can set; the page itself contains the rest."""
_DRAW: Final = "r[0-9a-f]{8}"

router: Final = APIRouter()


def preferred(accepted: str) -> Lang:
    """Return the first language of ours in an `Accept-Language` header, else English.

    >>> preferred("fr, zh-CN;q=0.9, en;q=0.8"), preferred("*")
    ('zh', 'en')
    """
    tags = [re.split("[-;]", each.strip())[0] for each in accepted.lower().split(",")]
    return next((lang for tag in tags for lang in LANGS if tag == lang), "en")


async def _language(
    request: Request,
    lang: Annotated[
        Lang | None, Query(description="Language of the page; by default the browser's.")
    ] = None,
) -> None:
    LANGUAGE.set(lang or preferred(request.headers.get("accept-language", "")))


IN_LANGUAGE: Final = Depends(_language)
"""A dependency that sets the language of the texts in a response."""


class Reviewing(Message):
    """The reviewer and the draw, as query parameters."""

    reviewer: str = Field(default="", pattern=r"^[^\x00-\x1f\x7f]{0,100}$")
    """The reviewer's name; may be empty."""
    draw: str | None = Field(default=None, pattern=f"^{_DRAW}$")
    """The draw; by default the last one."""
    lang: Lang | None = None
    """Language of the page; by default the browser's."""


class Labelling(Message):
    """The label of one reviewer for a sentence."""

    label: str = Field(default="", max_length=40)
    """A value of the column `human_support` of a sheet; may be empty."""
    skip: Skip | Literal[""] = ""
    """Why there is no label."""
    note: str = Field(default="", max_length=10_000)
    """A comment."""

    @field_validator("label")
    @classmethod
    def _is_label(cls, label: str) -> str:
        read_label(label)
        return label


class LabelRow(Labelling):
    """A drawn sentence with the reviewer's label."""

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


@router.get("/label", include_in_schema=False, dependencies=[IN_LANGUAGE])
def get_label_page(request: Request) -> Response:
    """Return the page."""
    return HTMLResponse(label_page(request.state.name), headers=PAGE_HEADERS)


@router.get("/label/rows")
def list_rows(request: Request, review: Review) -> LabelRows:
    """List the drawn sentences with the reviewer's labels. Without a draw, draw a sample."""
    run: Path = request.state.run
    draw, fresh = draw_to_label(run, review.draw)
    entries = Worksheet(run, draw, review.reviewer).entries()
    # A sheet may have been edited by hand, so its labels are not validated.
    rows = tuple(
        LabelRow.model_construct(
            review_id=each.review_id, **entries.get(each.review_id, LabelEntry()).model_dump()
        )
        for each in draw.sentences
    )
    return LabelRows.model_construct(rows=rows, fresh=fresh)


@router.get("/label/rows/{row}", dependencies=[IN_LANGUAGE])
def get_row(request: Request, row: RowId, _: Review) -> Question:
    """Return what the sheet shows of a sentence, without the judge's verdict."""
    _draw, questions = _drawn(request.state.run, row)
    return questions.of(row)


@router.put("/label/rows/{row}")
def put_row(request: Request, row: RowId, review: Review, labelling: Labelling) -> Labelling:
    """Keep a label; it is on disk before the response. An empty label removes the last one."""
    draw, _ = _drawn(request.state.run, row)
    sheet = Worksheet(request.state.run, draw, review.reviewer)
    sheet.put(row, LabelEntry(label=labelling.label, skip=labelling.skip, note=labelling.note))
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


def load_questions(run: Path, draw: Draw) -> None:
    """Read the questions of a draw into memory; raise RunError if the samples are gone."""
    _drawn(run, draw.sentences[0].review_id)
