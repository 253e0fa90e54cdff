"""What a run says of its answers, beside the rank measures of the same questions."""

from collections.abc import Iterable
from typing import Final

from judge.advice.diagnosis.table import said
from judge.advice.records import Figure, Wording
from judge.records import CorpusScore, Interval, QuadrantCount, Summary
from judge.records.quadrant import QuadrantWord
from judge.retrieval.records import RankingReport
from judge.scores.intervals import wilson

ANSWERS: Final = (
    "faithful_of_retrieved",
    "correct_of_retrieved",
    "faithfulness",
    "correctness_recall",
)
"""The measures of answers that rules may name. The first two are shares of the answers whose
evidence was retrieved; the others are means over all, and so no more than a hint."""

_ASKED: Final[tuple[tuple[QuadrantWord, QuadrantWord], ...]] = (
    ("faithful", "unfaithful"),
    ("correct", "wrong"),
)


def answer_figures(summary: Summary) -> tuple[Figure, ...]:
    """What rules are about: shares where the run knows what was retrieved, means where not.

    What is not to be trusted is left out.
    """
    compared = summary.correctness
    trusted = {
        "faithful": not summary.untrusted,
        "correct": compared is not None and not compared.untrusted,
    }
    if summary.breakdown is not None and summary.breakdown.cells:
        cells = summary.breakdown.cells
        found = (
            _share(f"{yes}_of_retrieved", cells, yes, no) if trusted[yes] else None
            for yes, no in _ASKED
        )
    else:
        recall = compared.recall if compared is not None and trusted["correct"] else None
        means = {
            "faithfulness": summary.faithfulness if trusted["faithful"] else None,
            "correctness_recall": recall,
        }
        found = (_mean(name, score) for name, score in means.items())
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


def _mean(measure: str, score: CorpusScore | None) -> Figure | None:
    if score is None:
        return None
    return Figure(measure=measure, value=score.macro, interval=score.interval)


def _share(
    measure: str, cells: Iterable[QuadrantCount], yes: QuadrantWord, no: QuadrantWord
) -> Figure | None:
    """Of the answers whose evidence was retrieved, those that are `yes` among the known."""
    known = [cell for cell in cells if "retrieved" in cell.words and {yes, no} & {*cell.words}]
    counted = sum(cell.answers for cell in known)
    if not counted:
        return None
    value = sum(cell.answers for cell in known if yes in cell.words) / counted
    low, high = wilson(value, counted)
    return Figure(
        measure=measure, value=value, interval=Interval(low=low, high=high, method="wilson")
    )
