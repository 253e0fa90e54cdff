"""The agreement of the judge with people, in sentences and as a page."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final, Literal

from judge.inputs.runs import samples_of
from judge.pages.html import PageWords, render
from judge.records import Summary, UnscoredReason
from judge.review.records import (
    Agreement,
    CorrectedScore,
    Disagreement,
    LabelledStratum,
    StratumName,
)
from judge.text.visible import flat

Bias = Literal["generous", "strict", "above", "below", "same"]
"""The judge's score against the people's: too high or too low; merely higher or lower, if the
reviewers' own errors are not measured; or `same` within the interval."""

_FEWEST_LABELLED: Final = 2
_SMALLEST_DIFFERENCE: Final = 0.0005
_MAX_DISAGREEMENTS: Final = 30


def page(agreement: Agreement, summary: Summary, run: Path | None = None) -> str:
    """Return the page as HTML, with the samples of the disagreements if the run still has them."""
    findings = Findings(agreement, summary)
    worst = agreement.disagreements[:_MAX_DISAGREEMENTS]
    qids = {item.qid for item in worst}
    samples = {}
    if run is not None and qids:
        samples = samples_of(run, qids)
    words = findings.words
    return render(
        "agreement.html",
        agreement=agreement,
        summary=summary,
        words=words,
        findings=findings,
        title=f"{words('title.page')} {flat(agreement.draw)}",
        reviewers=words("disagreement.joint").join(map(findings.reviewer, agreement.reviewers)),
        worst=[(item, findings.people(item), samples.get(item.qid)) for item in worst],
        more=len(agreement.disagreements) - len(worst),
    )


class Findings:
    """The findings of an agreement, in sentences."""

    def __init__(self, agreement: Agreement, summary: Summary) -> None:
        self._agreement = agreement
        self._summary = summary
        self.words = PageWords("agreement")
        name = "similarity" if summary.by_similarity else "faithfulness"
        self.title = self.words.of("title", name)
        """The heading; the score of a run by similarity is not called faithfulness."""
        self.whole = all(h.labelled == h.units for h in agreement.strata)
        """Whether every claim of the run was labelled, so that nothing is left to chance."""
        self.leading = next(iter(agreement.corrected), None)
        """The first corrected score to show; None where no score could be corrected."""
        self.no_kappa = "kappa" if agreement.compared else "compared"
        """The name in `unmeasured` of the reason why there is no kappa."""
        self.no_alpha = "alpha" if agreement.shared else "shared"
        """The name in `unmeasured` of the reason why there is no alpha."""

    def headline(self) -> str:
        """Return the share that people call supported, beside the judge's."""
        words, score, strata = self.words, self.leading, self._agreement.strata
        if score is None:
            labelled, units = sum(h.labelled for h in strata), sum(h.units for h in strata)
            few = labelled < min(_FEWEST_LABELLED, units)
            why = words("unmeasured.few" if few else "unmeasured.no_claim")
            return words("nothing.faithfulness", why=why)
        lead = words.of(
            "headline",
            score.name,
            value=words.percent(score.corrected),
            reach=self.reach(score),
        )
        judge_text, way = words("headline.silent"), self.bias(score)
        if score.raw is not None and way is not None:
            group = "said_by_similarity" if self._summary.by_similarity else "said_by_judge"
            points = words.points(score.raw - score.corrected)
            judge_text = words.of(group, way, raw=words.percent(score.raw), points=points)
        return words("headline.joined", lead=lead, finding=judge_text)

    def cautions(self) -> list[str]:
        """Return what a reader must know of the run before quoting a figure."""
        words, summary, cautions = self.words, self._summary, []
        if self._agreement.labels and not self._agreement.shared:
            cautions.append(words("caution.unshared"))
        if self.leading is not None and self.leading.blank and self.leading.blank.decides:
            cautions.append(words("caution.blank"))
        if summary.untrusted:
            share = words.percent(summary.unscored_share or 0)
            cautions.append(words("caution.untrusted", share=share))
        if len(summary.signatures) > 1:
            cautions.append(words("caution.mixed", count=len(summary.signatures)))
        undecided = summary.unscored.get(UnscoredReason.UNDECIDED, 0)
        failed = sum(summary.unscored.values()) - undecided
        for key, count in (("undecided", undecided), ("unscored", failed)):
            if count:
                caution = words.of("caution", key, count=count, claims=summary.claims)
                covered = bool(self._agreement.corrected)
                cautions.append(words("caution.covered", caution=caution) if covered else caution)
        return cautions

    def notes(self) -> Iterator[str]:
        """Yield the number of blank rows, and how far they could move the corrected score."""
        words, agreement, score = self.words, self._agreement, self.leading
        if blank := agreement.drawn - agreement.labelled:
            parts = [
                words(
                    "note.blank_part",
                    blank=h.drawn - h.labelled,
                    rows=h.drawn,
                    stratum=self.stratum(h),
                )
                for h in agreement.strata
                if h.labelled < h.drawn
            ]
            key = "note.blank_parts" if len(agreement.strata) > 1 else "note.blank"
            joined = words("note.blank_joint").join(parts)
            yield words(key, blank=blank, rows=agreement.drawn, parts=joined)
        if score is not None and (limits := score.blank) is not None:
            ends = {"wrong": words.percent(limits.wrong), "right": words.percent(limits.right)}
            yield words("note.limits", span=words.span(limits.low, limits.high), **ends)

    def reach(self, score: CorrectedScore) -> str:
        """Return the interval of a score in words, or that everything was labelled."""
        span = self.words.span(score.low, score.high)
        return self.words("reach.whole") if self.whole else self.words("reach.interval", span=span)

    def difference(self, score: CorrectedScore) -> str:
        """Return how far the judge's score is from the people's."""
        way = self.bias(score)
        if score.raw is None or way is None:
            return self.words.unmeasured("raw")
        points = self.words.points(score.raw - score.corrected)
        return self.words.of("score", way, points=points)

    def stratum(self, stratum: LabelledStratum) -> str:
        """Return the name of a stratum."""
        names = (self.words.of("stratum", name.value) for name in stratum.names)
        return self.words("stratum.joint").join(names)

    def stratum_error(self, stratum: LabelledStratum) -> str:
        """Return how far the judge's figure in a stratum is from the people's."""
        if stratum.error is None:
            return self.words.unmeasured("labelled")
        if stratum.names == (StratumName.UNDECIDED,):
            return self.words("stratum.people_support", share=self.words.percent(stratum.error))
        way = self._bias(-stratum.error)
        if way == "same":
            return self.words("stratum.right")
        return self.words.of("score", way, points=self.words.points(stratum.error))

    def bias(self, score: CorrectedScore) -> Bias | None:
        """Return the side on which the judge's score lies; None without a score of the judge."""
        if score.raw is None:
            return None
        if score.low <= score.raw <= score.high:
            return "same"
        return self._bias(score.raw - score.corrected)

    def _bias(self, excess: float) -> Bias:
        if abs(excess) < _SMALLEST_DIFFERENCE:
            return "same"
        if self._agreement.shared:
            return "generous" if excess > 0 else "strict"
        return "above" if excess > 0 else "below"

    def reviewer(self, name: str) -> str:
        """Return the name of a reviewer, or a word for one without a name."""
        return name or self.words("disagreement.nameless")

    def people(self, item: Disagreement) -> str:
        """Return the labels of a sentence, each with its reviewer where there are names."""
        labels = {name: self.words.word("label", label) for name, label in item.people.items()}
        if set(labels) == {""}:
            return labels[""]
        return self.words("disagreement.joint").join(
            self.words("disagreement.by", label=label, reviewer=self.reviewer(name))
            for name, label in labels.items()
        )
