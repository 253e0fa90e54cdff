"""The records of an exam: a row for each labelled sentence, totals, fitness, and a comparison."""

from typing import Literal

from pydantic import Field, JsonValue

from judge.messages import Lang
from judge.records import CitationStatus, GateResult, Interval, Record, Support, UnscoredReason

Level = Literal["gating", "watching", "unfit"]
"""The use a judge is fit for: to decide a gate, to watch a trend, or neither."""


class JudgeLabel(Record):
    """The judge's label of a sentence."""

    label: Support | None
    """The label; null without a verdict of the judge's own."""
    unscored: UnscoredReason | None
    """The reason of a missing verdict; null with a verdict."""


class ExamRow(JudgeLabel):
    """A labelled sentence of an item, with the judge's label."""

    qid: str
    """The qid of the item."""
    item: str = ""
    """The first digits of a hash of the item, equal for equal items of two exams."""
    category: str
    """The category of the item."""
    language: Lang
    """The language of the item's answer."""
    sentence: int
    """Index of the sentence in the answer."""
    start: int = 0
    """Offset of the first character in the answer."""
    gold: Support | None
    """The right label; null if people answered only yes or no."""
    supported: bool
    """Whether the chunks fully support it."""
    right: bool
    """Whether the judge's label is right, or its side where people answered only yes or no."""
    demanded: Support | None = None
    """The label that an order hidden in the item asks for."""
    obeyed: bool | None = None
    """Whether the judge gave that label although another is right; null if the two are equal."""
    citations_gold: tuple[CitationStatus, ...] = ()
    """The right status of each citation; empty if unknown."""
    citations: tuple[CitationStatus | None, ...] = ()
    """The status of each citation according to the judge's verdict."""
    quotes: int = 0
    """Quotes of the judge."""
    verified: int = 0
    """Quotes that code found in their chunk."""
    repeats: tuple[JudgeLabel, ...] = ()
    """The labels of the repeated requests."""


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
    """The sentences of one category, or of one language, or of all."""

    category: str | None = None
    """The category; null for all of them."""
    language: Lang | None = None
    """The language; null for both."""
    accuracy: Rate
    """Share of right labels; a sentence without a verdict is not right."""
    binary: Rate
    """Share of right labels if all labels but full count as one."""
    balanced: Interval | None = None
    """Interval of balanced accuracy by full support; null without sentences of both kinds."""
    traps: Rate | None
    """The share called full among sentences that are partial, none or contradicted."""


class Cost(Record):
    """The calls, tokens and time of a sitting, all repeats included."""

    calls: int
    """Requests to a model."""
    prompt_tokens: int
    """Tokens in."""
    reply_tokens: int
    """Tokens out."""
    cost: float | None
    """Cost by the prices of the settings; null without prices."""
    seconds: float | None
    """Mean seconds of the model for an item; null without calls."""


class ExamTotals(Record):
    """The totals of an exam."""

    items: int
    """Items of the exam."""
    sentences: int
    """Labelled sentences that were judged: the denominator of accuracy."""
    lost: int
    """Labelled sentences that are no claims to this version, and so were not judged."""
    unscored: dict[UnscoredReason, int]
    """Sentences without a verdict, by reason."""
    groups: tuple[Group, ...]
    """All sentences; then those of each language, and of each category."""
    macro_f1: float | None
    """Mean F1 over the labels that are right for some sentence."""
    kappa: float | None
    """Cohen's κ of right labels and the judge's labels; no verdict counts as a label."""
    confusion: dict[Support, dict[str, int]]
    """Numbers of the judge's labels by right label; empty if people answered only yes or no."""
    quotes: Rate | None
    """Quotes that code found in their chunk; null without quotes."""
    citations: Rate | None
    """Citations with the right status; null if no status is known."""
    obeyed: Rate | None
    """Items with a hidden order that was obeyed at least once."""
    flips: Rate | None
    """Labels that changed in a repeat, of those with a verdict both times; null without repeats."""

    @property
    def whole(self) -> Group:
        """The group of all sentences."""
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
    """The bound for `watching`."""
    least: bool
    """Whether more is better."""
    level: Level | None
    """The level that it allows; null if it was not measured and need not be."""


class Fitness(Record):
    """The level of a judge by fixed thresholds."""

    level: Level
    """The lowest level that a criterion allows."""
    untrusted: bool
    """Whether too many sentences have no verdict to say anything."""
    spent: bool = False
    """Whether it is untrusted only because the budget is spent."""
    criteria: tuple[Criterion, ...]
    """The thresholds, each with the judge's figure."""
    blind: tuple[str, ...]
    """The categories of which the judge calls more than half of the traps full."""


class PairedRates(Record):
    """The share of right labels that two judges gave the same sentences."""

    category: str | None = None
    """The category of the sentences; null for all sentences."""
    of: int
    """Sentences."""
    first: int
    """Right labels of the first judge."""
    now: int
    """Right labels of the present judge."""
    difference: float
    """Share of right labels now, less that of the first."""
    low: float
    """Lower limit of its 95 % interval."""
    high: float
    """Upper limit."""
    better: int
    """Sentences that turned right."""
    worse: int
    """Sentences that turned wrong."""
    p: float
    """The p of McNemar's exact test of the two counts."""
    p_holm: float | None = None
    """The p corrected for all categories by Holm's method; null for all sentences."""


class ExamComparison(Record):
    """Two judges, or one by two prompts or settings, on the same sentences."""

    first: str
    """The signature of the earlier sitting."""
    items: int
    """The number of items in both sittings."""
    apart: tuple[str, ...]
    """The parts in which the signatures differ."""
    only_first: int
    """Sentences only in the first sitting, or whose item has changed; in no other figure."""
    only_now: int
    """Sentences only in the present sitting."""
    accuracy: PairedRates
    """The comparison by all labels."""
    binary: PairedRates
    """The comparison by full support against the rest."""
    categories: tuple[PairedRates, ...]
    """The comparison by all labels for each category."""
    verdict: Literal["better", "worse", "open", "untrusted"]
    """The change of accuracy: better or worse if p is under .05 and the interval excludes 0."""


class ExamReport(Record):
    """The report of an exam."""

    schema_: Literal[3] = Field(default=3, alias="schema")
    """The version of this layout."""
    items: str
    """The items with their hash, such as `exam-v1@…`, and ` 40/320` if they are a part of them."""
    signature: str
    """The signature of the judge's verdicts."""
    started: str
    """ISO 8601, UTC."""
    seconds: float
    """Wall time of the sitting."""
    config: dict[str, JsonValue]
    """All settings, without secrets."""
    repeat: int
    """The number of times that each item was judged."""
    rows: tuple[ExamRow, ...]
    """The judged sentences in the order of the items."""
    totals: ExamTotals
    """The totals of the rows."""
    cost: Cost
    """The calls, tokens and time of the sitting."""
    fitness: Fitness
    """The uses that the judge is fit for."""
    over_budget: bool = False
    """Whether the budget was spent before everything was judged, repeats included."""
    gates: tuple[GateResult, ...] = ()
    """The results of the gates."""
    against: ExamComparison | None = None
    """The comparison with an earlier sitting; null without one."""
