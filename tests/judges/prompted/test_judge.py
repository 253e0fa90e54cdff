import asyncio
import json
import re
from collections.abc import Callable, Sequence

from judge.backends.fake import FakeModel
from judge.judges.prompted import PromptedJudge
from judge.prompt import load_prompt
from judge.records import (
    Call,
    ChatFailure,
    ChatReply,
    ChatRequest,
    JudgeOutcome,
    JudgeRequest,
    Judgment,
    Unscored,
    UnscoredReason,
    Verdict,
)
from tests.requests import request

PROMPT = load_prompt("faithfulness", "v1")


def asked(count: int = 3, ask: Sequence[int] | None = None) -> JudgeRequest:
    return request([f"Satz {index}" for index in range(count)], ["text"], ask=ask)


def ids(chat: ChatRequest) -> list[str]:
    line = re.search(r"^Judge these sentences: (.*)$", chat.user, re.MULTILINE)
    assert line
    return line[1].split(", ")


def saying(*entries: tuple[str, str]) -> str:
    return json.dumps({"verdicts": [{"id": name, "support": label} for name, label in entries]})


def right(chat: ChatRequest) -> str:
    return saying(*((name, "full") for name in ids(chat)))


def finished(text: str, finish: str) -> ChatReply:
    return ChatReply.model_validate(
        {
            "text": text,
            "finish": finish,
            "model": "m",
            "prompt_tokens": 5,
            "reply_tokens": 7,
            "seconds": 0.5,
        }
    )


def told(outcome: JudgeOutcome) -> str:
    """A label, or a reason."""
    return outcome.reason.value if isinstance(outcome, Unscored) else outcome.support.value


def fates(judgment: Judgment) -> list[str]:
    return [told(judgment.outcomes[index]) for index in sorted(judgment.outcomes)]


async def test_one_call_judges_up_to_sixteen_sentences() -> None:
    model = FakeModel([right])
    judgment = await PromptedJudge(model, PROMPT).judge(asked(16))
    assert fates(judgment) == ["full"] * 16
    assert [ids(chat) for chat in model.requests] == [[f"s{n}" for n in range(1, 17)]]
    (reply,) = judgment.replies
    assert reply.sentences == tuple(range(16))
    assert reply.text == right(model.requests[0])
    assert judgment.calls == (reply.call,)
    assert judgment.flags == ()


async def test_missing_double_and_unknown_ids_are_requested_again() -> None:
    model = FakeModel(
        [saying(("s1", "full"), ("s2", "full"), ("s2", "none"), ("s9", "full")), right]
    )
    judgment = await PromptedJudge(model, PROMPT).judge(asked())
    assert fates(judgment) == ["full"] * 3
    assert [ids(chat) for chat in model.requests] == [["s1", "s2", "s3"], ["s2", "s3"]]
    # The fault is named: at temperature 0 an equal request would bring an equal reply.
    assert "s2: more than one verdict; s3: no verdict" in model.requests[1].user
    assert [reply.sentences for reply in judgment.replies] == [(0,), (1, 2)]


async def test_a_faulty_reply_is_asked_again_once_with_its_fault() -> None:
    for bad, fault in {
        saying(("s1", "maybe"), ("s2", "full")): "s1: support should be 'full', ",
        "I would say yes.": "s1, s2: it holds no JSON",
        '{"verdicts": [{"id": "s1"': "s1, s2: its JSON is broken",
    }.items():
        model = FakeModel([bad, right])
        assert fates(await PromptedJudge(model, PROMPT).judge(asked(2))) == ["full"] * 2
        assert fault in model.requests[1].user
        model = FakeModel([bad])
        judgment = await PromptedJudge(model, PROMPT).judge(asked(2))
        assert len(judgment.calls) == len(model.requests) == 2
        outcome = judgment.outcomes[0]
        assert isinstance(outcome, Unscored)
        assert outcome.reason is UnscoredReason.MALFORMED
        assert fault.split(": ", 1)[1] in outcome.detail


async def test_a_cut_reply_is_requested_in_halves_and_ignored() -> None:
    def script(chat: ChatRequest) -> ChatReply | str:
        return right(chat) if len(ids(chat)) <= 2 else finished(right(chat), "length")

    model = FakeModel([script])
    judgment = await PromptedJudge(model, PROMPT, max_reply_tokens=64).judge(asked(5))
    assert fates(judgment) == ["full"] * 5
    assert [ids(chat) for chat in model.requests] == [
        ["s1", "s2", "s3", "s4", "s5"],
        ["s1", "s2"],
        ["s3", "s4", "s5"],
        ["s3"],
        ["s4", "s5"],
    ]
    assert [reply.sentences for reply in judgment.replies] == [(0, 1), (2,), (3, 4)]
    assert [call.reply_tokens for call in judgment.calls if call.model == "m"] == [7, 7]


def thinking(least: int) -> Callable[[ChatRequest], ChatReply | str]:
    """Right where it may use so many tokens, else cut."""

    def reply(chat: ChatRequest) -> ChatReply:
        fits = chat.max_tokens >= least
        said = finished(right(chat) if fits else "", "stop" if fits else "length")
        return said.model_copy(update={"reply_tokens": least})

    return reply


async def test_a_cut_reply_is_asked_for_once_with_a_longer_limit_then_in_halves() -> None:
    # The usual limit is 512 tokens and 200 for each sentence.
    for most, room, least, limits in (
        (None, 0, 5_000, [912, 8192]),
        (None, 0, 9_000, [912, 8192, 8192, 8192]),
        (5_000, 0, 5_000, [912, 5_000]),
        (None, 16_384, 20_000, [912 + 16_384, 16_384 + 16_384]),
        (5_000, 16_384, 5_000, [5_000]),
        # A sentence alone may use as much as both.
        (1_000, 0, 1_001, [912, 1_000, 1_000, 1_000]),
    ):
        model = FakeModel([thinking(least)])
        judge = PromptedJudge(model, PROMPT, max_reply_tokens=most, room=room)
        judgment = await judge.judge(asked(2))
        assert [chat.max_tokens for chat in model.requests] == limits
        assert len(judgment.calls) == len(limits)
        fine = limits[-1] >= least
        assert fates(judgment) == (["full"] if fine else ["truncated"]) * 2
        # The next answer begins at the usual limit again.
        await judge.judge(asked(2))
        assert model.requests[len(limits)].max_tokens == limits[0]


async def test_a_reply_that_never_ends_costs_a_bounded_number_of_tokens() -> None:
    model = FakeModel([thinking(10**9)])
    assert fates(await PromptedJudge(model, PROMPT).judge(asked(16))) == ["truncated"] * 16
    # Once 16 sentences, twice 8, and so on to 16 times 1.
    assert [chat.max_tokens for chat in model.requests] == [3_712, *[8_192] * 31]


async def test_a_longer_limit_that_the_server_refuses_is_not_asked_for_again() -> None:
    def script(chat: ChatRequest) -> ChatReply | ChatFailure:
        if chat.max_tokens > 1_000:
            return ChatFailure(reason=UnscoredReason.TRUNCATED, detail="too long", seconds=0.0)
        return finished(right(chat), "stop" if len(ids(chat)) == 1 else "length")

    model = FakeModel([script])
    assert fates(await PromptedJudge(model, PROMPT).judge(asked(2))) == ["full"] * 2
    assert [chat.max_tokens for chat in model.requests] == [912, 8192, 712, 712]


async def test_a_failure_concerns_its_own_call_only() -> None:
    for reason in UnscoredReason:
        failure = ChatFailure(reason=reason, detail="what\nhappened", seconds=2.0, retries=3)
        model = FakeModel([failure, right])
        judgment = await PromptedJudge(model, PROMPT, sentences_per_call=2).judge(asked(3))
        lost = Unscored(reason=reason, detail="what happened")
        assert [judgment.outcomes[0], judgment.outcomes[1]] == [lost, lost]
        assert told(judgment.outcomes[2]) == "full"
        call = Call(model="", prompt_tokens=0, reply_tokens=0, seconds=2.0, retries=3)
        sent = reason is not UnscoredReason.BUDGET
        assert judgment.calls[:-1] == ((call,) if sent else ())


async def test_the_deadline_is_for_all_calls_together() -> None:
    def slow(chat: ChatRequest) -> str:
        deadline = chat.deadline
        assert deadline is not None
        while asyncio.get_running_loop().time() < deadline:
            pass
        return right(chat)

    model = FakeModel([slow])
    soon = asked(3).model_copy(update={"deadline": asyncio.get_running_loop().time() + 0.01})
    judgment = await PromptedJudge(model, PROMPT, sentences_per_call=1).judge(soon)
    assert fates(judgment) == ["full", "timeout", "timeout"]
    assert len(model.requests) == 1
    outcome = judgment.outcomes[1]
    assert isinstance(outcome, Unscored)
    assert outcome.detail == "the time for this answer was up; see --deadline"


def test_the_signature_names_model_and_prompt() -> None:
    for model, edition, signature in (
        (
            "llm:m@host:8000|served:m-1|json_schema|t:0|seed:7",
            ("w:24000", "split:3"),
            "llm:m@host:8000|prompt:{}|served:m-1|json_schema|t:0|seed:7|n:16|w:24000|split:3",
        ),
        ("fake", (), "fake|prompt:{}|n:16"),
    ):
        judge = PromptedJudge(FakeModel([right], model), PROMPT, edition=edition)
        assert judge.signature == signature.format(PROMPT.reference)


async def test_a_verdict_has_the_signature_of_its_model() -> None:
    """A gateway may send the second call to another model, and the reply says so."""

    def moved(chat: ChatRequest) -> str:
        model.signature = "llm:m@host|served:m-2"
        return right(chat)

    model = FakeModel([right, moved, right], "llm:m@host|served:m-1")
    judge = PromptedJudge(model, PROMPT, sentences_per_call=1)
    first, second = (f"llm:m@host|prompt:{PROMPT.reference}|served:m-{n}|n:1" for n in (1, 2))
    assert judge.signature == first
    outcomes = (await judge.judge(asked(3))).outcomes
    signatures = [o.signature for o in outcomes.values() if isinstance(o, Verdict)]
    assert signatures == [first, second, second]
    assert judge.signature == second
