"""A sentence that has been through the path."""

from judge.records.sentence import Sentence
from judge.records.verdict import Outcome


class SentenceResult(Sentence):
    """A sentence and what became of it."""

    outcome: Outcome
    """A verdict, or why there is none."""
