"""Several runs over the same queries, each compared with the first, query by query."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from judge.errors import InputError
from judge.records import Interval
from judge.retrieval.evaluate import MOST_QIDS, mean_names, measure_queries
from judge.retrieval.ranking import RankedQuery
from judge.retrieval.records import (
    ComparedRun,
    MeasureDifference,
    Mismatch,
    QueryRanks,
    RankRules,
    RunsReport,
)
from judge.scores.differences import paired

RunSink = Callable[[str, QueryRanks], None]
"""A function that receives the name of a run and the measures of one of its queries."""


class _QueryValues(NamedTuple):
    """The measures of one query, kept until the report."""

    values: npt.NDArray[np.float64]
    """All measures; NaN if the query counts in no mean."""
    relevant: int


def compare_runs(
    runs: Mapping[str, Iterable[RankedQuery]],
    rules: RankRules | None = None,
    *,
    order: str = "given",
    most: int = 5,
    each: RunSink | None = None,
) -> RunsReport:
    """Compare runs with the first of them over the queries that both have.

    The measures of every query are kept, 400 bytes a query at the usual cut-offs, because the two
    queries of a pair may be anywhere in their files.

    Args:
        runs: the queries of each run by its name, with unique qids in any order.
        rules: of the measures.
        order: how the rankings were ordered, `given` or by `score`.
        most: the number of worst queries in the report.
        each: receives the measures of each query.

    Raises:
        InputError: a run has nothing to measure by.
    """
    rules = rules or RankRules()
    compared: list[ComparedRun] = []
    first: dict[str, _QueryValues] = {}
    for name, queries in runs.items():
        own: dict[str, _QueryValues] = {}

        def keep(ranks: QueryRanks, run: str = name, own: dict[str, _QueryValues] = own) -> None:
            values = np.array([math.nan if v is None else v for v in ranks.measures.values()])
            own[ranks.qid] = _QueryValues(values, ranks.relevant)
            if each is not None:
                each(run, ranks)

        try:
            report = measure_queries(queries, rules, order, most, keep)
        except InputError as error:
            raise error.at(error.path or name, error.line) from None
        run = ComparedRun(name=name, report=report)
        if compared:
            mismatches = _mismatches(own, first)
            changes = {
                "differences": dict(_differences(own, first, rules)),
                "mismatches": {kind: len(qids) for kind, qids in mismatches.items()},
                "listed": {kind: tuple(qids[:MOST_QIDS]) for kind, qids in mismatches.items()},
            }
            run = run.model_copy(update=changes)
        else:
            first = own
        compared.append(run)
    return RunsReport(runs=tuple(compared))


def _differences(
    own: Mapping[str, _QueryValues], first: Mapping[str, _QueryValues], rules: RankRules
) -> Iterator[tuple[str, MeasureDifference | None]]:
    both = [qid for qid in first if qid in own]
    for column, name in enumerate(mean_names(rules)):
        values, others = (
            np.array([queries[qid].values[column] for qid in both]) for queries in (own, first)
        )
        defined = ~(np.isnan(values) | np.isnan(others))
        found = paired(values[defined] - others[defined])
        if found is None:
            yield name, None
            continue
        mean, limits = float(others[defined].mean()), found.limits
        difference = MeasureDifference(
            queries=found.pairs,
            first=mean,
            difference=found.mean,
            interval=limits and Interval(low=limits[0], high=limits[1], method="t"),
            p=found.p,
            gain=found.mean / mean if mean else None,
            higher=found.higher,
            lower=found.lower,
        )
        yield name, difference


def _mismatches(
    own: Mapping[str, _QueryValues], first: Mapping[str, _QueryValues]
) -> dict[Mismatch, list[str]]:
    """Return the qids of each kind of mismatch that occurs."""
    kinds: dict[Mismatch, list[str]] = {
        "only_here": [qid for qid in own if qid not in first],
        "only_first": [qid for qid in first if qid not in own],
        "gold_differs": [
            qid for qid in own if qid in first and own[qid].relevant != first[qid].relevant
        ],
    }
    return {kind: qids for kind, qids in kinds.items() if qids}
