"""From the results of a run to its totals, one result at a time, in constant memory.

All that is kept are whole numbers, so that the totals of parts merge, in any order, into exactly
those of the whole.
"""

from bisect import insort
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Self, get_args

from judge.records import (
    CitationStatus,
    CorpusBounds,
    CorpusScore,
    Correctness,
    CorrectnessStatus,
    CorrectnessTotals,
    FlagName,
    Interval,
    QuadrantCount,
    QuadrantTable,
    SampleResult,
    Scores,
    SentenceKind,
    Status,
    Summary,
    Support,
)
from judge.records.quadrant import Half, QuadrantWord
from judge.scores.answer import Counts, Limits, bounds, counted, share
from judge.scores.correctness import f1
from judge.scores.intervals import StreamedMeans
from judge.scores.quadrants import place, row_of

MAX_UNSCORED: Final = 0.05
"""Over this share of unscored claims a run is not to be trusted."""
MIN_UNSCORED: Final = 3
"""Fewer unscored claims than this are an accident, not the state of the judge."""

_QIDS: Final = 20
"""So many are named, of each quadrant and of those whose gold contradicts itself."""
_TICKS: Final = 2**64
"""Of a second: all times longer than 2⁻¹² s are whole numbers of them."""
_NONE: Final = (None, None)

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
_COMPARED: Final = ("f1", "precision", "recall")


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
        self._means = _NamedMeans(_SCORES, _BOUNDED, seed)
        self._correctness = _CorrectnessTotals(seed)
        self._quadrants = _QuadrantTotals()
        self._answers = 0
        self._signatures: Counter[str] = Counter()
        self._statuses: Counter[Status] = Counter()
        self._kinds: Counter[SentenceKind] = Counter()
        self._outcomes = Counts()
        self._citations: Counter[CitationStatus] = Counter()
        self._flags: Counter[FlagName] = Counter()
        self._models: Counter[str] = Counter()
        self._spent: Counter[str] = Counter()

    def add(self, result: SampleResult, position: int | None = None) -> None:
        """Take in one answer.

        Args:
            result: the answer's.
            position: where it stands in the input, for the qids that are named first; as many as
                came before it where left out.
        """
        position = self._answers if position is None else position
        outcomes = counted(result.sentences, result.citations)
        self._answers += 1
        self._signatures[result.signature] += 1
        self._statuses[result.status] += 1
        self._kinds.update(sentence.kind for sentence in result.sentences)
        self._outcomes.merge(outcomes)
        self._citations.update(c.status for c in result.citations if c.status is not None)
        self._flags.update(flag.name for flag in result.flags)
        self._means.add(result.qid, _values(result.scores), _limits(result.scores, outcomes))
        self._correctness.add(result.qid, result.correctness)
        self._quadrants.add(result, position)
        for call in result.calls:
            if call.model:
                self._models[call.model] += 1
            if call.cached:
                self._spent["cache_hits"] += 1
                continue
            self._spent["calls"] += 1
            self._spent["retries"] += call.retries
            self._spent["prompt_tokens"] += call.prompt_tokens
            self._spent["reply_tokens"] += call.reply_tokens
            self._spent["ticks"] += round(call.seconds * _TICKS)

    def merge(self, other: Self) -> None:
        """Take in what another has taken in, of other answers.

        Where both were given the positions of their answers, the summary is that of all of them
        taken in by one, in whatever order parts are merged.

        Raises:
            ValueError: the seeds or the limits differ.
        """
        if other._max_unscored != self._max_unscored:
            raise ValueError("only totals of equal max_unscored merge")
        self._means.merge(other._means)
        self._correctness.merge(other._correctness)
        self._quadrants.merge(other._quadrants)
        self._answers += other._answers
        self._outcomes.merge(other._outcomes)
        self._signatures.update(other._signatures)
        self._statuses.update(other._statuses)
        self._kinds.update(other._kinds)
        self._citations.update(other._citations)
        self._flags.update(other._flags)
        self._models.update(other._models)
        self._spent.update(other._spent)

    def summary(self) -> Summary:
        """The totals of what was added so far."""
        outcomes, spent = self._outcomes, self._spent
        return Summary(
            signatures=dict(self._signatures),
            answers=self._answers,
            statuses={status: self._statuses[status] for status in Status},
            abstention_rate=share(self._statuses[Status.ABSTAINED], self._answers),
            kinds={kind: self._kinds[kind] for kind in SentenceKind},
            claims=outcomes.claims,
            judged=outcomes.judged,
            supports={support: outcomes.own[support] for support in Support},
            sources=dict(outcomes.sources),
            unscored=dict(outcomes.unscored),
            unscored_share=outcomes.unscored_share,
            fallen_back=outcomes.fallen_back.total(),
            untrusted=_untrusted(outcomes, self._max_unscored),
            correctness=self._correctness.totals(self._max_unscored),
            breakdown=self._quadrants.table(),
            citations={status: self._citations[status] for status in CitationStatus},
            flags={name: self._flags[name] for name in FlagName},
            models=dict(self._models),
            calls=spent["calls"],
            retries=spent["retries"],
            cache_hits=spent["cache_hits"],
            prompt_tokens=spent["prompt_tokens"],
            reply_tokens=spent["reply_tokens"],
            seconds=spent["ticks"] / _TICKS,
            faithfulness_bounds=self._means.bounds("faithfulness"),
            faithfulness_strict_bounds=self._means.bounds("faithfulness_strict"),
            citation_recall_bounds=self._means.bounds("citation_recall"),
            citation_validity_bounds=self._means.bounds("citation_validity"),
            **self._scores(),
        )

    def _scores(self) -> dict[str, CorpusScore | None]:
        outcomes, judged = self._outcomes, self._outcomes.judged
        settled = self._citations.total() - self._citations[CitationStatus.UNJUDGED]
        pooled: dict[str, tuple[float | None, int]] = {
            "faithfulness": (outcomes.mean, judged),
            "faithfulness_strict": (outcomes.share(Support.FULL), judged),
            "contradiction_rate": (outcomes.share(Support.CONTRADICTED), judged),
            "coverage": (outcomes.coverage, outcomes.claims - outcomes.no_claim),
            "citation_validity": (share(self._citations[CitationStatus.VALID], settled), settled),
            "citation_recall": (outcomes.citation_recall, judged),
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


def _limits(scores: Scores, outcomes: Counts) -> list[Limits | None]:
    return [
        scores.faithfulness_bounds,
        bounds(outcomes.own[Support.FULL], outcomes.judged, outcomes.failed),
        bounds(outcomes.cited_fully, outcomes.judged, outcomes.failed),
        scores.citation_validity_bounds,
    ]


def _untrusted(outcomes: Counts, max_unscored: float) -> bool:
    """Whether the unscored share is over the limit, and by no accident."""
    return (outcomes.unscored_share or 0) > max_unscored and outcomes.failed >= MIN_UNSCORED


class _NamedMeans:
    """Means and intervals of named scores and of their bounds.

    Args:
        scores: names of the scores.
        bounded: names of what has bounds.
        seed: of the bootstrap intervals.
    """

    def __init__(self, scores: Sequence[str], bounded: Sequence[str], seed: int) -> None:
        sides = (f"{name}.{side}" for name in bounded for side in ("low", "high"))
        self._columns = {name: at for at, name in enumerate((*scores, *sides))}
        self._means = StreamedMeans(len(self._columns), seed)

    def add(
        self, qid: str, scores: Sequence[float | None], limits: Sequence[Limits | None]
    ) -> None:
        """Add an answer's scores and bounds in the order of their names; None where it has none."""
        sides = (side for pair in limits for side in pair or _NONE)
        self._means.add(qid, (*scores, *sides))

    def merge(self, other: Self) -> None:
        """Take in what another of the same seed has taken in."""
        self._means.merge(other._means)

    def score(self, name: str, micro: float | None, items: int) -> CorpusScore | None:
        """A score, with its pooled value over so many items; None where no answer has it."""
        macro = self._means.mean(self._columns[name])
        if macro is None or micro is None:
            return None
        return CorpusScore(
            macro=macro,
            micro=micro,
            answers=self._means.count(self._columns[name]),
            items=items,
            interval=self._interval(name),
        )

    def bounds(self, name: str) -> CorpusBounds | None:
        """The bounds of a score; None where no answer has any."""
        low, high = f"{name}.low", f"{name}.high"
        least, most = (self._means.mean(self._columns[side]) for side in (low, high))
        if least is None or most is None:
            return None
        return CorpusBounds(
            low=least,
            high=most,
            answers=self._means.count(self._columns[low]),
            low_interval=self._interval(low),
        )

    def _interval(self, name: str) -> Interval:
        interval = self._means.interval(self._columns[name])
        if interval is None:  # no caller asks for the interval of a mean that is not there
            raise ValueError(f"no answer has {name!r}")
        low, high, method = interval
        return Interval(low=low, high=high, method=method)


class _CorrectnessTotals:
    """How the answers of a run agree with their references.

    Args:
        seed: of the bootstrap intervals.
    """

    def __init__(self, seed: int) -> None:
        self._means = _NamedMeans((*_COMPARED, "f1_with_fallback"), _COMPARED, seed)
        self._signatures: Counter[str] = Counter()
        self._statuses: Counter[CorrectnessStatus] = Counter()
        self._flags: Counter[FlagName] = Counter()
        self._answers = Counts()
        self._references = Counts()

    def add(self, qid: str, found: Correctness | None) -> None:
        """Take in one answer, where it was compared or found to have nothing to compare with."""
        if found is None:
            return
        self._signatures[found.signature] += 1
        self._statuses[found.status] += 1
        fallback = found.f1_with_fallback
        # An answer in which nothing fell back counts here with the F1 it has.
        with_fallback = found.f1 if fallback is None else fallback
        self._means.add(
            qid,
            (found.f1, found.precision, found.recall, with_fallback),
            (found.f1_bounds, found.precision_bounds, found.recall_bounds),
        )
        self._flags.update(flag.name for flag in (*found.answer_flags, *found.reference_flags))
        for compared in found.answer:
            self._answers.add(compared.outcome)
        for sentence in found.reference:
            self._references.add(sentence.outcome)

    def merge(self, other: Self) -> None:
        """Take in what another of the same seed has taken in."""
        self._means.merge(other._means)
        self._signatures.update(other._signatures)
        self._statuses.update(other._statuses)
        self._flags.update(other._flags)
        self._answers.merge(other._answers)
        self._references.merge(other._references)

    def totals(self, max_unscored: float) -> CorrectnessTotals | None:
        """The totals of what was added so far; None where correctness was not asked for."""
        if not self._statuses:
            return None
        answers, references, both = self._answers, self._references, Counts()
        both.merge(answers)
        both.merge(references)
        micro = f1(answers.mean_with_fallback, references.mean_with_fallback)
        fallen_back = both.fallen_back.total()
        return CorrectnessTotals(
            signatures=dict(self._signatures),
            statuses={status: self._statuses[status] for status in CorrectnessStatus},
            f1=self._means.score("f1", f1(answers.mean, references.mean), both.judged),
            f1_bounds=self._means.bounds("f1"),
            precision=self._means.score("precision", answers.mean, answers.judged),
            precision_bounds=self._means.bounds("precision"),
            recall=self._means.score("recall", references.mean, references.judged),
            recall_bounds=self._means.bounds("recall"),
            f1_with_fallback=self._means.score(
                "f1_with_fallback", micro if fallen_back else None, both.judged_by_any
            ),
            answer_supports={support: answers.own[support] for support in Support},
            reference_supports={support: references.own[support] for support in Support},
            flags={name: self._flags[name] for name in FlagName},
            claims=both.claims,
            sources=dict(both.sources),
            unscored=dict(both.unscored),
            unscored_share=both.unscored_share,
            fallen_back=fallen_back,
            untrusted=_untrusted(both, max_unscored),
        )


class _First:
    """The qids that stand first in the input, 20 at most."""

    def __init__(self) -> None:
        self._held: list[tuple[int, str]] = []

    def __iter__(self) -> Iterator[str]:
        return (qid for _, qid in self._held)

    def add(self, position: int, qid: str) -> None:
        """Take in one, wherever it stands."""
        insort(self._held, (position, qid))
        del self._held[_QIDS:]

    def merge(self, other: Self) -> None:
        """Take in those of another."""
        for each in other._held:
            self.add(*each)


class _QuadrantTotals:
    """The answers of each quadrant, in memory that does not grow with them."""

    def __init__(self) -> None:
        self._answers: Counter[tuple[QuadrantWord, ...]] = Counter()
        self._partly: Counter[tuple[QuadrantWord, ...]] = Counter()
        self._qids: defaultdict[tuple[QuadrantWord, ...], _First] = defaultdict(_First)
        self._signatures: Counter[str] = Counter()
        self._without_gold = self._conflicting = 0
        self._conflicting_qids = _First()

    def add(self, result: SampleResult, position: int) -> None:
        """Take in one answer."""
        if result.cell is not None:
            words = result.cell.words
            self._answers[words] += 1
            self._partly[words] += result.cell.partly
            self._qids[words].add(position, result.qid)
            self._signatures[result.cell.signature] += 1
        elif any(flag.name is FlagName.CONFLICTING_GOLD for flag in result.flags):
            self._conflicting += 1
            self._conflicting_qids.add(position, result.qid)
        else:
            self._without_gold += 1

    def merge(self, other: Self) -> None:
        """Take in what another has taken in."""
        self._answers.update(other._answers)
        self._partly.update(other._partly)
        self._signatures.update(other._signatures)
        self._without_gold += other._without_gold
        self._conflicting += other._conflicting
        self._conflicting_qids.merge(other._conflicting_qids)
        for words, qids in other._qids.items():
            self._qids[words].merge(qids)

    def table(self) -> QuadrantTable | None:
        """The table of what was added so far; None where no answer has gold evidence."""
        if not self._answers and not self._conflicting:
            return None
        cells = [
            QuadrantCount(
                words=words,
                half=row_of(words).half,
                answers=self._answers[words],
                partly=self._partly[words],
                qids=tuple(self._qids[words]),
            )
            for words in sorted(self._answers, key=lambda words: (place(words), words))
        ]
        halves: dict[Half, int] = dict.fromkeys(get_args(Half), 0)
        for cell in cells:
            halves[cell.half] += cell.answers
        return QuadrantTable(
            cells=tuple(cells),
            halves=halves,
            counted=self._answers.total(),
            without_gold=self._without_gold,
            conflicting=self._conflicting,
            conflicting_qids=tuple(self._conflicting_qids),
            signatures=dict(self._signatures),
        )
