"""One query: what was ranked for it, and what is relevant to it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from judge.records import Chunk

Grades = Mapping[str, float]
"""Relevance by id; what is not there, or not above 0, is not relevant."""


@dataclass(frozen=True, slots=True)
class RankedQuery:
    """What a ranking of one query is measured by."""

    qid: str
    """Unique within a file."""
    ids: Mapping[str, int]
    """What was ranked, each once, and its place from 0: its rank, or where there are scores the
    place of its score."""
    relevance: Grades | None
    """Relevance of what is relevant, above 0 each; None where nobody said."""
    scores: Sequence[float] | None = None
    """By place, where the retriever gave them: then they order the ranking."""
    repeated: bool = False
    """Whether the ranking named something twice; it counts once, at the first place."""
    query: str = ""
    """Its text, where it is known."""
    chunks: Sequence[Chunk] = ()
    """What was ranked, chunk by chunk, best first, each once; a text that is not known is empty.
    None where no text is."""
