"""What the labels say of the judge, in a sentence."""

from typing import Literal

from judge.pages.agreement.words import Words
from judge.records import Summary
from judge.review.records import Agreement, CorrectedScore, LabelledStratum

Bias = Literal["generous", "strict", "same"]
"""Which way a judge errs; `same` where the interval holds its score."""

_FEWEST = 2
"""Labelled units without which no spread is known."""
_SMALLEST = 0.0005
"""A tenth of a percentage point, rounded."""


def title(summary: Summary, words: Words) -> str:
    """What was measured: similarity measures no faithfulness."""
    return words(f"title.{'similarity' if summary.by_similarity else 'faithfulness'}")


def leading(agreement: Agreement) -> CorrectedScore | None:
    """The corrected score to name first: over answers, partial support counted half if it can be.

    None where nothing could be corrected.
    """
    return min(
        agreement.corrected,
        key=lambda score: (score.name != "faithfulness", score.average != "macro"),
        default=None,
    )


def bias(score: CorrectedScore) -> Bias | None:
    """Which way the judge errs; None where it said nothing."""
    if score.raw is None:
        return None
    if score.low <= score.raw <= score.high or abs(score.raw - score.corrected) < _SMALLEST:
        return "same"
    return "generous" if score.raw > score.corrected else "strict"


def headline(agreement: Agreement, summary: Summary, words: Words) -> str:
    """What share is supported as people see it, beside what the judge said, and the difference."""
    score = leading(agreement)
    if score is None:
        return words("headline.nothing", why=words(f"unmeasured.{missing_score(agreement)}"))
    lead = words(
        f"headline.{score.name}",
        value=words.percent(score.corrected),
        reach=words.reach(score, whole=complete(agreement)),
    )
    return words("headline.joined", lead=lead, said=_said(score, summary, words))


def _said(score: CorrectedScore, summary: Summary, words: Words) -> str:
    way = bias(score)
    if score.raw is None or way is None:
        return words("headline.silent")
    who = "similarity" if summary.by_similarity else "judge"
    points = words.points(score.raw - score.corrected)
    return words(f"headline.{who}_{way}", raw=words.percent(score.raw), points=points)


def complete(agreement: Agreement) -> bool:
    """Whether every claim of the run was labelled, so that nothing is left to chance."""
    return not agreement.partly and all(h.labelled == h.units for h in agreement.strata)


def cautions(agreement: Agreement, summary: Summary, words: Words) -> list[str]:
    """What a reader must know of the run itself before quoting a figure."""
    said = []
    if summary.untrusted:
        share = words.percent(summary.unscored_share or 0)
        said.append(words("caution.untrusted", share=share))
    if len(summary.signatures) > 1:
        said.append(words("caution.mixed", count=len(summary.signatures)))
    if unscored := sum(summary.unscored.values()):
        key = "caution.unscored_covered" if agreement.corrected else "caution.unscored"
        said.append(words(key, unscored=unscored, claims=summary.claims))
    return said


def notes(agreement: Agreement, words: Words) -> list[str]:
    """What a reader must know of the corrected scores, and of one that is missing."""
    said = []
    averages = {score.average for score in agreement.corrected}
    if averages == {"macro"}:
        said.append(words("note.uneven"))
    if agreement.partly:
        said.append(words.counted("note.partly", agreement.partly))
    return said


def difference(score: CorrectedScore, words: Words) -> str:
    """How far the judge's score is off."""
    way = bias(score)
    if score.raw is None or way is None:
        return words.unmeasured("raw")
    return words(f"score.{way}", points=words.points(score.raw - score.corrected))


def stratum_name(stratum: LabelledStratum, words: Words) -> str:
    """What a stratum holds, in words."""
    return words("stratum.joint").join(words(f"stratum.{name.value}") for name in stratum.names)


def stratum_bias(stratum: LabelledStratum) -> Bias | None:
    """Which way the judge errs in a stratum; None where nothing is labelled."""
    if stratum.error is None:
        return None
    if abs(stratum.error) < _SMALLEST:
        return "same"
    return "strict" if stratum.error > 0 else "generous"


def stratum_error(stratum: LabelledStratum, words: Words) -> str:
    """How far the judge's figure is off in a stratum."""
    way = stratum_bias(stratum)
    if stratum.error is None or way is None:
        return words.unmeasured("labelled")
    if way == "same":
        return words("stratum.right")
    return words(f"score.{way}", points=words.points(stratum.error))


def missing_score(agreement: Agreement) -> str:
    """Why there is no corrected score: a key of `unmeasured`."""
    labelled = sum(stratum.labelled for stratum in agreement.strata)
    few = labelled < min(_FEWEST, sum(stratum.units for stratum in agreement.strata))
    return f"few_{agreement.by}" if few else "no_claim"


def missing_kappa(agreement: Agreement) -> str:
    """Why there is no kappa, likewise."""
    return "kappa" if agreement.compared else "compared"


def missing_alpha(agreement: Agreement) -> str:
    """Why there is no alpha, likewise."""
    return "alpha" if agreement.shared else "shared"
