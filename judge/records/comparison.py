"""Runs over the same questions, set side by side."""

from typing import Literal

from pydantic import Field

from judge.records.sample import Document, Record
from judge.records.summary import GateResult, Interval

Side = Literal["least", "most"]
"""Whether of a score more is better, or less: what a gate bounds it by."""


class ScoreDifference(Record):
    """A score of one run less that of the first, over the questions that have it in both."""

    pairs: int
    """The number of questions that both runs score."""
    first: float
    """The first run's mean over them."""
    value: float
    """This run's."""
    difference: float
    """That less the first's."""
    interval: Interval
    """95 %: a paired t interval, or Wilson's where fewer than six pairs, or all equally, differ."""
    p: float
    """Two-sided p of a paired t test; at least 2^(1 - k) where k questions differ."""
    p_holm: float
    """`p` corrected by Holm's method for the number of scores or slices tested together."""
    better: int
    """Questions whose answer has the better score in this run."""
    worse: int
    """In the first."""
    open: int = 0
    """Further questions of both of which failures leave the score open in at least one run."""
    bounds: tuple[float, float] | None = None
    """The least and the greatest difference with the open questions; null where none failed."""

    @property
    def tied(self) -> int:
        """Questions whose answers have the same score."""
        return self.pairs - self.better - self.worse


class LabelChange(Record):
    """Sentences of equal answers whose label is another."""

    first: str
    """In the first run."""
    then: str
    """In this one."""
    sentences: int
    """The number of sentences."""


class AnswerChange(Record):
    """A question whose answers differ, in text, in a label, or in a score."""

    qid: str
    """Which."""
    first: float | None
    """The headline score in the first run; null where it has none."""
    value: float | None
    """In this run."""
    same_text: bool
    """Whether both answers read the same."""
    sentences: int
    """The number of sentences whose labels differ, where both answers read the same."""


class Differences(Record):
    """How one run differs from the first."""

    run: str
    """The name of the run."""
    common: int
    """Questions of both."""
    only_here: int
    """Questions of this run alone, in no difference."""
    only_first: int
    """Questions of the first run alone, in no difference."""
    reworded: int = 0
    """Questions of both whose words differ: under one qid the runs may have asked different things.
    0 where the samples of either are gone."""
    qids: dict[Literal["only_here", "only_first", "reworded"], tuple[str, ...]]
    """The first qids of each kind."""
    scores: dict[str, ScoreDifference | None]
    """By score; null where no question has it in both."""
    slices: dict[str, dict[str, ScoreDifference | None]]
    """The same by the first run's value of the key, if there is one; "" for answers without it."""
    same_text: int
    """Questions whose answers read the same in both."""
    labels: tuple[LabelChange, ...]
    """Changes of labels in answers that read the same, the most frequent first."""
    changed: int
    """Questions whose answers differ in anything."""
    worst: tuple[AnswerChange, ...]
    """The first of them: the greatest losses of the headline score first, the unscored last."""


class RunLine(Record):
    """One of the runs."""

    name: str
    """As it was given."""
    started: str | None = None
    """When; null where nothing says."""
    answers: int
    """The number of answers."""
    signatures: dict[str, int]
    """Answers by signature."""
    untrusted: bool = False
    """Whether so much failed that its scores are not to be reported."""
    mean: dict[str, float | None]
    """Means over all its answers, by score."""
    interval: dict[str, Interval | None] = Field(default_factory=dict)
    """The 95 % intervals of these means."""


class RunComparison(Document):
    """What `judge compare --json` prints."""

    runs: tuple[RunLine, ...]
    """In the given order; the others are compared with the first."""
    sides: dict[str, Side]
    """Whether more ("least") or less ("most") of a score is better; the headline comes first."""
    across: tuple[str, ...]
    """The parts in which signatures differ; with any, the runs were judged differently."""
    offline: bool
    """Whether similarity judged all of them: sentences only look supported."""
    by: str | None
    """The key of the slices."""
    differences: tuple[Differences, ...]
    """The differences of each run from the first."""
    gates: tuple[GateResult, ...] = ()
    """The gates of the command, in its order."""
