"""Runs side by side as one page: what differs, how surely, and each answer that changed."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from judge.inputs.runs import read_results, samples_of
from judge.pages.html import pieces
from judge.pages.words import Words
from judge.records import SampleResult
from judge.records.comparison import AnswerChange, Differences, RunComparison, ScoreDifference
from judge.reports.compare import findings, score_name
from judge.scores.answer import support_of
from judge.text.visible import clip

_TEXT_CHARACTERS: Final = 4_000
_MAX_SENTENCES: Final = 100
_MAX_SLICES: Final = 60
_COURSE_WIDTH, _COURSE_HEIGHT = 120, 24


class ShownSentence(NamedTuple):
    """A sentence as the page shows it."""

    text: str
    """The sentence, shortened."""
    label: str
    """The support of the sentence, or `excluded`."""
    changed: bool
    """Whether the other run gives the same sentence another label."""


class Pair(NamedTuple):
    """An answer that changed, from both runs."""

    change: AnswerChange
    """The change of its score and labels."""
    query: str
    """The question; empty where the samples are gone."""
    sides: tuple[list[ShownSentence], list[ShownSentence]]
    """The sentences before and after."""
    cut: tuple[int, int]
    """The number of further sentences, before and after."""


class Row(NamedTuple):
    """A score, or a slice, in a table."""

    name: str
    found: ScoreDifference
    better: bool
    """Whether the difference is for the better."""


def comparison(report: RunComparison) -> Iterator[str]:
    """Yield the page piece by piece: all runs, and the last of them beside the first.

    Raises:
        RunError: a run is damaged.
    """
    last = report.differences[-1]
    shown, gone = _pairs(report, last)
    headline, side = next(iter(report.sides.items()))
    words = Words("compare")

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
            Row(name_of(name), found, (found.difference > 0) is (report.sides[name] == "least"))
            for name, found in last.scores.items()
            if found is not None and found.better + found.worse
        ],
        slices=[
            Row(value or words("say.without"), found, (found.difference > 0) is (side == "least"))
            for value, table in list(last.slices.items())[:_MAX_SLICES]
            if (found := table[headline]) is not None
        ],
        same=names(n for n, s in last.scores.items() if s and not s.better + s.worse),
        missing=names(name for name, found in last.scores.items() if found is None),
        course=_course,
        pairs=shown,
        gone=gone,
        found=frozenset(findings(last.scores)),
    )


def _verdict(last: Differences, headline: str) -> str:
    """Return the name of the text that sums up the comparison."""
    found = last.scores[headline]
    if found is None:
        return "unmeasured"
    if headline not in findings(last.scores):
        return "open"
    return "better" if found.better > found.worse else "worse"


def _course(values: Sequence[float | None]) -> tuple[str, list[tuple[float, float]]]:
    """Return a line through scores from 0 to 1, and its points."""
    step = _COURSE_WIDTH / max(1, len(values) - 1)
    points = [
        (round(place * step, 1), round(_COURSE_HEIGHT * (1 - value), 1))
        for place, value in enumerate(values)
        if value is not None
    ]
    return " ".join(f"{x},{y}" for x, y in points), points


def _pairs(report: RunComparison, last: Differences) -> tuple[list[Pair], bool]:
    """Return the listed answers from both runs, and whether samples are gone."""
    wanted = frozenset(change.qid for change in last.worst)
    before, gone = _results(Path(report.runs[0].name), wanted)
    after, also_gone = _results(Path(last.run), wanted)
    pairs = []
    for change in last.worst:
        (one, query), (two, query_after) = before[change.qid], after[change.qid]
        labels = [[support_of(each) for each in result.sentences] for result in (one, two)]
        sides = [
            [
                ShownSentence(
                    clip(sentence.text, _TEXT_CHARACTERS),
                    own[place] or "excluded",
                    change.same_text and labels[0][place] != labels[1][place],
                )
                for place, sentence in enumerate(result.sentences[:_MAX_SENTENCES])
            ]
            for result, own in zip((one, two), labels, strict=True)
        ]
        cut = [max(0, len(each.sentences) - _MAX_SENTENCES) for each in (one, two)]
        query = clip(query or query_after, _TEXT_CHARACTERS)
        pairs.append(Pair(change, query, (sides[0], sides[1]), (cut[0], cut[1])))
    return pairs, gone or also_gone


def _results(
    folder: Path, qids: frozenset[str]
) -> tuple[dict[str, tuple[SampleResult, str]], bool]:
    """Return results with their questions by qid, and whether a sample of them is gone."""
    results: dict[str, SampleResult] = {}
    for result in read_results(folder) if qids else ():
        if result.qid in qids:
            results[result.qid] = result
            if len(results) == len(qids):
                break
    samples = samples_of(folder, results.values())
    queries = {qid: sample.query for qid, sample in samples.items()}
    found = {qid: (result, queries.get(qid, "")) for qid, result in results.items()}
    return found, len(samples) < len(results)
