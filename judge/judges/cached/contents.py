"""What a store holds, counted."""

from collections.abc import Iterable
from datetime import datetime

from judge.judges.cached.rows import ASKED, REPLY, AskedRow, ReplyRow, VerdictRow
from judge.records.record import Record


class Tally(Record):
    """What is stored under one signature."""

    verdicts: int = 0
    """Sentences."""
    replies: int = 0
    """Calls that need not be made again."""
    oldest: datetime | None = None
    """When the first reply was kept."""
    newest: datetime | None = None
    """When the last one was."""


class Contents(Record):
    """What is stored."""

    verdicts: int
    """Sentences."""
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
