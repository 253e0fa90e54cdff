"""Nothing is paid for twice: verdicts are kept under everything that led to them."""

import asyncio
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from contextlib import nullcontext
from itertools import zip_longest
from typing import Final, Literal, Protocol

from judge.errors import ConfigError
from judge.judges.cached.rows import (
    ASKED,
    REPLY,
    AnswerKey,
    AskedRow,
    Place,
    ReplyRow,
    VerdictRow,
    brief,
    digest,
)
from judge.protocols import Judge, Leases, Store
from judge.records import (
    Call,
    Chunk,
    Flag,
    FlagName,
    JudgeOutcome,
    JudgeRequest,
    Judgment,
    Record,
    Unscored,
    UnscoredReason,
    Verdict,
)
from judge.signature import Signature
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
    With `leases`, that holds among processes, too, but for failures: each asks again itself.
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
        leases: Leases | None = None,
    ) -> None:
        if group is not None and group < 1:
            raise ConfigError(f"group must be at least 1, not {group!r}; try 16")
        self._inner = inner
        self._store = store
        self._url = url
        self._group = group
        self._repeat = repeat
        self._leases = leases
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
                given, found = await self._ask(key, mine)
                fresh += given
                rows |= found
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

    async def _ask(
        self, key: AnswerKey, mine: Mapping[int, str]
    ) -> tuple[list[Judgment], dict[int, VerdictRow]]:
        """What the judge within says of these sentences, a judgment for each group of them.

        And what another process had kept of them by the time that it was our turn.
        """
        chunks = tuple(
            Chunk(chunk_id=str(position), text=chunk.text)
            for position, chunk in enumerate(key.request.chunks)
        )
        items, size = list(mine.items()), self._group or len(mine)
        groups = [dict(items[low : low + size]) for low in range(0, len(items), size)]
        flights = [_Flight(group.values(), self._flights) for group in groups]
        given: list[Judgment] = []
        found: dict[int, VerdictRow] = {}
        deadline, leases = key.request.deadline, self._leases
        turn = leases.lease(key.asked, deadline) if leases else nullcontext(enter_result=True)
        try:
            async with turn as ours:
                if not ours:
                    return [Judgment(outcomes=dict.fromkeys(mine, _LATE))], found
                if leases:
                    found = await self._read(key, mine)
                for group, flight in zip(groups, flights, strict=True):
                    if ask := _without(group, found):
                        asked = {"chunks": chunks, "ask": tuple(ask)}
                        judgment = await self._inner.judge(key.request.model_copy(update=asked))
                        whole = {index: judgment.outcomes.get(index, _MISSING) for index in ask}
                        judgment = judgment.model_copy(update={"outcomes": whole})
                        await self._keep(key, judgment, ask)
                        flight.land(judgment)
                        given.append(judgment)
        finally:
            for flight in flights:
                flight.land()
        return given, found

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


class Kept(Protocol):
    """A store that can be read from the first row to the last."""

    def get(self, keys: Sequence[str], /) -> Mapping[str, str]:
        """The texts known for these keys; a missing key is absent."""

    def rows(self) -> Iterable[tuple[str, str]]:
        """Every key and its text, from the first one each time."""


def explain(key: AnswerKey, store: Kept) -> list[Explained]:
    """What is stored of each asked sentence, or how it differs from what is.

    The store is gone through twice where a verdict is missing.
    """
    keys = key.verdicts()
    hits = key.found(keys, store.get(list(keys.values())))
    nearest = None if hits.keys() == keys.keys() else _nearest(key.asked_row(), store.rows())
    name, apart = nearest or ("", [])
    cited = _cited(name, store.rows()) if nearest else {}
    explained = []
    for index in keys:
        own: list[Difference] = []
        found: Literal["hit", "differs", "not kept", "nothing"] = "hit"
        if index not in hits and nearest is None:
            found = "nothing"
        elif index not in hits:
            own = [*apart, *_own(key.request, index, cited.get(index, []), alike=not apart)]
            found = "differs" if own else "not kept"
        explained.append(Explained(sentence=index, found=found, differences=tuple(own)))
    return explained


def _nearest(now: AskedRow, rows: Iterable[tuple[str, str]]) -> tuple[str, list[Difference]] | None:
    """Name of the stored asking that differs least, the last of several, and what differs.

    It has the answer, the question or a chunk in common with what is asked now.
    """
    best: tuple[str, list[Difference]] | None = None
    least: tuple[int, ...] = ()
    for name, text in rows:
        row = AskedRow.read(text) if name.startswith(ASKED) else None
        if row and (
            row.answer == now.answer
            or row.query == now.query != brief("")
            or not set(row.chunks).isdisjoint(now.chunks)
        ):
            apart = _differences(row, now)
            # Texts weigh before settings: another model's verdict on this answer is near.
            distance = (row.answer != now.answer, row.query != now.query, len(apart))
            if best is None or distance <= least:
                best, least = (name, apart), distance
    return best


def _differences(stored: AskedRow, now: AskedRow) -> list[Difference]:
    """The parts of an answer's key that are not as stored."""
    made, wanted = Signature.parse(stored.signature), Signature.parse(now.signature)
    was, new = made.named(), wanted.named()
    pairs = [
        ("model" if name == "llm" else name, was.get(name, "none"), new.get(name, "none"))
        for name in made.differs_in(wanted)
    ]
    pairs += [
        (part, getattr(stored, part), getattr(now, part)) for part in ("url", "query", "answer")
    ]
    pairs.append(("repeat", str(stored.repeat), str(now.repeat)))
    if sorted(stored.chunks) == sorted(now.chunks):
        pairs.append(("order of chunks", " ".join(stored.chunks), " ".join(now.chunks)))
    else:
        chunks = zip_longest(stored.chunks, now.chunks, fillvalue="none")
        pairs += [(f"chunk {number}", *both) for number, both in enumerate(chunks, start=1)]
    return [Difference(part=part, stored=was, now=new) for part, was, new in pairs if was != new]


def _cited(asked: str, rows: Iterable[tuple[str, str]]) -> dict[int, list[tuple[int, ...]]]:
    """What was cited by each sentence that is stored of one asking, by its index."""
    cited: dict[int, list[tuple[int, ...]]] = {}
    for name, text in rows:
        row = None if name.startswith((ASKED, REPLY)) else VerdictRow.read(text)
        if row and row.place.asked == asked:
            cited.setdefault(row.place.sentence, []).append(row.place.cites)
    return cited


def _own(
    request: JudgeRequest, index: int, cited: Sequence[tuple[int, ...]], *, alike: bool
) -> Iterable[Difference]:
    """What differs of the sentence itself, where the same one of the same answer is stored."""
    cites = request.cites.get(index, ())
    if cited and cites not in cited:
        was, new = (
            ", ".join(f"chunk {position + 1}" for position in positions) or "none"
            for positions in (cited[-1], cites)
        )
        yield Difference(part="cites", stored=was, now=new)
    elif cited and alike:
        now, was = (
            brief(request.sentences[index].text),
            "another text, or a row that cannot be read",
        )
        yield Difference(part="sentence", stored=was, now=now)
