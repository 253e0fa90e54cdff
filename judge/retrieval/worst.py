"""The worst queries for a person to read: where retrieval failed, and a guess why."""

from bisect import insort
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from math import inf, isinf
from operator import itemgetter
from typing import Final

from judge.retrieval.ranking import RankedQuery
from judge.retrieval.records import MissGuess, QueryRanks, ShownChunk, WorstQuery
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


class WorstQueries:
    """The `most` worst queries, and the number of chunks missed in the first `k` ranks."""

    def __init__(self, k: int, most: int) -> None:
        self._k, self._most = k, most
        self._texts: dict[str, str] = {}
        self._worst: list[tuple[float, QueryRanks, RankedQuery]] = []
        self.missed_total = self.relevant_total = self.found_total = 0

    def remember(self, query: RankedQuery) -> None:
        """Keep the beginnings of a query's chunks."""
        for name, text in query.texts.items():
            begin = text[:_TEXT_CHARACTERS]
            if begin and self._texts.get(name, begin) != begin:
                self._texts[name] = ""  # The id names several chunks.
            elif begin and len(self._texts) < _MAX_TEXTS:
                self._texts.setdefault(name, begin)

    def add(self, ranks: QueryRanks, query: RankedQuery) -> None:
        """Add a query with a relevant chunk."""
        insort(self._worst, (ranks.measures["ap"] or 0.0, ranks, query), key=itemgetter(0))
        del self._worst[self._most :]
        self.relevant_total += ranks.relevant
        self.found_total += ranks.found
        self.missed_total += sum(_rank(query, name) > self._k for name in query.gold or ())

    @property
    def queries(self) -> tuple[WorstQuery, ...]:
        """The worst queries, each with what was on top, what was missed, and a guess why."""
        return tuple(self._explained(ranks, query) for _, ranks, query in self._worst)

    def _explained(self, ranks: QueryRanks, query: RankedQuery) -> WorstQuery:
        gold = query.gold or {}
        places = {name: _rank(query, name) for name in gold}
        late = [name for name, rank in places.items() if rank > self._k]
        if late:
            missed = max(late, key=lambda name: (gold[name], places[name]))
        else:
            missed = max(places, key=places.__getitem__)
        rank = places[missed]
        top = next((name for name, at in query.ids.items() if at < rank and name not in gold), None)
        fields = ranks.model_dump()
        if top is None and not isinf(rank):
            return WorstQuery(**fields)
        text = self._text(query, missed)
        top_text = "" if top is None else self._text(query, top)
        return WorstQuery(
            **fields,
            top=None if top is None else _shown(top, query.ids[top] + 1, top_text),
            missed=_shown(missed, None if isinf(rank) else int(rank), text),
            guess=guess(query.query, text, top_text),
        )

    def _text(self, query: RankedQuery, name: str) -> str:
        """Return the text of a chunk, also if only other queries have it; empty if unknown."""
        # Numbers are positions within one query, so other queries' texts do not count.
        other = "" if name.isdecimal() else self._texts.get(name, "")
        return query.texts.get(name) or other


def _rank(query: RankedQuery, name: str) -> float:
    """Return the rank of a chunk, from 1; infinity if it is not ranked."""
    return query.ids.get(name, inf) + 1


def _shown(name: str, rank: int | None, text: str) -> ShownChunk:
    return ShownChunk(chunk_id=name, rank=rank, text=text[:_SHOWN_CHARACTERS])


def guess(question: str, gold: str, top: str) -> MissGuess | None:
    """Guess from words alone why the text `gold` ranks below the text `top`.

    The guess is `no_shared_words` if it shares no word with the question, and `other_words` if it
    has under half of the question's words, by weight, and fewer than `top`.
    """
    wanted = _terms(question)
    whole = sum(wanted.values())
    if not whole or not gold.strip():
        return None

    def share(text: str) -> float:
        return sum(wanted[term] for term in wanted.keys() & _terms(text).keys()) / whole

    own = share(gold)
    if not own:
        return "no_shared_words"
    return "other_words" if own < min(_MIN_SHARE, share(top)) else None


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
