"""Whether an answer answers its question: the parts of the question, each by itself.

Not to be taken for `Sample.relevance`, which grades chunks and is gold.
"""

from enum import StrEnum

from judge.records.sample import Record
from judge.records.sentence import Flag
from judge.records.verdict import SentenceResult, Support, Unscored, Verdict


class QuestionPart(Record):
    """A judge's verdict on one part of a question."""

    words: str
    """The words of the question that ask it, in its own characters."""
    answered: Support
    """`full`, `partial` or `none`: how far the answer answers it."""
    quotes: tuple[str, ...] = ()
    """The passages of the answer that do, as the judge gave them."""
    reason: str = ""
    """Empty for `full`; else what is left open, in a few words."""


class PartsVerdict(Verdict):
    """A verdict on a whole question, with at least one part, in the question's order."""

    parts: tuple[QuestionPart, ...]
    """Each thing that the question asks."""


class RelevanceStatus(StrEnum):
    """The status of answer relevance; the first in this order that holds."""

    NO_QUERY = "no_query"
    """The sample has no query, or one without letter and digit: nothing is measured."""
    ABSTAINED = "abstained"
    """The answer claims nothing and says that it cannot answer: it answers nothing."""
    EMPTY = "empty"
    """There is no answer, or a blank one: it answers nothing."""
    UNSCORED = "unscored"
    """Not one part of the question has a verdict."""
    SCORED = "scored"
    """At least one has."""


class AnswerRelevance(Record):
    """How far one answer answers its question. Null means that nothing was measured."""

    status: RelevanceStatus
    """The status of answer relevance."""
    score: float | None
    """Mean weight of the parts with a verdict: full 1, partial ½, none 0."""
    bounds: tuple[float, float] | None
    """The same with everything unscored counted 0, then 1."""
    parts: tuple[SentenceResult, ...] = ()
    """The parts as the judge named them, with offsets into the query; evidence is of the answer."""
    failure: Unscored | None = None
    """The reason why the judge named no parts; null where it did, or was not asked."""
    flags: tuple[Flag, ...] = ()
    """Flags of the parts, with their indexes."""
    signature: str
    """How the numbers were made."""

    @property
    def failures(self) -> tuple[Unscored, ...]:
        """Why the question, or single parts of it, have no verdict."""
        parts = (part.outcome for part in self.parts)
        failed = tuple(outcome for outcome in parts if isinstance(outcome, Unscored))
        return failed if self.failure is None else (self.failure, *failed)
