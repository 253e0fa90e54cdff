"""From the results of a run to its totals, one result at a time, in constant memory.

All that is kept are whole numbers, so that the totals of parts merge, in any order, into exactly
those of the whole.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
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

_Counted = defaultdict[str, Counter[str]]
"""Counts by name of what is counted, such as `statuses`, then by what was found."""

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
        self._outcomes = Counts()
        self._counted: _Counted = defaultdict(Counter)

    def add(self, result: SampleResult, position: int | None = None) -> None:
        """Take in one answer.

        Args:
            result: the answer's.
            position: where it stands in the input, for the qids that are named first; as many as
                came before it where left out.
        """
        found = self._counted
        position = found["statuses"].total() if position is None else position
        outcomes = counted(result.sentences, result.citations)
        self._outcomes.merge(outcomes)
        found["signatures"][result.signature] += 1
        found["statuses"][result.status] += 1
        found["kinds"].update(sentence.kind for sentence in result.sentences)
        found["citations"].update(c.status for c in result.citations if c.status is not None)
        found["flags"].update(flag.name for flag in result.flags)
        self._means.add(result.qid, _values(result.scores), _limits(result.scores, outcomes))
        self._correctness.add(result.qid, result.correctness)
        self._quadrants.add(result, position)
        spent = found["spent"]
        for call in result.calls:
            if call.model:
                found["models"][call.model] += 1
            if call.cached:
                spent["cache_hits"] += 1
                continue
            spent["calls"] += 1
            spent["retries"] += call.retries
            spent["prompt_tokens"] += call.prompt_tokens
            spent["reply_tokens"] += call.reply_tokens
            spent["ticks"] += round(call.seconds * _TICKS)

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
        self._outcomes.merge(other._outcomes)
        _merge(self._counted, other._counted)

    def summary(self) -> Summary:
        """The totals of what was added so far."""
        outcomes, found, spent = self._outcomes, self._counted, self._counted["spent"]
        answers = found["statuses"].total()
        return Summary(
            signatures=dict(found["signatures"]),
            answers=answers,
            statuses={status: found["statuses"][status] for status in Status},
            abstention_rate=share(found["statuses"][Status.ABSTAINED], answers),
            kinds={kind: found["kinds"][kind] for kind in SentenceKind},
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
            citations={status: found["citations"][status] for status in CitationStatus},
            flags={name: found["flags"][name] for name in FlagName},
            models=dict(found["models"]),
            calls=spent["calls"],
            retries=spent["retries"],
            cache_hits=spent["cache_hits"],
            prompt_tokens=spent["prompt_tokens"],
            reply_tokens=spent["reply_tokens"],
            seconds=spent["ticks"] / _TICKS,
            **self._means.all_bounds(),
            **self._scores(),
        )

    def _scores(self) -> dict[str, CorpusScore | None]:
        outcomes, judged = self._outcomes, self._outcomes.judged
        citations = self._counted["citations"]
        settled = citations.total() - citations[CitationStatus.UNJUDGED]
        pooled: dict[str, tuple[float | None, int]] = {
            "faithfulness": (outcomes.mean, judged),
            "faithfulness_strict": (outcomes.share(Support.FULL), judged),
            "contradiction_rate": (outcomes.share(Support.CONTRADICTED), judged),
            "coverage": (outcomes.coverage, outcomes.claims - outcomes.no_claim),
            "citation_validity": (share(citations[CitationStatus.VALID], settled), settled),
            "citation_recall": (outcomes.citation_recall, judged),
        }
        if outcomes.fallen_back:
            pair = outcomes.mean_with_fallback, outcomes.judged_by_any
            pooled["faithfulness_with_fallback"] = pair
        return self._means.scores(pooled)


def _merge(own: _Counted, other: _Counted) -> None:
    for name, counts in other.items():
        own[name].update(counts)


def _values(scores: Scores) -> list[float | None]:
    values = {name: getattr(scores, name) for name in _SCORES}
    if scores.faithfulness_with_fallback is None:
        # An answer in which nothing fell back counts here with the faithfulness it has.
        values["faithfulness_with_fallback"] = scores.faithfulness
    return [*values.values()]


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
        self._bounded = bounded
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
        self._means.merge(other._means)

    def scores(
        self, pooled: Mapping[str, tuple[float | None, int]]
    ) -> dict[str, CorpusScore | None]:
        """By name, each with its pooled value over so many items; None where no answer has it."""
        return {name: self._score(name, *pool) for name, pool in pooled.items()}

    def _score(self, name: str, micro: float | None, items: int) -> CorpusScore | None:
        count, macro, interval = self._mean(name)
        if macro is None or interval is None or micro is None:
            return None
        return CorpusScore(macro=macro, micro=micro, answers=count, items=items, interval=interval)

    def all_bounds(self) -> dict[str, CorpusBounds | None]:
        """By the name of their field; None where no answer has any."""
        return {f"{name}_bounds": self._bounds(name) for name in self._bounded}

    def _bounds(self, name: str) -> CorpusBounds | None:
        count, low, interval = self._mean(f"{name}.low")
        _, high, _ = self._mean(f"{name}.high")
        if low is None or high is None or interval is None:
            return None
        return CorpusBounds(low=low, high=high, answers=count, low_interval=interval)

    def _mean(self, name: str) -> tuple[int, float | None, Interval | None]:
        """How many answers have it, their mean, and its interval."""
        column = self._columns[name]
        found = self._means.interval(column)
        interval = found and Interval(low=found[0], high=found[1], method=found[2])
        return self._means.count(column), self._means.mean(column), interval


class _CorrectnessTotals:
    """How the answers of a run agree with their references.

    Args:
        seed: of the bootstrap intervals.
    """

    def __init__(self, seed: int) -> None:
        self._means = _NamedMeans((*_COMPARED, "f1_with_fallback"), _COMPARED, seed)
        self._counted: _Counted = defaultdict(Counter)
        self._answers, self._references = Counts(), Counts()

    def add(self, qid: str, found: Correctness | None) -> None:
        """Take in one answer, where it was compared or found to have nothing to compare with."""
        if found is None:
            return
        self._counted["signatures"][found.signature] += 1
        self._counted["statuses"][found.status] += 1
        flags = (*found.answer_flags, *found.reference_flags)
        self._counted["flags"].update(flag.name for flag in flags)
        fallback = found.f1_with_fallback
        # An answer in which nothing fell back counts here with the F1 it has.
        with_fallback = found.f1 if fallback is None else fallback
        self._means.add(
            qid,
            (found.f1, found.precision, found.recall, with_fallback),
            (found.f1_bounds, found.precision_bounds, found.recall_bounds),
        )
        for compared in found.answer:
            self._answers.add(compared.outcome)
        for sentence in found.reference:
            self._references.add(sentence.outcome)

    def merge(self, other: Self) -> None:
        self._means.merge(other._means)
        _merge(self._counted, other._counted)
        self._answers.merge(other._answers)
        self._references.merge(other._references)

    def totals(self, max_unscored: float) -> CorrectnessTotals | None:
        """The totals of what was added so far; None where correctness was not asked for."""
        found = self._counted
        if not found["statuses"]:
            return None
        answers, references, both = self._answers, self._references, Counts()
        both.merge(answers)
        both.merge(references)
        fallen_back = both.fallen_back.total()
        pooled: dict[str, tuple[float | None, int]] = {
            "f1": (f1(answers.mean, references.mean), both.judged),
            "precision": (answers.mean, answers.judged),
            "recall": (references.mean, references.judged),
            "f1_with_fallback": (None, 0),
        }
        if fallen_back:
            micro = f1(answers.mean_with_fallback, references.mean_with_fallback)
            pooled["f1_with_fallback"] = (micro, both.judged_by_any)
        return CorrectnessTotals(
            signatures=dict(found["signatures"]),
            statuses={status: found["statuses"][status] for status in CorrectnessStatus},
            answer_supports={support: answers.own[support] for support in Support},
            reference_supports={support: references.own[support] for support in Support},
            flags={name: found["flags"][name] for name in FlagName},
            claims=both.claims,
            sources=dict(both.sources),
            unscored=dict(both.unscored),
            unscored_share=both.unscored_share,
            fallen_back=fallen_back,
            untrusted=_untrusted(both, max_unscored),
            **self._means.all_bounds(),
            **self._means.scores(pooled),
        )


@dataclass(slots=True)
class _Group:
    """Answers that have something in common."""

    answers: int = 0
    partly: int = 0
    """How many did not see all that gold names."""
    first: list[tuple[int, str]] = field(default_factory=list)
    """Positions and qids of those that stand first in the input, 20 at most."""

    @property
    def qids(self) -> tuple[str, ...]:
        return tuple(qid for _, qid in self.first)

    def merge(self, other: Self) -> None:
        self.answers += other.answers
        self.partly += other.partly
        self.first = sorted((*self.first, *other.first))[:_QIDS]


_Words = tuple[QuadrantWord, ...]


class _QuadrantTotals:
    """The answers of each quadrant, in memory that does not grow with them."""

    def __init__(self) -> None:
        self._placed: defaultdict[_Words, _Group] = defaultdict(_Group)
        self._conflicting, self._without_gold = _Group(), _Group()
        self._signatures: Counter[str] = Counter()

    def add(self, result: SampleResult, position: int) -> None:
        one = _Group(1, 0, [(position, result.qid)])
        if result.cell is not None:
            one.partly += result.cell.partly
            self._placed[result.cell.words].merge(one)
            self._signatures[result.cell.signature] += 1
        elif any(flag.name is FlagName.CONFLICTING_GOLD for flag in result.flags):
            self._conflicting.merge(one)
        else:
            self._without_gold.merge(one)

    def merge(self, other: Self) -> None:
        for words, group in other._placed.items():
            self._placed[words].merge(group)
        self._conflicting.merge(other._conflicting)
        self._without_gold.merge(other._without_gold)
        self._signatures.update(other._signatures)

    def table(self) -> QuadrantTable | None:
        """The table of what was added so far; None where no answer has gold evidence."""
        if not self._placed and not self._conflicting.answers:
            return None
        placed = sorted(self._placed.items(), key=lambda item: (place(item[0]), item[0]))
        cells = tuple(
            QuadrantCount(
                words=words,
                half=row_of(words).half,
                answers=group.answers,
                partly=group.partly,
                qids=group.qids,
            )
            for words, group in placed
        )
        halves: dict[Half, int] = dict.fromkeys(get_args(Half), 0)
        for cell in cells:
            halves[cell.half] += cell.answers
        return QuadrantTable(
            cells=cells,
            halves=halves,
            counted=self._signatures.total(),
            without_gold=self._without_gold.answers,
            conflicting=self._conflicting.answers,
            conflicting_qids=self._conflicting.qids,
            signatures=dict(self._signatures),
        )
