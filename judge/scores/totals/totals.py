"""From the results of a run to its totals, one result at a time, in constant memory."""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from judge.records import (
    CitationStatus,
    CorpusScore,
    FlagName,
    SampleResult,
    Scores,
    SentenceKind,
    Status,
    Summary,
    Support,
)
from judge.scores.shares import share
from judge.scores.totals.breakdown import BreakdownSums
from judge.scores.totals.correctness import CorrectnessSums
from judge.scores.totals.means import Limits, NamedMeans
from judge.scores.totals.outcomes import CountedOutcomes

MAX_UNSCORED: Final = 0.05
"""Over this share of unscored claims a run is not to be trusted."""

_SCORES: Final = (
    "faithfulness",
    "faithfulness_strict",
    "faithfulness_with_fallback",
    "contradiction_rate",
    "coverage",
    "citation_validity",
    "citation_recall",
)
_BOUNDED: Final = (
    "faithfulness",
    "faithfulness_strict",
    "citation_recall",
    "citation_validity",
)


def summarize(
    results: Iterable[SampleResult], *, seed: int = 0, max_unscored: float = MAX_UNSCORED
) -> Summary:
    """Corpus totals of `results`, streamed: macro and micro means, bounds, intervals, counts.

    Args:
        results: in any order; each qid once.
        seed: of the bootstrap intervals.
        max_unscored: share of unscored claims, 0 to 1, over which the run is untrusted.
    """
    totals = Totals(seed=seed, max_unscored=max_unscored)
    for result in results:
        totals.add(result)
    return totals.summary()


class Totals:
    """Adds results up; `summary` may be asked at any time. Arguments as in `summarize`."""

    def __init__(self, *, seed: int = 0, max_unscored: float = MAX_UNSCORED) -> None:
        self._max_unscored = max_unscored
        self._means = NamedMeans(_SCORES, _BOUNDED, seed)
        self._correctness = CorrectnessSums(seed=seed)
        self._breakdown = BreakdownSums()
        self._answers = 0
        self._signatures: Counter[str] = Counter()
        self._statuses: Counter[Status] = Counter()
        self._kinds: Counter[SentenceKind] = Counter()
        self._outcomes = CountedOutcomes()
        self._citations: Counter[CitationStatus] = Counter()
        self._flags: Counter[FlagName] = Counter()
        self._models: Counter[str] = Counter()
        self._resolved = self._cited_fully = 0
        self._calls = self._retries = self._cache_hits = 0
        self._prompt_tokens = self._reply_tokens = 0
        self._seconds = 0.0

    def add(self, result: SampleResult) -> None:
        """Take in one answer."""
        self._answers += 1
        self._signatures[result.signature] += 1
        self._statuses[result.status] += 1
        self._flags.update(flag.name for flag in result.flags)
        self._citations.update(c.status for c in result.citations if c.status is not None)
        scores = result.scores
        self._means.add(result.qid, _values(scores), _limits(scores))
        self._correctness.add(result)
        self._breakdown.add(result)
        self._resolved += round((scores.coverage or 0) * (scores.claims - scores.no_claim))
        self._cited_fully += round((scores.citation_recall or 0) * scores.judged)
        for sentence in result.sentences:
            self._kinds[sentence.kind] += 1
            self._outcomes.add(sentence.outcome)
        for call in result.calls:
            if call.model:
                self._models[call.model] += 1
            if call.cached:
                self._cache_hits += 1
                continue
            self._calls += 1
            self._retries += call.retries
            self._prompt_tokens += call.prompt_tokens
            self._reply_tokens += call.reply_tokens
            self._seconds += call.seconds

    def summary(self) -> Summary:
        """The totals of what was added so far."""
        outcomes = self._outcomes
        return Summary(
            signatures=dict(self._signatures),
            answers=self._answers,
            statuses={status: self._statuses[status] for status in Status},
            abstention_rate=(
                self._statuses[Status.ABSTAINED] / self._answers if self._answers else None
            ),
            kinds={kind: self._kinds[kind] for kind in SentenceKind},
            claims=outcomes.claims,
            judged=outcomes.judged,
            supports=outcomes.supports,
            sources=dict(outcomes.sources),
            unscored=dict(outcomes.unscored),
            unscored_share=outcomes.unscored_share,
            fallen_back=outcomes.fallen_back.total(),
            untrusted=outcomes.untrusted(self._max_unscored),
            correctness=self._correctness.totals(self._max_unscored),
            breakdown=self._breakdown.breakdown(),
            citations={status: self._citations[status] for status in CitationStatus},
            flags={name: self._flags[name] for name in FlagName},
            models=dict(self._models),
            calls=self._calls,
            retries=self._retries,
            cache_hits=self._cache_hits,
            prompt_tokens=self._prompt_tokens,
            reply_tokens=self._reply_tokens,
            seconds=self._seconds,
            faithfulness_bounds=self._means.bounds("faithfulness"),
            faithfulness_strict_bounds=self._means.bounds("faithfulness_strict"),
            citation_recall_bounds=self._means.bounds("citation_recall"),
            citation_validity_bounds=self._means.bounds("citation_validity"),
            **self._scores(),
        )

    def _scores(self) -> dict[str, CorpusScore | None]:
        outcomes, judged = self._outcomes, self._outcomes.judged
        own = outcomes.own
        asserting = outcomes.claims - own[Support.NO_CLAIM]
        settled = self._citations.total() - self._citations[CitationStatus.UNJUDGED]
        pooled: dict[str, tuple[float | None, int]] = {
            "faithfulness": (outcomes.mean, judged),
            "faithfulness_strict": (share(own[Support.FULL], judged), judged),
            "contradiction_rate": (share(own[Support.CONTRADICTED], judged), judged),
            "coverage": (share(self._resolved, asserting), asserting),
            "citation_validity": (share(self._citations[CitationStatus.VALID], settled), settled),
            "citation_recall": (share(self._cited_fully, judged), judged),
        }
        if outcomes.fallen_back:
            pair = outcomes.mean_with_fallback, outcomes.judged_by_any
            pooled["faithfulness_with_fallback"] = pair
        return {name: self._means.score(name, *pool) for name, pool in pooled.items()}


def _values(scores: Scores) -> list[float | None]:
    fallback = scores.faithfulness_with_fallback
    return [
        scores.faithfulness,
        scores.faithfulness_strict,
        # An answer in which nothing fell back counts here with the faithfulness it has.
        scores.faithfulness if fallback is None else fallback,
        scores.contradiction_rate,
        scores.coverage,
        scores.citation_validity,
        scores.citation_recall,
    ]


def _limits(scores: Scores) -> list[Limits | None]:
    return [
        scores.faithfulness_bounds,
        _open(scores.faithfulness_strict, scores),
        _open(scores.citation_recall, scores),
        scores.citation_validity_bounds,
    ]


def _open(mean: float | None, scores: Scores) -> Limits | None:
    """A mean over the judged claims with every unscored one counted 0, then 1."""
    whole = scores.judged + scores.unscored
    if not whole:
        return None
    part = (mean or 0.0) * scores.judged
    return part / whole, (part + scores.unscored) / whole
