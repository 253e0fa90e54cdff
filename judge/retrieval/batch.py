"""Queries side by side: relevance as a matrix, each measure a column."""

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Final

import numpy as np

from judge.retrieval import measures as ranks
from judge.retrieval.ranking import RankedQuery, Relevant
from judge.retrieval.records import QueryRanks, QueryStatus, RankRules
from judge.text.fold import estimate_tokens

MAX_QUERIES: Final = 128
"""Queries of a batch: few enough that their ids stay in the processor's cache."""
WASTE: Final = "waste@"
"""How the one measure begins of which less is better."""

_MEANS: Final = {"rr": "mrr", "ap": "map"}


class Batch:
    """Queries side by side, at least one: relevance as a matrix, each measure a column."""

    def __init__(self, queries: Sequence[RankedQuery], rules: RankRules) -> None:
        self.queries = queries
        self._rules = rules
        self.lengths = np.array([len(query.ids) for query in queries])
        width = max(1, int(self.lengths.max()))
        self.gold = Relevant(queries, [query.gold or {} for query in queries], width)
        graded = self.gold
        if any(query.evidence is not None for query in queries):
            graded = Relevant(queries, [query.relevance or {} for query in queries], width)
        self._grades = graded.falling
        self._gains = graded.by_rank
        self.least = rules.relevance_level or 0.0
        """Relevance under which nothing counts as relevant."""
        found = self.gold.by_rank
        self.hits = found * (found >= self.least)
        """Relevance by rank, 0 for what does not count as relevant: (queries, longest ranking)."""
        relevant = (self.gold.falling > 0) & (self.gold.falling >= self.least)
        self.relevant = np.count_nonzero(relevant, axis=1)
        """The number of relevant chunks of each query, ranked or not."""
        self.statuses = [
            _status(query, int(relevant))
            for query, relevant in zip(queries, self.relevant, strict=True)
        ]
        ways = {"no_relevant": rules.no_relevant, "no_ranking": rules.no_ranking, "no_gold": "skip"}
        self.averaged = np.array([ways.get(status) != "skip" for status in self.statuses])
        """Which queries count in the means."""

    @cached_property
    def columns(self) -> dict[str, ranks.Floats]:
        """Every measure of every query, by name; NaN where it is not defined."""
        gains, hits, relevant, lengths = self._gains, self.hits, self.relevant, self.lengths
        gain = self._rules.gain
        columns: dict[str, ranks.Values] = {
            "rr": ranks.reciprocal_rank(hits),
            "ap": ranks.average_precision(hits, relevant),
            "r_precision": ranks.r_precision(hits, relevant),
            "ndcg": ranks.ndcg(gains, self._grades, gain=gain),
            "roc_auc": ranks.roc_auc(hits, lengths, self._scores()),
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
                f"{WASTE}{k}": ranks.waste_at_k(hits, self._tokens, k),
            }
            if (beta := self._rules.beta) is not None:
                columns[f"f{beta:g}@{k}"] = ranks.fbeta_at_k(hits, k, relevant, beta)
        # A query that counts as zero is zero in every measure but waste, where zero is best.
        void = np.array([status == "no_relevant" for status in self.statuses])
        return {
            name: np.where(void & ~np.isnan(column) & (not name.startswith(WASTE)), 0.0, column)
            for name, column in columns.items()
        }

    def _scores(self) -> ranks.Floats | None:
        """Scores by rank, of which only equality counts; None where no two are equal."""
        if all(query.tied is None for query in self.queries):
            return None
        scores = np.tile(-np.arange(self.hits.shape[1], dtype=np.float64), (len(self.queries), 1))
        for row, query in enumerate(self.queries):
            if query.tied is not None:
                scores[row, : len(query.tied)] = query.tied
        return scores

    @cached_property
    def _tokens(self) -> ranks.Floats:
        """Tokens at each rank; NaN where the text is unknown.

        Under `prefix` all are NaN: gold then does not say which chunk of a document is relevant.
        """
        tokens = np.zeros(self.hits.shape)
        for row, query in enumerate(self.queries):
            known = query.chunks if self._rules.gold_match != "prefix" else ()
            texts = [chunk.text for chunk in known[: self._rules.ks[-1]]]
            tokens[row, : len(query.ids)] = np.nan
            spent = [estimate_tokens(text) if text else math.nan for text in texts]
            tokens[row, : len(spent)] = spent
        return tokens

    @cached_property
    def table(self) -> ranks.Floats:
        """The same as one table, shape (queries, measures)."""
        return np.stack(list(self.columns.values()), axis=1)

    def row(self, row: int) -> QueryRanks:
        """A query with its measures."""
        query, averaged = self.queries[row], bool(self.averaged[row])
        return QueryRanks(
            qid=query.qid,
            query=query.query,
            status=self.statuses[row],
            ranked=len(query.ids),
            relevant=int(self.relevant[row]),
            found=int(np.count_nonzero(self.hits[row])),
            measures={
                name: value if averaged and not math.isnan(value) else None
                for name, value in zip(self.columns, self.table[row].tolist(), strict=True)
            },
        )


def mean_names(rules: RankRules) -> tuple[str, ...]:
    """Return the names of the means in a report by these rules."""
    nothing = Batch([RankedQuery("", {}, None)], rules)
    return tuple(map(mean_name, nothing.columns))


def mean_name(column: str) -> str:
    """Return the name of a column's mean, such as `mrr` for `rr`."""
    measure, at, k = column.partition("@")
    return _MEANS.get(measure, measure) + at + k


def _status(query: RankedQuery, relevant: int) -> QueryStatus:
    if query.relevance is None:
        return "no_gold"
    if not relevant:
        return "no_relevant"
    return "measured" if query.ids else "no_ranking"
