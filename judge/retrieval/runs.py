"""Read and measure the files that `judge retrieval` is given: samples, or TREC runs."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from judge.errors import ConfigError, InputError
from judge.inputs.files import PIPED, input_name, naming_input, readable
from judge.inputs.samples import Source
from judge.inputs.tables import row_file
from judge.records import Sample
from judge.retrieval.comparison import Comparison
from judge.retrieval.evaluate import NO_SAMPLE, Meter
from judge.retrieval.ranking import RankedQuery, check_gold, run_queries, sample_query
from judge.retrieval.records import QueryRanks, RankingReport, RankRules, RunsReport
from judge.retrieval.trec import read_qrels, read_run
from judge.text.visible import clip

_SHOWN_CHARACTERS: Final = 60
_MAX_CHARACTERS: Final = 200


class RunFile(NamedTuple):
    """A file with the rankings of one system."""

    name: str
    file: str


def named_runs(samples: Sequence[str], runs: Sequence[str]) -> tuple[RunFile, ...]:
    """Return the runs of SAMPLES and `--run [NAME=]FILE`; one without a name has that of its file.

    A text that is the name of a file means that file, also if it contains `=`.
    """
    given: list[tuple[str, str]] = [("", file) for file in samples]
    for text in runs:
        name, _, file = text.partition("=")
        given.append((name, file) if name and file and not Path(text).exists() else ("", text))
    stems = Counter(_stem(file) for name, file in given if not name)
    return tuple(
        RunFile(name or (_stem(file) if stems[_stem(file)] == 1 else input_name(file)), file)
        for name, file in given
    )


def _stem(file: str) -> str:
    return input_name(file) if file == PIPED else Path(file.removesuffix(".gz")).stem or file


@dataclass(frozen=True, slots=True)
class RankingFiles:
    """How files of rankings are read and measured."""

    rules: RankRules
    worst: int
    """The maximum length of each list."""
    rows: str | None
    """The file for the measures of each query."""
    max_line: float
    skip_bad_lines: bool
    qrels: str | None = None
    """The TREC qrels; None if the runs are files of samples."""
    gold: str | None = None
    """A file of samples whose gold is used instead of that of the measured samples."""
    by: str | None = None
    """The metadata key whose values name the runs to compare."""

    def measure(self, run: RunFile) -> RankingReport:
        """Return the report of one run."""
        self._check_piped([run])
        with self._row_file([run]) as write:
            meter = Meter(self.rules, self._order, self.worst, partial(write, ""))
            rejected = self._add([run], lambda _, query: meter.add(query))
            with naming_input(input_name(run.file)):
                report = meter.report()
        if not rejected:
            return report
        warning = f"lines that are no samples, and so left out: {rejected}"
        return report.model_copy(update={"warnings": (*report.warnings, warning)})

    def compare(self, runs: Sequence[RunFile]) -> RunsReport:
        """Return the runs side by side.

        Raises:
            ConfigError: two runs have one name, or standard input is named twice.
        """
        self._check_piped(runs)
        names = Counter(run.name for run in runs)
        if self.by is None and len(names) < len(runs):
            name = names.most_common(1)[0][0]
            raise ConfigError(f"two runs are called {name!r}; name each, as --run NAME=FILE")
        with self._row_file(runs) as write:
            comparison = Comparison(self.rules, order=self._order, most=self.worst, each=write)
            rejected = self._add(runs, comparison.add)
            with naming_input(", ".join(input_name(run.file) for run in runs)):
                report = comparison.report()
        return report.model_copy(update={"rejected": rejected})

    @property
    def _order(self) -> str:
        return "given" if self.qrels is None else "score"

    def _check_piped(self, runs: Sequence[RunFile]) -> None:
        if [*(run.file for run in runs), self.qrels].count(PIPED) > 1:
            raise ConfigError("- is named twice: standard input is one file; name the others")

    def _add(self, runs: Sequence[RunFile], add: Callable[[str, RankedQuery], None]) -> int:
        """Add the queries of all runs; return how many bad lines were left out."""
        if self.qrels is None:
            return sum(self._add_samples(run, add) for run in runs)
        with naming_input(input_name(self.qrels)), readable(self.qrels) as path:
            qrels = read_qrels(path, max_line=self.max_line)
        for run in runs:
            with naming_input(input_name(run.file)), readable(run.file) as path:
                scores = read_run(path, max_line=self.max_line)
                for query in run_queries(qrels, scores, self.rules):
                    add(run.name, query)
        return 0

    def _add_samples(self, run: RunFile, add: Callable[[str, RankedQuery], None]) -> int:
        source, sample = self._source(run.file), None
        with self._samples(source) as samples:
            for sample in samples:
                value = run.name if self.by is None else sample.metadata[self.by]
                name = value if isinstance(value, str) else json.dumps(value)
                add(name, sample_query(sample, self.rules))
            if sample is None:
                raise InputError(NO_SAMPLE)
        return source.rejected

    @contextmanager
    def _row_file(self, runs: Sequence[RunFile]) -> Iterator[Callable[[str, QueryRanks], None]]:
        """Yield a function that writes the measures of a query, after the name of its run."""
        sources = [run.file for run in runs]
        sources += [file for file in (self.qrels, self.gold) if file is not None]
        with row_file(self.rows, *sources) as write:

            def write_row(run: str, ranks: QueryRanks) -> None:
                if write is not None:
                    row = ranks.model_dump(exclude={"measures"}) | ranks.measures
                    write({"run": run, **row} if run else row)

            yield write_row

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
        """Raise InputError if gold is of no use, or `by` names no text or number."""
        check_gold(sample, self.rules)
        if self.by is None:
            return
        if self.by not in sample.metadata:
            others = ", ".join(sample.metadata) or "none"
            message = f"is missing, and --by names it; the other keys here: {others}"
            raise InputError(clip(message, _MAX_CHARACTERS), field=self.by)
        value = sample.metadata[self.by]
        if not isinstance(value, str | int | float) or not str(value).strip():
            shown = clip(repr(value), _SHOWN_CHARACTERS)
            raise InputError(f"is {shown}; --by takes a text or a number", field=self.by)

    @contextmanager
    def _samples(self, source: Source) -> Iterator[Iterable[Sample]]:
        """Yield the samples, with the gold of the file `gold` if there is one.

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
            left = {sample.qid: sample for sample in samples}
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
