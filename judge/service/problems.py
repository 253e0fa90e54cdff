"""Problems: every error as HTTP says it (RFC 9457), with a stable type and nothing of a sample."""

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
from judge.messages import Lang, Messages
from judge.service.wire import PROBLEM, TYPE, ProblemDetails
from judge.text.visible import clip

_SHOWN: Final = 300


KINDS: Final[Mapping[str, int]] = {
    "bad-request": 400,
    "no-token": 401,
    "wrong-host": 403,
    "not-found": 404,
    "wrong-method": 405,
    "too-slow": 408,
    "conflict": 409,
    "too-large": 413,
    "wrong-form": 415,
    "wrong-field": 422,
    "wrong-setting": 422,
    "queue-full": 429,
    "bug": 500,
    "judge-unavailable": 503,
    "judge-unhealthy": 503,
    "draining": 503,
    "too-late": 504,
}
"""The status of each type of problem, by its end."""
TEXTS: Final = Messages.of("service")


class Problem(JudgeError):
    """A request that cannot be served.

    Args:
        name: what kind of problem it is, one of `KINDS`.
        said: the key of its text in `service.toml`, or a text as the package has it.
        field: that is wrong; likewise the `line` of the body, or the row of a sheet.
        headers: of the response.
        values: what the text is filled in with.
    """

    def __init__(
        self,
        name: str,
        said: str,
        *,
        field: str | None = None,
        line: int | None = None,
        headers: Mapping[str, str] | None = None,
        **values: object,
    ) -> None:
        self.name = name
        self.field = field
        self.line = line
        self.headers = dict(headers or {})
        self._said = said
        self._values = values
        super().__init__(self.detail("en"))

    @property
    def status(self) -> int:
        """The status of the response."""
        return KINDS[self.name]

    def detail(self, lang: Lang) -> str:
        """What is wrong, and what to do."""
        return TEXTS(self._said, lang, **self._values) if self._said in TEXTS else self._said

    def details(self, request: str = "", lang: Lang = "en") -> ProblemDetails:
        """What it says to the request of this id."""
        return ProblemDetails(
            type=TYPE + self.name,
            title=TEXTS(f"titles.{self.name}", lang),
            status=self.status,
            detail=self.detail(lang),
            request=request,
            field=self.field or None,
            line=self.line,
        )

    def response(self, request: str, lang: Lang = "en") -> Response:
        """The response to it."""
        said = self.details(request, lang)
        body = json.dumps(said.model_dump(exclude_none=True), ensure_ascii=False)
        headers = {"Content-Language": lang} | self.headers
        return Response(body.encode("utf-8", "replace"), self.status, headers, PROBLEM)


_VALUE: Final = re.compile(r"is (a list|an object|text), .*; (.* is needed)", re.DOTALL)
_SNIPPET: Final = re.compile(r"(bad JSON: .*? at column \d+): .*; (mend the line)", re.DOTALL)
_HOLDS: Final = re.compile(r"holds .*?; (each line is one JSON object.*)", re.DOTALL)
_BEGINS: Final = re.compile(
    r"(neither JSON lines nor CSV): it begins with .*, (which names no )", re.DOTALL
)
_NOWHERE: Final = re.compile(r"(stands nowhere in .*? on): .*; (give the texts )", re.DOTALL)
_TWICE: Final = re.compile(r"the key .* stands twice in an object; (keep one)", re.DOTALL)


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
        (_TWICE, r"a key stands twice in an object; \1"),
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
        return Problem(name_of(error), "details.unavailable")
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
