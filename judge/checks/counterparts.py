"""Counterparts: the sentences of some texts that speak of what a claim speaks of."""

from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property
from typing import Final, NamedTuple

from judge.checks.statement import Statement
from judge.text.words import LIGHT, weight, words

_HITS: Final = 2000
"""Places of its words that are looked at for one claim, the rarest words first."""
_LENGTH: Final = 0.1
"""What a word that the claim does not have costs a sentence, as a share of one that it has."""


class Counterpart(NamedTuple):
    """A sentence of one of the texts, and how much of a claim it has."""

    text: int
    """Which of the texts."""
    start: int
    """First character of the sentence in that text."""
    end: int
    """One past the last."""
    share: float
    """The share of the claim's telling words that stand in it, by weight; 0 to 1."""


class _Sentence(NamedTuple):
    text: int
    start: int
    end: int
    total: float
    """The weights of its telling words."""


class Sentences:
    """The sentences of some texts, found by their words."""

    def __init__(self, texts: Sequence[Statement]) -> None:
        self._texts = texts

    def nearest(self, claim: str) -> Counterpart | None:
        """The sentence that has most of what a claim says; None where none has any of it.

        Of two that have as much the shorter is nearer, and then the first.

        >>> text = "Goods are returned in 30 days. Faults are reported in 72 hours."
        >>> Sentences([Statement(text)]).nearest("Faults are reported in 72 hours.")
        Counterpart(text=0, start=31, end=63, share=1.0)
        """
        telling = {own: weight(own) for own in set(words(claim).stems) if weight(own) > LIGHT}
        sentences, holders = self._index
        shared: dict[int, float] = defaultdict(float)
        seen = 0
        for own in sorted(telling, key=lambda own: (len(holders.get(own, ())), own)):
            for number in holders.get(own, ())[: _HITS - seen]:
                shared[number] += telling[own]
            seen = min(seen + len(holders.get(own, ())), _HITS)
        if not shared:
            return None
        total = sum(telling.values())

        def near(number: int) -> tuple[float, int]:
            return shared[number] / (total + _LENGTH * sentences[number].total), -number

        best = max(shared, key=near)
        found = sentences[best]
        return Counterpart(found.text, found.start, found.end, min(shared[best] / total, 1.0))

    @cached_property
    def _index(self) -> tuple[list[_Sentence], dict[str, list[int]]]:
        """The sentences, and by stem the numbers of those that have it."""
        sentences: list[_Sentence] = []
        holders: dict[str, list[int]] = defaultdict(list)
        for place, text in enumerate(self._texts):
            for at, (start, end) in enumerate(text.cuts):
                own = {each for each in text.stems_of(at) if weight(each) > LIGHT}
                for each in own:
                    holders[each].append(len(sentences))
                sentences.append(_Sentence(place, start, end, sum(map(weight, own))))
        return sentences, dict(holders)
