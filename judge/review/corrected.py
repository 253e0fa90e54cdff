"""The corrected scores of a run, and how many labels they need to be as sharp as one wants."""

import math
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from itertools import groupby, product
from pathlib import Path
from typing import Final, Literal, NamedTuple

import numpy as np

from judge.errors import RunError
from judge.records import SUPPORT_WEIGHT, CorpusScore, Excluded, Summary, Support
from judge.review.census import (
    By,
    Census,
    Size,
    counts,
    stratum_of,
    stratum_of_answer,
    weight,
    widest,
)
from judge.review.folder import by_row, labelled_draws
from judge.review.records import (
    CorrectedScore,
    Draw,
    DrawnSentence,
    Label,
    ScoreName,
    Stratum,
    StratumName,
    Target,
    Weighing,
)
from judge.review.strata import Group, allocate, merge
from judge.review.targets import census_of, nothing
from judge.scores.intervals import Z95
from judge.scores.strata import StratumSample, corrected_mean

Labels = Mapping[str, Sequence[Label]]
"""Labels by `review_id`; each row has at least one."""
Name = Literal["faithfulness", "faithfulness_strict"]
Average = Literal["macro", "micro"]
_NAMES: Final[Mapping[tuple[Target, Name], ScoreName]] = {
    ("faithfulness", "faithfulness"): "faithfulness",
    ("faithfulness", "faithfulness_strict"): "faithfulness_strict",
    ("correctness_precision", "faithfulness"): "correctness_precision",
    ("correctness_precision", "faithfulness_strict"): "correctness_precision_strict",
    ("correctness_recall", "faithfulness"): "correctness_recall",
    ("correctness_recall", "faithfulness_strict"): "correctness_recall_strict",
}
"""What the scores are called of what is checked."""
_FEWEST: Final = 2
_MOST_UNEVEN: Final = 2.5
_EXPECTED: Final = 10
"""How many labels the expected spread counts as, beside those that were given."""


class Unit(NamedTuple):
    """A labelled sentence, or an answer drawn whole."""

    stratum: int
    probability: float
    sentences: tuple[DrawnSentence, ...]
    """The sentences that have a label; there is at least one, and they stand for the others."""
    claims: int
    """How many claims the unit has, with and without a label."""


class Error(NamedTuple):
    """How a person's label differs from the verdict."""

    worth: float
    """The person's weight less the judge's."""
    shift: float
    """1 where only the person counts the claim, -1 where only the judge does."""


class Quota(NamedTuple):
    """How many labels a plan takes from one stratum."""

    names: tuple[StratumName, ...]
    units: int
    spread: float
    """Standard deviation of the judge's error, of a poor judge and, where labelled, as found."""
    labels: int


class Plan(NamedTuple):
    """How many labels an interval of the wanted width needs, by stratum."""

    quotas: list[Quota]
    learnt: int
    """Labelled units that the spreads were learnt from; 0 where they are those of a poor judge."""

    @property
    def total(self) -> int:
        """How many units must be labelled in all."""
        return sum(quota.labels for quota in self.quotas)


def corrected_scores(
    draw: Draw, labels: Labels, summary: Summary, names: Sequence[Name]
) -> list[CorrectedScore]:
    """The scores `names` of the run as people would give them, over answers and over claims.

    None at all where a draw has fewer than two labelled units; a stratum with fewer is taken
    together with its neighbour. No pooled score where lengths differ so much that claims of long
    answers, which weigh little in the mean over answers, were hardly drawn.
    """
    scores = []
    averages: Sequence[Average] = ("macro", "micro")
    units = units_of(draw, labels)
    groups = _enough(draw.strata, Counter(unit.stratum for unit in units))
    for name, average in product(names, averages[: 1 + (_unevenness(draw) <= _MOST_UNEVEN)]):
        raw: CorpusScore | None = getattr(summary, name)
        samples = [_sample(draw, group, units, labels, name, average) for group in groups]
        found = corrected_mean(samples)
        if found is not None:
            scores.append(
                CorrectedScore(
                    name=_NAMES[draw.target, name],
                    average=average,
                    raw=None if raw is None else getattr(raw, average),
                    corrected=found.mean,
                    low=found.low,
                    high=found.high,
                    standard_error=found.standard_error,
                )
            )
    return scores


def units_of(draw: Draw, labels: Labels) -> list[Unit]:
    """The units that have a label, in the order of the draw."""
    whole = draw.by == "answer"
    units = []
    for _, group in groupby(draw.sentences, key=lambda s: s.qid if whole else s.review_id):
        drawn = tuple(group)
        labelled = tuple(sentence for sentence in drawn if sentence.review_id in labels)
        if labelled:
            first = labelled[0]
            units.append(Unit(first.stratum, first.probability, labelled, len(drawn)))
    return units


def chances_of(draw: Draw, units: Sequence[Unit]) -> list[float]:
    """The chance of each unit to be drawn and labelled; `units` are all that have a label.

    Who was drawn and not labelled is taken to be like the others of the stratum.
    """
    labelled = Counter(unit.stratum for unit in units)
    return [
        unit.probability * labelled[unit.stratum] / draw.strata[unit.stratum].drawn
        for unit in units
    ]


def mean_errors(draw: Draw, labels: Labels, name: Name) -> list[float | None]:
    """The mean error of the judge in each stratum, over answers; None where none is labelled."""
    units = units_of(draw, labels)
    labelled = {unit.stratum for unit in units}
    samples = {number: _sample(draw, [number], units, labels, name, "macro") for number in labelled}
    means = {n: float(np.average(h.errors, weights=h.weights)) for n, h in samples.items()}
    return [means.get(number) for number in range(len(draw.strata))]


def error_of(sentence: DrawnSentence, labels: Sequence[Label], name: Name) -> Error:
    """The mean error of one sentence, over the people who labelled it."""
    strict = name == "faithfulness_strict"
    counted = worth = 0.0
    for label in labels:
        counted += label.support is not Support.NO_CLAIM
        if strict or label.support is None:
            worth += label.supported
        else:
            worth += SUPPORT_WEIGHT.get(label.support, 0.0)
    judged = weight(sentence.outcome, strict=strict)
    return Error(worth / len(labels) - judged, counted / len(labels) - counts(sentence.outcome))


def plan(
    run: str | Path, width: float = 0.03, by: By = "sentence", target: Target = "faithfulness"
) -> Plan:
    """The smallest draw whose corrected score (macro) has an interval of about ± `width`.

    Args:
        run: folder of a finished run.
        width: half the width of the 95 % interval, above 0.
        by: what would be drawn.
        target: of what.

    Raises:
        RunError: no finished run, or nothing in it to draw.
    """
    run = Path(run)
    census = census_of(run, by, target=target)
    if not any(size.units for size in census.sizes().values()):
        raise RunError(f"{run}: {nothing(target)}")
    return plan_for(census, width, _errors(run, by, target))


def plan_for(
    census: Census, width: float, found: Mapping[StratumName, list[float]] | None = None
) -> Plan:
    """The plan for a run of these claims, at least one; `found` are errors known by stratum.

    What is not known is taken to be that of a poor judge.
    """
    found = found or {}
    sizes, worst = census.sizes(), census.worst()
    total = sum(size.units for size in sizes.values())
    while True:
        # A small draw has room for few strata.
        groups = merge(sizes, total)
        expected = [group.size for group in groups]
        spreads = [_spread(group, sizes, worst, found) for group in groups]
        fewer = needed(expected, spreads, width)
        if fewer >= total:
            break
        total = fewer
    shares = allocate(expected, total)
    return Plan(
        [
            Quota(group.names, group.size.units, spread, share)
            for group, spread, share in zip(groups, spreads, shares, strict=True)
        ],
        sum(map(len, found.values())),
    )


def needed(sizes: Sequence[Size], spreads: Sequence[float], width: float) -> int:
    """About the fewest units whose 95 % interval is ± `width` or less; all where none are enough.

    Units are divided by `allocate`, by the spreads of `sizes`; `spreads` is what is known by now,
    s in the variance of the mean: the sum of W²·s²·(1/n - 1/N), W a stratum's share of the weight.
    """
    whole = sum(size.weight for size in sizes)

    def reach(total: int) -> float:
        variance = 0.0
        for size, spread, n in zip(sizes, spreads, allocate(sizes, total), strict=True):
            if size.weight and size.units > n:
                if not n:
                    return math.inf
                variance += (size.weight / whole * spread) ** 2 * (1 / n - 1 / size.units)
        return Z95 * math.sqrt(variance)

    totals = range(1, sum(size.units for size in sizes))
    return 1 + bisect_left(totals, -width, key=lambda total: -reach(total))


def _unevenness(draw: Draw) -> float:
    """How many times the variance of a pooled score is that of a draw made for it."""
    # What is drawn whole has no variance.
    open_ = [stratum for stratum in draw.strata if stratum.drawn < stratum.units]
    units = sum(stratum.micro.weight for stratum in open_)
    uneven = sum(stratum.unevenness * stratum.micro.weight for stratum in open_)
    return uneven / units if units else 1.0


def _sample(
    draw: Draw,
    group: Collection[int],
    units: Sequence[Unit],
    labels: Labels,
    name: Name,
    average: Average,
) -> StratumSample:
    strata = [draw.strata[number] for number in group]
    units = [unit for unit in units if unit.stratum in group]
    sums: list[Weighing] = [getattr(stratum, average) for stratum in strata]
    chances = np.array(chances_of(draw, units))
    hefts = [1.0 if average == "micro" else unit.sentences[0].weight for unit in units]
    heft = np.array([unit.claims * each for unit, each in zip(units, hefts, strict=True)])
    of_claims = [[error_of(s, labels[s.review_id], name) for s in unit.sentences] for unit in units]
    errors = [[sum(c) / len(c) for c in zip(*each, strict=True)] for each in of_claims]
    return StratumSample(
        weight=sum(each.weight for each in sums),
        predicted=sum(getattr(each, name) for each in sums),
        counted=sum(each.counted for each in sums),
        span=widest(s.span_strict if name == "faithfulness_strict" else s.span for s in strata),
        weights=heft / chances,
        probabilities=chances,
        errors=np.array([worth for worth, _ in errors]),
        shifts=np.array([shift for _, shift in errors]),
    )


def _enough(strata: Sequence[Stratum], labelled: Mapping[int, int]) -> list[list[int]]:
    """Strata by number, those with too few labels for an error of their own beside a neighbour."""
    groups = [[number] for number in range(len(strata))]

    def lacks(group: Sequence[int]) -> bool:
        have = sum(labelled.get(number, 0) for number in group)
        return have < min(_FEWEST, sum(strata[number].units for number in group))

    while len(groups) > 1 and any(map(lacks, groups)):
        place = next(k for k, group in enumerate(groups) if lacks(group))
        first = min(place, len(groups) - 2)
        groups[first : first + 2] = [groups[first] + groups[first + 1]]
    return [] if lacks(groups[0]) else groups


def _spread(
    group: Group,
    sizes: Mapping[StratumName, Size],
    worst: Mapping[StratumName, float],
    found: Mapping[StratumName, list[float]],
) -> float:
    errors = [error for name in group.names for error in found.get(name, ())]
    mean = sum(errors) / len(errors) if errors else 0.0
    squares = sum((error - mean) ** 2 for error in errors)
    weight = sum(sizes[name].weight for name in group.names)
    poor = sum(sizes[name].weight * worst.get(name, 0.0) ** 2 for name in group.names) / weight
    return math.sqrt((squares + _EXPECTED * poor) / (len(errors) + _EXPECTED))


def _errors(run: Path, by: By, target: Target) -> Mapping[StratumName, list[float]]:
    """The judge's errors in the units that were labelled already, by stratum."""
    errors: dict[StratumName, list[float]] = defaultdict(list)
    for draw, given in labelled_draws(run, target)[0]:
        labels = by_row(given)
        units = [unit.sentences for unit in units_of(draw, labels)] if by == draw.by else []
        if by == "sentence":
            units = [(each,) for each in draw.sentences if each.review_id in labels]
        for unit in units:
            worth = [error_of(s, labels[s.review_id], "faithfulness").worth for s in unit]
            strata = {
                stratum_of(s.outcome, [flag.name for flag in s.flags])
                for s in unit
                if not isinstance(s.outcome, Excluded)
            }
            errors[stratum_of_answer(strata)].append(sum(worth) / len(worth))
    return errors
