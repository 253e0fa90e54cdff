"""The records of a review: draws, labels of people, and the agreement of the judge with them."""

from enum import StrEnum
from typing import Literal

from judge.records import Document, Record
from judge.records.sentence import Flag, Outcome, Support

ScoreName = Literal["faithfulness", "faithfulness_strict"]
"""A score that is corrected, a mean over answers; strict is the share of `full`."""


class Label(Record):
    """A person's answer on one sentence; never called a verdict."""

    review_id: str
    """The row of the sheet that holds the label."""
    qid: str
    """The answer that the sentence is part of."""
    sentence: int
    """Index of the sentence."""
    support: Support | None = None
    """The label on the judge's own scale; null if the person answered a bare no."""
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
    UNDECIDED = "undecided"
    """Similarity left it undecided; drawn at the highest rate."""
    UNSCORED = "unscored"
    """The run's own judge failed, fallen back or not."""


class Stratum(Record):
    """A part of the claims of a run that is drawn from at its own rate.

    Its sums are weighted for a mean over answers: a claim weighs 1 / the claims of its answer that
    the judge counts.
    """

    names: tuple[StratumName, ...]
    """The names of the stratum; several where small neighbours were merged."""
    units: int
    """Claims in it."""
    drawn: int
    """Claims drawn from it."""
    weight: float
    """Sum of the claims' weights."""
    counted: float
    """The sum of weights of the claims that the judge did not call `no_claim`."""
    faithfulness: float
    """Sum of weight times the verdict's contribution to faithfulness; 0 without a verdict."""
    faithfulness_strict: float
    """Sum of the weights of claims with the verdict `full`."""
    span: tuple[float, float]
    """The least and the most by which a person's weight can differ from the judge's."""
    span_strict: tuple[float, float]
    """The same two differences where only `full` counts."""


class DrawnSentence(Record):
    """One row of the sheet, with what the reviewer does not see."""

    review_id: str
    """The id of its row in the sheet."""
    qid: str
    """The answer that the sentence is part of."""
    sentence: int
    """Index of the sentence."""
    text: str
    """The sentence."""
    stratum: int
    """Position of its stratum in `Draw.strata`."""
    probability: float
    """Inclusion probability of the sentence."""
    weight: float
    """The weight in the mean over answers: 1 / the claims of the answer that count."""
    outcome: Outcome
    """The verdict, or the reason why it is missing."""
    flags: tuple[Flag, ...] = ()
    """The flags of the sentence."""


class Draw(Document):
    """A draw, `review/<draw>.json` of a run; reviewers do not see it."""

    draw: str
    """The name of the draw, which is the first part of every `review_id`."""
    seed: int
    """The seed of the draw."""
    size: int
    """The requested number of sentences."""
    results: str
    """SHA-256 of the run's `results.jsonl`."""
    signature: str
    """The signature of the run."""
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
    """The number of labels drawn one by one with equal chances that is as precise."""


class LabelAccuracy(Record):
    """Precision and recall of the judge for one label."""

    label: str
    """`full`, `partial`, …; or `full` and `rest`."""
    judged: int
    """Labelled sentences with this label of the judge."""
    labelled: int
    """Labelled sentences with this label of people."""
    precision: Share | None
    """Share of the judge's labels that people gave, too; null without such sentences."""
    recall: Share | None
    """Share of the people's labels that the judge gave, too; null without such sentences."""


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
    """Whether the blank rows may change a conclusion: they are uneven among the strata by more than
    chance (Fisher's exact test, corrected by Holm's method), and `right` and `wrong` differ by more
    than the width of the corrected score's interval."""


class CorrectedScore(Record):
    """A score of the run, and the same score corrected by the labels of people."""

    name: ScoreName
    """The name of the score."""
    raw: float | None
    """The score of the run; null without a verdict."""
    corrected: float
    """The score that people would give, over all claims of the run, unscored ones included."""
    low: float
    """Lower limit of its 95 % interval."""
    high: float
    """Upper limit of the interval."""
    standard_error: float
    """Standard error of the corrected score."""
    blank: BlankLimits | None = None
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
    """People's weight less the judge's, mean over answers, -1 to 1; null without labels."""


class Disagreement(Record):
    """A sentence to which a person gave another label than the judge."""

    review_id: str
    """The id of its row in the sheet."""
    qid: str
    """The answer that the sentence is part of."""
    sentence: int
    """Index of the sentence."""
    text: str
    """The sentence."""
    judge: str
    """The judge's label."""
    people: dict[str, str]
    """The label of each reviewer; a name may be empty."""
    notes: tuple[str, ...] = ()
    """The notes of the reviewers."""
    quote: str = ""
    """The first quote of the judge."""
    reason: str = ""
    """The reason of the judge."""


class Agreement(Document):
    """`agreement.json` of a run: the quality of the judge, and the corrected scores."""

    draw: str
    """The name of the draw that was labelled."""
    signature: str
    """The signature of the run."""
    drawn: int
    """Sentences drawn."""
    labelled: int
    """Sentences with at least one label."""
    labels: int
    """Labels, several a sentence where reviewers overlap."""
    reviewers: tuple[str, ...]
    """The names of the reviewers; a name may be empty."""
    scale: Literal["labels", "full_or_rest"]
    """`full_or_rest` if any label was a bare yes or no, or the judge never says `partial`."""
    compared: int
    """Labels that are compared with a verdict of the run's own judge."""
    agreement: Share | None
    """Share of equal labels; like all other figures but alpha a mean over answers."""
    kappa: float | None
    """Cohen's kappa of judge and people; null if both always say one and the same label."""
    base_rate: float | None
    """Share that people call `full`; kappa is low if it is near 0 or 1."""
    alpha: float | None
    """Krippendorff's alpha among reviewers; null without sentences that several labelled."""
    shared: int
    """Sentences that several reviewers labelled."""
    accuracy: tuple[LabelAccuracy, ...]
    """Precision and recall by label."""
    brier: float | None
    """Mean squared error of the judge's probabilities; null without probabilities."""
    calibration_error: float | None
    """Expected calibration error, ten bins."""
    corrected: tuple[CorrectedScore, ...]
    """Corrected scores; without `faithfulness` if any label is a bare no."""
    strata: tuple[LabelledStratum, ...]
    """The error of the judge by stratum."""
    disagreements: tuple[Disagreement, ...]
    """Sentences to which people gave another label than the judge, worst first."""
