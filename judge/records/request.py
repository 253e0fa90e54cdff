"""What a judge is asked."""

from bisect import bisect_left
from collections.abc import Mapping
from operator import itemgetter

from pydantic import Field

from judge.records.record import Record
from judge.records.sample import Chunk
from judge.records.sentence import Sentence
from judge.text.words import blank


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

    def claim(self, index: int) -> str:
        """A sentence with its citation markers overwritten by spaces, for an id is no claim.

        Every other character keeps its place.
        """
        sentence = self.sentences[index]
        first, last = (
            bisect_left(self.markers, place, key=itemgetter(0))
            for place in (sentence.start, sentence.end)
        )
        spans = [(a - sentence.start, b - sentence.start) for a, b in self.markers[first:last]]
        return blank(sentence.text, spans)
