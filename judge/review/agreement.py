"""How good the judge is by the labels of people: agreement, precision and recall, calibration.

Weights, one a row, are finite and at least 0. Only their ratios matter, and a row of weight 0
changes nothing but a count of rows. What stands beside the corrected score over answers is a mean
over answers, too: a claim weighs 1 / the claims of its answer.
"""

import math
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from judge.records import Summary, Support, Verdict
from judge.review.corrected import (
    Labels,
    Name,
    chances_of,
    corrected_scores,
    error_of,
    labelled_of,
    mean_errors,
)
from judge.review.folder import by_row
from judge.review.records import (
    Agreement,
    Disagreement,
    Draw,
    DrawnSentence,
    Label,
    LabelAccuracy,
    LabelledStratum,
    Share,
)
from judge.review.strata import NEVER_PARTIAL, own_verdict
from judge.scores.intervals import Row, weighted_share

FULL: Final = "full"
REST: Final = "rest"
_SCALE: Final = (*(support.value for support in Support), REST)
_BINS: Final = 10
# Compared with edges, not multiplied: .29 · 100 is below 29.
_EDGES: Final = [edge / _BINS for edge in range(1, _BINS)]


class _Pair(NamedTuple):
    """A person's label and the judge's label on one sentence."""

    sentence: DrawnSentence
    judge: str
    person: str
    supported: bool
    probability: float | None
    weight: float


def findings(draw: Draw, labels: Sequence[Label], summary: Summary) -> Agreement:
    """Hold labels against verdicts; there is one label a reviewer and row.

    Agreement is over the verdicts of the run's own judge, weighted by their part in the mean over
    answers and one over their chances to be drawn, a sentence's labels sharing its weight.
    Corrected scores are over all claims.
    """
    given = by_row(labels)
    # A bare no may be none or partial.
    names: tuple[Name, ...] = ("faithfulness", "faithfulness_strict")
    names = names[any(label.support is None for label in labels) :]
    own = [verdict for sentence in draw.sentences if (verdict := own_verdict(sentence.outcome))]
    # A judge that knows no partial is not told off for the words it lacks.
    bare = len(names) == 1 or (bool(own) and all(v.source in NEVER_PARTIAL for v in own))
    pairs = list(_pairs(draw, given, bare=bare))
    weights = [pair.weight for pair in pairs]
    whole = sum(weights)
    sure = [(p.probability, p.supported, p.weight) for p in pairs if p.probability is not None]
    probabilities, truths, theirs = zip(*sure, strict=True) if sure else ((), (), ())
    rated = [[_said(label, bare=bare) for label in said] for said in given.values()]
    return Agreement(
        draw=draw.draw,
        target=draw.target,
        signature=draw.signature,
        drawn=len(draw.sentences),
        labelled=len(given),
        labels=len(labels),
        reviewers=tuple(sorted({label.reviewer for label in labels})),
        scale="full_or_rest" if bare else "labels",
        compared=len(pairs),
        agreement=_share(pairs),
        kappa=cohen_kappa([p.judge for p in pairs], [p.person for p in pairs], weights),
        base_rate=sum(p.weight for p in pairs if p.supported) / whole if whole else None,
        alpha=krippendorff_alpha(rated),
        shared=sum(len(said) > 1 for said in rated),
        accuracy=tuple(_accuracy(pairs)),
        brier=brier(probabilities, truths, theirs),
        calibration_error=calibration_error(probabilities, truths, theirs),
        corrected=tuple(corrected_scores(draw, given, summary, names)),
        strata=tuple(_strata(draw, given, mean_errors(draw, given, names[0]))),
        disagreements=tuple(_disagreements(draw, given, bare=bare)),
    )


def cohen_kappa(
    first: Sequence[Hashable], second: Sequence[Hashable], weights: Sequence[float]
) -> float | None:
    """Cohen's κ, agreement beyond chance: (p_o - p_e) / (1 - p_e).

    p_o is the share of equal rows; p_e = Σ_c p_c q_c, p and q being the shares of a label on either
    side. Where one label is rare κ is low for a good judge too: read it beside the base rate.

    Returns:
        -1 to 1, and 0 at chance. None where p_e is 1 (both sides use one and the same label), and
        without rows or weight.

    Source: J. Cohen (1960), Educational and Psychological Measurement 20, 37-46.

    >>> cohen_kappa("aabb", "aaba", [1, 1, 1, 1]), cohen_kappa("aa", "aa", [1, 1])
    (0.5, None)
    """
    scaled = _scaled(weights)
    rows = list(zip(first, second, scaled, strict=True))
    shares: defaultdict[Hashable, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for one, other, weight in rows:
        shares[one][0] += weight
        shares[other][1] += weight
    # Σ_{c≠k} p_c q_k rather than 1 - p_e: nothing cancels, so it is 0 only where it should be.
    chance = so_far = others_so_far = 0.0
    for p, q in shares.values():
        chance += p * others_so_far + q * so_far
        so_far, others_so_far = so_far + p, others_so_far + q
    if not chance:
        return None
    apart = math.fsum(weight for one, other, weight in rows if one != other)
    # Rounding may step past -1.
    return max(-1.0, 1 - apart * math.fsum(scaled) / chance)


def krippendorff_alpha(
    ratings: Sequence[Sequence[float]] | Sequence[Sequence[Hashable]], *, squared: bool = False
) -> float | None:
    """Krippendorff's α for any number of raters: 1 - D_o / D_e.

    Labels are nominal; or numbers, whose distance is `squared`: each term of the sums below is then
    multiplied by (c - k)².

    D_o / D_e = (n - 1) Σ_u [Σ_{c≠k} n_uc n_uk / (m_u - 1)] / Σ_{c≠k} n_c n_k, with n_uc the times
    that unit u got label c, m_u its labels, and n_c and n their sums over the units. `ratings` has
    for each unit the labels it got, in any order; one with fewer than two counts nowhere.

    Returns:
        Above -1 to 1: 1 where all agree, 0 at chance. None where no unit has two labels, or only
        one label is used.

    Source: K. Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability", section C.

    >>> krippendorff_alpha(["aa", "bb", "ab", "a"])
    0.4444444444444444
    """
    totals: Counter[Hashable] = Counter()
    observed = []
    apart = _squared if squared else _unequal
    for labels in ratings:
        unit = Counter[Hashable](labels)
        if (rated := unit.total()) > 1:
            totals.update(unit)
            observed.append(apart(unit) / (rated - 1))
    expected = apart(totals)
    return 1 - (totals.total() - 1) * math.fsum(observed) / expected if expected else None


def brier(
    probabilities: Sequence[float], truths: Sequence[bool], weights: Sequence[float]
) -> float | None:
    """Brier score, the mean squared error of probabilities: Σ w (p - y)² / Σ w.

    Returns:
        0 (certain and right) to 1 (certain and wrong); None without rows or weight.

    Source: G. W. Brier (1950), Monthly Weather Review 78, 1-3, for an event and halved.

    >>> brier([1.0, 0.5], [True, False], [1, 1])
    0.125
    """
    scaled = _scaled(weights)
    total = math.fsum(scaled)
    rows = zip(probabilities, truths, scaled, strict=True)
    errors = math.fsum((p - truth) ** 2 * weight for p, truth, weight in rows)
    return errors / total if total else None


def calibration_error(
    probabilities: Sequence[float], truths: Sequence[bool], weights: Sequence[float]
) -> float | None:
    """Expected calibration error: Σ_b |Σ_{i in b} w_i (y_i - p_i)| / Σ w.

    Each bin's |share of truths - mean probability|, by its weight. There are ten bins of equal
    width; an edge belongs to the bin above it, and 1 to the last.

    Returns:
        0 (in each bin as often true as said) to 1; None without rows or weight.

    Source: Naeini, Cooper and Hauskrecht (2015), AAAI 29, 2901-2907.

    >>> calibration_error([0.75, 0.75, 0.25], [True, False, False], [1, 1, 1])
    0.25
    """
    scaled = _scaled(weights)
    gaps: defaultdict[int, list[float]] = defaultdict(list)
    for p, truth, weight in zip(probabilities, truths, scaled, strict=True):
        gaps[bisect_right(_EDGES, p)].append(weight * (truth - p))
    total, apart = math.fsum(scaled), math.fsum(abs(math.fsum(gap)) for gap in gaps.values())
    # Sums rounded one by one may pass 1.
    return min(1.0, apart / total) if total else None


def mcnemar(only_first: int, only_second: int) -> float:
    """McNemar's exact test, two-sided: min(1, 2 Σ_{i≤k} C(n, i) / 2ⁿ).

    n = only_first + only_second, the rows that only one side has (got right, called supported), and
    k is the smaller of them: under no difference either side is as likely to have them.

    Returns:
        p, 0 to 1; 1 where no row differs.

    Source: Q. McNemar (1947), Psychometrika 12, 153-157; exact by the binomial distribution.

    >>> round(mcnemar(1, 5), 6), mcnemar(0, 0)
    (0.21875, 1.0)
    """
    n, k = only_first + only_second, min(only_first, only_second)
    return min(1.0, 2 * sum(math.comb(n, i) for i in range(k + 1)) / (1 << n))


def _unequal(counts: Counter[Any]) -> int:
    return counts.total() ** 2 - sum(count * count for count in counts.values())


def _squared(counts: Counter[Any]) -> float:
    """Σ n_c n_k (c - k)²."""
    total = math.fsum(count * value for value, count in counts.items())
    squares = math.fsum(count * value * value for value, count in counts.items())
    return 2 * (counts.total() * squares - total * total)


def _scaled(weights: Sequence[float]) -> list[float]:
    """The weights as shares of the largest, so that no sum or square of them overflows."""
    largest = max(weights, default=0)
    return [weight / largest if largest else 0.0 for weight in weights]


def _pairs(draw: Draw, given: Labels, *, bare: bool) -> Iterator[_Pair]:
    labelled = labelled_of(draw, given)
    for sentence, chance in zip(labelled, chances_of(draw, given), strict=True):
        labels, verdict = given[sentence.review_id], own_verdict(sentence.outcome)
        if verdict is None:
            continue
        for label in labels:
            yield _Pair(
                sentence=sentence,
                judge=_said(verdict, bare=bare),
                person=_said(label, bare=bare),
                supported=label.supported,
                probability=verdict.score,
                weight=sentence.weight / chance / len(labels),
            )


def _said(label: Label | Verdict, *, bare: bool) -> str:
    if not bare and label.support is not None:
        return label.support.value
    supported = label.supported if isinstance(label, Label) else label.support is Support.FULL
    return FULL if supported else REST


def _accuracy(pairs: Sequence[_Pair]) -> Iterator[LabelAccuracy]:
    for label in sorted({said for p in pairs for said in (p.judge, p.person)}, key=_SCALE.index):
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
    """The weighted share of pairs in which both labels are equal."""
    rows = [Row(p.judge == p.person, p.weight, p.sentence.review_id, p.sentence.qid) for p in pairs]
    found = weighted_share(rows)
    return None if found is None else Share(**found._asdict())


def _strata(draw: Draw, given: Labels, errors: Sequence[float | None]) -> Iterator[LabelledStratum]:
    labelled = Counter(each.stratum for each in labelled_of(draw, given))
    whole = sum(stratum.macro.weight for stratum in draw.strata)
    for number, (stratum, error) in enumerate(zip(draw.strata, errors, strict=True)):
        yield LabelledStratum(
            names=stratum.names,
            units=stratum.units,
            share=stratum.macro.weight / whole,
            drawn=stratum.drawn,
            labelled=labelled[number],
            error=error,
        )


def _disagreements(draw: Draw, given: Labels, *, bare: bool) -> list[Disagreement]:
    """Sentences that a person called otherwise than the judge, worst first."""
    name: Name = "faithfulness_strict" if bare else "faithfulness"
    found = []
    for sentence in draw.sentences:
        labels, verdict = given.get(sentence.review_id, ()), own_verdict(sentence.outcome)
        if verdict is None:
            continue
        judged = _said(verdict, bare=bare)
        if all(_said(label, bare=bare) == judged for label in labels):
            continue
        case = Disagreement(
            review_id=sentence.review_id,
            qid=sentence.qid,
            sentence=sentence.sentence,
            text=sentence.text,
            judge=judged,
            people={each.reviewer: _said(each, bare=each.support is None) for each in labels},
            notes=tuple(each.note for each in labels if each.note),
            quote=next((evidence.quote for evidence in verdict.evidence), ""),
            reason=verdict.reason,
        )
        found.append((-abs(error_of(sentence, labels, name).worth), sentence.stratum, case))
    return [case for *_, case in sorted(found, key=lambda item: item[:2])]
