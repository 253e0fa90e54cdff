import asyncio
from collections.abc import Mapping, Sequence

import pytest

from judge.backends.fake import FakeStore
from judge.judges.cached import CachedJudge, contents, row_keys
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
        read = tuple(i for i in request.ask if isinstance(self.outcomes[i], Verdict))
        reply = Reply(text=f"reply to {request.ask}", call=CALL, sentences=read)
        return Judgment(
            outcomes={index: self.outcomes[index] for index in request.ask},
            calls=(CALL,),
            replies=(reply,) if read else (),
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
    first = await CachedJudge(Inner(FULL), store, URL, group=16).judge(asked())
    inner = Inner({})
    cached: Judge = CachedJudge(inner, store, URL, group=16)
    second = await cached.judge(asked())
    assert inner.requests == []
    assert cached.signature == "llm:m"
    assert second.outcomes == first.outcomes
    assert list(second.outcomes) == [0, 1, 2]
    assert first.outcomes[0] == verdict(Support.FULL, "docA")
    assert first.outcomes[2] == verdict(Support.PARTIAL, "docB")
    assert (first.calls, len(first.replies)) == ((CALL,), 1)
    assert (second.calls, second.replies) == ((HIT,), ())


async def test_a_failure_is_never_stored() -> None:
    store = FakeStore()
    inner = Inner(FULL | {1: TIMEOUT})
    judge = CachedJudge(inner, store, URL, group=16)
    judgment = await judge.judge(asked())
    assert judgment.outcomes[1] == TIMEOUT
    inner.outcomes[1] = verdict(Support.CONTRADICTED)
    judgment = await judge.judge(asked())
    assert judgment.outcomes[1] == verdict(Support.CONTRADICTED)
    assert inner.asked == [(0, 1, 2), (1,)], "only the rest is asked"
    assert list(judgment.outcomes) == [0, 1, 2]
    assert judgment.calls == (HIT, CALL)
    assert [reply.sentences for reply in judgment.replies] == [(1,)]
    again = await judge.judge(asked())
    assert again.outcomes == judgment.outcomes
    assert again.calls == (HIT, HIT), "one for each stored reply"
    assert len(inner.requests) == 2
    failing = FakeStore()
    everything = Inner(dict.fromkeys(range(3), TIMEOUT))
    await CachedJudge(everything, failing, URL, group=16).judge(asked())
    assert failing.texts == {}


async def test_a_verdict_on_part_of_the_evidence_is_never_stored() -> None:
    flag = Flag(name=FlagName.UNJUDGED_EVIDENCE, sentence=0)
    store, inner = FakeStore(), Inner(FULL, flag)
    judge = CachedJudge(inner, store, URL, group=16)
    first = await judge.judge(asked())
    assert (first.outcomes[0], first.flags) == (verdict(Support.FULL, "docA"), (flag,))
    inner.flags = ()
    mended = await judge.judge(asked())
    assert inner.asked == [(0, 1, 2), (0,)], "it alone is asked again"
    assert (mended.flags, mended.outcomes[0]) == ((), verdict(Support.FULL, "docA"))
    await judge.judge(asked())
    assert len(inner.requests) == 2


async def test_requests_at_the_same_moment_with_other_citations_share_no_verdict_on_them() -> None:
    store, inner = FakeStore(), Inner(FULL)
    judge = CachedJudge(inner, store, URL, group=16)
    first, second = asked(), asked().model_copy(update={"cites": {0: (1,)}})
    await asyncio.gather(judge.judge(first), judge.judge(second))
    assert [(each.ask, each.cites) for each in inner.requests] == [
        ((0, 1, 2), {0: (0,)}),
        ((0,), {0: (1,)}),
    ]
    await asyncio.gather(judge.judge(first), judge.judge(second))
    assert len(inner.requests) == 2, "both verdicts are stored"


async def test_what_is_not_the_models_own_is_never_stored() -> None:
    for outcome in (
        verdict().model_copy(update={"source": "similarity", "score": 0.7}),
        verdict().model_copy(update={"fallback_from": TIMEOUT}),
        verdict(Support.FULL, "no position"),
    ):
        store, inner = FakeStore(), Inner({0: outcome})
        for _ in range(2):
            judgment = await CachedJudge(inner, store, URL, group=16).judge(asked((0,)))
            assert judgment.outcomes == {0: outcome}
        assert (store.texts, inner.asked) == ({}, [(0,), (0,)])


SPOILT = (
    *("", "{", "null", "[]", "9" * 5000, "[" * 100_000, '{"support":"full"}'),
    *('{"answer": "a", "stored": "now", "verdicts": {}, "replies": []}',),
)


@pytest.mark.parametrize("spoilt", SPOILT)
async def test_a_broken_row_is_a_miss(spoilt: str) -> None:
    store = FakeStore()
    judge = CachedJudge(Inner(FULL), store, URL, group=16)
    await judge.judge(asked())
    (key,) = store.texts
    store.texts[key] = spoilt
    inner = Inner(FULL)
    judge = CachedJudge(inner, store, URL, group=16)
    assert (await judge.judge(asked())).outcomes[1] == verdict(Support.NONE)
    await judge.judge(asked())
    assert inner.asked == [(0, 1, 2)], "the fresh verdicts stand in its place"


async def test_answers_alike_in_flight_are_asked_once() -> None:
    inner = Inner(FULL)
    judge = CachedJudge(inner, FakeStore(), URL, group=16)
    four = [asked(), asked(ids=("x", "y")), asked(), asked(query="another")]
    judgments = await asyncio.gather(*(judge.judge(each) for each in four))
    assert inner.asked == [(0, 1, 2), (0, 1, 2)]
    assert judgments[1].outcomes[2] == verdict(Support.PARTIAL, "y")
    assert [judgment.calls for judgment in judgments] == [(CALL,), (HIT,), (HIT,), (CALL,)]


class Stuck(Inner):
    """Hangs on its first question."""

    async def judge(self, request: JudgeRequest) -> Judgment:
        if self.requests:
            return await super().judge(request)
        self.requests.append(request)
        await asyncio.Event().wait()
        raise AssertionError


async def test_where_the_first_is_cancelled_one_of_the_others_asks() -> None:
    inner = Stuck({0: verdict(Support.NONE)})
    judge = CachedJudge(inner, FakeStore(), URL, group=16)
    first, *others = (asyncio.create_task(judge.judge(asked((0,)))) for _ in range(5))
    await asyncio.sleep(0)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    async with asyncio.timeout(60):
        judgments = await asyncio.gather(*others)
    assert all(judgment.outcomes == inner.outcomes for judgment in judgments)
    assert len(inner.requests) == 2
    fresh = [call for judgment in judgments for call in judgment.calls if not call.cached]
    assert fresh == [CALL]


async def test_groups_are_asked_and_stored_one_after_the_other() -> None:
    store = FakeStore()
    flags = [Flag(name=FlagName.CONFLICTING_EVIDENCE, sentence=index) for index in (0, 2)]
    inner = Inner(FULL, *flags)
    judgment = await CachedJudge(inner, store, URL, group=2).judge(asked())
    assert inner.asked == [(0, 1), (2,)]
    assert len(store.texts) == 2
    assert list(judgment.outcomes) == [0, 1, 2]
    assert judgment.calls == (CALL, CALL)
    assert [reply.sentences for reply in judgment.replies] == [(0, 1), (2,)]
    assert judgment.flags == tuple(flags)
    again = await CachedJudge(Inner({}), store, URL, group=2).judge(asked())
    assert (again.outcomes, again.calls) == (judgment.outcomes, (HIT, HIT))


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
    signatures, answers = contents(store.texts.items())
    assert signatures == {"llm:m|served:m-1": 1, "llm:m|served:m-2": 1}
    assert answers == 1


SERVER = "https://api.example.com/v1"
SIGNATURE = "llm:m@host|served:m-1|prompt:faithfulness-v1@a77cf08f|json_schema|t:0|max_tokens"


def about(
    chunks: Sequence[str] = ("甲", "b", "c"),
    cites: Mapping[int, tuple[int, ...]] | None = None,
    second: str = "Two.",
    query: str = "问",
    answer: str = "One. Two.",
) -> JudgeRequest:
    return request(["One.", second], chunks, cites, query=query, answer=answer)


def key(request: JudgeRequest, signature: str = SIGNATURE, url: str = SERVER) -> str:
    (name,) = row_keys(request, 16, signature, url)
    return name


KEY = key(about())

OTHERS = {
    "model": key(about(), signature=SIGNATURE.replace("m@host", "m2@host")),
    "prompt": key(about(), signature=SIGNATURE.replace("-v1@a", "-v2@a")),
    "server": key(about(), url="https://other.example.com/v1"),
    "port": key(about(), url="https://api.example.com:8443/v1"),
    "scheme": key(about(), url="http://api.example.com/v1"),
    "path": key(about(), url="https://api.example.com/v2"),
    "query": key(about(query="q?")),
    "answer": key(about(answer="One.  Two.")),
    "chunk text": key(about("甲Bc")),
    "chunk order": key(about("b甲c")),
    "chunk count": key(about("甲b")),
    "empty chunk": key(about(("甲", "b", "c", ""))),
    "asked": key(about().model_copy(update={"ask": (1,)})),
    "sentence": key(about(second="Three.")),
    "a character from query to answer": key(about(query="问O", answer="ne. Two.")),
    "a character from chunk to chunk": key(about(("甲b", "", "c"))),
    "a chunk joined to the answer": key(about("bc", answer="One. Two.甲")),
    "a field joined to the next": key(about(query="", answer="问One. Two.")),
}


def test_every_part_of_what_is_asked_makes_another_key_and_nothing_else_does() -> None:
    assert len({KEY, *OTHERS.values()}) == 1 + len(OTHERS)
    chunks = request([], "甲bc", ids=["renamed"] * 3).chunks
    for unseen in ({"chunks": chunks}, {"deadline": 5.0}):
        assert key(about().model_copy(update=unseen)) == KEY, unseen
    assert key(about(), signature=SIGNATURE.replace("m-1", "m-2026-05")) == KEY


def test_texts_count_as_a_model_is_shown_them() -> None:
    assert key(about("甲b<")) != KEY
    assert key(about(("甲", "b", "[INST]"))) == key(about(("甲", "b", "［INST\u2060]")))
