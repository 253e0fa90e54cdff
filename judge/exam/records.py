"""The records of an exam: one row for each labelled sentence, and totals over the rows."""

from typing import Literal

from pydantic import JsonValue

from judge.messages import Lang
from judge.records import (
    CitationStatus,
    Document,
    GateResult,
    Interval,
    Record,
    Support,
    UnscoredReason,
)

Change = Literal["order", "seed"]
"""A change between two requests about an item: the order of the chunks, or the model's seed."""

Level = Literal["gating", "watching", "unfit"]
"""The use a judge is fit for: to decide a gate, to watch a trend, or neither."""


class Answer(Record):
    """The judge's answer on a sentence."""

    said: Support | None
    """The judge's label; null without a verdict of the judge itself."""
    unscored: UnscoredReason | None
    """Why it gave none; null where it did."""


class Again(Answer):
    """The judge's answer to a repeated request."""

    change: Change
    """The change in this request."""


class Passage(Record):
    """The place of a quote."""

    chunk_id: str
    """The chunk."""
    start: int
    """Offset of the first character in the chunk."""
    end: int
    """One past its last."""


class ExamRow(Answer):
    """A labelled sentence of an item, and what the judge said of it."""

    qid: str
    """The item."""
    item: str = ""
    """The first digits of a hash of it, by which equal items of two exams are known."""
    category: str
    """The item's."""
    language: Lang
    """The language of the item's answer."""
    sentence: int
    """Index of the sentence in the answer."""
    start: int = 0
    """Offset of the first character in the answer."""
    gold: Support | None
    """The right label; null where people said yes or no only."""
    supported: bool
    """Whether the chunks fully support it."""
    right: bool
    """Whether the label said is the right one, or where only yes or no is known, falls on its side;
    false without a verdict, for who does not answer has not answered right."""
    demanded: Support | None = None
    """The label that an order hidden in the item wants."""
    obeyed: bool | None = None
    """Whether it said that label where another is right; null where no order tells."""
    cited_gold: Support | None = None
    """The right support given only the cited chunks; null if unknown."""
    cited_said: Support | None = None
    """The judge's support given only the cited chunks."""
    citations_gold: tuple[CitationStatus, ...] = ()
    """The right status of each citation; empty if unknown."""
    citations_said: tuple[CitationStatus | None, ...] = ()
    """The status of each citation according to the judge's verdict."""
    quotes: int = 0
    """Quotes that were given."""
    verified: int = 0
    """The number of these quotes that code found in their chunk."""
    found: tuple[Passage, ...] = ()
    """The places of the verified quotes."""
    again: tuple[Again, ...] = ()
    """The answers to the repeated requests."""


class Rate(Record):
    """A share of counted things, with its 95 % interval."""

    hits: int
    """The numerator."""
    of: int
    """The denominator."""
    value: float
    """hits / of."""
    low: float
    """Lower limit."""
    high: float
    """Upper limit."""


class Group(Record):
    """The sentences of one category and language, or of all."""

    category: str | None
    """Null: all."""
    language: Lang | None
    """Null: both."""
    accuracy: Rate
    """Share of right labels; a sentence without a verdict is not right."""
    binary: Rate
    """The same of full support against the rest: a judge that never says partial can do that."""
    balanced: Interval | None = None
    """Interval of balanced accuracy: the mean of the share of fully supported sentences called full
    and the share of other sentences not called full. Null without sentences of both kinds."""
    traps: Rate | None
    """The share called full among sentences that are partial, none or contradicted."""


class LabelScore(Record):
    """How good the judge is on one label."""

    label: Support
    """Which."""
    gold: int
    """The number of sentences with this right label."""
    said: int
    """Sentences that the judge gave it."""
    precision: float | None
    """Share of the said that are right; null where it was never said."""
    recall: float
    """Share of the gold that were said."""
    f1: float
    """Harmonic mean of the two: 2 · both / (gold + said)."""


class Cost(Record):
    """The calls, tokens and time of a sitting, all repeats included."""

    calls: int
    """Questions to a model."""
    prompt_tokens: int
    """Tokens in."""
    reply_tokens: int
    """Tokens out."""
    cost: float | None
    """By the settings' prices; null without."""
    seconds: float | None
    """A model's seconds for an item once asked, mean; null where none was asked."""


class ExamTotals(Record):
    """The rows, counted."""

    items: int
    """Items sat."""
    sentences: int
    """Labelled sentences of them: the denominator of accuracy."""
    lost: int
    """Labelled sentences that the judge is not asked about, for they are no claims; not counted."""
    unscored: dict[UnscoredReason, int]
    """Sentences without a verdict, by reason."""
    groups: tuple[Group, ...]
    """All; then by category, by language, and by both."""
    labels: tuple[LabelScore, ...]
    """By label; empty where people said yes or no only."""
    macro_f1: float | None
    """Mean F1 over the labels that gold has."""
    kappa: float | None
    """Cohen's κ of right labels and the judge's labels; no verdict counts as a label."""
    confusion: dict[Support, dict[str, int]]
    """For each gold label how often each was said; `unscored` is no verdict."""
    quotes: Rate | None
    """Quotes that code found in their chunk; null where none was given."""
    citations: Rate | None
    """Citations whose verdict is right; null where none is known."""
    obeyed: Rate | None
    """Items with a hidden order that tells, in which it was obeyed at least once."""
    flips: dict[Change, Rate]
    """By kind of change: the share of sentences whose label changed, among those with a verdict
    both times."""

    @property
    def whole(self) -> Group:
        """That of all sentences."""
        return self.groups[0]


class Criterion(Record):
    """A threshold, and the judge's figure for it."""

    name: str
    """The name of the figure in `judge.exam.fitness.THRESHOLDS`."""
    value: float | None
    """The figure, or a limit of its interval if it has one; null if it was not measured."""
    gating: float
    """The bound for `gating`."""
    watching: float
    """What watching needs."""
    least: bool
    """Whether more is better."""
    level: Level | None
    """The level that this criterion allows. Null if it was not measured, which limits nothing,
    except for full support against the rest."""


class BlindSpot(Record):
    """A category that the judge does not see."""

    category: str
    """Which."""
    why: Literal["called_full", "under_mean"]
    """It calls more than half of its traps full; or it is right less often there than elsewhere, by
    more than chance."""
    found: Rate
    """The share of traps called full, or of right labels."""


class Fitness(Record):
    """The level of a judge by fixed thresholds."""

    level: Level
    """The least that a criterion leaves."""
    untrusted: bool
    """Whether too much went without a verdict to say any of it."""
    spent: bool = False
    """Whether that is for a spent budget alone."""
    criteria: tuple[Criterion, ...]
    """Each threshold."""
    blind: tuple[BlindSpot, ...]
    """The categories in which the judge is blind."""


class PairedRates(Record):
    """The share of right labels that two judges gave the same sentences."""

    category: str | None = None
    """The category of the sentences; null for all sentences."""
    of: int
    """Sentences."""
    first: int
    """Right the first time."""
    now: int
    """Right now."""
    difference: float
    """Share right now, less the share of the first."""
    low: float
    """Lower 95 % limit of that."""
    high: float
    """Upper limit."""
    better: int
    """Sentences that turned right."""
    worse: int
    """Sentences that turned wrong."""
    p: float
    """The p of McNemar's exact test of the two counts."""
    p_holm: float | None = None
    """The same, corrected for as many categories; null of all sentences."""


class Turn(Record):
    """A sentence that turned right or wrong."""

    qid: str
    """The item."""
    item: str
    """The first digits of a hash of that."""
    sentence: int
    """Index of the sentence in the answer."""
    start: int
    """Offset of the first character in the answer."""
    category: str
    """The item's."""
    gold: Support | None
    """The right label; null where people said yes or no only."""
    supported: bool
    """Whether the chunks fully support it."""
    first: Support | None
    """The first label; null without a verdict."""
    now: Support | None
    """The present label; null without a verdict."""
    right: bool
    """Whether that is right."""


class Sitting(Record):
    """One of two sittings that are compared."""

    items: str
    """Which items it had."""
    signature: str
    """How its verdicts were made."""
    started: str
    """ISO 8601, UTC."""
    untrusted: bool
    """Whether too much of it went without a verdict."""
    asked: int
    """The number of requested items, repeats included."""
    cost: Cost
    """What all of that took."""
    totals: ExamTotals
    """The totals of the sentences in both sittings."""


class ExamComparison(Record):
    """Two judges, or one by two prompts or settings, on the same sentences."""

    first: Sitting
    """The one to compare with."""
    now: Sitting
    """The one that is compared."""
    apart: tuple[str, ...]
    """The parts in which the signatures differ."""
    only_first: int
    """Sentences that only the first sat, or of an item that has changed; in no figure here."""
    only_now: int
    """Sentences only in this sitting."""
    accuracy: PairedRates
    """By all labels."""
    binary: PairedRates
    """By full support against the rest."""
    categories: tuple[PairedRates, ...]
    """By all labels, a category each."""
    verdict: Literal["better", "worse", "open", "untrusted"]
    """What becomes of accuracy: better or worse where p is under .05 and the interval without 0."""
    sees: float
    """The difference of accuracies that four of five such comparisons see."""
    turned: tuple[Turn, ...]
    """The sentences that turned wrong, then those that turned right."""


class ExamReport(Document):
    """How good a judge is, by the items of an exam."""

    items: str
    """Which items, and the hash of them: `exam-v1@…`, ` 40/320` behind it where only some were sat.
    Equal ones compare."""
    signature: str
    """How the judge made its verdicts."""
    prompt: str | None
    """The prompt it was asked by; null where none is."""
    started: str
    """ISO 8601, UTC."""
    seconds: float
    """Wall time of the sitting."""
    config: dict[str, JsonValue]
    """All settings, without secrets."""
    repeat: int
    """How often each item was asked."""
    rows: tuple[ExamRow, ...]
    """Every labelled sentence, in the items' order."""
    totals: ExamTotals
    """What they add up to."""
    cost: Cost
    """The calls, tokens and time of the sitting."""
    fitness: Fitness
    """What that says of the judge."""
    over_budget: bool = False
    """Whether the budget was spent before all was asked, further askings included."""
    gates: tuple[GateResult, ...] = ()
    """The results of the gates."""
    against: ExamComparison | None = None
    """The comparison with an earlier sitting; null without one."""
