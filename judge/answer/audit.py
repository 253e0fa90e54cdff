"""The audit of citations: whether the verdicts bear them out, and why where they do not."""

from collections.abc import Mapping, Sequence
from functools import cache
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


class _Held(NamedTuple):
    """What the outcome of a sentence says of the chunks it cites."""

    valid: frozenset[str]
    """Those that bear it out."""
    suggested: str | None
    """The first supporting chunk that it does not cite."""
    failure: Unscored | None
    """Why no verdict of the run's own judge says anything."""
    why: str
    """What is wrong with the others, as a key of the messages."""


def audit(
    citations: Sequence[Citation], outcomes: Mapping[int, JudgeOutcome], asked: JudgeRequest
) -> tuple[Citation, ...]:
    """Give every citation in a judged sentence its status, and a better chunk where there is one.

    `valid`: its chunk is in the verdict's `supporting`; or none of the cited chunks is, and
    `cited_support` is full or partial: together they support the sentence. Never under
    `contradicted`, and under a language model's `none`. `dangling`: it resolves to no chunk,
    whatever the verdict. `unjudged`: no verdict, or that of a fallback. Else `unsupported`.
    `suggested` is the first supporting chunk that the sentence does not cite, `reason` says why a
    citation is not valid.

    A sentence that has no outcome is no claim, one with `no_claim` asserts nothing: their citations
    keep status null, listed and never counted.
    """
    cited: dict[int, set[str]] = {}
    for citation in citations:
        found = cited.setdefault(citation.sentence, set())
        if citation.chunk_id is not None:
            found.add(citation.chunk_id)
    held = {index: _held(outcomes.get(index), named) for index, named in cited.items()}
    texts = _Reasons(asked)
    return tuple(
        citation.model_copy(update=_judged(citation, held[citation.sentence], texts))
        for citation in citations
    )


def _held(outcome: JudgeOutcome | None, cited: set[str]) -> _Held | None:
    """Null for a sentence whose citations are not counted."""
    nothing = frozenset[str]()
    failure = failure_of(outcome)
    if failure is not None:
        return _Held(nothing, None, failure, "failed")
    if not isinstance(outcome, Verdict) or outcome.support is Support.NO_CLAIM:
        return None
    if outcome.support is Support.CONTRADICTED:
        return _Held(nothing, None, None, "contradicted")
    # The others never say partial: what they call none may hold in part.
    if outcome.support is Support.NONE and (outcome.source == "llm" or not outcome.supporting):
        return _Held(nothing, None, None, "unsupported")
    valid = cited.intersection(outcome.supporting)
    # What the judge says of the cited chunks together it says of each, unless one holds alone.
    if outcome.cited_support in SUPPORTED and not valid:
        valid = cited
    better = next((chunk for chunk in outcome.supporting if chunk not in cited), None)
    return _Held(frozenset(valid), better, None, "alone")


def _judged(citation: Citation, held: _Held | None, texts: "_Reasons") -> dict[str, object]:
    if held is None:
        return {"status": None, "suggested": None, "reason": ""}
    if citation.chunk_id is None:
        status, why = CitationStatus.DANGLING, texts.dangling(citation)
    elif held.failure is not None:
        failure = held.failure.reason.value.replace("_", " ")
        status, why = CitationStatus.UNJUDGED, texts.say(citation, "failed", failure=failure)
    elif citation.chunk_id in held.valid:
        return {"status": CitationStatus.VALID, "suggested": None, "reason": ""}
    else:
        status, why = CitationStatus.UNSUPPORTED, texts.say(citation, held.why)
    return {"status": status, "suggested": held.suggested, "reason": why}


class _Reasons:
    """Why citations are not valid, in the language of their sentences."""

    def __init__(self, asked: JudgeRequest) -> None:
        self._asked = asked
        self._messages = Messages.of("citations")
        self._language = cache(lambda index: language_of(asked.claim(index)))

    def say(self, citation: Citation, key: str, **values: object) -> str:
        return self._messages(key, self._language(citation.sentence), **values)

    def dangling(self, citation: Citation) -> str:
        chunks = self._asked.chunks
        if not chunks:
            return self.say(citation, "none")
        if citation.start == citation.end:
            first, last = flat(chunks[0].chunk_id), len(chunks) - 1
            return self.say(citation, "listed", first=first, last=last)
        if any(map(str.isalpha, citation.marker)):
            return self.say(citation, "unknown", first=flat(chunks[0].chunk_id))
        return self.say(citation, "number", count=len(chunks))
