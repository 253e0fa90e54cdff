"""The comparison of runs over the same questions."""

from typing import Literal

from pydantic import Field

from judge.records.sample import Document, Record
from judge.records.summary import GateResult, Interval

Side = Literal["least", "most"]
"""How a gate bounds a score: from below (`least`) if more is better, from above if less is."""


class ScoreDifference(Record):
    """The change of a score from the first run to this one, over questions scored in both."""

    pairs: int
    """The number of questions that both runs score."""
    first: float
    """The mean of the first run over these questions."""
    value: float
    """The mean of this run over these questions."""
    difference: float
    """`value` minus `first`."""
    interval: Interval
    """95 %: a paired t interval, or Wilson's where fewer than six pairs, or all equally, differ."""
    p: float
    """Two-sided p of a paired t test; at least 2^(1 - k) where k questions differ."""
    p_holm: float
    """`p` corrected by Holm's method for the number of scores or slices tested together."""
    better: int
    """Questions whose answer has the better score in this run."""
    worse: int
    """Questions whose answer has the better score in the first run."""
    open: int = 0
    """Further questions of both whose score failures leave open in at least one run."""
    bounds: tuple[float, float] | None = None
    """The least and the greatest difference with the open questions; null where none failed."""

    @property
    def tied(self) -> int:
        """Questions whose answers have the same score."""
        return self.pairs - self.better - self.worse


class LabelChange(Record):
    """A change of label in answers that have the same text in both runs."""

    first: str
    """The label in the first run."""
    then: str
    """The label in this run."""
    sentences: int
    """The number of sentences with this change."""


class AnswerChange(Record):
    """A question whose answers differ in the headline score."""

    qid: str
    """The qid of the question."""
    first: float | None
    """The headline score in the first run; null where it has none."""
    value: float | None
    """The headline score in this run; null where it has none."""


class Differences(Record):
    """How one run differs from the first."""

    run: str
    """The name of the run."""
    common: int
    """Questions of both runs."""
    only_here: int
    """Questions of this run alone, in no difference."""
    only_first: int
    """Questions of the first run alone, in no difference."""
    reworded: int = 0
    """Questions of both runs whose words differ, so that they may be different questions; 0 where
    the samples of either run are gone."""
    qids: dict[Literal["only_here", "only_first", "reworded"], tuple[str, ...]]
    """The first qids of each kind."""
    scores: dict[str, ScoreDifference | None]
    """The differences by score; null where no question has the score in both runs."""
    slices: dict[str, dict[str, ScoreDifference | None]]
    """The same by the first run's value of the key, if there is one; "" for answers without it."""
    same_text: int
    """Questions whose answers have the same text in both runs."""
    labels: tuple[LabelChange, ...]
    """Changes of labels in answers with the same text, the most frequent first."""
    changed: int
    """Questions whose answers differ in the headline score."""
    worst: tuple[AnswerChange, ...]
    """The first changed answers: the greatest losses of the headline come first, unscored last."""


class RunLine(Record):
    """A run in the comparison."""

    name: str
    """The folder as the command names it, or the name of a batch."""
    started: str | None = None
    """The time of its start, ISO 8601; null where it is unknown."""
    answers: int
    """The number of answers."""
    signatures: dict[str, int]
    """Answers by signature."""
    untrusted: bool = False
    """Whether its scores should not be reported, because too many verdicts failed."""
    mean: dict[str, float | None]
    """The mean of each score over all its answers."""
    interval: dict[str, Interval | None] = Field(default_factory=dict)
    """The 95 % interval of each mean."""


class RunComparison(Document):
    """What `judge compare --json` prints."""

    runs: tuple[RunLine, ...]
    """The runs in the order of the command; the others are compared with the first."""
    sides: dict[str, Side]
    """Whether more ("least") or less ("most") of a score is better; the headline comes first."""
    across: tuple[str, ...]
    """The parts in which signatures differ; with any, the runs were judged differently."""
    offline: bool
    """Whether similarity judged all runs, so that sentences only look supported."""
    by: str | None
    """The key of the slices."""
    differences: tuple[Differences, ...]
    """The differences of each run from the first."""
    gates: tuple[GateResult, ...] = ()
    """The gates of the command, in its order."""
