"""The site: the page of batches, logging in to it, and the pages of a batch."""

import asyncio
from collections.abc import Iterator
from functools import partial
from itertools import chain
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Query, Request
from pydantic import Field, ValidationError
from starlette.responses import (
    FileResponse,
    HTMLResponse,
    JSONResponse,
    Response,
    StreamingResponse,
)

from judge import review
from judge.inputs.runs import PAGE
from judge.messages import Lang
from judge.pages.agreement import page as agreement_page
from judge.pages.batches import page
from judge.pages.report import report as written
from judge.records import Summary
from judge.review.records import Agreement
from judge.review.targets import samples_of
from judge.service.access import Logins
from judge.service.batches import Batch
from judge.service.body import read
from judge.service.collection import Found
from judge.service.docs import problems
from judge.service.label import HEADERS
from judge.service.live import body_of
from judge.service.problems import Problem
from judge.service.wire import Findings, Told

_MOST: Final = 0.01
NO_RUN: Final = "it is {state}; only a batch that has finished has a report, and sentences to label"

router: Final = APIRouter(include_in_schema=False)


class Credential(Told):
    """What a browser logs in with."""

    token: str = Field(max_length=1000)
    """A token of the service."""


_Lang = Annotated[
    Lang | None, Query(description="Language of the page; without, as the browser prefers.")
]


def _language(request: Request, lang: _Lang = None) -> Lang:
    preferred: Lang = request.scope["judge.lang"]
    return lang or preferred


_Spoken = Annotated[Lang, Depends(_language)]
"""As a link asks, or as the browser prefers."""


@router.get("/")
async def home(request: Request, lang: _Spoken) -> Response:
    """The page of batches; its script asks for them."""
    login = _logins(request).state(request.headers)
    made = await asyncio.to_thread(page, lang, login)
    return HTMLResponse(made, headers=HEADERS)


@router.get("/session")
async def state(request: Request) -> Response:
    """Whether a login is needed: a link from elsewhere brings no cookie along, the page does."""
    return JSONResponse({"login": _logins(request).state(request.headers)})


@router.post("/session")
async def begin(request: Request) -> Response:
    """Log in: the token comes as JSON, a cookie goes."""
    try:
        given = Credential.model_validate_json(await read(request, _MOST))
    except ValidationError:
        raise Problem("wrong-field", "token is needed, a text", field="token") from None
    answer = Response(status_code=204)
    if not _logins(request).begin(given.token, request.headers, answer):
        raise Problem("no-token", "this is no token of the service; ask who runs it")
    return answer


@router.delete("/session")
async def end(request: Request) -> Response:
    """Log out."""
    answer = Response(status_code=204)
    _logins(request).end(request.headers, answer)
    return answer


def _logins(request: Request) -> Logins:
    found: Logins = request.scope["judge.logins"]
    return found


views: Final = APIRouter(prefix="/v1", responses=problems(400, 401, 403))
_HTML: Final[dict[int | str, dict[str, Any]]] = {
    200: {"content": {"text/html": {"schema": {"type": "string"}}}}
}


@views.get(
    "/batches/{id}/report",
    summary="A batch as a page",
    response_class=StreamingResponse,
    responses=problems(404, 409, 422) | _HTML,
)
async def report(batch: Found, lang: _Spoken) -> Response:
    """Its scores, charts of them and all its answers, as `judge report` writes them."""
    if batch.state != "finished":
        raise Problem("conflict", NO_RUN.format(state=batch.state))

    def begun() -> Iterator[str]:
        pieces = written(batch.folder, lang)
        return chain([next(pieces)], pieces)  # here, what is wrong is still told by its status

    pieces = await asyncio.to_thread(begun)
    return StreamingResponse(pieces, headers=HEADERS, media_type="text/html; charset=utf-8")


@views.post(
    "/batches/{id}/labels",
    summary="Import the labels of the page",
    response_model=Findings,
    responses=problems(404, 408, 409, 413, 415, 422),
)
async def labels(request: Request, batch: Found, lang: _Spoken) -> Response:
    """Import what people labelled last on the page of the batch; there is no body.

    The answer says how good the judge is, and the corrected score.
    """
    if await body_of(request):
        raise Problem(
            "wrong-form",
            "no sheet is read here: send no body to import what was labelled on the page, and "
            "import a sheet with judge review import",
        )
    found = await asyncio.to_thread(_imported, batch, lang)
    return Response(found.model_dump_json(), media_type="application/json")


def _imported(batch: Batch, lang: Lang) -> Findings:
    run = batch.folder

    def page_of(agreement: Agreement, summary: Summary) -> str:
        return agreement_page(agreement, summary, lang, partial(samples_of, run, agreement.target))

    if not (sheets := review.worksheets(run)):
        raise Problem("conflict", "nobody labelled it on its page")
    made = review.import_labels(run, sheets, page=page_of)
    others = tuple(each.agreement for each in made.others)
    return Findings(agreement=made.agreement, others=others, noted=made.noted)


@views.get(
    "/batches/{id}/agreement",
    summary="What people's labels say, as a page",
    response_class=FileResponse,
    responses=problems(404, 422) | _HTML,
)
async def agreement(batch: Found) -> Response:
    """As the last import of labels wrote it."""
    path = batch.folder / PAGE
    if not path.is_file():
        raise Problem(
            "not-found", "no labels were imported; label on the page, then POST to labels"
        )
    return FileResponse(path, headers=HEADERS, media_type="text/html; charset=utf-8")
