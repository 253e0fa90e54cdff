"""All claims of a run, counted by stratum in one pass, and the few that a draw may take."""

import heapq
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from judge.backends.hook import uniform
from judge.records import Excluded, FlagName, SampleResult, Unscored, Verdict
from judge.review.allocation import Size
from judge.review.records import StratumName, Weighing
from judge.review.strata import SPREAD, counts, stratum_of, stratum_of_answer, weight

By = Literal["sentence", "answer"]

_CANCELLED: Final = 0.5


class Claim(NamedTuple):
    """A claim as the census sees it."""

    sentence: int
    stratum: StratumName
    outcome: Verdict | Unscored


class Candidate(NamedTuple):
    """A unit that may be drawn; the least of `key` are, each with a chance like its weight."""

    key: float
    """A permanent random number over the weight."""
    position: int
    """Of the answer in the run, from 0."""
    sentence: int | None
    """Index of the sentence; None for the whole answer."""
    weight: float


@dataclass(slots=True)
class Tally:
    """One stratum."""

    units: int = 0
    macro: list[float] = field(default_factory=lambda: [0.0] * 4)
    """As the fields of `Weighing`, in order."""
    micro: list[float] = field(default_factory=lambda: [0.0] * 4)
    span: tuple[float, float] = (0.0, 0.0)
    span_strict: tuple[float, float] = (0.0, 0.0)
    pull: float = 0.0
    """Sum over units of micro weight squared over macro weight."""
    weights: Counter[float] = field(default_factory=Counter)
    """Units by weight: there are few different ones."""
    least: list[tuple[float, Candidate]] = field(default_factory=list)
    """Heap of those with the least keys, behind the key negated."""
    heaviest: list[tuple[float, Candidate]] = field(default_factory=list)
    """Heap of those with the largest weights: they may be certain to be drawn."""


class Census:
    """Counts a run, result by result, in memory that does not grow with it.

    Args:
        by: what is drawn.
        seed: of the draw.
        size: how many units a draw takes at most.
    """

    def __init__(self, by: By, seed: int, size: int) -> None:
        self._by = by
        self._seed = seed
        self._size = size
        self._position = 0
        self.tallies: Mapping[StratumName, Tally] = {name: Tally() for name in StratumName}

    def add(self, result: SampleResult) -> None:
        """Take in one answer."""
        found = claims(result)
        if found:
            part = part_of(found)
            units = [[claim] for claim in found] if self._by == "sentence" else [found]
            for unit in units:
                self._add(result.qid, unit, part)
        self._position += 1

    def sizes(self) -> dict[StratumName, Size]:
        """Units, weight and expected spread by stratum; what is drawn serves the macro mean."""
        # Within an answer errors partly cancel.
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
                for place, value in enumerate(_worth(claim.outcome)):
                    sums[place] += each * value
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


def claims(result: SampleResult) -> list[Claim]:
    """The claims of an answer, judged or not."""
    flags = flags_of(result)
    return [
        Claim(sentence.index, stratum_of(outcome, flags.get(sentence.index, ())), outcome)
        for sentence in result.sentences
        if not isinstance(outcome := sentence.outcome, Excluded)
    ]


def part_of(found: Sequence[Claim]) -> float:
    """A claim's part in the mean of its answer: 1 / the claims that count there."""
    counted = sum(counts(claim.outcome) for claim in found)
    return 1 / (counted or len(found))


def flags_of(result: SampleResult) -> dict[int, Collection[FlagName]]:
    """The names of the flags by sentence."""
    flags: dict[int, list[FlagName]] = {}
    for flag in result.flags:
        if flag.sentence is not None:
            flags.setdefault(flag.sentence, []).append(flag.name)
    return {index: tuple(names) for index, names in flags.items()}


def weighing(tallies: Iterable[Sequence[float]]) -> Weighing:
    """The sums of several strata as one."""
    columns = zip(*tallies, strict=True)
    return Weighing(**dict(zip(Weighing.model_fields, map(sum, columns), strict=True)))


def _worth(outcome: Verdict | Unscored) -> tuple[float, ...]:
    counted = float(counts(outcome))
    return 1.0, counted, weight(outcome, strict=False), weight(outcome, strict=True)


def _wider(
    span: tuple[float, float], unit: Sequence[Claim], *, strict: bool
) -> tuple[float, float]:
    if not all(counts(claim.outcome) for claim in unit):
        return -1.0, 1.0
    mean = sum(weight(claim.outcome, strict=strict) for claim in unit) / len(unit)
    return min(span[0], -mean), max(span[1], 1 - mean)
