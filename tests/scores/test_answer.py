import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.records import (
    Citation,
    CitationStatus,
    Excluded,
    Flag,
    FlagName,
    JudgeOutcome,
    Sample,
    SampleResult,
    Sentence,
    SentenceKind,
    Status,
    Support,
    Unscored,
    UnscoredReason,
    Verdict,
)
from judge.scores.answer import Counts, aggregate
from tests.compared import outcome

TIMEOUT = Unscored(reason=UnscoredReason.TIMEOUT)
VALID, UNSUPPORTED = CitationStatus.VALID, CitationStatus.UNSUPPORTED
DANGLING, UNJUDGED = CitationStatus.DANGLING, CitationStatus.UNJUDGED


def said(support: str, cited: str | None = None) -> Verdict:
    return Verdict(
        support=Support(support),
        cited_support=Support(cited) if cited else None,
        source="llm",
        signature="s",
    )


def stood_in(support: str) -> Verdict:
    return Verdict(
        support=Support(support), source="similarity", signature="s", fallback_from=TIMEOUT
    )


def cite(sentence: int, status: CitationStatus | None, chunk_id: str | None = "a") -> Citation:
    return Citation(
        sentence=sentence, marker="[1]", start=0, end=3, chunk_id=chunk_id, status=status
    )


def put_together(
    *outcomes: JudgeOutcome, citations: tuple[Citation, ...] = (), kinds: tuple[str, ...] = ()
) -> SampleResult:
    """An answer of claims with these outcomes, and behind them sentences of these kinds."""
    texts = ["x" * (i + 1) for i in range(len(outcomes) + len(kinds))]
    every = ["claim"] * len(outcomes) + list(kinds)
    sentences = [
        Sentence(index=i, start=0, end=len(text), text=text, kind=SentenceKind(kind))
        for i, (text, kind) in enumerate(zip(texts, every, strict=True))
    ]
    sample = Sample(qid="q", metadata={"team": "网络"})
    flags = [Flag(name=FlagName.INJECTION_SUSPECTED)]
    return aggregate(
        sample, sentences, dict(enumerate(outcomes)), citations, flags=flags, signature="s"
    )


def test_the_worked_example() -> None:
    result = put_together(said("full"), said("partial"), said("none"), TIMEOUT)
    scores = result.scores
    assert (scores.claims, scores.judged, scores.unscored, scores.no_claim) == (4, 3, 1, 0)
    assert scores.faithfulness == 0.5
    assert scores.faithfulness_strict == pytest.approx(1 / 3)
    assert scores.faithfulness_bounds == (0.375, 0.625)
    assert scores.faithfulness_with_fallback is None
    assert scores.contradiction_rate == 0
    assert scores.unsupported == (1, 2)
    assert result.status is Status.SCORED


def test_a_fallback_verdict_is_shown_and_enters_no_headline() -> None:
    scores = put_together(
        said("full"), said("contradicted"), stood_in("full"), stood_in("none")
    ).scores
    assert (scores.judged, scores.unscored) == (2, 2)
    assert scores.faithfulness == 0.5
    assert scores.faithfulness_bounds == (0.25, 0.75)
    assert scores.faithfulness_with_fallback == 0.5
    assert scores.contradiction_rate == 0.5
    assert scores.unsupported == (1, 3)


def test_where_all_fell_back_nothing_is_scored() -> None:
    result = put_together(stood_in("full"), stood_in("none"), stood_in("none"))
    assert result.status is Status.UNSCORED
    assert result.scores.faithfulness is None
    assert result.scores.faithfulness_bounds == (0, 1)
    assert result.scores.faithfulness_with_fallback == pytest.approx(1 / 3)
    assert result.scores.unsupported == (1, 2)


def test_a_sentence_that_asserts_nothing_is_counted_and_left_out() -> None:
    scores = put_together(
        said("full", "full"),
        said("no_claim", "full"),
        TIMEOUT,
        citations=(cite(0, VALID), cite(1, None)),
    ).scores
    assert (scores.claims, scores.judged, scores.no_claim, scores.unscored) == (3, 1, 1, 1)
    assert scores.faithfulness == 1
    assert scores.faithfulness_bounds == (0.5, 1)
    assert scores.coverage == 0.5  # one of the two that are claims
    assert scores.citation_recall == 1
    assert scores.unsupported == ()


@pytest.mark.parametrize(
    ("outcomes", "kinds", "status"),
    [
        ((), (), "no_claims"),
        ((), ("heading", "pleasantry", "code"), "no_claims"),
        ((), ("heading", "abstention"), "abstained"),
        ((said("full"),), ("abstention",), "scored"),
        ((TIMEOUT, TIMEOUT), (), "unscored"),
        ((TIMEOUT,), ("abstention",), "unscored"),
        ((said("no_claim"),), (), "no_claims"),
        ((said("no_claim"), TIMEOUT), (), "unscored"),
        ((said("contradicted"), said("no_claim"), TIMEOUT), (), "scored"),
    ],
)
def test_status(outcomes: tuple[JudgeOutcome, ...], kinds: tuple[str, ...], status: str) -> None:
    assert put_together(*outcomes, kinds=kinds).status == status


def test_nothing_measured_is_null_and_never_zero() -> None:
    scores = put_together(kinds=("abstention",)).scores
    counts = {"claims", "judged", "unscored", "no_claim"}
    assert scores.model_dump(include={*counts, "unsupported"}) == {
        **dict.fromkeys(counts, 0),
        "unsupported": (),
    }
    assert set(scores.model_dump(exclude={*counts, "unsupported"}).values()) == {None}
    # Without a verdict only what needs none has a value.
    scores = put_together(TIMEOUT, TIMEOUT, citations=(cite(0, UNJUDGED),)).scores
    assert scores.faithfulness is scores.faithfulness_strict is scores.citation_recall is None
    assert scores.contradiction_rate is scores.citation_validity is None
    assert scores.faithfulness_bounds == scores.citation_validity_bounds == (0, 1)
    assert scores.coverage == 0.5


def test_citation_scores() -> None:
    """Four claims; three valid, one unsupported, one dangling, two unjudged citations."""
    result = put_together(
        said("full", "full"),
        said("full", "partial"),
        said("none"),
        TIMEOUT,
        citations=(
            cite(0, VALID),
            cite(0, VALID),
            cite(1, VALID),
            cite(1, UNSUPPORTED),
            cite(2, DANGLING, None),
            cite(3, UNJUDGED),
            cite(3, UNJUDGED),
            cite(4, None),  # in a heading: listed, not counted
        ),
        kinds=("heading",),
    )
    scores = result.scores
    assert scores.coverage == 0.75  # the third claim's only citation dangles
    assert scores.citation_validity == pytest.approx(3 / 5)
    assert scores.citation_validity_bounds == pytest.approx((3 / 7, 5 / 7))
    assert scores.citation_recall == pytest.approx(1 / 3)
    assert len(result.citations) == 8


def test_claims_without_citations_have_no_coverage_and_no_validity() -> None:
    scores = put_together(said("full"), said("full")).scores
    assert (scores.coverage, scores.citation_recall) == (0, 0)
    assert (scores.citation_validity, scores.citation_validity_bounds) == (None, None)


def test_a_result_holds_every_sentence_and_what_it_was_given() -> None:
    result = put_together(said("full"), TIMEOUT, kinds=("heading",))
    assert [sentence.text for sentence in result.sentences] == ["x", "xx", "xxx"]
    assert [sentence.outcome for sentence in result.sentences] == [
        said("full"),
        TIMEOUT,
        Excluded(),
    ]
    assert (result.qid, result.signature, result.metadata) == ("q", "s", {"team": "网络"})
    assert result.flags == (Flag(name=FlagName.INJECTION_SUSPECTED),)


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
