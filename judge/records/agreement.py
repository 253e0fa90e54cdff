"""What people's labels say of a judge."""

from typing import Literal

from pydantic import Field

from judge.records.record import Record
from judge.records.review import StratumName


class Share(Record):
    """A weighted share with Wilson's 95 % interval."""

    value: float
    """0 to 1."""
    low: float
    """Lower limit."""
    high: float
    """Upper limit."""
    size: float
    """Labels of equal weight, drawn one by one, that would tell as much."""


class LabelAccuracy(Record):
    """How far one label of the judge's can be trusted."""

    label: str
    """`full`, `partial`, …; or `full` and `rest`."""
    judged: int
    """Labelled sentences that the judge called so."""
    labelled: int
    """Those that people called so."""
    precision: Share | None
    """Of what the judge called so, the share that people do; null where it called nothing so."""
    recall: Share | None
    """Of what people call so, the share that the judge did."""


class CorrectedScore(Record):
    """A score of the run, beside what it is once the judge's errors are accounted for."""

    name: Literal["faithfulness", "faithfulness_strict"]
    """Which."""
    average: Literal["macro", "micro"]
    """Over answers or over claims. Over answers a claim weighs 1 / the claims of its answer that
    the judge counts: an answer of which people call much `no_claim` weighs less."""
    raw: float | None
    """As the run says, over what was judged; null where nothing was."""
    corrected: float
    """Over all claims of the run, unscored ones too, as people would score them."""
    low: float
    """Lower limit of its 95 % interval."""
    high: float
    """Upper limit."""
    standard_error: float
    """Of the corrected score."""


class LabelledStratum(Record):
    """What was found in one stratum."""

    names: tuple[StratumName, ...]
    """What it holds."""
    units: int
    """Claims or answers in it."""
    drawn: int
    """How many were drawn."""
    labelled: int
    """How many of those have labels."""
    error: float | None
    """Mean of the people's weight less the judge's, -1 to 1; null where nothing is labelled."""


class Disagreement(Record):
    """A sentence that a person called otherwise than the judge."""

    review_id: str
    """Its row."""
    qid: str
    """Whose answer."""
    sentence: int
    """Index of the sentence."""
    text: str
    """The sentence."""
    judge: str
    """The judge's label."""
    people: dict[str, str]
    """Labels by reviewer, who may be nameless."""
    notes: tuple[str, ...] = ()
    """What they added."""
    quote: str = ""
    """What the judge quoted."""
    reason: str = ""
    """What the judge gave as its reason."""


class Agreement(Record):
    """`agreement.json` of a run: how good the judge is, and the score with that accounted for."""

    schema_: Literal[1] = Field(default=1, alias="schema")
    """Version of this layout."""
    draw: str
    """Which draw was labelled."""
    by: Literal["sentence", "answer"]
    """What was drawn."""
    signature: str
    """How the run's numbers were made."""
    drawn: int
    """Sentences drawn."""
    labelled: int
    """Sentences with at least one label."""
    partly: int = 0
    """Answers drawn whole of which only some claims have labels; these stand for the others."""
    labels: int
    """Labels, several a sentence where reviewers overlap."""
    reviewers: tuple[str, ...]
    """Who labelled; an empty name where none was given."""
    scale: Literal["labels", "full_or_rest"]
    """`full_or_rest` where any label was a bare yes or no, or the judge knows no other two."""
    compared: int
    """Labels beside a verdict of the run's own judge: what agreement is over."""
    agreement: Share | None
    """Share of equal labels."""
    kappa: float | None
    """Cohen's kappa of judge and people; null where both always say the same one label."""
    base_rate: float | None
    """Share that people call `full`: kappa falls as it nears 0 or 1."""
    alpha: float | None
    """Krippendorff's alpha among reviewers; null without sentences that several labelled."""
    shared: int
    """Sentences that several reviewers labelled."""
    accuracy: tuple[LabelAccuracy, ...]
    """By label."""
    brier: float | None
    """Mean squared error of the judge's probabilities; null where it gives none."""
    calibration_error: float | None
    """Expected calibration error, ten bins."""
    corrected: tuple[CorrectedScore, ...]
    """Corrected scores; `faithfulness` only where all labels are on its scale."""
    strata: tuple[LabelledStratum, ...]
    """Where the errors are."""
    disagreements: tuple[Disagreement, ...]
    """Worst first."""
