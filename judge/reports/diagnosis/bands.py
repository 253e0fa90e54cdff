"""In which band a mean is, and whether it is enough for production."""

from collections.abc import Iterator
from typing import Final

from judge.records import RankingReport
from judge.records.diagnosis import Band, Bands, Figure, Level, ProductionBand, ProductionLevel
from judge.reports.diagnosis.figures import figure, level, out_of_reach, span
from judge.reports.diagnosis.table import BandLimits, table

_POOR: Final = "poor"
_BELOW: Final = "below"


def bands(report: RankingReport) -> Bands:
    """The band of every mean that has limits, and the production levels.

    A mean that is null or missing is in no band: it is among `not_measured`. A band begins at its
    limit, so .6 of recall is fair.
    """
    rules = table()
    found = [(each, limits) for each, limits in _limited(report) if each is not None]
    held = [(figure(report, name), limits) for name, limits in rules.production.items()]
    production = []
    for each, needed in held:
        if each is not None:
            levels: dict[ProductionLevel, float] = {
                "minimum": needed.minimum,
                "good": needed.good,
                "excellent": needed.excellent,
            }
            production.append(
                ProductionBand(
                    figure=each,
                    level=level(each.value, levels, _BELOW),
                    span=span(each, levels, _BELOW),
                )
            )
    return Bands(
        source=rules.source,
        bands=tuple(_band(each, limits) for each, limits in found),
        production=tuple(production),
        not_measured=_missing(report),
        cautions=out_of_reach((each, limits.fair) for each, limits in found),
    )


def _limited(report: RankingReport) -> Iterator[tuple[Figure | None, BandLimits]]:
    limits = table().band
    for name in report.mean:
        measure = name.partition("@")[0]
        if measure in limits:
            yield figure(report, name), limits[measure]


def _band(found: Figure, limits: BandLimits) -> Band:
    levels: dict[Level, float] = {
        "fair": limits.fair,
        "good": limits.good,
        "excellent": limits.excellent,
    }
    return Band(
        figure=found,
        level=level(found.value, levels, _POOR),
        span=span(found, levels, _POOR),
    )


def _missing(report: RankingReport) -> tuple[str, ...]:
    """Null means, then families without any mean, then what production asks for; each once."""
    rules = table()
    families = {name.partition("@")[0] for name in report.mean}
    names = [name for name in report.mean if name.partition("@")[0] in rules.band]
    names += [f"{family}@k" for family in rules.band if family not in families]
    names += [*rules.production]
    return tuple(dict.fromkeys(name for name in names if figure(report, name) is None))
