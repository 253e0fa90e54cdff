"""The judge that keeps verdicts, and asks about nothing twice."""

import asyncio
from collections.abc import Mapping, Sequence

from judge.judges.cached.rows import AnswerKey, Place, ReplyRow, VerdictRow
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

_LATE = Unscored(
    reason=UnscoredReason.TIMEOUT, detail="another answer asks the same, and had no reply in time"
)
_Pending = asyncio.Future[Judgment | None]
"""What a request under way brings; None where it was cancelled or failed."""


class CachedJudge:
    """Returns the verdicts that are stored, and asks `inner` for the others.

    Groups of at most `group` sentences are asked one after the other, and each group's verdicts
    are stored in one transaction before the next is asked: after a kill -9 the same command asks
    for nothing that was stored. An `Unscored` is never stored, nor is a verdict that was given
    without part of its evidence. Sentences that two answers ask about at the same moment are asked
    about once: the second answer shares what the first gets, failures included.

    `inner` sees the chunks under their positions, "0" and up, for ids are no part of a key. `url`
    is the base URL of the server that is asked; `repeat` is the one of `AnswerKey`.
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
        self._inner = inner
        self._store = store
        self._url = url
        self._group = group
        self._repeat = repeat
        self._pending: dict[str, _Pending] = {}
        """The requests under way, by the keys of their sentences."""

    @property
    def signature(self) -> str:
        """The signature of `inner`: a stored verdict and a fresh one are the same."""
        return self._inner.signature

    async def judge(self, request: JudgeRequest) -> Judgment:
        """Return one outcome per asked sentence; a hit adds its stored call, marked `cached`."""
        key = AnswerKey(request, self.signature, self._url, self._repeat)
        keys = {index: key.verdict(index) for index in request.ask}
        # A request that ends while the store is read is not found there, and is shared.
        shared = self._shared(keys)
        rows = await self._read(key, keys)
        fresh: list[Judgment] = []
        known = set(rows)
        while rest := {i: name for i, name in keys.items() if i not in known}:
            # Nothing is awaited between this look and the new requests.
            others = self._shared(rest) | {i: shared[i] for i in rest if i in shared}
            shared = {}
            if mine := {i: name for i, name in rest.items() if i not in others}:
                fresh += await self._ask(request, key, mine)
            if others:
                fresh.append(await _result_of(others, request.deadline))
                rows |= await self._read(key, {i: rest[i] for i in others})
            known = {*rows, *(i for each in fresh for i in each.outcomes)}
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

    def _shared(self, keys: Mapping[int, str]) -> dict[int, _Pending]:
        return {i: self._pending[name] for i, name in keys.items() if name in self._pending}

    async def _read(self, key: AnswerKey, keys: Mapping[int, str]) -> dict[int, VerdictRow]:
        texts = await self._store.get(list(keys.values()))
        rows = {i: key.read(i, texts[name]) for i, name in keys.items() if name in texts}
        return {i: row for i, row in rows.items() if row}

    async def _calls(self, rows: Mapping[int, VerdictRow]) -> Sequence[Call]:
        names = dict.fromkeys(name for row in rows.values() for name in row.place.replies)
        texts = await self._store.get(list(names)) if names else {}
        replies = (ReplyRow.read(texts[name]) for name in names if name in texts)
        return [reply.call() for reply in replies if reply]

    async def _ask(
        self, request: JudgeRequest, key: AnswerKey, mine: Mapping[int, str]
    ) -> list[Judgment]:
        """Return what `inner` says of these sentences, a judgment for each group."""
        chunks = tuple(
            Chunk(chunk_id=str(position), text=chunk.text)
            for position, chunk in enumerate(request.chunks)
        )
        items, size = list(mine.items()), self._group or len(mine)
        groups = [dict(items[low : low + size]) for low in range(0, len(items), size)]
        futures: list[_Pending] = [asyncio.get_running_loop().create_future() for _ in groups]
        for group, future in zip(groups, futures, strict=True):
            self._pending |= dict.fromkeys(group.values(), future)
        judgments: list[Judgment] = []
        try:
            for group, future in zip(groups, futures, strict=True):
                asked = {"chunks": chunks, "ask": tuple(group)}
                judgment = await self._inner.judge(request.model_copy(update=asked))
                await self._keep(request, key, judgment, group)
                self._end(group, future, judgment)
                judgments.append(judgment)
        finally:
            for group, future in zip(groups, futures, strict=True):
                if not future.done():
                    self._end(group, future, None)
        return judgments

    def _end(self, group: Mapping[int, str], future: _Pending, judgment: Judgment | None) -> None:
        for name in group.values():
            del self._pending[name]
        future.set_result(judgment)

    async def _keep(
        self, request: JudgeRequest, key: AnswerKey, judgment: Judgment, keys: Mapping[int, str]
    ) -> None:
        replies = {key.reply(number, each): each for number, each in enumerate(judgment.replies)}
        positions = {str(position): position for position in range(len(request.chunks))}
        texts: dict[str, str] = {}
        for index, outcome in judgment.outcomes.items():
            flags = tuple(flag.name for flag in judgment.flags if flag.sentence == index)
            if not isinstance(outcome, Verdict) or FlagName.UNJUDGED_EVIDENCE in flags:
                continue
            place = Place(
                sentence=index,
                cites=request.cites.get(index, ()),
                flags=flags,
                replies=tuple(name for name, each in replies.items() if index in each.sentences),
                asked=key.answer,
            )
            if row := VerdictRow.of(outcome, place, positions):
                texts[keys[index]] = row.write()
                for name in place.replies:
                    if name not in texts:
                        texts[name] = ReplyRow.of(replies[name], outcome.signature).write()
        if texts:
            await self._store.put(texts)


async def _result_of(pending: Mapping[int, _Pending], deadline: float | None) -> Judgment:
    """Return what other requests bring for these sentences, without their calls.

    There is no outcome where the other request was cancelled or failed, and a timeout where the
    deadline comes first.
    """
    left = None if deadline is None else deadline - asyncio.get_running_loop().time()
    # Unlike `gather`, this does not cancel the others where this task is cancelled.
    await asyncio.wait({*pending.values()}, timeout=left)
    outcomes: dict[int, JudgeOutcome] = {}
    flags: list[Flag] = []
    for index, future in pending.items():
        if not future.done():
            outcomes[index] = _LATE
        elif judgment := future.result():
            outcomes[index] = judgment.outcomes[index]
            flags.extend(flag for flag in judgment.flags if flag.sentence == index)
    return Judgment(outcomes=outcomes, flags=tuple(flags))


def _named(outcome: JudgeOutcome, ids: Sequence[str]) -> JudgeOutcome:
    """Return the outcome with the sample's chunk ids in the place of positions."""
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
