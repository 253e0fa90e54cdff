"""What labels say of the judge, and of the score once its errors are accounted for."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple, TypedDict

from judge.records import Summary, Support, Verdict
from judge.review.agreement import brier, calibration_error, cohen_kappa, krippendorff_alpha
from judge.review.census import NEVER_PARTIAL
from judge.review.corrected import Labels, Name, corrected_scores, error_of, units_of
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
from judge.scores.intervals import Row, weighted_share

FULL: Final = "full"
REST: Final = "rest"
_SCALE: Final = (*(support.value for support in Support), REST)


class _Pair(NamedTuple):
    """A person's label beside the judge's."""

    judge: str
    person: str
    weight: float
    probability: float | None
    supported: bool
    review_id: str
    qid: str


def findings(draw: Draw, labels: Sequence[Label], summary: Summary) -> Agreement:
    """Hold labels against verdicts.

    Agreement is over the verdicts of the run's own judge, weighted by one over their chances to be
    drawn, a sentence's labels sharing its weight. Corrected scores are over all claims.

    Args:
        draw: what was drawn.
        labels: of its rows, one a reviewer and row.
        summary: of the run.
    """
    given = by_row(labels)
    names = _names(labels)
    own = [sentence for sentence in draw.sentences if _own(sentence)]
    # A judge that knows no partial is not told off for the words it lacks.
    bare = len(names) == 1 or (bool(own) and all(map(_never_partial, own)))
    pairs = _pairs(draw, given, bare=bare)
    units = units_of(draw, given)
    rated = [[_said(label, bare=bare) for label in said] for said in given.values()]
    return Agreement(
        draw=draw.draw,
        by=draw.by,
        signature=draw.signature,
        drawn=len(draw.sentences),
        labelled=len(given),
        partly=sum(len(unit.sentences) < unit.claims for unit in units),
        labels=len(labels),
        reviewers=tuple(sorted({label.reviewer for label in labels})),
        scale="full_or_rest" if bare else "labels",
        compared=len(pairs),
        **_agreed(pairs),
        alpha=krippendorff_alpha(rated),
        shared=sum(len(said) > 1 for said in rated),
        accuracy=tuple(_accuracy(pairs)),
        corrected=tuple(corrected_scores(draw, given, summary, names)),
        strata=tuple(_strata(draw, given, names[0])),
        disagreements=tuple(_disagreements(draw, given, bare=bare)),
    )


def _names(labels: Sequence[Label]) -> tuple[Name, ...]:
    """The scores that can be corrected: a bare no may be none or partial."""
    if any(label.support is None for label in labels):
        return ("faithfulness_strict",)
    return ("faithfulness", "faithfulness_strict")


def _never_partial(sentence: DrawnSentence) -> bool:
    return isinstance(sentence.outcome, Verdict) and sentence.outcome.source in NEVER_PARTIAL


class _Agreed(TypedDict):
    agreement: Share | None
    kappa: float | None
    base_rate: float | None
    brier: float | None
    calibration_error: float | None


def _agreed(pairs: Sequence[_Pair]) -> _Agreed:
    judge, person = [pair.judge for pair in pairs], [pair.person for pair in pairs]
    weights = [pair.weight for pair in pairs]
    whole = sum(weights)
    sure = [pair for pair in pairs if pair.probability is not None]
    forecasts = (
        [pair.probability or 0.0 for pair in sure],
        [pair.supported for pair in sure],
        [pair.weight for pair in sure],
    )
    return {
        "agreement": _share(pairs),
        "kappa": cohen_kappa(judge, person, weights),
        "base_rate": sum(p.weight for p in pairs if p.supported) / whole if whole else None,
        "brier": brier(*forecasts),
        "calibration_error": calibration_error(*forecasts),
    }


def _own(sentence: DrawnSentence) -> bool:
    """Whether the run's own judge has a verdict on it."""
    outcome = sentence.outcome
    return isinstance(outcome, Verdict) and outcome.fallback_from is None


def _pairs(draw: Draw, given: Labels, *, bare: bool) -> list[_Pair]:
    drawn = Counter(sentence.stratum for sentence in draw.sentences)
    labelled = Counter(s.stratum for s in draw.sentences if s.review_id in given)
    pairs = []
    for sentence in draw.sentences:
        said = given.get(sentence.review_id, ())
        outcome = sentence.outcome
        if not said or not isinstance(outcome, Verdict) or not _own(sentence):
            continue
        # Those without a label are taken to be like the others of their stratum.
        answered = labelled[sentence.stratum] / drawn[sentence.stratum]
        weight = 1 / sentence.probability / answered / len(said)
        judged = _word(outcome.support, bare=bare)
        pairs += [
            _Pair(
                judge=judged,
                person=_said(label, bare=bare),
                weight=weight,
                probability=outcome.score,
                supported=label.supported,
                review_id=sentence.review_id,
                qid=sentence.qid,
            )
            for label in said
        ]
    return pairs


def _word(support: Support, *, bare: bool) -> str:
    return support.value if not bare or support is Support.FULL else REST


def _said(label: Label, *, bare: bool) -> str:
    if bare or label.support is None:
        return FULL if label.supported else REST
    return label.support.value


def _accuracy(pairs: Sequence[_Pair]) -> Iterable[LabelAccuracy]:
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
    """Of those on which both agree."""
    found = weighted_share([Row(p.judge == p.person, p.weight, p.review_id, p.qid) for p in pairs])
    return None if found is None else Share(**found._asdict())


def _strata(draw: Draw, given: Labels, name: Name) -> Iterable[LabelledStratum]:
    for number, stratum in enumerate(draw.strata):
        units = [unit for unit in units_of(draw, given) if unit.stratum == number]
        errors = [
            (
                s.weight / unit.probability,
                error_of(s, given[s.review_id], name),
            )
            for unit in units
            for s in unit.sentences
        ]
        whole = sum(weight for weight, _ in errors)
        yield LabelledStratum(
            names=stratum.names,
            units=stratum.units,
            drawn=stratum.drawn,
            labelled=len(units),
            error=sum(weight * error.worth for weight, error in errors) / whole if whole else None,
        )


def _disagreements(draw: Draw, given: Labels, *, bare: bool) -> list[Disagreement]:
    found = []
    for sentence in draw.sentences:
        said = given.get(sentence.review_id, ())
        outcome = sentence.outcome
        if not isinstance(outcome, Verdict) or not _own(sentence):
            continue
        judged = _word(outcome.support, bare=bare)
        if all(_said(label, bare=bare) == judged for label in said):
            continue
        name: Name = "faithfulness_strict" if bare else "faithfulness"
        worst = abs(error_of(sentence, said, name).worth)
        found.append((-worst, sentence.stratum, _disagreement(sentence, outcome, said, judged)))
    return [each for *_, each in sorted(found, key=lambda item: item[:2])]


def _disagreement(
    sentence: DrawnSentence, verdict: Verdict, said: Sequence[Label], judged: str
) -> Disagreement:
    return Disagreement(
        review_id=sentence.review_id,
        qid=sentence.qid,
        sentence=sentence.sentence,
        text=sentence.text,
        judge=judged,
        people={label.reviewer: _said(label, bare=label.support is None) for label in said},
        notes=tuple(label.note for label in said if label.note),
        quote=next((evidence.quote for evidence in verdict.evidence), ""),
        reason=verdict.reason,
    )
