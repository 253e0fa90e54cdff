"""Lists for a person to look at: where retrieval failed, and on what."""

import math
from bisect import insort
from collections.abc import Iterator, Mapping
from itertools import islice, pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from judge.retrieval.ranking import RankedQuery
from judge.retrieval.records import (
    IrrelevantTop,
    MissedGold,
    MissGuess,
    QueryRanks,
    ShownChunk,
    WorstQuery,
)
from judge.text.fold import CJK_CHAR
from judge.text.words import CONTENT, weight, words

if TYPE_CHECKING:
    from judge.retrieval.batch import Batch

Key = tuple[float, ...]

_MAX_BEGINNINGS: Final = 5000
_BEGINNING_CHARACTERS: Final = 1000
"""The beginnings of this many chunks are kept, to be shown with queries that did not rank them."""
_SHOWN_CHARACTERS: Final = 300
"""Characters of a chunk in the report."""

_MAX_CHARACTERS: Final = 20_000
"""Characters of a text that are compared, from its start."""
_MIN_SHARE: Final = 0.5
"""A chunk with a smaller share of the question's words, by weight, uses other words."""
_SPLIT_GAIN: Final = 0.25
"""Two chunks split a question if together they hold this much more of it than each alone."""

_Item = TypeVar("_Item")


class _Gold(NamedTuple):
    chunk_id: str
    grade: float
    rank: float


class _Failed(NamedTuple):
    ranks: QueryRanks
    query: RankedQuery
    gold: list[_Gold]


class Foremost(Generic[_Item]):
    """Keeps the items with the largest keys, and the first of equal keys."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: list[tuple[Key, _Item]] = []

    def add(self, key: Key, item: _Item) -> None:
        """Add an item if its key is among the largest so far."""
        insort(self._kept, (tuple(-part for part in key), item), key=itemgetter(0))
        del self._kept[self._most :]

    def items(self) -> tuple[_Item, ...]:
        """The kept items, the largest key first."""
        return tuple(item for _, item in self._kept)


class Lists:
    """Gathers the lists batch by batch, in memory that does not grow with the queries.

    Args:
        k: the number of ranks that are looked at.
        most: the most entries of each list.
    """

    def __init__(self, k: int, most: int) -> None:
        self._k, self._most = k, most
        self._worst: Foremost[_Failed] = Foremost(most)
        self._begin: dict[str, str] = {}
        self.missed: Foremost[MissedGold] = Foremost(most)
        self.topped: Foremost[IrrelevantTop] = Foremost(most)
        self.missed_total = self.relevant_total = self.found_total = 0
        self.topped_total = 0

    def add(self, batch: "Batch") -> None:
        """Look at every query of a batch."""
        for query in batch.queries:
            self._remember(query)
        looked = batch.averaged & (batch.relevant > 0)
        found = np.count_nonzero(batch.hits, axis=1)
        missed = batch.relevant - np.count_nonzero(batch.hits[:, : self._k], axis=1)
        # The number of ranks above the first hit, or all ranks without a hit.
        first = np.where(found > 0, np.argmax(batch.hits > 0, axis=1), batch.lengths)
        above = np.where(looked, np.minimum(first, self._k), 0)
        self.relevant_total += int(batch.relevant[looked].sum())
        self.found_total += int(found[looked].sum())
        self.missed_total += int(missed[looked].sum())
        self.topped_total += int((above > 0).sum())
        # Only the rows of a batch that can be among the worst are looked at one by one.
        worst = np.where(looked, -batch.columns["ap"], -np.inf)
        for row in _foremost(self._most, worst):
            if looked[row]:
                found_gold = _gold(batch, int(row))
                failed = _Failed(batch.row(row), batch.queries[row], found_gold)
                self._worst.add((worst[row],), failed)
        for row in _foremost(self._most, above):
            if above[row]:
                query = batch.queries[row]
                top = IrrelevantTop(
                    qid=query.qid,
                    query=query.query,
                    first_relevant=int(first[row]) + 1 if found[row] else None,
                    chunk_ids=tuple(islice(query.ids, int(above[row]))),
                )
                self.topped.add((above[row],), top)
        self._miss(batch, looked)

    def looked_into(self) -> tuple[WorstQuery, ...]:
        """The worst queries, each with what stood on top, what was missed, and a guess why."""
        return tuple(map(self._look_into, self._worst.items()))

    def _remember(self, query: RankedQuery) -> None:
        for chunk in query.chunks:
            begin, known = chunk.text[:_BEGINNING_CHARACTERS], self._begin.get(chunk.chunk_id)
            if known is None and begin and len(self._begin) < _MAX_BEGINNINGS:
                self._begin[chunk.chunk_id] = begin
            elif known and begin and known != begin:
                self._begin[chunk.chunk_id] = ""  # The id names several chunks.

    def _look_into(self, failed: _Failed) -> WorstQuery:
        ranks, query, gold = failed
        ids = list(query.ids)
        fields = ranks.model_dump()
        gold_ids = {each.chunk_id for each in gold}
        late = [each for each in gold if each.rank > self._k]
        if late:
            missed = max(late, key=lambda each: (each.grade, each.rank))
        else:
            missed = max(gold, key=lambda each: each.rank)
        above = ids if math.isinf(missed.rank) else ids[: int(missed.rank) - 1]
        place = next((at for at, name in enumerate(above) if name not in gold_ids), None)
        if place is None and not math.isinf(missed.rank):
            return WorstQuery(**fields)
        texts = {chunk.chunk_id: chunk.text for chunk in (*query.unranked, *query.chunks)}

        def text_of(name: str) -> str:
            # An id that is a number names a chunk of its own query only.
            return texts.get(name) or ("" if name.isdecimal() else self._begin.get(name, ""))

        def shown(name: str, rank: float) -> ShownChunk:
            at = None if math.isinf(rank) else int(rank)
            return ShownChunk(chunk_id=name, rank=at, text=text_of(name)[:_SHOWN_CHARACTERS])

        text = text_of(missed.chunk_id)
        others = {e.chunk_id: text_of(e.chunk_id) for e in gold if e is not missed}
        top = text_of(above[place]) if place is not None else ""
        why, beside = guess(query.query, text, top, others)
        return WorstQuery(
            **fields,
            top=None if place is None else shown(above[place], place + 1),
            missed=shown(missed.chunk_id, missed.rank),
            guess=why,
            beside=beside,
        )

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
    """Return places sorted by the first key, then by the next, the largest first, stably."""
    order: list[int] = np.lexsort([-key for key in reversed(keys)])[:most].tolist()
    return order


def _gold(batch: "Batch", row: int) -> list[_Gold]:
    gold = batch.gold
    return [
        _Gold(gold.names[at], float(gold.grades[at]), float(gold.ranks[at]))
        for at in np.flatnonzero((gold.rows == row) & (gold.grades >= batch.least)).tolist()
    ]


def guess(
    question: str, gold: str, top: str, others: Mapping[str, str]
) -> tuple[MissGuess | None, str]:
    """Guess why `gold` ranks below `top` from words alone, and name the other chunk involved.

    The first guess that holds is returned, or None:

    - `no_shared_words`: it shares no word with the question.
    - `split`: together with another relevant chunk it has a quarter more of the question's words,
      by weight, than each of the two alone.
    - `other_words`: it has under half of the question's words, and fewer than `top`.
    """
    asked = _terms(question)
    whole = sum(asked.values())
    if not whole or not gold.strip():
        return None, ""

    def share(text: str) -> float:
        return sum(asked[term] for term in asked.keys() & _terms(text).keys()) / whole

    own = share(gold)
    if not own:
        return "no_shared_words", ""
    for chunk_id, other in others.items():
        if share(f"{gold}\n{other}") - max(own, share(other)) >= _SPLIT_GAIN:
            return "split", chunk_id
    return ("other_words", "") if own < min(_MIN_SHARE, share(top)) else (None, "")


def _terms(text: str) -> Mapping[str, float]:
    """Return content words, and pairs of neighbouring CJK characters, with their weights."""
    return {term: weighed for term, weighed in _weighed(text) if weighed > CONTENT}


def _weighed(text: str) -> Iterator[tuple[str, float]]:
    found = words(text[:_MAX_CHARACTERS])
    for stem in found.stems:
        if not CJK_CHAR.match(stem):
            yield stem, weight(stem)
    places = zip(found.stems, found.starts, found.ends, strict=True)
    for (one, _, end), (other, start, _) in pairwise(places):
        if end == start and CJK_CHAR.match(one) and CJK_CHAR.match(other):
            yield one + other, min(weight(one), weight(other))
