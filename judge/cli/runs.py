"""Measure the files of rankings that `judge retrieval` is given: samples, or TREC runs."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from judge.errors import ConfigError, InputError
from judge.inputs.files import PIPED, placed, readable, spoken
from judge.inputs.samples import Source
from judge.inputs.tables import Value, row_file
from judge.records import Sample
from judge.retrieval import (
    Comparison,
    check_gold,
    check_key,
    measure_retrieval,
    measure_run,
    run_queries,
    sample_query,
)
from judge.retrieval.evaluate import NO_SAMPLE
from judge.retrieval.records import QueryRanks, RankingReport, RankRules, RunsReport
from judge.retrieval.trec import ScatteredError, read_qrels, read_run


class Run(NamedTuple):
    """The rankings of one system."""

    name: str
    file: str


@dataclass(frozen=True, slots=True)
class Measuring:
    """How rankings are read and measured, and where the measures of each query are written."""

    rules: RankRules
    worst: int
    rows: str | None
    max_line: float
    skip_bad_lines: bool
    qrels: str | None = None
    """The TREC qrels; None if the runs are files of samples."""
    gold: str | None = None
    """A file of samples whose gold is used instead of that of the measured samples."""
    by: str | None = None
    """The key of metadata whose values name the runs that are compared."""

    def measure(self, file: str) -> RankingReport:
        """Return the report of one run."""
        sources = [each for each in (file, self.qrels, self.gold) if each is not None]
        with row_file(self.rows, *sources) as write:
            each = None if write is None else _row_writer(write)
            if self.qrels is not None:
                return self._measure_trec(file, self.qrels, each)
            source = self._source(file)
            with self._samples(source) as samples:
                report = measure_retrieval(samples, self.rules, most=self.worst, each=each)
        if not source.rejected:
            return report
        warning = f"lines that are no samples, and so left out: {source.rejected}"
        return report.model_copy(update={"warnings": (*report.warnings, warning)})

    def _measure_trec(
        self, run: str, qrels: str, each: Callable[[QueryRanks], None] | None
    ) -> RankingReport:
        if qrels == run == PIPED:
            raise ConfigError("--qrels - and --run -: standard input is one file; name the other")
        with placed(spoken(qrels)), readable(qrels) as path:
            grades = read_qrels(path, max_line=self.max_line)
        most = self.worst
        with readable(run) as path:
            try:
                blocks = read_run(path, max_line=self.max_line)
                return measure_run(grades, blocks, self.rules, most=most, each=each)
            except ScatteredError:  # rare; only then the run must fit into memory
                with placed(spoken(run)):
                    blocks = read_run(path, whole=True, max_line=self.max_line)
                    return measure_run(grades, blocks, self.rules, most=most, each=each)
            except InputError as error:
                # Relevance is from the qrels, although the run was being read.
                name = qrels if error.field == "relevance" else run
                raise error.at(spoken(name), error.line) from None

    def compare(self, runs: Sequence[Run]) -> RunsReport:
        """Return the runs side by side.

        Raises:
            ConfigError: two runs have one name, or standard input is named twice.
        """
        files = [run.file for run in runs] + ([] if self.qrels is None else [self.qrels])
        if files.count(PIPED) > 1:
            raise ConfigError("- is named twice: standard input is one file; name the others")
        if self.by is None:
            names = Counter(run.name for run in runs)
            for name in (name for name, count in names.items() if count > 1):
                raise ConfigError(f"two runs are called {name!r}; name each, as --run NAME=FILE")
        with row_file(self.rows, *files, *([] if self.gold is None else [self.gold])) as write:

            def each(run: str, ranks: QueryRanks) -> None:
                if write is not None:
                    write({"run": run, **_row(ranks)})

            order = "given" if self.qrels is None else "score"
            comparison = Comparison(self.rules, order=order, most=self.worst, each=each)
            if self.qrels is None:
                rejected = sum(self._add_samples(comparison, run) for run in runs)
            else:
                rejected = 0
                self._add_trec(comparison, runs, self.qrels)
            with placed(", ".join(spoken(run.file) for run in runs)):
                report = comparison.report()
        return report.model_copy(update={"rejected": rejected})

    def _add_samples(self, comparison: Comparison, run: Run) -> int:
        """Add a file of samples; return how many bad lines were left out."""
        source, sample = self._source(run.file), None
        with self._samples(source) as samples:
            for sample in samples:
                value = run.name if self.by is None else sample.metadata[self.by]
                name = value if isinstance(value, str) else json.dumps(value)
                comparison.add(name, sample_query(sample, self.rules))
            if sample is None:
                raise InputError(NO_SAMPLE)
        return source.rejected

    def _add_trec(self, comparison: Comparison, runs: Sequence[Run], qrels: str) -> None:
        with placed(spoken(qrels)), readable(qrels) as path:
            grades = read_qrels(path, max_line=self.max_line)
        for run in runs:
            with placed(spoken(run.file)), readable(run.file) as path:
                blocks = read_run(path, whole=True, max_line=self.max_line)
                for query in run_queries(grades, blocks, self.rules):
                    comparison.add(run.name, query)

    def _source(self, file: str) -> Source:
        return Source(
            file,
            (),
            skip_bad_lines=self.skip_bad_lines,
            check=self._check if self.gold is None else None,
            max_line=self.max_line,
            unique=self.by is None,
        )

    def _check(self, sample: Sample) -> None:
        check_gold(sample, self.rules)
        if self.by is not None:
            check_key(sample, self.by)

    @contextmanager
    def _samples(self, source: Source) -> Iterator[Iterable[Sample]]:
        """Give the samples, with the gold of `gold` if there is one.

        Queries that `gold` lacks are left out; those that the source lacks rank nothing.
        """
        if self.gold is None:
            with source.samples() as samples:
                yield samples
            return
        graded = Source(
            self.gold, (), skip_bad_lines=False, check=self._check, max_line=self.max_line
        )
        with graded.samples() as samples:
            left = {each.qid: each for each in samples}
        total = len(left)

        def joined(samples: Iterable[Sample]) -> Iterator[Sample]:
            for sample in samples:
                if found := left.pop(sample.qid, None):
                    gold = {"relevance": found.relevance, "gold_evidence": found.gold_evidence}
                    yield sample.model_copy(update=gold)
            if len(left) == total:
                raise InputError(f"has no query of {graded.name}; see that the qids are the same")
            for found in left.values():
                yield found.model_copy(update={"retrieved": (), "chunks": ()})

        with source.samples() as samples:
            yield joined(samples)


def _row_writer(write: Callable[[Mapping[str, Value]], None]) -> Callable[[QueryRanks], None]:
    return lambda ranks: write(_row(ranks))


def _row(ranks: QueryRanks) -> Mapping[str, Value]:
    return ranks.model_dump(exclude={"measures"}) | ranks.measures


def named_runs(samples: Sequence[str], runs: Sequence[str]) -> tuple[Run, ...]:
    """Return the runs of SAMPLES and `--run [NAME=]FILE`; one without a name has that of its file.

    A text that is the name of a file means that file, also if it contains `=`.
    """
    given: list[tuple[str, str]] = [("", file) for file in samples]
    for text in runs:
        name, _, file = text.partition("=")
        given.append((name, file) if name and file and not Path(text).exists() else ("", text))
    stems = Counter(_stem(file) for name, file in given if not name)
    return tuple(
        Run(name or (_stem(file) if stems[_stem(file)] == 1 else spoken(file)), file)
        for name, file in given
    )


def _stem(file: str) -> str:
    return spoken(file) if file == PIPED else Path(file.removesuffix(".gz")).stem or file
