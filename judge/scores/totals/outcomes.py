"""Outcomes of a stream, counted: by label, by whom they came from, and why there was none."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Final, Self

from judge.records import SUPPORT_WEIGHT, Outcome, Support, Unscored, UnscoredReason, Verdict
from judge.scores.shares import share

MIN_UNSCORED: Final = 3
"""Fewer unscored claims than this are an accident, not the state of the judge."""


@dataclass(slots=True)
class CountedOutcomes:
    """Counts of outcomes; those of sentences that are no claims are passed over."""

    own: Counter[Support] = field(default_factory=Counter)
    """Verdicts of the run's own judge."""
    fallen_back: Counter[Support] = field(default_factory=Counter)
    """Verdicts of a fallback; what they stand in for is in `unscored`."""
    sources: Counter[str] = field(default_factory=Counter)
    """Verdicts by source, fallen back or not."""
    unscored: Counter[UnscoredReason] = field(default_factory=Counter)
    """Claims without a verdict of the run's own judge."""

    def add(self, outcome: Outcome) -> None:
        """Count one."""
        failure = outcome if isinstance(outcome, Unscored) else None
        if isinstance(outcome, Verdict):
            failure = outcome.fallback_from
            self.sources[outcome.source] += 1
            (self.own if failure is None else self.fallen_back)[outcome.support] += 1
        if failure is not None:
            self.unscored[failure.reason] += 1

    def __add__(self, other: Self) -> "CountedOutcomes":
        """The counts of both."""
        return CountedOutcomes(
            self.own + other.own,
            self.fallen_back + other.fallen_back,
            self.sources + other.sources,
            self.unscored + other.unscored,
        )

    @property
    def claims(self) -> int:
        """Claims that were to be judged."""
        return self.own.total() + self.unscored.total()

    @property
    def judged(self) -> int:
        """Claims with a verdict of the run's own judge, `no_claim` left out."""
        return _asserting(self.own)

    @property
    def mean(self) -> float | None:
        """Their mean weight, 0 to 1; None where there is none."""
        return share(_weight(self.own), self.judged)

    @property
    def judged_by_any(self) -> int:
        """Claims with a verdict, whoever gave it, `no_claim` left out."""
        return _asserting(self.own + self.fallen_back)

    @property
    def mean_with_fallback(self) -> float | None:
        """Their mean weight likewise."""
        return share(_weight(self.own + self.fallen_back), self.judged_by_any)

    @property
    def supports(self) -> dict[Support, int]:
        """Verdicts of the run's own judge, zeros included."""
        return {support: self.own[support] for support in Support}

    @property
    def unscored_share(self) -> float | None:
        """Share of the claims without a verdict of the run's own judge; None where none claims."""
        return share(self.unscored.total(), self.claims)

    def untrusted(self, max_unscored: float) -> bool:
        """Whether that share is over the limit, and by no accident."""
        over = (self.unscored_share or 0) > max_unscored
        return over and self.unscored.total() >= MIN_UNSCORED


def _asserting(supports: Counter[Support]) -> int:
    return supports.total() - supports[Support.NO_CLAIM]


def _weight(supports: Counter[Support]) -> float:
    return sum(SUPPORT_WEIGHT.get(support, 0) * count for support, count in supports.items())
