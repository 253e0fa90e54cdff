"""Nothing is paid for twice: verdicts are kept under everything that led to them."""

import asyncio
from collections.abc import Collection, Container, Mapping, Sequence
from typing import Final

from judge.errors import ConfigError
from judge.judges.cached.rows import (
    REPLY,
    AnswerKey,
    Place,
    ReplyRow,
    VerdictRow,
    digest,
)
from judge.protocols import Judge, Store
from judge.records import (
    Call,
    Chunk,
    Flag,
    FlagName,
    JudgeOutcome,
    JudgeRequest,
    Judgment,
    Unscored,
    UnscoredReason,
    Verdict,
)
from judge.workers import apart, weigh

_MISSING: Final = Unscored(reason=UnscoredReason.MISSING, detail="the judge gave no outcome")
_LATE: Final = Unscored(
    reason=UnscoredReason.TIMEOUT, detail="another answer asks the same, and had no reply in time"
)


class CachedJudge:
    """Gives the verdicts that are stored, and asks `inner` for the others alone.

    Groups of at most `group` sentences are asked one after the other, and each group's verdicts
    stored in one transaction before the next is asked: after a kill -9 the same command asks for
    nothing that was stored. An `Unscored` is never stored. What is asked for two answers at once is
    asked once: the second shares what the first gets, and looks again where the first was stopped.
    Nor is a verdict stored while part of its evidence has none: the next run asks for all of it.

    `inner` sees the chunks under their positions, "0" and up, for ids are no part of a key. What
    stands in the store and is no row of ours is a miss. `url` is the base URL of the server that is
    asked, without secrets; `repeat` is as of `AnswerKey`.

    Raises:
        ConfigError: `group` is under 1.
    """

    def __init__(
        self,
        inner: Judge,
        store: Store,
        url: str,
        *,
        group: int | None = None,
        repeat: int | str = 0,
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
        heavy = weigh(request)
        key = await apart(heavy, AnswerKey, request, self.signature, self._url, self._repeat)
        rest = await apart(heavy, key.verdicts)
        # One that lands while the store is read was not in it, and is shared all the same.
        before = self._in_flight(rest)
        rows = await self._read(key, rest)
        fresh: list[Judgment] = []
        while rest := _without(rest, rows, *(each.outcomes for each in fresh)):
            # Nothing is awaited between this look and the new flights.
            others = self._in_flight(rest) | {i: before[i] for i in rest if i in before}
            before = {}
            if mine := _without(rest, others):
                fresh += await self._ask(key, mine)
            if others:
                fresh.append(await _share(others, request.deadline))
                rows |= await self._read(key, _without(rest, mine))
        ids = [chunk.chunk_id for chunk in request.chunks]
        outcomes = {i: _named(each, ids) for one in fresh for i, each in one.outcomes.items()}
        outcomes |= {index: row.verdict(ids) for index, row in rows.items()}
        flags = [Flag(name=flag, sentence=i) for i, row in rows.items() for flag in row.place.flags]
        flags += [flag for one in fresh for flag in one.flags]
        return Judgment(
            outcomes={index: outcomes[index] for index in request.ask},
            calls=(*await self._calls(rows), *(call for one in fresh for call in one.calls)),
            replies=tuple(reply for one in fresh for reply in one.replies),
            # In one order and each once, however many come from the store or from others.
            flags=tuple(sorted(dict.fromkeys(flags), key=_place)),
        )

    def _in_flight(self, keys: Mapping[int, str]) -> "dict[int, _Flight]":
        return {i: self._flights[name] for i, name in keys.items() if name in self._flights}

    async def _read(self, key: AnswerKey, keys: Mapping[int, str]) -> dict[int, VerdictRow]:
        return key.found(keys, await self._store.get(list(keys.values())))

    async def _calls(self, rows: Mapping[int, VerdictRow]) -> Sequence[Call]:
        names = dict.fromkeys(name for row in rows.values() for name in row.place.replies)
        texts = await self._store.get(list(names)) if names else {}
        replies = (ReplyRow.read(texts[name]) for name in names if name in texts)
        return [reply.call() for reply in replies if reply]

    async def _ask(self, key: AnswerKey, mine: Mapping[int, str]) -> list[Judgment]:
        """Return what the judge within says of these sentences, a judgment for each group."""
        chunks = tuple(
            Chunk(chunk_id=str(position), text=chunk.text)
            for position, chunk in enumerate(key.request.chunks)
        )
        items, size = list(mine.items()), self._group or len(mine)
        groups = [dict(items[low : low + size]) for low in range(0, len(items), size)]
        flights = [_Flight(group.values(), self._flights) for group in groups]
        given: list[Judgment] = []
        try:
            for group, flight in zip(groups, flights, strict=True):
                asked = {"chunks": chunks, "ask": tuple(group)}
                judgment = await self._inner.judge(key.request.model_copy(update=asked))
                whole = {index: judgment.outcomes.get(index, _MISSING) for index in group}
                judgment = judgment.model_copy(update={"outcomes": whole})
                await self._keep(key, judgment, group)
                flight.land(judgment)
                given.append(judgment)
        finally:
            for flight in flights:
                flight.land()
        return given

    async def _keep(self, key: AnswerKey, judgment: Judgment, keys: Mapping[int, str]) -> None:
        replies = {
            REPLY + digest((key.asked, str(number), str(reply.sentences), reply.text)): reply
            for number, reply in enumerate(judgment.replies)
        }
        texts: dict[str, str] = {}
        signatures: dict[str, str] = {}
        positions = {str(position): position for position in range(len(key.request.chunks))}
        for index, outcome in judgment.outcomes.items():
            flags = tuple(flag.name for flag in judgment.flags if flag.sentence == index)
            if not isinstance(outcome, Verdict) or FlagName.UNJUDGED_EVIDENCE in flags:
                continue
            place = Place(
                sentence=index,
                cites=key.request.cites.get(index, ()),
                flags=flags,
                replies=tuple(name for name, each in replies.items() if index in each.sentences),
                asked=key.asked,
            )
            if text := VerdictRow.text(outcome, place, positions):
                texts[keys[index]] = text
                signatures |= dict.fromkeys(place.replies, outcome.signature)
        for name, reply in replies.items():
            if name in signatures:
                texts[name] = ReplyRow.of(reply, signatures[name]).write()
        if texts:
            await self._store.put({key.asked: key.asked_row().write()} | texts)


def _without(keys: Mapping[int, str], *known: Container[int]) -> dict[int, str]:
    """The keys of the sentences that none of these holds."""
    return {i: name for i, name in keys.items() if not any(i in each for each in known)}


def _named(outcome: JudgeOutcome, ids: Sequence[str]) -> JudgeOutcome:
    """The outcome with the sample's chunk ids for positions."""
    if not isinstance(outcome, Verdict) or not (outcome.evidence or outcome.supporting):
        return outcome
    names = {str(position): name for position, name in enumerate(ids)}
    evidence = tuple(
        each.model_copy(update={"chunk_id": names.get(each.chunk_id, each.chunk_id)})
        for each in outcome.evidence
    )
    supporting = tuple(dict.fromkeys(names.get(name, name) for name in outcome.supporting))
    return outcome.model_copy(update={"evidence": evidence, "supporting": supporting})


def _place(flag: Flag) -> int:
    return -1 if flag.sentence is None else flag.sentence


class _Flight:
    """Keys that one asker has taken upon itself; they stand on the board until it lands."""

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

    A timeout is shared like any failure, though they began, and so ran out of time, earlier. There
    is no outcome where the asker was stopped, and a timeout where the deadline comes first.
    """
    left = None if deadline is None else deadline - asyncio.get_running_loop().time()
    # Unlike `gather`, this leaves them alone where whoever waits is cancelled.
    await asyncio.wait({flight.landed for flight in flights.values()}, timeout=left)
    outcomes: dict[int, JudgeOutcome] = {}
    flags: list[Flag] = []
    for index, flight in flights.items():
        if not flight.landed.done():
            outcomes[index] = _LATE
        elif (judgment := flight.landed.result()) and index in judgment.outcomes:
            outcomes[index] = judgment.outcomes[index]
            flags.extend(flag for flag in judgment.flags if flag.sentence == index)
    return Judgment(outcomes=outcomes, flags=tuple(flags))
