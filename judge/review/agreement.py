"""The quality of the judge by the labels of people, and the score of the run corrected by them.

All figures but α are means over answers: a claim weighs 1 / the claims of its answer, and a
labelled claim also 1 / its chance to be drawn and labelled.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Final, NamedTuple

import numpy as np

from judge.records import SUPPORT_WEIGHT, CorpusScore, Summary, Support, Verdict
from judge.review.coefficients import (
    brier,
    calibration_error,
    cohen_kappa,
    fisher,
    krippendorff_alpha,
)
from judge.review.draws import NEVER_PARTIAL, counts, own_verdict, support_weight
from judge.review.records import (
    Agreement,
    BlankLimits,
    CorrectedScore,
    Disagreement,
    Draw,
    DrawnSentence,
    Label,
    LabelAccuracy,
    LabelledStratum,
    ScoreName,
    Share,
    Stratum,
)
from judge.scores.intervals import Observation, holm, weighted_share
from judge.scores.strata import Corrected, StratumSample, corrected_mean

FULL: Final = "full"
REST: Final = "rest"

WordOf = Callable[[Label | Verdict], str]
"""A function that returns the name of a label on the scale in use."""
Labels = Mapping[str, Sequence[Label]]
"""Labels by `review_id`; each row has at least one."""

_SCALE: Final = (*(support.value for support in Support), REST)
_MIN_LABELS: Final = 2
"""The fewest labels that a stratum needs by itself."""
_ALPHA: Final = 0.05


class _Pair(NamedTuple):
    """A person's label and the judge's label on one sentence."""

    sentence: DrawnSentence
    judge: str
    person: str
    supported: bool
    probability: float | None
    weight: float


def findings(draw: Draw, labels: Sequence[Label], summary: Summary) -> Agreement:
    """Compare the judge with people's labels, one for each reviewer and row.

    Agreement is over the verdicts of the run's own judge; the labels of a sentence share its
    weight. Corrected scores are over all claims.
    """
    by_id = by_row(labels)
    # A bare no may be none or partial, so that only the strict score can be corrected.
    names: tuple[ScoreName, ...] = ("faithfulness", "faithfulness_strict")
    names = names[any(label.support is None for label in labels) :]
    own = [verdict for sentence in draw.sentences if (verdict := own_verdict(sentence.outcome))]
    full_or_rest = len(names) == 1 or (bool(own) and all(v.source in NEVER_PARTIAL for v in own))
    word_of = partial(_word, full_or_rest=full_or_rest)
    pairs = list(_pairs(draw, by_id, word_of))
    weights = [pair.weight for pair in pairs]
    total = sum(weights)
    scored = [(p.probability, p.supported, p.weight) for p in pairs if p.probability is not None]
    probabilities, truths, theirs = zip(*scored, strict=True) if scored else ((), (), ())
    rated = [list(map(word_of, each)) for each in by_id.values()]
    return Agreement(
        draw=draw.draw,
        signature=draw.signature,
        drawn=len(draw.sentences),
        labelled=len(by_id),
        labels=len(labels),
        reviewers=tuple(sorted({label.reviewer for label in labels})),
        scale="full_or_rest" if full_or_rest else "labels",
        compared=len(pairs),
        agreement=_share(pairs),
        kappa=cohen_kappa([p.judge for p in pairs], [p.person for p in pairs], weights),
        base_rate=sum(p.weight for p in pairs if p.supported) / total if total else None,
        alpha=krippendorff_alpha(rated),
        shared=sum(len(each) > 1 for each in rated),
        accuracy=tuple(_accuracy(pairs)),
        brier=brier(probabilities, truths, theirs),
        calibration_error=calibration_error(probabilities, truths, theirs),
        corrected=tuple(corrected_scores(draw, by_id, summary, names)),
        strata=tuple(_strata(draw, by_id, names[0])),
        disagreements=tuple(_disagreements(draw, by_id, word_of, full_or_rest=full_or_rest)),
    )


def by_row(labels: Iterable[Label]) -> dict[str, list[Label]]:
    """Return labels by `review_id`."""
    rows: defaultdict[str, list[Label]] = defaultdict(list)
    for label in labels:
        rows[label.review_id].append(label)
    return dict(rows)


def corrected_scores(
    draw: Draw, labels: Labels, summary: Summary, names: Sequence[ScoreName]
) -> list[CorrectedScore]:
    """Return the scores `names` of the run as people would give them.

    There are no scores if a draw has fewer than two labelled claims; a stratum with fewer is taken
    together with its neighbour.

    The interval is right if rows were left blank at random. `blank` makes no such assumption: it
    takes all blank rows for unsupported, then for supported, each with the interval of the whole
    draw (C. F. Manski (2003), Partial Identification of Probability Distributions, 1.2).
    """
    scores = []
    for name in names:
        found = _mean(draw, labels, name)
        if found is None:
            continue
        blank = None
        if len(labels) < len(draw.sentences):
            wrong, right = (
                _mean(draw, _filled(draw, labels, support), name)
                for support in (Support.NONE, Support.FULL)
            )
            if wrong is not None and right is not None:
                blank = BlankLimits(
                    wrong=wrong.mean,
                    right=right.mean,
                    low=min(found.low, wrong.low),
                    high=max(found.high, right.high),
                    decides=right.mean - wrong.mean > found.high - found.low
                    and _is_blank_unevenly(draw, labels),
                )
        raw: CorpusScore | None = getattr(summary, name)
        scores.append(
            CorrectedScore(
                name=name,
                raw=None if raw is None else raw.macro,
                corrected=found.mean,
                low=found.low,
                high=found.high,
                standard_error=found.standard_error,
                blank=blank,
            )
        )
    return scores


def _pairs(draw: Draw, by_id: Labels, word_of: WordOf) -> Iterator[_Pair]:
    for sentence, chance in _labelled(draw, by_id):
        labels, verdict = by_id[sentence.review_id], own_verdict(sentence.outcome)
        if verdict is None:
            continue
        for label in labels:
            yield _Pair(
                sentence=sentence,
                judge=word_of(verdict),
                person=word_of(label),
                supported=label.supported,
                probability=verdict.score,
                weight=sentence.weight / chance / len(labels),
            )


def _labelled(draw: Draw, labels: Labels) -> list[tuple[DrawnSentence, float]]:
    """Return the labelled sentences with their chances to be drawn and labelled, by stratum."""
    found = [each for each in draw.sentences if each.review_id in labels]
    labelled = Counter(each.stratum for each in found)
    return [
        (each, each.probability * labelled[each.stratum] / draw.strata[each.stratum].drawn)
        for each in found
    ]


def _is_blank_unevenly(draw: Draw, labels: Labels) -> bool:
    """Return whether any stratum has fewer labels than rows left blank at random would leave.

    A single stratum cannot show that they were left blank at random.
    """
    labelled = Counter(each.stratum for each, _ in _labelled(draw, labels))
    chances = [
        fisher(labelled[number], stratum.drawn, labelled.total(), len(draw.sentences))
        for number, stratum in enumerate(draw.strata)
    ]
    return len(chances) == 1 or min(holm(chances)) < _ALPHA


def _word(label: Label | Verdict, *, full_or_rest: bool = False) -> str:
    if not full_or_rest and label.support is not None:
        return label.support.value
    supported = label.supported if isinstance(label, Label) else label.support is Support.FULL
    return FULL if supported else REST


def _accuracy(pairs: Sequence[_Pair]) -> Iterator[LabelAccuracy]:
    for label in sorted({word for p in pairs for word in (p.judge, p.person)}, key=_SCALE.index):
        judged = [p for p in pairs if p.judge == label]
        labelled = [p for p in pairs if p.person == label]
        yield LabelAccuracy(
            label=label,
            judged=len(judged),
            labelled=len(labelled),
            precision=_share(judged),
            recall=_share(labelled),
        )


def _share(pairs: Sequence[_Pair]) -> Share | None:
    """Return the weighted share of pairs with equal labels."""
    rows = [
        Observation(p.judge == p.person, p.weight, p.sentence.review_id, p.sentence.qid)
        for p in pairs
    ]
    found = weighted_share(rows)
    return None if found is None else Share(**found._asdict())


def _strata(draw: Draw, labels: Labels, name: ScoreName) -> Iterator[LabelledStratum]:
    labelled = Counter(each.stratum for each, _ in _labelled(draw, labels))
    total = sum(stratum.weight for stratum in draw.strata)
    for number, stratum in enumerate(draw.strata):
        error = None
        if labelled[number]:
            sample = _sample(draw, [number], labels, name)
            error = float(np.average(sample.errors, weights=sample.weights))
        yield LabelledStratum(
            names=stratum.names,
            units=stratum.units,
            share=stratum.weight / total,
            drawn=stratum.drawn,
            labelled=labelled[number],
            error=error,
        )


def _disagreements(
    draw: Draw, by_id: Labels, word_of: WordOf, *, full_or_rest: bool
) -> list[Disagreement]:
    """Return the sentences with a label that is not the judge's, worst first."""
    name: ScoreName = "faithfulness_strict" if full_or_rest else "faithfulness"
    found = []
    for sentence in draw.sentences:
        labels, verdict = by_id.get(sentence.review_id, ()), own_verdict(sentence.outcome)
        if verdict is None:
            continue
        judged = word_of(verdict)
        if all(word_of(label) == judged for label in labels):
            continue
        case = Disagreement(
            review_id=sentence.review_id,
            qid=sentence.qid,
            sentence=sentence.sentence,
            text=sentence.text,
            judge=judged,
            people={each.reviewer: _word(each) for each in labels},
            notes=tuple(each.note for each in labels if each.note),
            quote=next((evidence.quote for evidence in verdict.evidence), ""),
            reason=verdict.reason,
        )
        error, _ = _error_and_shift(sentence, labels, name)
        found.append((-abs(error), sentence.stratum, case))
    return [case for *_, case in sorted(found, key=lambda item: item[:2])]


# The corrected score


def _mean(draw: Draw, labels: Labels, name: ScoreName) -> Corrected | None:
    labelled = Counter(each.stratum for each, _ in _labelled(draw, labels))
    groups = _groups(draw.strata, labelled)
    return corrected_mean([_sample(draw, group, labels, name) for group in groups])


def _sample(draw: Draw, group: Collection[int], labels: Labels, name: ScoreName) -> StratumSample:
    strata = [draw.strata[number] for number in group]
    spans = [s.span_strict if name == "faithfulness_strict" else s.span for s in strata]
    labelled = [(each, p) for each, p in _labelled(draw, labels) if each.stratum in group]
    chances = np.array([chance for _, chance in labelled])
    weights = np.array([each.weight for each, _ in labelled])
    errors = [_error_and_shift(each, labels[each.review_id], name) for each, _ in labelled]
    return StratumSample(
        weight=sum(each.weight for each in strata),
        predicted=sum(getattr(each, name) for each in strata),
        counted=sum(each.counted for each in strata),
        span=(min(low for low, _ in spans), max(high for _, high in spans)),
        weights=weights / chances,
        probabilities=chances,
        errors=np.array([error for error, _ in errors]),
        shifts=np.array([shift for _, shift in errors]),
    )


def _error_and_shift(
    sentence: DrawnSentence, labels: Sequence[Label], name: ScoreName
) -> tuple[float, float]:
    """Return people's weight less the judge's, and 1 or -1 if only people or the judge count it.

    Both are means over the people who labelled the sentence.
    """
    strict = name == "faithfulness_strict"
    counted = worth = 0.0
    for label in labels:
        counted += label.support is not Support.NO_CLAIM
        if strict or label.support is None:
            worth += label.supported
        else:
            worth += SUPPORT_WEIGHT.get(label.support, 0.0)
    error = worth / len(labels) - support_weight(sentence.outcome, strict=strict)
    return error, counted / len(labels) - counts(sentence.outcome)


def _groups(strata: Sequence[Stratum], labelled: Mapping[int, int]) -> list[list[int]]:
    """Group the strata by number; a stratum with too few labels joins its neighbour."""
    groups = [[number] for number in range(len(strata))]

    def lacks(group: Sequence[int]) -> bool:
        have = sum(labelled.get(number, 0) for number in group)
        return have < min(_MIN_LABELS, sum(strata[number].units for number in group))

    while len(groups) > 1 and any(map(lacks, groups)):
        place = next(k for k, group in enumerate(groups) if lacks(group))
        first = min(place, len(groups) - 2)
        groups[first : first + 2] = [groups[first] + groups[first + 1]]
    return [] if lacks(groups[0]) else groups


def _filled(draw: Draw, labels: Labels, support: Support) -> Labels:
    """Return the labels, with this label in every blank row."""
    supported = support is Support.FULL
    label = Label(review_id="", qid="", sentence=0, support=support, supported=supported)
    return {each.review_id: labels.get(each.review_id, [label]) for each in draw.sentences}
