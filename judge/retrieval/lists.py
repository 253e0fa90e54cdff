"""Lists for a person to read: where retrieval failed, and a guess why."""

from bisect import insort
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from math import inf, isinf
from operator import itemgetter
from typing import Final, Generic, TypeVar

from judge.retrieval.ranking import Grades, RankedQuery
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

_MAX_TEXTS: Final = 5000
"""Chunks whose beginnings are kept, to be shown with queries that did not rank them."""
_TEXT_CHARACTERS: Final = 1000
_SHOWN_CHARACTERS: Final = 300
"""Characters of a chunk in the report."""
_COMPARED_CHARACTERS: Final = 20_000
"""Only this beginning of a text is compared with the question."""
_MIN_SHARE: Final = 0.5
"""A chunk with a smaller share of the question's words, by weight, uses other words."""
_SPLIT_GAIN: Final = 0.25
"""Two chunks split a question if together they have this much more of its words than each alone."""

_Item = TypeVar("_Item")


class Smallest(Generic[_Item]):
    """The items with the smallest keys, and of equal keys the first."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: list[tuple[tuple[float, ...], _Item]] = []

    def takes(self, *key: float) -> bool:
        """Return whether an item with this key would be kept."""
        return len(self._kept) < self._most or (self._most > 0 and key < self._kept[-1][0])

    def add(self, item: _Item, *key: float) -> None:
        """Add an item, and drop the one with the largest key if there are too many."""
        insort(self._kept, (key, item), key=itemgetter(0))
        del self._kept[self._most :]

    def items(self) -> tuple[_Item, ...]:
        """Return the items, the smallest key first."""
        return tuple(item for _, item in self._kept)


class Lists:
    """The worst queries, the missed chunks, and the irrelevant chunks on top.

    Args:
        k: the number of ranks that are examined.
        most: the maximum length of each list.
    """

    def __init__(self, k: int, most: int) -> None:
        self._k = k
        self._worst: Smallest[tuple[QueryRanks, RankedQuery, Grades]] = Smallest(most)
        self._texts: dict[str, str] = {}
        self.missed: Smallest[MissedGold] = Smallest(most)
        self.topped: Smallest[IrrelevantTop] = Smallest(most)
        self.missed_total = self.relevant_total = self.found_total = self.topped_total = 0

    def remember(self, query: RankedQuery) -> None:
        """Keep the beginnings of a query's chunks."""
        for name, text in query.texts.items():
            begin = text[:_TEXT_CHARACTERS]
            if begin and self._texts.get(name, begin) != begin:
                self._texts[name] = ""  # The id names several chunks.
            elif begin and len(self._texts) < _MAX_TEXTS:
                self._texts.setdefault(name, begin)

    def takes(self, average_precision: float) -> bool:
        """Return whether a query with this average precision is among the worst so far."""
        return self._worst.takes(average_precision)

    def add_worst(self, ranks: QueryRanks, query: RankedQuery, gold: Grades) -> None:
        """Add a query to the worst."""
        self._worst.add((ranks, query, gold), ranks.measures["ap"] or 0.0)

    def add(self, query: RankedQuery, gold: Grades) -> None:
        """Add what a query missed, and what it ranked above its first relevant chunk."""
        ranks = {name: _rank(query, name) for name in gold}
        first = min(ranks.values())
        self.relevant_total += len(gold)
        self.found_total += sum(not isinf(rank) for rank in ranks.values())
        for name, grade in gold.items():
            rank = ranks[name]
            if rank <= self._k:
                continue
            self.missed_total += 1
            if self.missed.takes(-grade, -rank):
                missed = MissedGold(
                    qid=query.qid,
                    query=query.query,
                    chunk_id=name,
                    relevance=grade,
                    rank=_whole(rank),
                )
                self.missed.add(missed, -grade, -rank)
        above = int(min(first - 1, len(query.ids), self._k))
        self.topped_total += above > 0
        if above and self.topped.takes(-above):
            top = IrrelevantTop(
                qid=query.qid,
                query=query.query,
                first_relevant=_whole(first),
                chunk_ids=tuple(query.ids)[:above],
            )
            self.topped.add(top, -above)

    def worst(self) -> tuple[WorstQuery, ...]:
        """Return the worst queries, each with what was on top, what was missed, and a guess why."""
        return tuple(self._explained(*item) for item in self._worst.items())

    def _explained(self, ranks: QueryRanks, query: RankedQuery, gold: Grades) -> WorstQuery:
        ranked = [*query.ids]
        places = {name: _rank(query, name) for name in gold}
        late = [name for name, rank in places.items() if rank > self._k]
        if late:
            missed = max(late, key=lambda name: (gold[name], places[name]))
        else:
            missed = max(places, key=places.__getitem__)
        rank = _whole(places[missed])
        above = ranked if rank is None else ranked[: rank - 1]
        top = next((name for name in above if name not in gold), None)
        fields = ranks.model_dump()
        if top is None and rank is not None:
            return WorstQuery(**fields)
        others = {name: self._text(query, name) for name in gold if name != missed}
        text = self._text(query, missed)
        top_text = "" if top is None else self._text(query, top)
        why, beside = guess(query.query, text, top_text, others)
        return WorstQuery(
            **fields,
            top=None if top is None else _shown(top, query.ids[top] + 1, top_text),
            missed=_shown(missed, rank, text),
            guess=why,
            beside=beside,
        )

    def _text(self, query: RankedQuery, name: str) -> str:
        # Numbers are positions within one query, so other queries' texts do not count.
        own = query.texts.get(name)
        return own or ("" if name.isdecimal() else self._texts.get(name, ""))


def _rank(query: RankedQuery, name: str) -> float:
    """Return the rank of a chunk, from 1; infinity if it is not ranked."""
    return query.ids.get(name, inf) + 1


def _whole(rank: float) -> int | None:
    return None if isinf(rank) else int(rank)


def _shown(name: str, rank: int | None, text: str) -> ShownChunk:
    return ShownChunk(chunk_id=name, rank=rank, text=text[:_SHOWN_CHARACTERS])


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
    wanted = _terms(question)
    whole = sum(wanted.values())
    if not whole or not gold.strip():
        return None, ""

    def share(text: str) -> float:
        return sum(wanted[term] for term in wanted.keys() & _terms(text).keys()) / whole

    own = share(gold)
    if not own:
        return "no_shared_words", ""
    for chunk_id, other in others.items():
        if share(f"{gold}\n{other}") - max(own, share(other)) >= _SPLIT_GAIN:
            return "split", chunk_id
    return ("other_words", "") if own < min(_MIN_SHARE, share(top)) else (None, "")


def _terms(text: str) -> Mapping[str, float]:
    """Return content words, and pairs of neighbouring CJK characters, with their weights."""
    found = words(text[:_COMPARED_CHARACTERS])
    terms = {stem: weight(stem) for stem in found.stems if not CJK_CHAR.match(stem)}
    terms |= _pairs(found.stems, found.starts, found.ends)
    return {term: value for term, value in terms.items() if value > CONTENT}


def _pairs(
    stems: Sequence[str], starts: Sequence[int], ends: Sequence[int]
) -> Iterator[tuple[str, float]]:
    for (one, _, end), (other, start, _) in pairwise(zip(stems, starts, ends, strict=True)):
        if end == start and CJK_CHAR.match(one) and CJK_CHAR.match(other):
            yield one + other, min(weight(one), weight(other))
