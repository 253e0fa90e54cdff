"""In which band a mean is, and whether it is enough for production."""

from collections.abc import Iterator
from typing import Final

from judge.advice.diagnosis.figures import figure, level, out_of_reach, span
from judge.advice.diagnosis.table import table
from judge.advice.records import Band, Bands, Figure, Level, ProductionBand
from judge.retrieval.records import RankingReport

_POOR: Final = "poor"
_BELOW: Final = "below"


def bands(report: RankingReport) -> Bands:
    """The band of every mean that has limits, and the production levels.

    A mean that is null or missing is in no band: it is among `not_measured`. A band begins at its
    limit, so .6 of recall is fair.
    """
    rules = table()
    found = [(each, limits) for each, limits in _limited(report) if each is not None]
    named = ((figure(report, name), needed) for name, needed in rules.production.items())
    held = [(each, needed) for each, needed in named if each is not None]
    return Bands(
        source=rules.source,
        bands=tuple(
            Band(
                figure=each,
                level=level(each.value, limits, _POOR),
                span=span(each, limits, _POOR),
            )
            for each, limits in found
        ),
        production=tuple(
            ProductionBand(
                figure=each,
                level=level(each.value, needed, _BELOW),
                span=span(each, needed, _BELOW),
            )
            for each, needed in held
        ),
        not_measured=_missing(report),
        cautions=out_of_reach(
            (
                *((each, limits["fair"]) for each, limits in found),
                *((each, needed["minimum"]) for each, needed in held),
            )
        ),
    )


def _limited(report: RankingReport) -> Iterator[tuple[Figure | None, dict[Level, float]]]:
    limits = table().band
    for name in report.mean:
        measure = name.partition("@")[0]
        if measure in limits:
            yield figure(report, name), limits[measure]


def _missing(report: RankingReport) -> tuple[str, ...]:
    """Null means, then families without any mean, then what production asks for; each once."""
    rules = table()
    families = {name.partition("@")[0] for name in report.mean}
    names = [name for name in report.mean if name.partition("@")[0] in rules.band]
    names += [f"{family}@k" for family in rules.band if family not in families]
    names += [*rules.production]
    return tuple(dict.fromkeys(name for name in names if figure(report, name) is None))
