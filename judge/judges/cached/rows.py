"""What stands in the store: JSON text, read as if somebody else had written it.

It stands there under keys that hold everything the judge saw, and how it was asked.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, Final, Literal, Self

from pydantic import AwareDatetime, ConfigDict, Field, ValidationError
from pydantic_core import PydanticSerializationError, to_json

from judge.records import (
    Call,
    Evidence,
    FlagName,
    JudgeRequest,
    PartsVerdict,
    QuestionPart,
    Record,
    Support,
    Verdict,
)
from judge.records.exchange import Reply
from judge.signature import Signature
from judge.text.tokens import broken

ASKED: Final = "asked:"
"""Begins the name of a row that tells what was asked."""
REPLY: Final = "reply:"
"""Begins the name of a row that holds a reply."""

_EDITION: Final = "verdict-1"
"""Of a key's fields and of the rows they lead to."""
_COST: Final = {"model", "prompt_tokens", "reply_tokens", "seconds"}

_Count = Annotated[int, Field(ge=0)]


class Row(Record):
    """A row: whatever has not its exact shape is none."""

    model_config = ConfigDict(strict=True)

    @classmethod
    def read(cls, text: str) -> Self | None:
        """The row, or None where the text is something else."""
        try:
            return cls.model_validate_json(text)
        except ValidationError:
            return None

    def write(self) -> str:
        """The row as text."""
        try:
            return self.model_dump_json()
        except PydanticSerializationError:  # a model wrote half a surrogate pair
            text = json.dumps(self.model_dump(mode="json"), ensure_ascii=False)
            return text.encode("utf-8", "replace").decode("utf-8")


class Place(Row):
    """Where a verdict belongs."""

    sentence: int
    """Index of the sentence in its answer."""
    cites: tuple[_Count, ...]
    """Positions of the chunks it cites."""
    flags: tuple[FlagName, ...]
    """Flags that the judge raised about the sentence."""
    replies: tuple[str, ...]
    """Names of the rows with the replies it was read from."""
    asked: str
    """Name of the row that tells what was asked."""


class VerdictRow(Row):
    """A verdict, its chunks by position: their ids are the sample's, and may change."""

    place: Place
    """The sentence and the asking it belongs to."""
    support: Support
    """The label. This and the fields below mean what they mean in `Verdict`."""
    evidence: tuple[tuple[_Count, str], ...]
    """Position of the chunk, and quote; code finds the quote in the chunk anew."""
    supporting: tuple[_Count, ...]
    """Positions of the chunks that alone support all or part."""
    cited_support: Support | None
    """The label given only the cited chunks."""
    reason: str
    """Why it is not `full`, in a few words."""
    source: Literal["llm"]
    """Only a language model's verdicts are kept."""
    signature: str
    """The judge's signature when it gave the verdict."""
    parts: tuple[QuestionPart, ...] = ()
    """Those of a question, where the verdict is on one; code looks for their words anew."""

    @classmethod
    def text(cls, verdict: Verdict, place: Place, positions: Mapping[str, int]) -> str | None:
        """The text of a verdict's row, which names chunks by these positions.

        It is checked when it is read, and not here. None where it is no language model's own,
        since a stand-in's must never pass for one; and where it names a chunk that there is not.
        """
        if verdict.source != "llm" or verdict.fallback_from:
            return None
        try:
            quotes = tuple((positions[each.chunk_id], each.quote) for each in verdict.evidence)
            supporting = tuple(positions[name] for name in verdict.supporting)
        except KeyError:
            return None
        fields = {
            "place": place,
            "support": verdict.support,
            "evidence": quotes,
            "supporting": supporting,
            "cited_support": verdict.cited_support,
            "reason": verdict.reason,
            "source": verdict.source,
            "signature": verdict.signature,
        }
        if isinstance(verdict, PartsVerdict):
            fields["parts"] = verdict.parts
        try:
            return to_json(fields).decode()
        except PydanticSerializationError:
            return cls.model_validate(fields).write()

    def verdict(self, ids: Sequence[str]) -> Verdict:
        """The verdict on chunks of these ids."""
        verdict = Verdict(
            support=self.support,
            evidence=tuple(Evidence(chunk_id=ids[at], quote=quote) for at, quote in self.evidence),
            supporting=tuple(dict.fromkeys(ids[at] for at in self.supporting)),
            cited_support=self.cited_support,
            reason=self.reason,
            source=self.source,
            signature=self.signature,
        )
        return PartsVerdict(**dict(verdict), parts=self.parts) if self.parts else verdict


class ReplyRow(Row):
    """A model's words, and what they cost."""

    text: str
    """The reply as the server sent it."""
    model: str
    """The model the server named."""
    prompt_tokens: _Count
    """Tokens of the request."""
    reply_tokens: _Count
    """Tokens of the reply."""
    seconds: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    """From the first sending to the last byte, waits included."""
    signature: str
    """The judge's signature when it read verdicts from the reply."""
    stored: AwareDatetime
    """When it was kept."""

    @classmethod
    def of(cls, reply: Reply, signature: str) -> Self:
        """The row of a reply that has just come."""
        cost, now = reply.call.model_dump(include=_COST), datetime.now(UTC)
        stored = now.replace(microsecond=0)
        return cls(text=reply.text, signature=signature, stored=stored, **cost)

    def call(self) -> Call:
        """The call that was not made for it this time."""
        return Call(**self.model_dump(include=_COST), cached=True)


class AskedRow(Row):
    """What the verdicts of an answer were asked about, its texts by hash."""

    signature: str
    """The judge's, without the model that the server named: as it counts in the key."""
    url: str
    """Base URL of the server."""
    repeat: int | str = 0
    """0 for the first asking; of a repeat, the numbers of its seed and its order: `1:1`."""
    query: str
    """Hash of the query."""
    answer: str
    """Hash of the answer."""
    chunks: tuple[str, ...]
    """Hashes of the chunk texts, in order."""


class AnswerKey:
    """What the keys of one answer's sentences have in common, hashed once.

    Every field is hashed behind its length in bytes, and every list behind its own, so that no
    character can move from one to the next unnoticed. Chunk positions are part of it, ids are not.
    Texts count as a model is shown them: their control tokens broken up. `repeat` tells askings
    of the same apart.
    """

    def __init__(
        self, request: JudgeRequest, signature: str, url: str, repeat: int | str = 0
    ) -> None:
        self.request = request
        self._repeat = repeat
        # Which model stands behind a name shows in replies alone, and may change with each.
        self._signature = str(Signature.parse(signature).requested())
        self._url = url
        self._query, self._answer = broken(request.query), broken(request.answer)
        self._chunks = [broken(chunk.text) for chunk in request.chunks]
        fields = (_EDITION, self._signature, url, self._query, self._answer)
        framed = _framed((*fields, str(len(self._chunks)), *self._chunks, str(repeat)))
        self._shared = hashlib.sha256(framed)
        self.asked = ASKED + self._shared.hexdigest()
        """Name of the row that tells what was asked."""

    def verdicts(self) -> dict[int, str]:
        """The keys of the asked sentences' verdicts, by index."""
        return {index: self.verdict(index) for index in self.request.ask}

    def verdict(self, index: int) -> str:
        """The key of one sentence's verdict."""
        cites = ",".join(map(str, self.request.cites.get(index, ())))
        text = self.request.sentences[index].text
        if self._answer is not self.request.answer:
            text = broken(text)
        whole = self._shared.copy()
        whole.update(_framed((str(index), text, cites)))
        return whole.hexdigest()

    def asked_row(self) -> AskedRow:
        """What was asked, part by part, its texts by hash."""
        return AskedRow(
            signature=self._signature,
            url=self._url,
            repeat=self._repeat,
            query=brief(self._query),
            answer=brief(self._answer),
            chunks=tuple(map(brief, self._chunks)),
        )

    def found(self, keys: Mapping[int, str], texts: Mapping[str, str]) -> dict[int, VerdictRow]:
        """The stored verdicts about their own sentence, and about no chunk that there is not."""
        rows = {index: VerdictRow.read(texts[key]) for index, key in keys.items() if key in texts}
        cites, chunks = self.request.cites, len(self.request.chunks)
        return {
            index: row
            for index, row in rows.items()
            if row
            and (row.place.sentence, row.place.cites) == (index, cites.get(index, ()))
            and all(position < chunks for position, _ in row.evidence)
            and all(position < chunks for position in row.supporting)
        }


def digest(fields: Iterable[str]) -> str:
    """SHA-256 over length-prefixed fields, in hex."""
    return hashlib.sha256(_framed(fields)).hexdigest()


def brief(text: str) -> str:
    """Enough of a text's hash to tell it from others, in hex."""
    return hashlib.sha256(_bytes(text)).hexdigest()[:16]


def _framed(fields: Iterable[str]) -> bytes:
    framed: list[bytes] = []
    for each in map(_bytes, fields):
        framed += (len(each).to_bytes(8, "big"), each)
    return b"".join(framed)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")  # a sample may hold half a pair


class Tally(Record):
    """What is stored under one signature."""

    verdicts: int = 0
    """Sentences that have a verdict."""
    replies: int = 0
    """Calls that need not be made again."""
    oldest: datetime | None = None
    """When the first reply was kept."""
    newest: datetime | None = None
    """When the last one was."""


class Contents(Record):
    """What is stored."""

    verdicts: int
    """Sentences that have a verdict."""
    replies: int
    """Calls that need not be made again."""
    answers: int
    """Askings: an answer judged by two judges counts twice."""
    other: int
    """Rows of another kind or shape."""
    signatures: dict[str, Tally]
    """By signature, in the order they were first met, those with verdicts first."""


def contents(rows: Iterable[tuple[str, str]]) -> Contents:
    """Count the rows of a store, given by name and text."""
    verdicts, replies = Counter[str](), Counter[str]()
    oldest: dict[str, datetime] = {}
    newest: dict[str, datetime] = {}
    answers = other = 0
    for name, text in rows:
        if name.startswith(REPLY) and (reply := ReplyRow.read(text)):
            maker, when = reply.signature, reply.stored
            replies[maker] += 1
            oldest[maker] = min(when, oldest.get(maker, when))
            newest[maker] = max(when, newest.get(maker, when))
        elif name.startswith(ASKED) and AskedRow.read(text):
            answers += 1
        elif row := VerdictRow.read(text):
            verdicts[row.signature] += 1
        else:
            other += 1
    tallies = {
        maker: Tally(
            verdicts=verdicts[maker],
            replies=replies[maker],
            oldest=oldest.get(maker),
            newest=newest.get(maker),
        )
        for maker in dict.fromkeys((*verdicts, *replies))
    }
    total = {"verdicts": verdicts.total(), "replies": replies.total()}
    return Contents(**total, answers=answers, other=other, signatures=tallies)
