"""What the labels say of the judge, in sentences, English and Chinese."""

from typing import Final, Literal

from judge.messages import Lang, Messages
from judge.records import Summary
from judge.review.records import Agreement, CorrectedScore, LabelledStratum, Share

Bias = Literal["generous", "strict", "same"]
"""Which way a judge errs; `same` where the interval holds its score."""

_FEWEST: Final = 2
"""Labelled units without which no spread is known."""
_SMALLEST: Final = 0.0005
"""A tenth of a percentage point, rounded."""


def _tenths(share: float) -> str:
    return f"{100 * share:.1f}"


class Words:
    """All that a page says in one language."""

    def __init__(self, lang: Lang) -> None:
        self._lang: Lang = lang
        self._texts = Messages.of("agreement")

    def __call__(self, key: str, **values: object) -> str:
        """The words under `group.name`, filled in; KeyError where there are none."""
        # A sign goes with its figure: lines do not break between them.
        return self._texts(key, self._lang, **values).replace(" %", "\N{NO-BREAK SPACE}%")

    def counted(self, key: str, count: int) -> str:
        """The words under the key for so many, or under `key_one`."""
        return self(f"{key}_one") if count == 1 else self(key, count=count)

    def heads(self, group: str, *names: str) -> list[str]:
        """The words under several names of one group."""
        return [self(f"{group}.{name}") for name in names]

    def named(self, group: str, name: str) -> str:
        """The word for a name from outside; the name itself where there is none."""
        key = f"{group}.{name}"
        return self._texts(key, self._lang) if key in self._texts else name

    def percent(self, share: float) -> str:
        """A share, 0 to 1, to a tenth of a percent."""
        return self("figure.percent", value=_tenths(share))

    def span(self, low: float, high: float) -> str:
        """An interval of shares."""
        return self("figure.span", low=_tenths(low), high=_tenths(high))

    def reach(self, score: CorrectedScore, *, whole: bool) -> str:
        """How far a score may be off: its interval; none where all was labelled."""
        span = self.span(score.low, score.high)
        return self("reach.whole") if whole else self("reach.interval", span=span)

    def points(self, difference: float) -> str:
        """How large a difference of shares is, whichever way it goes, in percentage points."""
        return self("figure.points", value=_tenths(abs(difference)))

    def coefficient(self, value: float) -> str:
        """A figure that is no share, to three digits."""
        return f"{value:z.3f}".replace("-", "\N{MINUS SIGN}")

    def share(self, share: Share) -> str:
        """A share with its interval."""
        span = self.span(share.low, share.high)
        return self("figure.share", value=self.percent(share.value), span=span)

    def unmeasured(self, why: str) -> str:
        """The words for a missing figure; `why` is a key of `unmeasured`."""
        return self("unmeasured.because", why=self(f"unmeasured.{why}"))


def title(summary: Summary, words: Words) -> str:
    """The title of the page; a run by similarity is not called faithfulness."""
    return words(f"title.{'similarity' if summary.by_similarity else 'faithfulness'}")


def leading(agreement: Agreement) -> CorrectedScore | None:
    """The corrected score to name first: over answers, partial support counted half if it can be.

    None where nothing could be corrected.
    """
    # By name and average: faithfulness before faithfulness_strict, macro before micro.
    return min(agreement.corrected, key=lambda score: (score.name, score.average), default=None)


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
    reach = words.reach(score, whole=complete(agreement))
    lead = words(f"headline.{score.name}", value=words.percent(score.corrected), reach=reach)
    said = words("headline.silent")
    if score.raw is not None:
        way = f"{'similarity' if summary.by_similarity else 'judge'}_{bias(score)}"
        points = words.points(score.raw - score.corrected)
        said = words(f"headline.{way}", raw=words.percent(score.raw), points=points)
    return words("headline.joined", lead=lead, said=said)


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
    if {score.average for score in agreement.corrected} == {"macro"}:
        said.append(words("note.uneven"))
    if agreement.partly:
        said.append(words.counted("note.partly", agreement.partly))
    return said


def difference(score: CorrectedScore, words: Words) -> str:
    """How far the judge's score is off."""
    if score.raw is None:
        return words.unmeasured("raw")
    return words(f"score.{bias(score)}", points=words.points(score.raw - score.corrected))


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
    if stratum.error is None:
        return words.unmeasured("labelled")
    way = stratum_bias(stratum)
    key = "stratum.right" if way == "same" else f"score.{way}"
    return words(key, points=words.points(stratum.error))


def missing_score(agreement: Agreement) -> str:
    """Why there is no corrected score: a key of `unmeasured`."""
    labelled = sum(stratum.labelled for stratum in agreement.strata)
    few = labelled < min(_FEWEST, sum(stratum.units for stratum in agreement.strata))
    return f"few_{agreement.by}" if few else "no_claim"


def missing_kappa(agreement: Agreement) -> str:
    """Why there is no kappa: a key of `unmeasured`."""
    return "kappa" if agreement.compared else "compared"


def missing_alpha(agreement: Agreement) -> str:
    """Why there is no alpha: a key of `unmeasured`."""
    return "alpha" if agreement.shared else "shared"
