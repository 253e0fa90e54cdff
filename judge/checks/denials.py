"""Denials: what a text denies, and whether it denies what another says of the same thing."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from judge.checks.sequence import Token, sequence
from judge.checks.values import figures
from judge.text.pieces import segments
from judge.text.words import CONTENT, is_auxiliary, negation, no_negations, weight, words

REACH: Final = 3
"""A negation denies the first telling word among so many behind it."""
_ALIKE: Final = 2 / 3
"""Sentences that share more of their telling words tell of one thing."""
_MOST: Final = 2000
"""Words of one text that are looked at; what is longer is no sentence."""
_CLAUSE: Final = re.compile(r"[，；;]|,(?!\d)")


def negations(text: str, tokens: Sequence[Token]) -> list[int]:
    """Which tokens of a text are negations; `不` within `不仅` is none.

    >>> from judge.checks.sequence import sequence
    >>> from judge.text.words import words
    >>> negations("不仅不会", sequence(words("不仅不会"), []))
    [2]
    """
    deny = negation()
    found = [at for at, token in enumerate(tokens) if token.key in deny]
    if not found or text.isascii():
        return found
    mere = {place for span in no_negations(text) for place in range(*span)}
    return [at for at in found if tokens[at].start not in mere]


def denied(tokens: Sequence[Token], denials: Sequence[int]) -> set[int]:
    """Which tokens are denied.

    Args:
        tokens: words and numbers in reading order.
        denials: which of them are negations.
    """
    reached = set()
    for at in denials:
        behind = range(at + 1, min(at + 1 + REACH, len(tokens)))
        first = next((place for place in behind if _tells(tokens[place])), None)
        if first is not None:
            reached.add(first)
    return reached


def denies(claim: str, passages: Iterable[str]) -> bool:
    """Whether what a claim is closest to denies what it says, or says what it denies.

    A passage is read whole, by sentence and by clause, as each may deny for itself; those that
    share most words with the claim decide. Of the two texts but one has a negation, and it denies
    a word that the other says, or else both are of nearly the same words. Where both have one,
    `not allowed` may stand beside `may not`. What stands in a passage word by word is not denied
    by what is said beside it.

    Args:
        claim: a sentence.
        passages: what speaks for it.

    >>> denies("The deposit is not refunded.", ["The deposit is refunded. Ask us."])
    True
    >>> denies("Breakfast is served.", ["Breakfast is served, lunch is not."])
    False
    """
    own = _Side.of(claim)
    parts = (part for text in passages for part in (text, *_sentences(text), *clauses(text)))
    others = [_Side.of(part) for part in parts]
    near = max((_shared(own, other) for other in others), default=0.0)
    closest = [other for other in others if near and _shared(own, other) == near]
    return bool(closest) and all(_turned(own, other) for other in closest)


class _Side(NamedTuple):
    keys: tuple[str, ...]
    """Of all its words, in reading order."""
    negations: tuple[int, ...]
    """Which of them deny."""
    said: frozenset[str]
    """Keys of what it says without denying it."""
    unsaid: frozenset[str]
    """Keys of what it denies."""

    @classmethod
    def of(cls, text: str) -> "_Side":
        found = words(text)
        tokens = sequence(found, figures(text, found))[:_MOST]
        at = negations(text, tokens)
        without = denied(tokens, at)
        plain = (t for n, t in enumerate(tokens) if n not in without and n not in at)
        return cls(
            tuple(token.key for token in tokens),
            tuple(at),
            frozenset(t.key for t in plain if t.value is not None or weight(t.key) > CONTENT),
            frozenset(tokens[n].key for n in without),
        )


def clauses(text: str) -> Iterator[str]:
    """The parts of its sentences between commas: each may deny for itself.

    >>> list(clauses("It is open, not 1,250 times. 不开门，开窗。"))
    ['It is open', ' not 1,250 times.', '不开门', '开窗。']
    """
    for sentence in _sentences(text):
        yield from _CLAUSE.split(sentence)


def _sentences(text: str) -> Iterator[str]:
    return (text[start:end] for start, end in segments(text))


def _tells(token: Token) -> bool:
    own = token.value is not None or weight(token.key) > CONTENT
    return own and not is_auxiliary(token.key)


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
    many, denying = len(own.keys), frozenset(other.negations)
    return any(
        other.keys[at : at + many] == own.keys and denying.isdisjoint(range(at - REACH, at))
        for at in range(len(other.keys) - many + 1)
        if other.keys[at] == own.keys[0]
    )
