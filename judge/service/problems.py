"""Problems: every error as HTTP says it (RFC 9457), with a stable type and nothing of a sample."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

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

_SHOWN: Final = 300


class Kind(NamedTuple):
    """What every problem of a name has in common."""

    status: int
    """The status of the response."""
    title: str
    """What the problem is, in a sentence."""


KINDS: Final[Mapping[str, Kind]] = {
    "bad-request": Kind(400, "The request is broken"),
    "no-token": Kind(401, "A bearer token is needed, and this is none that is known"),
    "wrong-host": Kind(403, "Asked under a name, or from a web page, that is not allowed"),
    "not-found": Kind(404, "There is no such thing"),
    "wrong-method": Kind(405, "That cannot be done with this"),
    "too-slow": Kind(408, "The body came too slowly"),
    "conflict": Kind(409, "That does not fit with what is there"),
    "too-large": Kind(413, "The body is too large"),
    "wrong-form": Kind(415, "The body is in a form that is not read"),
    "wrong-field": Kind(422, "Something in the request is wrong"),
    "wrong-setting": Kind(422, "It cannot be judged so"),
    "queue-full": Kind(429, "Too many answers wait already"),
    "bug": Kind(500, "A bug of judge's; its log tells more"),
    "judge-unavailable": Kind(503, "The judge cannot be asked"),
    "judge-unhealthy": Kind(503, "The judge is asked, and nothing usable comes"),
    "draining": Kind(503, "The service is about to stop"),
    "too-late": Kind(504, "Not done within the time that was given"),
}
"""By the end of a problem's type."""


class Problem(JudgeError):
    """A request that cannot be served.

    Args:
        name: what kind of problem it is, one of `KINDS`.
        detail: what is wrong, and what to do.
        field: that is wrong; likewise the `line` of the body.
        headers: of the response.
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

    @property
    def status(self) -> int:
        """The status of the response."""
        return KINDS[self.name].status

    def details(self, request: str = "") -> ProblemDetails:
        """What it says to the request of this id."""
        return ProblemDetails(
            type=TYPE + self.name,
            title=KINDS[self.name].title,
            status=self.status,
            detail=str(self),
            request=request,
            field=self.field or None,
            line=self.line,
        )

    def response(self, request: str) -> Response:
        """The response to it."""
        said = self.details(request).model_dump(exclude_none=True)
        body = json.dumps(said, ensure_ascii=False).encode("utf-8", "replace")
        return Response(body, self.status, self.headers, PROBLEM)


_VALUE: Final = re.compile(r"is (a list|an object|text), .*; (.* is needed)", re.DOTALL)
_SNIPPET: Final = re.compile(r"(bad JSON: .*? at column \d+): .*; (mend the line)", re.DOTALL)
_HOLDS: Final = re.compile(r"holds .*?; (each line is one JSON object.*)", re.DOTALL)
_BEGINS: Final = re.compile(
    r"(neither JSON lines nor CSV): it begins with .*, (which names no )", re.DOTALL
)
_NOWHERE: Final = re.compile(r"(stands nowhere in .*? on): .*; (give the texts )", re.DOTALL)


def told(error: InputError) -> str:
    """What is wrong with a sample, without its texts: of values only numbers are repeated.

    >>> told(InputError("is a list, ['a secret']; text is needed"))
    'is a list; text is needed'
    >>> told(InputError("is a number, 5; text is needed"))
    'is a number, 5; text is needed'
    """
    said = error.problem
    for shape, left in (
        (_VALUE, r"is \1; \2"),
        (_SNIPPET, r"\1; \2"),
        (_HOLDS, r"is no object; \1"),
        (_BEGINS, r"\1, \2"),
        (_NOWHERE, r"\1; \2"),
    ):
        said = shape.sub(left, said)
    return clip(said, _SHOWN)


def problem_of(error: JudgeError, **places: Path) -> Problem:
    """How an error of the package is told to who asked; `places` are paths, by what to call them.

    What a judge's server said may concern its owner alone: it goes to the log.
    """
    if isinstance(error, Problem):
        return error
    if isinstance(error, InputError):
        detail = cleaned(told(error), **places)
        return Problem("wrong-field", detail, field=error.field, line=error.line)
    if isinstance(error, JudgeUnavailable | WorkerLost):
        return Problem(name_of(error), "the log of the service says why; ask again later")
    return Problem(name_of(error), cleaned(str(error), **places))


def name_of(error: JudgeError) -> str:
    """The name of the problem that an error of the package is."""
    return next(name for kind, name in _NAMES.items() if isinstance(error, kind))


_NAMES: Final[Mapping[type[JudgeError], str]] = {
    InputError: "wrong-field",
    RunError: "conflict",
    UsageError: "wrong-setting",
    JudgeUnhealthy: "judge-unhealthy",
    JudgeUnavailable: "judge-unavailable",
    WorkerLost: "judge-unavailable",
    JudgeError: "bug",
}


def unquoted(error: JudgeError) -> str:
    """An error for the log: without what a model said, or a sample holds."""
    if isinstance(error, InputError):
        return str(InputError(told(error), path="samples", line=error.line, field=error.field))
    return re.sub("«.*?»", "«…»", str(error), flags=re.DOTALL)


def cleaned(text: str, **places: Path) -> str:
    """A message in which paths of this machine are called by what they are.

    >>> cleaned("/srv/data/b1/run.json: damaged", b1=Path("/srv/data/b1"))
    'b1/run.json: damaged'
    """
    for name, place in places.items():
        text = text.replace(str(place), name.replace("_", " "))
    return text
