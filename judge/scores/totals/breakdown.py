"""The table of cells of a run: retrieved, faithful, correct, abstained."""

from collections import Counter, defaultdict
from typing import Final, get_args

from judge.records import Breakdown, CellCount, FlagName, SampleResult
from judge.records.cell import CellWord, Half
from judge.scores.totals.halves import place, row_of

_QIDS: Final = 20
"""So many are named, of each cell and of those whose gold contradicts itself."""


class BreakdownSums:
    """Counts the answers of each cell, in memory that does not grow with them."""

    def __init__(self) -> None:
        self._answers: Counter[tuple[CellWord, ...]] = Counter()
        self._qids: defaultdict[tuple[CellWord, ...], list[str]] = defaultdict(list)
        self._partly: Counter[tuple[CellWord, ...]] = Counter()
        self._signatures: Counter[str] = Counter()
        self._without_gold = 0
        self._conflicting = 0
        self._conflicting_qids: list[str] = []

    def add(self, result: SampleResult) -> None:
        """Take in one answer."""
        if result.cell is None:
            self._leave_out(result)
            return
        words = result.cell.words
        self._answers[words] += 1
        self._partly[words] += result.cell.partly
        self._signatures[result.cell.signature] += 1
        if len(self._qids[words]) < _QIDS:
            self._qids[words].append(result.qid)

    def _leave_out(self, result: SampleResult) -> None:
        if all(flag.name is not FlagName.CONFLICTING_GOLD for flag in result.flags):
            self._without_gold += 1
            return
        self._conflicting += 1
        if len(self._conflicting_qids) < _QIDS:
            self._conflicting_qids.append(result.qid)

    def breakdown(self) -> Breakdown | None:
        """The table of what was added so far; None where no answer has gold evidence."""
        if not self._answers and not self._conflicting:
            return None
        cells = [
            CellCount(
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
        return Breakdown(
            cells=tuple(cells),
            halves=halves,
            counted=self._answers.total(),
            without_gold=self._without_gold,
            conflicting=self._conflicting,
            conflicting_qids=tuple(self._conflicting_qids),
            signatures=dict(self._signatures),
        )
