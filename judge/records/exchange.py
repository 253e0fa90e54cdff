"""Requests to judges and to the models behind them, and their replies."""

from bisect import bisect_left
from collections.abc import Mapping
from operator import itemgetter
from typing import Annotated, Literal

from pydantic import Field, JsonValue

from judge.records.sample import Chunk, Record
from judge.records.sentence import Flag, JudgeOutcome, Sentence, UnscoredReason
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
    """Spans of the citation markers, into the answer, ascending."""
    deadline: float | None = None
    """When no more is asked about this answer, on the event loop's clock; null means never."""

    def claim(self, index: int) -> str:
        """Return a sentence with its citation markers overwritten by spaces."""
        return self.without_markers(self.sentences[index].start, self.sentences[index].end)

    def without_markers(self, start: int, end: int) -> str:
        """Return characters of the answer, with citation markers overwritten by spaces."""
        first, last = (
            bisect_left(self.markers, place, key=itemgetter(0)) for place in (start, end)
        )
        markers = [(low - start, high - start) for low, high in self.markers[first:last]]
        return blank(self.answer[start:end], markers)


class Call(Record):
    """One question to a model, answered or not."""

    model: str
    """The model the server named; empty where no reply came."""
    prompt_tokens: int
    """Tokens in."""
    reply_tokens: int
    """Tokens out."""
    seconds: float
    """From sending to the last byte, retries included."""
    retries: int = 0
    """Attempts that failed before the last one."""
    cached: bool = False
    """True where the reply came from the cache and nothing was sent."""


class Reply(Record):
    """A model's reply as text, for the cache; it is in no result."""

    text: str
    """As received."""
    call: Call
    """The call that brought them."""
    sentences: tuple[int, ...]
    """The sentences whose verdicts were read from it."""


class Judgment(Record):
    """A judge's reply to one request."""

    outcomes: Mapping[int, JudgeOutcome] = Field(default_factory=dict)
    """One outcome per asked sentence index, no more and no fewer."""
    calls: tuple[Call, ...] = ()
    """The calls that were made."""
    replies: tuple[Reply, ...] = ()
    """The replies that verdicts were read from; a refused, broken or cut one is not among them."""
    flags: tuple[Flag, ...] = ()
    """What only the judge could see, such as chunks that say opposite things."""


class ChatRequest(Record):
    """A system and a user message, and the shape the reply must have."""

    system: str
    """Instructions."""
    user: str
    """The material."""
    reply_schema: dict[str, JsonValue]
    """JSON schema of the reply."""
    max_tokens: int
    """Limit on the reply."""
    deadline: float | None = None
    """When the answer must be there, on the event loop's clock; null means no limit."""


class ChatReply(Record):
    """What came back."""

    text: str
    """The reply as received, unparsed."""
    finish: Literal["stop", "length", "refusal", "content_filter"]
    """Why it ended."""
    model: str
    """The model the server named."""
    prompt_tokens: int
    """Tokens in."""
    reply_tokens: int
    """Tokens out."""
    seconds: float
    """From sending to the last byte, failed attempts and the waits between them included."""
    retries: int = 0
    """Attempts that failed before this one."""


class ChatFailure(Record):
    """No reply. The world's failure is a value: what became of the request, and at what cost."""

    reason: UnscoredReason
    """Which failure: that of the last attempt."""
    detail: str = ""
    """What happened, in one line, without secrets."""
    seconds: float = 0.0
    """From the first sending until it was given up."""
    retries: int = 0
    """Attempts that failed before the last one."""
    refused: bool = False
    """Whether the server, which works, refuses this request or responds without a reply."""


_Probability = Annotated[float, Field(ge=0, le=1)]


class Relation(Record):
    """The relation of a premise to a hypothesis. The rest of 1 is the probability of neither."""

    entailed: _Probability
    """P(the hypothesis follows from the premise)."""
    contradicted: _Probability = 0.0
    """P(the premise says otherwise); 0 where the model does not tell that from "not said"."""
