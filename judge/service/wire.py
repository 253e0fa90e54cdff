"""The records that the service and its client exchange."""

import json
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
)
from judge.records import Record, Summary
from judge.records.run import RunRecord
from judge.reports.gate import Gates
from judge.review.records import Agreement

PROBLEM: Final = "application/problem+json"
TYPE: Final = "urn:judge:problem:"
"""Before the name of a problem, in its type."""
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
"""The states in which something is still to come."""


class Message(Record):
    """A record whose field docstrings stand in the OpenAPI document."""

    model_config = ConfigDict(defer_build=False, use_attribute_docstrings=True)


class ProblemDetails(Message):
    """What went wrong, as `application/problem+json`."""

    type: str
    """`urn:judge:problem:` and a name: what to tell problems apart by."""
    title: str
    """What every problem of this type is."""
    status: int
    """The status of the response."""
    detail: str
    """What is wrong this time, and what to do."""
    request: str = ""
    """The id of the request, as the log has it."""
    field: str | None = None
    """The field that is wrong, such as `chunks[2].text`."""
    line: int | None = Field(default=None, ge=1)
    """The line of the body that is wrong."""

    def error(self) -> JudgeError:
        """The error that the package itself would have raised."""
        kind = _ERRORS.get(self.type.removeprefix(TYPE), ConfigError)
        if kind is InputError:
            path = "" if self.line is None else "what was sent"
            return InputError(self.detail, path=path, line=self.line, field=self.field or "")
        return kind(self.detail)


_ERRORS: Final[dict[str, type[JudgeError]]] = {
    "wrong-field": InputError,
    "bad-request": InputError,
    "too-large": InputError,
    "not-found": RunError,
    "conflict": RunError,
    "judge-unavailable": JudgeUnavailable,
    "judge-unhealthy": JudgeUnhealthy,
    "queue-full": JudgeUnavailable,
    "too-late": JudgeUnavailable,
    "too-slow": JudgeUnavailable,
    "bug": JudgeError,
}
"""By the name of a problem; of others it is the caller's settings that are wrong."""


class Options(Message):
    """What a batch was asked to be judged with, beside the settings of the service."""

    skip_bad_lines: bool = False
    """Set bad lines aside, in `rejected.jsonl`."""
    correctness: bool | None = None
    """Compare with `gold_answer`; null: as the service does."""
    relevance: bool | None = None
    """Ask whether the query is answered; null: likewise."""
    max_unscored: float | None = None
    """Share of unscored claims over which the totals are untrusted; null: likewise."""
    fail_under: tuple[str, ...] = ()
    """Gates, `NAME=X`: the least a score may be."""
    fail_over: tuple[str, ...] = ()
    """Gates: the most a rate may be."""
    strict_gate: bool = False
    """Gate on the worse limit, failures counted against it."""
    expect: str | None = None
    """Which judge is meant, by the beginning of its signature."""

    def config(self, config: Config) -> Config:
        """The settings of the service, with these."""
        own = {name: getattr(self, name) for name in ("correctness", "relevance", "max_unscored")}
        chosen = {name: value for name, value in own.items() if value is not None}
        given = {name: getattr(config, name) for name in config.model_fields_set}
        return Config.model_validate(given | chosen)

    def gates(self, config: Config) -> Gates:
        """The gates; ConfigError where one cannot be, or is on what is not measured."""
        gates = Gates.read(
            {"least": self.fail_under, "most": self.fail_over},
            self.expect,
            strict=self.strict_gate,
        )
        gates.check(correctness=config.correctness, relevance=config.relevance)
        return gates


class BatchStatus(Message):
    """How a batch stands."""

    id: str
    """Also the name of its run folder."""
    name: str
    """What whoever sent it calls it."""
    state: State
    """`queued` until its turn comes, `checking` while its samples are read, then `running`."""
    arrived: str
    """ISO 8601, UTC."""
    finished: str | None = None
    """Likewise; null while it is not."""
    options: Options
    """What it is judged with."""
    total: int | None = None
    """Answers in it; null until they are counted."""
    done: int = 0
    """Answers with a result."""
    rejected: int = 0
    """Bad lines set aside."""
    rate: float | None = None
    """Answers a second since this session of it began."""
    seconds_left: float | None = None
    """At that rate."""
    failures: dict[str, int] = Field(default_factory=dict)
    """Claims without a verdict, by reason; while it runs those of this session."""
    signature: str | None = None
    """How the numbers are made; null until it has begun."""
    run: RunRecord | None = None
    """How the run is made, as its `run.json` says, without places on the service's machine."""
    summary: Summary | None = None
    """The totals, gates among them, once it is finished."""
    exit_code: int | None = None
    """What `judge score` would have exited with: 0, 1 for a failed gate, 3 for an untrusted run."""
    results_sha256: str | None = None
    """Hash of the results, once all are there."""
    labelled: bool = False
    """Whether labels of people were imported."""
    problem: ProblemDetails | None = None
    """Why it has failed."""


class BatchList(Message):
    """A page of batches, oldest first."""

    batches: tuple[BatchStatus, ...]
    """Those of this page; without their summaries."""
    next: str | None = None
    """What to give as `after` for the next page; null on the last."""


class Findings(Message):
    """What an import of labels found."""

    agreement: Agreement
    """What the labels say of the judge."""
    others: tuple[Agreement, ...] = ()
    """Likewise of the other half of correctness."""
    noted: int
    """Rows with a note and no label; they count as blank."""
