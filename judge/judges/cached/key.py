"""The keys of verdicts: they hold everything the judge saw, and how it was asked.

And why a sentence is asked again: which part of its key differs from what is stored.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import Final, Literal, Protocol

from judge.judges.cached.rows import ASKED, REPLY, AskedRow, VerdictRow
from judge.records import JudgeRequest, Record
from judge.signature import Signature

_EDITION: Final = "verdict-1"
"""Of the fields below and of the rows they lead to."""


class Kept(Protocol):
    """A store that can be read from the first row to the last."""

    def get(self, keys: Sequence[str], /) -> Mapping[str, str]:
        """The texts known for these keys; a missing key is absent."""

    def rows(self) -> Iterable[tuple[str, str]]:
        """Every key and its text, from the first one each time."""


class AnswerKey:
    """What the keys of one answer's sentences have in common, hashed once.

    Every field is hashed behind its length in bytes, and every list behind its own, so that no
    character can move from one to the next unnoticed.

    Args:
        request: chunk ids are no part of the key, chunk positions are.
        signature: the judge's, of which all counts but the model that the server named.
        url: base URL, kept as it is.
        repeat: which of several askings of the same.
    """

    def __init__(self, request: JudgeRequest, signature: str, url: str, repeat: int) -> None:
        self._request = request
        # Which model stands behind a name shows in replies alone, and may change with each.
        self._signature = str(Signature.parse(signature).requested())
        self._url = url
        self._repeat = repeat
        texts = (chunk.text for chunk in request.chunks)
        fields = (_EDITION, self._signature, self._url, request.query, request.answer)
        self._shared = hashlib.sha256(
            _framed((*fields, str(len(request.chunks)), *texts, str(repeat)))
        )
        self.asked = ASKED + self._shared.hexdigest()
        """Name of the row that tells what was asked."""

    def verdicts(self) -> dict[int, str]:
        """The keys of the asked sentences' verdicts, by index."""
        return {index: self.verdict(index) for index in self._request.ask}

    def verdict(self, index: int) -> str:
        """The key of one sentence's verdict."""
        whole = self._shared.copy()
        sentence = self._request.sentences[index].text
        cites = self._request.cites.get(index, ())
        whole.update(_framed((str(index), sentence, ",".join(map(str, cites)))))
        return whole.hexdigest()

    def asked_row(self) -> AskedRow:
        """What was asked, part by part, its texts by hash."""
        return AskedRow(
            signature=self._signature,
            url=self._url,
            repeat=self._repeat,
            query=brief(self._request.query),
            answer=brief(self._request.answer),
            chunks=tuple(brief(chunk.text) for chunk in self._request.chunks),
        )


def found(
    request: JudgeRequest, keys: Mapping[int, str], texts: Mapping[str, str]
) -> dict[int, VerdictRow]:
    """The stored verdicts that belong where their keys say, by sentence.

    Args:
        request: what is asked.
        keys: of the sentences looked for, by index.
        texts: of the store, by key.
    """
    rows = {index: VerdictRow.read(texts[key]) for index, key in keys.items() if key in texts}
    return {
        index: row
        for index, row in rows.items()
        if row and row.belongs(index, request.cites.get(index, ()), len(request.chunks))
    }


def digest(fields: Iterable[str]) -> str:
    """SHA-256 over length-prefixed fields, in hex."""
    return hashlib.sha256(_framed(fields)).hexdigest()


def brief(text: str) -> str:
    """Enough of a text's hash to tell it from others, in hex."""
    return hashlib.sha256(_bytes(text)).hexdigest()[:16]


def _framed(fields: Iterable[str]) -> bytes:
    parts: list[bytes] = []
    for field in fields:
        data = _bytes(field)
        parts += len(data).to_bytes(8, "big"), data
    return b"".join(parts)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")  # a sample may hold half a pair


class Difference(Record):
    """A part of the key that is not as stored."""

    part: str
    """Which: "model", "prompt", "url", "query", "chunk 2", "cites" …"""
    stored: str
    """The stored value; for a text its hash."""
    now: str
    """The value asked about; for a text its hash."""


class Explained(Record):
    """What the store has to say of one sentence."""

    sentence: int
    """Index of the sentence."""
    found: Literal["hit", "differs", "not kept", "nothing"]
    """Stored; something like it is; its answer was asked about, no more; nothing like it."""
    differences: tuple[Difference, ...] = ()
    """From the nearest that is stored; empty unless it differs."""


def explain(request: JudgeRequest, key: AnswerKey, store: Kept) -> list[Explained]:
    """What is stored of each asked sentence, in order, or how it differs from what is.

    Args:
        request: what would be asked.
        key: its key.
        store: where its verdicts would stand; gone through twice where one is missing.
    """
    keys = key.verdicts()
    hits = found(request, keys, store.get(list(keys.values())))
    if hits.keys() >= set(request.ask):
        return [Explained(sentence=index, found="hit") for index in request.ask]
    now = key.asked_row()
    name, nearest = _nearest(now, store.rows())
    kept = _cites(name, store.rows()) if nearest else {}
    apart = differences(nearest, now) if nearest else []
    explained = []
    for index in request.ask:
        if index in hits:
            explained.append(Explained(sentence=index, found="hit"))
        elif nearest is None:
            explained.append(Explained(sentence=index, found="nothing"))
        else:
            own = [*apart, *_own(request, index, kept.get(index, []), alike=not apart)]
            how: Literal["differs", "not kept"] = "differs" if own else "not kept"
            explained.append(Explained(sentence=index, found=how, differences=tuple(own)))
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
    """Positions, counted from 1."""
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
        or (stored.query == now.query != brief(""))
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
