"""What stands in the store: JSON text, read as if somebody else had written it."""

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Annotated, Final, Literal, Self

from pydantic import AwareDatetime, ConfigDict, Field, ValidationError
from pydantic_core import PydanticSerializationError, to_json

from judge.records import Call, Evidence, FlagName, Record, Support, Verdict
from judge.records.exchange import Reply

ASKED: Final = "asked:"
"""Begins the name of a row that tells what was asked."""
REPLY: Final = "reply:"
"""Begins the name of a row that holds a reply."""

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
        try:
            return to_json(fields).decode()
        except PydanticSerializationError:
            return cls.model_validate(fields).write()

    def belongs(self, index: int, cites: tuple[int, ...], chunks: int) -> bool:
        """Whether it is about this sentence, and about no chunk that there is not."""
        positions = (*(position for position, _ in self.evidence), *self.supporting)
        here = self.place.sentence == index and self.place.cites == cites
        return here and max(positions, default=-1) < chunks

    def verdict(self, ids: tuple[str, ...]) -> Verdict:
        """The verdict on chunks of these ids."""
        return Verdict(
            support=self.support,
            evidence=tuple(Evidence(chunk_id=ids[at], quote=quote) for at, quote in self.evidence),
            supporting=tuple(dict.fromkeys(ids[at] for at in self.supporting)),
            cited_support=self.cited_support,
            reason=self.reason,
            source=self.source,
            signature=self.signature,
        )


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
        return cls(
            text=reply.text,
            model=reply.call.model,
            prompt_tokens=reply.call.prompt_tokens,
            reply_tokens=reply.call.reply_tokens,
            seconds=reply.call.seconds,
            signature=signature,
            stored=datetime.now(UTC).replace(microsecond=0),
        )

    def call(self) -> Call:
        """The call that was not made for it this time."""
        return Call(
            model=self.model,
            prompt_tokens=self.prompt_tokens,
            reply_tokens=self.reply_tokens,
            seconds=self.seconds,
            cached=True,
        )


class AskedRow(Row):
    """What the verdicts of an answer were asked about, its texts by hash."""

    signature: str
    """The judge's, without the model that the server named: as it counts in the key."""
    url: str
    """Base URL of the server."""
    repeat: int
    """Which of several askings of the same."""
    query: str
    """Hash of the query."""
    answer: str
    """Hash of the answer."""
    chunks: tuple[str, ...]
    """Hashes of the chunk texts, in order."""


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
    """By signature, in the order they were first met."""


def contents(rows: Iterable[tuple[str, str]]) -> Contents:
    """Count the rows of a store."""
    verdicts: dict[str, int] = {}
    replies: dict[str, int] = {}
    times: dict[str, tuple[datetime, datetime]] = {}
    answers = other = 0
    for name, text in rows:
        if name.startswith(REPLY) and (reply := ReplyRow.read(text)):
            first, last = times.get(reply.signature, (reply.stored, reply.stored))
            times[reply.signature] = min(first, reply.stored), max(last, reply.stored)
            replies[reply.signature] = replies.get(reply.signature, 0) + 1
        elif name.startswith(ASKED) and AskedRow.read(text):
            answers += 1
        elif row := VerdictRow.read(text):
            verdicts[row.signature] = verdicts.get(row.signature, 0) + 1
        else:
            other += 1
    return Contents(
        verdicts=sum(verdicts.values()),
        replies=sum(replies.values()),
        answers=answers,
        other=other,
        signatures={
            signature: Tally(
                verdicts=verdicts.get(signature, 0),
                replies=replies.get(signature, 0),
                oldest=times[signature][0] if signature in times else None,
                newest=times[signature][1] if signature in times else None,
            )
            for signature in dict.fromkeys((*verdicts, *replies))
        },
    )
