"""Several runs over the same queries, each held against the first, query by query."""

import math
from array import array
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from judge.errors import InputError
from judge.records import Interval
from judge.retrieval.batch import mean_names
from judge.retrieval.evaluate import LISTED, NO_SAMPLE, Meter
from judge.retrieval.ranking import RankedQuery
from judge.retrieval.records import (
    ComparedRun,
    MeasureDifference,
    Mismatch,
    QueryRanks,
    RankingReport,
    RankRules,
    RunsReport,
)
from judge.scores.differences import paired

EachOf = Callable[[str, QueryRanks], None]

_How = tuple[str, int]


class _Row(NamedTuple):
    """The data kept of one query."""

    values: "array[float]"
    """All measures; NaN where one is not defined, or where the query counts in no mean."""
    relevant: int
    query: int
    """The hash of its text; 0 for none."""


class _Run:
    def __init__(self, name: str, each: EachOf | None, rules: RankRules, how: _How) -> None:
        self.name = name
        self.rows: dict[str, _Row] = {}
        self._qids: set[str] = set()
        self._each = each
        self._meter = Meter(rules, *how, self._keep)

    def add(self, query: RankedQuery) -> None:
        if query.qid in self._qids:
            message = f"{query.qid!r} of {self.name!r} stands twice; make each qid unique in a run"
            raise InputError(message, field="qid")
        self._qids.add(query.qid)
        self._meter.add(query)

    def _keep(self, ranks: QueryRanks) -> None:
        values = array("d", [math.nan if v is None else v for v in ranks.measures.values()])
        asked = hash(ranks.query.strip()) if ranks.query.strip() else 0
        self.rows[ranks.qid] = _Row(values, ranks.relevant, asked)
        if self._each is not None:
            self._each(self.name, ranks)

    def report(self) -> RankingReport:
        try:
            return self._meter.report()
        except InputError as error:
            raise error.at(self.name, error.line) from None


class Comparison:
    """Compare runs over the same queries, which are added one by one in any order.

    The measures of every query are kept, 400 bytes a query at the usual cut-offs, because the two
    queries of a pair may be anywhere in their files.

    Args:
        rules: how to measure.
        order: `given`, or by `score`.
        most: the most entries of each list.
        each: called with the name of the run and the measures of each query.
    """

    def __init__(
        self,
        rules: RankRules | None = None,
        *,
        order: str = "given",
        most: int = 5,
        each: EachOf | None = None,
    ) -> None:
        self._rules = rules or RankRules()
        self._how, self._each = (order, most), each
        self._runs: dict[str, _Run] = {}

    def add(self, run: str, query: RankedQuery) -> None:
        """Add a query of a run; the others are compared with the run that is named first.

        Raises:
            InputError: the run has a query of that qid.
        """
        if run not in self._runs:
            self._runs[run] = _Run(run, self._each, self._rules, self._how)
        self._runs[run].add(query)

    def report(self) -> RunsReport:
        """Return the report of each run, and its differences from the first run.

        Raises:
            InputError: a run has nothing to measure by, or there is none.
        """
        if not self._runs:
            raise InputError(NO_SAMPLE)
        reports = {name: run.report() for name, run in self._runs.items()}
        first, *others = self._runs.values()
        compared = [ComparedRun(name=first.name, report=reports[first.name])]
        for run in others:
            listed = _mismatches(run.rows, first.rows)
            compared.append(
                ComparedRun(
                    name=run.name,
                    report=reports[run.name],
                    differences=dict(_differences(run.rows, first.rows, self._rules)),
                    mismatches={kind: len(qids) for kind, qids in listed.items()},
                    listed={kind: tuple(qids[:LISTED]) for kind, qids in listed.items()},
                )
            )
        return RunsReport(runs=tuple(compared))


def _differences(
    own: Mapping[str, _Row], first: Mapping[str, _Row], rules: RankRules
) -> Iterator[tuple[str, MeasureDifference | None]]:
    both = [qid for qid in first if qid in own]
    names = mean_names(rules)
    shape = (len(both), len(names))
    here, there = (
        np.array([rows[qid].values for qid in both]).reshape(shape) for rows in (own, first)
    )
    for column, name in enumerate(names):
        values, others = here[:, column], there[:, column]
        defined = ~(np.isnan(values) | np.isnan(others))
        found = paired(values[defined] - others[defined])
        if found is None:
            yield name, None
            continue
        mean = float(others[defined].mean())
        limits = found.limits
        yield (
            name,
            MeasureDifference(
                queries=found.pairs,
                first=mean,
                difference=found.mean,
                interval=limits and Interval(low=limits[0], high=limits[1], method="t"),
                p=found.p,
                gain=found.mean / mean if mean else None,
                higher=found.higher,
                lower=found.lower,
            ),
        )


def _mismatches(own: Mapping[str, _Row], first: Mapping[str, _Row]) -> dict[Mismatch, list[str]]:
    """The qids of each kind of which there are any."""
    both = [qid for qid in first if qid in own]
    texts = ((qid, own[qid].query, first[qid].query) for qid in both)
    kinds: dict[Mismatch, list[str]] = {
        "only_here": [qid for qid in own if qid not in first],
        "only_first": [qid for qid in first if qid not in own],
        "query_differs": [qid for qid, here, there in texts if here and there and here != there],
        "gold_differs": [q for q in both if own[q].relevant != first[q].relevant],
    }
    return {kind: qids for kind, qids in kinds.items() if qids}
