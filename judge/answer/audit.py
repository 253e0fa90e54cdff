"""Hold each citation against what the judge said of its sentence."""

from collections.abc import Mapping, Sequence

from judge.records import (
    SUPPORTED,
    Citation,
    CitationStatus,
    JudgeOutcome,
    Support,
    Verdict,
)


def audit(
    citations: Sequence[Citation], outcomes: Mapping[int, JudgeOutcome]
) -> tuple[Citation, ...]:
    """Give every citation in a judged sentence its status, and a better chunk where there is one.

    `valid`: its chunk is in the verdict's `supporting`, or is the only chunk the sentence cites
    and `cited_support` is full or partial; never under `contradicted` or `none`. `dangling`: it
    resolves to no chunk, whatever the verdict. `unjudged`: no verdict, or that of a fallback.
    Else `unsupported`. `suggested` is the first supporting chunk that the sentence does not cite.

    Args:
        citations: as found, in any order.
        outcomes: by sentence index. A sentence that is absent is no claim, one with `no_claim`
            asserts nothing: their citations keep status null, listed and never counted.

    Returns:
        The same citations in the same order.
    """
    cited: dict[int, set[str]] = {}
    for citation in citations:
        found = cited.setdefault(citation.sentence, set())
        if citation.chunk_id is not None:
            found.add(citation.chunk_id)
    return tuple(
        _audited(citation, outcomes.get(citation.sentence), cited[citation.sentence])
        for citation in citations
    )


def _audited(citation: Citation, outcome: JudgeOutcome | None, cited: set[str]) -> Citation:
    verdict = outcome if isinstance(outcome, Verdict) and outcome.fallback_from is None else None
    if outcome is None or (verdict is not None and verdict.support is Support.NO_CLAIM):
        return citation.model_copy(update={"status": None, "suggested": None})
    status = _status(citation, verdict, cited)
    suggested = None
    if verdict is not None and verdict.support in SUPPORTED and status is not CitationStatus.VALID:
        suggested = next((chunk for chunk in verdict.supporting if chunk not in cited), None)
    return citation.model_copy(update={"status": status, "suggested": suggested})


def _status(citation: Citation, verdict: Verdict | None, cited: set[str]) -> CitationStatus:
    if citation.chunk_id is None:
        return CitationStatus.DANGLING
    if verdict is None:
        return CitationStatus.UNJUDGED
    if verdict.support not in SUPPORTED:
        return CitationStatus.UNSUPPORTED
    # What the judge says of "the cited chunks" says it of this one only where there is no other.
    alone = len(cited) == 1 and verdict.cited_support in SUPPORTED
    if citation.chunk_id in verdict.supporting or alone:
        return CitationStatus.VALID
    return CitationStatus.UNSUPPORTED
