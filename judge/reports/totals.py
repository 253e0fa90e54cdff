"""The totals of a run for printing: its scores, and the table of quadrants."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Final, Literal, NamedTuple, TypeVar

from judge.messages import LANGUAGE, Messages
from judge.records import (
    ContextStatus,
    ContextTotals,
    CorpusBounds,
    CorpusScore,
    CorrectnessStatus,
    CorrectnessTotals,
    QuadrantCount,
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
from judge.scores.correctness import BY, BY_CONTEXT, row_of
from judge.signature import Signature
from judge.text.visible import clip, counted, flat

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
IN_PART: Final = ("generation", "unknown")
"""Halves of a RAG in whose quadrants it matters that part of the evidence was missed."""
OPEN: Final = "open"
NOT_ASKED: Final = "not_asked"
_CELLS: Final[dict[QuadrantWord, tuple[str, str]]] = {
    "retrieved": ("retrieved", "yes"),
    "missed": ("retrieved", "no"),
    "faithful": ("faithful", "yes"),
    "unfaithful": ("faithful", "no"),
    "unjudged": ("faithful", OPEN),
    "correct": ("correct", "yes"),
    "wrong": ("correct", "no"),
    "uncompared": ("correct", OPEN),
    "abstained": ("abstained", "yes"),
    "silent": ("abstained", "silent"),
    "beside": ("beside", "yes"),
    "answered": ("abstained", "no"),
}
"""The column that each word fills, and the text there. Other columns of a quadrant do not apply."""
_IMPLIED: Final[frozenset[QuadrantWord]] = frozenset({"answerable", "answered"})
"""Words that the other words of a quadrant imply."""
_LIMITS: Final = ("faithful", "correct", "gold")
"""Parts of a signature that are printed below the table."""
_MAX_QIDS: Final = 3
_MAX_QID: Final = 40


class Headline(NamedTuple):
    """A score of a run."""

    label: str
    """The key of its name under `score` in the texts of `totals`."""
    score: CorpusScore | None
    """Null where nothing was measured."""
    bounds: CorpusBounds | None
    """The bounds that failures leave; null where there are no failures."""
    noun: str | None
    """What it is a mean of in total, a key under `counted`; null where it has no total."""


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
    whole, earlier, say = summary.spent, record.earlier, Messages.of("totals", "spent")
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


class Note(NamedTuple):
    """A line below the table of quadrants."""

    text: str
    """In the table's language."""
    weight: Literal["total", "aside", "plain", "caution"]
    """The kind of the line."""


class CellTable:
    """The quadrants of a run in words."""

    def __init__(self, summary: Summary, found: QuadrantTable) -> None:
        self._found, self._offline = found, summary.by_similarity
        there = {word for cell in found.cells for word in cell.words}
        has_words = not there.isdisjoint({"correct", "wrong"})
        self._compared = has_words or summary.correctness is not None
        optional = {"correct": self._compared, "beside": "beside" in there}
        columns = ("retrieved", "faithful", "correct", "abstained", "beside")
        self.columns = [name for name in columns if optional.get(name, True)]
        """The columns of the table."""
        made = {Signature.parse(each).part("gold") for each in found.signatures}
        self._has_context = BY_CONTEXT in made
        missed = "answerable" in there and "retrieved" not in there
        self._unfound = missed and not self._has_context

    def words(self, key: str, **values: object) -> str:
        """Return the text of a key."""
        return Messages.of("quadrants", "say")(key, **values)

    @property
    def title(self) -> str:
        """The title of the table."""
        found = self._found
        answers = f"{found.counted:,}"
        if LANGUAGE.get() == "en":
            answers = counted(found.counted, "answer")
        return self.words("title_context" if self._has_context else "title", counted=answers)

    def signs(self, cell: QuadrantCount) -> list[str]:
        """Return the text of each column: keys of `words`, `NOT_ASKED`, or an empty text."""
        filled = dict(_CELLS[word] for word in cell.words if word in _CELLS)
        # Whether an answer is beside the question is not asked of an abstention.
        answered = "answered" in cell.words
        return [
            filled.get(name, "" if name == "beside" and answered else NOT_ASKED)
            for name in self.columns
        ]

    def share(self, cell: QuadrantCount) -> str:
        """Return the quadrant's share of the answers in the table."""
        return f"{100 * cell.answers / self._found.counted:.1f} %"

    def means(self, cell: QuadrantCount) -> str:
        """Return the meaning of a quadrant, with the first qids in it."""
        qids = _first_qids(cell.qids, cell.answers)
        means = self.words("means", reading=reading(cell.words), qids=qids)
        if cell.partly and cell.half in IN_PART:
            means = self.words("partly", means=means, partly=f"{cell.partly:,}")
        return means

    def asked(self, words: Sequence[QuadrantWord]) -> str:
        """Return the words of a quadrant for `judge show --cell`, without the implied ones."""
        implied = _IMPLIED if self._compared else _IMPLIED | {"uncompared"}
        return ",".join(word for word in words if word not in implied)

    def legend(self, not_asked: str) -> str:
        """Explain the marks that the columns contain."""
        shown = {sign for cell in self._found.cells for sign in self.signs(cell)}
        marks = {OPEN: (self.words(OPEN), "not_known"), NOT_ASKED: (not_asked, NOT_ASKED)}
        legend = (
            f"{mark} {self.words(key)}" for key_, (mark, key) in marks.items() if key_ in shown
        )
        return "  ".join(legend)

    def notes(self) -> Iterator[Note]:
        """Yield the totals, the limits and judge behind the table, and its gaps."""
        found = self._found
        halves = {half: f"{count:,}" for half, count in found.halves.items()}
        yield Note(self.words("total", **halves), "total")
        signatures = list(map(Signature.parse, found.signatures))
        key = "limits_compared" if self._compared else "limits"
        limits = [
            {name: made.part(name) or self.words(OPEN) for name in _LIMITS} for made in signatures
        ]
        for parts in limits:
            if parts["gold"] == BY_CONTEXT:
                parts["gold"] = self.words("by_context", correct=parts["correct"])
        for line in dict.fromkeys(self.words(key, **parts) for parts in limits):
            yield Note(line, "aside")
        if self._offline:
            yield Note(self.words("similarity"), "aside")
        if not self._compared:
            yield Note(self.words("uncompared"), "plain")
        if self._unfound:
            by_document = all(made.part("gold") == "prefix" for made in signatures)
            yield Note(self.words("unfound_prefix" if by_document else "unfound"), "caution")

    def left_out(self) -> Iterator[Note]:
        """Yield notes on answers in no quadrant, and on gold that names two things."""
        found = self._found
        if found.without_gold:
            key = "without_context" if self._has_context else "without_gold"
            yield Note(self.words(key, answers=f"{found.without_gold:,}"), "aside")
        if found.conflicting:
            qids = _first_qids(found.conflicting_qids, found.conflicting)
            said = self.words("conflicting", answers=f"{found.conflicting:,}", qids=qids)
            yield Note(said, "caution")
        made = found.signatures.items()
        if differing := sum(count for each, count in made if Signature.parse(each).part(BY)):
            yield Note(self.words("differing", answers=f"{differing:,}"), "caution")


def reading(words: Collection[QuadrantWord]) -> str:
    """Return the meaning of a quadrant."""
    row = row_of(words)
    return row.zh if LANGUAGE.get() == "zh" else row.en


def _first_qids(qids: Sequence[str], answers: int) -> str:
    """Return the first qids on one line."""
    few = [clip(flat(qid), _MAX_QID) for qid in qids[:_MAX_QIDS]]
    return ", ".join([*few, "…"] if answers > len(few) else few)
