from collections.abc import Mapping

from judge.records import (
    Citation,
    CitationStatus,
    Flag,
    FlagName,
    JudgeOutcome,
    Sample,
    SampleResult,
    Unscored,
    UnscoredReason,
)
from judge.reports.worst import Example, Highlights, WorstSentences, worst_answer
from judge.scores.answer import aggregate
from tests.comparisons import TIMEOUT, compared, comparison, outcome, outcomes, sentences

MISSING = Unscored(reason=UnscoredReason.MISSING, detail="s2: no verdict")


def answer(qid: str, marks: str, others: Mapping[int, JudgeOutcome] | None = None) -> SampleResult:
    """Return an answer whose sentences, called `qid0` and so on, have these marks."""
    claims = [each.model_copy(update={"text": f"{qid}{each.index}"}) for each in sentences(marks)]
    found = outcomes(marks) | dict(others or {})
    return aggregate(Sample(qid=qid), claims, found, [], signature="s")


def flagged(result: SampleResult, *indexes: int) -> SampleResult:
    flags = tuple(Flag(name=FlagName.UNVERIFIED_QUOTE, sentence=index) for index in indexes)
    return result.model_copy(update={"flags": flags})


def texts(size: int, *results: SampleResult) -> list[str]:
    worst = WorstSentences(size)
    for result in results:
        worst.add(result)
    return [one.sentence.text for one in worst.sentences()]


def test_contradicted_before_none_before_partial_and_the_first_among_equals() -> None:
    results = answer("a", "fpn?"), answer("b", "cn-p"), answer("c", "c")
    everything = ["b0", "c0", "a2", "b1", "a1", "b3"]
    assert texts(10, *results) == everything
    for size in range(7):
        assert texts(size, *results) == everything[:size]


def test_fallbacks_and_flagged_sentences_come_after_and_the_least_probable_first() -> None:
    assert texts(3, answer("a", "Npn")) == ["a2", "a1", "a0"]
    assert texts(3, flagged(answer("a", "ffnn"), 0, 1)) == ["a2", "a3", "a0"]
    scores = {i: {"score": score} for i, score in enumerate((0.4, 0.1, 0.3, 0.0, 0.2))}
    found = {i: outcome("n").model_copy(update=score) for i, score in scores.items()}
    assert texts(3, answer("a", "nnnnn", found)) == ["a3", "a1", "a4"]


def test_each_kind_of_finding_is_listed_and_undecided_claims_before_flagged_ones() -> None:
    undecided = Unscored(reason=UnscoredReason.UNDECIDED, detail="words", score=0.4)
    wrong = Citation(
        sentence=3, marker="[9]", start=0, end=3, chunk_id=None, status=CitationStatus.DANGLING
    )
    result = flagged(answer("a", "fnpf??", {4: undecided}), 0)
    cited = result.model_copy(update={"citations": (wrong,)})
    assert texts(10, cited) == ["a1", "a2", "a4", "a0", "a3"]


def test_the_worst_answer_has_the_lowest_faithfulness_then_the_most_unsupported() -> None:
    good, half, more = answer("good", "f"), answer("half", "fn"), answer("more", "ffnn")
    failed, worse = answer("failed", "?"), answer("worse", "??")
    assert worst_answer([good, half, failed, more]) == more
    assert worst_answer([good, failed]) == good
    assert worst_answer([failed, worse, worse.model_copy(update={"qid": "later"})]) == worse
    assert worst_answer([answer("says nothing", "")]) is None
    assert worst_answer([]) is None
    assert worst_answer([good, flagged(answer("b", "f"), 0)]) is not good


def test_the_first_failure_of_each_reason_is_kept_fallen_back_or_not() -> None:
    highlights = Highlights()
    fallen_back = outcome("y").model_copy(update={"fallback_from": MISSING})
    # Failures of the comparison with the reference count as well.
    for result in (
        answer("a", "f"),
        compared("b", "f", "n?"),
        answer("c", "?f", {1: fallen_back}),
        answer("d", "f", {0: MISSING}).model_copy(update={"correctness": comparison("y", "f")}),
    ):
        highlights.add(result)
    assert highlights.failures == {
        UnscoredReason.TIMEOUT: Example("b", TIMEOUT),
        UnscoredReason.MISSING: Example("c", MISSING),
    }
