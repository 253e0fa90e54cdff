"""A run folder in Python, and what a notebook shows of results."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from judge.errors import RunError
from judge.inputs import runs
from judge.messages import language_of, use_language
from judge.pages.html import PageWords, render
from judge.records import Sample, SampleResult, Summary
from judge.reports.rows import Level, to_frame
from judge.reports.totals import score_tables
from judge.reports.worst import WorstSentences
from judge.scores.answer import support_of
from judge.text.visible import clip

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped]

_LANGUAGE_SENTENCES: Final = 200
_QID_CHARACTERS: Final = 80
_WORST: Final = 10
"""The number of worst sentences that results show."""


@dataclass(frozen=True, slots=True, repr=False)
class Run(runs.Run):
    """A run in a folder. Iterating reads its results anew from disk, in input order."""

    @classmethod
    def open(cls, folder: str | Path) -> Self:
        """Open the run that `judge score -o FOLDER` wrote, finished or not; or raise RunError."""
        run = runs.read_run(folder)
        return cls(run.folder, run.record, run.summary)

    def __iter__(self) -> Iterator[SampleResult]:
        return self.results

    def __len__(self) -> int:
        """Return the number of results; of an unfinished run, the number so far."""
        finished = self.record.finished is not None
        return self.record.input.samples if finished else sum(1 for _ in self)

    def __contains__(self, qid: object) -> bool:
        return any(result.qid == qid for result in self)

    def __getitem__(self, qid: str) -> SampleResult:
        """Return the result of one answer, reading all before it; or raise RunError."""
        for result in self:
            if result.qid == qid:
                return result
        raise RunError(f"{self.folder}: no answer {clip(repr(qid), _QID_CHARACTERS)}")

    def __repr__(self) -> str:
        return f"Run.open({str(self.folder)!r})"

    def sample(self, qid: str) -> Sample | None:
        """Return the sample of an answer, or None where the input is gone or has changed."""
        return runs.samples_of(self.folder, [self[qid].qid]).get(qid)

    def to_pandas(self, level: Level = "sentences") -> "pd.DataFrame":
        """Return a row for each sentence or answer, as a DataFrame; see `to_rows`."""
        return to_frame(self, level)


read_run = Run.open


def results(items: Sequence[SampleResult], summary: Summary) -> str:
    """Return HTML of results in the language of the first: scores, then the worst sentences."""
    worst = WorstSentences(_WORST)
    for result in items:
        worst.add(result)
    first = (sentence.text for result in items[:1] for sentence in result.sentences)
    with use_language(language_of("".join(islice(first, _LANGUAGE_SENTENCES)))):
        return render(
            "notebook.html",
            words=PageWords("report"),
            summary=summary,
            tables=score_tables(summary),
            sentences=[
                (each, support_of(each.sentence) or "excluded") for each in worst.sentences()
            ],
        )
