"""How far questions are answered, by hand: a letter a part, `f` full, `p` partial, `n` none."""

from judge.records import (
    AnswerRelevance,
    CorpusBounds,
    CorpusScore,
    Quadrant,
    RelevanceStatus,
    RelevanceTotals,
    Sample,
    SampleResult,
    UnscoredReason,
)
from judge.scores.answer import aggregate, answer_relevance, is_beside, with_outcomes
from judge.scores.totals import summarize
from tests.comparisons import TIMEOUT, outcome, outcomes, sentences

UNASKED = {
    "-": RelevanceStatus.NO_QUERY,
    "a": RelevanceStatus.ABSTAINED,
    "e": RelevanceStatus.EMPTY,
}


def related(marks: str) -> AnswerRelevance:
    """Return the relevance for a question with these parts, a failure (`!`) or a status."""
    if marks in UNASKED:
        return answer_relevance(status=UNASKED[marks], signature="s")
    if marks == "!":
        return answer_relevance(failure=TIMEOUT, signature="s")
    return answer_relevance(with_outcomes(sentences(marks), outcomes(marks)), signature="s")


def result(marks: str) -> SampleResult:
    whole = aggregate(Sample(qid=marks), sentences("f"), {0: outcome("f")}, [], signature="s")
    return whole.model_copy(update={"answer_relevance": related(marks)})


def totals(*rows: str) -> RelevanceTotals:
    found = summarize(map(result, rows)).answer_relevance
    assert found is not None
    return found


def figures(score: CorpusScore | None) -> tuple[float, float, int, int] | None:
    return None if score is None else (score.macro, score.micro, score.answers, score.items)


def limits(bounds: CorpusBounds | None) -> tuple[float, float, int] | None:
    return None if bounds is None else (bounds.low, bounds.high, bounds.answers)


def test_an_answer_has_the_mean_weight_of_the_parts() -> None:
    rows = [
        # parts, score, bounds, beside
        ("f", 1.0, (1.0, 1.0), False),
        ("p", 0.5, (0.5, 0.5), False),
        ("n", 0.0, (0.0, 0.0), True),
        ("nnn", 0.0, (0.0, 0.0), True),
        ("fpn", 0.5, (0.5, 0.5), False),
        ("nnp", 0.5 / 3, (0.5 / 3, 0.5 / 3), False),
        # A part that a rule leaves without a verdict: it could be answered.
        ("fn?", 0.5, (1 / 3, 2 / 3), False),
        ("n?", 0.0, (0.0, 0.5), False),
        ("?", None, (0.0, 1.0), False),
        ("!", None, (0.0, 1.0), False),
        ("a", None, None, False),
        ("e", None, None, False),
        ("-", None, None, False),
    ]
    for marks, score, bounds, beside in rows:
        found = related(marks)
        assert (found.score, found.bounds, is_beside(found)) == (score, bounds, beside), marks
    assert not is_beside(None)


def test_the_example_of_the_guide() -> None:
    found = totals("fn", "p", "a", "!")
    assert figures(found.relevance) == (0.5, 0.5, 2, 3)
    assert limits(found.relevance_bounds) == (1 / 3, 2 / 3, 3)
    assert figures(found.relevance_overall) == (1 / 3, 0.375, 3, 4)
    assert limits(found.relevance_overall_bounds) == (0.25, 0.5, 4)
    assert (found.asked, found.unscored, found.unscored_share) == (
        3,
        {UnscoredReason.TIMEOUT: 1},
        1 / 3,
    )


def test_who_rightly_abstains_has_no_zero() -> None:
    """Gold says that the question has no answer; one who answers it all the same is judged."""
    for answerable, marks, expected in ((True, "a", 0.0), (False, "a", None), (False, "f", 1.0)):
        cell = Quadrant(
            answerable=answerable,
            retrieved=None,
            abstained=True,
            faithful=None,
            correct=None,
            signature="s",
        )
        placed = result(marks).model_copy(update={"cell": cell})
        found = summarize([placed]).answer_relevance
        assert found is not None
        overall = found.relevance_overall
        assert (overall.macro if overall else None) == expected
