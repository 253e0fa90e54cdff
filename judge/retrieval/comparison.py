"""Several runs over the same queries, each compared with the first, query by query."""

import math
from array import array
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from judge.errors import InputError
from judge.records import Interval
from judge.retrieval.evaluate import LISTED, NO_SAMPLE, Meter, mean_names
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


class _Row(NamedTuple):
    """The measures and the text of one query, kept until the report."""

    values: "array[float]"
    """All measures; NaN if one is not defined, or if the query counts in no mean."""
    relevant: int
    query: int
    """The hash of its text; 0 for none."""


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
        self._rows: dict[str, dict[str, _Row]] = {}
        self._qids: set[tuple[str, str]] = set()

    def add(self, run: str, query: RankedQuery) -> None:
        """Add a query of a run; the others are compared with the run that is named first.

        Raises:
            InputError: the run has a query of that qid.
        """
        if (run, query.qid) in self._qids:
            message = f"{query.qid!r} of {run!r} stands twice; make each qid unique in a run"
            raise InputError(message, field="qid")
        self._qids.add((run, query.qid))
        if run not in self._meters:
            self._rows[run] = {}
            keep = lambda ranks: self._keep(run, ranks)  # noqa: E731
            self._meters[run] = Meter(self._rules, self._order, self._most, keep)
        self._meters[run].add(query)

    def _keep(self, run: str, ranks: QueryRanks) -> None:
        values = array("d", [math.nan if v is None else v for v in ranks.measures.values()])
        text = ranks.query.strip()
        self._rows[run][ranks.qid] = _Row(values, ranks.relevant, hash(text) if text else 0)
        if self._each is not None:
            self._each(run, ranks)

    def report(self) -> RunsReport:
        """Return the report of each run, and its differences from the first run.

        Raises:
            InputError: a run has nothing to measure by, or there is no run.
        """
        if not self._meters:
            raise InputError(NO_SAMPLE)
        runs = []
        for name, meter in self._meters.items():
            try:
                run = ComparedRun(name=name, report=meter.report())
            except InputError as error:
                raise error.at(name, error.line) from None
            runs.append(run)
        first = self._rows[runs[0].name]
        return RunsReport(runs=(runs[0], *(self._compared(run, first) for run in runs[1:])))

    def _compared(self, run: ComparedRun, first: Mapping[str, _Row]) -> ComparedRun:
        rows = self._rows[run.name]
        listed = _mismatches(rows, first)
        return run.model_copy(
            update={
                "differences": dict(_differences(rows, first, self._rules)),
                "mismatches": {kind: len(qids) for kind, qids in listed.items()},
                "listed": {kind: tuple(qids[:LISTED]) for kind, qids in listed.items()},
            }
        )


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
    """Return the qids of each kind of mismatch that occurs."""
    both = [qid for qid in first if qid in own]
    texts = ((qid, own[qid].query, first[qid].query) for qid in both)
    kinds: dict[Mismatch, list[str]] = {
        "only_here": [qid for qid in own if qid not in first],
        "only_first": [qid for qid in first if qid not in own],
        "query_differs": [qid for qid, here, there in texts if here and there and here != there],
        "gold_differs": [qid for qid in both if own[qid].relevant != first[qid].relevant],
    }
    return {kind: qids for kind, qids in kinds.items() if qids}
