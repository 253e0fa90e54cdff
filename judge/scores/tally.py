"""Named means and counts over the answers of a run, in whole numbers, so that parts merge."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Self

from judge.records import CorpusBounds, CorpusScore
from judge.scores.answer import Limits, Rate, share
from judge.scores.intervals import StreamedMeans

MIN_UNSCORED: Final = 3
"""Fewer failures than this are an accident, not the state of the judge."""


def is_untrusted(failed: int, whole: int, most: float) -> bool:
    """Whether more than this share of the whole failed, and by no accident."""
    return failed >= MIN_UNSCORED and (share(failed, whole) or 0) > most


class Tally:
    """Named counts, and means of named scores and of their bounds.

    Args:
        scores: names of the scores.
        bounded: names of those that have bounds.
    """

    def __init__(self, scores: Sequence[str], bounded: Sequence[str]) -> None:
        self.counted: defaultdict[str, Counter[str]] = defaultdict(Counter)
        """By name of what is counted, such as `statuses`, then by what was found."""
        self._bounded = bounded
        sides = (f"{name}.{side}" for name in bounded for side in ("low", "high"))
        self._means = StreamedMeans((*scores, *sides))

    def add(self, scores: Mapping[str, float | None], limits: Mapping[str, Limits | None]) -> None:
        """Add an answer's scores and bounds; None where it has none."""
        pairs = {name: pair for name, pair in limits.items() if pair is not None}
        low = {f"{name}.low": pair[0] for name, pair in pairs.items()}
        high = {f"{name}.high": pair[1] for name, pair in pairs.items()}
        self._means.add({**scores, **low, **high})

    def add_zero(self) -> None:
        """Add an answer of which every score, and bound, is 0."""
        self._means.add_zero()

    def merge(self, other: Self) -> None:
        """Take in what another has taken in."""
        self._means.merge(other._means)
        for name, counts in other.counted.items():
            self.counted[name].update(counts)

    def scores(self, pooled: Mapping[str, Rate]) -> dict[str, CorpusScore | None]:
        """By name; None where no answer has it."""
        return {name: self._score(name, *pool) for name, pool in pooled.items()}

    def shares(self, names: Iterable[str]) -> dict[str, CorpusScore | None]:
        """Shares of answers by name: pooled over the answers, which is the mean again."""
        return {
            name: self._score(name, self._means.mean(name), self._means.count(name))
            for name in names
        }

    def _score(self, name: str, micro: float | None, items: int) -> CorpusScore | None:
        macro, interval = self._means.mean(name), self._means.interval(name)
        if macro is None or interval is None or micro is None:
            return None
        answers = self._means.count(name)
        return CorpusScore(
            macro=macro, micro=micro, answers=answers, items=items, interval=interval
        )

    def bounds(self) -> dict[str, CorpusBounds | None]:
        """By the name of their field; None where no answer has any."""
        return {
            f"{name}_bounds": self._bounds(f"{name}.low", f"{name}.high") for name in self._bounded
        }

    def _bounds(self, lower: str, upper: str) -> CorpusBounds | None:
        low, high = self._means.mean(lower), self._means.mean(upper)
        interval = self._means.interval(lower)
        if low is None or high is None or interval is None:
            return None
        answers = self._means.count(lower)
        return CorpusBounds(
            low=low,
            high=high,
            answers=answers,
            low_interval=interval,
            high_interval=self._means.interval(upper),
        )
