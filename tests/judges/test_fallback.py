from collections.abc import Mapping

import pytest

from judge import Config, SampleResult, evaluate, summarize
from judge.backends.fake import FakeJudge
from judge.errors import JudgeUnavailable
from judge.judges.fallback import FallbackJudge, UndecidedJudge
from judge.judges.similarity import LexicalEmbedder, SimilarityJudge
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


# What words alone cannot tell.

CHUNK = "The canteen opens at seven and closes at three, from Monday to Friday, all year round."
# Nothing of the first is in the chunk, the second is in it, half of the third is.
SENTENCES = "Bears dance nightly. The canteen opens at seven. It has a pool."


def verdict(support: Support, score: float | None) -> Verdict:
    return Verdict(
        support=support, score=score, reason="why", source="similarity", signature="similarity:x"
    )


@pytest.mark.parametrize(
    ("support", "score", "undecided"),
    [
        (Support.NONE, 0.49, False),
        (Support.NONE, 0.5, True),
        (Support.NONE, None, False),
        (Support.CONTRADICTED, 0.6, False),
        (Support.FULL, 0.9, False),
    ],
)
async def test_none_is_undecided_from_a_half_up(
    support: Support, score: float | None, *, undecided: bool
) -> None:
    judge = UndecidedJudge(FakeJudge({"A.": verdict(support, score)}))
    outcome = (await judge.judge(request(["A."]))).outcomes[0]
    if undecided:
        reason = UnscoredReason.UNDECIDED
        assert outcome == Unscored(reason=reason, detail="why", score=score)
    else:
        assert isinstance(outcome, Verdict)
        assert (outcome.support, outcome.signature) == (support, judge.signature)
    assert judge.signature.endswith("|undecided:0.5")


async def test_a_failure_of_the_model_is_not_hidden_behind_undecided() -> None:
    failure = Unscored(reason=UnscoredReason.TIMEOUT)
    outcomes: dict[str, JudgeOutcome] = {"A.": failure}
    second = UndecidedJudge(FakeJudge({"A.": verdict(Support.NONE, 0.7)}))
    judge = FallbackJudge(FakeJudge(outcomes), second)
    assert (await judge.judge(request(["A."]))).outcomes == {0: failure}


def test_an_answer_is_hallucinated_or_not_by_its_decided_claims() -> None:
    """One answer of ten is wrong, and the others have an undecided claim beside a supported one."""
    texts = ["Bears dance nightly.", *["The canteen opens at seven. It has a pool."] * 9]
    found = summarize(
        evaluate([{"qid": str(n), "answer": t, "chunks": [CHUNK]} for n, t in enumerate(texts)])
    )
    assert found.hallucination_rate is not None
    assert found.hallucination_rate_bounds is not None
    assert (found.hallucination_rate.macro, found.hallucination_rate.answers) == (0.1, 10)
    bounds = found.hallucination_rate_bounds
    assert (bounds.low, bounds.high) == (0.1, 1.0)


def results() -> list[SampleResult]:
    return evaluate(
        [{"qid": str(n), "answer": SENTENCES, "chunks": [CHUNK]} for n in range(6)], Config()
    )


def test_what_the_fallback_leaves_undecided_stays_in_the_bounds() -> None:
    """By hand: of three failures the fallback says none, full and nothing: 1/2, in 1/3 to 2/3."""
    texts = SENTENCES.split(". ")
    failure = Unscored(reason=UnscoredReason.TIMEOUT)
    model = FakeJudge({f"{text.rstrip('.')}.": failure for text in texts})
    judge = FallbackJudge(model, UndecidedJudge(SimilarityJudge(LexicalEmbedder())))
    found = summarize(evaluate([{"qid": "1", "answer": SENTENCES, "chunks": [CHUNK]}], judge=judge))
    assert (found.unscored, found.fallen_back) == ({"timeout": 3}, 2)
    assert found.faithfulness_with_fallback is not None
    assert found.faithfulness_with_fallback_bounds is not None
    assert found.faithfulness_with_fallback.macro == 0.5
    bounds = found.faithfulness_with_fallback_bounds
    assert (bounds.low, bounds.high) == pytest.approx((1 / 3, 2 / 3))


def test_undecided_claims_are_counted_and_bound_the_score_and_distrust_nothing() -> None:
    """By hand: each answer has none, full, undecided: 1/2 of two, bounds 1/3 and 2/3."""
    (result, *_), summary = results(), summarize(results())
    assert [getattr(each.outcome, "support", None) for each in result.sentences] == [
        Support.NONE,
        Support.FULL,
        None,
    ]
    assert result.scores.faithfulness == 0.5
    assert result.scores.faithfulness_bounds == pytest.approx((1 / 3, 2 / 3))
    assert (summary.unscored, summary.unscored_share) == ({"undecided": 6}, 0)
    assert not summary.untrusted
