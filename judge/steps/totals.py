"""From the results of a run to its totals, one result at a time, in constant memory."""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from judge.metrics.interval import StreamedMeans
from judge.records import (
    SUPPORT_WEIGHT,
    CitationStatus,
    CorpusBounds,
    CorpusScore,
    FlagName,
    Interval,
    Outcome,
    SampleResult,
    Scores,
    SentenceKind,
    Status,
    Summary,
    Support,
    Unscored,
    UnscoredReason,
    Verdict,
)

MAX_UNSCORED: Final = 0.05
"""Over this share of unscored claims a run is not to be trusted."""

MIN_UNSCORED: Final = 3
"""Fewer unscored claims than this are an accident, not the state of the judge."""

_COLUMNS: Final = (
    "faithfulness",
    "faithfulness_strict",
    "faithfulness_with_fallback",
    "contradiction_rate",
    "coverage",
    "citation_validity",
    "citation_recall",
    "faithfulness_bounds.low",
    "faithfulness_bounds.high",
    "faithfulness_strict_bounds.low",
    "faithfulness_strict_bounds.high",
    "citation_recall_bounds.low",
    "citation_recall_bounds.high",
    "citation_validity_bounds.low",
    "citation_validity_bounds.high",
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
        self._means = StreamedMeans(len(_COLUMNS), seed)
        self._answers = 0
        self._signatures: Counter[str] = Counter()
        self._statuses: Counter[Status] = Counter()
        self._kinds: Counter[SentenceKind] = Counter()
        self._supports: Counter[Support] = Counter()
        self._fallen_back: Counter[Support] = Counter()
        self._sources: Counter[str] = Counter()
        self._unscored: Counter[UnscoredReason] = Counter()
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
        self._means.add(result.qid, _values(scores))
        self._resolved += round((scores.coverage or 0) * (scores.claims - scores.no_claim))
        self._cited_fully += round((scores.citation_recall or 0) * scores.judged)
        for sentence in result.sentences:
            self._kinds[sentence.kind] += 1
            self._count_outcome(sentence.outcome)
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

    def _count_outcome(self, outcome: Outcome) -> None:
        failure = outcome if isinstance(outcome, Unscored) else None
        if isinstance(outcome, Verdict):
            failure = outcome.fallback_from
            self._sources[outcome.source] += 1
            (self._supports if failure is None else self._fallen_back)[outcome.support] += 1
        if failure is not None:
            self._unscored[failure.reason] += 1

    def summary(self) -> Summary:
        """The totals of what was added so far."""
        claims = self._kinds[SentenceKind.CLAIM]
        unscored = self._unscored.total()
        share = unscored / claims if claims else None
        return Summary(
            signatures=dict(self._signatures),
            answers=self._answers,
            statuses={status: self._statuses[status] for status in Status},
            abstention_rate=(
                self._statuses[Status.ABSTAINED] / self._answers if self._answers else None
            ),
            kinds={kind: self._kinds[kind] for kind in SentenceKind},
            claims=claims,
            judged=self._judged,
            supports={support: self._supports[support] for support in Support},
            sources=dict(self._sources),
            unscored=dict(self._unscored),
            unscored_share=share,
            fallen_back=self._fallen_back.total(),
            untrusted=(share or 0) > self._max_unscored and unscored >= MIN_UNSCORED,
            citations={status: self._citations[status] for status in CitationStatus},
            flags={name: self._flags[name] for name in FlagName},
            models=dict(self._models),
            calls=self._calls,
            retries=self._retries,
            cache_hits=self._cache_hits,
            prompt_tokens=self._prompt_tokens,
            reply_tokens=self._reply_tokens,
            seconds=self._seconds,
            faithfulness_bounds=self._bounds("faithfulness_bounds"),
            faithfulness_strict_bounds=self._bounds("faithfulness_strict_bounds"),
            citation_recall_bounds=self._bounds("citation_recall_bounds"),
            citation_validity_bounds=self._bounds("citation_validity_bounds"),
            **self._scores(),
        )

    @property
    def _judged(self) -> int:
        return self._supports.total() - self._supports[Support.NO_CLAIM]

    def _scores(self) -> dict[str, CorpusScore | None]:
        full, contradicted = self._supports[Support.FULL], self._supports[Support.CONTRADICTED]
        everything = self._supports + self._fallen_back
        asserting = self._kinds[SentenceKind.CLAIM] - self._supports[Support.NO_CLAIM]
        valid = self._citations[CitationStatus.VALID]
        settled = self._citations.total() - self._citations[CitationStatus.UNJUDGED]
        pooled: dict[str, tuple[float, int]] = {
            "faithfulness": (_weight(self._supports), self._judged),
            "faithfulness_strict": (full, self._judged),
            "contradiction_rate": (contradicted, self._judged),
            "coverage": (self._resolved, asserting),
            "citation_validity": (valid, settled),
            "citation_recall": (self._cited_fully, self._judged),
        }
        if self._fallen_back:
            whole = everything.total() - everything[Support.NO_CLAIM]
            pooled["faithfulness_with_fallback"] = (_weight(everything), whole)
        return {name: self._score(name, *pool) for name, pool in pooled.items()}

    def _score(self, name: str, part: float, whole: int) -> CorpusScore | None:
        mean = self._means.mean(_COLUMNS.index(name))
        if mean is None:
            return None
        return CorpusScore(
            macro=mean,
            micro=part / whole,
            answers=self._means.count(_COLUMNS.index(name)),
            items=whole,
            interval=self._interval(name),
        )

    def _bounds(self, name: str) -> CorpusBounds | None:
        low, high = (_COLUMNS.index(f"{name}.{side}") for side in ("low", "high"))
        least, most = self._means.mean(low), self._means.mean(high)
        if least is None or most is None:
            return None
        return CorpusBounds(
            low=least,
            high=most,
            answers=self._means.count(low),
            low_interval=self._interval(f"{name}.low"),
        )

    def _interval(self, name: str) -> Interval:
        interval = self._means.interval(_COLUMNS.index(name))
        if interval is None:  # no caller asks for the interval of a mean that is not there
            raise ValueError(f"no answer has {name!r}")
        low, high, method = interval
        return Interval(low=low, high=high, method=method)


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
        *(scores.faithfulness_bounds or (None, None)),
        *_open(scores.faithfulness_strict, scores),
        *_open(scores.citation_recall, scores),
        *(scores.citation_validity_bounds or (None, None)),
    ]


def _open(share: float | None, scores: Scores) -> tuple[float | None, float | None]:
    """A share of the judged claims with every unscored one counted 0, then 1."""
    whole = scores.judged + scores.unscored
    if not whole:
        return None, None
    part = (share or 0.0) * scores.judged
    return part / whole, (part + scores.unscored) / whole


def _weight(supports: Counter[Support]) -> float:
    return sum(SUPPORT_WEIGHT.get(support, 0) * count for support, count in supports.items())
