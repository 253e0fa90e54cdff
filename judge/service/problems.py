"""Problems: the errors of the service as RFC 9457 defines them, without texts of samples."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

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
from judge.service.wire import KINDS, PROBLEM, TYPE, ProblemDetails
from judge.text.visible import clip

_MAX_DETAIL: Final = 300


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
        status, title, _ = KINDS[self.name]
        return ProblemDetails(
            type=TYPE + self.name,
            title=title,
            status=status,
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


_SHOWN_VALUE: Final = re.compile(r"[,:] .*; ", re.DOTALL)
_SHOWN_LINE: Final = re.compile(r"^holds .*; ", re.DOTALL)
_MODEL_TEXT: Final = re.compile("«.*?»", re.DOTALL)
_NAMES: Final[Mapping[type[JudgeError], str]] = {
    InputError: "wrong-field",
    RunError: "conflict",
    UsageError: "wrong-setting",
    JudgeUnhealthy: "judge-unhealthy",
    JudgeUnavailable: "judge-unavailable",
    WorkerLost: "judge-unavailable",
    JudgeError: "bug",
}


def without_texts(error: InputError) -> str:
    """Return what is wrong with a sample, without the value that the message shows.

    >>> without_texts(InputError("is a list, ['a secret']; text is needed"))
    'is a list; text is needed'
    """
    message = error.problem
    if not message.startswith("is missing"):  # shows the names of fields only
        message = _SHOWN_VALUE.sub("; ", _SHOWN_LINE.sub("is no object; ", message))
    return clip(message, _MAX_DETAIL)


def problem_of(error: JudgeError, data: Path | None = None) -> Problem:
    """Return an error of the package as a problem.

    What the judge's server said may concern only the owner of the service, so the problem leaves it
    out.

    Args:
        error: the error.
        data: the folder of the batches, whose path clients must not see.
    """
    if isinstance(error, Problem):
        return error
    name = next(name for kind, name in _NAMES.items() if isinstance(error, kind))
    match error:
        case JudgeUnavailable() | WorkerLost():
            return Problem(name, "the log of the service says why; try again later")
        case InputError():
            return Problem(name, without_texts(error), field=error.field, line=error.line)
    return Problem(name, str(error) if data is None else str(error).replace(f"{data}/", ""))


def for_log(error: JudgeError) -> str:
    """Return an error without what a model wrote, or a sample contains."""
    if isinstance(error, InputError):
        return f"line {error.line}, field {error.field!r}: {without_texts(error)}"
    return _MODEL_TEXT.sub("«…»", str(error))
