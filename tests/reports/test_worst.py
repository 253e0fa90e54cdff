from judge.records import (
    Flag,
    FlagName,
    JudgeOutcome,
    Sample,
    SampleResult,
    Sentence,
    Unscored,
    UnscoredReason,
    Verdict,
)
from judge.reports.worst import Example, Highlights, Worst, worst_answer
from judge.scores.answer import aggregate
from tests.comparisons import compared, comparison


def verdict(support: str, score: float | None = None) -> Verdict:
    source = "llm" if score is None else "similarity"
    return Verdict.model_validate(
        {"support": support, "score": score, "source": source, "signature": "s"}
    )


def answer(qid: str, *outcomes: JudgeOutcome) -> SampleResult:
    sentences = [Sentence(index=i, start=0, end=2, text=f"{qid}{i}") for i in range(len(outcomes))]
    return aggregate(Sample(qid=qid), sentences, dict(enumerate(outcomes)), [], signature="s")


TIMEOUT = Unscored(reason=UnscoredReason.TIMEOUT)
LATE = Unscored(reason=UnscoredReason.TIMEOUT, detail="a later one")
MISSING = Unscored(reason=UnscoredReason.MISSING, detail="s2: no verdict")


def texts(size: int, *results: SampleResult) -> list[str]:
    worst = Worst(size)
    for result in results:
        worst.add(result)
    return [one.sentence.text for one in worst.sentences()]


def test_contradicted_before_none_before_partial_and_the_first_among_equals() -> None:
    results = (
        answer("a", verdict("full"), verdict("partial"), verdict("none"), TIMEOUT),
        answer(
            "b", verdict("contradicted"), verdict("none"), verdict("no_claim"), verdict("partial")
        ),
        answer("c", verdict("contradicted")),
    )
    everything = ["b0", "c0", "a2", "b1", "a1", "b3"]
    assert texts(10, *results) == everything
    for size in range(7):
        assert texts(size, *results) == everything[:size]


def test_fallbacks_come_after_and_among_equals_the_least_probable_first() -> None:
    stood_in = verdict("none", 0.01).model_copy(update={"fallback_from": TIMEOUT})
    assert texts(3, answer("a", stood_in, verdict("partial"), verdict("none"))) == [
        "a2",
        "a1",
        "a0",
    ]
    scores = [0.4, 0.1, 0.3, 0.0, 0.2]
    result = answer("a", *(verdict("none", score) for score in scores))
    assert texts(3, result) == ["a3", "a1", "a4"]


def test_the_worst_answer_has_the_lowest_faithfulness_then_the_most_unsupported() -> None:
    good = answer("good", verdict("full"))
    half = answer("half", verdict("full"), verdict("none"))
    more = answer("more", verdict("full"), verdict("full"), verdict("none"), verdict("none"))
    failed = answer("failed", TIMEOUT)
    assert worst_answer([good, half, failed, more]) == more
    assert worst_answer([good, failed]) == good
    worse = answer("worse", TIMEOUT, TIMEOUT)
    assert worst_answer([failed, worse, worse.model_copy(update={"qid": "later"})]) == worse
    assert worst_answer([answer("says nothing")]) is None
    assert worst_answer([]) is None
    one, two = answer("a", verdict("full")), answer("b", verdict("full"))
    assert worst_answer([one, flagged(two, FlagName.UNVERIFIED_QUOTE, 0)]) is not one


def flagged(result: SampleResult, name: FlagName, sentence: int) -> SampleResult:
    flag = Flag(name=name, sentence=sentence)
    return result.model_copy(update={"flags": (*result.flags, flag)})


def test_flagged_sentences_come_after_the_unsupported() -> None:
    result = answer("a", *[verdict("full")] * 2, *[verdict("none", 0.1)] * 2)
    for index in range(2):
        result = flagged(result, FlagName.UNVERIFIED_QUOTE, index)
    assert texts(3, result) == ["a2", "a3", "a0"]


def test_the_first_failure_of_each_reason_is_kept_fallen_back_or_not() -> None:
    highlights = Highlights()
    stood_in = verdict("full", 0.9).model_copy(update={"fallback_from": MISSING})
    # Failures of the comparison with the reference count as well.
    for result in (
        answer("a", verdict("full")),
        compared("b", "f", "n?"),
        answer("c", LATE, stood_in),
        answer("d", MISSING).model_copy(update={"correctness": comparison("y", "f")}),
    ):
        highlights.add(result)
    assert highlights.failures == {
        UnscoredReason.TIMEOUT: Example("b", TIMEOUT),
        UnscoredReason.MISSING: Example("c", MISSING),
    }
