"""How the answers of a run agree with their references, one result at a time."""

from collections import Counter
from typing import Final

from judge.records import (
    CorpusScore,
    Correctness,
    CorrectnessStatus,
    CorrectnessTotals,
    FlagName,
    SampleResult,
)
from judge.scores.shares import f1
from judge.scores.totals.means import NamedMeans
from judge.scores.totals.outcomes import CountedOutcomes

_BOUNDED: Final = ("f1", "precision", "recall")
_SCORES: Final = (*_BOUNDED, "f1_with_fallback")


class CorrectnessSums:
    """Adds results up, in constant memory; `totals` may be asked at any time.

    Args:
        seed: of the bootstrap intervals.
    """

    def __init__(self, *, seed: int = 0) -> None:
        self._means = NamedMeans(_SCORES, _BOUNDED, seed)
        self._signatures: Counter[str] = Counter()
        self._statuses: Counter[CorrectnessStatus] = Counter()
        self._flags: Counter[FlagName] = Counter()
        self._answers = CountedOutcomes()
        self._references = CountedOutcomes()

    def add(self, result: SampleResult) -> None:
        """Take in one answer, where it was compared or found to have nothing to compare with."""
        found = result.correctness
        if found is None:
            return
        self._signatures[found.signature] += 1
        self._statuses[found.status] += 1
        self._means.add(
            result.qid,
            _scores(found),
            (found.f1_bounds, found.precision_bounds, found.recall_bounds),
        )
        flags = (*found.answer_flags, *found.reference_flags)
        self._flags.update(flag.name for flag in flags)
        for compared in found.answer:
            self._answers.add(compared.outcome)
        for sentence in found.reference:
            self._references.add(sentence.outcome)

    def totals(self, max_unscored: float) -> CorrectnessTotals | None:
        """The totals of what was added so far; None where correctness was not asked for.

        Args:
            max_unscored: share of unscored claims, 0 to 1, over which they are untrusted.
        """
        if not self._statuses:
            return None
        answers, references, both = (
            self._answers,
            self._references,
            self._answers + self._references,
        )
        return CorrectnessTotals(
            signatures=dict(self._signatures),
            statuses={status: self._statuses[status] for status in CorrectnessStatus},
            f1=self._means.score("f1", f1(answers.mean, references.mean), both.judged),
            f1_bounds=self._means.bounds("f1"),
            precision=self._means.score("precision", answers.mean, answers.judged),
            precision_bounds=self._means.bounds("precision"),
            recall=self._means.score("recall", references.mean, references.judged),
            recall_bounds=self._means.bounds("recall"),
            f1_with_fallback=self._with_fallback(both),
            answer_supports=answers.supports,
            reference_supports=references.supports,
            flags={name: self._flags[name] for name in FlagName},
            claims=both.claims,
            sources=dict(both.sources),
            unscored=dict(both.unscored),
            unscored_share=both.unscored_share,
            fallen_back=both.fallen_back.total(),
            untrusted=both.untrusted(max_unscored),
        )

    def _with_fallback(self, both: CountedOutcomes) -> CorpusScore | None:
        if not both.fallen_back:
            return None
        micro = f1(self._answers.mean_with_fallback, self._references.mean_with_fallback)
        return self._means.score("f1_with_fallback", micro, both.judged_by_any)


def _scores(found: Correctness) -> tuple[float | None, ...]:
    fallback = found.f1_with_fallback
    # An answer in which nothing fell back counts here with the F1 it has.
    return found.f1, found.precision, found.recall, found.f1 if fallback is None else fallback
