"""What a run says of its answers, beside the rank measures of the same questions."""

from judge.records import CorpusScore, RankingReport, Summary
from judge.records.diagnosis import Figure, Wording
from judge.reports.diagnosis.table import said

ANSWERS = ("faithfulness", "correctness_recall")
"""The measures of answers that rules may name."""


def answer_figures(summary: Summary) -> tuple[Figure, ...]:
    """The means of a run that rules are about; none of what is not to be trusted."""
    found = []
    if not summary.untrusted:
        found.append(_figure("faithfulness", summary.faithfulness))
    if summary.correctness is not None and not summary.correctness.untrusted:
        found.append(_figure("correctness_recall", summary.correctness.recall))
    return tuple(each for each in found if each is not None)


def answer_cautions(summary: Summary, report: RankingReport) -> tuple[Wording, ...]:
    """Why its means are left out, or how far they can be held against the ranks."""
    cautions = []
    compared = summary.correctness
    if summary.untrusted or (compared is not None and compared.untrusted):
        cautions.append(said("untrusted"))
    if summary.by_similarity:
        cautions.append(said("similarity"))
    if summary.answers != report.queries:
        cautions.append(said("others", answers=summary.answers, queries=report.queries))
    return tuple(cautions)


def _figure(measure: str, score: CorpusScore | None) -> Figure | None:
    if score is None:
        return None
    return Figure(measure=measure, value=score.macro, interval=score.interval)
