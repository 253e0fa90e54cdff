import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.records import (
    Citation,
    CitationStatus,
    Excluded,
    Flag,
    FlagName,
    Sample,
    SampleResult,
    Status,
)
from judge.scores.answer import Counts, aggregate
from tests.compared import outcome, outcomes, sentences

STATUS = {"v": "valid", "u": "unsupported", "d": "dangling", "?": "unjudged"}
FLAG = Flag(name=FlagName.INJECTION_SUSPECTED)


def answer(marks: str, citations: str = "") -> SampleResult:
    """An answer of such sentences (`tests.compared.MARKS`), fully supported by what they cite.

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


def test_the_worked_example() -> None:
    result = answer("fpn?")
    scores = result.scores
    assert (scores.claims, scores.judged, scores.unscored, scores.no_claim) == (4, 3, 1, 0)
    assert (scores.faithfulness, scores.faithfulness_bounds) == (0.5, (0.375, 0.625))
    assert scores.faithfulness_strict == pytest.approx(1 / 3)
    assert (scores.faithfulness_with_fallback, scores.contradiction_rate) == (None, 0)
    assert (scores.unsupported, result.status) == ((1, 2), Status.SCORED)


def test_a_fallback_verdict_is_shown_and_enters_no_headline() -> None:
    scores = answer("fcyN").scores
    assert (scores.judged, scores.unscored) == (2, 2)
    assert (scores.faithfulness, scores.faithfulness_bounds) == (0.5, (0.25, 0.75))
    assert (scores.faithfulness_with_fallback, scores.contradiction_rate) == (0.5, 0.5)
    assert scores.unsupported == (1, 3)
    # Where all fell back nothing is scored.
    scores = answer("yNN").scores
    assert (scores.faithfulness, scores.faithfulness_bounds) == (None, (0, 1))
    assert scores.faithfulness_with_fallback == pytest.approx(1 / 3)


def test_a_sentence_that_asserts_nothing_is_counted_and_left_out() -> None:
    scores = answer("f-?", "v x").scores
    assert (scores.claims, scores.judged, scores.no_claim, scores.unscored) == (3, 1, 1, 1)
    assert (scores.faithfulness, scores.faithfulness_bounds) == (1, (0.5, 1))
    assert scores.coverage == 0.5  # one of the two that are claims
    assert (scores.citation_recall, scores.unsupported) == (1, ())


STATUSES = {
    "": "no_claims", "h": "no_claims", "-": "no_claims", "ha": "abstained", "fa": "scored",
    "??": "unscored", "?a": "unscored", "-?": "unscored", "yNN": "unscored", "c-?": "scored",
}  # fmt: skip


def test_status() -> None:
    assert {marks: answer(marks).status.value for marks in STATUSES} == STATUSES


def test_nothing_measured_is_null_and_never_zero() -> None:
    scores = answer("a").scores
    counts = {"claims": 0, "judged": 0, "unscored": 0, "no_claim": 0, "unsupported": ()}
    assert scores.model_dump(include=set(counts)) == counts
    assert set(scores.model_dump(exclude=set(counts)).values()) == {None}
    # Without a verdict only what needs none has a value.
    scores = answer("??", "?").scores
    assert scores.faithfulness is scores.faithfulness_strict is scores.citation_recall is None
    assert scores.contradiction_rate is scores.citation_validity is None
    assert scores.faithfulness_bounds == scores.citation_validity_bounds == (0, 1)
    assert scores.coverage == 0.5
    # Without a citation there is nothing to be valid, and nothing is cited.
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


def test_a_result_holds_every_sentence_and_what_it_was_given() -> None:
    result = answer("f?h")
    assert [(each.index, each.start, each.text) for each in result.sentences] == [
        (i, i, "x") for i in range(3)
    ]
    expected = [outcome("f"), outcome("?"), Excluded()]
    assert [each.outcome for each in result.sentences] == expected
    assert (result.qid, result.signature, result.metadata) == ("q", "s", {"team": "网络"})
    assert result.flags == (FLAG,)


CLAIMS = st.text(alphabet="fpnc-?yN", max_size=12)


def counts(marks: str) -> Counts:
    made = Counts()
    for mark in marks:
        made.add(outcome(mark), cites=mark in "fy-")
    made.add(Excluded(), cites=True)
    return made


@pytest.mark.parametrize(
    ("marks", "judged", "mean", "limits", "with_fallback"),
    [
        ("fpn?", 3, 0.5, (0.375, 0.625), 0.5),
        ("fcyN", 2, 0.5, (0.25, 0.75), 0.5),
        ("f--", 1, 1, (1, 1), 1),
        ("fpn-?y", 3, 0.5, (0.3, 0.7), 0.625),
        ("--", 0, None, None, None),
        ("", 0, None, None, None),
        ("?y", 0, None, (0, 1), 1),
    ],
)
def test_counts_by_hand(
    marks: str,
    judged: int,
    mean: float | None,
    limits: tuple[float, float] | None,
    with_fallback: float | None,
) -> None:
    made = counts(marks)
    assert (made.claims, made.judged) == (len(marks), judged)
    assert (made.mean, made.bounds, made.mean_with_fallback) == (mean, limits, with_fallback)


@settings(deadline=None)
@given(CLAIMS, CLAIMS)
def test_counts_of_parts_add_up_to_those_of_all_and_every_claim_is_counted_once(
    one: str, other: str
) -> None:
    whole, merged = counts(one + other), counts(one)
    merged.merge(counts(other))
    assert merged == whole
    assert whole.judged + whole.failed + whole.no_claim == whole.claims == len(one + other)
    assert whole.cited == sum(mark in "fy" for mark in one + other)
    if whole.mean is not None and whole.bounds is not None:
        assert whole.bounds[0] <= whole.mean <= whole.bounds[1]
