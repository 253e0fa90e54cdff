import pytest

from judge import summarize
from judge.records import SampleResult
from tests.comparisons import answer

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


SUPPORT = [
    # Sentences, citations of each; TREC RAG's weighted precision and recall of first citations.
    # The example of the paper, 3.4: (.5 + 1) / 2 and (.5 + 1) / 3.
    ("pfn", "v v ", (0.75, 0.5)),
    # (1 + .5 + 0) / 3 and, the failed sentence left out, / 4.
    ("fpf?f", "v v uv ? ", (0.5, 0.375)),
    # Where every sentence cites, precision is recall (3.4).
    ("fn", "v u", (0.5, 0.5)),
    # Partial support by two chunks is partial support by each; the first citation decides.
    ("p", "vv", (0.5, 0.5)),
    ("f", "vuu", (1, 1)),
    # A chunk that is not there supports nothing.
    ("ff", "dv ", (0, 0)),
    # Sentences without a verdict leave both measures if they cite, and count in recall if not.
    ("f-h", "v ? x", (1, 1)),
    ("fh", "v ", (1, 0.5)),
    ("-", "?", ()),
    # Without citations there is no measure.
    ("f", "", ()),
    ("?", "?", ()),
]
NAMES = ("support_weighted_precision", "support_weighted_recall")


@pytest.mark.parametrize(("marks", "citations", "expected"), SUPPORT)
def test_support_as_trec_rag_measures_it(
    marks: str, citations: str, expected: tuple[float, ...]
) -> None:
    result = answer(marks, citations)
    measures = dict(zip(NAMES, expected, strict=False))
    assert result.scores.citation_support == pytest.approx(measures)
    assert SampleResult.model_validate_json(result.model_dump_json()) == result


def test_an_answer_without_citations_counts_0_beside_those_that_cite() -> None:
    silent = [answer("f"), answer("")]
    assert "citation_support" not in summarize(silent).model_dump_json()
    summary = summarize([answer("pfn", "v v "), *silent, answer("?", "?")])
    found = [summary.citation_support[name] for name in NAMES]
    assert [(round(s.macro, 6), s.answers) for s in found] == [(0.25, 3), (0.166667, 3)]
    # Pooled: over two sentences that cite, and over the four of all.
    assert [(s.micro, s.items) for s in found] == [(0.75, 2), (0.375, 4)]
    bounds = summary.citation_support_bounds[NAMES[0]]
    assert (bounds.low, bounds.high, bounds.answers) == (0.1875, 0.4375, 4)
