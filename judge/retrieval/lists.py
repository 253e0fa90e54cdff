"""Lists for a person to look at: where retrieval failed, on what, and which chunks are copies."""

import math
import re
from bisect import insort
from collections.abc import Iterator
from itertools import combinations
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar
from unicodedata import normalize

import numpy as np
import numpy.typing as npt

from judge.retrieval.ranking import RankedQuery
from judge.retrieval.records import IrrelevantTop, MissedGold, PairedChunks, QueryRanks
from judge.text.fold import CJK

if TYPE_CHECKING:
    from judge.retrieval.evaluate import Batch

Key = tuple[float, ...]

_DEEPEST: Final = 50
"""Chunks of a query that are held against each other: 1 225 pairs, and no reader looks further."""
_UNIT: Final = re.compile(rf"[{CJK}]|[^\W_{CJK}]+")
_LONGEST: Final = 20_000
"""So many characters of a chunk are read, from its start: pages are shorter."""
_SLICE: Final = 1000
_RUN: Final = 3
"""Words or CJK characters in a row: two are common phrases, and a changed word spoils each run."""
_LEAST: Final = 8
"""Runs: a shorter text, such as a heading, stands in others by chance."""
_COPY: Final = 0.8
"""Containment from which two chunks are near-copies: with one word in fifteen changed, three runs
of three in fifteen are lost, and .8 is left."""

_Item = TypeVar("_Item")


class Foremost(Generic[_Item]):
    """Keeps so many items with the largest keys; of equal keys those that came first."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: list[tuple[Key, _Item]] = []

    def add(self, key: Key, item: _Item) -> None:
        """Take it in, if it is among the foremost so far."""
        insort(self._kept, (tuple(-part for part in key), item), key=itemgetter(0))
        del self._kept[self._most :]

    def items(self) -> tuple[_Item, ...]:
        """Those kept, the foremost first."""
        return tuple(item for _, item in self._kept)


class Lists:
    """Gathers the lists batch by batch, in memory that does not grow with the queries.

    Args:
        k: the first so many chunks of a ranking are looked at.
        most: how long each list may be.
    """

    def __init__(self, k: int, most: int) -> None:
        self._k, self._most = k, most
        self.compared = min(k, _DEEPEST)
        """How many first chunks of a ranking are held against each other."""
        self.worst: Foremost[QueryRanks] = Foremost(most)
        self.missed: Foremost[MissedGold] = Foremost(most)
        self.topped: Foremost[IrrelevantTop] = Foremost(most)
        self.pairs: Foremost[PairedChunks] = Foremost(most)
        self.missed_total = self.relevant_total = self.found_total = 0
        self.topped_total = self.pairs_total = 0

    def add(self, batch: "Batch") -> None:
        """Look at every query of a batch."""
        for query in batch.queries:
            for pair in near_copies(query, self.compared):
                self.pairs_total += 1
                self.pairs.add((pair.similarity,), pair)
        looked = batch.averaged & (batch.relevant > 0)
        found = np.count_nonzero(batch.hits, axis=1)
        missed = batch.relevant - np.count_nonzero(batch.hits[:, : self._k], axis=1)
        # Rank of the first hit, or how many ranks were looked at.
        first = np.where(found > 0, np.argmax(batch.hits > 0, axis=1), batch.order.lengths)
        above = np.where(looked, np.minimum(first, self._k), 0)
        self.relevant_total += int(batch.relevant[looked].sum())
        self.found_total += int(found[looked].sum())
        self.missed_total += int(missed[looked].sum())
        self.topped_total += int((above > 0).sum())
        # Of a batch only those that can be among the foremost are looked at one by one.
        worst = np.where(looked, -batch.columns["ap"], -np.inf)
        for row in _foremost(self._most, worst):
            if looked[row]:
                self.worst.add((worst[row],), batch.row(row))
        for row in _foremost(self._most, above):
            if above[row]:
                query = batch.queries[row]
                top = IrrelevantTop(
                    qid=query.qid,
                    query=query.query,
                    first_relevant=int(first[row]) + 1 if found[row] else None,
                    chunk_ids=tuple(batch.order.ids(row)[: int(above[row])]),
                )
                self.topped.add((above[row],), top)
        self._miss(batch, looked)

    def _miss(self, batch: "Batch", looked: npt.NDArray[np.bool_]) -> None:
        gold = batch.gold
        missed = looked[gold.rows] & (gold.ranks > self._k) & (gold.grades >= batch.least)
        at = np.flatnonzero(missed)
        for item in at[_foremost(self._most, gold.grades[at], gold.ranks[at])].tolist():
            grade, rank = float(gold.grades[item]), float(gold.ranks[item])
            query = batch.queries[gold.rows[item]]
            made = MissedGold(
                qid=query.qid,
                query=query.query,
                chunk_id=gold.names[item],
                relevance=grade,
                rank=None if math.isinf(rank) else int(rank),
            )
            self.missed.add((grade, rank), made)


def _foremost(most: int, *keys: npt.NDArray[Any]) -> list[int]:
    """Places of the largest by the first key, then by the next, equal ones in their order."""
    order: list[int] = np.lexsort([-key for key in reversed(keys)])[:most].tolist()
    return order


def near_copies(query: RankedQuery, k: int) -> Iterator[PairedChunks]:
    """The near-copies among the first k chunks of a query, by rank of the first, then the second.

    Near-copies: of the runs of three words (or CJK characters), folded for case and width,
    |A ∩ B| / min(|A|, |B|) >= 0.8, 0 to 1 and in no direction; texts with under eight runs must be
    equal. So identical texts are found, one text within another, and copies with a few words
    changed (A. Z. Broder 1997, On the resemblance and containment of documents). Of a chunk the
    first 20 000 characters are read.
    """
    texts = [chunk.text[:_LONGEST] for chunk in query.chunks[:k]]
    units = [_units(text) for text in texts]
    runs = [frozenset(zip(*(own[at:] for at in range(_RUN)), strict=False)) for own in units]
    for at, to in combinations(range(len(runs)), 2):
        least = min(len(runs[at]), len(runs[to]))
        share = len(runs[at] & runs[to]) / least if least >= _LEAST else 0.0
        # Texts without a word or figure are alike only as written; what is blank is not known.
        written = bool(texts[at].strip()) and texts[at] == texts[to]
        same = units[at] == units[to] if units[at] else written
        if same or share >= _COPY:
            yield PairedChunks(
                qid=query.qid,
                kind="duplicate",
                first=query.chunks[at].chunk_id,
                second=query.chunks[to].chunk_id,
                ranks=(at + 1, to + 1),
                similarity=1.0 if same else share,
            )


def _units(text: str) -> list[str]:
    # Normalizing a run of combining marks takes the square of its length.
    slices = (text[at : at + _SLICE] for at in range(0, len(text), _SLICE))
    return _UNIT.findall("".join(normalize("NFKC", part) for part in slices).casefold())
