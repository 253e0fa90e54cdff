from judge.records import (
    JudgeOutcome,
    Sample,
    SampleResult,
    Sentence,
    Support,
    Unscored,
    UnscoredReason,
    Verdict,
)
from judge.reports.worst import Example, Failures
from judge.scores.answer import aggregate
from tests.compared import compared, comparison

TIMEOUT = Unscored(reason=UnscoredReason.TIMEOUT, detail="no answer")
LATE = Unscored(reason=UnscoredReason.TIMEOUT, detail="a later one")
MISSING = Unscored(reason=UnscoredReason.MISSING, detail="s2: no verdict")
FULL = Verdict(support=Support.FULL, source="llm", signature="s")


def answer(qid: str, *outcomes: JudgeOutcome) -> SampleResult:
    sentences = [Sentence(index=i, start=i, end=i + 1, text="句") for i in range(len(outcomes))]
    return aggregate(Sample(qid=qid), sentences, dict(enumerate(outcomes)), [], signature="s")


def test_the_first_failure_of_each_reason_is_kept_fallen_back_or_not() -> None:
    failures = Failures()
    stood_in = FULL.model_copy(update={"source": "similarity", "fallback_from": MISSING})
    for result in (answer("a", FULL), answer("b", FULL, TIMEOUT), answer("c", LATE, stood_in)):
        failures.add(result)
    assert failures.first == {
        UnscoredReason.TIMEOUT: Example("b", TIMEOUT),
        UnscoredReason.MISSING: Example("c", MISSING),
    }


def test_failures_of_the_comparison_with_the_reference_are_kept_too() -> None:
    failures = Failures()
    failures.add(compared("a", "f", "f"))
    failures.add(compared("b", "f", "n?"))
    failed = answer("c", MISSING).model_copy(update={"correctness": comparison("y", "f")})
    failures.add(failed)
    none = Unscored(reason=UnscoredReason.TIMEOUT)
    assert failures.first == {
        UnscoredReason.TIMEOUT: Example("b", none),
        UnscoredReason.MISSING: Example("c", MISSING),
    }
