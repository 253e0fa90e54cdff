"""The judge that stores verdicts as rows of JSON text, and never asks for a stored one again."""

import asyncio
import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final
from weakref import WeakValueDictionary

from pydantic import AwareDatetime, ValidationError

from judge.judges import join
from judge.protocols import Judge, Store
from judge.records import (
    Chunk,
    Flag,
    FlagName,
    JudgeOutcome,
    JudgeRequest,
    Judgment,
    PartsVerdict,
    Record,
    Verdict,
)
from judge.records.exchange import Reply
from judge.signature import Signature
from judge.text.tokens import broken

EDITION: Final = "verdicts-2"
"""Edition of the keys and the rows; rows of another edition are not found."""


class CacheRow(Record):
    """The verdicts on a group of sentences. They name chunks by position, "0" and up.

    The key of a row is a hash of everything in the request.
    """

    answer: str
    """Hash of the answer's text."""
    stored: AwareDatetime
    """When the row was written."""
    verdicts: Mapping[str, PartsVerdict | Verdict]
    """A language model's own verdicts, by sentence index and cited chunks: `3` or `3:0,2`."""
    replies: tuple[Reply, ...]
    """The replies that the verdicts were read from."""
    flags: tuple[Flag, ...] = ()
    """The flags that the judge raised about the sentences."""

    @classmethod
    def read(cls, text: str) -> "CacheRow | None":
        """Return the row; None for a text of another shape, as rows are not trusted."""
        try:
            return cls.model_validate_json(text, strict=True)
        except ValidationError:
            return None

    @property
    def signatures(self) -> dict[int, str]:
        """The signature of a verdict on each sentence."""
        return {int(n.partition(":")[0]): each.signature for n, each in self.verdicts.items()}

    def known(self, request: JudgeRequest, group: Sequence[int]) -> dict[int, Verdict]:
        """Return the verdicts on sentences of this group as the request cites them."""
        positions = set(map(str, range(len(request.chunks))))
        found = {index: self.verdicts.get(_name(request, index)) for index in group}
        return {i: each for i, each in found.items() if each and _is_storable(each, positions)}


class CachedJudge:
    """Returns stored verdicts, and asks `inner` for the others.

    Groups of at most `group` sentences are asked one after the other, and each group's verdicts
    are stored before the next is asked: after a kill -9 the same command asks for nothing that was
    stored. Never stored are an `Unscored`, and a verdict that was given without part of its
    evidence. Requests with the same rows follow one another, so that a second one finds the
    verdicts of the first. `inner` sees the positions of the chunks, "0" and up, as their ids,
    because ids are no part of a key.
    """

    def __init__(
        self, inner: Judge, store: Store, url: str, *, group: int, repeat: int | str = 0
    ) -> None:
        self._inner = inner
        self._store = store
        self._url = url
        self._group = group
        self._repeat = repeat
        self._locks = WeakValueDictionary[tuple[str, ...], asyncio.Lock]()

    @property
    def signature(self) -> str:
        """The signature of `inner`: a stored verdict and a fresh one are the same."""
        return self._inner.signature

    async def judge(self, request: JudgeRequest) -> Judgment:
        """Return one outcome per asked sentence; a stored reply adds its call, marked `cached`."""
        keys = row_keys(request, self._group, self.signature, self._url, self._repeat)
        lock = self._locks.setdefault(tuple(keys), asyncio.Lock())
        async with lock:
            return _with_ids(await self._judge(request, keys), request)

    async def _judge(self, request: JudgeRequest, keys: Mapping[str, tuple[int, ...]]) -> Judgment:
        """Return the judgment on the groups of sentences, which are given by the row's key."""
        texts = await self._store.get(list(keys))
        chunks = tuple(Chunk(chunk_id=f"{n}", text=c.text) for n, c in enumerate(request.chunks))
        parts: list[Judgment] = []
        for name, group in keys.items():
            row = CacheRow.read(texts[name]) if name in texts else None
            known = row.known(request, group) if row else {}
            if row and known:
                calls = tuple(each.call.model_copy(update={"cached": True}) for each in row.replies)
                flags = tuple(flag for flag in row.flags if flag.sentence in known)
                parts.append(Judgment(outcomes=known, calls=calls, flags=flags))
            if rest := tuple(index for index in group if index not in known):
                asked = request.model_copy(update={"chunks": chunks, "ask": rest})
                judgment = await self._inner.judge(asked)
                if fresh := _row(request, judgment, row):
                    await self._store.put({name: fresh.model_dump_json(exclude_defaults=True)})
                parts.append(judgment)
        outcomes = {index: outcome for part in parts for index, outcome in part.outcomes.items()}
        raised = [flag for part in parts for flag in part.flags]
        raised.sort(key=lambda flag: (flag.sentence is not None, flag.sentence))
        return join(parts, {index: outcomes[index] for index in request.ask}, raised)


def row_keys(
    request: JudgeRequest, size: int, signature: str, url: str, repeat: int | str = 0
) -> dict[str, tuple[int, ...]]:
    """Return the groups of asked sentences by the key of their row, in order.

    Texts are hashed as the model sees them, with broken control tokens. Chunk positions are part of
    the key; chunk ids are not, nor is the model that the server named. `url` is the base URL of the
    server. `repeat` is 0 for the first request about a sentence, and differs for each repeat.
    """
    chunks = [broken(chunk.text) for chunk in request.chunks]
    texts = (_requested(signature), url, broken(request.query), broken(request.answer))
    shared = hashlib.sha256(_framed((EDITION, *texts, str(len(chunks)), *chunks, str(repeat))))
    keys: dict[str, tuple[int, ...]] = {}
    for low in range(0, len(request.ask), size):
        group = request.ask[low : low + size]
        asked = ((str(index), broken(request.sentences[index].text)) for index in group)
        key = shared.copy()
        key.update(_framed(text for pair in asked for text in pair))
        keys[key.hexdigest()] = group
    return keys


@lru_cache
def _requested(signature: str) -> str:
    return str(Signature.parse(signature).requested())


def _name(request: JudgeRequest, index: int) -> str:
    """Return the name of a sentence in its row, which holds the positions that it cites."""
    cites = ",".join(map(str, request.cites.get(index, ())))
    return f"{index}:{cites}" if cites else f"{index}"


def _framed(fields: Iterable[str]) -> bytes:
    """Return the bytes of each field after their number, so that no character can change fields."""
    framed: list[bytes] = []
    for text in fields:
        data = text.encode("utf-8", "surrogatepass")
        framed += (len(data).to_bytes(8, "big"), data)
    return b"".join(framed)


def _row(request: JudgeRequest, judgment: Judgment, before: CacheRow | None) -> CacheRow | None:
    """Return the row with the storable verdicts of a judgment, if any, and those stored before."""
    partly = {f.sentence for f in judgment.flags if f.name is FlagName.UNJUDGED_EVIDENCE}
    positions = set(map(str, range(len(request.chunks))))
    verdicts = {
        index: outcome
        for index, outcome in judgment.outcomes.items()
        if isinstance(outcome, Verdict) and index not in partly and _is_storable(outcome, positions)
    }
    if not verdicts:
        return None
    replies = [each for each in judgment.replies if not verdicts.keys().isdisjoint(each.sentences)]
    flags = [flag for flag in judgment.flags if flag.sentence in verdicts]
    by_name = {_name(request, index): verdict for index, verdict in verdicts.items()}
    if before:
        by_name = {**before.verdicts, **by_name}
        replies, flags = [*before.replies, *replies], [*before.flags, *flags]
    # Unchecked, as all of it has been checked where it was made.
    return CacheRow.model_construct(
        answer=hashlib.sha256(request.answer.encode("utf-8", "surrogatepass")).hexdigest()[:16],
        stored=datetime.now(UTC).replace(microsecond=0),
        verdicts=by_name,
        replies=tuple(replies),
        flags=tuple(dict.fromkeys(flags)),
    )


def _is_storable(verdict: Verdict, positions: set[str]) -> bool:
    """Return whether a language model gave the verdict, and each chunk in it exists."""
    chunks = {*verdict.supporting, *(each.chunk_id for each in verdict.evidence)}
    return verdict.source == "llm" and not verdict.fallback_from and chunks <= positions


def _with_ids(judgment: Judgment, request: JudgeRequest) -> Judgment:
    """Return the judgment with the request's chunk ids instead of positions."""
    ids = {str(position): chunk.chunk_id for position, chunk in enumerate(request.chunks)}
    outcomes = {index: _renamed(outcome, ids) for index, outcome in judgment.outcomes.items()}
    return judgment.model_copy(update={"outcomes": outcomes})


def _renamed(outcome: JudgeOutcome, ids: Mapping[str, str]) -> JudgeOutcome:
    if not isinstance(outcome, Verdict) or not (outcome.evidence or outcome.supporting):
        return outcome
    evidence = tuple(
        each.model_copy(update={"chunk_id": ids.get(each.chunk_id, each.chunk_id)})
        for each in outcome.evidence
    )
    supporting = tuple(dict.fromkeys(ids.get(name, name) for name in outcome.supporting))
    return outcome.model_copy(update={"evidence": evidence, "supporting": supporting})


def contents(rows: Iterable[tuple[str, str]]) -> tuple[Counter[str], int]:
    """Return the number of verdicts by signature in the rows of a store, and that of answers."""
    found = list(filter(None, (CacheRow.read(text) for _, text in rows)))
    signatures = Counter(signature for row in found for signature in row.signatures.values())
    return signatures, len({row.answer for row in found})
