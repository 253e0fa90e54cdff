"""The totals of a run for printing: its scores, and the table of quadrants."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain
from typing import Final, NamedTuple, TypeVar

from judge.messages import LANGUAGE, Messages
from judge.records import (
    ContextStatus,
    ContextTotals,
    CorpusBounds,
    CorpusScore,
    CorrectnessStatus,
    CorrectnessTotals,
    QuadrantTable,
    RelevanceStatus,
    RelevanceTotals,
    Spent,
    Summary,
)
from judge.records.result import QuadrantWord
from judge.records.run import RunRecord
from judge.records.summary import (
    ABSTAINING,
    CITING,
    COMPARED,
    CONTEXT,
    HALLUCINATING,
    OFFLINE,
    OVERALL,
    RELEVANCE,
)
from judge.scores.answer import SUPPORTING
from judge.scores.correctness import BY_CONTEXT, row_of
from judge.signature import Signature

_Status = TypeVar("_Status", ContextStatus, CorrectnessStatus, RelevanceStatus)

_FAITHFULNESS: Final = (
    "faithfulness",
    "faithfulness_strict",
    "faithfulness_with_fallback",
    *HALLUCINATING,
    "contradiction_rate",
    *CITING,
    *ABSTAINING,
)
_LLM_ONLY: Final = ("faithfulness_strict", "hallucination_rate_strict")
"""Scores that are left out for similarity, which has no label `partial`."""
_FALLBACK: Final = "_with_fallback"
_CORRECTNESS: Final = (*OVERALL, *COMPARED, f"f1{_FALLBACK}")
_NOUNS: Final = {
    "citation_validity": "citation",
    **dict.fromkeys(RELEVANCE, "part"),
    "context_recall": "claim",
    # Nothing to pool: of answers, and of rankings.
    **dict.fromkeys((*HALLUCINATING, *ABSTAINING, "context_precision")),
}

TRIAD: Final = "triad"
"""The title of the table of faithfulness, answer relevance and context."""
_IMPLIED: Final[frozenset[QuadrantWord]] = frozenset({"answerable", "answered"})
"""Words that the other words of a quadrant imply."""


class Headline(NamedTuple):
    """A score of a run."""

    label: str
    """The key of its name under `score` in the texts of `totals`."""
    score: CorpusScore | None
    """Null where nothing was measured."""
    bounds: CorpusBounds | None
    """The bounds that failures leave; null where there are no failures."""
    noun: str | None
    """The items of its pooled mean, a key under `counted`; null where there is nothing to pool."""


def score_tables(summary: Summary) -> Iterator[tuple[str, list[Headline]]]:
    """Yield the tables of scores: the key of each title, and the rows.

    Overall scores of correctness and relevance are left out if they equal the others. Where answer
    relevance and context were measured, one table has them and faithfulness.
    """
    compared, related, context = summary.correctness, summary.answer_relevance, summary.context
    offline = summary.by_similarity
    left_out = {
        *(() if any(summary.citations.values()) else CITING),
        *(_LLM_ONLY if offline else ()),
        *(name for name in (*HALLUCINATING, *ABSTAINING) if not getattr(summary, name)),
    }
    if not (summary.abstention_rate or summary.abstention_rate_unanswerable):
        left_out.update(ABSTAINING)
    names = [name for name in _FAITHFULNESS if name not in left_out]
    faithfulness = list(_headlines(summary, names, offline=offline))
    added: dict[str, list[Headline]] = {}
    if related is not None and any_but(related.statuses, RelevanceStatus.NO_QUERY):
        apart = is_apart(related.relevance_overall, related.relevance)
        names = list(RELEVANCE if apart else RELEVANCE[1:])
        added["relevance"] = list(_headlines(related, names, offline=False))
    if context is not None and any_but(context.statuses, ContextStatus.NO_REFERENCE):
        title = "looks_recalled" if offline else "context"
        added[title] = list(_headlines(context, CONTEXT, offline=offline))
    if len(added) > 1:
        yield TRIAD, [*faithfulness, *chain(*added.values())]
        added = {}
    else:
        yield "similarity" if offline else "faithfulness", faithfulness
    if scores := summary.citation_support:
        limits = summary.citation_support_bounds
        bounds = {name: _open(scores.get(name), limits.get(name)) for name in SUPPORTING}
        yield "support", [Headline(n, scores.get(n), bounds[n], "sentence") for n in SUPPORTING]
    if compared is not None and any_but(compared.statuses, CorrectnessStatus.NO_REFERENCE):
        apart = is_apart(compared.f1_overall, compared.f1)
        names = [name for name in _CORRECTNESS if apart or name not in OVERALL]
        title = "looks_correct" if offline else "correctness"
        yield title, list(_headlines(compared, names, offline=offline))
    yield from added.items()


def any_but(statuses: Mapping[_Status, int], status: _Status) -> bool:
    """Whether any answer has another status than this one."""
    return sum(statuses.values()) > statuses[status]


def is_apart(overall: CorpusScore | None, own: CorpusScore | None) -> bool:
    """Whether a score over all questions has more answers than that over the answered ones."""
    return overall is not None and (own is None or own.answers < overall.answers)


def _headlines(
    totals: Summary | CorrectnessTotals | RelevanceTotals | ContextTotals,
    names: Iterable[str],
    *,
    offline: bool,
) -> Iterator[Headline]:
    for name in names:
        score: CorpusScore | None = getattr(totals, name)
        if score is None and name.endswith(_FALLBACK):
            continue
        bounds = _open(score, getattr(totals, f"{name}_bounds", None))
        label = OFFLINE.get(name, name) if offline else name
        yield Headline(label, score, bounds, _NOUNS.get(name, "sentence"))


def _open(score: CorpusScore | None, bounds: CorpusBounds | None) -> CorpusBounds | None:
    """Return the bounds of a score if they differ from the score."""
    answers = score.answers if score else 0
    closed = bounds is None or (bounds.low >= bounds.high and bounds.answers == answers)
    return None if closed else bounds


def spent_lines(summary: Summary, record: RunRecord) -> Iterator[str]:
    """Yield what the run's calls took; of a resumed run, in this session and in all."""
    whole, earlier, say = summary, record.earlier, Messages.of("totals", "spent")
    if not (whole.calls or whole.cache_hits):
        return
    if earlier is None:
        yield _spent(whole, record.seconds)
        return
    yield say("session", spent=_spent(whole.since(earlier), record.seconds))
    yield say("whole", spent=_spent(whole))


def _spent(spent: Spent, seconds: float | None = None) -> str:
    say = Messages.of("totals", "spent")
    parts = [say("calls", count=spent.calls)]
    if seconds is not None:
        parts = [say("in", calls=parts[0], seconds=f"{seconds:,.1f}")]
    if spent.retries:
        parts.append(Messages.of("totals", "counted")("retry", count=spent.retries))
    parts.append(say("cached", count=spent.cache_hits))
    parts.append(say("tokens", prompt=spent.prompt_tokens, reply=spent.reply_tokens))
    if spent.cost is not None:
        cost = f"{spent.cost:,.2f}" if spent.cost >= 1 else f"{spent.cost:.4g}"
        parts.append(say("cost", cost=cost))
    return say("joint").join(parts)


class QuadrantLine(NamedTuple):
    """A quadrant in the table."""

    words: str
    """The words of the quadrant, without those that the others imply."""
    meaning: str
    """The meaning of the quadrant."""
    answers: int
    """The number of its answers."""
    share: str
    """The share of the answers of the table that are in this quadrant."""
    half: str
    """The half of the pipeline that failed."""


def quadrant_lines(summary: Summary, found: QuadrantTable) -> list[QuadrantLine]:
    """Return the quadrants of a run in the order of the table."""
    say, names = Messages.of("quadrants", "say"), Messages.of("quadrants", "word")
    implied = _IMPLIED if summary.correctness else _IMPLIED | {"uncompared"}
    return [
        QuadrantLine(
            words=say("joint").join(names(word) for word in cell.words if word not in implied),
            meaning=reading(cell.words),
            answers=cell.answers,
            share=f"{100 * cell.answers / found.counted:.1f} %",
            half=say(cell.half),
        )
        for cell in found.cells
    ]


def quadrant_notes(summary: Summary, found: QuadrantTable) -> Iterator[str]:
    """Yield the thresholds behind the table of quadrants, and what it does not show."""
    say = Messages.of("quadrants", "say")
    for made in map(Signature.parse, found.signatures):
        gold = made.part("gold")
        gold = say("by_context") if gold == BY_CONTEXT else gold
        yield say("limits", gold=gold, faithful=made.part("faithful"), correct=made.part("correct"))
    if found.counted and summary.by_similarity:
        yield say("similarity")
    if found.counted and not summary.correctness:
        yield say("uncompared")
    words = {word for cell in found.cells for word in cell.words}
    if "missed" in words and "retrieved" not in words:
        yield say("unfound")
    if found.without_gold:
        yield say("without_gold", answers=f"{found.without_gold:,}")
    if found.conflicting:
        yield say("conflicting", answers=f"{found.conflicting:,}")


def reading(words: Collection[QuadrantWord]) -> str:
    """Return the meaning of a quadrant."""
    row = row_of(words)
    return row.zh if LANGUAGE.get() == "zh" else row.en
