"""What people agreed on, and what a judge makes of it now."""

from typing import Literal

from pydantic import Field

from judge.records.record import Record
from judge.records.sentence import SentenceKind
from judge.records.verdict import Support


class GoldenLabel(Record):
    """One sentence that people agree on; `labels` of a golden set's line is a list of these."""

    sentence: int
    """Index of the sentence when it was labelled."""
    start: int
    """First character, into the answer: what the sentence is known by."""
    end: int
    """One past the last character."""
    text: str
    """The sentence."""
    support: Support | None
    """What people say; null where one of them answered yes or no only."""
    supported: bool
    """Whether the chunks fully support it."""
    reviewers: int
    """How many people say so; none said otherwise."""
    judged: Support | None
    """What the run's own judge said; null where it gave no verdict, fallen back or not."""
    signature: str
    """How that was made."""


class LostSentence(Record):
    """A labelled sentence that the judge is not asked about any more."""

    qid: str
    """Whose answer."""
    sentence: int
    """Index of the sentence when it was labelled."""
    text: str
    """The sentence."""
    kind: SentenceKind | None
    """What it is taken for now; null where no sentence begins and ends there."""


class Flip(Record):
    """A labelled sentence of which the judge says something else now."""

    qid: str
    """Whose answer."""
    sentence: int
    """Index of the sentence when it was labelled."""
    text: str
    """The sentence."""
    change: Literal["worse", "other", "better"]
    """From right to wrong, neither, or from wrong to right."""
    then: Support
    """What the judge said when the set was made."""
    now: Support
    """What it says now."""
    support: Support | None
    """What people say; null where one of them answered yes or no only."""
    supported: bool
    """Whether they say that the chunks fully support it."""


class Drift(Record):
    """A golden set judged again: what flipped since it was made, and whether by more than chance.

    The agreements are on the golden set, and of no run: it holds only what people agree on, and
    what was drawn for them holds more of the doubtful.
    """

    schema_: Literal[1] = Field(default=1, alias="schema")
    """Version of this layout."""
    signatures_then: dict[str, int]
    """Labels by how the judge's verdicts were made when the set was."""
    signatures_now: dict[str, int]
    """Labels by how they are made now."""
    scale: Literal["labels", "full_or_rest"]
    """What right is: the people's label; or `full` where they say so and no `full` elsewhere.

    `full_or_rest` where any label is a bare yes or no, or a judge then or now is one that never
    says `partial` (similarity, NLI).
    """
    labels: int
    """Sentences in the golden set."""
    lost: tuple[LostSentence, ...]
    """Those that are no sentences of their own any more, or no claims."""
    unscored_then: int
    """Labels without a verdict of the run's own judge when the set was made."""
    unscored_now: int
    """Labels without one now, fallen back or not, those lost left out."""
    compared: int
    """Labels with a verdict both times: what all that follows is over."""
    agreement_then: float | None
    """Share of them that the judge had right; null where nothing was compared."""
    agreement_now: float | None
    """Share that it has right now."""
    better: int
    """Wrong then, right now."""
    worse: int
    """Right then, wrong now."""
    p: float
    """McNemar's exact two-sided p of `worse` against `better`, sentences taken as independent."""
    flips: tuple[Flip, ...]
    """Every other verdict than then, worst first."""
