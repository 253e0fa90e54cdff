"""Audits citations: gives each a status by the verdict on its sentence, and a reason."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from judge.messages import Messages, language_of
from judge.records import (
    SUPPORTED,
    Citation,
    CitationStatus,
    JudgeOutcome,
    JudgeRequest,
    Support,
    Unscored,
    Verdict,
    failure_of,
)
from judge.text.visible import flat


class _Finding(NamedTuple):
    """The consequence of a sentence's outcome for the chunks that it cites."""

    why: str
    """The message for a citation that is not valid."""
    valid: frozenset[str] = frozenset()
    """The cited chunks that support the sentence."""
    suggested: str | None = None
    """The first supporting chunk that the sentence does not cite."""
    failure: Unscored | None = None
    """The reason for which the run's own judge gave no verdict."""


def audit(
    citations: Sequence[Citation], outcomes: Mapping[int, JudgeOutcome], asked: JudgeRequest
) -> tuple[Citation, ...]:
    """Give every citation in a judged sentence its status, a reason, and a better chunk if any.

    `valid`: its chunk is in the verdict's `supporting`; or no cited chunk is, and `cited_support`
    is full or partial, so that the cited chunks together support the sentence. No citation is
    valid under `contradicted`, or under a language model's `none`. `dangling`: it resolves to no
    chunk, whatever the verdict. `unjudged`: there is no verdict, or only that of a fallback. All
    others are `unsupported`. Citations in a sentence without an outcome, or with `no_claim`, keep
    status null and are not counted.
    """
    cited = defaultdict[int, set[str]](set)
    for each in citations:
        cited[each.sentence].update([] if each.chunk_id is None else [each.chunk_id])
    findings = {index: _finding(outcomes.get(index), chunks) for index, chunks in cited.items()}
    # Once a sentence, because a sentence may have 50,000 citations.
    languages = {index: language_of(asked.claim(index)) for index in cited}

    def audited(citation: Citation) -> Citation:
        finding = findings[citation.sentence]
        if finding is None or citation.chunk_id in finding.valid:
            status = None if finding is None else CitationStatus.VALID
            return citation.model_copy(update={"status": status, "suggested": None, "reason": ""})
        key, values = finding.why, dict[str, object]()
        status = CitationStatus.UNSUPPORTED
        if citation.chunk_id is None:
            status, (key, values) = CitationStatus.DANGLING, _dangling(citation, asked)
        elif finding.failure is not None:
            status = CitationStatus.UNJUDGED
            values = {"failure": finding.failure.reason.value.replace("_", " ")}
        reason = Messages.of("citations")(key, languages[citation.sentence], **values)
        update = {"status": status, "suggested": finding.suggested, "reason": reason}
        return citation.model_copy(update=update)

    return tuple(map(audited, citations))


def _finding(outcome: JudgeOutcome | None, cited: set[str]) -> _Finding | None:
    """Return the finding of a sentence; None where its citations are not counted."""
    if (failure := failure_of(outcome)) is not None:
        return _Finding("failed", failure=failure)
    if not isinstance(outcome, Verdict) or outcome.support is Support.NO_CLAIM:
        return None
    if outcome.support is Support.CONTRADICTED:
        return _Finding("contradicted")
    # Similarity never says `partial`, so a sentence that it calls `none` may hold in part.
    if outcome.support is Support.NONE and (outcome.source == "llm" or not outcome.supporting):
        return _Finding("unsupported")
    valid = cited.intersection(outcome.supporting)
    if outcome.cited_support in SUPPORTED and not valid:
        valid = cited
    better = next((chunk for chunk in outcome.supporting if chunk not in cited), None)
    return _Finding("alone", frozenset(valid), better)


def _dangling(citation: Citation, asked: JudgeRequest) -> tuple[str, dict[str, object]]:
    """Return the key and values of the message that says what the marker could have named."""
    chunks = asked.chunks
    if not chunks:
        return "none", {}
    first = flat(chunks[0].chunk_id)
    if citation.start == citation.end:
        return "listed", {"first": first, "last": len(chunks) - 1}
    if any(map(str.isalpha, citation.marker)):
        return "unknown", {"first": first}
    return "number", {"count": len(chunks)}
