"""Runs side by side as one page: what differs and how surely, and each answer that changed."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from judge.inputs.runs import Origins, read_results
from judge.messages import Lang, Messages
from judge.pages.html import pieces
from judge.records import SampleResult
from judge.records.comparison import AnswerChange, Differences, RunComparison, ScoreDifference
from judge.reports.compare import findings, score_name
from judge.scores.answer import support_of
from judge.text.visible import clip

_LONGEST: Final = 4_000
"""Characters of a sentence or question that are shown."""
_MOST: Final = 100
"""Sentences of an answer that are shown."""
_SLICES: Final = 60
_WIDE, _HIGH = 120, 24
"""Of a course, in its own units."""


class Said(NamedTuple):
    """A sentence as it is shown."""

    text: str
    """What it says."""
    label: str
    """How far it is supported, or `excluded`."""
    changed: bool
    """Whether the same sentence bears another label in the other run."""


class Pair(NamedTuple):
    """An answer that changed, from both runs."""

    change: AnswerChange
    """What changed."""
    query: str
    """The question; empty where the samples are gone."""
    sides: tuple[list[Said], list[Said]]
    """The sentences, before and after."""
    cut: tuple[int, int]
    """How many more of them there are."""


class Row(NamedTuple):
    """A score, or a slice, in a table."""

    name: str
    found: ScoreDifference
    better: bool
    """Whether the difference is for the better."""


class Words:
    """What the page says."""

    def __init__(self, report: RunComparison, lang: Lang) -> None:
        self._report, self._lang = report, lang

    def __call__(self, key: str, **values: object) -> str:
        """The words under `group.name` of this page's texts."""
        return Messages.of("compare")(key, self._lang, **values)

    def looks(self, key: str) -> str:
        """The word for what a result holds."""
        return Messages.of("looks")(key, self._lang)

    def score(self, name: str) -> str:
        """What a score is called."""
        return score_name(name, self._lang, offline=self._report.offline)

    def names(self, scores: Iterable[str]) -> str:
        """What several are called."""
        return self("say.joint").join(map(self.score, scores))

    def value(self, value: float | None) -> str:
        """A score; a dash where there is none, for none is not zero."""
        return "–" if value is None else f"{value:.3f}"

    def signed(self, value: float) -> str:
        """A difference with its sign."""
        return f"{value:+.3f}".replace("-", "\N{MINUS SIGN}")

    def span(self, found: ScoreDifference) -> str:
        """The interval of a difference."""
        return f"{self.signed(found.interval.low)} … {self.signed(found.interval.high)}"


def comparison(report: RunComparison, lang: Lang) -> Iterator[str]:
    """The page piece by piece: all runs, and the last of them beside the first.

    Raises:
        RunError: a run is damaged.
    """
    last = report.differences[-1]
    words = Words(report, lang)
    shown, gone = _pairs(report, last)
    headline, side = next(iter(report.sides.items()))
    return pieces(
        "compare.html",
        lang,
        report=report,
        last=last,
        words=words,
        headline=headline,
        verdict=_verdict(last, headline),
        rows=_rows(report, last.scores, words),
        slices=[
            Row(value or words("say.without"), found, (found.difference > 0) is (side == "least"))
            for value, table in list(last.slices.items())[:_SLICES]
            if (found := table[headline]) is not None
        ],
        same=words.names(n for n, s in last.scores.items() if s and not s.better + s.worse),
        missing=words.names(name for name, found in last.scores.items() if found is None),
        course=_course,
        pairs=shown,
        gone=gone,
        found=frozenset(findings(last.scores)),
    )


def _verdict(last: Differences, headline: str) -> str:
    """Which words sum it up."""
    found = last.scores[headline]
    if found is None:
        return "unmeasured"
    if headline not in findings(last.scores):
        return "open"
    return "better" if found.better > found.worse else "worse"


def _rows(
    report: RunComparison, scores: dict[str, ScoreDifference | None], words: Words
) -> list[Row]:
    return [
        Row(words.score(name), found, (found.difference > 0) is (report.sides[name] == "least"))
        for name, found in scores.items()
        if found is not None and found.better + found.worse
    ]


def _course(values: Sequence[float | None]) -> tuple[str, list[tuple[float, float]]]:
    """A line through the values and its points, from left to right between least and greatest."""
    known = [value for value in values if value is not None]
    low, span = min(known, default=0.0), max(known, default=0.0) - min(known, default=0.0)
    step = _WIDE / max(1, len(values) - 1)
    points = [
        (round(place * step, 1), round(_HIGH * (1 - (value - low) / span if span else 0.5), 1))
        for place, value in enumerate(values)
        if value is not None
    ]
    return " ".join(f"{x},{y}" for x, y in points), points


def _pairs(report: RunComparison, last: Differences) -> tuple[list[Pair], bool]:
    """The listed answers from both runs, and whether samples are gone."""
    wanted = [change.qid for change in last.worst]
    before, gone = _results(Path(report.runs[0].name), frozenset(wanted))
    after, also = _results(Path(last.run), frozenset(wanted))
    shown = []
    for change in last.worst:
        (one, query), (two, query_after) = before[change.qid], after[change.qid]
        labels = [[support_of(each) for each in result.sentences] for result in (one, two)]
        sides = tuple(
            [
                Said(
                    clip(sentence.text, _LONGEST),
                    own[place] or "excluded",
                    change.same_text and labels[0][place] != labels[1][place],
                )
                for place, sentence in enumerate(result.sentences[:_MOST])
            ]
            for result, own in zip((one, two), labels, strict=True)
        )
        cut = tuple(max(0, len(each.sentences) - _MOST) for each in (one, two))
        query = clip(query or query_after, _LONGEST)
        shown.append(Pair(change, query, (sides[0], sides[1]), (cut[0], cut[1])))
    return shown, gone or also


def _results(
    folder: Path, qids: frozenset[str]
) -> tuple[dict[str, tuple[SampleResult, str]], bool]:
    found: dict[str, tuple[SampleResult, str]] = {}
    gone, samples = False, Origins(folder)
    for result in read_results(folder) if qids else ():
        if result.qid in qids:
            sample = samples.of(result)
            found[result.qid] = (result, sample.query if sample else "")
            gone = gone or sample is None
            if len(found) == len(qids):
                break
    return found, gone
