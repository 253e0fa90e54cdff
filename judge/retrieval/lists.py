"""Lists for a person to read: where retrieval failed, and a guess why."""

from bisect import insort
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, pairwise
from math import inf, isinf
from operator import itemgetter
from typing import Final, TypeVar

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
_Listed = TypeVar("_Listed", MissedGold, IrrelevantTop)
_Kept = list[tuple[tuple[float, ...], _Item]]
"""Items with their keys, the smallest key first, and of equal keys the first."""


class Lists:
    """The worst queries, the missed chunks, and the irrelevant chunks on top.

    Args:
        k: the number of ranks that are examined.
        most: the maximum length of each list.
    """

    def __init__(self, k: int, most: int) -> None:
        self._k, self._most = k, most
        self._texts: dict[str, str] = {}
        self._worst: _Kept[tuple[QueryRanks, RankedQuery, Grades]] = []
        self._missed: _Kept[MissedGold] = []
        self._topped: _Kept[IrrelevantTop] = []
        self.missed_total = self.relevant_total = self.found_total = self.topped_total = 0

    def _keep(self, kept: _Kept[_Item], item: _Item, *key: float) -> None:
        insort(kept, (key, item), key=itemgetter(0))
        del kept[self._most :]

    def remember(self, query: RankedQuery) -> None:
        """Keep the beginnings of a query's chunks."""
        for name, text in query.texts.items():
            begin = text[:_TEXT_CHARACTERS]
            if begin and self._texts.get(name, begin) != begin:
                self._texts[name] = ""  # The id names several chunks.
            elif begin and len(self._texts) < _MAX_TEXTS:
                self._texts.setdefault(name, begin)

    def add(self, ranks: QueryRanks, query: RankedQuery, gold: Grades) -> None:
        """Add a query with its relevant chunks, of which there is at least one."""
        self._keep(self._worst, (ranks, query, gold), ranks.measures["ap"] or 0.0)
        places = {name: _rank(query, name) for name in gold}
        first = min(places.values())
        self.relevant_total += len(gold)
        self.found_total += ranks.found
        about = {"qid": query.qid, "query": query.query}
        for name, rank in places.items():
            if rank > self._k:
                self.missed_total += 1
                text = query.texts.get(name, "")[:_SHOWN_CHARACTERS]
                missed = MissedGold(
                    **about, chunk_id=name, relevance=gold[name], rank=_whole(rank), text=text
                )
                self._keep(self._missed, missed, -gold[name], -rank)
        above = int(min(first - 1, len(query.ids), self._k))
        if above:
            self.topped_total += 1
            ids = tuple(islice(query.ids, above))
            text = query.texts.get(ids[0], "")[:_SHOWN_CHARACTERS]
            top = IrrelevantTop(**about, first_relevant=_whole(first), chunk_ids=ids, text=text)
            self._keep(self._topped, top, -above)

    @property
    def missed(self) -> tuple[MissedGold, ...]:
        """The relevant chunks beyond the first k, by falling grade, then by falling rank."""
        return tuple(self._with_text(item, item.chunk_id) for _, item in self._missed)

    @property
    def topped(self) -> tuple[IrrelevantTop, ...]:
        """The irrelevant chunks on top of rankings, the most of them first."""
        return tuple(self._with_text(item, item.chunk_ids[0]) for _, item in self._topped)

    @property
    def worst(self) -> tuple[WorstQuery, ...]:
        """The worst queries, each with what was on top, what was missed, and a guess why."""
        return tuple(self._explained(*item) for _, item in self._worst)

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

    def _with_text(self, item: _Listed, name: str) -> _Listed:
        """Return an item with the text of a chunk that only other queries have."""
        return item.model_copy(
            update={"text": item.text or self._of_others(name)[:_SHOWN_CHARACTERS]}
        )

    def _text(self, query: RankedQuery, name: str) -> str:
        return query.texts.get(name) or self._of_others(name)

    def _of_others(self, name: str) -> str:
        # Numbers are positions within one query, so other queries' texts do not count.
        return "" if name.isdecimal() else self._texts.get(name, "")


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
