"""What to look at first."""

import heapq
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from judge.records import Flag, FlagName, SampleResult, SentenceResult, Support, Verdict

_ORDER: Final = {Support.CONTRADICTED: 0, Support.NONE: 2, Support.PARTIAL: 3}
_MISMATCHED: Final = 1
_FLAGGED: Final = 4
"""Only its quote is in doubt, or another chunk says otherwise: nothing speaks against the label."""
_STAND_IN: Final = 5
_MISMATCHES: Final = frozenset(
    {
        FlagName.MISMATCH_NUMBER,
        FlagName.MISMATCH_DATE,
        FlagName.MISMATCH_UNIT,
        FlagName.MISMATCH_NAME,
    }
)


@dataclass(frozen=True, slots=True)
class WorstSentence:
    """A sentence that is flagged or not fully supported, and whose answer it stands in."""

    qid: str
    sentence: SentenceResult
    verdict: Verdict
    flags: tuple[Flag, ...] = ()


class Worst:
    """Keeps the `size` worst sentences of a stream, in memory that does not grow with it.

    The run's own verdicts before those of a fallback; contradicted, then a number, date, unit or
    name that the evidence lacks, then none, partial, other flags; among equals the least probable,
    then the first.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        # A heap with the best of the worst on top: (negated rank, negated score, negated place).
        self._heap: list[tuple[int, float, int, WorstSentence]] = []
        self._seen = 0

    def add(self, result: SampleResult) -> None:
        """Take in one answer."""
        flags = _flags(result)
        for index in sorted({*result.scores.unsupported, *flags}):
            sentence = result.sentences[index]
            if not isinstance(sentence.outcome, Verdict):
                continue
            self._seen += 1
            verdict, own = sentence.outcome, flags.get(index, ())
            rank, score = _ORDER.get(verdict.support, _FLAGGED), verdict.score or 0.0
            if any(flag.name in _MISMATCHES for flag in own):
                rank = min(rank, _MISMATCHED)
            rank += _STAND_IN if verdict.fallback_from else 0
            worst = WorstSentence(result.qid, sentence, verdict, own)
            item = (-rank, -score, -self._seen, worst)
            if len(self._heap) < self._size:
                heapq.heappush(self._heap, item)
            elif self._heap:
                heapq.heappushpop(self._heap, item)

    def sentences(self) -> list[WorstSentence]:
        """The worst, worst first."""
        return [item[-1] for item in sorted(self._heap, reverse=True)]


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


def _flags(result: SampleResult) -> dict[int, tuple[Flag, ...]]:
    flags: dict[int, tuple[Flag, ...]] = {}
    for flag in result.flags:
        if flag.sentence is not None:
            flags[flag.sentence] = (*flags.get(flag.sentence, ()), flag)
    return flags
