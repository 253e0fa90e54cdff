"""The table of cells of a run: retrieved, faithful, correct, abstained."""

from collections import Counter, defaultdict
from typing import Final, get_args

from judge.records import Breakdown, CellCount, SampleResult
from judge.records.cell import CellWord, Half
from judge.steps.totals.halves import place, row_of

_QIDS: Final = 20
"""So many of each cell are named."""


class BreakdownSums:
    """Counts the answers of each cell, in memory that does not grow with them."""

    def __init__(self) -> None:
        self._answers: Counter[tuple[CellWord, ...]] = Counter()
        self._qids: defaultdict[tuple[CellWord, ...], list[str]] = defaultdict(list)
        self._signatures: Counter[str] = Counter()
        self._left_out = 0

    def add(self, result: SampleResult) -> None:
        """Take in one answer."""
        if result.cell is None:
            self._left_out += 1
            return
        words = result.cell.words
        self._answers[words] += 1
        self._signatures[result.cell.signature] += 1
        if len(self._qids[words]) < _QIDS:
            self._qids[words].append(result.qid)

    def breakdown(self) -> Breakdown | None:
        """The table of what was added so far; None where no answer is in a cell."""
        if not self._answers:
            return None
        cells = [
            CellCount(
                words=words,
                half=row_of(words).half,
                answers=self._answers[words],
                qids=tuple(self._qids[words]),
            )
            for words in sorted(self._answers, key=lambda words: (place(words), words))
        ]
        halves: dict[Half, int] = dict.fromkeys(get_args(Half), 0)
        for cell in cells:
            halves[cell.half] += cell.answers
        return Breakdown(
            cells=tuple(cells),
            halves=halves,
            counted=self._answers.total(),
            left_out=self._left_out,
            signatures=dict(self._signatures),
        )
