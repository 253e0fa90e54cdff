"""Runs side by side as one page: what differs, how surely, and each answer that changed."""

import os
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import quote

from judge.inputs.runs import pairs
from judge.pages.html import ABSENT, PageWords, pieces
from judge.records import Interval, SampleResult
from judge.records.comparison import AnswerChange, Differences, RunComparison
from judge.reports.compare import doubt_lines, findings, label_line, loss_lines, score_name
from judge.reports.gate import describe
from judge.scores.answer import support_of
from judge.text.visible import clip

MOST_ANSWERS: Final = 300
"""The number of changed answers on a page."""
_TEXT_CHARACTERS: Final = 4_000
_MAX_SENTENCES: Final = 100
_MAX_SLICES: Final = 60


class Point(NamedTuple):
    """The score of a run in the chart of a trend."""

    run: str
    started: str
    place: float
    """The place of the run along the chart, from 0 to 1."""
    value: float
    interval: Interval
    report: str
    """The address of the run's report; empty without a report."""


def comparison(
    report: RunComparison, folders: Sequence[Path], reports: Sequence[str]
) -> Iterator[str]:
    """Yield the page piece by piece: all runs, and the last of them beside the first.

    `reports` are the addresses of the runs' reports, empty for a run without one.
    """
    last = report.differences[-1]
    changed, gone = _pairs((folders[0], folders[-1]), last)
    headline, side = next(iter(report.sides.items()))
    words = PageWords("compare")

    def name_of(score: str) -> str:
        return score_name(score, offline=report.offline)

    def names(scores: Iterable[str]) -> str:
        return words("say.joint").join(map(name_of, scores))

    return pieces(
        "compare.html",
        report=report,
        last=last,
        words=words,
        score_name=name_of,
        headline=headline,
        verdict=_verdict(last, headline),
        rows=[
            (name_of(name), score, (score.difference > 0) is (report.sides[name] == "least"))
            for name, score in last.scores.items()
            if score is not None and score.better + score.worse
        ],
        slices=[
            (value or words("say.without"), score, (score.difference > 0) is (side == "least"))
            for value, table in list(last.slices.items())[:_MAX_SLICES]
            if (score := table[headline]) is not None
        ],
        same=names(n for n, s in last.scores.items() if s and not s.better + s.worse),
        missing=names(name for name, score in last.scores.items() if score is None),
        points=partial(_points, report, reports),
        reports=reports,
        describe=describe,
        losses=list(loss_lines(report)),
        pairs=changed,
        gone=gone,
        label_of=support_of,
        shortened=partial(clip, longest=_TEXT_CHARACTERS),
        most_sentences=_MAX_SENTENCES,
        doubts=list(doubt_lines(report)),
        labels=label_line(last),
    )


def _verdict(last: Differences, headline: str) -> str:
    """Return the name of the text that sums up the comparison."""
    score = last.scores[headline]
    if score is None:
        return "unmeasured"
    if headline not in findings(last.scores):
        return "open"
    return "better" if score.better > score.worse else "worse"


def report_beside(run: Path, page: Path) -> str:
    """Return a page's link to the report in or beside a run folder; empty without a report."""
    for file in (run / "report.html", run.with_name(f"{run.name}.html")):
        if file.is_file() and file.resolve() != page.resolve():
            return quote(Path(os.path.relpath(file, page.parent)).as_posix())
    return ""


def _points(report: RunComparison, reports: Sequence[str], score: str) -> list[Point]:
    """Return a score in all runs that have it, in their order."""
    last = len(report.runs) - 1
    return [
        Point(run.name, (run.started or ABSENT)[:10], place / last, value, interval, address)
        for place, (run, address) in enumerate(zip(report.runs, reports, strict=True))
        if (value := run.mean[score]) is not None and (interval := run.interval[score]) is not None
    ]


def _pairs(
    folders: tuple[Path, Path], last: Differences
) -> tuple[list[tuple[AnswerChange, str, tuple[SampleResult, SampleResult]]], bool]:
    """Return change, question and results of each listed answer, and whether samples are gone."""
    qids = {change.qid for change in last.worst}
    if not qids:
        return [], False
    before, after = (
        {result.qid: (result, sample) for result, sample in pairs(folder) if result.qid in qids}
        for folder in folders
    )
    changed, gone = [], False
    for change in last.worst:
        (one, first_sample), (two, second_sample) = before[change.qid], after[change.qid]
        sample = first_sample or second_sample
        query = clip(sample.query, _TEXT_CHARACTERS) if sample else ""
        changed.append((change, query, (one, two)))
        gone = gone or first_sample is None or second_sample is None
    return changed, gone
