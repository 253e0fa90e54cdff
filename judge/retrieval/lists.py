"""Lists for a person to look at: where retrieval failed, and on what."""

import math
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from judge.retrieval.keeping import Foremost
from judge.retrieval.measuring import Batch
from judge.retrieval.query import RankedQuery
from judge.retrieval.records import IrrelevantTop, MissedGold, PairedChunks, PairKind, QueryRanks

if TYPE_CHECKING:
    from judge.retrieval.pairs import ChunkPair

_DEEPEST: Final = 50
"""Chunks of a query that are held against each other: 1 225 pairs, and no reader looks further."""


class Lists:
    """Gathers them batch by batch, in memory that does not grow with the queries.

    Args:
        k: the first so many chunks of a ranking are looked at.
        most: how long each list may be.
    """

    def __init__(self, k: int, most: int) -> None:
        self._k = k
        self.compared = min(k, _DEEPEST)
        """How many first chunks of a ranking are held against each other."""
        self._most = most
        self.worst: Foremost[QueryRanks] = Foremost(most)
        self.missed: Foremost[MissedGold] = Foremost(most)
        self.topped: Foremost[IrrelevantTop] = Foremost(most)
        self.pairs: Foremost[PairedChunks] = Foremost(most)
        self.missed_total = self.relevant_total = self.found_total = self.topped_total = 0
        self.pairs_total: Counter[PairKind] = Counter()

    def add(self, batch: Batch) -> None:
        """Look at every query of a batch."""
        for query in batch.queries:
            if query.chunks:
                self._hold_against_each_other(query)
        looked = batch.averaged & (batch.relevant > 0)
        found = np.count_nonzero(batch.hits, axis=1)
        missed = batch.relevant - np.count_nonzero(batch.hits[:, : self._k], axis=1)
        # Rank of the first hit, or how many ranks were looked at.
        first = np.where(found > 0, np.argmax(batch.hits > 0, axis=1), batch.order.lengths)
        above = np.minimum(first, self._k)
        self.relevant_total += int(batch.relevant[looked].sum())
        self.found_total += int(found[looked].sum())
        self.missed_total += int(missed[looked].sum())
        self.topped_total += int((above[looked] > 0).sum())
        # Of a batch only those that can be among the foremost are looked at one by one.
        worst = np.where(looked, -batch.columns["ap"], -np.inf)
        for row in _foremost(self._most, worst):
            if looked[row]:
                self.worst.add((worst[row],), batch.row(row))
        deep = np.where(looked, above, 0)
        for row in _foremost(self._most, deep):
            if deep[row]:
                rank = int(first[row]) + 1 if found[row] else None
                self.topped.add((deep[row],), _topped(batch, row, int(deep[row]), rank))
        self._miss(batch, looked)

    def _miss(self, batch: Batch, looked: npt.NDArray[np.bool_]) -> None:
        gold = batch.gold
        missed = looked[gold.rows] & (gold.ranks > self._k) & (gold.grades >= batch.least)
        at = np.flatnonzero(missed)
        for item in at[_foremost(self._most, gold.grades[at], gold.ranks[at])].tolist():
            grade, rank = float(gold.grades[item]), float(gold.ranks[item])
            made = _missed(batch.queries[gold.rows[item]], gold.names[item], grade, rank)
            self.missed.add((grade, rank), made)

    def _hold_against_each_other(self, query: RankedQuery) -> None:
        from judge.retrieval.pairs import pairs  # noqa: PLC0415  a second, and a TREC run has no texts

        for pair in pairs(query.chunks, self.compared):
            self.pairs_total[pair.kind] += 1
            self.pairs.add((pair.kind == "conflict", pair.similarity), _paired(query, pair))


def _foremost(most: int, *keys: npt.NDArray[Any]) -> list[int]:
    """Places of the largest by the first key, then by the next, equal ones in their order."""
    order: list[int] = np.lexsort([-key for key in reversed(keys)])[:most].tolist()
    return order


def _missed(query: RankedQuery, name: str, grade: float, rank: float) -> MissedGold:
    return MissedGold(
        qid=query.qid,
        query=query.query,
        chunk_id=name,
        relevance=grade,
        rank=None if math.isinf(rank) else int(rank),
    )


def _topped(batch: Batch, row: int, above: int, rank: int | None) -> IrrelevantTop:
    query = batch.queries[row]
    ids = tuple(batch.order.ids(row)[:above])
    return IrrelevantTop(qid=query.qid, query=query.query, first_relevant=rank, chunk_ids=ids)


def _paired(query: RankedQuery, pair: "ChunkPair") -> PairedChunks:
    return PairedChunks(
        qid=query.qid,
        kind=pair.kind,
        first=pair.first,
        second=pair.second,
        ranks=(pair.first_rank, pair.second_rank),
        similarity=pair.similarity,
        detail=pair.detail,
        sentences=pair.sentences,
    )
