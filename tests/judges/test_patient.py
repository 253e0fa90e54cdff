import asyncio
import math

import pytest

from judge.backends.fake import FakeJudge
from judge.errors import ConfigError, JudgeUnavailable
from judge.judges.patient import PatientJudge
from judge.protocols import Judge
from judge.records import JudgeRequest, Judgment, Sentence, Support, Verdict

FULL = Verdict(support=Support.FULL, source="llm", signature="fake")
REQUEST = JudgeRequest(
    query="",
    answer="一",
    sentences=(Sentence(index=0, start=0, end=1, text="一"),),
    ask=(0,),
    chunks=(),
)


async def test_a_request_gets_the_deadline_and_is_otherwise_handed_on() -> None:
    inner = FakeJudge({"一": FULL})
    judge: Judge = PatientJudge(inner, 30)
    before = asyncio.get_running_loop().time()
    judgment = await judge.judge(REQUEST)
    after = asyncio.get_running_loop().time()
    assert judgment == Judgment(outcomes={0: FULL})
    (request,) = inner.requests
    assert request.deadline is not None
    assert before + 30 <= request.deadline <= after + 30
    assert request.model_copy(update={"deadline": None}) == REQUEST


@pytest.mark.parametrize("deadline", [0.0, 5.0, 1e9])
async def test_a_deadline_that_is_there_holds(deadline: float) -> None:
    inner = FakeJudge({})
    request = REQUEST.model_copy(update={"deadline": deadline})
    await PatientJudge(inner, 30).judge(request)
    assert inner.requests == [request]


async def test_the_clock_of_each_answer_is_its_own() -> None:
    inner = FakeJudge({})
    judge = PatientJudge(inner, 30)
    await judge.judge(REQUEST)
    await judge.judge(REQUEST)
    first, second = (request.deadline for request in inner.requests)
    assert first is not None
    assert second is not None
    assert first < second


def test_the_signature_is_the_inner_judge_s_whatever_it_is_by_now() -> None:
    inner = FakeJudge({}, "llm:m")
    judge = PatientJudge(inner, 30)
    assert judge.signature == "llm:m"
    inner.signature = "llm:m|served:n"
    assert judge.signature == "llm:m|served:n"


async def test_a_judge_that_cannot_be_asked_stops_everything() -> None:
    class Out:
        signature = "out"

        async def judge(self, request: JudgeRequest) -> Judgment:
            raise JudgeUnavailable(f"nobody to ask about {len(request.ask)}")

    with pytest.raises(JudgeUnavailable):
        await PatientJudge(Out(), 30).judge(REQUEST)


@pytest.mark.parametrize("seconds", [0, -1.0, math.nan])
def test_no_time_at_all_is_refused(seconds: float) -> None:
    with pytest.raises(ConfigError, match="seconds"):
        PatientJudge(FakeJudge({}), seconds)
