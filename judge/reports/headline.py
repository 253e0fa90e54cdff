"""The scores of a run for printing: a selection, their names, bounds and units."""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from judge.records import (
    CorpusBounds,
    CorpusScore,
    CorrectnessTotals,
    RelevanceTotals,
    Summary,
)
from judge.records.summary import (
    ABSTAINING,
    CITING,
    COMPARED,
    HALLUCINATING,
    OFFLINE,
    OVERALL,
)
from judge.scores.answer import SUPPORTING

_SCORES: Final = (
    "faithfulness",
    "faithfulness_strict",
    "faithfulness_with_fallback",
    *HALLUCINATING,
    "contradiction_rate",
    *CITING,
    *ABSTAINING,
)
# Similarity never says partial: strict would repeat the first.
_LLM_ONLY: Final = ("faithfulness_strict", "hallucination_rate_strict")
_FALLBACK: Final = "_with_fallback"
_AGREEING: Final = (*OVERALL, *COMPARED, f"f1{_FALLBACK}")
_RELATING: Final = ("relevance_overall", "relevance")
_NOUNS: Final = {
    "citation_validity": "citation",
    **dict.fromkeys(_RELATING, "part"),
    **dict.fromkeys((*HALLUCINATING, *ABSTAINING)),  # of answers: nothing to pool
}


class Headline(NamedTuple):
    """A score of a run."""

    label: str
    """The key of its name under `score` in the texts of `totals`."""
    score: CorpusScore | None
    """Null where nothing was measured."""
    bounds: CorpusBounds | None
    """What failures leave open; None where they leave nothing open."""
    noun: str | None
    """The unit over which it is pooled, a key under `counted`; None for a share of answers."""


def headlines(summary: Summary) -> list[Headline]:
    """The scores of the answers themselves; those that mean nothing here are left out."""
    left_out = {
        *(() if any(summary.citations.values()) else CITING),
        *(_LLM_ONLY if summary.by_similarity else ()),
        *(name for name in (*HALLUCINATING, *ABSTAINING) if not getattr(summary, name)),
    }
    if not (summary.abstention_rate or summary.abstention_rate_unanswerable):
        left_out.update(ABSTAINING)
    names = (name for name in _SCORES if name not in left_out)
    return list(_told(summary, names, offline=summary.by_similarity))


def correctness_headlines(totals: CorrectnessTotals, *, offline: bool) -> list[Headline]:
    """The scores of correctness; overall scores only where they differ."""
    apart = is_apart(totals.f1_overall, totals.f1)
    names = (name for name in _AGREEING if apart or name not in OVERALL)
    return list(_told(totals, names, offline=offline))


def relevance_headlines(totals: RelevanceTotals) -> list[Headline]:
    """The scores of answer relevance; the overall score only where it differs."""
    apart = is_apart(totals.relevance_overall, totals.relevance)
    return list(_told(totals, _RELATING if apart else _RELATING[1:], offline=False))


def support_headlines(summary: Summary) -> list[Headline]:
    """TREC RAG's measures of citations; none where no answer cites."""
    scores, limits = summary.citation_support, summary.citation_support_bounds
    return [
        Headline(name, scores.get(name), _open(scores.get(name), limits.get(name)), "sentence")
        for name in SUPPORTING
        if scores
    ]


def is_apart(overall: CorpusScore | None, own: CorpusScore | None) -> bool:
    """Whether a score over all questions is over more answers than that over the answered."""
    return overall is not None and (own is None or own.answers < overall.answers)


def _told(
    totals: Summary | CorrectnessTotals | RelevanceTotals, names: Iterable[str], *, offline: bool
) -> Iterator[Headline]:
    for name in names:
        score: CorpusScore | None = getattr(totals, name)
        if score is None and name.endswith(_FALLBACK):
            continue
        bounds = _open(score, getattr(totals, f"{name}_bounds", None))
        label = OFFLINE.get(name, name) if offline else name
        yield Headline(label, score, bounds, _NOUNS.get(name, "sentence"))


def _open(score: CorpusScore | None, bounds: CorpusBounds | None) -> CorpusBounds | None:
    """The bounds of a score where they leave something open."""
    answers = score.answers if score else 0
    closed = bounds is None or (bounds.low >= bounds.high and bounds.answers == answers)
    return None if closed else bounds
