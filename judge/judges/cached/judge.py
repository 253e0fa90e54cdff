"""Nothing is paid for twice: verdicts are kept under everything that led to them."""

import asyncio
from collections.abc import Mapping, Sequence
from weakref import WeakValueDictionary

from judge.judges.cached.explain import Explained, Rows, explain
from judge.judges.cached.key import AnswerKey, digest
from judge.judges.cached.rows import REPLY, Place, ReplyRow, VerdictRow
from judge.protocols import Judge, Store
from judge.records import Call, Chunk, Flag, JudgeRequest, Judgment, Verdict

_Found = Mapping[int, VerdictRow]


class CachedJudge:
    """Gives the verdicts that are stored, and asks `inner` for the others alone.

    Verdicts of `inner` are stored before they are returned, one transaction an answer: after a
    kill -9 the same command asks for nothing that was stored. An `Unscored` is never stored. Two
    answers alike in flight at once are asked once: the second waits for the first, and then asks
    for what the first did not get.

    Args:
        inner: sees the chunks under their positions, "0" and up, for ids are no part of a key.
        store: shared with other processes, and not trusted: what is no row of ours is a miss.
        url: base URL of the server that `inner` asks.
        repeat: which of several askings of the same this is.
    """

    def __init__(self, inner: Judge, store: Store, url: str, *, repeat: int = 0) -> None:
        self._inner = inner
        self._store = store
        self._url = url
        self._repeat = repeat
        # Weakly held: a flight is forgotten once nobody flies it or waits for it.
        self._flights = WeakValueDictionary[str, asyncio.Event]()

    @property
    def signature(self) -> str:
        """That of the judge within: a verdict is the same, kept or fresh."""
        return self._inner.signature

    async def judge(self, request: JudgeRequest) -> Judgment:
        """One outcome per asked sentence; a hit adds its stored call, marked `cached`."""
        key = AnswerKey(request, self.signature, self._url, self._repeat)
        keys = {index: key.verdict(index) for index in request.ask}
        found = self._read(request, keys)
        unknown = (name for index, name in keys.items() if index not in found)
        if flights := {flight for name in unknown if (flight := self._flights.get(name))}:
            for flight in flights:
                await flight.wait()
            found = self._read(request, keys)
        rest = tuple(index for index in request.ask if index not in found)
        fresh = await self._ask(request, rest, key, keys) if rest else Judgment()
        ids = tuple(chunk.chunk_id for chunk in request.chunks)
        outcomes = {index: row.verdict(ids) for index, row in found.items()} | {
            index: _named(outcome, ids) if isinstance(outcome, Verdict) else outcome
            for index, outcome in fresh.outcomes.items()
        }
        return Judgment(
            outcomes={index: outcomes[index] for index in request.ask if index in outcomes},
            calls=(*self._calls(found), *fresh.calls),
            replies=fresh.replies,
            flags=_sorted((*_flags(found), *fresh.flags)),
        )

    def explain(self, request: JudgeRequest, rows: Rows) -> list[Explained]:
        """What is stored of each asked sentence, or how it differs from what is.

        Args:
            request: as it would be judged.
            rows: the store's rows, gone through twice.
        """
        key = AnswerKey(request, self.signature, self._url, self._repeat)
        found = self._read(request, {index: key.verdict(index) for index in request.ask})
        return explain(request, key, found.keys(), rows)

    def _read(self, request: JudgeRequest, keys: Mapping[int, str]) -> dict[int, VerdictRow]:
        texts = self._store.get(list(keys.values()))
        found = {}
        for index, key in keys.items():
            row = VerdictRow.read(texts[key]) if key in texts else None
            if row and row.belongs(index, request.cites.get(index, ()), len(request.chunks)):
                found[index] = row
        return found

    def _calls(self, found: _Found) -> Sequence[Call]:
        names = dict.fromkeys(name for row in found.values() for name in row.place.replies)
        texts = self._store.get(list(names)) if names else {}
        replies = (ReplyRow.read(texts[name]) for name in names if name in texts)
        return [reply.call() for reply in replies if reply]

    async def _ask(
        self, request: JudgeRequest, rest: tuple[int, ...], key: AnswerKey, keys: Mapping[int, str]
    ) -> Judgment:
        chunks = tuple(
            Chunk(chunk_id=str(position), text=chunk.text)
            for position, chunk in enumerate(request.chunks)
        )
        flight = asyncio.Event()
        self._flights.update((keys[index], flight) for index in rest)
        try:
            judgment = await self._inner.judge(
                request.model_copy(update={"ask": rest, "chunks": chunks})
            )
            self._keep(request, judgment, key, keys)
        finally:
            flight.set()  # however it ended: who waits looks, and asks
        return judgment

    def _keep(
        self, request: JudgeRequest, judgment: Judgment, key: AnswerKey, keys: Mapping[int, str]
    ) -> None:
        names = [
            REPLY + digest((key.asked, str(number), str(reply.sentences), reply.text))
            for number, reply in enumerate(judgment.replies)
        ]
        texts: dict[str, str] = {}
        used: set[str] = set()
        for index, outcome in judgment.outcomes.items():
            replies = zip(names, judgment.replies, strict=True)
            place = Place(
                sentence=index,
                cites=request.cites.get(index, ()),
                flags=tuple(flag.name for flag in judgment.flags if flag.sentence == index),
                replies=tuple(name for name, reply in replies if index in reply.sentences),
                asked=key.asked,
            )
            verdict = outcome if isinstance(outcome, Verdict) else None
            row = verdict and VerdictRow.of(verdict, place, len(request.chunks))
            if row:
                texts[keys[index]] = row.write()
                used.update(place.replies)
        for name, reply in zip(names, judgment.replies, strict=True):
            if name in used:
                texts[name] = ReplyRow.of(reply, self.signature).write()
        if texts:
            self._store.put({key.asked: key.asked_row().write()} | texts)


def _named(verdict: Verdict, ids: tuple[str, ...]) -> Verdict:
    """The verdict with the sample's chunk ids for positions."""
    names = {str(position): name for position, name in enumerate(ids)}
    evidence = tuple(
        each.model_copy(update={"chunk_id": names.get(each.chunk_id, each.chunk_id)})
        for each in verdict.evidence
    )
    supporting = tuple(dict.fromkeys(names.get(name, name) for name in verdict.supporting))
    return verdict.model_copy(update={"evidence": evidence, "supporting": supporting})


def _flags(found: _Found) -> Sequence[Flag]:
    return [
        Flag(name=name, sentence=index) for index, row in found.items() for name in row.place.flags
    ]


def _sorted(flags: tuple[Flag, ...]) -> tuple[Flag, ...]:
    """In one order, however many of them come from the store."""
    return tuple(sorted(flags, key=lambda flag: -1 if flag.sentence is None else flag.sentence))
