"""A piece of an answer."""

from enum import StrEnum

from judge.records.record import Record


class SentenceKind(StrEnum):
    """What a sentence is for. Only claims are judged; in doubt it is a claim."""

    CLAIM = "claim"
    QUESTION = "question"
    HEADING = "heading"
    ABSTENTION = "abstention"
    PLEASANTRY = "pleasantry"
    META = "meta"
    CODE = "code"


class Sentence(Record):
    """A unit of the answer: `answer[start:end] == text`, always."""

    index: int
    """Position among the answer's sentences, from 0."""
    start: int
    """First character, into the answer."""
    end: int
    """One past the last character."""
    text: str
    """The exact characters, markers and all."""
    kind: SentenceKind = SentenceKind.CLAIM
    """What it is for."""
