"""The terms of several sentences end to end, as arrays."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

import numpy as np
import numpy.typing as npt

from judge.judges.similarity.terms import Kind, Term
from judge.judges.similarity.vocabulary import RIVAL, SAID, Vocabulary, other_key
from judge.text.words import CONTENT

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

LATE: Final = 2 / 3
"""An item with at least this share of its sentence's items before it stands late."""
_NOTHING: Final = Term("", Kind.WORD, 0.0, name=False, start=0, end=0)


@dataclass(frozen=True, slots=True)
class Laid:
    """All terms of all sentences, one row a term; each sentence has at least one row."""

    rows: tuple[Term, ...]
    owner: Ints
    """For each row its sentence."""
    first: Ints
    """For each sentence its first row."""
    number: Ints
    """What the vocabulary calls the term, -1 for an unknown one; all below of shape (rows,)."""
    said: Ints
    """What it calls the word's meaning, -1 without one."""
    rival: Ints
    """What it calls all that excludes the meaning, or any number that counts the same."""
    flip: Ints
    """What it calls the word where it is denied."""
    affirmed: Ints
    """What it calls the word where it is not, in a text that denies it elsewhere."""
    denied: Bools
    """Whether the sentence denies the word."""
    kind: Ints
    weight: Floats
    name: Bools
    telling: Bools
    """Whether it says something of its own: a number, or a word of some weight."""
    item: Bools
    """Whether it bears on support: it says something, denies, or contrasts."""
    quiet: Bools
    """Whether it is an item only for what it excludes, such as `all` or `before`."""
    late: Bools
    """Whether it is an item near the end of its sentence."""

    @classmethod
    def lay(cls, sentences: Sequence[Sequence[Term]], vocabulary: Vocabulary) -> "Laid":
        """Lay the terms of some sentences."""
        # Every sentence gets a row, for `reduceat` cannot sum over none.
        padded = [each or (_NOTHING,) for each in sentences]
        sizes = [len(each) for each in padded]
        rows = tuple(term for each in padded for term in each)
        get = vocabulary.number.get
        meant = [term.sense.concept if term.sense else "" for term in rows]
        other = [
            other_key(term.counts) if term.counts else RIVAL + concept
            for term, concept in zip(rows, meant, strict=True)
        ]
        first = np.asarray([0, *accumulate(sizes[:-1])], np.int64)
        owner = np.repeat(np.arange(len(padded)), sizes)
        kind = np.asarray([term.kind for term in rows], np.int64)
        weight = np.asarray([term.weight for term in rows], np.float64)
        contrasts = np.asarray([bool(term.sense and term.sense.excludes) for term in rows])
        quiet = (kind == Kind.WORD) & (weight <= CONTENT) & contrasts
        telling = (kind == Kind.NUMBER) | ((kind == Kind.WORD) & (weight > CONTENT))
        item = telling | quiet | (kind == Kind.NEGATION)
        number = np.asarray([get(term.key, -1) for term in rows], np.int64)
        start = np.asarray([term.start for term in rows], np.int64)
        return cls(
            rows=rows,
            owner=owner,
            first=first,
            number=number,
            said=np.asarray([get(SAID + concept, -1) for concept in meant], np.int64),
            rival=np.asarray([get(key, -1) for key in other], np.int64),
            flip=np.where(number < 0, -1, vocabulary.denied(number)),
            affirmed=np.where(number < 0, -1, vocabulary.affirmed(number)),
            denied=np.asarray([term.denied for term in rows], np.bool_),
            kind=kind,
            weight=weight,
            name=np.asarray([term.name for term in rows], np.bool_),
            telling=telling,
            item=item,
            quiet=quiet,
            late=_late(owner, start, item),
        )

    def sums(self, values: Floats) -> Floats:
        """Totals per sentence, along the first axis."""
        totals: Floats = np.add.reduceat(values, self.first, axis=0)
        return totals

    def shares(self, kind: Kind) -> Floats:
        """The weights of a kind, as shares of their sentence's."""
        own: Floats = self.weight * (self.kind == kind)
        whole = self.sums(own)
        return own / np.where(whole > 0, whole, 1.0)[self.owner]

    def without(self, present: Bools) -> tuple[tuple[Term, ...], ...]:
        """Per sentence, the words and numbers that are not present."""
        lost: list[list[Term]] = [[] for _ in self.first]
        plain = (self.kind == Kind.WORD) | (self.kind == Kind.NUMBER)
        for row in np.flatnonzero(plain & ~present).tolist():
            if self.rows[row] is not _NOTHING:
                lost[self.owner[row]].append(self.rows[row])
        return tuple(map(tuple, lost))


def _late(owner: Ints, start: Ints, item: Bools) -> Bools:
    """Whether a row is one of the last items of its sentence, in reading order."""
    rows = np.flatnonzero(item)
    ordered = rows[np.lexsort((start[rows], owner[rows]))]
    many = np.bincount(owner[rows], minlength=int(owner[-1]) + 1)
    before = np.arange(len(ordered)) - (np.cumsum(many) - many)[owner[ordered]]
    late = np.zeros(len(owner), np.bool_)
    late[ordered] = before >= LATE * many[owner[ordered]]
    return late
