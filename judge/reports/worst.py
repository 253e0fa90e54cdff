"""What to look at first."""

import heapq
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from judge.records import SampleResult, SentenceResult, Support, Verdict

_ORDER: Final = {Support.CONTRADICTED: 0, Support.NONE: 1, Support.PARTIAL: 2}
_STAND_IN: Final = len(_ORDER)


@dataclass(frozen=True, slots=True)
class WorstSentence:
    """A sentence that is not fully supported, and whose answer it stands in."""

    qid: str
    sentence: SentenceResult
    verdict: Verdict


class Worst:
    """Keeps the `size` worst sentences of a stream, in memory that does not grow with it.

    The run's own verdicts before those of a fallback; contradicted before none before partial;
    among equals the least probable, then the first.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        # A heap with the best of the worst on top: (negated rank, negated score, negated place).
        self._heap: list[tuple[int, float, int, WorstSentence]] = []
        self._seen = 0

    def add(self, result: SampleResult) -> None:
        """Take in one answer."""
        for index in result.scores.unsupported:
            sentence = result.sentences[index]
            if not isinstance(sentence.outcome, Verdict):
                continue
            self._seen += 1
            verdict = sentence.outcome
            rank, score = _ORDER[verdict.support], verdict.score or 0.0
            rank += _STAND_IN if verdict.fallback_from else 0
            item = (-rank, -score, -self._seen, WorstSentence(result.qid, sentence, verdict))
            if len(self._heap) < self._size:
                heapq.heappush(self._heap, item)
            elif self._heap:
                heapq.heappushpop(self._heap, item)

    def sentences(self) -> list[WorstSentence]:
        """The worst, worst first."""
        return [item[-1] for item in sorted(self._heap, reverse=True)]


def worst_answer(results: Iterable[SampleResult]) -> SampleResult | None:
    """The scored answer with the lowest faithfulness; among equals the one with most unsupported.

    Where none is scored, the one with the most failures, the first of them; None where no answer
    claims anything. An answer nobody could judge is not a bad answer.
    """
    return min(
        (result for result in results if result.scores.claims),
        key=lambda r: (
            r.scores.faithfulness is None,
            r.scores.faithfulness or 0.0,
            -len(r.scores.unsupported),
            -r.scores.unscored,
        ),
        default=None,
    )
