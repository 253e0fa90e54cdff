"""Named means and counts over the answers of a run, in whole numbers, so that parts merge."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Self

from judge.records import CorpusBounds, CorpusScore
from judge.scores.answer import Counts, Limits, Rate, share
from judge.scores.intervals import StreamedMeans

MIN_UNSCORED: Final = 3
"""A run with fewer failures than this is trusted whatever their share."""


def is_untrusted(failed: int, whole: int, most: float) -> bool:
    """Whether the share of failures exceeds `most` and there are at least three.

    >>> is_untrusted(3, 10, 0.05), is_untrusted(2, 10, 0.05)
    (True, False)
    """
    return failed >= MIN_UNSCORED and (share(failed, whole) or 0) > most


class Tally:
    """Counts, pooled outcomes, and means of scores and of their bounds, all by name.

    Args:
        scores: names of the scores.
        bounded: names of the scores that have bounds.
    """

    def __init__(self, scores: Sequence[str], bounded: Sequence[str]) -> None:
        self.counted: defaultdict[str, Counter[Any]] = defaultdict(Counter)
        """By name of what is counted, such as `statuses`, then by value."""
        self.pools: defaultdict[str, Counts] = defaultdict(Counts)
        """Outcomes of the claims behind a score, by its name."""
        sides = (f"{name}.{side}" for name in bounded for side in ("low", "high"))
        self._means = StreamedMeans((*scores, *sides))

    def add(self, scores: Mapping[str, float | None], limits: Mapping[str, Limits | None]) -> None:
        """Add an answer's scores and bounds; None where it has none."""
        pairs = {name: pair for name, pair in limits.items() if pair is not None}
        low = {f"{name}.low": pair[0] for name, pair in pairs.items()}
        high = {f"{name}.high": pair[1] for name, pair in pairs.items()}
        self._means.add({**scores, **low, **high})

    def merge(self, other: Self) -> None:
        """Add all that another tally of other answers holds."""
        self._means.merge(other._means)
        for name, counts in other.counted.items():
            self.counted[name].update(counts)
        for name, outcomes in other.pools.items():
            self.pools[name].merge(outcomes)

    def scores(self, pooled: Mapping[str, Rate]) -> dict[str, CorpusScore | None]:
        """Scores by name, each beside its pooled value; None where no answer has the score."""
        return {name: self._score(name, *pool) for name, pool in pooled.items()}

    def shares(self, names: Iterable[str]) -> dict[str, CorpusScore | None]:
        """Shares of answers by name; their pooled value is the mean itself."""
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

    def bounds(self, names: Iterable[str]) -> dict[str, CorpusBounds | None]:
        """Return bounds under the names of their fields; None where no answer has any."""
        return {f"{name}_bounds": self._bounds(f"{name}.low", f"{name}.high") for name in names}

    def _bounds(self, lower: str, upper: str) -> CorpusBounds | None:
        low, high = self._means.mean(lower), self._means.mean(upper)
        interval = self._means.interval(lower)
        if low is None or high is None or interval is None:
            return None
        return CorpusBounds(
            low=low,
            high=high,
            answers=self._means.count(lower),
            low_interval=interval,
            high_interval=self._means.interval(upper),
        )
