"""What some sentences say, numbered, so that it can be looked up in passages all at once."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

import numpy as np
import numpy.typing as npt

from judge.checks.values import NUMBER
from judge.judges.similarity.senses import Sense
from judge.judges.similarity.terms import Kind, Term

Ints = npt.NDArray[np.int64]
_Numbers = TypeVar("_Numbers", int, Ints)

SAID: Final = "@"
"""What the key of a meaning begins with, said in whatever word."""
RIVAL: Final = "≠"
"""What the key of everything that excludes a meaning begins with."""


def other_key(counts: str) -> str:
    """The key of any number that counts the same."""
    return f"{RIVAL}{NUMBER}{counts}"


@dataclass(frozen=True, slots=True)
class Skips:
    """Skips by the numbers of their two words."""

    first: Ints
    """The word that comes first, shape (skips,)."""
    second: Ints
    """The other."""
    number: Ints
    """The skip's own number."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Terms and meanings, numbered from 0."""

    number: Mapping[str, int]
    """Key → number, of every term and of the meanings (`SAID`, `RIVAL`)."""
    skips: Skips
    """Which of them are skips."""
    meanings: Mapping[str, Sense]
    """The senses of the words among them, by concept."""
    counts: bool
    """Whether it holds a number."""

    def denied(self, word: _Numbers) -> _Numbers:
        """The number of a word where a negation denies it."""
        return word + len(self.number)

    def affirmed(self, word: _Numbers) -> _Numbers:
        """The number of a word where none does, in a text that denies it elsewhere."""
        return word + 2 * len(self.number)

    def posted(self, found: Sense) -> tuple[int, ...]:
        """What a word of a passage is evidence of: the meanings it implies, those it excludes."""
        posts = []
        for concept, sense in self.meanings.items():
            if concept in found.implies:
                posts.append(self.number[SAID + concept])
            elif sense.excludes & found.implies:
                posts.append(self.number[RIVAL + concept])
        return tuple(posts)

    @classmethod
    def of(cls, sentences: Iterable[Sequence[Term]]) -> "Vocabulary":
        """Number what the sentences say."""
        number: dict[str, int] = {}
        meanings: dict[str, Sense] = {}
        skips: dict[str, Term] = {}
        for term in (term for sentence in sentences for term in sentence):
            number.setdefault(term.key, len(number))
            if term.kind is Kind.SKIP:
                skips[term.key] = term
            if term.sense is not None:
                meanings[term.sense.concept] = term.sense
            if term.counts:
                number.setdefault(other_key(term.counts), len(number))
        for concept in meanings:
            for sign in (SAID, RIVAL):
                number.setdefault(sign + concept, len(number))
        # The words of a skip are terms of the same sentence, so they have numbers.
        words = [key.split("…") for key in skips]
        first, second = ([number[pair[side]] for pair in words] for side in (0, 1))
        return cls(
            number=number,
            skips=Skips(
                np.asarray(first, np.int64),
                np.asarray(second, np.int64),
                np.asarray([number[key] for key in skips], np.int64),
            ),
            meanings=meanings,
            counts=any(key.startswith(NUMBER) for key in number),
        )
