"""Which units of a census are drawn, and with what chance.

Strata share the units by weight times expected spread, five each at least. Within a stratum a
unit's chance is in proportion to its part in the mean over answers, so that there all labels weigh
alike: sequential Poisson sampling, units that are certain set aside.

Source: E. Ohlsson (1998), Sequential Poisson sampling, J. Off. Stat. 14, 149-162.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from judge.review.allocation import allocate, merge
from judge.review.census import Candidate, Census, Tally, weighing
from judge.review.records import Stratum, StratumName


class Picked(NamedTuple):
    """A unit that was drawn."""

    stratum: int
    sentence: int | None
    """None for all claims of the answer."""
    probability: float


def divide(census: Census, size: int) -> tuple[tuple[Stratum, ...], dict[int, list[Picked]]]:
    """Strata, and what is drawn from them by the answer's position in the run."""
    groups = merge(census.sizes(), size)
    strata: list[Stratum] = []
    picked: dict[int, list[Picked]] = {}
    for group, share in zip(groups, allocate([g.size for g in groups], size), strict=True):
        tallies = [census.tallies[name] for name in group.names]
        for candidate, probability in drawn(tallies, share):
            item = Picked(len(strata), candidate.sentence, probability)
            picked.setdefault(candidate.position, []).append(item)
        strata.append(stratum(group.names, tallies, share))
    return tuple(strata), picked


def drawn(tallies: Iterable[Tally], share: int) -> list[tuple[Candidate, float]]:
    """`share` units of these strata taken as one, each with its inclusion probability."""
    weights: dict[float, int] = {}
    least: dict[Candidate, None] = {}
    heaviest: dict[Candidate, None] = {}
    for tally in tallies:
        for weight, count in tally.weights.items():
            weights[weight] = weights.get(weight, 0) + count
        least |= {candidate: None for _, candidate in tally.least}
        heaviest |= {candidate: None for _, candidate in tally.heaviest}
    certain_from, scale = _certain(weights, share)
    certain = [candidate for candidate in heaviest if candidate.weight >= certain_from]
    others = sorted(candidate for candidate in least if candidate.weight < certain_from)
    return [
        *((candidate, 1.0) for candidate in certain),
        *((c, min(1.0, c.weight * scale)) for c in others[: share - len(certain)]),
    ]


def _certain(weights: Mapping[float, int], share: int) -> tuple[float, float]:
    """The weight from which on a unit is certain, and the chance of others per unit of weight."""
    left, rest = share, sum(weight * count for weight, count in weights.items())
    certain_from = float("inf")
    for weight in sorted(weights, reverse=True):
        if left * weight < rest * (1 - 1e-12):
            break
        certain_from = weight
        left -= weights[weight]
        rest -= weight * weights[weight]
    return certain_from, (left / rest if rest > 0 else 0.0)


def stratum(names: tuple[StratumName, ...], tallies: Sequence[Tally], share: int) -> Stratum:
    """Several tallies as one, of which `share` units are drawn."""
    spans = [tally.span for tally in tallies]
    strict = [tally.span_strict for tally in tallies]
    macro, micro = (
        weighing(sums) for sums in zip(*((t.macro, t.micro) for t in tallies), strict=True)
    )
    return Stratum(
        names=names,
        units=sum(tally.units for tally in tallies),
        drawn=share,
        macro=macro,
        micro=micro,
        unevenness=sum(t.pull for t in tallies) * macro.weight / micro.weight**2,
        span=(min(low for low, _ in spans), max(high for _, high in spans)),
        span_strict=(min(low for low, _ in strict), max(high for _, high in strict)),
    )
