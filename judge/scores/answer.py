"""Computes the numbers of one answer from the outcomes of its claims, citations and question."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple, Self

from judge.records import (
    SUPPORT_WEIGHT,
    AnswerRelevance,
    Call,
    Citation,
    CitationStatus,
    ComparedSentence,
    Correctness,
    CorrectnessStatus,
    Excluded,
    Flag,
    FlagName,
    JudgeOutcome,
    Outcome,
    RelevanceStatus,
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
from judge.records.sentence import ClaimCounts
from judge.records.summary import (
    ABSTAINING,
    CITING,
    HALLUCINATING,
    PUBLIC,
    RELEVANCE,
)

Limits = tuple[float, float]
"""A score with every failure counted 0, then 1."""

_INVENTED: Final = frozenset({Support.NONE, Support.CONTRADICTED})
_UNSUPPORTED: Final = _INVENTED | {Support.PARTIAL}
_HALVES: Final = {support: round(2 * weight) for support, weight in SUPPORT_WEIGHT.items()}
"""Weights in halves, which are whole numbers."""


class Measure(NamedTuple):
    """A score of one answer, and what it adds to the pooled score of a run."""

    value: float | None = None
    """From 0 to 1; None where there was nothing to measure."""
    limits: Limits | None = None
    """The value with every failure counted 0, then 1; None without values and failures."""
    weight: float = 0.0
    """The sum of the weights of its items."""
    items: int = 0
    """The number of its items, such as sentences or citations."""


def measure(weight: float, items: int, failed: int = 0) -> Measure:
    """Return the mean weight of the items, and its bounds with the failed ones.

    >>> measure(1.5, 3, 1)
    Measure(value=0.5, limits=(0.375, 0.625), weight=1.5, items=3)
    """
    whole = items + failed
    limits = (weight / whole, (weight + failed) / whole) if whole else None
    return Measure(share(weight, items), limits, weight, items)


def share(part: float, whole: int) -> float | None:
    """Return `part` ÷ `whole`; None where `whole` is 0."""
    return part / whole if whole else None


def by_similarity(outcomes: Iterable[Outcome]) -> bool:
    """Return whether similarity is the only judge of these outcomes, fallbacks left out."""
    verdicts = (outcome for outcome in outcomes if isinstance(outcome, Verdict))
    return {v.source for v in verdicts if v.fallback_from is None} == {"similarity"}


def is_undecided(outcome: Outcome) -> bool:
    """Return whether similarity left the sentence undecided, which is no failure."""
    return isinstance(outcome, Unscored) and outcome.reason is UnscoredReason.UNDECIDED


def support_of(sentence: SentenceResult) -> str | None:
    """Return the own judge's label, `undecided` or `unscored`; None for what is no claim."""
    outcome = sentence.outcome
    if is_undecided(outcome):
        return UnscoredReason.UNDECIDED.value
    if isinstance(outcome, Verdict) and outcome.fallback_from is None:
        return outcome.support.value
    return "unscored" if isinstance(outcome, Verdict | Unscored) else None


@dataclass(slots=True)
class Counts:
    """The outcomes of claims of an answer or a run; a verdict of a fallback counts as unscored."""

    own: Counter[Support] = field(default_factory=Counter)
    """Verdicts of the run's own judge."""
    fallen_back: Counter[Support] = field(default_factory=Counter)
    """Verdicts of a fallback; `unscored` counts the failures that they replace."""
    sources: Counter[str] = field(default_factory=Counter)
    """Verdicts by source, fallen back or not."""
    unscored: Counter[UnscoredReason] = field(default_factory=Counter)
    """Claims without a verdict of the run's own judge."""
    cited: int = 0
    """Claims with a citation that resolves, without those found to assert nothing."""
    cited_fully: int = 0
    """Judged claims that their own citations support fully."""
    citations: Counter[CitationStatus] = field(default_factory=Counter)
    """Citations in claims, by status."""

    def add(self, outcome: Outcome, *, cites: bool = False) -> None:
        """Count the outcome of a sentence, and whether a citation of it resolves."""
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
        """Count the sentences and citations of an answer."""
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
        """Add other counts to these."""
        for name in ("own", "fallen_back", "sources", "unscored", "citations"):
            getattr(self, name).update(getattr(other, name))
        self.cited += other.cited
        self.cited_fully += other.cited_fully

    @property
    def claims(self) -> int:
        """Claims that were to be judged."""
        return self.own.total() + self.failed

    def claim_counts(self) -> dict[str, int]:
        """Return the fields of `ClaimCounts`."""
        return {
            "claims": self.claims,
            "judged": self.judged,
            "unscored": self.failed,
            "no_claim": self.own[Support.NO_CLAIM],
        }

    @property
    def failed(self) -> int:
        """Claims without a verdict of the run's own judge."""
        return self.unscored.total()

    @property
    def undecided(self) -> int:
        """Claims that similarity left undecided, which is no failure."""
        return self.unscored[UnscoredReason.UNDECIDED]

    @property
    def judged(self) -> int:
        """Claims with a verdict of the run's own judge, `no_claim` left out."""
        return _asserting(self.own)

    @property
    def unscored_share(self) -> float | None:
        """The share of the claims that failed, 0 to 1; undecided ones are no failures."""
        return share(self.failed - self.undecided, self.claims)

    def mean(self, *, with_fallback: bool = False) -> Measure:
        """Return the mean weight of the verdicts of the run's own judge, or of all judges."""
        weight, judged, failed = _weight(self.own), self.judged, self.failed
        if with_fallback:
            weight += _weight(self.fallen_back)
            judged += _asserting(self.fallen_back)
            failed -= self.fallen_back.total()
        return measure(weight, judged, failed)

    def measures(self) -> dict[str, Measure]:
        """Return the scores by the names of the fields of `Scores`."""
        judged, failed = self.judged, self.failed
        asserting = self.claims - self.own[Support.NO_CLAIM]
        unjudged = self.citations[CitationStatus.UNJUDGED]
        settled = self.citations.total() - unjudged
        return {
            "faithfulness": self.mean(),
            "faithfulness_strict": measure(self.own[Support.FULL], judged, failed),
            "faithfulness_with_fallback": self.mean(with_fallback=True),
            "contradiction_rate": measure(self.own[Support.CONTRADICTED], judged, failed),
            "coverage": measure(self.cited, asserting),
            "citation_validity": measure(self.citations[CitationStatus.VALID], settled, unjudged),
            "citation_recall": measure(self.cited_fully, judged, failed),
        }

    def any_of(self, labels: Collection[Support]) -> Measure:
        """Return 1 if any claim has one of the labels, else 0.

        An answer is judged by its decided claims, as long as no claim failed. There is no value
        where a failure leaves it open, and nothing at all without claims.
        """
        if not self.claims - self.own[Support.NO_CLAIM]:
            return Measure()
        found = float(any(self.own[label] for label in labels))
        decided = self.judged > 0 and self.failed == self.undecided
        value = found if found or decided or not self.failed else None
        return Measure(value, (found, float(found or self.failed > 0)))


def _asserting(supports: Counter[Support]) -> int:
    return supports.total() - supports[Support.NO_CLAIM]


def _weight(supports: Counter[Support]) -> float:
    return sum(_HALVES.get(support, 0) * count for support, count in supports.items()) / 2


def with_outcomes(
    sentences: Iterable[Sentence], outcomes: Mapping[int, JudgeOutcome]
) -> tuple[SentenceResult, ...]:
    """Return each sentence with its outcome; sentences without an outcome are no claims."""
    return tuple(
        SentenceResult(**vars(each), outcome=outcomes.get(each.index) or Excluded())
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
    """Return the result of one answer from the outcomes of its claims and audited citations."""
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
    measures = counts.measures()
    values = {name: each.value for name, each in measures.items()}
    if not counts.fallen_back:
        values["faithfulness_with_fallback"] = None
    support = citation_support(sentences, citations) if citations else {}
    return Scores(
        **counts.claim_counts(),
        **values,
        faithfulness_bounds=measures["faithfulness"].limits,
        citation_validity_bounds=measures["citation_validity"].limits,
        citation_support={
            name: each.value for name, each in support.items() if each.value is not None
        },
        unsupported=tuple(
            sentence.index
            for sentence in sentences
            if isinstance(sentence.outcome, Verdict) and sentence.outcome.support in _UNSUPPORTED
        ),
    )


SUPPORTING: Final = ("support_weighted_precision", "support_weighted_recall")
"""The measures, in the order in which they are shown."""


def citation_support(
    sentences: Sequence[SentenceResult], citations: Iterable[Citation]
) -> dict[str, Measure]:
    """Return weighted precision and recall of support, by the first citation of each sentence.

    A citation weighs 1 for full support by its chunk, ½ for partial, 0 for none. Precision is the
    sum of weights ÷ sentences that cite, recall the same sum ÷ all sentences, of whatever kind.
    An answer without citations has 0 in both. A sentence whose citation has no verdict leaves both
    denominators; an answer without any other sentence has None.

    Source: Thakur et al. 2025, Support Evaluation for the TREC 2024 RAG Track, arXiv:2504.15205,
    3.2–3.4; the edge cases, but for failures, are those of RAGDoll, a scorer of the track.
    """
    cited = defaultdict[int, list[Citation]](list)
    for citation in citations:
        cited[citation.sentence].append(citation)
    weights, failed = list[float](), 0
    for sentence in sentences:
        statuses = (each.status for each in cited.get(sentence.index, ()))
        status = next((each for each in statuses if each is not None), None)
        if status is CitationStatus.UNJUDGED:
            failed += 1
        elif status is CitationStatus.VALID:
            support = getattr(sentence.outcome, "cited_support", None)
            weights.append(1.0 if support is Support.FULL else 0.5)
        elif status is not None:
            weights.append(0.0)
    silent = sum(sentence.index not in cited for sentence in sentences)
    return {
        name: measure(sum(weights), items, failed) if cited or items else Measure(0.0, (0.0, 0.0))
        for name, items in zip(SUPPORTING, (len(weights), len(weights) + silent), strict=True)
    }


def unasked(sample: Sample, result: SampleResult) -> RelevanceStatus | None:
    """Return why no judge is asked about an answer's relevance; None where one is asked."""
    if not any(map(str.isalnum, sample.query)):
        return RelevanceStatus.NO_QUERY
    if result.status is Status.ABSTAINED:
        return RelevanceStatus.ABSTAINED
    return None if sample.answer.strip() else RelevanceStatus.EMPTY


def answer_relevance(
    parts: Sequence[SentenceResult] = (),
    *,
    status: RelevanceStatus | None = None,
    failure: Unscored | None = None,
    flags: Sequence[Flag] = (),
    signature: str,
) -> AnswerRelevance:
    """Return answer relevance: (full + ½ partial) ÷ parts with a verdict, 0 to 1, or None.

    The bounds count every unscored part 0, then 1; they are 0 and 1 where the whole question has no
    verdict. `status` says why no judge was asked, `failure` why a judge that was asked named no
    parts. Source: the labels of a part are those of TREC RAG's nuggets (Pradeep et al. 2024).
    """
    counts = Counts.of(parts)
    if failure is not None:
        counts.add(failure)
    mean = counts.mean()
    judged = RelevanceStatus.SCORED if counts.judged else RelevanceStatus.UNSCORED
    return AnswerRelevance(
        status=status or judged,
        score=mean.value,
        bounds=mean.limits,
        parts=tuple(parts),
        failure=failure,
        flags=tuple(flags),
        signature=signature,
    )


def is_beside(found: AnswerRelevance | None) -> bool:
    """Return whether each part of the question has a verdict and every verdict is `none`."""
    if found is None or not found.parts:
        return False
    outcomes = [part.outcome for part in found.parts]
    return all(isinstance(o, Verdict) and o.support is Support.NONE for o in outcomes)


CLAIMING: Final = (
    "faithfulness",
    "faithfulness_strict",
    "faithfulness_with_fallback",
    "contradiction_rate",
    *CITING,
)
PAIRS: Final = {
    "f1": ("precision", "recall"),
    "f1_overall": ("precision_overall", "recall_overall"),
    "f1_with_fallback": ("precision_with_fallback", "recall_with_fallback"),
}
"""The precision and recall whose pooled values give each pooled F1."""
UNANSWERING: Final = frozenset({RelevanceStatus.ABSTAINED, RelevanceStatus.EMPTY})
"""Answers with these statuses answer no part of the question, and no judge is asked about them."""


def counts_of(result: SampleResult) -> dict[str, Counts]:
    """Count the outcomes of one answer by text and evidence.

    `claims`: the answer by its chunks; `answer`: by its reference; `reference`: the reference by
    the answer; `context`: by the chunks; `parts`: those of the question.
    """
    found = {"claims": Counts.of(result.sentences, result.citations)}
    if (compared := result.correctness) is not None:
        found["answer"] = Counts.of(compared.answer)
        found["reference"] = Counts.of(compared.reference)
    if result.answer_relevance is not None:
        found["parts"] = Counts.of(result.answer_relevance.parts)
    if result.context is not None:
        found["context"] = Counts.of(result.context.reference)
    return found


def public_measures(result: SampleResult) -> dict[str, Measure]:
    """Return the measures of an answer under the names that gates use."""
    measures = measures_of(result, counts_of(result))
    return {PUBLIC.get(name, name): each for name, each in measures.items()}


def measures_of(result: SampleResult, counts: Mapping[str, Counts]) -> dict[str, Measure]:
    """Return the measures of an answer that count in means, by the names of the totals' fields."""
    found = counts["claims"].measures() | citation_support(result.sentences, result.citations)
    for name, labels in zip(HALLUCINATING, (_INVENTED, _UNSUPPORTED), strict=True):
        found[name] = counts["claims"].any_of(labels)
    known = answerable(result)
    rates = ABSTAINING[:1] if known is None else (ABSTAINING[0], ABSTAINING[1 if known else 2])
    found |= dict.fromkeys(rates, Measure(float(result.status is Status.ABSTAINED)))
    if (compared := result.correctness) is not None:
        found |= _correctness(compared, counts)
    if (related := result.answer_relevance) is not None:
        if related.status not in UNANSWERING:
            mean = counts["parts"].mean()
            score = mean._replace(value=related.score, limits=related.bounds)
            found |= dict.fromkeys(RELEVANCE, score)
        elif known is not False:
            found["relevance_overall"] = measure(0.0, 1)
    if (context := result.context) is not None:
        found["context_recall"] = counts["context"].mean()
        found["context_precision"] = Measure(context.precision, context.precision_bounds)
    return found


def _correctness(compared: Correctness, counts: Mapping[str, Counts]) -> dict[str, Measure]:
    """Return the measures of a comparison with a reference.

    Precision, recall and F1 count only where there are both precision and recall. The overall
    scores are 0 where the answer abstains although the reference claims something.
    """
    found: dict[str, Measure] = {}
    precision, recall = counts["answer"].mean(), counts["reference"].mean()
    f1 = Measure(compared.f1, compared.f1_bounds)
    three = {"precision": precision, "recall": recall, "f1": f1}
    if None not in (precision.value, recall.value):
        found |= three
    elif None not in (precision.limits, recall.limits):
        found |= {name: Measure(limits=each.limits) for name, each in three.items()}
    fallen_back = compared.f1_with_fallback
    value = found.get("f1", Measure()).value if fallen_back is None else fallen_back
    if value is not None:
        found["f1_with_fallback"] = Measure(value)
        found["precision_with_fallback"] = counts["answer"].mean(with_fallback=True)
        found["recall_with_fallback"] = counts["reference"].mean(with_fallback=True)
    if compared.status is CorrectnessStatus.ABSTAINED and (size := claimed(compared)):
        found["f1_overall"], found["recall_overall"] = measure(0.0, 1), measure(0.0, size)
    elif None not in (compared.f1, recall.value):
        found |= {"f1_overall": f1, "precision_overall": precision, "recall_overall": recall}
    elif None not in (f1.limits, recall.limits):
        found["f1_overall"] = Measure(limits=f1.limits)
        found["recall_overall"] = Measure(limits=recall.limits)
    return found


def claimed(compared: Correctness) -> int:
    """Return the number of claims in the reference, judged or not."""
    return sum(sentence.kind is SentenceKind.CLAIM for sentence in compared.reference)


def answerable(result: SampleResult) -> bool | None:
    """Return whether the question has an answer, by gold evidence or else by the reference."""
    if result.cell is not None:
        return result.cell.answerable
    compared = result.correctness or result.context
    if compared is not None and not conflicting(result):
        kinds = {sentence.kind for sentence in compared.reference}
        if not kinds.isdisjoint({SentenceKind.CLAIM, SentenceKind.ABSTENTION}):
            return SentenceKind.CLAIM in kinds
    return None


def conflicting(result: SampleResult) -> bool:
    """Return whether the gold of an answer contradicts itself."""
    return any(flag.name is FlagName.CONFLICTING_GOLD for flag in result.flags)


def is_barren(result: SampleResult) -> bool:
    """Return whether the judge was asked about an answer and gave no verdict at all."""
    compared, related = result.correctness, result.answer_relevance
    if related is not None and related.status is RelevanceStatus.UNSCORED:
        return True
    parts: list[ClaimCounts] = [result.scores]
    parts += [compared.of_answer, compared.of_reference] if compared else []
    parts += [result.context.of_reference] if result.context else []
    return any(part.unscored and not part.judged + part.no_claim for part in parts)


def is_fresh(result: SampleResult) -> bool:
    """Return whether a model, and not the cache alone, was asked about an answer."""
    return any(not call.cached for call in result.calls)
