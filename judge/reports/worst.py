"""What to look at first: the worst sentences, and an example of each failure."""

from bisect import insort
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from judge.records import (
    Flag,
    FlagName,
    Outcome,
    SampleResult,
    SentenceResult,
    Support,
    Unscored,
    UnscoredReason,
    Verdict,
)

_ORDER: Final = {Support.CONTRADICTED: 0, Support.NONE: 2, Support.PARTIAL: 3}
_MISMATCHED: Final = 1
_FLAGGED: Final = 4
"""Only its quote is in doubt, or another chunk says otherwise: nothing speaks against the label."""
_STAND_IN: Final = 5
_SHARE: Final = 3
_MISMATCHES: Final = {
    FlagName.MISMATCH_NUMBER,
    FlagName.MISMATCH_DATE,
    FlagName.MISMATCH_UNIT,
    FlagName.MISMATCH_NAME,
}


@dataclass(frozen=True, slots=True)
class WorstSentence:
    """A sentence that is flagged or not fully supported, and whose answer it stands in."""

    qid: str
    sentence: SentenceResult
    verdict: Verdict
    flags: tuple[Flag, ...] = ()


_Ranked = tuple[int, float, int, WorstSentence]
"""Its rank, its score, its place in the stream: no two sentences are compared."""


class Worst:
    """Keeps the `size` worst sentences of a stream, in memory that does not grow with it.

    The run's own verdicts before those of a fallback; contradicted, then a number, date, unit or
    name that the evidence lacks, then none, partial, other flags; among equals the least probable,
    then the first. Where there is enough else, supported sentences that are flagged get a third of
    the places: a flag is seen soon, and hides nothing that is worse.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._unsupported: list[_Ranked] = []
        self._flagged: list[_Ranked] = []
        self._seen = 0

    def add(self, result: SampleResult) -> None:
        """Take in one answer."""
        flags = _flags(result)
        unsupported = frozenset(result.scores.unsupported)
        for index in sorted(unsupported.union(flags)):
            sentence = result.sentences[index]
            if not isinstance(sentence.outcome, Verdict):
                continue
            self._seen += 1
            worst = WorstSentence(
                result.qid, sentence, sentence.outcome, tuple(flags.get(index, ()))
            )
            kept = self._unsupported if index in unsupported else self._flagged
            insort(kept, (_rank(worst), worst.verdict.score or 0.0, self._seen, worst))
            del kept[self._size :]

    def sentences(self) -> list[WorstSentence]:
        """The worst, worst first."""
        flagged = self._flagged[: max(self._size - len(self._unsupported), self._size // _SHARE)]
        kept = [*self._unsupported[: self._size - len(flagged)], *flagged]
        return [worst for *_, worst in sorted(kept)]


def _rank(worst: WorstSentence) -> int:
    rank = _ORDER.get(worst.verdict.support, _FLAGGED)
    if any(flag.name in _MISMATCHES for flag in worst.flags):
        rank = min(rank, _MISMATCHED)
    return rank + (_STAND_IN if worst.verdict.fallback_from else 0)


def worst_answer(results: Iterable[SampleResult]) -> SampleResult | None:
    """The scored answer with the lowest faithfulness; among equals most unsupported or flagged.

    Where none is scored, the one with the most failures, the first of them; None where no answer
    claims anything. An answer nobody could judge is not a bad answer.
    """
    return min(
        (result for result in results if result.scores.claims),
        key=lambda r: (
            r.scores.faithfulness is None,
            r.scores.faithfulness or 0.0,
            -len({*r.scores.unsupported, *_flags(r)}),
            -r.scores.unscored,
        ),
        default=None,
    )


def _flags(result: SampleResult) -> dict[int, list[Flag]]:
    flags: defaultdict[int, list[Flag]] = defaultdict(list)
    for flag in result.flags:
        if flag.sentence is not None:
            flags[flag.sentence].append(flag)
    return flags


@dataclass(frozen=True, slots=True)
class Example:
    """A sentence that the run's own judge gave no verdict on."""

    qid: str
    failure: Unscored


class Failures:
    """Keeps the first failure of each reason in a stream of results."""

    def __init__(self) -> None:
        self.first: dict[UnscoredReason, Example] = {}
        """By reason, in the order they were first met."""

    def add(self, result: SampleResult) -> None:
        """Take in one answer: what the chunks say of it, then what the reference does."""
        judged: list[Outcome] = [sentence.outcome for sentence in result.sentences]
        if found := result.correctness:
            judged += [compared.outcome for compared in found.answer]
            judged += [compared.outcome for compared in found.reference]
        for outcome in judged:
            failure = outcome.fallback_from if isinstance(outcome, Verdict) else outcome
            if isinstance(failure, Unscored):
                self.first.setdefault(failure.reason, Example(result.qid, failure))
