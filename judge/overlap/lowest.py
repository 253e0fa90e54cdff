"""Which answers to look at first."""

import heapq
from typing import Final

from judge.overlap.records import LowOverlap
from judge.records import Sample
from judge.text.visible import clip

_LONGEST: Final = 200

# In a heap the best of the worst is on top: all negated.
_Ranked = tuple[float, float, int, LowOverlap]


class Lowest:
    """Keeps the `size` answers of a stream with the least token F1, then ROUGE-L, then the first.

    Those whose token F1 is 1 are not low. Memory does not grow with the stream: of the texts no
    more than the beginning is kept.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._heap: list[_Ranked] = []
        self._seen = 0

    def add(self, sample: Sample, token_f1: float, rouge_l: float | None) -> None:
        """Take in a measured sample."""
        self._seen += 1
        if token_f1 == 1:
            return
        # Too long to be measured says nothing against it.
        rank = (-token_f1, -(1.0 if rouge_l is None else rouge_l), -self._seen)
        if self._size == 0 or (len(self._heap) == self._size and rank < self._heap[0][:3]):
            return
        item = (*rank, _shown(sample, token_f1, rouge_l))
        if len(self._heap) < self._size:
            heapq.heappush(self._heap, item)
        else:
            heapq.heapreplace(self._heap, item)

    def answers(self) -> tuple[LowOverlap, ...]:
        """Those kept, worst first."""
        return tuple(item[-1] for item in sorted(self._heap, key=lambda i: i[:3], reverse=True))


def _shown(sample: Sample, token_f1: float, rouge_l: float | None) -> LowOverlap:
    return LowOverlap(
        qid=sample.qid,
        token_f1=token_f1,
        rouge_l=rouge_l,
        answer=clip(sample.answer, _LONGEST),
        gold_answer=clip(sample.gold_answer or "", _LONGEST),
    )
