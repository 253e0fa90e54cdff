"""How an answer agrees with its reference: the claims of each, judged by the other."""

from enum import StrEnum
from typing import Final

from judge.records.sample import Record
from judge.records.sentence import Flag
from judge.records.verdict import ClaimCounts, Outcome, SentenceResult

GOLD: Final = "gold_answer"
"""The chunk id of evidence from the reference."""
ANSWER: Final = "answer"
"""The chunk id of evidence from the answer."""


class CorrectnessStatus(StrEnum):
    """The status of a comparison; the first in this order that holds."""

    NO_REFERENCE = "no_reference"
    """The sample has no `gold_answer`, or a blank one."""
    ABSTAINED = "abstained"
    """The answer claims nothing and says that it cannot answer: it has no correctness."""
    NO_CLAIMS = "no_claims"
    """The reference asserts nothing: there is nothing to compare."""
    UNSCORED = "unscored"
    """Claims, and not one verdict."""
    SCORED = "scored"
    """At least one verdict."""


class ComparedClaims(ClaimCounts):
    """The claims of one of the two, counted."""

    contradicted: int
    """Claims that the other text contradicts."""


class ComparedSentence(Record):
    """A claim of the answer, held against the reference."""

    index: int
    """The index of the sentence in the answer."""
    outcome: Outcome
    """A verdict whose evidence is in the reference, or the reason for having none."""


class Correctness(Record):
    """The comparison of one answer with its reference. Null means that nothing was measured."""

    status: CorrectnessStatus
    """The status of the comparison."""
    precision: float | None
    """Mean weight of the answer's judged claims, the reference being the evidence; 0 to 1."""
    precision_bounds: tuple[float, float] | None
    """The same with every unscored claim counted 0, then 1."""
    recall: float | None
    """Mean weight of the reference's judged claims, the answer being the evidence; 0 to 1."""
    recall_bounds: tuple[float, float] | None
    """The same with every unscored claim counted 0, then 1."""
    f1: float | None
    """Harmonic mean of the two, 0 where both are. Null where one of them is and could change it:
    an answer that asserts nothing and covers nothing has 0."""
    f1_bounds: tuple[float, float] | None
    """F1 of the lower bounds, then of the upper ones."""
    f1_with_fallback: float | None
    """F1 with fallback verdicts counted in; null where no sentence fell back."""
    of_answer: ComparedClaims
    """The claims behind precision."""
    of_reference: ComparedClaims
    """The claims behind recall."""
    answer: tuple[ComparedSentence, ...]
    """The answer's claims, in order."""
    reference: tuple[SentenceResult, ...]
    """Every sentence of the reference, with offsets into it; evidence is of the answer."""
    answer_flags: tuple[Flag, ...] = ()
    """Flags of the answer's claims."""
    reference_flags: tuple[Flag, ...] = ()
    """Flags of the reference's claims, with indexes into the reference."""
    signature: str
    """How the numbers were made."""
