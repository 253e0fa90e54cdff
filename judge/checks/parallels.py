"""Parallels: a claim that says of one of two like things what the evidence says of the other."""

from collections.abc import Iterator, Sequence
from itertools import permutations
from typing import Final, NamedTuple

from judge.checks.clauses import Clause, Word, excludes

_LONG: Final = {True: 14, False: 28}
"""Telling words of a claim that is looked at, and characters of a Chinese one."""
_UNITS: Final = 16
"""Clauses and sentences of the evidence that are held against each other, the first ones."""
_LEAST: Final = 0.3
_NEAR: Final = 0.85
"""The share of a claim's words, by weight, that each of two has at least, and both have."""
_ALL: Final = 0.95
_HEAD: Final = {True: 2, False: 3}
"""Words, and characters of Chinese, with which a clause says what it speaks of."""
_GAP: Final = 4
"""Characters between two words that stand side by side."""


class _Unit(NamedTuple):
    """A clause, or all clauses of a sentence."""

    clauses: tuple[Clause, ...]
    words: tuple[Word, ...]
    sentence: int

    def having(self, word: Word) -> bool:
        return any(clause.having(word) for clause in self.clauses)

    def beside(self, word: Word) -> tuple[str, str]:
        """What stands right before a word and right behind it; empty where nothing does."""
        at = self.words.index(word)
        before = self.words[at - 1] if at else None
        behind = self.words[at + 1] if at + 1 < len(self.words) else None
        return (
            before.key if before and word.start - before.end <= _GAP else "",
            behind.key if behind and behind.start - word.end <= _GAP else "",
        )

    @property
    def head(self) -> tuple[Word, ...]:
        """The words that it begins with: what it speaks of."""
        return self.words[: _HEAD[self.clauses[0].latin]]

    def named(self, word: Word) -> bool:
        """Whether a word is a name or a figure: a capital amid a sentence, letters amid Chinese."""
        text = self.clauses[0].text
        letters = not self.clauses[0].latin and word.key.isascii() and word.key[0].isalpha()
        return letters or word.key[0].isdigit() or (word.start > 0 and text[word.start].isupper())


def crossed(
    own: Sequence[Clause], sentences: Sequence[tuple[Clause, ...]]
) -> tuple[str, str] | None:
    """What a claim says of a thing, and what the evidence says of that thing.

    Two things are alike where the same word stands beside both, as in `Version 4.1` and `Version
    4.2`, or where both are names or figures.
    """
    words = [word for clause in own for word in clause.words]
    two_told = any(clause.has("split") for clause in own)
    if not words or two_told or len(words) > _LONG[own[0].latin]:
        return None
    whole = sum(word.weight for word in words)
    near = []
    units = list(_units(sentences))
    for unit in units:
        had = {word for word in words if unit.having(word)}
        if sum(word.weight for word in had) >= _LEAST * whole:
            near.append((unit, had))
    for (one, in_one), (two, in_two) in permutations(near[:_UNITS], 2):
        both = sum(word.weight for word in in_one | in_two)
        if (
            in_one <= in_two
            or in_two <= in_one
            or (len(one.clauses) > 1 and one.sentence == two.sentence)
            or both < _NEAR * whole
        ):
            continue
        plain = both >= _ALL * whole and not any(clause.denies for clause in own)
        for mine, said, instead in _exchanges(own, one, two, whole=plain):
            if not any(
                unit.having(mine) and unit.having(said)
                for unit in units
                if unit.sentence not in {one.sentence, two.sentence} or len(unit.clauses) == 1
            ):
                return _written(two, said), _written(one, mine, instead)
    return None


def _units(sentences: Sequence[tuple[Clause, ...]]) -> Iterator[_Unit]:
    for at, sentence in enumerate(sentences):
        for clause in sentence:
            yield _Unit((clause,), clause.words, at)
        if len(sentence) > 1:
            yield _Unit(sentence, tuple(w for clause in sentence for w in clause.words), at)


def _exchanges(
    own: Sequence[Clause], one: _Unit, two: _Unit, *, whole: bool
) -> Iterator[tuple[Word, Word, Word]]:
    """A thing of the first that a claim names, what it says of it, and what the first says."""

    def apart(unit: _Unit, other: _Unit) -> tuple[list[Word], list[Word]]:
        lone = [word for word in unit.words if not other.having(word)]
        told = [word for word in lone if any(clause.having(word) for clause in own)]
        return told, [word for word in lone if word not in told]

    named, instead = apart(one, two)
    said, like = apart(two, one)
    # Where nothing marks that two words stand in one place, a claim has no other words.
    free = one.sentence == two.sentence and whole and all(word in one.head for word in named)
    named = [word for word in named if word in one.head]
    like = [word for word in like if word in two.head]
    for thing in named if instead and said else ():
        for other in like:
            if not _beside(one, thing, two, other):
                continue
            for word in said:
                for place in instead:
                    if place.start < thing.start or word.start < other.start:
                        continue
                    if free or _alike(one, place, two, word):
                        yield thing, word, place


def _alike(one: _Unit, mine: Word, two: _Unit, other: Word) -> bool:
    if mine.key[0].isdigit() != other.key[0].isdigit():
        return False
    return (
        _beside(one, mine, two, other)
        or excludes(mine, other)
        or (one.named(mine) and two.named(other))
    )


def _beside(one: _Unit, mine: Word, two: _Unit, other: Word) -> bool:
    return any(a == b != "" for a, b in zip(one.beside(mine), two.beside(other), strict=True))


def _written(unit: _Unit, *words: Word) -> str:
    start, end = min(word.start for word in words), max(word.end for word in words)
    return unit.clauses[0].text[start:end]
