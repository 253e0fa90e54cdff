"""What a sentence says, as terms that can be looked up in a passage. No language is known here.

A word is an alphabetic word or one CJK character, a pair two of them side by side, a skip two
that say something with at most one such word between them.
"""

from collections.abc import Container, Iterator, Sequence
from enum import IntEnum
from itertools import pairwise
from typing import Final, NamedTuple

from judge.checks.denials import denied, negations
from judge.checks.sequence import Token, sequence
from judge.checks.values import Value, days, figures
from judge.judges.similarity.senses import Sense, english_senses, han_senses
from judge.text.words import CONTENT, LIGHT, Words, blank_markup, grammar, weight, words

GAP: Final = 3
"""Words at most so many characters apart make a pair, whatever stands between."""
DENIAL: Final = "!"
"""Key of the one term that all negations share."""
_SKIPS: Final = (1, 2)
# A "sentence" beyond that is a text without full stops; its words are all looked up.
_FOLLOWED: Final = 5000


class Kind(IntEnum):
    """What a term is."""

    WORD = 0
    PAIR = 1
    NUMBER = 2
    NEGATION = 3
    SKIP = 4


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
    sense: Sense | None = None
    """What the word means, where the table of meanings knows it."""
    counts: str = ""
    """What a number counts, as `counted` says."""
    denied: bool = False
    """Whether a negation stands before the word."""


def terms(sentence: str) -> list[Term]:
    """Break a sentence into distinct terms; citation markers and list numbers are none.

    >>> ", ".join(term.key for term in terms("1. Rain: 45 days [2]."))
    'rain, #45, day, rain #45, #45 day, rain…#45, #45…day, rain…day'
    """
    text = blank_markup(sentence)
    said = words(text)
    numbers = figures(text, said)
    tokens = sequence(said, numbers)
    denials = negations(text, tokens)
    plain = [*_tokens(text, said, tokens, denied(tokens, denials))]
    found: dict[str, Term] = {}
    for term in (*plain, *(_denial(tokens[at]) for at in denials)):
        if term.key not in found or (term.name and not found[term.key].name):
            found[term.key] = term
    dated = days(text) if numbers else []
    head = plain[:_FOLLOWED]
    for term in (*_pairs(head), *_skips(head), *map(_figure, dated)):
        found.setdefault(term.key, term)
    return list(found.values())


def skip_key(first: str, second: str) -> str:
    """The key of two words that stand near one another in this order."""
    return f"{first}…{second}"


def _tokens(
    text: str, said: Words, tokens: Sequence[Token], denied: Container[int]
) -> Iterator[Term]:
    """The words and certain numbers in reading order, as often as they stand there."""
    senses = _senses(text, said)
    light = {place for span in grammar(text) for place in range(*span)}
    # An answer may be a bare "70": there the number is the word that must be found.
    kind = Kind.NUMBER if any(token.value is None for token in tokens) else Kind.WORD
    for at, (key, start, end, value) in enumerate(tokens):
        if value is not None:
            yield _figure(value)._replace(kind=kind)
            continue
        own = LIGHT if start in light else weight(key)
        name = at > 0 and own > CONTENT and text[start].isupper()
        sense = senses.get(start)
        yield Term(key, Kind.WORD, own, name, start, end, sense, denied=at in denied)


def _figure(value: Value) -> Term:
    return Term(
        value.key,
        Kind.NUMBER,
        1.0,
        name=False,
        start=value.start,
        end=value.end,
        counts=value.counts,
    )


def _senses(text: str, said: Words) -> dict[int, Sense]:
    """Where a word begins → its sense; every character of a Chinese word has the word's."""
    known = {
        said.starts[at]: sense
        for sense, low, high in english_senses(said.stems)
        for at in range(low, high)
    }
    for sense, start, end in han_senses(text):
        known.update(dict.fromkeys(range(start, end), sense))
    return known


def _denial(token: Token) -> Term:
    return Term(DENIAL, Kind.NEGATION, 1.0, name=False, start=token.start, end=token.end)


def _pairs(plain: Sequence[Term]) -> Iterator[Term]:
    for before, after in pairwise(plain):
        if after.start - before.end <= GAP:
            yield _both(f"{before.key} {after.key}", Kind.PAIR, before, after)


def _skips(plain: Sequence[Term]) -> Iterator[Term]:
    telling = [term for term in plain if term.weight > CONTENT]
    for step in _SKIPS:
        for before, after in zip(telling, telling[step:], strict=False):
            if before.key != after.key:
                yield _both(skip_key(before.key, after.key), Kind.SKIP, before, after)


def _both(key: str, kind: Kind, before: Term, after: Term) -> Term:
    together = (before.weight + after.weight) / 2
    return Term(key, kind, together, name=False, start=after.start, end=after.end)
