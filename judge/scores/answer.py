"""The numbers of one answer, from the outcomes of its claims."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Self

from judge.records import (
    SUPPORT_WEIGHT,
    Call,
    Citation,
    CitationStatus,
    ComparedSentence,
    Excluded,
    Flag,
    JudgeOutcome,
    Outcome,
    Sample,
    SampleResult,
    Scores,
    Sentence,
    SentenceKind,
    SentenceResult,
    Status,
    Support,
    Unscored,
    UnscoredReason,
    Verdict,
)
from judge.scores.support import citation_support

Limits = tuple[float, float]
"""A score with every failure counted 0, then 1."""
Rate = tuple[float | None, int]
"""A score, None where there was nothing to measure, and how many items it is over."""

_INVENTED: Final = frozenset({Support.NONE, Support.CONTRADICTED})
_UNSUPPORTED: Final = _INVENTED | {Support.PARTIAL}
_HALVES: Final = {support: round(2 * weight) for support, weight in SUPPORT_WEIGHT.items()}
"""Weights in halves, which are whole numbers."""


def share(part: float, whole: int) -> float | None:
    """`part` of `whole`; None of nothing.

    >>> share(1, 4), share(0, 0)
    (0.25, None)
    """
    return part / whole if whole else None


def bounds(part: float, settled: int, failed: int) -> Limits | None:
    """Return the mean with every failure counted 0, then 1; None without values and failures.

    >>> bounds(1.5, 3, 1)
    (0.375, 0.625)
    """
    whole = settled + failed
    return (part / whole, (part + failed) / whole) if whole else None


def by_similarity(outcomes: Iterable[Outcome]) -> bool:
    """Whether similarity judged alone: what it sees only looks so."""
    verdicts = (outcome for outcome in outcomes if isinstance(outcome, Verdict))
    return {v.source for v in verdicts if v.fallback_from is None} == {"similarity"}


def support_of(sentence: SentenceResult) -> str | None:
    """Return the label that the run's own judge gave, or `unscored`; None for what is no claim."""
    outcome = sentence.outcome
    if isinstance(outcome, Verdict) and outcome.fallback_from is None:
        return outcome.support.value
    return "unscored" if isinstance(outcome, Verdict | Unscored) else None


@dataclass(slots=True)
class Counts:
    """Outcomes of claims, of one answer or of a run, in whole numbers: they add up exactly.

    What a fallback answered counts as unscored. Sentences that are no claims are passed over.
    """

    own: Counter[Support] = field(default_factory=Counter)
    """Verdicts of the run's own judge."""
    fallen_back: Counter[Support] = field(default_factory=Counter)
    """Verdicts of a fallback; `unscored` counts the failures that they replace."""
    sources: Counter[str] = field(default_factory=Counter)
    """Verdicts by source, fallen back or not."""
    unscored: Counter[UnscoredReason] = field(default_factory=Counter)
    """Claims without a verdict of the run's own judge."""
    cited: int = 0
    """Claims with a citation that resolves, those found to assert nothing left out."""
    cited_fully: int = 0
    """Judged claims that their own citations support fully."""
    citations: Counter[CitationStatus] = field(default_factory=Counter)
    """Citations in claims, by what an audit says of them."""

    def add(self, outcome: Outcome, *, cites: bool = False) -> None:
        """Count what became of a sentence, and whether it has a citation that resolves."""
        if isinstance(outcome, Excluded):
            return
        failure = outcome if isinstance(outcome, Unscored) else None
        asserts = True
        if isinstance(outcome, Verdict):
            failure = outcome.fallback_from
            self.sources[outcome.source] += 1
            (self.own if failure is None else self.fallen_back)[outcome.support] += 1
            if failure is None:
                asserts = outcome.support is not Support.NO_CLAIM
                self.cited_fully += asserts and outcome.cited_support is Support.FULL
        if failure is not None:
            self.unscored[failure.reason] += 1
        self.cited += asserts and cites

    @classmethod
    def of(
        cls,
        sentences: Iterable[SentenceResult | ComparedSentence],
        citations: Iterable[Citation] = (),
    ) -> Self:
        """The counts of an answer's sentences and citations."""
        counts, resolving = cls(), set[int]()
        for citation in citations:
            if citation.status is not None:
                counts.citations[citation.status] += 1
            if citation.chunk_id is not None:
                resolving.add(citation.sentence)
        for sentence in sentences:
            counts.add(sentence.outcome, cites=sentence.index in resolving)
        return counts

    def merge(self, other: "Counts") -> None:
        """Add the counts of another."""
        self.own.update(other.own)
        self.fallen_back.update(other.fallen_back)
        self.sources.update(other.sources)
        self.unscored.update(other.unscored)
        self.cited += other.cited
        self.cited_fully += other.cited_fully
        self.citations.update(other.citations)

    @property
    def claims(self) -> int:
        """Claims that were to be judged."""
        return self.own.total() + self.failed

    def claimed(self) -> dict[str, int]:
        """The fields of `ClaimCounts`."""
        return {
            "claims": self.claims,
            "judged": self.judged,
            "unscored": self.failed,
            "no_claim": self.no_claim,
        }

    @property
    def failed(self) -> int:
        """Claims without a verdict of the run's own judge."""
        return self.unscored.total()

    @property
    def no_claim(self) -> int:
        """Claims that the run's own judge found to assert nothing."""
        return self.own[Support.NO_CLAIM]

    @property
    def asserting(self) -> int:
        """Claims but those that the run's own judge found to assert nothing."""
        return self.claims - self.no_claim

    @property
    def judged(self) -> int:
        """Claims with a verdict of the run's own judge, `no_claim` left out."""
        return _asserting(self.own)

    @property
    def judged_by_any(self) -> int:
        """Claims with a verdict of any judge, `no_claim` left out."""
        return self.judged + _asserting(self.fallen_back)

    @property
    def mean(self) -> float | None:
        """Mean weight of the judged, 0 to 1; None where nothing was judged."""
        return share(_weight(self.own), self.judged)

    @property
    def mean_with_fallback(self) -> float | None:
        """Mean weight of the verdicts of all judges."""
        return share(_weight(self.own) + _weight(self.fallen_back), self.judged_by_any)

    @property
    def bounds(self) -> Limits | None:
        """The mean with every failed claim counted 0, then 1; None where there is neither."""
        return bounds(_weight(self.own), self.judged, self.failed)

    @property
    def validity_bounds(self) -> Limits | None:
        """The share of valid citations with every unjudged one counted 0, then 1."""
        valid, unjudged = (
            self.citations[c] for c in (CitationStatus.VALID, CitationStatus.UNJUDGED)
        )
        return bounds(valid, self.settled, unjudged)

    @property
    def unscored_share(self) -> float | None:
        """The part of the claims without a verdict of the run's own judge."""
        return share(self.failed, self.claims)

    @property
    def settled(self) -> int:
        """Citations whose status no failure leaves open."""
        return self.citations.total() - self.citations[CitationStatus.UNJUDGED]

    def rates(self) -> dict[str, Rate]:
        """The scores by the names of the fields of `Scores`."""
        judged, valid = self.judged, self.citations[CitationStatus.VALID]
        return {
            "faithfulness": (self.mean, judged),
            "faithfulness_strict": (share(self.own[Support.FULL], judged), judged),
            "faithfulness_with_fallback": (
                self.mean_with_fallback if self.fallen_back else None,
                self.judged_by_any,
            ),
            "contradiction_rate": (share(self.own[Support.CONTRADICTED], judged), judged),
            "coverage": (share(self.cited, self.asserting), self.asserting),
            "citation_validity": (share(valid, self.settled), self.settled),
            "citation_recall": (share(self.cited_fully, judged), judged),
        }

    def _any(self, labels: Collection[Support]) -> Limits | None:
        """Whether any claim has one of these labels, 1 or 0, with bounds."""
        found = any(self.own[label] for label in labels)
        return (float(found), float(found or self.failed > 0)) if self.asserting else None

    def limits(self) -> dict[str, Limits | None]:
        """The bounds of those scores of an answer that have any."""
        return {
            "faithfulness": self.bounds,
            "faithfulness_strict": bounds(self.own[Support.FULL], self.judged, self.failed),
            "contradiction_rate": bounds(self.own[Support.CONTRADICTED], self.judged, self.failed),
            "hallucination_rate": self._any(_INVENTED),
            "hallucination_rate_strict": self._any(_UNSUPPORTED),
            "citation_recall": bounds(self.cited_fully, self.judged, self.failed),
            "citation_validity": self.validity_bounds,
        }


def _asserting(supports: Counter[Support]) -> int:
    return supports.total() - supports[Support.NO_CLAIM]


def _weight(supports: Counter[Support]) -> float:
    return sum(_HALVES.get(support, 0) * count for support, count in supports.items()) / 2


def with_outcomes(
    sentences: Iterable[Sentence], outcomes: Mapping[int, JudgeOutcome]
) -> tuple[SentenceResult, ...]:
    """Each sentence with its outcome; those without one are no claims."""
    return tuple(
        SentenceResult(
            index=each.index,
            start=each.start,
            end=each.end,
            text=each.text,
            kind=each.kind,
            outcome=outcomes.get(each.index) or Excluded(),
        )
        for each in sentences
    )


def aggregate(
    sample: Sample,
    sentences: Sequence[Sentence],
    outcomes: Mapping[int, JudgeOutcome],
    citations: Sequence[Citation],
    *,
    flags: Sequence[Flag] = (),
    calls: Sequence[Call] = (),
    signature: str,
) -> SampleResult:
    """Put one answer's result together, from an outcome for each claim, and audited citations."""
    results = with_outcomes(sentences, outcomes)
    scores = _scores(results, citations)
    return SampleResult(
        qid=sample.qid,
        status=_status(scores, sentences),
        scores=scores,
        sentences=results,
        citations=tuple(citations),
        flags=tuple(flags),
        calls=tuple(calls),
        signature=signature,
        metadata=sample.metadata,
    )


def _status(scores: Scores, sentences: Sequence[Sentence]) -> Status:
    if scores.claims == 0:
        abstains = any(sentence.kind is SentenceKind.ABSTENTION for sentence in sentences)
        return Status.ABSTAINED if abstains else Status.NO_CLAIMS
    if scores.judged:
        return Status.SCORED
    return Status.NO_CLAIMS if scores.no_claim and not scores.unscored else Status.UNSCORED


def _scores(sentences: Sequence[SentenceResult], citations: Sequence[Citation]) -> Scores:
    counts = Counts.of(sentences, citations)
    supported = citation_support(sentences, citations) if citations else {}
    return Scores(
        **counts.claimed(),
        **{name: value for name, (value, _) in counts.rates().items()},
        faithfulness_bounds=counts.bounds,
        citation_validity_bounds=counts.validity_bounds,
        citation_support={
            name: each.value for name, each in supported.items() if each.value is not None
        },
        unsupported=tuple(
            sentence.index
            for sentence in sentences
            if isinstance(sentence.outcome, Verdict) and sentence.outcome.support in _UNSUPPORTED
        ),
    )
