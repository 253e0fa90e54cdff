from collections.abc import Mapping

import pytest

from judge.backends.fake import FakeJudge
from judge.errors import JudgeUnavailable
from judge.judges.fallback import FallbackJudge
from judge.records import (
    JudgeOutcome,
    JudgeRequest,
    Judgment,
    Support,
    Unscored,
    UnscoredReason,
    Verdict,
)
from tests.requests import request

FULL = Verdict(support=Support.FULL, source="llm", signature="first")
NONE = Verdict(support=Support.NONE, source="similarity", score=0.2, signature="second")
TIMEOUT = Unscored(reason=UnscoredReason.TIMEOUT, detail="one")
DOWN = Unscored(reason=UnscoredReason.CONNECTION, detail="two")
FINAL = {UnscoredReason.REFUSED, UnscoredReason.BUDGET}

REQUEST = request("abcd", ask=(0, 2, 3)).model_copy(update={"deadline": 1e9})


class Fixed:
    def __init__(self, judgment: Judgment | None, signature: str) -> None:
        self.judgment = judgment
        self.signature = signature

    async def judge(self, request: JudgeRequest) -> Judgment:
        if self.judgment is None:
            raise JudgeUnavailable(f"nobody to ask about {len(request.ask)}")
        return self.judgment


def fakes(
    first: Mapping[str, JudgeOutcome], second: Mapping[str, JudgeOutcome]
) -> tuple[FakeJudge, FakeJudge, FallbackJudge]:
    one, two = FakeJudge(first, "one"), FakeJudge(second, "two")
    return one, two, FallbackJudge(one, two)


async def test_what_the_first_could_not_judge_the_second_does_and_says_so() -> None:
    one, two, judge = fakes({"a": FULL, "c": TIMEOUT, "d": FULL}, {"a": NONE, "c": NONE, "d": NONE})
    judgment = await judge.judge(REQUEST)
    assert judgment.outcomes == {
        0: FULL,
        2: NONE.model_copy(update={"fallback_from": TIMEOUT}),
        3: FULL,
    }
    assert one.requests == [REQUEST]
    assert two.requests == [REQUEST.model_copy(update={"ask": (2,)})]


async def test_all_but_refusals_and_a_spent_budget_fall_back() -> None:
    for reason in UnscoredReason:
        failure = Unscored(reason=reason, detail="d")
        _, two, judge = fakes({"a": FULL, "c": FULL, "d": failure}, {"d": NONE})
        outcome = (await judge.judge(REQUEST)).outcomes[3]
        if reason in FINAL:
            assert (outcome, two.requests) == (failure, [])
        else:
            assert outcome == NONE.model_copy(update={"fallback_from": failure})


async def test_where_both_fail_the_first_failure_stands() -> None:
    _, _, judge = fakes({"a": FULL, "c": TIMEOUT, "d": FULL}, {"c": DOWN})
    assert (await judge.judge(REQUEST)).outcomes[2] == TIMEOUT


async def test_a_judge_that_cannot_be_asked_stops_everything() -> None:
    works, out = Fixed(Judgment(outcomes={0: TIMEOUT}), "works"), Fixed(None, "out")
    for judges in ((works, out), (out, works)):
        with pytest.raises(JudgeUnavailable):
            await FallbackJudge(*judges).judge(REQUEST)
