"""Rank measures of many queries at once: relevance as a matrix, each measure a column."""

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from judge.errors import InputError
from judge.retrieval import metrics as ranks
from judge.retrieval.ordering import Order
from judge.retrieval.query import RankedQuery, too_much
from judge.retrieval.records import QueryRanks, QueryStatus, RankRules
from judge.retrieval.relevant import Relevant

Floats = npt.NDArray[np.float64]

_CELLS: Final = 1 << 20
"""Of the matrices of a batch: 8 MB each, whatever the length of its rankings."""
_ROWS: Final = 128
"""So few that their ids are still in a processor's cache when they are looked up."""


def batches(queries: Iterable[RankedQuery], rules: RankRules) -> Iterator["Batch"]:
    """The queries in their order, so many together as fit a matrix."""
    rows: list[RankedQuery] = []
    width = 1
    for query in queries:
        width = max(width, len(query.ids), len(query.relevance or ()))
        if rows and (len(rows) == _ROWS or width * (len(rows) + 1) > _CELLS):
            yield Batch(rows, rules)
            rows = []
            width = max(1, len(query.ids), len(query.relevance or ()))
        rows.append(query)
    if rows:
        yield Batch(rows, rules)


class Batch:
    """Queries side by side.

    Args:
        queries: at least one.
        rules: what is relevant, and at which cut-offs to measure.

    Raises:
        InputError: a relevance is so large that gains could not be summed.
    """

    def __init__(self, queries: Sequence[RankedQuery], rules: RankRules) -> None:
        self.queries = queries
        self._rules = rules
        self.order = Order(queries)
        self.gold = Relevant(queries, self.order)
        self._grades = self.gold.falling()
        self._refuse_too_much()
        self.gains = self.gold.by_rank()
        """Relevance by rank: shape (queries, longest ranking)."""
        self.least = rules.relevance_level or 0.0
        """Relevance under which nothing counts as relevant."""
        self.hits = self.gains * (self.gains >= self.least)
        """The same, and 0 for what does not count as relevant."""
        graded = (self._grades > 0) & (self._grades >= self.least)
        self.relevant = np.count_nonzero(graded, axis=1)
        """How many relevant chunks each query has, ranked or not."""

    def _refuse_too_much(self) -> None:
        largest = self._grades[:, 0]
        row = int(np.argmax(largest))
        if problem := too_much(float(largest[row]), self._rules):
            message = f"a grade of query {self.queries[row].qid!r} is {problem}"
            raise InputError(message, field="relevance")

    @cached_property
    def statuses(self) -> list[QueryStatus]:
        """Of each query."""
        return [
            _status(query, int(relevant))
            for query, relevant in zip(self.queries, self.relevant, strict=True)
        ]

    @cached_property
    def averaged(self) -> npt.NDArray[np.bool_]:
        """Which queries count in the means."""
        taken: set[QueryStatus] = {"measured"}
        if self._rules.no_relevant == "zero":
            taken.add("no_relevant")
        if self._rules.no_ranking == "zero":
            taken.add("no_ranking")
        return np.array([status in taken for status in self.statuses])

    @cached_property
    def columns(self) -> dict[str, Floats]:
        """Every measure of every query, by name; NaN where it is not defined."""
        gains, hits, relevant, lengths = self.gains, self.hits, self.relevant, self.order.lengths
        gain = self._rules.gain
        columns: dict[str, ranks.Values] = {
            "rr": ranks.reciprocal_rank(hits),
            "ap": ranks.average_precision(hits, relevant),
            "r_precision": ranks.r_precision(hits, relevant),
            "ndcg": ranks.ndcg(gains, self._grades, gain=gain),
            "roc_auc": ranks.roc_auc(hits, lengths, self.order.scores),
        }
        for k in self._rules.ks:
            columns |= {
                f"hit@{k}": ranks.hit_at_k(hits, k),
                f"recall@{k}": ranks.recall_at_k(hits, k, relevant),
                f"precision@{k}": ranks.precision_at_k(hits, k),
                f"f1@{k}": ranks.f1_at_k(hits, k, relevant),
                f"rr@{k}": ranks.reciprocal_rank(hits, k),
                f"ap@{k}": ranks.average_precision(hits, relevant, k),
                f"dcg@{k}": ranks.dcg(gains, k, gain=gain),
                f"ndcg@{k}": ranks.ndcg(gains, self._grades, k, gain=gain),
                f"accuracy@{k}": ranks.accuracy_at_k(hits, k, lengths, relevant),
            }
        # What counts as zero is zero in every measure, those not of trec_eval included.
        void = np.array([status == "no_relevant" for status in self.statuses])
        return {
            name: np.where(void & ~np.isnan(column), 0.0, column)
            for name, column in columns.items()
        }

    def row(self, row: int) -> QueryRanks:
        """A query with its measures."""
        query = self.queries[row]
        values = self.table[row].tolist() if self.averaged[row] else [math.nan] * len(self.columns)
        return QueryRanks(
            qid=query.qid,
            query=query.query,
            status=self.statuses[row],
            ranked=len(query.ids),
            relevant=int(self.relevant[row]),
            found=int(np.count_nonzero(self.hits[row])),
            measures={
                name: None if math.isnan(value) else value
                for name, value in zip(self.columns, values, strict=True)
            },
        )

    @cached_property
    def table(self) -> Floats:
        """The same as one table, shape (queries, measures)."""
        return np.stack(list(self.columns.values()), axis=1)


def _status(query: RankedQuery, relevant: int) -> QueryStatus:
    if query.relevance is None:
        return "no_gold"
    if not relevant:
        return "no_relevant"
    return "measured" if query.ids else "no_ranking"
