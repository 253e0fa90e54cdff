"""Single numbers of a report, and on which side of a limit they are."""

import math
from collections.abc import Iterable, Mapping
from typing import Final, TypeVar

from judge.advice.diagnosis.table import said
from judge.advice.records import Figure, Wording
from judge.retrieval.records import RankingReport

_Name = TypeVar("_Name", bound=str)

# The mean of .6, .7 and .8 comes out as .6999…98.
_ROUNDING: Final = 1e-9


def figure(report: RankingReport, measure: str) -> Figure | None:
    """One mean of a report; None where it was not measured."""
    value = report.mean.get(measure)
    if value is None or not math.isfinite(value):
        return None
    most = report.ceiling.get(measure, 1.0)
    return Figure(
        measure=measure,
        value=value,
        interval=report.interval.get(measure),
        ceiling=None if at_least(most, 1) else most,
    )


def at_least(value: float, limit: float) -> bool:
    """Whether a value is not under a limit, rounding errors aside.

    >>> at_least((0.6 + 0.7 + 0.8) / 3, 0.7)
    True
    """
    return value >= limit - _ROUNDING


def capped(found: Figure, limit: float) -> bool:
    """Whether no ranking could bring the figure to the limit."""
    return found.ceiling is not None and not at_least(found.ceiling, limit)


def level(value: float, limits: Mapping[_Name, float], lowest: _Name) -> _Name:
    """The last of the levels whose limit the value reaches; `limits` ascend."""
    reached = lowest
    for name, limit in limits.items():
        if at_least(value, limit):
            reached = name
    return reached


def span(found: Figure, limits: Mapping[_Name, float], lowest: _Name) -> tuple[_Name, _Name] | None:
    """The levels of both ends of the interval."""
    if found.interval is None:
        return None
    ends = found.interval.low, found.interval.high
    low, high = (level(end, limits, lowest) for end in ends)
    return low, high


def out_of_reach(limits: Iterable[tuple[Figure, float]]) -> tuple[Wording, ...]:
    """A caution that names the figures no ranking could bring to their limits; none without any."""
    most = [
        f"{found.measure} {found.ceiling:.3f}" for found, limit in limits if capped(found, limit)
    ]
    return (said("ceiling", most=", ".join(dict.fromkeys(most))),) if most else ()
