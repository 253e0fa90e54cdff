"""A run folder in Python: its totals, its results one by one, its rows for pandas, its page."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from judge.errors import ConfigError, RunError
from judge.inputs import runs
from judge.messages import language_of
from judge.pages.notebook import totals, unfinished
from judge.records import Sample, SampleResult
from judge.reports.rows import COLUMNS, Level, to_rows
from judge.text.visible import clip

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped]

_NAME: Final = 80
"""Characters of a qid, in a message."""


@dataclass(frozen=True, slots=True, repr=False)
class Run(runs.Run):
    """A run that stands in a folder; to iterate is to read its results anew, in input order."""

    @classmethod
    def open(cls, folder: str | Path) -> Self:
        """The run in a folder, as `judge score -o FOLDER` made it, unfinished ones too.

        Raises:
            RunError: there is no run, or it is damaged.
        """
        found = runs.read_run(folder)
        return cls(found.folder, found.record, found.summary)

    def __iter__(self) -> Iterator[SampleResult]:
        return self.results

    def __len__(self) -> int:
        """How many results there are: of an unfinished run, those so far."""
        finished = self.record.finished is not None
        return self.record.input.samples if finished else sum(1 for _ in self)

    def __contains__(self, qid: object) -> bool:
        return any(result.qid == qid for result in self)

    def __getitem__(self, qid: str) -> SampleResult:
        """The result of one answer; all before it are read. RunError where there is none."""
        for result in self:
            if result.qid == qid:
                return result
        raise RunError(f"{self.folder}: no answer {clip(repr(qid), _NAME)}")

    def __repr__(self) -> str:
        return f"Run.open({str(self.folder)!r})"

    def _repr_html_(self) -> str:
        """For a notebook, in the language of the first answer: the scores, as in the report."""
        texts = (each.text for result in islice(self, 1) for each in result.sentences)
        lang, name = language_of("".join(texts)), self.folder.resolve().name
        if self.summary is None:
            return unfinished(name, len(self), self.record.input.samples, lang)
        return totals(self.summary, lang, name)

    def sample(self, qid: str) -> Sample | None:
        """The sample behind an answer; None where the input is gone or has another answer now.

        RunError where there is no such answer.
        """
        return runs.Origins(self.folder).of(self[qid])

    def to_pandas(self, level: Level = "sentences") -> "pd.DataFrame":
        """The rows of `to_rows` as a DataFrame; ConfigError where pandas is not installed."""
        try:
            import pandas as pd  # noqa: PLC0415  no dependency of ours
        except ImportError:
            raise ConfigError("to_pandas: pandas is not installed: pip install pandas") from None
        rows, columns = to_rows(self, level), COLUMNS[level]
        # What is nowhere known is no number to pandas.
        numbers = {name: "float64" for name, kind in columns.items() if kind is float}
        return pd.DataFrame(rows, columns=list(columns)).astype(numbers)


read_run = Run.open
