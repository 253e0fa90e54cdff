"""A guess why a relevant chunk was missed: from its words, the question's, and its rivals'."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from judge.retrieval.records import MissGuess
from judge.text.fold import CJK_CHAR
from judge.text.words import CONTENT, weight, words

_LONGEST: Final = 20_000
"""So many characters of a text are read, from its start: pages are shorter."""
_HALF: Final = 0.5
"""A chunk with less of the question's words, by weight, says it in another way."""
_REST: Final = 0.25
"""So much more of the question stands in two chunks than in either: it is split between them."""


class Known(NamedTuple):
    """A chunk and its text."""

    chunk_id: str
    text: str


def guess(
    question: str, gold: str, top: str, others: Sequence[Known]
) -> tuple[MissGuess | None, str]:
    """Why `gold` ranks below `top`, by words alone, and the other chunk that has to do with it.

    No word shared; or split: of the question's words a quarter more, by weight, stand in it and
    another relevant chunk together than in either; or other words: it has under half of them, and
    fewer than `top`. The first that holds; None where no reason shows.
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
    for other in others:
        if share(f"{gold}\n{other.text}") - max(own, share(other.text)) >= _REST:
            return "split", other.chunk_id
    return ("other_words", "") if own < min(_HALF, share(top)) else (None, "")


def _terms(text: str) -> Mapping[str, float]:
    """Stems that say something, and pairs of neighbouring CJK characters, with their weights."""
    return {term: told for term, told in _weighed(text) if told > CONTENT}


def _weighed(text: str) -> Iterator[tuple[str, float]]:
    found = words(text[:_LONGEST])
    for stem in found.stems:
        if not CJK_CHAR.match(stem):
            yield stem, weight(stem)
    places = zip(found.stems, found.starts, found.ends, strict=True)
    for (one, _, end), (other, start, _) in pairwise(places):
        if end == start and CJK_CHAR.match(one) and CJK_CHAR.match(other):
            yield one + other, min(weight(one), weight(other))
