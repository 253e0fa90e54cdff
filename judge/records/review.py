"""What is drawn for people to label."""

from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from judge.records.flag import Flag
from judge.records.record import Record
from judge.records.verdict import Outcome


class StratumName(StrEnum):
    """Support and doubt of a claim; of an answer drawn whole, that of its most doubtful claim."""

    SUPPORTED = "supported"
    """`full`, and nothing speaks against it."""
    SUPPORTED_DOUBTFUL = "supported_doubtful"
    """`full` with a flag, without a verified quote, or near the judge's threshold."""
    PARTIAL = "partial"
    """`partial`."""
    UNSUPPORTED_DOUBTFUL = "unsupported_doubtful"
    """`none` or `contradicted` with a flag or near the threshold; `no_claim`."""
    UNSUPPORTED = "unsupported"
    """Other `none` and `contradicted`."""
    UNSCORED = "unscored"
    """No verdict of the run's own judge, fallen back or not."""


_Sum = Annotated[float, Field(ge=0, allow_inf_nan=False)]
_Difference = Annotated[float, Field(ge=-1, le=1)]


class Weighing(Record):
    """Sums over all units of a stratum, with every answer (macro) or claim (micro) alike."""

    weight: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    """Sum of the units' weights."""
    counted: _Sum
    """The same over those that the judge did not call `no_claim`."""
    faithfulness: _Sum
    """Sum of weight times what the verdict adds to faithfulness, 0 where there is none."""
    faithfulness_strict: _Sum
    """Sum of weight over the `full`."""


class Stratum(Record):
    """A part of the run that is drawn from at its own rate."""

    names: tuple[StratumName, ...]
    """What it holds; several where small neighbours were merged."""
    units: int = Field(gt=0)
    """Claims in it, or answers where whole answers are drawn."""
    drawn: int = Field(gt=0)
    """How many of them were drawn."""
    macro: Weighing
    """Each answer alike."""
    micro: Weighing
    """Each claim alike."""
    unevenness: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1.0
    """How many times the variance of a mean over claims is that of a draw in which all claims have
    the same chance; 1 where all answers are of one length."""
    span: tuple[_Difference, _Difference]
    """The least and the most by which a person's weight can differ from the judge's."""
    span_strict: tuple[_Difference, _Difference]
    """The same where only `full` counts."""


class DrawnSentence(Record):
    """One row of the sheet, and what is kept from whoever labels it."""

    review_id: str
    """Joins the row to this."""
    qid: str
    """Whose answer."""
    sentence: int
    """Index of the sentence."""
    text: str
    """The sentence."""
    stratum: int = Field(ge=0)
    """Which of the draw's strata."""
    probability: float = Field(gt=1e-12, le=1)
    """Inclusion probability of the sentence, or of its answer where whole answers are drawn."""
    weight: float = Field(gt=0, le=1)
    """1 / the claims of its answer that count: its part in the mean over answers."""
    outcome: Outcome
    """The verdict, or why there is none."""
    flags: tuple[Flag, ...] = ()
    """Those of the sentence."""


class Draw(Record):
    """`review/<draw>.json` of a run: what the sheet does not say."""

    schema_: Literal[1] = Field(default=1, alias="schema")
    """Version of this layout."""
    draw: str = Field(pattern=r"^r[0-9a-f]{8}$")
    """Its name: the first part of every `review_id`."""
    by: Literal["sentence", "answer"]
    """What was drawn."""
    seed: int
    """Of the draw."""
    size: int
    """How many units were asked for."""
    results: str
    """SHA-256 of the run's `results.jsonl`."""
    signature: str
    """How the run's numbers were made."""
    strata: tuple[Stratum, ...]
    """All that was drawn from."""
    sentences: tuple[DrawnSentence, ...]
    """All that was drawn, in the sheet's order."""

    @model_validator(mode="after")
    def _has_its_strata(self) -> Self:
        if any(sentence.stratum >= len(self.strata) for sentence in self.sentences):
            raise ValueError("a sentence is of a stratum that there is not")
        return self
