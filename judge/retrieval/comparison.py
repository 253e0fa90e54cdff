"""Several runs over the same queries, each compared with the first, query by query."""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from judge.errors import InputError
from judge.records import Interval
from judge.retrieval.evaluate import MOST_QIDS, NO_SAMPLE, Meter, mean_names
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


class Comparison:
    """Compare runs over the same queries, which are added one by one in any order.

    The measures of every query are kept, 400 bytes a query at the usual cut-offs, because the two
    queries of a pair may be anywhere in their files.

    Args:
        rules: of the measures.
        order: how the rankings were ordered, `given` or by `score`.
        most: the maximum length of each list.
        each: receives the measures of each query.
    """

    def __init__(
        self,
        rules: RankRules | None = None,
        *,
        order: str = "given",
        most: int = 5,
        each: RunSink | None = None,
    ) -> None:
        self._rules = rules or RankRules()
        self._order, self._most, self._each = order, most, each
        self._meters: dict[str, Meter] = {}
        self._queries: dict[str, dict[str, _QueryValues]] = {}

    def add(self, run: str, query: RankedQuery) -> None:
        """Add a query of a run; the others are compared with the run that is named first.

        Raises:
            InputError: the run has a query of that qid.
        """
        if query.qid in self._queries.setdefault(run, {}):
            message = f"{query.qid!r} of {run!r} stands twice; make each qid unique in a run"
            raise InputError(message, field="qid")
        if run not in self._meters:
            keep = lambda ranks: self._keep(run, ranks)  # noqa: E731
            self._meters[run] = Meter(self._rules, self._order, self._most, keep)
        self._meters[run].add(query)

    def _keep(self, run: str, ranks: QueryRanks) -> None:
        values = np.array([math.nan if v is None else v for v in ranks.measures.values()])
        self._queries[run][ranks.qid] = _QueryValues(values, ranks.relevant)
        if self._each is not None:
            self._each(run, ranks)

    def report(self) -> RunsReport:
        """Return the report of each run, and its differences from the first run.

        Raises:
            InputError: a run has nothing to measure by, or there is no run.
        """
        if not self._meters:
            raise InputError(NO_SAMPLE)
        runs: list[ComparedRun] = []
        for name, meter in self._meters.items():
            try:
                run = ComparedRun(name=name, report=meter.report())
            except InputError as error:
                raise error.at(name, error.line) from None
            if runs:
                own, first = self._queries[name], self._queries[runs[0].name]
                mismatches = _mismatches(own, first)
                changes = {
                    "differences": dict(_differences(own, first, self._rules)),
                    "mismatches": {kind: len(qids) for kind, qids in mismatches.items()},
                    "listed": {kind: tuple(q[:MOST_QIDS]) for kind, q in mismatches.items()},
                }
                run = run.model_copy(update=changes)
            runs.append(run)
        return RunsReport(runs=tuple(runs))


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
