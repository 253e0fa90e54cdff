"""The claims of a run by stratum, counted in one pass, and which of them are drawn.

Strata are support times doubt: people should see more of the doubtful. They share the units of a
draw by weight times expected spread, five each at least. Within a stratum a unit's chance is in
proportion to its part in the mean over answers, so that there all labels weigh alike: sequential
Poisson sampling, units that are certain set aside.

Source: E. Ohlsson (1998), Sequential Poisson sampling, J. Off. Stat. 14, 149-162.
"""

import heapq
import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, NamedTuple

from judge.backends.hook import uniform
from judge.files.runs import read_results
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
from judge.review.allocation import Size, allocate, merge
from judge.review.records import Stratum, StratumName, Weighing
from judge.signature import Signature

By = Literal["sentence", "answer"]
"""The unit of a draw: one claim, or all claims of an answer."""

_CANCELLED: Final = 0.5
"""By how much the spread of an answer is smaller: errors within an answer partly cancel."""

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

NEAR: Final = 1.0
"""The distance from the threshold that is doubtful, in log odds: .71 to .95 where it is .87."""
_EDGE: Final = 1e-9
_DOUBT: Final = (
    StratumName.UNSCORED,
    StratumName.UNSUPPORTED_DOUBTFUL,
    StratumName.UNSUPPORTED,
    StratumName.PARTIAL,
    StratumName.SUPPORTED_DOUBTFUL,
    StratumName.SUPPORTED,
)


class Claim(NamedTuple):
    """A claim and its stratum."""

    sentence: int
    stratum: StratumName
    outcome: Verdict | Unscored


class Candidate(NamedTuple):
    """A unit that may be drawn; those with the smallest `key` are, more often the heavy ones."""

    key: float
    """A permanent random number, divided by the weight."""
    position: int
    """Of the answer in the run, from 0."""
    sentence: int | None
    """None for the whole answer."""
    weight: float


@dataclass(slots=True)
class Tally:
    """The counts of one stratum."""

    units: int = 0
    macro: list[float] = field(default_factory=lambda: [0.0] * 4)
    """The four sums of `Weighing`, in its order, with every answer alike."""
    micro: list[float] = field(default_factory=lambda: [0.0] * 4)
    span: tuple[float, float] = (0.0, 0.0)
    span_strict: tuple[float, float] = (0.0, 0.0)
    pull: float = 0.0
    """Sum over units of micro weight squared over macro weight."""
    weights: Counter[float] = field(default_factory=Counter)
    """How many units have each weight; there are few different weights."""
    least: list[tuple[float, Candidate]] = field(default_factory=list)
    """A heap of the candidates with the smallest keys; each is sorted by its negated key."""
    heaviest: list[tuple[float, Candidate]] = field(default_factory=list)
    """A heap of the candidates with the largest weights, which may be certain to be drawn."""


class Picked(NamedTuple):
    """A unit that was drawn."""

    stratum: int
    sentence: int | None
    """None for all claims of the answer."""
    probability: float


class Census:
    """Counts a run, result by result, for a draw of at most `size` units.

    Memory does not grow with the run.
    """

    def __init__(self, by: By, seed: int, size: int) -> None:
        self._by = by
        self._seed = seed
        self._size = size
        self._position = 0
        self.tallies: Mapping[StratumName, Tally] = {name: Tally() for name in StratumName}

    def add(self, result: SampleResult) -> None:
        """Count one answer."""
        if found := claims(result):
            part = part_of(found)
            for unit in [[claim] for claim in found] if self._by == "sentence" else [found]:
                self._add(result.qid, unit, part)
        self._position += 1

    def sizes(self) -> dict[StratumName, Size]:
        """Units, weight in the mean over answers and expected spread, by stratum."""
        shrunk = 1.0 if self._by == "sentence" else _CANCELLED
        return {
            name: Size(tally.units, tally.macro[0], SPREAD[name] * shrunk)
            for name, tally in self.tallies.items()
        }

    def _add(self, qid: str, unit: Sequence[Claim], part: float) -> None:
        tally = self.tallies[stratum_of_answer({claim.stratum for claim in unit})]
        tally.units += 1
        for sums, each in ((tally.macro, part), (tally.micro, 1.0)):
            for claim in unit:
                outcome = claim.outcome
                sums[0] += each
                sums[1] += each * counts(outcome)
                sums[2] += each * weight(outcome, strict=False)
                sums[3] += each * weight(outcome, strict=True)
        tally.span = _wider(tally.span, unit, strict=False)
        tally.span_strict = _wider(tally.span_strict, unit, strict=True)
        heft = part * len(unit)
        tally.pull += len(unit) ** 2 / heft
        tally.weights[heft] += 1
        sentence = unit[0].sentence if self._by == "sentence" else None
        drawn = uniform(self._seed, "draw", qid, *(() if sentence is None else (sentence,)))
        candidate = Candidate(drawn / heft, self._position, sentence, heft)
        self._keep(tally.least, (-candidate.key, candidate))
        self._keep(tally.heaviest, (heft, candidate))

    def _keep(self, heap: list[tuple[float, Candidate]], item: tuple[float, Candidate]) -> None:
        if len(heap) < self._size:
            heapq.heappush(heap, item)
        elif heap:
            heapq.heappushpop(heap, item)


def census_of(folder: Path, by: By, seed: int = 0, size: int = 0) -> Census:
    """Count all claims of a run; RunError where there is none, or a result is damaged."""
    census = Census(by, seed, size)
    for result in read_results(folder):
        census.add(result)
    return census


def divide(census: Census, size: int) -> tuple[tuple[Stratum, ...], dict[int, list[Picked]]]:
    """The strata of a draw, and the drawn units by the position of their answer in the run."""
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


def drawn(tallies: Sequence[Tally], share: int) -> list[tuple[Candidate, float]]:
    """Draw `share` units from strata taken as one; each comes with its inclusion probability."""
    weights: Counter[float] = Counter()
    for tally in tallies:
        weights.update(tally.weights)
    certain_from, scale = _certain(weights, share)
    heaviest = (candidate for tally in tallies for _, candidate in tally.heaviest)
    least = (candidate for tally in tallies for _, candidate in tally.least)
    certain = [candidate for candidate in heaviest if candidate.weight >= certain_from]
    others = sorted(candidate for candidate in least if candidate.weight < certain_from)
    return [
        *((candidate, 1.0) for candidate in certain),
        *((c, min(1.0, c.weight * scale)) for c in others[: share - len(certain)]),
    ]


def stratum(names: tuple[StratumName, ...], tallies: Sequence[Tally], share: int) -> Stratum:
    """The stratum that several tallies make, of which `share` units are drawn."""
    macro, micro = weighing(t.macro for t in tallies), weighing(t.micro for t in tallies)
    return Stratum(
        names=names,
        units=sum(tally.units for tally in tallies),
        drawn=share,
        macro=macro,
        micro=micro,
        unevenness=sum(t.pull for t in tallies) * macro.weight / micro.weight**2,
        span=widest(tally.span for tally in tallies),
        span_strict=widest(tally.span_strict for tally in tallies),
    )


def widest(spans: Iterable[tuple[float, float]]) -> tuple[float, float]:
    """The span that holds all of these."""
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


def weighing(tallies: Iterable[Sequence[float]]) -> Weighing:
    """The sums of several strata, added up."""
    columns = zip(*tallies, strict=True)
    return Weighing(**dict(zip(Weighing.model_fields, map(sum, columns), strict=True)))


def stratum_of(outcome: Verdict | Unscored, flags: Collection[FlagName]) -> StratumName:
    """The stratum of a claim."""
    if isinstance(outcome, Unscored) or outcome.fallback_from is not None:
        return StratumName.UNSCORED
    if outcome.support is Support.PARTIAL:
        return StratumName.PARTIAL
    doubtful = bool(flags) or outcome.support is Support.NO_CLAIM or _near(outcome)
    if outcome.support in SUPPORTED:
        return StratumName.SUPPORTED_DOUBTFUL if doubtful else StratumName.SUPPORTED
    return StratumName.UNSUPPORTED_DOUBTFUL if doubtful else StratumName.UNSUPPORTED


def stratum_of_answer(names: Collection[StratumName]) -> StratumName:
    """The stratum of an answer: that of its most doubtful claim. `names` is not empty."""
    return next(name for name in _DOUBT if name in names)


def counts(outcome: Outcome) -> bool:
    """Whether the claim is in the mean: all are but those that the judge calls `no_claim`."""
    return not (isinstance(outcome, Verdict) and outcome.support is Support.NO_CLAIM)


def weight(outcome: Outcome, *, strict: bool) -> float:
    """What a verdict adds to faithfulness, also that of a fallback; 0 where there is none."""
    if not isinstance(outcome, Verdict):
        return 0.0
    if strict:
        return float(outcome.support is Support.FULL)
    return SUPPORT_WEIGHT.get(outcome.support, 0.0)


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


def _wider(
    span: tuple[float, float], unit: Sequence[Claim], *, strict: bool
) -> tuple[float, float]:
    if not all(counts(claim.outcome) for claim in unit):
        return -1.0, 1.0
    mean = sum(weight(claim.outcome, strict=strict) for claim in unit) / len(unit)
    return min(span[0], -mean), max(span[1], 1 - mean)


def _near(verdict: Verdict) -> bool:
    threshold = Signature.parse(verdict.signature).part("t")
    # A language model's t is its temperature.
    if verdict.score is None or threshold is None or verdict.source == "llm":
        return False
    try:
        least = float(threshold)
    except ValueError:  # a judge of the user's own may mean something else by it
        return False
    return abs(_log_odds(verdict.score) - _log_odds(least)) <= NEAR


def _log_odds(probability: float) -> float:
    inside = min(1 - _EDGE, max(_EDGE, probability))
    return math.log(inside / (1 - inside))
