"""Denials: whether one text denies what another says of the same thing."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final, NamedTuple

from judge.checks.numbers import Number, numbers
from judge.text.pieces import segments
from judge.text.words import CONTENT, is_auxiliary, negation, no_negations, weight, words

REACH: Final = 3
"""A negation denies the first telling word among so many behind it."""
_ALIKE: Final = 2 / 3
"""Sentences that share more of their telling words tell of one thing."""
_MOST: Final = 2000
"""Words of one text that are looked at; what is longer is no sentence."""
_CLAUSE: Final = re.compile(r"[，；;]|,(?!\d)")


def denies(claim: str, passages: Iterable[str]) -> bool:
    """Whether what a claim is closest to denies what it says, or says what it denies.

    A passage is read whole, by sentence and by clause, as each may deny for itself; those that
    share most words with the claim decide. Of the two texts but one has a negation, and it denies
    a word that the other says, or else both are of nearly the same words. Where both have one,
    `not allowed` may stand beside `may not`. What stands in a passage word by word is not denied
    by what is said beside it.

    >>> denies("The deposit is not refunded.", ["The deposit is refunded. Ask us."])
    True
    >>> denies("Breakfast is served.", ["Breakfast is served, lunch is not."])
    False
    """
    own = _read(claim)
    others = [_read(part) for passage in passages for part in _parts(passage)]
    near = max((_shared(own, other) for other in others), default=0.0)
    closest = [other for other in others if near and _shared(own, other) == near]
    return bool(closest) and all(_turned(own, other) for other in closest)


def _parts(passage: str) -> Iterator[str]:
    yield passage
    for start, end in segments(passage):
        yield passage[start:end]
        yield from _CLAUSE.split(passage[start:end])


class _Token(NamedTuple):
    key: str
    """The stem of a word, or the value of a number."""
    start: int
    telling: bool
    """Whether it says something of its own: a number does."""


class _Side(NamedTuple):
    keys: tuple[str, ...]
    """Of all its words, in reading order."""
    negations: frozenset[int]
    """Which of them deny."""
    said: frozenset[str]
    """Keys of what it says without denying it."""
    unsaid: frozenset[str]
    """Keys of what it denies."""


def _read(text: str) -> _Side:
    tokens = list(islice(_tokens(text), _MOST))
    negations = _negations(text, tokens)
    denied: set[int] = set()
    for at in negations:
        behind = range(at + 1, min(at + 1 + REACH, len(tokens)))
        telling = (n for n in behind if tokens[n].telling and not is_auxiliary(tokens[n].key))
        denied.update(islice(telling, 1))
    plain = (token for n, token in enumerate(tokens) if n not in denied and n not in negations)
    return _Side(
        keys=tuple(token.key for token in tokens),
        negations=negations,
        said=frozenset(token.key for token in plain if token.telling),
        unsaid=frozenset(tokens[n].key for n in denied),
    )


def _tokens(text: str) -> Iterator[_Token]:
    """The words of a text, numbers in place of the words they are made of."""
    waiting = [number for number in reversed(numbers(text)) if number.certain]
    past = 0
    for key, start, end in zip(*words(text), strict=True):
        while waiting and waiting[-1].start < end:
            number = waiting.pop()
            # `B12` is a word.
            if number.start <= start:
                yield _figure(number)
                past = number.end
        if start >= past:
            yield _Token(key, start, telling=weight(key) > CONTENT)
    yield from map(_figure, reversed(waiting))


def _figure(number: Number) -> _Token:
    return _Token(f"{number.value:.15g}", number.start, telling=True)


def _negations(text: str, tokens: Sequence[_Token]) -> frozenset[int]:
    """Which tokens of a text are negations; `不` within `不仅` is none."""
    deny = negation()
    found = frozenset(at for at, token in enumerate(tokens) if token.key in deny)
    if not found or text.isascii():
        return found
    mere = {place for span in no_negations(text) for place in range(*span)}
    return frozenset(at for at in found if tokens[at].start not in mere)


def _shared(one: _Side, two: _Side) -> float:
    mine, theirs = one.said | one.unsaid, two.said | two.unsaid
    return len(mine & theirs) / max(len(mine | theirs), 1)


def _turned(own: _Side, other: _Side) -> bool:
    if bool(own.negations) == bool(other.negations) or _stands(own, other):
        return False
    flipped = (own.unsaid & other.said) | (other.unsaid & own.said)
    return bool(flipped) or _shared(own, other) > _ALIKE


def _stands(own: _Side, other: _Side) -> bool:
    """Whether the words of one stand in the other as they are, with no negation right before."""
    many = len(own.keys)
    return any(
        other.keys[at : at + many] == own.keys and other.negations.isdisjoint(range(at - REACH, at))
        for at in range(len(other.keys) - many + 1)
        if other.keys[at] == own.keys[0]
    )
