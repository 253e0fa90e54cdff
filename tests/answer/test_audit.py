import pytest

from judge.answer.audit import audit
from judge.records import Citation, CitationStatus, JudgeOutcome, Support, Unscored, Verdict
from judge.records.verdict import UnscoredReason

VALID, UNSUPPORTED = CitationStatus.VALID, CitationStatus.UNSUPPORTED
DANGLING, UNJUDGED = CitationStatus.DANGLING, CitationStatus.UNJUDGED
TIMEOUT = Unscored(reason=UnscoredReason.TIMEOUT)


def verdict(
    support: Support,
    *supporting: str,
    cited: Support | None = None,
    fallback_from: Unscored | None = None,
) -> Verdict:
    return Verdict(
        support=support,
        supporting=supporting,
        cited_support=cited,
        source="llm",
        signature="s",
        fallback_from=fallback_from,
    )


def audited(
    outcome: JudgeOutcome | None, *chunk_ids: str | None
) -> list[tuple[CitationStatus | None, str | None]]:
    citations = [
        Citation(sentence=4, marker="[x]", start=i, end=i + 3, chunk_id=chunk_id)
        for i, chunk_id in enumerate(chunk_ids)
    ]
    found = audit(citations, {} if outcome is None else {4: outcome})
    assert [(c.start, c.chunk_id) for c in found] == [(c.start, c.chunk_id) for c in citations]
    return [(c.status, c.suggested) for c in found]


FULL, PARTIAL, NONE = Support.FULL, Support.PARTIAL, Support.NONE
CONTRADICTED, NO_CLAIM = Support.CONTRADICTED, Support.NO_CLAIM


def test_a_supporting_chunk_is_valid_and_another_is_not() -> None:
    assert audited(verdict(FULL, "a", cited=FULL), "a", "b") == [(VALID, None), (UNSUPPORTED, None)]


def test_the_first_uncited_supporting_chunk_is_suggested() -> None:
    outcome = verdict(PARTIAL, "a", "c", "d")
    assert audited(outcome, "a", "b", None) == [(VALID, None), (UNSUPPORTED, "c"), (DANGLING, "c")]


@pytest.mark.parametrize(
    ("cited", "status"),
    [(FULL, VALID), (PARTIAL, VALID), (NONE, UNSUPPORTED), (CONTRADICTED, UNSUPPORTED)],
)
def test_the_only_citation_stands_with_the_cited_support(
    cited: Support, status: CitationStatus
) -> None:
    assert audited(verdict(FULL, cited=cited), "b") == [(status, None)]


def test_the_same_chunk_twice_is_still_the_only_one() -> None:
    assert audited(verdict(FULL, cited=FULL), "b", "b") == [(VALID, None), (VALID, None)]


def test_a_dangling_neighbour_leaves_it_the_only_one() -> None:
    assert audited(verdict(FULL, "c", cited=FULL), "b", None) == [(VALID, None), (DANGLING, "c")]


def test_cited_support_says_nothing_of_one_among_several() -> None:
    outcome = verdict(FULL, cited=FULL)
    assert audited(outcome, "a", "b") == [(UNSUPPORTED, None), (UNSUPPORTED, None)]


@pytest.mark.parametrize("support", [CONTRADICTED, NONE])
def test_nothing_is_valid_or_suggested_where_nothing_supports(support: Support) -> None:
    outcome = verdict(support, "a", "c", cited=FULL)
    assert audited(outcome, "a") == [(UNSUPPORTED, None)]
    assert audited(outcome, None) == [(DANGLING, None)]


def test_no_verdict_leaves_it_unjudged() -> None:
    assert audited(TIMEOUT, "a", None) == [(UNJUDGED, None), (DANGLING, None)]


@pytest.mark.parametrize("support", [FULL, NO_CLAIM])
def test_a_fallback_verdict_leaves_it_unjudged(support: Support) -> None:
    outcome = verdict(support, "a", "b", cited=FULL, fallback_from=TIMEOUT)
    assert audited(outcome, "a", None) == [(UNJUDGED, None), (DANGLING, None)]


def test_no_claim_is_listed_and_never_counted() -> None:
    assert audited(verdict(NO_CLAIM, "a"), "a", None) == [(None, None), (None, None)]


def test_a_sentence_that_was_not_asked_is_listed_and_never_counted() -> None:
    assert audited(None, "a", None) == [(None, None), (None, None)]


def test_sentences_do_not_mix() -> None:
    citations = [
        Citation(sentence=s, marker="[1]", start=s, end=s + 3, chunk_id="a") for s in (0, 1)
    ]
    outcomes = {0: verdict(FULL, "a"), 1: verdict(FULL, "b")}
    assert [(c.status, c.suggested) for c in audit(citations, outcomes)] == [
        (VALID, None),
        (UNSUPPORTED, "b"),
    ]


def test_nothing_to_audit() -> None:
    assert audit((), {}) == ()
