"""Strata of a run's claims: what falls into each, how many are drawn of it, and which.

Strata are support times doubt: people should see more of the doubtful. They share the claims of a
draw by weight times expected spread, five each at least. Within a stratum a claim's chance is in
proportion to its part in the mean over answers, so that there all labels weigh alike: sequential
Poisson sampling, claims that are certain set aside.

Source: E. Ohlsson (1998), Sequential Poisson sampling, J. Off. Stat. 14, 149-162.
"""

import heapq
import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Final, NamedTuple

from judge.backends.hook import uniform
from judge.records import (
    SUPPORT_WEIGHT,
    SUPPORTED,
    Excluded,
    FlagName,
    Outcome,
    SampleResult,
    Support,
    Unscored,
    Verdict,
)
from judge.review.records import Stratum, StratumName, Weighing
from judge.signature import Signature

Span = tuple[float, float]
"""The least and the most by which people may differ from the judge."""

SPREAD: Final[Mapping[StratumName, float]] = {
    StratumName.SUPPORTED: 0.2,
    StratumName.SUPPORTED_DOUBTFUL: 0.45,
    StratumName.PARTIAL: 0.35,
    StratumName.UNSUPPORTED_DOUBTFUL: 0.45,
    StratumName.UNSUPPORTED: 0.3,
    StratumName.UNSCORED: 0.45,
}
"""The standard deviation of a judge's error that is expected before anybody has looked: .2 is four
errors in a hundred, .45 three in ten. It steers how many are drawn, and biases nothing."""
NEVER_PARTIAL: Final = frozenset({"similarity", "nli"})
"""Sources of verdicts that never say `partial`; they are compared as full against the rest."""

_NEAR: Final = 1.0
"""The distance from the threshold that is doubtful, in log odds: .71 to .95 where it is .87."""
_EDGE: Final = 1e-9
FLOOR: Final = 5
"""The fewest units drawn from a stratum; one with fewer units is merged with its neighbour."""
_LARGEST: Final = 1e300


class Claim(NamedTuple):
    """A claim and its stratum."""

    sentence: int
    stratum: StratumName
    outcome: Verdict | Unscored


class Size(NamedTuple):
    """The size of a stratum before it is drawn from; all strata use one scale of weights."""

    units: int
    weight: float
    spread: float
    """Standard deviation of the judge's error, as expected or as found."""


class Candidate(NamedTuple):
    """A claim that may be drawn; those with the smallest `key` are, more often the heavy ones."""

    key: float
    """A permanent random number, divided by the weight."""
    position: int
    """Position of the answer in the run, from 0."""
    sentence: int
    weight: float


@dataclass(slots=True)
class Tally:
    """The counts of one stratum, or of several taken as one."""

    units: int = 0
    macro: list[float] = field(default_factory=lambda: [0.0] * 4)
    """The four sums of `Weighing`, in its order, with every answer alike."""
    micro: list[float] = field(default_factory=lambda: [0.0] * 4)
    span: Span = (0.0, 0.0)
    span_strict: Span = (0.0, 0.0)
    pull: float = 0.0
    """Sum over units of micro weight squared over macro weight."""
    weights: Counter[float] = field(default_factory=Counter)
    """The number of units by weight; there are few different weights."""
    least: list[tuple[float, Candidate]] = field(default_factory=list)
    """A heap of the candidates with the smallest keys; each is sorted by its negated key."""
    heaviest: list[tuple[float, Candidate]] = field(default_factory=list)
    """A heap of the candidates with the largest weights, which may be certain to be drawn."""

    @classmethod
    def joined(cls, tallies: Sequence["Tally"]) -> "Tally":
        """One tally of several strata."""
        weights: Counter[float] = Counter()
        for tally in tallies:
            weights.update(tally.weights)
        return cls(
            units=sum(tally.units for tally in tallies),
            macro=[sum(each) for each in zip(*(tally.macro for tally in tallies), strict=True)],
            micro=[sum(each) for each in zip(*(tally.micro for tally in tallies), strict=True)],
            span=widest(tally.span for tally in tallies),
            span_strict=widest(tally.span_strict for tally in tallies),
            pull=sum(tally.pull for tally in tallies),
            weights=weights,
            least=list(chain.from_iterable(tally.least for tally in tallies)),
            heaviest=list(chain.from_iterable(tally.heaviest for tally in tallies)),
        )

    def stratum(self, names: tuple[StratumName, ...], drawn: int) -> Stratum:
        """Return the stratum with these counts and `drawn` drawn units."""
        macro, micro = (
            Weighing(**dict(zip(Weighing.model_fields, sums, strict=True)))
            for sums in (self.macro, self.micro)
        )
        return Stratum(
            names=names,
            units=self.units,
            drawn=drawn,
            macro=macro,
            micro=micro,
            unevenness=self.pull * macro.weight / micro.weight**2,
            span=self.span,
            span_strict=self.span_strict,
        )


class Census:
    """Counts a run, result by result, for a draw of at most `size` claims.

    Memory does not grow with the run. Draws by different `key`s are independent of each other.
    """

    def __init__(self, seed: int, size: int, key: str = "draw") -> None:
        self._key = key
        self._seed = seed
        self._size = size
        self._position = 0
        self.tallies: Mapping[StratumName, Tally] = {name: Tally() for name in StratumName}

    def add(self, result: SampleResult) -> None:
        """Count one answer."""
        if found := claims(result):
            part = part_of(found)
            for claim in found:
                self._add(result.qid, claim, part)
        self._position += 1

    def sizes(self) -> dict[StratumName, Size]:
        """Units, weight in the mean over answers and expected spread, by stratum."""
        return {
            name: Size(tally.units, tally.macro[0], SPREAD[name])
            for name, tally in self.tallies.items()
        }

    def _add(self, qid: str, claim: Claim, part: float) -> None:
        tally = self.tallies[claim.stratum]
        tally.units += 1
        for sums, each in ((tally.macro, part), (tally.micro, 1.0)):
            sums[0] += each
            sums[1] += each * counts(claim.outcome)
            sums[2] += each * weight(claim.outcome, strict=False)
            sums[3] += each * weight(claim.outcome, strict=True)
        tally.span = widest([tally.span, _span(claim, strict=False)])
        tally.span_strict = widest([tally.span_strict, _span(claim, strict=True)])
        tally.pull += 1 / part
        tally.weights[part] += 1
        drawn = uniform(self._seed, self._key, qid, claim.sentence)
        candidate = Candidate(drawn / part, self._position, claim.sentence, part)
        for heap, order in ((tally.least, -candidate.key), (tally.heaviest, part)):
            if len(heap) < self._size:
                heapq.heappush(heap, (order, candidate))
            elif heap:
                heapq.heappushpop(heap, (order, candidate))


def widest(spans: Iterable[Span]) -> Span:
    """Return the smallest span that contains all spans."""
    lows, highs = zip(*spans, strict=True)
    return min(lows), max(highs)


def claims(result: SampleResult) -> list[Claim]:
    """The claims of an answer, judged or not."""
    flags: defaultdict[int | None, list[FlagName]] = defaultdict(list)
    for flag in result.flags:
        flags[flag.sentence].append(flag.name)
    return [
        Claim(sentence.index, stratum_of(outcome, flags[sentence.index]), outcome)
        for sentence in result.sentences
        if not isinstance(outcome := sentence.outcome, Excluded)
    ]


def part_of(found: Sequence[Claim]) -> float:
    """A claim's part in the mean of its answer: 1 / the claims that count there."""
    return 1 / (sum(counts(claim.outcome) for claim in found) or len(found))


def stratum_of(outcome: Verdict | Unscored, flags: Collection[FlagName]) -> StratumName:
    """The stratum of a claim."""
    verdict = own_verdict(outcome)
    if verdict is None:
        return StratumName.UNSCORED
    if verdict.support is Support.PARTIAL:
        return StratumName.PARTIAL
    doubtful = bool(flags) or verdict.support is Support.NO_CLAIM or _near(verdict)
    if verdict.support in SUPPORTED:
        return StratumName.SUPPORTED_DOUBTFUL if doubtful else StratumName.SUPPORTED
    return StratumName.UNSUPPORTED_DOUBTFUL if doubtful else StratumName.UNSUPPORTED


def own_verdict(outcome: Outcome) -> Verdict | None:
    """The verdict of the run's own judge; None where it failed."""
    return outcome if isinstance(outcome, Verdict) and outcome.fallback_from is None else None


def counts(outcome: Outcome) -> bool:
    """Whether the claim is in the mean: all are but those that the judge calls `no_claim`."""
    return not (isinstance(outcome, Verdict) and outcome.support is Support.NO_CLAIM)


def weight(outcome: Outcome, *, strict: bool) -> float:
    """Return a verdict's contribution to faithfulness, also a fallback's; 0 without one."""
    if not isinstance(outcome, Verdict):
        return 0.0
    if strict:
        return float(outcome.support is Support.FULL)
    return SUPPORT_WEIGHT.get(outcome.support, 0.0)


def _span(claim: Claim, *, strict: bool) -> Span:
    if not counts(claim.outcome):
        return -1.0, 1.0
    judged = weight(claim.outcome, strict=strict)
    return -judged, 1 - judged


def _near(verdict: Verdict) -> bool:
    least = Signature.parse(verdict.signature).threshold
    # A language model's t is its temperature.
    if verdict.score is None or least is None or verdict.source == "llm":
        return False
    return abs(_log_odds(verdict.score) - _log_odds(least)) <= _NEAR


def _log_odds(probability: float) -> float:
    inside = min(1 - _EDGE, max(_EDGE, probability))
    return math.log(inside / (1 - inside))


class Group(NamedTuple):
    """Strata that are drawn from as one."""

    names: tuple[StratumName, ...]
    size: Size


def merge(sizes: Mapping[StratumName, Size], total: int) -> list[Group]:
    """Merge the smallest stratum with its smaller neighbour until each has `FLOOR` units.

    Neighbours stand beside each other in `sizes`; empty strata count for nothing. `total` is how
    many are drawn in all, which bounds how many strata there can be.
    """
    groups = [Group((name,), size) for name, size in sizes.items() if size.units]
    most = max(1, total // FLOOR)
    while len(groups) > 1 and (
        len(groups) > most or min(group.size.units for group in groups) < FLOOR
    ):
        least = min(range(len(groups)), key=lambda k: groups[k].size.units)
        beside = [k for k in (least - 1, least + 1) if 0 <= k < len(groups)]
        first, second = sorted((least, min(beside, key=lambda k: groups[k].size.units)))
        (names, a), (more, b) = groups[first], groups[second]
        weight = a.weight + b.weight
        spread = (a.spread * a.weight + b.spread * b.weight) / weight if weight else a.spread
        groups[first : second + 1] = [Group(names + more, Size(a.units + b.units, weight, spread))]
    return groups


def allocate(sizes: Sequence[Size], total: int) -> list[int]:
    """Units to draw from each stratum: in proportion to weight times spread.

    At least `FLOOR` from each, as far as it has them and `total` reaches; the rest of a stratum
    that is drawn whole goes to the others. They add up to `total`, or to all there are.

    Source: J. Neyman (1934), J. R. Stat. Soc. 97, 558-606.

    >>> allocate([Size(900, 900, 0.2), Size(100, 100, 0.4)], 55)
    [45, 10]
    """
    total = min(total, sum(size.units for size in sizes))
    floors = [min(FLOOR, size.units, total // max(1, len(sizes))) for size in sizes]
    pulls = [size.weight * size.spread for size in sizes]
    if not any(pulls):
        pulls = [float(size.units) for size in sizes]

    def shares(scale: float) -> list[float]:
        bounds = zip(pulls, floors, sizes, strict=True)
        return [min(size.units, max(least, scale * pull)) for pull, least, size in bounds]

    low, high = 0.0, 1.0
    while sum(shares(high)) < total and high < _LARGEST:
        high *= 2
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if sum(shares(middle)) < total else (low, middle)
    found = shares(high)
    # Whole numbers: the largest remainders go up first.
    units = [math.floor(share + 1e-9) for share in found]
    order = sorted(range(len(sizes)), key=lambda k: units[k] - found[k])
    while sum(units) < total:
        for k in order:
            if sum(units) < total and units[k] < sizes[k].units:
                units[k] += 1
    return units


def drawn(tally: Tally, share: int) -> list[tuple[Candidate, float]]:
    """Draw `share` units from a stratum; each comes with its inclusion probability."""
    # From some weight on a unit is certain; the others have a chance in proportion to theirs.
    left, rest = share, sum(weight * count for weight, count in tally.weights.items())
    certain_from = math.inf
    for weight in sorted(tally.weights, reverse=True):
        if left * weight < rest * (1 - 1e-12):
            break
        certain_from = weight
        left -= tally.weights[weight]
        rest -= weight * tally.weights[weight]
    scale = left / rest if rest > 0 else 0.0
    certain = [each for _, each in tally.heaviest if each.weight >= certain_from]
    others = sorted(each for _, each in tally.least if each.weight < certain_from)
    return [
        *((candidate, 1.0) for candidate in certain),
        *((each, min(1.0, each.weight * scale)) for each in others[: share - len(certain)]),
    ]
