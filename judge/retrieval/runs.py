"""Read and measure the files of `judge retrieval`: samples, or TREC runs."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Final, NamedTuple

from judge.errors import ConfigError, InputError
from judge.inputs.files import (
    PIPED,
    InputFile,
    InputName,
    input_name,
    open_text,
    readable,
    text_lines,
)
from judge.inputs.samples import Source
from judge.inputs.tables import row_file
from judge.records import Sample
from judge.retrieval.evaluate import NO_SAMPLE, compare_runs, measure_queries
from judge.retrieval.ranking import Grades, RankedQuery, check_gold, run_queries, sample_query
from judge.retrieval.records import QueryRanks, RankingReport, RankRules, RunsReport
from judge.text.visible import counted

_QRELS: Final = "qid iteration docid relevance"
_RUN: Final = "qid Q0 docid rank score tag"
_CELL: Final = re.compile(r"[^ \t\r\n\f\v]+")
"""A cell ends at ASCII white space; an id may contain other white space."""


class RunFile(NamedTuple):
    """A file with the rankings of one system."""

    name: str
    file: str


def named_runs(samples: Sequence[str], runs: Sequence[str]) -> tuple[RunFile, ...]:
    """Return the runs of SAMPLES and `--run [NAME=]FILE`; one without a name has that of its file.

    A text that is the name of a file means that file, also if it contains `=`.
    """
    found = []
    for text in (*samples, *runs):
        name, _, file = text.partition("=")
        if not name or not file or Path(text).exists():
            stem = Path(text.removesuffix(".gz")).stem
            name, file = input_name(text) if text == PIPED else stem, text
        found.append(RunFile(name, file))
    return tuple(found)


@dataclass
class RankingFiles:
    """How files of rankings are read and measured."""

    rules: RankRules
    worst: int
    """The number of worst queries in the report."""
    rows: str | None
    """The file for the measures of each query."""
    skip_bad_lines: bool
    qrels: str | None = None
    """The TREC qrels; None if the runs are files of samples."""
    gold: str | None = None
    """A file of samples whose gold is used instead of that of the measured samples."""
    rejected: int = 0
    """The number of bad lines that were left out."""

    def measure(self, run: RunFile) -> RankingReport:
        """Return the report of one run."""
        with self._row_file([run]) as write:
            try:
                queries, each = self._queries(run), partial(write, "")
                report = measure_queries(queries, self.rules, self._order, self.worst, each)
            except InputError as error:
                raise error.at(error.path or input_name(run.file), error.line) from None
        if not self.rejected:
            return report
        warning = f"lines that are no samples, and so left out: {self.rejected}"
        return report.model_copy(update={"warnings": (*report.warnings, warning)})

    def compare(self, runs: Sequence[RunFile]) -> RunsReport:
        """Return the runs side by side; raise ConfigError if two have one name."""
        (name, count), *_ = Counter(run.name for run in runs).most_common(1)
        if count > 1:
            raise ConfigError(f"two runs are called {name!r}; name each, as --run NAME=FILE")
        with self._row_file(runs) as write:
            queries = {run.name: self._queries(run) for run in runs}
            report = compare_runs(
                queries, self.rules, order=self._order, most=self.worst, each=write
            )
        return report.model_copy(update={"rejected": self.rejected})

    @property
    def _order(self) -> str:
        return "given" if self.qrels is None else "score"

    def _queries(self, run: RunFile) -> Iterator[RankedQuery]:
        """Yield the queries of a run."""
        if self.qrels is None:
            for sample in self._samples(run.file):
                yield sample_query(sample, self.rules)
            return
        qrels = self._grades
        with readable(run.file) as path:
            yield from run_queries(qrels, read_run(path), self.rules)

    @cached_property
    def _grades(self) -> Mapping[str, Grades]:
        """The TREC qrels, read once."""
        file = str(self.qrels)
        with readable(file) as path:
            return read_qrels(path)

    def _samples(self, file: str) -> Iterator[Sample]:
        """Yield the samples of a file, with the gold of the file `gold` for the queries it has."""
        source = Source(
            file,
            (),
            skip_bad_lines=self.skip_bad_lines,
            check=None if self.gold else partial(check_gold, rules=self.rules),
        )
        left = dict(self._gold)
        sample = None
        with source.samples() as samples:
            for sample in samples:
                if self.gold is None:
                    yield sample
                elif found := left.pop(sample.qid, None):
                    gold = {"relevance": found.relevance, "gold_evidence": found.gold_evidence}
                    yield sample.model_copy(update=gold)
            if sample is None:
                raise InputError(NO_SAMPLE)
            if self.gold and len(left) == len(self._gold):
                raise InputError(f"has no query of {self.gold}; see that the qids are the same")
        self.rejected += source.rejected
        for found in left.values():
            yield found.model_copy(update={"retrieved": (), "chunks": ()})

    @cached_property
    def _gold(self) -> Mapping[str, Sample]:
        """The samples of the gold file by qid; empty without one."""
        if self.gold is None:
            return {}
        check = partial(check_gold, rules=self.rules)
        source = Source(self.gold, (), skip_bad_lines=False, check=check)
        with source.samples() as samples:
            return {sample.qid: sample for sample in samples}

    @contextmanager
    def _row_file(self, runs: Sequence[RunFile]) -> Iterator[Callable[[str, QueryRanks], None]]:
        """Yield a function that writes the measures of a query, after the name of its run."""
        sources = [*(run.file for run in runs), *filter(None, (self.qrels, self.gold))]
        if sources.count(PIPED) > 1:
            raise ConfigError("- is named twice: standard input is one file; name the others")
        with row_file(self.rows, *sources) as write:

            def write_row(run: str, ranks: QueryRanks) -> None:
                if write is not None:
                    row = ranks.model_dump(exclude={"measures"}) | ranks.measures
                    write({"run": run, **row} if run else row)

            yield write_row


# TREC's files: relevance judgments (qrels), and the rankings of a system (a run)


def read_qrels(path: InputName) -> dict[str, dict[str, float]]:
    """Return relevance by document id by qid, from four columns; it raises as `read_run` does."""
    return _read(path, _QRELS, "relevance")


def read_run(path: InputName) -> dict[str, dict[str, float]]:
    """Return scores by document id by qid, from a file of six columns.

    The columns have white space between them, and the file may be compressed. As in trec_eval, the
    score orders a run and the stated ranks are ignored.

    Raises:
        InputError: names file and line: another number of columns, a value that is no finite
            number, a document that a query names twice, or no line at all.
    """
    return _read(path, _RUN, "score")


def _read(path: InputName, columns: str, field: str) -> dict[str, dict[str, float]]:
    """Return the numbers in the column `field` by document id by qid."""
    found: dict[str, dict[str, float]] = {}
    names = columns.split()
    file = path if isinstance(path, InputFile) else InputFile(str(path))
    with open_text(file) as stream:
        for line, text in enumerate(text_lines(stream), 1):
            cells = _CELL.findall(text)
            if not cells:
                continue
            if len(cells) != len(names):
                message = f"has {counted(len(cells), 'column')}; {len(names)} are needed: {columns}"
                raise InputError(message, path=str(path), line=line)
            row = dict(zip(names, cells, strict=True))
            value, numbers = _number(row[field]), found.setdefault(row["qid"], {})
            if not math.isfinite(value):
                message = f"{row[field]!r} is no finite number; mend the line"
                raise InputError(message, path=str(path), line=line, field=field)
            if row["docid"] in numbers:
                message = (
                    f"query {row['qid']!r} names {row['docid']!r} twice; keep one of the lines"
                )
                raise InputError(message, path=str(path), line=line)
            numbers[row["docid"]] = value
    if not found:
        raise InputError(f"holds no line; each is: {columns}", path=str(path))
    return found


def _number(cell: str) -> float:
    """Return the number in a cell, or NaN."""
    try:
        return float(cell)
    except ValueError:
        return math.nan
