import pytest

from judge.records import (
    Citation,
    CitationStatus,
    Flag,
    FlagName,
    Sample,
    SampleResult,
)
from judge.scores.answer import aggregate
from tests.comparisons import outcomes, sentences

STATUS = {"v": "valid", "u": "unsupported", "d": "dangling", "?": "unjudged"}
FLAG = Flag(name=FlagName.INJECTION_SUSPECTED)


def answer(marks: str, citations: str = "") -> SampleResult:
    """Return an answer with sentences of these marks, whose cited chunks support them alike.

    Args:
        marks: its sentences.
        citations: of each its citations, apart by blanks: valid, unsupported, dangling, unjudged
            (?), or not audited (x).
    """
    found = [
        Citation(
            sentence=i,
            marker="[1]",
            start=0,
            end=3,
            chunk_id=None if status == "d" else "a",
            status=CitationStatus(STATUS[status]) if status in STATUS else None,
        )
        for i, statuses in enumerate(citations.split(" "))
        for status in statuses
    ]
    return aggregate(
        Sample(qid="q", metadata={"team": "网络"}),
        sentences(marks),
        outcomes(marks, cited=bool(citations)),
        found,
        flags=[FLAG],
        signature="s",
    )


ANSWERS = {
    # Sentences: claims, judged, unscored, no claim; faithfulness, its bounds, and what it is with
    # the verdicts of a fallback counted in; the status, and the sentences that are not supported.
    "fpn?": ((4, 3, 1, 0), 0.5, (0.375, 0.625), None, "scored", (1, 2)),
    # A fallback verdict is shown and enters no headline; where all fell back nothing is scored.
    "fcyN": ((4, 2, 2, 0), 0.5, (0.25, 0.75), 0.5, "scored", (1, 3)),
    "fpn-?y": ((6, 3, 2, 1), 0.5, (0.3, 0.7), 0.625, "scored", (1, 2)),
    "yN": ((2, 0, 2, 0), None, (0, 1), 0.5, "unscored", (1,)),
    # A sentence that asserts nothing is counted and left out.
    "f--": ((3, 1, 0, 2), 1, (1, 1), None, "scored", ()),
    "c-?": ((3, 1, 1, 1), 0, (0, 0.5), None, "scored", (0,)),
    "-?": ((2, 0, 1, 1), None, (0, 1), None, "unscored", ()),
    "-": ((1, 0, 0, 1), None, None, None, "no_claims", ()),
    "??": ((2, 0, 2, 0), None, (0, 1), None, "unscored", ()),
    "?a": ((1, 0, 1, 0), None, (0, 1), None, "unscored", ()),
    # Nor is there anything to measure in what claims nothing.
    "": ((0, 0, 0, 0), None, None, None, "no_claims", ()),
    "h": ((0, 0, 0, 0), None, None, None, "no_claims", ()),
    "ha": ((0, 0, 0, 0), None, None, None, "abstained", ()),
    "fa": ((1, 1, 0, 0), 1, (1, 1), None, "scored", ()),
}


def test_the_scores_of_an_answer_by_hand() -> None:
    found = {}
    for marks in ANSWERS:
        result = answer(marks)
        scores = result.scores
        found[marks] = (
            (scores.claims, scores.judged, scores.unscored, scores.no_claim),
            scores.faithfulness,
            scores.faithfulness_bounds,
            scores.faithfulness_with_fallback,
            result.status.value,
            scores.unsupported,
        )
    assert found == ANSWERS
    assert answer("fpn?").scores.faithfulness_strict == pytest.approx(1 / 3)
    assert answer("fpn?").scores.contradiction_rate == 0
    assert answer("fcyN").scores.contradiction_rate == 0.5


def test_nothing_measured_is_null_and_never_zero() -> None:
    scores = answer("a").scores
    counts = {"claims": 0, "judged": 0, "unscored": 0, "no_claim": 0, "unsupported": ()}
    assert scores.model_dump(include=set(counts)) == counts
    assert set(scores.model_dump(exclude=set(counts)).values()) == {None}
    # Only coverage needs no verdict.
    scores = answer("??", "?").scores
    assert scores.faithfulness is scores.faithfulness_strict is scores.citation_recall is None
    assert scores.contradiction_rate is scores.citation_validity is None
    assert scores.faithfulness_bounds == scores.citation_validity_bounds == (0, 1)
    assert scores.coverage == 0.5
    # Validity needs a citation.
    scores = answer("ff").scores
    assert (scores.coverage, scores.citation_recall) == (0, 0)
    assert (scores.citation_validity, scores.citation_validity_bounds) == (None, None)


def test_citation_scores() -> None:
    """Three valid, one unsupported, one dangling and two unjudged; in a heading none counts."""
    result = answer("fpn?h", "vv vu d ?? x")
    scores = result.scores
    assert scores.coverage == 0.75  # the third claim's only citation dangles
    assert scores.citation_validity == pytest.approx(3 / 5)
    assert scores.citation_validity_bounds == pytest.approx((3 / 7, 5 / 7))
    assert scores.citation_recall == pytest.approx(1 / 3)
    assert len(result.citations) == 8
    # One of three claims asserts nothing, and one of the others cites.
    scores = answer("f-?", "v x").scores
    assert (scores.coverage, scores.citation_recall) == (0.5, 1)
