"""The records and the errors that the service and its client exchange.

The errors are problems as RFC 9457 defines them, without texts of samples.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal, get_args

from pydantic import ConfigDict, Field

from judge.config import Config
from judge.errors import (
    ConfigError,
    InputError,
    JudgeError,
    JudgeUnavailable,
    JudgeUnhealthy,
    RunError,
    UsageError,
    WorkerLost,
)
from judge.records import Record, Summary
from judge.records.comparison import Side
from judge.records.result import ADDED
from judge.reports.gate import Gates
from judge.text.visible import clip

PROBLEM: Final = "application/problem+json"
TYPE: Final = "urn:judge:problem:"
"""The beginning of the type of each problem; its name follows."""
SAMPLE: Final = {
    "qid": "q1",
    "query": "When does the canteen open?",
    "answer": "It opens at seven [1].",
    "chunks": [{"chunk_id": "a", "text": "The canteen opens at seven."}],
}
"""The example of a request."""
SAMPLES: Final = "".join(json.dumps(SAMPLE | {"qid": each}) + "\n" for each in ("q1", "q2"))
State = Literal["queued", "checking", "running", "finished", "failed", "cancelled"]
STATES: Final[tuple[State, ...]] = get_args(State)
OPEN: Final = frozenset({"queued", "checking", "running"})
"""The states of a batch that is still to be judged."""
_MAX_DETAIL: Final = 300
_SHOWN_VALUE: Final = re.compile(r"[,:] .*; ", re.DOTALL)
_SHOWN_LINE: Final = re.compile(r"^holds (?!no sample|\d+ texts; ).*; ", re.DOTALL)
_MAP_OPTION: Final = re.compile(r"(?:(?<=; )or )?name [\w ]+: judge score --map .*", re.DOTALL)
_MODEL_TEXT: Final = re.compile("«.*?»", re.DOTALL)


class Message(Record):
    """A record whose field docstrings appear in the OpenAPI document."""

    model_config = ConfigDict(defer_build=False, use_attribute_docstrings=True)


KINDS: Final[Mapping[str, tuple[int, str, type[JudgeError]]]] = {
    "bad-request": (400, "The request is malformed", InputError),
    "no-token": (401, "The token is missing or unknown", ConfigError),
    "not-allowed": (403, "The role of the token does not allow this", ConfigError),
    "wrong-origin": (403, "A web page of another site sent the request", ConfigError),
    "not-found": (404, "There is no such thing", RunError),
    "wrong-method": (405, "The method is not allowed here", ConfigError),
    "too-slow": (408, "The body arrived too slowly", JudgeUnavailable),
    "conflict": (409, "The request conflicts with what is there", RunError),
    "too-large": (413, "The body is too large", InputError),
    "wrong-field": (422, "A field of the request is wrong", InputError),
    "wrong-setting": (422, "The service cannot judge with these settings", ConfigError),
    "queue-full": (429, "Too many answers are waiting", JudgeUnavailable),
    "bug": (500, "A bug in judge; the log of the service has more", JudgeError),
    "judge-unavailable": (503, "The judge cannot be reached", JudgeUnavailable),
    "judge-unhealthy": (503, "The judge returns nothing usable", JudgeUnhealthy),
    "too-late": (504, "There was no result in time", JudgeUnavailable),
    "no-space": (507, "The data folder cannot be written", RunError),
}
"""The status and the title of each problem by the end of its type, and the error of the client."""


class ProblemDetails(Message):
    """An error, as `application/problem+json`."""

    type: str
    """`urn:judge:problem:` and the name of the problem."""
    title: str
    """What all problems of this type have in common."""
    status: int
    """The status of the response."""
    detail: str
    """The cause of the error in this request, and the next step."""
    request: str = ""
    """The id of the request in the log."""
    field: str | None = None
    """The field that is wrong, such as `chunks[2].text`."""
    line: int | None = Field(default=None, ge=1)
    """The line of the body that is wrong."""

    def error(self) -> JudgeError:
        """Return the error that the package itself would have raised."""
        _, _, kind = KINDS.get(self.type.removeprefix(TYPE), (0, "", ConfigError))
        if kind is InputError:
            path = "" if self.line is None else "what was sent"
            return InputError(self.detail, path=path, line=self.line, field=self.field or "")
        return kind(self.detail)


class Problem(JudgeError):
    """A request that cannot be served.

    Args:
        name: a key of `KINDS`.
        detail: what is wrong and what to do.
        field: the field that is wrong.
        line: the line of the body that is wrong.
    """

    def __init__(
        self, name: str, detail: str, *, field: str | None = None, line: int | None = None
    ) -> None:
        self.name = name
        self._place = {"field": field or None, "line": line}
        super().__init__(detail)

    def details(self, request: str = "") -> ProblemDetails:
        """Return the problem of the request with this id."""
        status, title, _ = KINDS[self.name]
        fields = {"type": TYPE + self.name, "title": title, "status": status}
        return ProblemDetails(**fields, detail=str(self), request=request, **self._place)


def without_texts(error: InputError) -> str:
    """Return what is wrong with a sample, without its value, and with a step for an HTTP client.

    >>> without_texts(InputError("is a list, ['a secret']; text is needed"))
    'is a list; text is needed'
    >>> without_texts(InputError("holds 2 texts; name one: judge score --map answer=PATH"))
    'holds 2 texts; send the fields that /docs shows'
    """
    message = error.problem
    if not message.startswith("is missing"):  # shows the names of fields only
        message = _SHOWN_VALUE.sub("; ", _SHOWN_LINE.sub("is no object; ", message))
    return clip(_MAP_OPTION.sub("send the fields that /docs shows", message), _MAX_DETAIL)


def problem_of(error: JudgeError, data: Path | None = None) -> Problem:
    """Return an error of the package as a problem.

    It omits what the judge's server said, which may concern only the owner of the service, and the
    path of `data`, the folder of the batches.
    """
    detail = str(error) if data is None else str(error).replace(f"{data}/", "")
    match error:
        case Problem():
            return error
        case InputError():
            return Problem("wrong-field", without_texts(error), field=error.field, line=error.line)
        case JudgeUnavailable() | WorkerLost():
            name = "judge-unhealthy" if isinstance(error, JudgeUnhealthy) else "judge-unavailable"
            return Problem(name, "the log of the service says why; try again later")
        case RunError():
            return Problem("conflict", detail)
        case UsageError():
            return Problem("wrong-setting", detail)
    return Problem("bug", detail)


def for_log(error: JudgeError) -> str:
    """Return an error without what a model wrote, or a sample contains."""
    if isinstance(error, InputError):
        return f"line {error.line}, field {error.field!r}: {without_texts(error)}"
    return _MODEL_TEXT.sub("«…»", str(error))


def with_settings(config: Config, **changes: object) -> Config:
    """Return settings with some changed, checked as a whole."""
    explicit = {name: getattr(config, name) for name in config.model_fields_set}
    return Config.model_validate(explicit | changes)


class Options(Message):
    """How to judge a batch, beside the settings of the service."""

    skip_bad_lines: bool = False
    """Write bad lines to `rejected.jsonl` and go on."""
    correctness: bool | None = None
    """Compare with `gold_answer`; by default as the service does."""
    relevance: bool | None = None
    """Judge whether the query is answered; by default as the service does."""
    context: bool | None = None
    """Judge by the chunks what `gold_answer` claims; by default as the service does."""
    fail_under: tuple[str, ...] = ()
    """Gates, `NAME=X`: the least that a score may be."""
    fail_over: tuple[str, ...] = ()
    """Gates, `NAME=X`: the most that a rate may be."""
    strict_gate: bool = False
    """Apply gates to the worse limit, where failures count against the score."""

    def config(self, config: Config) -> Config:
        """Return the settings of the service with these options."""
        own = {name: getattr(self, name) for name in ADDED}
        return with_settings(config, **{n: value for n, value in own.items() if value is not None})

    def gates(self, config: Config) -> Gates:
        """Return the gates; ConfigError if one is malformed, or its score is not measured."""
        bounds: dict[Side, tuple[str, ...]] = {"least": self.fail_under, "most": self.fail_over}
        gates = Gates.read(bounds, strict=self.strict_gate)
        gates.check(config)
        return gates


class BatchStatus(Message):
    """The state and the progress of a batch."""

    id: str
    """The id, which is also the name of the run folder."""
    name: str
    """The sender's name for the batch."""
    state: State
    """`queued` until its turn comes, `checking` while its samples are read, then `running`."""
    arrived: str
    """The time of arrival, ISO 8601, UTC."""
    finished: str | None = None
    """The time of the end, ISO 8601, UTC; null before."""
    options: Options
    """The options that the batch was sent with."""
    total: int | None = None
    """Answers in the batch; null until they are counted."""
    done: int = 0
    """Answers with a result."""
    rejected: int = 0
    """Bad lines that were set aside."""
    signature: str | None = None
    """How the scores are made; null until judging has begun."""
    summary: Summary | None = None
    """The totals of a finished batch, with its gates."""
    exit_code: int | None = None
    """The exit code of `judge score`: 0, 1 for a failed gate, 3 for an untrusted run."""
    labelled: bool = False
    """Whether labels of people were imported."""
    problem: ProblemDetails | None = None
    """Why the batch failed."""
