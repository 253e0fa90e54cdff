"""Single numbers of a report, and on which side of a limit they are."""

import math
import re
from collections.abc import Iterable, Mapping
from typing import Final, TypeVar

from judge.records import RankingReport
from judge.records.diagnosis import Figure, Wording
from judge.reports.diagnosis.table import said

_Name = TypeVar("_Name", bound=str)

# The mean of .6, .7 and .8 comes out as .6999…98.
_ROUNDING: Final = 1e-9
_PRECISION: Final = re.compile(r"precision@([1-9][0-9]{0,9})")


def figure(report: RankingReport, measure: str) -> Figure | None:
    """One mean of a report; None where it was not measured."""
    value = report.mean.get(measure)
    if value is None or not math.isfinite(value):
        return None
    return Figure(
        measure=measure,
        value=value,
        interval=report.interval.get(measure),
        queries=report.defined.get(measure),
        ceiling=_ceiling(report, measure),
    )


def _ceiling(report: RankingReport, measure: str) -> float | None:
    """At best all that is relevant stands in the first k: R of each query, over k."""
    cut = _PRECISION.fullmatch(measure)
    if cut is None or not report.averaged:
        return None
    most = report.relevant_total / (report.averaged * int(cut[1]))
    return most if most < 1 else None


def at_least(value: float, limit: float) -> bool:
    """Whether a value is not under a limit, rounding errors aside.

    >>> at_least((0.6 + 0.7 + 0.8) / 3, 0.7)
    True
    """
    return value >= limit - _ROUNDING


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
    most = ", ".join(
        f"{found.measure} {found.ceiling:.3f}"
        for found, limit in limits
        if found.ceiling is not None and not at_least(found.ceiling, limit)
    )
    return (said("ceiling", most=most),) if most else ()
