"""What a run folder says of itself: `run.json`."""

from typing import Literal

from pydantic import Field, JsonValue

from judge.records.record import Record


class RunInput(Record):
    """The file that was scored."""

    path: str
    """Where it lay; `input` of the run folder where it came from standard input."""
    sha256: str
    """Hash of its bytes."""
    samples: int
    """How many answers it holds."""
    rejected: int = 0
    """How many bad lines were left out; they stand in `rejected.jsonl`."""


class RunRecord(Record):
    """How a run was made, so that it can be told apart, resumed and made again."""

    schema_: Literal[1] = Field(default=1, alias="schema")
    """Version of this layout."""
    signature: str
    """How every number of the run is made, those of correctness aside."""
    correctness: str | None = None
    """How those of correctness are made; null where it was not asked for."""
    config: dict[str, JsonValue]
    """All settings, without secrets."""
    versions: dict[str, str]
    """Of Python, of this package, and of the libraries that touch a number."""
    input: RunInput
    """What was scored."""
    started: str
    """ISO 8601, UTC."""
    finished: str | None = None
    """ISO 8601, UTC; null while the run is not whole."""
    seconds: float | None = None
    """Wall time of the session that finished the run."""
    resumed: int = 0
    """How many answers that session found already scored."""
