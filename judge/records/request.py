"""What a judge is asked."""

from collections.abc import Mapping

from pydantic import Field

from judge.records.record import Record
from judge.records.sample import Chunk
from judge.records.sentence import Sentence


class JudgeRequest(Record):
    """Some sentences of one answer, to be judged against some chunks."""

    query: str
    """The user's question."""
    answer: str
    """The whole answer, for context."""
    sentences: tuple[Sentence, ...]
    """All its sentences, in order."""
    ask: tuple[int, ...]
    """Indexes of the sentences to judge, ascending."""
    chunks: tuple[Chunk, ...]
    """The evidence, in the order the generator saw it."""
    cites: Mapping[int, tuple[int, ...]] = Field(default_factory=dict)
    """For a sentence index, the 0-based positions in `chunks` that it cites; absent means none."""
    markers: tuple[tuple[int, int], ...] = ()
    """Spans of the citation markers, into the answer, ascending: no part of what is claimed."""
    deadline: float | None = None
    """When no more is asked about this answer, on the event loop's clock; null means never."""
