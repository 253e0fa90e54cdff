"""How many labels a corrected score needs, to be as sharp as one wants."""

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from judge.errors import RunError
from judge.records import Excluded
from judge.review.census import By, Census, Size, stratum_of, stratum_of_answer
from judge.review.corrected import error_of, units_of
from judge.review.folder import by_row, labelled_draws
from judge.review.records import StratumName, Target
from judge.review.strata import Group, allocate, merge
from judge.review.targets import census_of, nothing
from judge.scores.intervals import Z95

_EXPECTED: Final = 10
"""How many labels the expected spread counts as, beside those that were given."""


class Quota(NamedTuple):
    """How many labels a plan takes from one stratum."""

    names: tuple[StratumName, ...]
    units: int
    spread: float
    """Standard deviation of the judge's error, of a poor judge and, where labelled, as found."""
    labels: int


class Plan(NamedTuple):
    """How many labels an interval of the wanted width needs, by stratum."""

    quotas: list[Quota]
    learnt: int
    """Labelled units that the spreads were learnt from; 0 where they are those of a poor judge."""

    @property
    def total(self) -> int:
        """How many units must be labelled in all."""
        return sum(quota.labels for quota in self.quotas)


def plan(
    run: str | Path, width: float = 0.03, by: By = "sentence", target: Target = "faithfulness"
) -> Plan:
    """The smallest draw whose corrected score (macro) has an interval of about ± `width`.

    Args:
        run: folder of a finished run.
        width: half the width of the 95 % interval, above 0.
        by: what would be drawn.
        target: of what.

    Raises:
        RunError: no finished run, or nothing in it to draw.
    """
    run = Path(run)
    census = census_of(run, by, target=target)
    if not any(size.units for size in census.sizes().values()):
        raise RunError(f"{run}: {nothing(target)}")
    return plan_for(census, width, _errors(run, by, target))


def plan_for(
    census: Census, width: float, found: Mapping[StratumName, list[float]] | None = None
) -> Plan:
    """The plan for a run of these claims, at least one; `found` are errors known by stratum.

    What is not known is taken to be that of a poor judge.
    """
    found = found or {}
    sizes, worst = census.sizes(), census.worst()
    total = sum(size.units for size in sizes.values())
    while True:
        # A small draw has room for few strata.
        groups = merge(sizes, total)
        expected = [group.size for group in groups]
        spreads = [_spread(group, sizes, worst, found) for group in groups]
        fewer = needed(expected, spreads, width)
        if fewer >= total:
            break
        total = fewer
    shares = allocate(expected, total)
    return Plan(
        [
            Quota(group.names, group.size.units, spread, share)
            for group, spread, share in zip(groups, spreads, shares, strict=True)
        ],
        sum(map(len, found.values())),
    )


def needed(sizes: Sequence[Size], spreads: Sequence[float], width: float) -> int:
    """About the fewest units whose 95 % interval is ± `width` or less; all where none are enough.

    Units are divided by `allocate`, by the spreads of `sizes`; `spreads` is what is known by now,
    s in the variance of the mean: the sum of W²·s²·(1/n - 1/N), W a stratum's share of the weight.
    """
    whole = sum(size.weight for size in sizes)

    def reach(total: int) -> float:
        variance = 0.0
        for size, spread, n in zip(sizes, spreads, allocate(sizes, total), strict=True):
            if size.weight and size.units > n:
                if not n:
                    return math.inf
                variance += (size.weight / whole * spread) ** 2 * (1 / n - 1 / size.units)
        return Z95 * math.sqrt(variance)

    totals = range(1, sum(size.units for size in sizes))
    return 1 + bisect_left(totals, -width, key=lambda total: -reach(total))


def _spread(
    group: Group,
    sizes: Mapping[StratumName, Size],
    worst: Mapping[StratumName, float],
    found: Mapping[StratumName, list[float]],
) -> float:
    errors = [error for name in group.names for error in found.get(name, ())]
    mean = sum(errors) / len(errors) if errors else 0.0
    squares = sum((error - mean) ** 2 for error in errors)
    weight = sum(sizes[name].weight for name in group.names)
    poor = sum(sizes[name].weight * worst.get(name, 0.0) ** 2 for name in group.names) / weight
    return math.sqrt((squares + _EXPECTED * poor) / (len(errors) + _EXPECTED))


def _errors(run: Path, by: By, target: Target) -> Mapping[StratumName, list[float]]:
    """The judge's errors in the units that were labelled already, by stratum."""
    errors: dict[StratumName, list[float]] = defaultdict(list)
    for draw, given in labelled_draws(run, target)[0]:
        labels = by_row(given)
        units = [unit.sentences for unit in units_of(draw, labels)] if by == draw.by else []
        if by == "sentence":
            units = [(each,) for each in draw.sentences if each.review_id in labels]
        for unit in units:
            worth = [error_of(s, labels[s.review_id], "faithfulness").worth for s in unit]
            strata = {
                stratum_of(s.outcome, [flag.name for flag in s.flags])
                for s in unit
                if not isinstance(s.outcome, Excluded)
            }
            errors[stratum_of_answer(strata)].append(sum(worth) / len(worth))
    return errors
