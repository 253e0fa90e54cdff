"""How far citations support what cites them, by the measures of TREC RAG's support evaluation."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from judge.records import Citation, CitationStatus, SentenceResult, Support, Verdict

SUPPORTING: Final = ("support_weighted_precision", "support_weighted_recall")
"""The measures, in the order in which they are shown."""
_Weight = tuple[float, float | None, float]
"""The least that it may be, what it is, the most; None where a failure hides it."""
_FULL: Final[_Weight] = (1, 1, 1)
_PARTIAL: Final[_Weight] = (0.5, 0.5, 0.5)
_NOTHING: Final[_Weight] = (0, 0, 0)
_FAILED: Final[_Weight] = (0, None, 1)
_AMONG: Final[_Weight] = (0.5, 1, 1)
"""The weight of one of several citations that together support a sentence in full."""


class Supported(NamedTuple):
    """A measure of one answer."""

    value: float | None
    """From 0 to 1; None where it cites, and no citation has a verdict."""
    weight: float
    """What its sentences bring, added up."""
    items: int
    """The number of sentences in the measure."""
    limits: tuple[float, float] | None
    """The value with everything that is not known counted least, then most."""


def citation_support(
    sentences: Sequence[SentenceResult], citations: Iterable[Citation]
) -> dict[str, Supported]:
    """Weighted precision and recall of support, of the first citation of each sentence.

    A citation weighs 1 for full support by its chunk, ½ for partial, 0 for none. Precision is the
    sum of weights ÷ sentences that cite, recall the same sum ÷ all sentences, of whatever kind.
    Source: Thakur et al. 2025, Support Evaluation for the TREC 2024 RAG Track, arXiv:2504.15205,
    3.2–3.4 (their example is .75 and .5); the edge cases are those of RAGDoll, a public scorer of
    the track (`support/metrics.py`).

    A sentence without a citation counts 0 in recall and is left out of precision. An answer without
    citations, or without sentences, has 0 in both. A citation without a verdict, or in a sentence
    that is no claim, does not count 0: its sentence leaves both denominators, and an answer without
    any other sentence has None (RAGDoll: 0). A citation that names no chunk weighs 0 (RAGDoll
    refuses the answer).

    A verdict has one label for all cited chunks of a sentence together (`cited_support`) and lists
    the chunks that support it. If one cited chunk supports it, that chunk has the label. If several
    do, each may support only a part: each counts as `full`, and the limits count it as partial.
    """
    cited = defaultdict[int, list[Citation]](list)
    for each in citations:
        cited[each.sentence].append(each)
    citing = [_weigh(each, cited[each.index]) for each in sentences if each.index in cited]
    first = [weight for weight in citing if weight is not None]
    silent = len(sentences) - len(citing)
    return {
        name: _measured(first, others, cites=bool(citing))
        for name, others in zip(SUPPORTING, (0, silent), strict=True)
    }


def _weigh(sentence: SentenceResult, cited: Sequence[Citation]) -> _Weight | None:
    """How far the first citation supports its sentence; None where that is no claim."""
    outcome = sentence.outcome
    own = outcome.cited_support if isinstance(outcome, Verdict) else None
    holding = {each.chunk_id for each in cited if each.status is CitationStatus.VALID}
    full = _AMONG if len(holding) > 1 else _FULL
    weights = {
        CitationStatus.VALID: full if own is Support.FULL else _PARTIAL,
        CitationStatus.UNJUDGED: _FAILED,
    }
    statuses = [each.status for each in cited if each.status is not None]
    return weights.get(statuses[0], _NOTHING) if statuses else None


def _measured(rows: Sequence[_Weight], others: int, *, cites: bool) -> Supported:
    """Return a measure over these sentences and a number of others that weigh nothing."""
    known = [own for _, own, _ in rows if own is not None]
    items, whole, nothing = len(known) + others, len(rows) + others, None if cites else 0.0
    limits = nothing if nothing is None else (nothing, nothing)
    if whole:
        low, high = sum([least for least, _, _ in rows]), sum([most for _, _, most in rows])
        limits = low / whole, high / whole
    weight = float(sum(known))
    return Supported(weight / items if items else nothing, weight, items, limits)
