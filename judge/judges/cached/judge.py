"""Nothing is paid for twice: verdicts are kept under everything that led to them."""

import asyncio
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from typing import Final

from judge.errors import ConfigError
from judge.judges.cached.key import AnswerKey, digest, found
from judge.judges.cached.rows import REPLY, Place, ReplyRow, VerdictRow
from judge.protocols import Judge, Store
from judge.records import (
    Call,
    Chunk,
    Flag,
    JudgeOutcome,
    JudgeRequest,
    Judgment,
    Unscored,
    UnscoredReason,
    Verdict,
)

_Rows = Mapping[int, VerdictRow]

_NOTHING: Final = Judgment()
_MISSING: Final = Unscored(reason=UnscoredReason.MISSING, detail="the judge gave no outcome")
_LATE: Final = Unscored(
    reason=UnscoredReason.TIMEOUT, detail="another answer asks the same, and had no reply in time"
)


class CachedJudge:
    """Gives the verdicts that are stored, and asks `inner` for the others alone.

    Verdicts of `inner` are stored group by group, each in one transaction, before the next group
    is asked: whatever becomes of that, and after a kill -9, the same command asks for nothing that
    was stored. An `Unscored` is never stored. What is asked for two answers at once is asked once:
    the second shares what the first gets, and looks again where the first was stopped.

    Args:
        inner: sees the chunks under their positions, "0" and up, for ids are no part of a key.
        store: shared with other processes, and not trusted: what is no row of ours is a miss.
        url: base URL of the server that `inner` asks, as its connection has it: without secrets,
            and always written the same way.
        group: how many sentences `inner` is asked about at a time, at least 1; as many as it sends
            in one call, so that no call is added. None: all of an answer's.
        repeat: which of several askings of the same this is.

    Raises:
        ConfigError: `group` is under 1.
    """

    def __init__(
        self, inner: Judge, store: Store, url: str, *, group: int | None = None, repeat: int = 0
    ) -> None:
        if group is not None and group < 1:
            raise ConfigError(f"group must be at least 1, not {group!r}; try 16")
        self._inner = inner
        self._store = store
        self._url = url
        self._group = group
        self._repeat = repeat
        self._flights: dict[str, _Flight] = {}

    @property
    def signature(self) -> str:
        """That of the judge within: a verdict is the same, kept or fresh."""
        return self._inner.signature

    async def judge(self, request: JudgeRequest) -> Judgment:
        """One outcome per asked sentence; a hit adds its stored call, marked `cached`."""
        key = AnswerKey(request, self.signature, self._url, self._repeat)
        rest = key.verdicts()
        # One that lands while the store is read was not in it, and is shared all the same.
        before = self._in_flight(rest)
        rows = await self._read(request, rest)
        fresh = _NOTHING
        while rest := _without(rest, rows, fresh.outcomes):
            # Nothing is awaited between this look and the new flights.
            others = self._in_flight(rest) | {i: before[i] for i in rest if i in before}
            before = {}
            if mine := _without(rest, others):
                fresh = _joined(fresh, await self._ask(request, mine, key))
            if others:
                fresh = _joined(fresh, await _share(others, request.deadline))
                rows |= await self._read(request, _without(rest, mine))
        outcomes = _named(fresh, request.chunks)
        ids = tuple(chunk.chunk_id for chunk in request.chunks)
        outcomes |= {index: row.verdict(ids) for index, row in rows.items()}
        return Judgment(
            outcomes={index: outcomes[index] for index in request.ask},
            calls=(*await self._calls(rows), *fresh.calls),
            replies=fresh.replies,
            flags=_sorted((*_flags(rows), *fresh.flags)),
        )

    def _in_flight(self, keys: Mapping[int, str]) -> "dict[int, _Flight]":
        return {i: self._flights[name] for i, name in keys.items() if name in self._flights}

    async def _read(self, request: JudgeRequest, keys: Mapping[int, str]) -> dict[int, VerdictRow]:
        return found(request, keys, await self._store.get(list(keys.values())))

    async def _calls(self, rows: _Rows) -> Sequence[Call]:
        names = dict.fromkeys(name for row in rows.values() for name in row.place.replies)
        texts = await self._store.get(list(names)) if names else {}
        replies = (ReplyRow.read(texts[name]) for name in names if name in texts)
        return [reply.call() for reply in replies if reply]

    async def _ask(
        self, request: JudgeRequest, mine: Mapping[int, str], key: AnswerKey
    ) -> Judgment:
        asked = _by_position(request)
        groups = _groups(mine, self._group or len(mine))
        flights = [_Flight(group.values(), self._flights) for group in groups]
        given = _NOTHING
        try:
            for group, flight in zip(groups, flights, strict=True):
                judgment = await self._inner.judge(asked.model_copy(update={"ask": tuple(group)}))
                judgment = _whole(judgment, group)
                await self._keep(request, judgment, key, group)
                flight.land(judgment)
                given = _joined(given, judgment)
        finally:
            for flight in flights:
                flight.land()
        return given

    async def _keep(
        self, request: JudgeRequest, judgment: Judgment, key: AnswerKey, keys: Mapping[int, str]
    ) -> None:
        names = [
            REPLY + digest((key.asked, str(number), str(reply.sentences), reply.text))
            for number, reply in enumerate(judgment.replies)
        ]
        texts: dict[str, str] = {}
        signatures: dict[str, str] = {}
        positions = {str(position): position for position in range(len(request.chunks))}
        for index, outcome in judgment.outcomes.items():
            if not isinstance(outcome, Verdict):
                continue
            replies = zip(names, judgment.replies, strict=True)
            place = Place(
                sentence=index,
                cites=request.cites.get(index, ()),
                flags=tuple(flag.name for flag in judgment.flags if flag.sentence == index),
                replies=tuple(name for name, reply in replies if index in reply.sentences),
                asked=key.asked,
            )
            text = VerdictRow.text(outcome, place, positions)
            if text:
                texts[keys[index]] = text
                signatures |= dict.fromkeys(place.replies, outcome.signature)
        for name, reply in zip(names, judgment.replies, strict=True):
            if name in signatures:
                texts[name] = ReplyRow.of(reply, signatures[name]).write()
        if texts:
            await self._store.put({key.asked: key.asked_row().write()} | texts)


def _by_position(request: JudgeRequest) -> JudgeRequest:
    chunks = tuple(
        Chunk(chunk_id=str(position), text=chunk.text)
        for position, chunk in enumerate(request.chunks)
    )
    return request.model_copy(update={"chunks": chunks})


def _groups(keys: Mapping[int, str], size: int) -> list[dict[int, str]]:
    items = list(keys.items())
    return [dict(items[low : low + size]) for low in range(0, len(items), size)]


def _without(keys: Mapping[int, str], *known: Container[int]) -> dict[int, str]:
    """The keys of the sentences that none of these holds."""
    return {i: name for i, name in keys.items() if not any(i in each for each in known)}


def _whole(judgment: Judgment, ask: Iterable[int]) -> Judgment:
    outcomes = {index: judgment.outcomes.get(index, _MISSING) for index in ask}
    return judgment.model_copy(update={"outcomes": outcomes})


def _joined(first: Judgment, second: Judgment) -> Judgment:
    if first is _NOTHING:
        return second
    return Judgment(
        outcomes={**first.outcomes, **second.outcomes},
        calls=(*first.calls, *second.calls),
        replies=(*first.replies, *second.replies),
        flags=(*first.flags, *second.flags),
    )


def _named(judgment: Judgment, chunks: Sequence[Chunk]) -> dict[int, JudgeOutcome]:
    """The outcomes with the sample's chunk ids for positions."""
    names = {str(position): chunk.chunk_id for position, chunk in enumerate(chunks)}
    outcomes = dict(judgment.outcomes)
    for index, verdict in judgment.outcomes.items():
        if isinstance(verdict, Verdict) and (verdict.evidence or verdict.supporting):
            evidence = tuple(
                each.model_copy(update={"chunk_id": names.get(each.chunk_id, each.chunk_id)})
                for each in verdict.evidence
            )
            supporting = tuple(dict.fromkeys(names.get(name, name) for name in verdict.supporting))
            named = {"evidence": evidence, "supporting": supporting}
            outcomes[index] = verdict.model_copy(update=named)
    return outcomes


def _flags(rows: _Rows) -> Sequence[Flag]:
    return [
        Flag(name=name, sentence=index) for index, row in rows.items() for name in row.place.flags
    ]


def _sorted(flags: tuple[Flag, ...]) -> tuple[Flag, ...]:
    """In one order and each once, however many of them come from the store or from others."""
    return tuple(
        sorted(
            dict.fromkeys(flags), key=lambda flag: -1 if flag.sentence is None else flag.sentence
        )
    )


class _Flight:
    """Keys that one asker has taken upon itself, until it lands.

    Args:
        names: the keys; none of them is in flight.
        board: where they stand while they are.
    """

    def __init__(self, names: Collection[str], board: "dict[str, _Flight]") -> None:
        self._names = names
        self._board = board
        board.update(dict.fromkeys(names, self))
        loop = asyncio.get_running_loop()
        self.landed: Final[asyncio.Future[Judgment | None]] = loop.create_future()
        """What it brought, by sentence index; None where the asker was stopped before that."""

    def land(self, judgment: Judgment | None = None) -> None:
        """Wake whoever waits; a second time does nothing, for the keys may be another's by then."""
        if not self.landed.done():
            for name in self._names:
                del self._board[name]
            self.landed.set_result(judgment)


async def _share(flights: Mapping[int, _Flight], deadline: float | None) -> Judgment:
    """What others get for these sentences: the failures, too, but not the calls, which are theirs.

    A timeout is shared like any failure, though they began, and so ran out of time, earlier.

    Args:
        flights: by sentence index; at least one.
        deadline: on the event loop's clock; None: for as long as it takes.

    Returns:
        No outcome where the asker was stopped; `Unscored(timeout)` where the time is up first.
    """
    left = None if deadline is None else deadline - asyncio.get_running_loop().time()
    # Unlike `gather`, this leaves them alone where whoever waits is cancelled.
    await asyncio.wait({flight.landed for flight in flights.values()}, timeout=left)
    outcomes: dict[int, JudgeOutcome] = {}
    flags: list[Flag] = []
    for index, flight in flights.items():
        if not flight.landed.done():
            outcomes[index] = _LATE
        elif judgment := flight.landed.result():
            outcomes[index] = judgment.outcomes[index]
            flags.extend(flag for flag in judgment.flags if flag.sentence == index)
    return Judgment(outcomes=outcomes, flags=tuple(flags))
