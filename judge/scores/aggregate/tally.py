"""Outcomes, counted: what was judged, with what weight, and what a failure could hide."""

from collections.abc import Iterable
from functools import cached_property

from judge.records import SUPPORT_WEIGHT, JudgeOutcome, Support, Verdict
from judge.scores.shares import share


class Tally:
    """The outcomes of some claims. What a fallback answered counts as unscored.

    Args:
        outcomes: one a claim.
    """

    def __init__(self, outcomes: Iterable[JudgeOutcome]) -> None:
        each = tuple(outcomes)
        self._verdicts = [outcome for outcome in each if isinstance(outcome, Verdict)]
        own = [verdict for verdict in self._verdicts if verdict.fallback_from is None]
        self.judged = tuple(v for v in own if v.support is not Support.NO_CLAIM)
        """Verdicts of the run's own judge, `no_claim` left out."""
        self.claims = len(each)
        """How many outcomes there are."""
        self.unscored = len(each) - len(own)
        """How many of them are no verdicts of the run's own judge."""
        self.no_claim = len(own) - len(self.judged)
        """How many the judge found to assert nothing."""

    def count(self, support: Support) -> int:
        """How many were judged so."""
        return sum(verdict.support is support for verdict in self.judged)

    def share(self, support: Support) -> float | None:
        """The part judged so; None where nothing was judged."""
        return share(self.count(support), len(self.judged))

    @cached_property
    def _weight(self) -> float:
        return _weight(self.judged)

    @property
    def mean(self) -> float | None:
        """Mean weight of the judged, 0 to 1; None where nothing was judged."""
        return share(self._weight, len(self.judged))

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The mean with every unscored claim counted 0, then 1; None where there is neither."""
        return bounds(self._weight, len(self.judged), self.unscored)

    @property
    def fell_back(self) -> bool:
        """Whether a fallback answered any."""
        return any(verdict.fallback_from is not None for verdict in self._verdicts)

    @property
    def mean_with_fallback(self) -> float | None:
        """Mean weight of all verdicts, whoever gave them."""
        asserting = [v for v in self._verdicts if v.support is not Support.NO_CLAIM]
        return share(_weight(asserting), len(asserting))


def bounds(total: float, settled: int, open_: int) -> tuple[float, float] | None:
    """The share with everything open counted 0, then 1; None where there is nothing at all."""
    whole = settled + open_
    return (total / whole, (total + open_) / whole) if whole else None


def _weight(verdicts: Iterable[Verdict]) -> float:
    return sum(SUPPORT_WEIGHT[verdict.support] for verdict in verdicts)
