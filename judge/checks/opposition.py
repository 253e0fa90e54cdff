"""Whether one text denies what another says of the same thing: `not refunded`, `refunded`."""

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from judge.checks.denials import REACH, denied, negations
from judge.checks.sequence import sequence
from judge.checks.values import figures
from judge.text.pieces import segments
from judge.text.words import CONTENT, weight, words

_ALIKE: Final = 2 / 3
"""Sentences that share more of their telling words tell of one thing."""
_MOST: Final = 2000
"""Words of one text that are looked at; what is longer is no sentence."""
_CLAUSE: Final = re.compile(r"[，；;]|,(?!\d)")


class _Side(NamedTuple):
    keys: tuple[str, ...]
    """Of all its words, in reading order."""
    negations: tuple[int, ...]
    """Which of them deny."""
    said: frozenset[str]
    """Keys of what it says without denying it."""
    unsaid: frozenset[str]
    """Keys of what it denies."""


def clauses(text: str) -> Iterator[str]:
    """The parts of its sentences between commas: each may deny for itself.

    >>> list(clauses("It is open, not 1,250 times. 不开门，开窗。"))
    ['It is open', ' not 1,250 times.', '不开门', '开窗。']
    """
    for start, end in segments(text):
        yield from _CLAUSE.split(text[start:end])


def opposed(claim: str, segments: Iterable[str]) -> bool:
    """Whether what a claim is closest to denies what it says, or says what it denies.

    Of two texts but one has a negation, and it denies a word that the other says, or else both are
    of nearly the same words. Where both have one, `not allowed` may stand beside `may not`. What
    stands there word by word is not denied by what is said beside it.

    Args:
        claim: a sentence.
        segments: what speaks for it, a sentence each.

    >>> opposed("The deposit is not refunded.", ["The deposit is refunded.", "Ask us."])
    True
    >>> opposed("Breakfast is served.", ["Breakfast is served, lunch is not."])
    False
    """
    own = _side(claim)
    others = [_side(segment) for segment in segments]
    near = max((_shared(own, other) for other in others), default=0.0)
    closest = [other for other in others if near and _shared(own, other) == near]
    return bool(closest) and all(_turned(own, other) for other in closest)


def _turned(own: _Side, other: _Side) -> bool:
    if bool(own.negations) == bool(other.negations) or _stands(own, other):
        return False
    flipped = (own.unsaid & other.said) | (other.unsaid & own.said)
    return bool(flipped) or _shared(own, other) > _ALIKE


def _stands(own: _Side, other: _Side) -> bool:
    """Whether the words of one stand in the other as they are, with no negation right before."""
    many, denying = len(own.keys), frozenset(other.negations)
    return any(
        other.keys[at : at + many] == own.keys and denying.isdisjoint(range(at - REACH, at))
        for at in range(len(other.keys) - many + 1)
        if other.keys[at] == own.keys[0]
    )


def _shared(one: _Side, two: _Side) -> float:
    mine, theirs = one.said | one.unsaid, two.said | two.unsaid
    return len(mine & theirs) / max(len(mine | theirs), 1)


def _side(text: str) -> _Side:
    found = words(text)
    tokens = sequence(found, figures(text, found))[:_MOST]
    at = negations(text, tokens)
    without = denied(tokens, at)
    plain = (t for n, t in enumerate(tokens) if n not in without and n not in at)
    return _Side(
        tuple(token.key for token in tokens),
        tuple(at),
        frozenset(t.key for t in plain if t.value is not None or weight(t.key) > CONTENT),
        frozenset(tokens[n].key for n in without),
    )
