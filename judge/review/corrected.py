"""The corrected scores of a run."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import product
from typing import Final, Literal, NamedTuple

import numpy as np

from judge.records import SUPPORT_WEIGHT, CorpusScore, Summary, Support
from judge.review.records import (
    BlankLimits,
    CorrectedScore,
    Draw,
    DrawnSentence,
    Label,
    ScoreName,
    Stratum,
    Target,
    Weighing,
)
from judge.review.strata import (
    counts,
    weight,
    widest,
)
from judge.scores.strata import Corrected, StratumSample, corrected_mean

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
"""The names of the scores for each target."""
_FEWEST: Final = 2
_MOST_UNEVEN: Final = 2.5


class Error(NamedTuple):
    """How a person's label differs from the verdict."""

    worth: float
    """The person's weight less the judge's."""
    shift: float
    """1 where only the person counts the claim, -1 where only the judge does."""


def corrected_scores(
    draw: Draw, labels: Labels, summary: Summary, names: Sequence[Name]
) -> list[CorrectedScore]:
    """The scores `names` of the run as people would give them, over answers and over claims.

    None at all where a draw has fewer than two labelled claims; a stratum with fewer is taken
    together with its neighbour. No pooled score where lengths differ so much that claims of long
    answers, which weigh little in the mean over answers, were hardly drawn.

    The interval takes rows left blank for never drawn, which is right where they were left so at
    random. `blank` needs no such assumption: all of them are taken for unsupported, then for
    supported (C. F. Manski (2003), Partial Identification of Probability Distributions, 1.2), each
    with the interval of the whole draw, so that at least 95 % hold however they were left.
    """
    scores = []
    averages: Sequence[Average] = ("macro", "micro")
    blanks = [_filled(draw, labels, support) for support in (Support.NONE, Support.FULL)]
    for name, average in product(names, averages[: 1 + (_unevenness(draw) <= _MOST_UNEVEN)]):
        score: CorpusScore | None = getattr(summary, name)
        raw = None if score is None else getattr(score, average)
        found = _mean(draw, labels, name, average)
        if found is None:
            continue
        blank = None
        if len(labels) < len(draw.sentences):
            wrong, right = (_mean(draw, filled, name, average) for filled in blanks)
            if wrong is not None and right is not None:
                held = [raw, *_bounds(draw.target, name, average, summary)]
                blank = _blank(found, wrong, right, held)
        scores.append(
            CorrectedScore(
                name=_NAMES[draw.target, name],
                average=average,
                raw=raw,
                corrected=found.mean,
                low=found.low,
                high=found.high,
                standard_error=found.standard_error,
                blank=blank,
            )
        )
    return scores


def _mean(draw: Draw, labels: Labels, name: Name, average: Average) -> Corrected | None:
    labelled = Counter(each.stratum for each in labelled_of(draw, labels))
    groups = _enough(draw.strata, labelled)
    return corrected_mean([_sample(draw, each, labels, name, average) for each in groups])


def _filled(draw: Draw, labels: Labels, support: Support) -> Labels:
    """The labels, and this one in every row that has none."""
    supported = support is Support.FULL
    blank = {
        each.review_id: [
            Label(
                review_id=each.review_id,
                qid=each.qid,
                sentence=each.sentence,
                support=support,
                supported=supported,
            )
        ]
        for each in draw.sentences
        if each.review_id not in labels
    }
    return {**labels, **blank}


def _bounds(target: Target, name: Name, average: Average, summary: Summary) -> list[float]:
    """The bounds of the run's gates on this score, which hold means over answers."""
    of = _NAMES[target, name]
    return [gate.bound for gate in summary.gates if gate.name == of and average == "macro"]


def _blank(
    found: Corrected, wrong: Corrected, right: Corrected, held: Sequence[float | None]
) -> BlankLimits:
    """The limits, by the score of the labels there are and those with the blanks filled in."""
    low, high = min(found.low, wrong.low), max(found.high, right.high)
    decided = (
        low <= each <= high and not found.low <= each <= found.high
        for each in held
        if each is not None
    )
    wider = right.mean - wrong.mean > found.high - found.low
    return BlankLimits(
        wrong=wrong.mean, right=right.mean, low=low, high=high, decides=wider or any(decided)
    )


def labelled_of(draw: Draw, labels: Labels) -> list[DrawnSentence]:
    """The drawn sentences that have a label, in the order of the draw."""
    return [each for each in draw.sentences if each.review_id in labels]


def chances_of(draw: Draw, labels: Labels) -> list[float]:
    """Return for each labelled sentence its chance to be drawn and labelled.

    Who was drawn and not labelled is taken to be like the others of the stratum.
    """
    found = labelled_of(draw, labels)
    labelled = Counter(each.stratum for each in found)
    return [
        each.probability * labelled[each.stratum] / draw.strata[each.stratum].drawn
        for each in found
    ]


def mean_errors(draw: Draw, labels: Labels, name: Name) -> list[float | None]:
    """The mean error of the judge in each stratum, over answers; None where none is labelled."""
    labelled = {each.stratum for each in labelled_of(draw, labels)}
    samples = {number: _sample(draw, [number], labels, name, "macro") for number in labelled}
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


def _unevenness(draw: Draw) -> float:
    """Return the variance of a pooled score, relative to a draw with equal chances."""
    # A stratum that is drawn whole has no variance.
    open_ = [stratum for stratum in draw.strata if stratum.drawn < stratum.units]
    units = sum(stratum.micro.weight for stratum in open_)
    uneven = sum(stratum.unevenness * stratum.micro.weight for stratum in open_)
    return uneven / units if units else 1.0


def _sample(
    draw: Draw, group: Collection[int], labels: Labels, name: Name, average: Average
) -> StratumSample:
    strata = [draw.strata[number] for number in group]
    sums: list[Weighing] = [getattr(stratum, average) for stratum in strata]
    pairs = zip(labelled_of(draw, labels), chances_of(draw, labels), strict=True)
    drawn = [(each, chance) for each, chance in pairs if each.stratum in group]
    chances = np.array([chance for _, chance in drawn])
    weights = np.array([1.0 if average == "micro" else each.weight for each, _ in drawn])
    errors = [error_of(each, labels[each.review_id], name) for each, _ in drawn]
    return StratumSample(
        weight=sum(each.weight for each in sums),
        predicted=sum(getattr(each, name) for each in sums),
        counted=sum(each.counted for each in sums),
        span=widest(s.span_strict if name == "faithfulness_strict" else s.span for s in strata),
        weights=weights / chances,
        probabilities=chances,
        errors=np.array([error.worth for error in errors]),
        shifts=np.array([error.shift for error in errors]),
    )


def _enough(strata: Sequence[Stratum], labelled: Mapping[int, int]) -> list[list[int]]:
    """Group the strata by number; a stratum with too few labels joins its neighbour."""
    groups = [[number] for number in range(len(strata))]

    def lacks(group: Sequence[int]) -> bool:
        have = sum(labelled.get(number, 0) for number in group)
        return have < min(_FEWEST, sum(strata[number].units for number in group))

    while len(groups) > 1 and any(map(lacks, groups)):
        place = next(k for k, group in enumerate(groups) if lacks(group))
        first = min(place, len(groups) - 2)
        groups[first : first + 2] = [groups[first] + groups[first + 1]]
    return [] if lacks(groups[0]) else groups
