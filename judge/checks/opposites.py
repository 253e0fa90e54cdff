"""Opposites: a word that excludes another, in the place where that one stands."""

from typing import Final

from judge.checks.clauses import Clause, Word, excludes
from judge.checks.contrasts import lexicon

_SHORT: Final = 8
"""In a clause of no more words, twice that in Chinese, it need not stand right beside."""
_SLOT: Final = 1
"""Neighbours on either side by which two words are known to stand in the same place."""
OF_ONE: Final = frozenset(
    ("up", "add", "start", "open", "accept", "wide", "able", "valid", "create", "freeze", "improve")
)
"""Scales on which a thing moves by itself, or is moved, whatever stands beside it."""


def rivals(word: Word, own: Clause, clause: Clause) -> list[Word]:
    """What excludes a word, where a clause has what stands beside it."""
    if not word.poles and not (word.sense and word.sense.excludes):
        return []
    return [
        each
        for each in clause.words
        if excludes(word, each)
        and each.denied == word.denied
        and not _both(word, own, each, clause)
        and all(said is word for said in own.having(each))
        and same_place(word, own, each, clause)
        and not (_relates(word, own, clause) and turned(word, own, each, clause))
    ]


def _both(one: Word, own: Clause, two: Word, clause: Clause) -> bool:
    """Whether a thing undergoes what two parties do: what is sold is bought."""
    if two.key not in lexicon().converse.get(one.key, ()):
        return False
    undergone = own.passive(one) and clause.passive(two)
    named = any(each.has(mark) for each in (own, clause) for mark in ("doer", "other"))
    return undergone or not (own.latin or named)


def _relates(word: Word, own: Clause, clause: Clause) -> bool:
    """Whether a word says something of two things, which its opposite says the other way round."""
    scales = {pole.scale for pole in word.poles}
    return not scales <= OF_ONE or own.has("than") or clause.has("than")


def turned(one: Word, own: Clause, two: Word, clause: Clause) -> bool:
    """Whether what stands before one word stands behind the other, and the other way round."""
    sides = [
        (word.start < one.start, other.start < two.start)
        for word in own.words
        if word is not one
        for other in clause.having(word)
        if other is not two and len(own.having(word)) == len(clause.having(word)) == 1
    ]
    return (True, False) in sides and (False, True) in sides


def same_place(one: Word, own: Clause, two: Word, clause: Clause) -> bool:
    """Whether a neighbour of one word stands beside the other."""
    many = len(own.words) if own.latin else len(own.words) // 2
    slot = _SLOT if many > _SHORT else _SHORT // 2 if own.latin else _SHORT
    at, place = own.places[one.start], clause.places[two.start]
    beside = own.words[max(at - slot, 0) : at] + own.words[at + 1 : at + 1 + slot]
    there = clause.words[max(place - slot, 0) : place] + clause.words[place + 1 : place + 1 + slot]
    return any(each in there for word in beside for each in clause.having(word))
