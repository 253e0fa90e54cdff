"""The records of a spot-check: draws, people's labels, and the quality of the judge."""

from enum import StrEnum
from typing import Literal

from judge.records import Document, Record
from judge.records.sentence import CitationStatus, Flag, Outcome, Support

Target = Literal["faithfulness", "correctness_precision", "correctness_recall"]
"""The claims that people check: an answer's against the chunks or the reference, or a reference's
against the answer."""


ScoreName = Literal[
    "faithfulness",
    "faithfulness_strict",
    "correctness_precision",
    "correctness_precision_strict",
    "correctness_recall",
    "correctness_recall_strict",
]
"""A score that is corrected; strict is the share of `full`."""


class Label(Record):
    """A person's answer on one sentence; never called a verdict."""

    review_id: str
    """The row of the sheet that holds the label."""
    qid: str
    """The answer that the sentence is part of."""
    sentence: int
    """Index of the sentence."""
    support: Support | None = None
    """The label on the judge's own scale; null where the person answered yes or no only."""
    supported: bool
    """Whether the chunks fully support it."""
    reviewer: str = ""
    """The name of the reviewer, as written in the sheet; may be empty."""
    note: str = ""
    """The note of the reviewer."""


class StratumName(StrEnum):
    """Support and doubt of a claim."""

    SUPPORTED = "supported"
    """`full`, and nothing speaks against it."""
    SUPPORTED_DOUBTFUL = "supported_doubtful"
    """`full` with a flag, without a verified quote, or near the judge's threshold."""
    PARTIAL = "partial"
    """The verdict `partial`."""
    UNSUPPORTED_DOUBTFUL = "unsupported_doubtful"
    """`none` or `contradicted` with a flag or near the threshold; `no_claim`."""
    UNSUPPORTED = "unsupported"
    """`none` or `contradicted` without a flag and far from the threshold."""
    UNSCORED = "unscored"
    """No verdict of the run's own judge, fallen back or not."""


class Weighing(Record):
    """Sums over all claims of a stratum, with every answer (macro) or claim (micro) alike."""

    weight: float
    """Sum of the claims' weights."""
    counted: float
    """The sum of weights of the claims that the judge did not call `no_claim`."""
    faithfulness: float
    """Sum of weight times the verdict's contribution to faithfulness, which is 0 without a verdict.
    """
    faithfulness_strict: float
    """Sum of the weights of claims with the verdict `full`."""


class Stratum(Record):
    """A part of the run that is drawn from at its own rate."""

    names: tuple[StratumName, ...]
    """The names of the stratum; several where small neighbours were merged."""
    units: int
    """Claims in it."""
    drawn: int
    """Claims drawn from it."""
    macro: Weighing
    """Sums in which each answer weighs the same."""
    micro: Weighing
    """Sums in which each claim weighs the same."""
    unevenness: float = 1.0
    """The variance of a mean over claims, relative to a draw with equal chances; 1 if all answers
    have one length."""
    span: tuple[float, float]
    """The least and the most by which a person's weight can differ from the judge's."""
    span_strict: tuple[float, float]
    """The same two differences where only `full` counts."""


class _Row(Record):
    """A sentence of a sheet."""

    review_id: str
    """The id of its row in the sheet."""
    qid: str
    """The answer that the sentence is part of."""
    sentence: int
    """Index of the sentence."""
    text: str
    """The sentence."""


class DrawnSentence(_Row):
    """One row of the sheet, with what the reviewer does not see."""

    stratum: int
    """Position of its stratum in `Draw.strata`."""
    probability: float
    """Inclusion probability of the sentence."""
    weight: float
    """1 / the claims of its answer that count: its part in the mean over answers."""
    outcome: Outcome
    """The verdict, or the reason why it is missing."""
    flags: tuple[Flag, ...] = ()
    """The flags of the sentence."""


class Draw(Document):
    """`review/<draw>.json` of a run: a draw, with what its sheet does not show."""

    draw: str
    """The name of the draw, which is the first part of every `review_id`."""
    target: Target = "faithfulness"
    """The claims that people check."""
    seed: int
    """The seed of the draw."""
    size: int
    """The requested number of sentences."""
    results: str
    """SHA-256 of the run's `results.jsonl`."""
    signature: str
    """How the run's numbers were made."""
    strata: tuple[Stratum, ...]
    """The strata that it was drawn from."""
    sentences: tuple[DrawnSentence, ...]
    """The drawn sentences, in the order of the sheet."""


class Share(Record):
    """A weighted share with Wilson's 95 % interval."""

    value: float
    """The share, 0 to 1."""
    low: float
    """Lower limit of the interval."""
    high: float
    """Upper limit of the interval."""
    size: float
    """Labels of equal weight, drawn one by one, that would tell as much."""


class LabelAccuracy(Record):
    """How good the judge is on one label."""

    label: str
    """`full`, `partial`, …; or `full` and `rest`."""
    judged: int
    """Labelled sentences that the judge called so."""
    labelled: int
    """Labelled sentences that people called so."""
    precision: Share | None
    """Among sentences with this label of the judge, the share with the same label of people; null
    without such sentences."""
    recall: Share | None
    """Among sentences with this label of people, the share with the same label of the judge; null
    without such sentences."""


class BlankLimits(Record):
    """The corrected score with all blank rows filled in."""

    wrong: float
    """The score if people supported none of them."""
    right: float
    """The score if people supported all of them fully."""
    low: float
    """Lower limit of the 95 % interval of `wrong`, which no labels in the blank rows can lower."""
    high: float
    """Upper limit of the interval of `right`."""
    decides: bool
    """Whether the blank rows matter more than the chance of the draw: `right` and `wrong` differ by
    more than the interval's width, or the run's own score or a gate's bound is outside the interval
    and between `low` and `high`."""


class CorrectedScore(Record):
    """A score of the run, beside what it is once the judge's errors are accounted for."""

    name: ScoreName
    """Which score."""
    average: Literal["macro", "micro"]
    """Over answers or over claims. Over answers a claim weighs 1 / the claims of its answer that
    the judge counts: an answer of which people call much `no_claim` weighs less."""
    raw: float | None
    """The score of the run, over what was judged; null where nothing was."""
    corrected: float
    """Over all claims of the run, unscored ones too, as people would score them."""
    low: float
    """Lower limit of its 95 % interval."""
    high: float
    """Upper limit of the interval."""
    standard_error: float
    """Standard error of the corrected score."""
    blank: "BlankLimits | None" = None
    """The score with the blank rows filled in; null without blank rows."""


class LabelledStratum(Record):
    """The labels and the error of one stratum."""

    names: tuple[StratumName, ...]
    """The names of the stratum."""
    units: int
    """Claims in it."""
    share: float
    """Share of the stratum in the mean over answers."""
    drawn: int
    """Claims drawn from it."""
    labelled: int
    """Drawn claims with a label."""
    error: float | None
    """Mean over answers of the people's weight less the judge's, -1 to 1; null where nothing is
    labelled."""


class Disagreement(_Row):
    """A sentence that a person called otherwise than the judge."""

    judge: str
    """The judge's label."""
    people: dict[str, str]
    """The label of each reviewer; a name may be empty."""
    notes: tuple[str, ...] = ()
    """The note of the reviewer."""
    quote: str = ""
    """The first quote of the judge."""
    reason: str = ""
    """The reason of the judge."""


class Agreement(Document):
    """`agreement.json` of a run: how good the judge is, and the score with that accounted for."""

    draw: str
    """The name of the draw that was labelled."""
    target: Target = "faithfulness"
    """The claims that people checked."""
    signature: str
    """How the run's numbers were made."""
    drawn: int
    """Sentences drawn."""
    labelled: int
    """Sentences with at least one label."""
    labels: int
    """Labels, several a sentence where reviewers overlap."""
    reviewers: tuple[str, ...]
    """The names of the reviewers; an empty name where none was given."""
    scale: Literal["labels", "full_or_rest"]
    """`full_or_rest` where any label was a bare yes or no, or the judge knows no other two."""
    compared: int
    """Labels beside a verdict of the run's own judge: what agreement is over."""
    agreement: Share | None
    """Share of equal labels. Like kappa, base rate, precision, recall, Brier score and calibration
    error it is a mean over answers, as the first corrected score is."""
    kappa: float | None
    """Cohen's kappa of judge and people; null where both always say the same one label."""
    base_rate: float | None
    """Share that people call `full`: kappa falls as it nears 0 or 1."""
    alpha: float | None
    """Krippendorff's alpha among reviewers; null without sentences that several labelled."""
    shared: int
    """Sentences that several reviewers labelled."""
    accuracy: tuple[LabelAccuracy, ...]
    """Precision and recall by label."""
    brier: float | None
    """Mean squared error of the judge's probabilities; null where it gives none."""
    calibration_error: float | None
    """Expected calibration error, ten bins."""
    corrected: tuple[CorrectedScore, ...]
    """Corrected scores; `faithfulness` only where all labels are on its scale."""
    strata: tuple[LabelledStratum, ...]
    """The error of the judge by stratum."""
    disagreements: tuple[Disagreement, ...]
    """Sentences that people called otherwise than the judge, worst first."""


class GoldenLabel(Record):
    """A sentence on which people agree; the key `labels` of a golden set is a list of these."""

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
    """The number of people who labelled it, all alike."""
    judged: Support | None
    """The label of the run's own judge; null without a verdict."""
    signature: str
    """How the verdict was made; empty where none was."""
    supporting: tuple[str, ...] | None = None
    """Ids of the chunks that support all or part of the sentence; null if unknown."""
    cited_support: Support | None = None
    """Support given only the cited chunks; null without citations, or if unknown."""
    citations: tuple[CitationStatus, ...] | None = None
    """The right status of each citation, in order; null if unknown."""
