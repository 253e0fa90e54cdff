"""How good the judge is by the labels of people: agreement, precision and recall, calibration.

All figures but α are means over answers, as the first corrected score is: a claim weighs 1 / the
claims of its answer.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from judge.records import Summary, Support, Verdict
from judge.review.coefficients import brier, calibration_error, cohen_kappa, krippendorff_alpha
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
    # A judge that never says partial is compared on two labels.
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
