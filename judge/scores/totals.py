"""Adds results up to the totals of a run, one at a time, in constant memory.

All sums are whole numbers, so results in any order have exactly the same totals.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from enum import StrEnum
from typing import Any, Final, Literal, get_args

from judge.records import (
    AnswerRelevance,
    CitationStatus,
    ContextStatus,
    ContextTotals,
    CorpusBounds,
    CorpusScore,
    CorrectnessStatus,
    CorrectnessTotals,
    Flag,
    FlagName,
    QuadrantCount,
    QuadrantTable,
    RelevanceStatus,
    RelevanceTotals,
    RepeatTotals,
    SampleResult,
    SentenceKind,
    Spent,
    Status,
    Summary,
    Support,
    UnscoredReason,
    Verdict,
)
from judge.records.result import Half, QuadrantWord
from judge.records.summary import (
    ABSTAINING,
    COMPARED,
    CONTEXT,
    HALLUCINATING,
    OVERALL,
    RELEVANCE,
)
from judge.scores.answer import (
    CLAIMING,
    PAIRS,
    SUPPORTING,
    Counts,
    conflicting,
    counts_of,
    measures_of,
    share,
)
from judge.scores.correctness import f1, row_of, table
from judge.scores.intervals import StreamedMeans

MIN_UNSCORED: Final = 3
"""A run with fewer failures than this is trusted whatever their share."""


def is_untrusted(failed: int, whole: int, most: float) -> bool:
    """Return whether the share of failures exceeds `most` and there are at least three."""
    return failed >= MIN_UNSCORED and (share(failed, whole) or 0) > most


MAX_UNSCORED: Final = 0.05
"""A run with a larger share of unscored claims is not to be trusted."""

_TICKS_PER_SECOND: Final = 2**64
"""All times over 2⁻¹² s are whole numbers of ticks, and add up exactly."""

_REPEATED: Final = "|repeat:"
"""Part of the signature of a judge that asks again."""
_SPENT: Final = ("calls", "retries", "cache_hits", "prompt_tokens", "reply_tokens")
_REPEATS: Final = ("asked_again", "compared", "flipped", "changed")
_ANY: Final = "faithfulness_with_fallback"
_F1_BY_ANY: Final = "f1_with_fallback"
_BOUNDED: Final = (
    "faithfulness",
    "faithfulness_strict",
    _ANY,
    *HALLUCINATING,
    "contradiction_rate",
    "citation_recall",
    "citation_validity",
)
_WITHOUT_FALLBACK: Final = tuple(each for each in _BOUNDED if each != _ANY)
_COMPARED: Final = (*COMPARED, *OVERALL)

_Cell = tuple[QuadrantWord, ...] | Literal["conflicting", "without_gold"]
"""The words of a quadrant, or why an answer is in none."""


def summarize(results: Iterable[SampleResult], *, max_unscored: float = MAX_UNSCORED) -> Summary:
    """Return the totals of results, each qid once: means, bounds, intervals and counts.

    A run is untrusted if a larger share of its claims than `max_unscored` is unscored.
    """
    totals = Totals(max_unscored=max_unscored)
    for result in results:
        totals.add(result)
    return totals.summary()


class Totals:
    """The totals of the results added so far.

    A run is untrusted if a larger share of its claims than `max_unscored` is unscored. In a run
    with a budget (`limited`), claims that were left out for it do not count.
    """

    def __init__(self, *, max_unscored: float = MAX_UNSCORED, limited: bool = False) -> None:
        self._max_unscored = max_unscored
        self._limited = limited
        scores = (*CLAIMING, *HALLUCINATING, *ABSTAINING, *SUPPORTING, *_COMPARED, _F1_BY_ANY)
        bounded = (*_BOUNDED, *SUPPORTING, *_COMPARED, *RELEVANCE, *CONTEXT)
        sides = (f"{name}.{side}" for name in bounded for side in ("low", "high"))
        self._means = StreamedMeans((*scores, *RELEVANCE, *CONTEXT, *sides))
        self._counted: defaultdict[str, Counter[Any]] = defaultdict(Counter)
        """Counts by subject, such as `statuses`, then by value."""
        self._pools: defaultdict[str, Counts] = defaultdict(Counts)
        """Outcomes of the claims behind each score."""

    def add(self, result: SampleResult) -> None:
        """Add one answer."""
        found = self._counted
        counts = counts_of(result)
        measures = measures_of(result, counts)
        values: dict[str, float | None] = {}
        for name, (value, limits, weight, items) in measures.items():
            values[name] = value
            if limits is not None:
                values[f"{name}.low"], values[f"{name}.high"] = limits
            found["half_weights"][name] += round(2 * weight)
            found["items"][name] += items
        self._means.add(values)
        for name, own in counts.items():
            self._pools[name].merge(own)
        self._count("", result.signature, result.status, result.flags)
        found["kinds"].update(sentence.kind for sentence in result.sentences)
        if _REPEATED in result.signature:
            self._add_repeats(result)
        found["citing"]["answers"] += bool(result.citations)
        self._add_calls(result)
        if result.correctness is not None:
            compared = result.correctness
            flags = (*compared.answer_flags, *compared.reference_flags)
            self._count("correctness.", compared.signature, compared.status, flags)
        if result.answer_relevance is not None:
            self._add_relevance(result.answer_relevance)
        if (context := result.context) is not None:
            self._count("context.", context.signature, context.status, context.flags)
        self._add_cell(result)

    def spent(self) -> Spent:
        """Return what the calls of the answers added so far took, without its cost."""
        return Spent(**self._spent())

    def _spent(self) -> dict[str, int]:
        return {name: self._counted["spent"][name] for name in _SPENT}

    def summary(self) -> Summary:
        """Return the totals of the answers added so far."""
        found, outcomes = self._counted, self._pools["claims"]
        answers = found["statuses"].total()
        return Summary(
            **self._answers("", Status),
            **self._claims(outcomes),
            answers=answers,
            abstention_rate=share(found["statuses"][Status.ABSTAINED], answers),
            kinds={kind: found["kinds"][kind] for kind in SentenceKind},
            judged=outcomes.judged,
            supports=_supports(outcomes),
            correctness=self._correctness(),
            answer_relevance=self._relevance(),
            context=self._context(),
            repeats=self._repeats(),
            breakdown=self._quadrants(),
            citations={status: outcomes.citations[status] for status in CitationStatus},
            models=dict(found["models"]),
            **self._spent(),
            seconds=found["spent"]["ticks"] / _TICKS_PER_SECOND,
            **self._citation_support(),
            **self._bounds(_BOUNDED if outcomes.fallen_back else _WITHOUT_FALLBACK),
            **self._scores(name for name in CLAIMING if outcomes.fallen_back or name != _ANY),
            **self._shares((*HALLUCINATING, *ABSTAINING)),
        )

    def _count(self, subject: str, signature: str, status: StrEnum, flags: Iterable[Flag]) -> None:
        """Count an answer in the totals of a subject, such as `context.`."""
        self._counted[f"{subject}signatures"][signature] += 1
        self._counted[f"{subject}statuses"][status] += 1
        self._counted[f"{subject}flags"].update(flag.name for flag in flags)

    def _answers(self, subject: str, statuses: type[StrEnum]) -> dict[str, Any]:
        """Return the fields that `_count` counts."""
        found = self._counted
        return {
            "signatures": dict(found[f"{subject}signatures"]),
            "statuses": {status: found[f"{subject}statuses"][status] for status in statuses},
            "flags": {name: found[f"{subject}flags"][name] for name in FlagName},
        }

    def _claims(self, outcomes: Counts) -> dict[str, Any]:
        """Return the fields of `ClaimTotals` that are about the outcomes of claims."""
        unasked = outcomes.unscored[UnscoredReason.BUDGET] if self._limited else 0
        failed = outcomes.failed - outcomes.undecided - unasked
        return {
            "claims": outcomes.claims,
            "sources": dict(outcomes.sources),
            "unscored": dict(outcomes.unscored),
            "unscored_share": outcomes.unscored_share,
            "fallen_back": outcomes.fallen_back.total(),
            "untrusted": is_untrusted(failed, outcomes.claims - unasked, self._max_unscored),
        }

    def _citation_support(self) -> dict[str, Any]:
        """Return the summary's fields of TREC RAG's measures; empty where no answer cites."""
        found = self._counted
        if not found["citing"].total():
            return {}
        scores, bounds = self._scores(SUPPORTING), self._bounds(SUPPORTING)
        pairs = {name: bounds[f"{name}_bounds"] for name in SUPPORTING}
        return {
            "citation_support": {name: each for name, each in scores.items() if each},
            "citation_support_bounds": {name: each for name, each in pairs.items() if each},
        }

    def _correctness(self) -> CorrectnessTotals | None:
        """Return the totals of correctness; None where no answer was compared."""
        found, pools = self._counted, self._pools
        if not found["correctness.statuses"]:
            return None
        answers, references, both = pools["answer"], pools["reference"], Counts()
        both.merge(answers)
        both.merge(references)
        scores = self._scores(("precision", "recall", "recall_overall"))
        for name, (precision, recall) in PAIRS.items():
            (first, items), (second, others) = self._pooled(precision), self._pooled(recall)
            # Where no answer claims anything, precision counts as 0.
            scores[name] = self._score(name, f1(first or 0.0, second), items + others)
        if not both.fallen_back:
            scores[_F1_BY_ANY] = None
        return CorrectnessTotals(
            **self._answers("correctness.", CorrectnessStatus),
            **self._claims(both),
            answer_supports=_supports(answers),
            reference_supports=_supports(references),
            **self._bounds(_COMPARED),
            **scores,
        )

    def _relevance(self) -> RelevanceTotals | None:
        """Return the totals of answer relevance; None where it was not measured."""
        found, parts = self._counted, self._pools["parts"]
        statuses, answers = found["relevance.statuses"], found["relevance.answers"]
        if not statuses:
            return None
        asked = statuses[RelevanceStatus.SCORED] + statuses[RelevanceStatus.UNSCORED]
        unasked = answers["over_budget"] if self._limited else 0
        return RelevanceTotals(
            **self._answers("relevance.", RelevanceStatus),
            parts=parts.judged,
            supports={
                label: parts.own[label] for label in (Support.FULL, Support.PARTIAL, Support.NONE)
            },
            asked=asked,
            unscored=dict(found["relevance.unscored"]),
            unscored_share=share(answers["failed"], asked),
            untrusted=is_untrusted(
                answers["failed"] - unasked, asked - unasked, self._max_unscored
            ),
            **self._bounds(RELEVANCE),
            **self._scores(RELEVANCE),
        )

    def _context(self) -> ContextTotals | None:
        """Return the totals of context scores; None where none were measured."""
        claims = self._pools["context"]
        if not self._counted["context.statuses"]:
            return None
        return ContextTotals(
            **self._answers("context.", ContextStatus),
            **self._claims(claims),
            supports=_supports(claims),
            **self._bounds(CONTEXT),
            **self._scores(["context_recall"]),
            **self._shares(["context_precision"]),
        )

    def _repeats(self) -> RepeatTotals | None:
        found = self._counted
        if not any(_REPEATED in made for made in found["signatures"]):
            return None
        counts = {name: found["repeats"][name] for name in _REPEATS}
        rate = share(counts["flipped"], counts["compared"])
        return RepeatTotals(**counts, flip_rate=rate, failed=dict(found["repeats.failed"]))

    def _add_cell(self, result: SampleResult) -> None:
        found = self._counted
        cell: _Cell = "without_gold"
        if result.cell is not None:
            cell = result.cell.words
            found["cells.signatures"][result.cell.signature] += 1
        elif conflicting(result):
            cell = "conflicting"
        found["cells"][cell] += 1

    def _quadrants(self) -> QuadrantTable | None:
        """Return the table of quadrants; None where no answer has gold evidence."""
        found = self._counted
        answers, signatures = found["cells"], found["cells.signatures"]
        rows = {words: row_of(words) for words in answers if not isinstance(words, str)}
        if not rows and not answers["conflicting"]:
            return None
        halves: dict[Half, int] = dict.fromkeys(get_args(Half), 0)
        cells = []
        for words in sorted(rows, key=lambda words: (table().index(rows[words]), words)):
            half = rows[words].half
            halves[half] += answers[words]
            cells.append(QuadrantCount(words=words, half=half, answers=answers[words]))
        return QuadrantTable(
            cells=tuple(cells),
            halves=halves,
            counted=signatures.total(),
            without_gold=answers["without_gold"],
            conflicting=answers["conflicting"],
            signatures=dict(signatures),
        )

    def _add_repeats(self, result: SampleResult) -> None:
        """Count the sentences that were asked again, and whether their verdicts differ."""
        counts, failed = self._counted["repeats"], self._counted["repeats.failed"]
        for outcome in (sentence.outcome for sentence in result.sentences):
            if isinstance(outcome, Verdict) and outcome.askings:
                labels = [each for each in outcome.askings if isinstance(each, Support)]
                failed.update(each for each in outcome.askings if isinstance(each, UnscoredReason))
                counts["asked_again"] += 1
                counts["compared"] += len(labels) > 1
                counts["flipped"] += len(set(labels)) > 1
                counts["changed"] += outcome.support is not labels[0]

    def _add_calls(self, result: SampleResult) -> None:
        models, spent = self._counted["models"], self._counted["spent"]
        for call in result.calls:
            if call.model:
                models[call.model] += 1
            if call.cached:
                spent["cache_hits"] += 1
                continue
            spent["calls"] += 1
            spent["retries"] += call.retries
            spent["prompt_tokens"] += call.prompt_tokens
            spent["reply_tokens"] += call.reply_tokens
            spent["ticks"] += round(call.seconds * _TICKS_PER_SECOND)

    def _add_relevance(self, related: AnswerRelevance) -> None:
        found = self._counted
        self._count("relevance.", related.signature, related.status, related.flags)
        reasons = Counter(failure.reason for failure in related.failures)
        found["relevance.unscored"].update(reasons)
        answers = found["relevance.answers"]
        answers["failed"] += bool(reasons)
        answers["over_budget"] += reasons.keys() == {UnscoredReason.BUDGET}

    def _pooled(self, name: str) -> tuple[float | None, int]:
        """Return the pooled value of a score, and the number of its items."""
        items = self._counted["items"][name]
        return share(self._counted["half_weights"][name] / 2, items), items

    def _scores(self, names: Iterable[str]) -> dict[str, CorpusScore | None]:
        """Return scores, each beside its pooled value; None where no answer has one."""
        return {name: self._score(name, *self._pooled(name)) for name in names}

    def _shares(self, names: Iterable[str]) -> dict[str, CorpusScore | None]:
        """Return scores that have nothing to pool; their pooled value is the mean itself."""
        means = self._means
        return {name: self._score(name, means.mean(name), means.count(name)) for name in names}

    def _score(self, name: str, micro: float | None, items: int) -> CorpusScore | None:
        macro, interval = self._means.mean(name), self._means.interval(name)
        if macro is None or interval is None or micro is None:
            return None
        return CorpusScore(
            macro=macro,
            micro=micro,
            answers=self._means.count(name),
            items=items,
            interval=interval,
        )

    def _bounds(self, names: Iterable[str]) -> dict[str, CorpusBounds | None]:
        """Return bounds under the names of their fields; None where no answer has any."""
        return {f"{name}_bounds": self._bound(f"{name}.low", f"{name}.high") for name in names}

    def _bound(self, lower: str, upper: str) -> CorpusBounds | None:
        low, high = self._means.mean(lower), self._means.mean(upper)
        interval = self._means.interval(lower)
        if low is None or high is None or interval is None:
            return None
        return CorpusBounds(
            low=low,
            high=high,
            answers=self._means.count(lower),
            low_interval=interval,
            high_interval=self._means.interval(upper),
        )


def _supports(outcomes: Counts) -> dict[Support, int]:
    """Return the verdicts of the run's own judge by label, zeros included."""
    return {support: outcomes.own[support] for support in Support}
