"""One query: what was ranked for it, and what is relevant to it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from judge.records import Chunk
from judge.retrieval.records import RankRules

Grades = Mapping[str, float]
"""Relevance by id; what is not there, or not above 0, is not relevant."""


_MOST: Final = {"linear": 1e100, "exp2": 300.0}
"""Relevance: from a good deal more, sums of gains are no longer numbers."""


def too_much(grade: float, rules: RankRules) -> str:
    """What is wrong with a grade that gains of this kind cannot be summed over; else nothing."""
    most = _MOST[rules.gain]
    if grade <= most:
        return ""
    way = ", or pass --gain linear" if rules.gain != "linear" else ""
    return f"{grade:g}, over {most:g} and too much for gain {rules.gain!r}; mend it{way}"


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
    named: bool = False
    """Whether the ranking holds an id that gold names, graded 0 or more."""
    query: str = ""
    """Its text, where it is known."""
    chunks: Sequence[Chunk] = ()
    """What was ranked, chunk by chunk, best first, each once; a text that is not known is empty.
    None where no text is."""
