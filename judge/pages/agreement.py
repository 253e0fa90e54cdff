"""What labels say of the judge, in English and Chinese: sentences, and a page for who decides."""

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Final, Literal

from judge.messages import Lang, Messages
from judge.pages.html import render
from judge.records import Sample, Summary
from judge.review.records import (
    Agreement,
    CorrectedScore,
    Disagreement,
    LabelledStratum,
    Share,
    Target,
)
from judge.text.visible import flat

Samples = Callable[[Collection[str]], Mapping[str, Sample]]
"""Finds samples by qid."""

Bias = Literal["generous", "strict", "same"]
"""Which way a judge errs; `same` where the interval holds its score."""

_FEWEST: Final = 2
"""Labelled units without which no spread is known."""
_SMALLEST: Final = 0.0005
"""A tenth of a percentage point, rounded."""
_MOST_DISAGREEMENTS: Final = 30
"""As many as a person reads; the rest stands in `agreement.json`."""


def page(agreement: Agreement, summary: Summary, lang: Lang, samples: Samples | None = None) -> str:
    """What labels say of a run, as one HTML5 file that needs no other, to be written as UTF-8.

    Disagreements stand with question and chunks where their samples can be found.
    """
    words = Words(lang)
    # A bare no, too, keeps the other score from being corrected.
    bare = {score.name.endswith("_strict") for score in agreement.corrected} == {True}
    bare = bare and agreement.scale == "full_or_rest"
    shown = agreement.disagreements[:_MOST_DISAGREEMENTS]
    found = samples({item.qid for item in shown}) if samples and shown else {}
    return render(
        "agreement.html",
        lang,
        agreement=agreement,
        summary=summary,
        words=words,
        findings=Findings(agreement, summary, words),
        title=f"{words('title.page')} {flat(agreement.draw)}",
        scale="strict" if bare else agreement.scale,
        reviewers=words("disagreement.joint").join(map(words.reviewer, agreement.reviewers)),
        worst=[(item, words.people(item), found.get(item.qid)) for item in shown],
        more=len(agreement.disagreements) - len(shown),
    )


class Words:
    """All that a page says in one language."""

    def __init__(self, lang: Lang) -> None:
        self.lang: Lang = lang
        self._texts = Messages.of("agreement")

    def __call__(self, key: str, **values: object) -> str:
        """The words under `group.name`, filled in; KeyError where there are none."""
        # A sign goes with its figure: lines do not break between them.
        return self._texts(key, self.lang, **values).replace(" %", "\N{NO-BREAK SPACE}%")

    def heads(self, group: str, *names: str) -> list[str]:
        """The words under several names of one group."""
        return [self(f"{group}.{name}") for name in names]

    def named(self, group: str, name: str) -> str:
        """The word for a name from outside; the name itself where there is none."""
        key = f"{group}.{name}"
        return self._texts(key, self.lang) if key in self._texts else name

    def place(self, chunk_id: str, target: Target) -> str:
        """The id of a chunk; where correctness is checked, the word for the other text."""
        return chunk_id if target == "faithfulness" else self.named("other", chunk_id)

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

    def score(self, score: CorrectedScore) -> str:
        """What a score is, and what it is a mean over."""
        counted = "strict" if score.name.endswith("_strict") else "halves"
        return self(f"score.{counted}_{score.average}")

    def difference(self, score: CorrectedScore) -> str:
        """How far the judge's score is off."""
        if score.raw is None:
            return self.unmeasured("raw")
        return self(f"score.{bias(score)}", points=self.points(score.raw - score.corrected))

    def stratum(self, stratum: LabelledStratum) -> str:
        """What a stratum holds."""
        return self("stratum.joint").join(self(f"stratum.{name.value}") for name in stratum.names)

    def stratum_error(self, stratum: LabelledStratum) -> str:
        """How far the judge's figure is off in a stratum."""
        if stratum.error is None:
            return self.unmeasured("labelled")
        way = stratum_bias(stratum)
        key = "stratum.right" if way == "same" else f"score.{way}"
        return self(key, points=self.points(stratum.error))

    def reviewer(self, name: str) -> str:
        """The name of a reviewer, who may have given none."""
        return name or self("disagreement.nameless")

    def people(self, item: Disagreement) -> str:
        """What each said, and who, where there are names."""
        labels = {name: self.named("label", label) for name, label in item.people.items()}
        if set(labels) == {""}:
            return labels[""]
        return self("disagreement.joint").join(
            self("disagreement.by", label=label, reviewer=self.reviewer(name))
            for name, label in labels.items()
        )


class Findings:
    """What an agreement comes to, said in one language."""

    def __init__(self, agreement: Agreement, summary: Summary, words: Words) -> None:
        self._agreement = agreement
        self._summary = summary
        self._words = words
        kind = "similarity" if summary.by_similarity else "faithfulness"
        self.title = words(
            f"title.{kind if agreement.target == 'faithfulness' else agreement.target}"
        )
        """What the page is about; a run by similarity is not called faithfulness."""
        strata = agreement.strata
        self.whole = all(h.labelled == h.units for h in strata)
        """Whether every claim of the run was labelled, so that nothing is left to chance."""
        # By name and average: faithfulness before faithfulness_strict, macro before micro.
        self.leading = min(agreement.corrected, key=lambda s: (s.name, s.average), default=None)
        """The corrected score to name first: over answers, partial support counted half if it can
        be; None where nothing could be corrected."""
        self.no_kappa = "kappa" if agreement.compared else "compared"
        """Why there is no kappa, where there is none: a key of `unmeasured`."""
        self.no_alpha = "alpha" if agreement.shared else "shared"
        """Why there is no alpha, where there is none."""

    def headline(self) -> str:
        """What share is supported as people see it, beside what the judge said."""
        words, score, strata = self._words, self.leading, self._agreement.strata
        if score is None:
            labelled, units = sum(h.labelled for h in strata), sum(h.units for h in strata)
            few = labelled < min(_FEWEST, units)
            why = "few" if few else "no_claim"
            whole = self._agreement.target == "faithfulness"
            key = "headline.nothing" if whole else f"headline.nothing_{self._agreement.target}"
            return words(key, why=words(f"unmeasured.{why}"))
        reach = words.reach(score, whole=self.whole)
        lead = words(
            f"headline.{score.name}",
            value=words.percent(score.corrected),
            over=words(f"headline.{score.average}"),
            reach=reach,
        )
        said = words("headline.silent")
        if score.raw is not None:
            way = f"{'similarity' if self._summary.by_similarity else 'judge'}_{bias(score)}"
            points = words.points(score.raw - score.corrected)
            said = words(f"headline.{way}", raw=words.percent(score.raw), points=points)
        return words("headline.joined", lead=lead, said=said)

    def cautions(self) -> list[str]:
        """What a reader must know of the run itself before quoting a figure."""
        words, summary, said = self._words, self._summary, []
        if summary.untrusted:
            share = words.percent(summary.unscored_share or 0)
            said.append(words("caution.untrusted", share=share))
        if len(summary.signatures) > 1:
            said.append(words("caution.mixed", count=len(summary.signatures)))
        if unscored := sum(summary.unscored.values()):
            key = "caution.unscored_covered" if self._agreement.corrected else "caution.unscored"
            said.append(words(key, unscored=unscored, claims=summary.claims))
        if self.leading is not None and self.leading.blank and self.leading.blank.decides:
            said.append(words("caution.blank"))
        return said

    def notes(self) -> list[str]:
        """What a reader must know of the corrected scores, and of one that is missing."""
        said = []
        if {score.average for score in self._agreement.corrected} == {"macro"}:
            said.append(self._words("note.uneven"))
        return [*said, *self._blank()]

    def _blank(self) -> Iterator[str]:
        """How much is blank, and what that may hide."""
        words, agreement, score = self._words, self._agreement, self.leading
        if blank := agreement.drawn - agreement.labelled:
            parts = [
                words(
                    "note.blank_part",
                    blank=h.drawn - h.labelled,
                    rows=h.drawn,
                    stratum=words.stratum(h),
                )
                for h in agreement.strata
                if h.labelled < h.drawn
            ]
            key = "note.blank_parts" if len(agreement.strata) > 1 else "note.blank"
            told = words("note.blank_joint").join(parts)
            yield words(key, blank=blank, rows=agreement.drawn, parts=told)
        if score is not None and (limits := score.blank) is not None:
            ends = {"wrong": words.percent(limits.wrong), "right": words.percent(limits.right)}
            yield words("note.limits", span=words.span(limits.low, limits.high), **ends)


def bias(score: CorrectedScore) -> Bias | None:
    """Which way the judge errs; None where it said nothing."""
    if score.raw is None:
        return None
    if score.low <= score.raw <= score.high or abs(score.raw - score.corrected) < _SMALLEST:
        return "same"
    return "generous" if score.raw > score.corrected else "strict"


def stratum_bias(stratum: LabelledStratum) -> Bias | None:
    """Which way the judge errs in a stratum; None where nothing is labelled."""
    if stratum.error is None:
        return None
    if abs(stratum.error) < _SMALLEST:
        return "same"
    return "strict" if stratum.error > 0 else "generous"


def _tenths(share: float) -> str:
    return f"{100 * share:.1f}"
