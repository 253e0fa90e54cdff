"""The rows of the cache: keys that hold all that the judge saw, and JSON texts.

A row is read as if somebody else had written it: what does not have its exact shape is ignored.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated, Final, Literal, Self

from pydantic import AwareDatetime, ConfigDict, Field, ValidationError
from pydantic_core import PydanticSerializationError

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

REPLY: Final = "reply:"
"""Begins the key of a row that holds a reply."""
_EDITION: Final = "verdict-1"
"""Edition of the keys' fields and of the rows."""
_COST: Final = {"model", "prompt_tokens", "reply_tokens", "seconds"}

_Count = Annotated[int, Field(ge=0)]


class Row(Record):
    """A row of the cache."""

    model_config = ConfigDict(strict=True)

    @classmethod
    def read(cls, text: str) -> Self | None:
        """Return the row, or None where the text is something else."""
        try:
            return cls.model_validate_json(text)
        except ValidationError:
            return None

    def write(self) -> str:
        """Return the row as text; lone surrogates, which a model may write, are replaced."""
        try:
            return self.model_dump_json()
        except PydanticSerializationError:
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
    """Keys of the rows with the replies it was read from."""
    asked: str
    """Hash of the answer's text."""


class VerdictRow(Row):
    """A verdict. It names chunks by position: their ids are the sample's, and may change."""

    place: Place
    """The sentence and the answer it belongs to."""
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
    """The parts of a question, where the verdict is about a question."""

    @classmethod
    def of(
        cls, verdict: Verdict, place: Place, positions: Mapping[str, int]
    ) -> "VerdictRow | None":
        """Return the row of a verdict that names chunks by these positions, unchecked.

        None for a verdict that is not a language model's own, and for one that names a chunk that
        does not exist.
        """
        named = {*verdict.supporting, *(each.chunk_id for each in verdict.evidence)}
        if verdict.source != "llm" or verdict.fallback_from or not named <= positions.keys():
            return None
        return cls.model_construct(
            place=place,
            support=verdict.support,
            evidence=tuple((positions[each.chunk_id], each.quote) for each in verdict.evidence),
            supporting=tuple(positions[name] for name in verdict.supporting),
            cited_support=verdict.cited_support,
            reason=verdict.reason,
            source="llm",
            signature=verdict.signature,
            parts=verdict.parts if isinstance(verdict, PartsVerdict) else (),
        )

    def verdict(self, ids: Sequence[str]) -> Verdict:
        """Return the verdict on chunks of these ids."""
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
    """A model's reply, and what it cost."""

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
        """Return the row of a reply that has just come."""
        stored = datetime.now(UTC).replace(microsecond=0)
        cost = reply.call.model_dump(include=_COST)
        return cls(text=reply.text, signature=signature, stored=stored, **cost)

    def call(self) -> Call:
        """Return the call that was not made again."""
        return Call(**self.model_dump(include=_COST), cached=True)


class AnswerKey:
    """The common part of the keys of one answer's sentences, hashed once.

    Every field is hashed behind its length in bytes, and every list behind its own, so that no
    character can move from one to the next unnoticed. Texts count as a model is shown them, with
    their control tokens broken up. Chunk positions are part of the key, chunk ids are not. Nor is
    the model that the server named, which is known from replies alone. `repeat` is 0 for the first
    request, and tells repeats apart.
    """

    def __init__(
        self, request: JudgeRequest, signature: str, url: str, repeat: int | str = 0
    ) -> None:
        self._request = request
        chunks = [broken(chunk.text) for chunk in request.chunks]
        requested = str(Signature.parse(signature).requested())
        texts = (requested, url, broken(request.query), broken(request.answer))
        self._shared = hashlib.sha256(
            _framed((_EDITION, *texts, str(len(chunks)), *chunks, str(repeat)))
        )
        self.answer = hashlib.sha256(_bytes(request.answer)).hexdigest()[:16]
        """Hash of the answer's text."""

    def verdict(self, index: int) -> str:
        """Return the key of one sentence's verdict."""
        cites = ",".join(map(str, self._request.cites.get(index, ())))
        key = self._shared.copy()
        key.update(_framed((str(index), broken(self._request.sentences[index].text), cites)))
        return key.hexdigest()

    def reply(self, number: int, reply: Reply) -> str:
        """Return the key of the reply of this number."""
        fields = (self._shared.hexdigest(), str(number), str(reply.sentences), reply.text)
        return REPLY + hashlib.sha256(_framed(fields)).hexdigest()

    def read(self, index: int, text: str) -> VerdictRow | None:
        """Return the row of a sentence; None where the text is no row about that sentence."""
        row = VerdictRow.read(text)
        if row is None or row.place.sentence != index:
            return None
        chunks = len(self._request.chunks)
        named = (*row.supporting, *(position for position, _ in row.evidence))
        its_own = row.place.cites == self._request.cites.get(index, ())
        return row if its_own and all(position < chunks for position in named) else None


def _framed(fields: Iterable[str]) -> bytes:
    framed: list[bytes] = []
    for text in fields:
        data = _bytes(text)
        framed += (len(data).to_bytes(8, "big"), data)
    return b"".join(framed)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")  # a sample may have a lone surrogate


@dataclass
class Tally:
    """What is stored under one signature."""

    verdicts: int = 0
    """Sentences that have a verdict."""
    replies: int = 0
    """Calls that need not be made again."""
    oldest: datetime | None = None
    """When the first reply was kept."""
    newest: datetime | None = None
    """When the last reply was kept."""


@dataclass
class Contents:
    """What is stored."""

    answers: set[str] = field(default_factory=set)
    """Hashes of the answers."""
    signatures: dict[str, Tally] = field(default_factory=dict)
    """By signature, in the order they were first met."""


def contents(rows: Iterable[tuple[str, str]]) -> Contents:
    """Count the rows of a store, given by key and text."""
    found = Contents()
    for key, text in rows:
        if key.startswith(REPLY):
            if reply := ReplyRow.read(text):
                tally = found.signatures.setdefault(reply.signature, Tally())
                tally.replies += 1
                tally.oldest = min(reply.stored, tally.oldest or reply.stored)
                tally.newest = max(reply.stored, tally.newest or reply.stored)
        elif verdict := VerdictRow.read(text):
            found.signatures.setdefault(verdict.signature, Tally()).verdicts += 1
            found.answers.add(verdict.place.asked)
    return found
