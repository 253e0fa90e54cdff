"""How many labels a corrected score needs to be as sharp as one wants."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from judge.errors import RunError
from judge.records import Excluded
from judge.review.allocation import Group, allocate, merge, needed
from judge.review.carrying import labelled_draws
from judge.review.census import By
from judge.review.drawing import counted
from judge.review.records import DrawnSentence, StratumName
from judge.review.strata import stratum_of, stratum_of_answer
from judge.review.weighed import error_of, units_of

_EXPECTED: Final = 10
"""Labels that the spread expected beforehand counts as, beside those there are."""


class Share(NamedTuple):
    """What one stratum would take."""

    names: tuple[StratumName, ...]
    units: int
    spread: float
    """Standard deviation of the judge's error, as expected and, where labelled, as found."""
    labels: int


class Plan(NamedTuple):
    """A draw that is not made yet."""

    shares: list[Share]
    learnt: int
    """Labelled units that the spreads were learnt from; 0 where they are only expected."""

    @property
    def total(self) -> int:
        """Units to label in all."""
        return sum(share.labels for share in self.shares)


def plan(folder: Path, reach: float, by: By = "sentence") -> Plan:
    """The smallest draw whose corrected score (macro) has an interval of about ± `reach`.

    Args:
        folder: of a finished run.
        reach: half the width of the 95 % interval, above 0.
        by: what would be drawn.

    Raises:
        RunError: no finished run, or nothing in it to draw.
    """
    found = _errors(folder, by)
    sizes = counted(folder, by).sizes()
    if not any(size.units for size in sizes.values()):
        raise RunError(f"{folder}: no answer claims anything; there is nothing to review")
    total = sum(size.units for size in sizes.values())
    while True:
        # A small draw has room for few strata.
        groups = merge(sizes, total)
        spreads = [_spread(group, found) for group in groups]
        fewer = needed([group.size for group in groups], reach, spreads)
        if fewer >= total:
            break
        total = fewer
    shares = allocate([group.size for group in groups], total)
    return Plan(
        [
            Share(group.names, group.size.units, spread, share)
            for group, spread, share in zip(groups, spreads, shares, strict=True)
        ],
        sum(map(len, found.values())),
    )


def _spread(group: Group[StratumName], found: Mapping[StratumName, list[float]]) -> float:
    errors = [error for name in group.names for error in found.get(name, ())]
    mean = sum(errors) / len(errors) if errors else 0.0
    squares = sum((error - mean) ** 2 for error in errors)
    expected = _EXPECTED * group.size.spread**2
    return math.sqrt((squares + expected) / (len(errors) + _EXPECTED))


def _errors(folder: Path, by: By) -> Mapping[StratumName, list[float]]:
    """The judge's errors in what was labelled already, by stratum."""
    errors: dict[StratumName, list[float]] = defaultdict(list)
    for draw, labels in labelled_draws(folder):
        if by == "sentence":
            units: Iterable[Sequence[DrawnSentence]] = (
                [each] for each in draw.sentences if each.review_id in labels
            )
        else:
            whole = units_of(draw, labels) if draw.by == "answer" else []
            units = (unit.sentences for unit in whole)
        for unit in units:
            worth = [error_of(s, labels[s.review_id], "faithfulness").worth for s in unit]
            strata = {
                stratum_of(s.outcome, [flag.name for flag in s.flags])
                for s in unit
                if not isinstance(s.outcome, Excluded)
            }
            errors[stratum_of_answer(strata)].append(sum(worth) / len(worth))
    return errors
