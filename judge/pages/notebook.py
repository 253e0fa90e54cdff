"""A run folder in Python, and what a notebook shows of an answer or of a run."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from judge.errors import RunError
from judge.inputs import runs
from judge.messages import Lang, language_of, use_language
from judge.pages.answers import scores_of
from judge.pages.html import render
from judge.pages.report import ReportWords
from judge.records import Sample, SampleResult, Summary
from judge.reports.rows import Level, to_frame
from judge.reports.totals import score_tables
from judge.reports.worst import Entry, Worst, entries
from judge.scores.answer import by_similarity, support_of
from judge.text.visible import clip

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped]

_MAX_SENTENCES: Final = 200
_QID_CHARACTERS: Final = 80
_WORST: Final = 10
"""The number of worst sentences that results show."""


@dataclass(frozen=True, slots=True, repr=False)
class Run(runs.Run):
    """A run in a folder. Iterating reads its results anew from disk, in input order."""

    @classmethod
    def open(cls, folder: str | Path) -> Self:
        """Open the run that `judge score -o FOLDER` wrote, finished or not.

        Raises:
            RunError: there is no run, or it is damaged.
        """
        found = runs.read_run(folder)
        return cls(found.folder, found.record, found.summary)

    def __iter__(self) -> Iterator[SampleResult]:
        return self.results

    def __len__(self) -> int:
        """Return the number of results; of an unfinished run, the number so far."""
        finished = self.record.finished is not None
        return self.record.input.samples if finished else sum(1 for _ in self)

    def __contains__(self, qid: object) -> bool:
        return any(result.qid == qid for result in self)

    def __getitem__(self, qid: str) -> SampleResult:
        """Return the result of one answer; all results before it are read.

        Raises:
            RunError: there is no such answer.
        """
        for result in self:
            if result.qid == qid:
                return result
        raise RunError(f"{self.folder}: no answer {clip(repr(qid), _QID_CHARACTERS)}")

    def __repr__(self) -> str:
        return f"Run.open({str(self.folder)!r})"

    def _repr_html_(self) -> str:
        """Return the scores as in the report, in the language of the first answer."""
        name = self.folder.resolve().name
        with use_language(_language(self)):
            if self.summary is not None:
                return totals(self.summary, name)
            words = ReportWords()
            line = words("notebook.unfinished", done=len(self), all=self.record.input.samples)
            return _page(words("title.page", run=name), [line])

    def sample(self, qid: str) -> Sample | None:
        """Return the sample of an answer, or None where the input is gone or has changed.

        Raises:
            RunError: there is no such answer.
        """
        return runs.samples_of(self.folder, [self[qid]]).get(qid)

    def to_pandas(self, level: Level = "sentences") -> "pd.DataFrame":
        """Return a row for each sentence or answer, as a DataFrame; see `to_rows`.

        Raises:
            ConfigError: pandas is not installed, or there is no such level.
        """
        return to_frame(self, level)


read_run = Run.open


def answer(result: SampleResult) -> str:
    """Return HTML of an answer in its own language: its scores, and each sentence's grounds."""
    with use_language(_language([result])):
        words = ReportWords()
        names = dict.fromkeys(flag.name.value for flag in result.flags if flag.sentence is None)
        flags = [f"{name}{words('script.colon')}{words.looks('flag', name)}" for name in names]
        lines = [" · ".join(_scores(result, words)), *flags]
        listed = entries(result)
        if not listed:
            lines.append(words("script.empty"))
        return _page(result.qid, lines, sentences=listed, signature=result.signature)


def results(found: Sequence[SampleResult], summary: Summary) -> str:
    """Return HTML of results in the language of the first: scores, then the worst sentences."""
    worst = Worst(_WORST)
    for result in found:
        worst.add(result)
    with use_language(_language(found)):
        words = ReportWords()
        listed = worst.sentences()
        note = words("title.worst") if listed else words("worst.none")
        return _page(words("title.scores"), summary=summary, sentences=listed, note=note)


def _language(found: Iterable[SampleResult]) -> Lang:
    """Return the language of the first answer."""
    first = (sentence for result in islice(found, 1) for sentence in result.sentences)
    return language_of("".join(each.text for each in islice(first, _MAX_SENTENCES)))


def _scores(result: SampleResult, words: ReportWords) -> Iterator[str]:
    scores, offline = result.scores, by_similarity(each.outcome for each in result.sentences)
    yield words.looks("status", result.status.value)
    if scores.unscored and scores.faithfulness_bounds:
        low, high = map(words.percent, scores.faithfulness_bounds)
        yield words("script.open", low=low, high=high, unscored=scores.unscored)
    for name, value in scores_of(result).items():
        if value is not None:
            shown = "looks_supported" if offline and name == "faithfulness" else name
            yield words.of("script", shown, value=words.percent(value))


def totals(summary: Summary, name: str | None = None) -> str:
    """Return HTML of a run's scores, under the name of the run if it has one."""
    words = ReportWords()
    title = words("title.scores") if name is None else words("title.page", run=name)
    return _page(title, summary=summary)


def _page(
    title: str,
    lines: Sequence[str] = (),
    *,
    summary: Summary | None = None,
    sentences: Sequence[Entry] = (),
    note: str = "",
    signature: str = "",
) -> str:
    return render(
        "notebook.html",
        words=ReportWords(),
        title=title,
        lines=lines,
        summary=summary,
        tables=score_tables(summary) if summary else (),
        note=note,
        sentences=[
            (each, support_of(each.sentence) or "excluded") for each in sentences[:_MAX_SENTENCES]
        ],
        more=max(0, len(sentences) - _MAX_SENTENCES),
        signature="; ".join(summary.signatures) if summary else signature,
    )
