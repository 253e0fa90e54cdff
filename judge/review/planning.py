"""How many labels a corrected score needs to be as sharp as one wants."""

import math
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from judge.errors import RunError
from judge.records import StratumName
from judge.review.allocation import allocate, merge, needed
from judge.review.census import By
from judge.review.drawing import counted, fingerprint
from judge.review.strata import stratum_of, stratum_of_answer
from judge.review.weighed import by_row, error_of, units_of
from judge.runs.review import draw_names, read_draw, read_labels

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
    sizes = {
        name: size._replace(spread=_spread(size.spread, found[name]))
        for name, size in sizes.items()
    }
    groups = merge(sizes)
    if not groups:
        raise RunError(f"{folder}: no answer claims anything; there is nothing to review")
    total = needed([group.size for group in groups], reach)
    groups = merge(sizes, total)  # a small draw has room for few strata
    shares = allocate([group.size for group in groups], total)
    return Plan(
        [
            Share(group.names, group.size.units, group.size.spread, share)
            for group, share in zip(groups, shares, strict=True)
        ],
        sum(map(len, found.values())),
    )


def _spread(expected: float, errors: list[float]) -> float:
    mean = sum(errors) / len(errors) if errors else 0.0
    squares = sum((error - mean) ** 2 for error in errors)
    return math.sqrt((squares + _EXPECTED * expected**2) / (len(errors) + _EXPECTED))


def _errors(folder: Path, by: By) -> Mapping[StratumName, list[float]]:
    """The judge's errors in what was labelled already, by stratum."""
    results = fingerprint(folder)
    errors: dict[StratumName, list[float]] = defaultdict(list)
    for name in draw_names(folder):
        draw = read_draw(folder, name)
        if draw is None or draw.results != results or draw.by != by:
            continue
        labels = by_row(read_labels(folder, name))
        for unit in units_of(draw, labels):
            worth = [
                error_of(each, labels[each.review_id], "faithfulness").worth
                for each in unit.sentences
            ]
            strata = {
                stratum_of(each.outcome, [flag.name for flag in each.flags])
                for each in unit.sentences
                if each.outcome.type != "excluded"
            }
            errors[stratum_of_answer(strata)].append(sum(worth) / len(worth))
    return errors
