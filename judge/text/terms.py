"""What a sentence says, as terms that can be looked up in a passage. No language is known here.

A word is an alphabetic word or one CJK character, a pair two of them side by side.
"""

from enum import IntEnum
from typing import Final, NamedTuple

from judge.text.numbers import numbers
from judge.text.words import blank_markup, is_negation, weight, words

CONTENT: Final = 0.2
"""A word that weighs more says something of its own."""
GAP: Final = 3
"""Words at most so many characters apart make a pair, whatever stands between."""
DENIAL: Final = "!"
"""Key of the one term that all negations share."""
NUMBER: Final = "#"
"""What the keys of numbers begin with, and no word's key."""


class Kind(IntEnum):
    """What a term is."""

    WORD = 0
    PAIR = 1
    NUMBER = 2
    NEGATION = 3


class Term(NamedTuple):
    """Something a sentence says that can be looked up in a passage."""

    key: str
    """What is looked up; equal keys are equal terms, whatever their kind."""
    kind: Kind
    weight: float
    """How much it tells, 0 to 1."""
    name: bool
    """A capitalised word that does not open the sentence."""
    start: int
    """First character, into the sentence."""
    end: int
    """One past the last."""


def terms(sentence: str) -> list[Term]:
    """Break a sentence into distinct terms; citation markers and list numbers are none.

    >>> [term.key for term in terms("1. Rain fell for 45 days [2].")]
    ['rain', 'fell', 'rain fell', 'for', 'fell for', 'day', '#45']
    """
    text = blank_markup(sentence)
    found: dict[str, Term] = {}
    before, weight_before, end_before = "", 0.0, 0
    for stem, start, end in zip(*words(text), strict=True):
        own = weight(stem)
        if is_negation(stem):
            found.setdefault(
                DENIAL, Term(DENIAL, Kind.NEGATION, 1.0, name=False, start=start, end=end)
            )
        name = bool(before) and own > CONTENT and text[start].isupper()
        if stem not in found or (name and not found[stem].name):
            found[stem] = Term(stem, Kind.WORD, own, name, start, end)
        if before and start - end_before <= GAP:
            pair, both = f"{before} {stem}", (own + weight_before) / 2
            found.setdefault(pair, Term(pair, Kind.PAIR, both, name=False, start=start, end=end))
        before, weight_before, end_before = stem, own, end
    # An answer may be a bare "70": there the number is the word that must be found.
    kind = Kind.NUMBER if found else Kind.WORD
    for number in numbers(text):
        if number.certain:
            key = number_key(number.value)
            term = Term(key, kind, 1.0, name=False, start=number.start, end=number.end)
            found.setdefault(key, term)
    return list(found.values())


def number_key(value: float) -> str:
    """The key of a number: equal for equal values."""
    return f"{NUMBER}{value:.12g}"
