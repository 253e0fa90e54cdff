"""Runs that a command line names: what they are called and held to, and how they compare."""

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

from judge.advice.diagnose import Use, ceilings, diagnosis_table
from judge.errors import ConfigError, InputError
from judge.inputs.files import PIPED, placed, readable, spoken
from judge.inputs.samples import Source
from judge.inputs.tables import Value, row_file
from judge.records import GateResult, Sample
from judge.records.comparison import Side
from judge.reports.gate import Gates
from judge.retrieval import (
    Comparison,
    check_gold,
    check_key,
    measure_retrieval,
    measure_run,
    run_queries,
    sample_query,
)
from judge.retrieval.batch import mean_names
from judge.retrieval.evaluate import NO_SAMPLE
from judge.retrieval.ranking import Block
from judge.retrieval.records import DEEPEST, QueryRanks, RankingReport, RankRules, RunsReport
from judge.retrieval.trec import ScatteredError, read_qrels, read_run


class How(NamedTuple):
    """What is asked of whichever files there are."""

    rules: RankRules
    worst: int
    rows: str | None
    max_line: float
    skip_bad_lines: bool
    gold: str | None = None
    """The file of samples whose gold counts, in place of that of the samples measured."""

    @property
    def beside(self) -> tuple[str, ...]:
        """What is read beside the rankings."""
        return () if self.gold is None else (self.gold,)

    def samples(self, source: Source) -> AbstractContextManager[Iterable[Sample]]:
        """The samples of a source with the gold that counts."""
        return source.samples() if self.gold is None else _judged(source, self.gold, self)


class Run(NamedTuple):
    """One system's rankings."""

    name: str
    file: str


class Held(NamedTuple):
    """What each run is held to."""

    gates: Gates
    targets: Gates
    """Of a use; as its reading does, they hold a mean's share of its ceiling."""

    def hold(self, report: RankingReport) -> tuple[GateResult, ...]:
        """What they say of a report."""
        mean, interval = report.mean, report.interval
        own = self.gates.hold_means(mean, interval)
        return own + self.targets.hold_means(mean, interval, ceilings(report))


def held_to(
    rules: RankRules, asked: Mapping[Side, Sequence[str]], use: Use | None, *, strict: bool
) -> Held:
    """The gates that are asked for, and the targets of a use."""
    targets = {} if use is None else diagnosis_table().use[use].target
    if use is not None and not targets:
        raise ConfigError(f"--fail-targets: --use {use} has no targets; add --fail-under")
    least = [f"{name}={bound:g}" for name, bound in targets.items()]
    names, either = shares(rules), bool(targets) and not any(asked.values())
    return Held(
        Gates.read(asked, strict=strict and not either, names=names),
        Gates.read({"least": least}, strict=strict and bool(targets), names=names),
    )


def shares(rules: RankRules) -> tuple[str, ...]:
    """The means that lie in [0, 1]: all but DCG's."""
    return tuple(name for name in mean_names(rules) if not name.startswith("dcg@"))


def named(samples: Sequence[str], runs: Sequence[str]) -> tuple[Run, ...]:
    """The runs that SAMPLES and `--run [NAME=]FILE` name: one with no name is called by its file.

    A file that has the whole text as its name is meant by it, `=` or not.
    """
    given = [*((None, file) for file in samples), *map(_split, runs)]
    stems = Counter(_stem(file) for name, file in given if name is None)
    return tuple(
        Run(name or (_stem(file) if stems[_stem(file)] == 1 else spoken(file)), file)
        for name, file in given
    )


def _split(text: str) -> tuple[str | None, str]:
    name, _, file = text.partition("=")
    return (name, file) if name and file and not Path(text).exists() else (None, text)


def _stem(file: str) -> str:
    return spoken(file) if file == PIPED else Path(file.removesuffix(".gz")).stem or file


def measure(file: str, qrels: str | None, how: How) -> RankingReport:
    """The report of a file of samples, or of a TREC run."""
    return _of_samples(file, how) if qrels is None else _of_run(qrels, file, how)


def _of_samples(name: str, how: How) -> RankingReport:
    rules, worst, rows, max_line, skip_bad_lines, gold = how
    check = partial(check_gold, rules=rules) if gold is None else None
    source = Source(name, (), skip_bad_lines=skip_bad_lines, check=check, max_line=max_line)
    with how.samples(source) as samples, row_file(rows, name, *how.beside) as write:
        report = measure_retrieval(
            samples, rules, most=worst, each=write and (lambda ranks: write(_row(ranks)))
        )
    if not source.rejected:
        return report
    told = f"lines that are no samples, and so left out: {source.rejected}"
    return report.model_copy(update={"warnings": (*report.warnings, told)})


def _of_run(qrels: str, run: str, how: How) -> RankingReport:
    if qrels == run == PIPED:
        raise ConfigError("--qrels - and --run -: standard input is one file; name the other")
    rules, worst, rows, max_line, *_ = how
    with placed(spoken(qrels)), readable(qrels) as path:
        grades = read_qrels(path, max_line=max_line)

    def measured(blocks: Iterable[Block]) -> RankingReport:
        with row_file(rows, qrels, run) as write:
            return measure_run(
                grades, blocks, rules, most=worst, each=write and (lambda ranks: write(_row(ranks)))
            )

    with readable(run) as path:
        try:
            return measured(read_run(path, max_line=max_line))
        except ScatteredError:  # rare, and only then the run must fit the memory
            with placed(spoken(run)):
                return measured(read_run(path, whole=True, max_line=max_line))
        except InputError as error:
            # What is relevant stands in the qrels, though the run was being read.
            name = qrels if error.field == "relevance" else run
            raise error.at(spoken(name), error.line) from None


def compare(runs: Sequence[Run], qrels: str | None, by: str | None, how: How) -> RunsReport:
    """The runs side by side; with `by`, a run is what has one value of this metadata key.

    Raises:
        ConfigError: two have one name, or standard input is named twice.
    """
    read = [*(run.file for run in runs), *([] if qrels is None else [qrels])]
    if read.count(PIPED) > 1:
        raise ConfigError("- stands twice: standard input is one file; name the others")
    if by is None:
        names = Counter(run.name for run in runs)
        for name in (name for name, count in names.items() if count > 1):
            raise ConfigError(f"two runs are called {name!r}; name each, as --run NAME=FILE")
    with row_file(how.rows, *read, *how.beside) as write:

        def each(run: str, ranks: QueryRanks) -> None:
            if write is not None:
                write({"run": run, **_row(ranks)})

        order = "given" if qrels is None else "score"
        comparison = Comparison(how.rules, order=order, most=how.worst, each=each)
        if qrels is None:
            rejected = sum(_add_samples(comparison, run, by, how) for run in runs)
        else:
            rejected = 0
            _add_trec(comparison, runs, qrels, how)
        with placed(", ".join(spoken(run.file) for run in runs)):
            report = comparison.report()
    return report.model_copy(update={"rejected": rejected})


def _row(ranks: QueryRanks) -> Mapping[str, Value]:
    return ranks.model_dump(exclude={"measures"}) | ranks.measures


def _add_samples(comparison: Comparison, run: Run, by: str | None, how: How) -> int:
    """Add what stands in a file of samples; returns how many bad lines were left out."""
    check = partial(_check, rules=how.rules, by=by) if how.gold is None else None
    source = Source(
        run.file,
        (),
        skip_bad_lines=how.skip_bad_lines,
        check=check,
        max_line=how.max_line,
        unique=by is None,
    )
    empty = True
    with how.samples(source) as samples:
        for sample in samples:
            empty = False
            value = run.name if by is None else sample.metadata[by]
            name = value if isinstance(value, str) else json.dumps(value)
            comparison.add(name, sample_query(sample, how.rules))
        if empty:
            raise InputError(NO_SAMPLE)
    return source.rejected


@contextmanager
def _judged(source: Source, gold: str, how: How) -> Iterator[Iterable[Sample]]:
    """The samples that a gold set has, with its gold; those that are not there rank nothing."""
    check = partial(check_gold, rules=how.rules)
    graded = Source(gold, (), skip_bad_lines=False, check=check, max_line=how.max_line)
    with graded.samples() as samples:
        left = {each.qid: each for each in samples}

    def joined(samples: Iterable[Sample]) -> Iterator[Sample]:
        for sample in samples:
            if found := left.pop(sample.qid, None):
                given = {"relevance": found.relevance, "gold_evidence": found.gold_evidence}
                yield sample.model_copy(update=given)
        if len(left) == total:
            raise InputError(f"has no query of {spoken(gold)}; see that the qids are the same")
        for found in left.values():
            yield found.model_copy(update={"retrieved": (), "chunks": ()})

    total = len(left)
    with source.samples() as samples:
        yield joined(samples)


def _check(sample: Sample, rules: RankRules, by: str | None) -> None:
    check_gold(sample, rules)
    if by is not None:
        check_key(sample, by)


def _add_trec(comparison: Comparison, runs: Sequence[Run], qrels: str, how: How) -> None:
    with placed(spoken(qrels)), readable(qrels) as path:
        grades = read_qrels(path, max_line=how.max_line)
    for run in runs:
        with placed(spoken(run.file)), readable(run.file) as path:
            blocks = read_run(path, whole=True, max_line=how.max_line)
            for query in run_queries(grades, blocks, how.rules):
                comparison.add(run.name, query)


def number_within(option: str, given: float | None, least: float, most: float) -> float | None:
    """The number that an option gives; ConfigError where it is not from least to most."""
    if given is not None and not least <= given <= most:
        span = "above 0" if most == sys.float_info.max else f"from {least:g} to {most:g}"
        raise ConfigError(f"{option} {given!r}: give a number {span}, such as 2")
    return given


def cutoffs(text: str) -> tuple[int, ...]:
    """The ranks that `-k` gives; ConfigError where they are no such."""
    try:
        ks = tuple(int(part) for part in text.replace("，", ",").split(","))
    except ValueError:
        ks = ()
    if not ks or min(ks) < 1 or max(ks) > DEEPEST:
        message = f"-k {text!r}: give whole numbers from 1 to {DEEPEST}, with commas between"
        raise ConfigError(f"{message}, such as -k 1,5,10")
    return ks
