"""Rankings out of files, measured."""

from collections.abc import Callable, Iterable
from functools import partial

from judge.cli.export import Write, row_file
from judge.cli.source import PIPED, Source, placed, readable, spoken
from judge.errors import ConfigError, InputError
from judge.retrieval import check_gold, measure_retrieval, measure_run
from judge.retrieval.ranking import Block
from judge.retrieval.records import QueryRanks, RankingReport, RankRules
from judge.retrieval.trec import ScatteredError, read_qrels, read_run


def of_samples(
    name: str, rules: RankRules, most: int, rows: str | None, *, skip_bad_lines: bool
) -> RankingReport:
    """The rankings of a file of samples, measured.

    Args:
        name: of the file; - for standard input.
        rules: what is measured, and how.
        most: how long each list of the report may be.
        rows: the file for each query's measures, if any.
        skip_bad_lines: leave bad lines out, and say so in the report.

    Raises:
        UsageError: a file cannot be read or written, or a line is bad.
    """
    check = partial(check_gold, rules=rules)
    source = Source(name, (), skip_bad_lines=skip_bad_lines, check=check)
    with source.samples() as samples, row_file(rows, name) as write:
        report = measure_retrieval(samples, rules, most=most, each=_each(write))
    if not source.rejected:
        return report
    told = f"lines that are no samples, and so left out: {source.rejected}"
    return report.model_copy(update={"warnings": (*report.warnings, told)})


def of_run(qrels: str, run: str, rules: RankRules, most: int, rows: str | None) -> RankingReport:
    """The rankings of a TREC run, measured by qrels; arguments and errors as of `of_samples`."""
    if qrels == run == PIPED:
        raise ConfigError("--qrels - and --run -: standard input is one file; name the other")
    with placed(spoken(qrels)), readable(qrels) as path:
        grades = read_qrels(path)

    def measured(blocks: Iterable[Block]) -> RankingReport:
        with row_file(rows, qrels, run) as write:
            return measure_run(grades, blocks, rules, most=most, each=_each(write))

    with readable(run) as path:
        try:
            return measured(read_run(path))
        except ScatteredError:  # rare, and only then the run must fit the memory
            with placed(spoken(run)):
                return measured(read_run(path, whole=True))
        except InputError as error:
            # What is relevant stands in the qrels, though the run was being read.
            name = qrels if error.field == "relevance" else run
            raise error.at(spoken(name), error.line) from None


def _each(write: Write | None) -> Callable[[QueryRanks], None] | None:
    if write is None:
        return None
    return lambda ranks: write(ranks.model_dump(exclude={"measures"}) | ranks.measures)
