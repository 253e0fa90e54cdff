"""A number over many answers, and how far it can be trusted."""

from typing import Literal

from judge.records.record import Record


class Interval(Record):
    """A 95 % interval and how it was made."""

    low: float
    """Lower limit."""
    high: float
    """Upper limit."""
    method: Literal["wilson", "poisson_bootstrap"]
    """Wilson under 50 answers or without variance, else the Poisson bootstrap over answers."""


class CorpusScore(Record):
    """One score over the run."""

    macro: float
    """Mean over the answers that have the score: the headline."""
    micro: float
    """Pooled over their sentences (for citation validity, over their citations)."""
    answers: int
    """How many answers the macro mean is over."""
    items: int
    """How many sentences or citations the micro mean is over."""
    interval: Interval
    """95 % interval of the macro mean; sampling error only, not the judge's."""


class CorpusBounds(Record):
    """A score with every failure counted against the answers, then for them."""

    low: float
    """Mean over answers with each failure counted 0; an unscored answer is 0."""
    high: float
    """Mean over answers with each failure counted 1; an unscored answer is 1."""
    answers: int
    """How many answers have bounds: those scored and those unscored."""
    low_interval: Interval
    """95 % interval of `low`: what `--strict-gate` compares."""
