"""Why a sentence is asked again: which part of its key differs from what is stored."""

from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import zip_longest
from typing import Final, Literal

from judge.judges.cached.key import AnswerKey, brief
from judge.judges.cached.rows import ASKED, REPLY, AskedRow, VerdictRow
from judge.records import JudgeRequest
from judge.records.record import Record
from judge.signature import Signature

Rows = Callable[[], Iterable[tuple[str, str]]]
"""The keys and texts of a store, from the first one each time."""

_EMPTY: Final = brief("")


class Difference(Record):
    """A part of the key that is not as stored."""

    part: str
    """Which: "model", "prompt", "url", "query", "chunk 2", "cites" …"""
    stored: str
    """As stored; of a text, its hash."""
    now: str
    """As asked."""


class Explained(Record):
    """What the store has to say of one sentence."""

    sentence: int
    """Its index."""
    found: Literal["hit", "differs", "not kept", "nothing"]
    """Stored; something like it is; its answer was asked about, no more; nothing like it."""
    differences: tuple[Difference, ...] = ()
    """From the nearest that is stored; empty unless it differs."""


def explain(
    request: JudgeRequest, key: AnswerKey, hits: Collection[int], rows: Rows
) -> list[Explained]:
    """What is stored of each asked sentence, in order.

    Args:
        request: what would be asked.
        key: its key.
        hits: indexes of the sentences whose verdicts are stored.
        rows: everything stored.
    """
    if set(request.ask) <= set(hits):
        return [Explained(sentence=index, found="hit") for index in request.ask]
    now = key.asked_row()
    name, nearest = _nearest(now, rows())
    kept = _cites(name, rows()) if nearest else {}
    apart = differences(nearest, now) if nearest else []
    explained = []
    for index in request.ask:
        if index in hits:
            explained.append(Explained(sentence=index, found="hit"))
        elif nearest is None:
            explained.append(Explained(sentence=index, found="nothing"))
        else:
            own = [*apart, *_own(request, index, kept.get(index, []), alike=not apart)]
            found: Literal["differs", "not kept"] = "differs" if own else "not kept"
            explained.append(Explained(sentence=index, found=found, differences=tuple(own)))
    return explained


def differences(stored: AskedRow, now: AskedRow) -> list[Difference]:
    """The parts of an answer's key that are not as stored."""
    pairs = [
        *_signature_parts(stored.signature, now.signature),
        ("url", stored.url, now.url),
        ("query", stored.query, now.query),
        ("answer", stored.answer, now.answer),
        *_chunk_parts(stored.chunks, now.chunks),
        ("repeat", str(stored.repeat), str(now.repeat)),
    ]
    return [Difference(part=part, stored=was, now=new) for part, was, new in pairs if was != new]


def _signature_parts(stored: str, now: str) -> Iterable[tuple[str, str, str]]:
    made, wanted = Signature.parse(stored), Signature.parse(now)
    was, new = made.named(), wanted.named()
    for name in made.differs_in(wanted):
        yield ("model" if name == "llm" else name), was.get(name, "none"), new.get(name, "none")


def _chunk_parts(stored: Sequence[str], now: Sequence[str]) -> Iterable[tuple[str, str, str]]:
    if sorted(stored) == sorted(now):
        yield "order of chunks", " ".join(stored), " ".join(now)
        return
    for number, (was, new) in enumerate(zip_longest(stored, now, fillvalue="none"), start=1):
        yield f"chunk {number}", was, new


def _own(
    request: JudgeRequest, index: int, kept: Sequence[tuple[int, ...]], *, alike: bool
) -> Iterable[Difference]:
    """What differs of the sentence itself, where the same one of the same answer is stored."""
    cites = request.cites.get(index, ())
    if kept and cites not in kept:
        yield Difference(part="cites", stored=_numbers(kept[-1]), now=_numbers(cites))
    elif kept and alike:
        yield Difference(
            part="sentence",
            stored="another text, or a row that cannot be read",
            now=brief(request.sentences[index].text),
        )


def _numbers(positions: Sequence[int]) -> str:
    """Positions as people count."""
    return ", ".join(f"chunk {position + 1}" for position in positions) or "none"


def _nearest(now: AskedRow, rows: Iterable[tuple[str, str]]) -> tuple[str, AskedRow | None]:
    """The stored asking that differs least, the last of several; its name before it."""
    best: tuple[tuple[int, ...], str, AskedRow] | None = None
    for name, text in rows:
        row = AskedRow.read(text) if name.startswith(ASKED) else None
        if row and _related(row, now):
            distance = _distance(row, now)
            if best is None or distance <= best[0]:
                best = distance, name, row
    return best[1:] if best else ("", None)


def _related(stored: AskedRow, now: AskedRow) -> bool:
    """Whether it is about the same at all: an answer, a question or a chunk in common."""
    return (
        stored.answer == now.answer
        or (stored.query == now.query != _EMPTY)
        or not set(stored.chunks).isdisjoint(now.chunks)
    )


def _distance(stored: AskedRow, now: AskedRow) -> tuple[int, ...]:
    """Texts weigh before settings: another model's verdict on this answer is near."""
    apart = [difference.part for difference in differences(stored, now)]
    return ("answer" in apart, "query" in apart, len(apart))


def _cites(asked: str, rows: Iterable[tuple[str, str]]) -> dict[int, list[tuple[int, ...]]]:
    """What was cited by each sentence that is stored of one asking, by its index."""
    cites: dict[int, list[tuple[int, ...]]] = {}
    for name, text in rows:
        row = None if name.startswith((ASKED, REPLY)) else VerdictRow.read(text)
        if row and row.place.asked == asked:
            cites.setdefault(row.place.sentence, []).append(row.place.cites)
    return cites
