import asyncio
from collections.abc import Mapping, Sequence

import pytest

from judge.backends.fake import FakeStore
from judge.errors import JudgeUnavailable
from judge.judges.cached import CachedJudge, contents
from judge.protocols import Judge
from judge.records import (
    Call,
    Evidence,
    Flag,
    FlagName,
    JudgeOutcome,
    JudgeRequest,
    Judgment,
    Support,
    Unscored,
    UnscoredReason,
    Verdict,
)
from judge.records.exchange import Reply
from tests.requests import request

URL = "http://127.0.0.1:8000/v1"
TIMEOUT = Unscored(reason=UnscoredReason.TIMEOUT, detail="after 5 s")
CALL = Call(model="m-1", prompt_tokens=70, reply_tokens=30, seconds=0.5)
HIT = CALL.model_copy(update={"cached": True})


def verdict(support: Support = Support.FULL, *chunks: str, quote: str = "每晚500元") -> Verdict:
    return Verdict(
        support=support,
        evidence=tuple(Evidence(chunk_id=chunk, quote=quote) for chunk in chunks),
        supporting=chunks,
        source="llm",
        signature="llm:m",
    )


class Inner:
    """Answers by sentence index, one call for all, and remembers what it was asked."""

    def __init__(self, outcomes: Mapping[int, JudgeOutcome], *flags: Flag) -> None:
        self.outcomes = dict(outcomes)
        self.signature = "llm:m"
        self.flags = flags
        self.requests: list[JudgeRequest] = []

    @property
    def asked(self) -> list[tuple[int, ...]]:
        return [request.ask for request in self.requests]

    async def judge(self, request: JudgeRequest) -> Judgment:
        self.requests.append(request)
        await asyncio.sleep(0)
        reply = Reply(text=f"reply to {request.ask}", call=CALL, sentences=request.ask)
        return Judgment(
            outcomes={index: self.outcomes[index] for index in request.ask},
            calls=(CALL,),
            replies=(reply,),
            flags=tuple(flag for flag in self.flags if flag.sentence in request.ask),
        )


def asked(
    ask: Sequence[int] = (0, 1, 2), ids: Sequence[str] = ("docA", "docB"), query: str = "住宿?"
) -> JudgeRequest:
    texts = ("住宿每晚500元。", "Two.", "Three.")
    return request(texts, ["text 0", "text 1"], {0: (0,)}, ask, ids=ids, query=query)


FULL = {0: verdict(Support.FULL, "0"), 1: verdict(Support.NONE), 2: verdict(Support.PARTIAL, "1")}


async def test_what_was_asked_is_not_asked_again() -> None:
    store = FakeStore()
    first = await CachedJudge(Inner(FULL), store, URL).judge(asked())
    inner = Inner({})
    cached: Judge = CachedJudge(inner, store, URL)
    second = await cached.judge(asked())
    assert inner.requests == []
    assert cached.signature == "llm:m"
    assert second.outcomes == first.outcomes
    assert list(second.outcomes) == [0, 1, 2]
    assert first.outcomes[0] == verdict(Support.FULL, "docA")
    assert first.outcomes[2] == verdict(Support.PARTIAL, "docB")
    assert (first.calls, len(first.replies)) == ((CALL,), 1)
    assert (second.calls, second.replies) == ((HIT,), ())


async def test_only_the_rest_is_asked() -> None:
    store = FakeStore()
    inner = Inner(FULL)
    judge = CachedJudge(inner, store, URL)
    await judge.judge(asked((1,)))
    judgment = await judge.judge(asked())
    assert inner.asked == [(1,), (0, 2)]
    assert list(judgment.outcomes) == [0, 1, 2]
    assert judgment.calls == (HIT, CALL)
    assert [reply.sentences for reply in judgment.replies] == [(0, 2)]
    again = await judge.judge(asked())
    assert again.outcomes == judgment.outcomes
    assert again.calls == (HIT, HIT), "one for each stored reply"
    assert len(inner.requests) == 2


async def test_a_failure_is_never_stored() -> None:
    store = FakeStore()
    inner = Inner(FULL | {1: TIMEOUT})
    judge = CachedJudge(inner, store, URL)
    judgment = await judge.judge(asked())
    assert judgment.outcomes[1] == TIMEOUT
    inner.outcomes[1] = verdict(Support.CONTRADICTED)
    assert (await judge.judge(asked())).outcomes[1] == verdict(Support.CONTRADICTED)
    assert inner.asked == [(0, 1, 2), (1,)]
    failing = FakeStore()
    everything = Inner(dict.fromkeys(range(3), TIMEOUT))
    await CachedJudge(everything, failing, URL).judge(asked())
    assert failing.texts == {}


async def test_a_verdict_on_part_of_the_evidence_is_shared_and_never_stored() -> None:
    flag = Flag(name=FlagName.UNJUDGED_EVIDENCE, sentence=0)
    store, inner = FakeStore(), Inner(FULL, flag)
    judge = CachedJudge(inner, store, URL)
    judgments = await asyncio.gather(*(judge.judge(asked()) for _ in range(2)))
    assert [(each.outcomes[0], each.flags) for each in judgments] == [
        (verdict(Support.FULL, "docA"), (flag,))
    ] * 2
    inner.flags = ()
    mended = await judge.judge(asked())
    assert inner.asked == [(0, 1, 2), (0,)], "it alone is asked again"
    assert (mended.flags, mended.outcomes[0]) == ((), verdict(Support.FULL, "docA"))
    await judge.judge(asked())
    assert len(inner.requests) == 2


async def test_what_is_not_the_models_own_is_never_stored() -> None:
    for outcome in (
        verdict().model_copy(update={"source": "similarity", "score": 0.7}),
        verdict().model_copy(update={"fallback_from": TIMEOUT}),
        verdict(Support.FULL, "no position"),
    ):
        store, inner = FakeStore(), Inner({0: outcome})
        for _ in range(2):
            judgment = await CachedJudge(inner, store, URL).judge(asked((0,)))
            assert judgment.outcomes == {0: outcome}
        assert (store.texts, inner.asked) == ({}, [(0,), (0,)])


async def test_the_flags_of_a_sentence_come_back_with_its_verdict() -> None:
    store = FakeStore()
    flag = Flag(name=FlagName.CONFLICTING_EVIDENCE, sentence=2)
    early = Flag(name=FlagName.CONFLICTING_EVIDENCE, sentence=0)
    judge = CachedJudge(Inner(FULL, flag, early), store, URL)
    assert (await judge.judge(asked((1, 2)))).flags == (flag,)
    assert (await judge.judge(asked())).flags == (early, flag)
    assert (await CachedJudge(Inner({}), store, URL).judge(asked())).flags == (early, flag)


class Torn(FakeStore):
    """Counts its transactions."""

    def __init__(self) -> None:
        super().__init__()
        self.puts: list[set[str]] = []

    async def put(self, texts: Mapping[str, str]) -> None:
        self.puts.append(set(texts))
        await super().put(texts)


async def test_a_broken_row_is_a_miss() -> None:
    for spoilt in ("", "null", '{"support":"full"}', "\ufffd", "swap"):
        store = FakeStore()
        await CachedJudge(Inner(FULL), store, URL).judge(asked())
        keys = [name for name in store.texts if ":" not in name]
        texts = [store.texts[key] for key in keys]
        swapped = dict(zip(keys, texts[1:] + texts[:1], strict=True))
        await store.put(swapped if spoilt == "swap" else {keys[1]: spoilt})
        inner = Inner(FULL)
        judge = CachedJudge(inner, store, URL)
        judgment = await judge.judge(asked())
        assert inner.asked == [(0, 1, 2) if spoilt == "swap" else (1,)]
        assert judgment.outcomes[1] == verdict(Support.NONE)
        await judge.judge(asked())
        assert len(inner.requests) == 1, "the fresh verdict stands in its place"


async def test_answers_alike_in_flight_are_asked_once() -> None:
    inner = Inner(FULL)
    judge = CachedJudge(inner, FakeStore(), URL)
    four = [asked(), asked((1, 2), ids=("x", "y")), asked(), asked(query="another")]
    judgments = await asyncio.gather(*(judge.judge(each) for each in four))
    assert inner.asked == [(0, 1, 2), (0, 1, 2)]
    assert judgments[1].outcomes[2] == verdict(Support.PARTIAL, "y")
    assert [judgment.calls for judgment in judgments] == [(CALL,), (HIT,), (HIT,), (CALL,)]


async def test_a_failure_is_shared_by_all_who_ask_alike() -> None:
    flag = Flag(name=FlagName.CONFLICTING_EVIDENCE, sentence=1)
    inner = Inner(dict.fromkeys(range(3), TIMEOUT), flag)
    judge = CachedJudge(inner, FakeStore(), URL)
    judgments = await asyncio.gather(*(judge.judge(asked()) for _ in range(10)))
    assert inner.asked == [(0, 1, 2)]
    assert all(judgment.outcomes == inner.outcomes for judgment in judgments)
    assert [judgment.calls for judgment in judgments] == [(CALL,), *[()] * 9]
    assert {judgment.flags for judgment in judgments} == {(flag,)}
    await judge.judge(asked((1,)))
    assert inner.asked == [(0, 1, 2), (1,)], "later it is asked again"


class Stuck(Inner):
    """Hangs on its first question, or fails for good."""

    error: Exception | None = None

    async def judge(self, request: JudgeRequest) -> Judgment:
        if self.requests:
            return await super().judge(request)
        self.requests.append(request)
        if self.error:
            await asyncio.sleep(0)
            raise self.error
        await asyncio.Event().wait()
        raise AssertionError


@pytest.mark.parametrize("outcome", [TIMEOUT, verdict(Support.NONE)])
async def test_where_the_first_is_cancelled_one_of_the_others_asks(outcome: JudgeOutcome) -> None:
    inner = Stuck({0: outcome})
    judge = CachedJudge(inner, FakeStore(), URL)
    first, *others = (asyncio.create_task(judge.judge(asked((0,)))) for _ in range(5))
    await asyncio.sleep(0)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    async with asyncio.timeout(60):
        judgments = await asyncio.gather(*others)
    assert all(judgment.outcomes == {0: outcome} for judgment in judgments)
    assert len(inner.requests) == 2
    fresh = [call for judgment in judgments for call in judgment.calls if not call.cached]
    assert fresh == [CALL]


async def test_where_the_first_meets_an_error_one_of_the_others_asks() -> None:
    inner = Stuck(FULL | {2: TIMEOUT})
    inner.error = JudgeUnavailable("quota")
    judge = CachedJudge(inner, FakeStore(), URL)
    five = [judge.judge(asked()) for _ in range(5)]
    async with asyncio.timeout(60):
        first, *others = await asyncio.gather(*five, return_exceptions=True)
    assert isinstance(first, JudgeUnavailable)
    assert all(isinstance(other, Judgment) and len(other.outcomes) == 3 for other in others)
    assert len(inner.requests) == 2


async def test_groups_are_asked_and_stored_one_after_the_other() -> None:
    store = Torn()
    flags = [Flag(name=FlagName.CONFLICTING_EVIDENCE, sentence=index) for index in (0, 2)]
    inner = Inner(FULL, *flags)
    judgment = await CachedJudge(inner, store, URL, group=2).judge(asked())
    assert inner.asked == [(0, 1), (2,)]
    assert [sum(":" not in name for name in names) for names in store.puts] == [2, 1]
    assert list(judgment.outcomes) == [0, 1, 2]
    assert judgment.calls == (CALL, CALL)
    assert [reply.sentences for reply in judgment.replies] == [(0, 1), (2,)]
    assert judgment.flags == tuple(flags)
    again = await CachedJudge(Inner({}), store, URL).judge(asked())
    assert (again.outcomes, again.calls) == (judgment.outcomes, (HIT, HIT))


class Quota(Inner):
    """Has an end."""

    left = 1

    async def judge(self, request: JudgeRequest) -> Judgment:
        if not self.left:
            raise JudgeUnavailable("quota")
        self.left -= 1
        return await super().judge(request)


async def test_what_earlier_groups_gave_is_kept_where_a_later_one_fails() -> None:
    store = FakeStore()
    inner = Quota(FULL)
    judge = CachedJudge(inner, store, URL, group=1)
    with pytest.raises(JudgeUnavailable):
        await judge.judge(asked())
    inner.left = 2
    judgment = await judge.judge(asked())
    assert inner.asked == [(0,), (1,), (2,)], "nothing is asked twice"
    assert judgment.calls == (HIT, CALL, CALL)
    assert (await judge.judge(asked())).calls == (HIT, HIT, HIT)


async def test_a_verdict_keeps_the_signature_it_was_made_under() -> None:
    store = FakeStore()
    one = verdict().model_copy(update={"signature": "llm:m|served:m-1"})
    two = verdict().model_copy(update={"signature": "llm:m|served:m-2"})
    inner = Inner({0: one, 1: two})
    inner.signature = "llm:m|served:m-1"
    judge = CachedJudge(inner, store, URL, group=1)
    first = await judge.judge(asked((0, 1)))
    inner.signature = "llm:m|served:m-2"
    again = await judge.judge(asked((0, 1)))
    assert inner.asked == [(0,), (1,)], "which model stands behind the name is no part of the key"
    assert first.outcomes == again.outcomes == {0: one, 1: two}
    tallies = contents(store.texts.items()).signatures
    assert {name: (t.verdicts, t.replies) for name, t in tallies.items()} == {
        "llm:m|served:m-1": (1, 1),
        "llm:m|served:m-2": (1, 1),
    }
