"""Scores over a stream of answers, by name."""

from collections.abc import Sequence
from typing import Final

from judge.records import CorpusBounds, CorpusScore, Interval
from judge.scores.interval import StreamedMeans

Limits = tuple[float | None, float | None]
"""A score with failures counted 0, then 1."""

_NONE: Final = (None, None)


class NamedMeans:
    """Means and intervals of named scores and of their bounds, in constant memory.

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
        self, qid: str, scores: Sequence[float | None], bounds: Sequence[Limits | None]
    ) -> None:
        """Add an answer's scores and bounds in the order of their names; None where it has none."""
        sides = (side for limits in bounds for side in limits or _NONE)
        self._means.add(qid, (*scores, *sides))

    def score(self, name: str, micro: float | None, items: int) -> CorpusScore | None:
        """A score; None where no answer has it.

        Args:
            name: which.
            micro: its pooled value.
            items: how many sentences or citations that is over.
        """
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
