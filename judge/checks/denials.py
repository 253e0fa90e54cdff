"""Which words of a text a negation denies: `not yet approved`, `不会裁员`."""

from collections.abc import Sequence
from typing import Final

from judge.checks.sequence import Token
from judge.text.words import LIGHT, is_auxiliary, negation, no_negations, weight

REACH: Final = 3
"""A negation denies the first telling word among so many behind it."""
_TELLING: Final = 2 * LIGHT


def negations(text: str, tokens: Sequence[Token]) -> list[int]:
    """Which tokens of a text are negations; `不` within `不仅` is none.

    >>> from judge.text.sequence import sequence
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


def _tells(token: Token) -> bool:
    own = token.value is not None or weight(token.key) > _TELLING
    return own and not is_auxiliary(token.key)
