"""Problems: the errors of the service as RFC 9457 defines them, without texts of samples."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from starlette.exceptions import HTTPException
from starlette.responses import Response

from judge.errors import (
    InputError,
    JudgeError,
    JudgeUnavailable,
    JudgeUnhealthy,
    RunError,
    UsageError,
    WorkerLost,
)
from judge.service.wire import PROBLEM, TYPE, ProblemDetails
from judge.text.visible import clip

_MAX_DETAIL: Final = 300


class Kind(NamedTuple):
    """What all problems of one type have in common."""

    status: int
    title: str


KINDS: Final[Mapping[str, Kind]] = {
    "bad-request": Kind(400, "The request is malformed"),
    "no-token": Kind(401, "The token is missing or unknown"),
    "not-allowed": Kind(403, "The role of the token does not allow this"),
    "wrong-origin": Kind(403, "A web page of another site sent the request"),
    "not-found": Kind(404, "There is no such thing"),
    "wrong-method": Kind(405, "The method is not allowed here"),
    "too-slow": Kind(408, "The body arrived too slowly"),
    "conflict": Kind(409, "The request conflicts with what is there"),
    "too-large": Kind(413, "The body is too large"),
    "wrong-form": Kind(415, "The body is in a form that is not read"),
    "wrong-field": Kind(422, "A field of the request is wrong"),
    "wrong-setting": Kind(422, "The service cannot judge with these settings"),
    "queue-full": Kind(429, "Too many answers are waiting"),
    "bug": Kind(500, "A bug in judge; the log of the service has more"),
    "judge-unavailable": Kind(503, "The judge cannot be reached"),
    "judge-unhealthy": Kind(503, "The judge returns nothing usable"),
    "too-late": Kind(504, "There was no result in time"),
}
"""The kinds of problems, by the end of their type."""
_CHALLENGES: Final = ('Bearer realm="judge"', 'Basic realm="judge", charset="UTF-8"')
"""The second has a browser ask for a password, which is the token."""


class Problem(JudgeError):
    """A request that cannot be served.

    Args:
        name: a key of `KINDS`.
        detail: what is wrong and what to do.
        field: the field that is wrong.
        line: the line of the body that is wrong.
        headers: headers of the response.
    """

    def __init__(
        self,
        name: str,
        detail: str,
        *,
        field: str | None = None,
        line: int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.name = name
        self.field = field
        self.line = line
        self.headers = dict(headers or {})
        super().__init__(detail)

    def details(self, request: str = "") -> ProblemDetails:
        """Return the problem of the request with this id."""
        return ProblemDetails(
            type=TYPE + self.name,
            title=KINDS[self.name].title,
            status=KINDS[self.name].status,
            detail=str(self),
            request=request,
            field=self.field or None,
            line=self.line,
        )

    def response(self, request: str) -> Response:
        """Return the response to the request with this id."""
        details = self.details(request).model_dump(exclude_none=True)
        body = json.dumps(details, ensure_ascii=False).encode("utf-8", "replace")
        response = Response(body, details["status"], self.headers, PROBLEM)
        if self.name == "no-token":
            for challenge in _CHALLENGES:
                response.headers.append("WWW-Authenticate", challenge)
        return response


def responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the problems with these statuses, and bugs, as FastAPI's `responses` of a route."""
    content = {PROBLEM: {"schema": ProblemDetails.model_json_schema()}}
    return {
        status: {
            "description": "; ".join(
                f"`{name}`: {kind.title}" for name, kind in KINDS.items() if kind.status == status
            ),
            "content": content,
        }
        for status in (*statuses, 500)
    }


_STATUSES: Final = {401: "no-token", 404: "not-found", 405: "wrong-method"}


def problem_of_http(error: HTTPException) -> Problem:
    """Return the problem for an exception that FastAPI raises by itself."""
    name = _STATUSES.get(error.status_code, "bad-request")
    detail = "the body is not JSON" if name == "bad-request" else f"{error.detail}; see /docs"
    return Problem(name, detail, headers={} if name == "no-token" else error.headers)


_VALUE: Final = re.compile(r"is (a list|an object|text), .*; (.* is needed)", re.DOTALL)
_SNIPPET: Final = re.compile(r"(bad JSON: .*? at column \d+): .*; (mend the line)", re.DOTALL)
_HOLDS: Final = re.compile(r"holds .*?; (each line is one JSON object.*)", re.DOTALL)
_BEGINS: Final = re.compile(
    r"(neither JSON lines nor CSV): it begins with .*, (which names no )", re.DOTALL
)
_NOWHERE: Final = re.compile(r"(stands nowhere in .*? on): .*; (give the texts )", re.DOTALL)


def without_texts(error: InputError) -> str:
    """Return what is wrong with a sample without its texts: only numbers are repeated.

    >>> without_texts(InputError("is a list, ['a secret']; text is needed"))
    'is a list; text is needed'
    >>> without_texts(InputError("is a number, 5; text is needed"))
    'is a number, 5; text is needed'
    """
    message = error.problem
    for shape, left in (
        (_VALUE, r"is \1; \2"),
        (_SNIPPET, r"\1; \2"),
        (_HOLDS, r"is no object; \1"),
        (_BEGINS, r"\1, \2"),
        (_NOWHERE, r"\1; \2"),
    ):
        message = shape.sub(left, message)
    return clip(message, _MAX_DETAIL)


_NAMES: Final[Mapping[type[JudgeError], str]] = {
    InputError: "wrong-field",
    RunError: "conflict",
    UsageError: "wrong-setting",
    JudgeUnhealthy: "judge-unhealthy",
    JudgeUnavailable: "judge-unavailable",
    WorkerLost: "judge-unavailable",
    JudgeError: "bug",
}


def problem_of(error: JudgeError, **places: Path) -> Problem:
    """Return an error of the package as a problem.

    What the judge's server said may concern only the owner of the service, so the problem leaves it
    out.

    Args:
        error: the error.
        places: paths of this machine by the names that the problem gives them.
    """
    if isinstance(error, Problem):
        return error
    name = next(name for kind, name in _NAMES.items() if isinstance(error, kind))
    if isinstance(error, InputError):
        detail = _renamed(without_texts(error), places)
        return Problem(name, detail, field=error.field, line=error.line)
    if isinstance(error, JudgeUnavailable | WorkerLost):
        return Problem(name, "the log of the service says why; try again later")
    return Problem(name, _renamed(str(error), places))


def _renamed(message: str, places: Mapping[str, Path]) -> str:
    for name, place in places.items():
        message = message.replace(str(place), name.replace("_", " "))
    return message


def for_log(error: JudgeError) -> str:
    """Return an error without what a model wrote, or a sample contains."""
    if isinstance(error, InputError):
        return str(
            InputError(without_texts(error), path="samples", line=error.line, field=error.field)
        )
    return re.sub("«.*?»", "«…»", str(error), flags=re.DOTALL)
