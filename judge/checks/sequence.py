"""Words and numbers side by side, as they follow one another in a text."""

from collections.abc import Sequence
from itertools import repeat
from typing import NamedTuple

from judge.checks.values import Value
from judge.text.words import Words


class Token(NamedTuple):
    """A word or a number, and its place."""

    key: str
    """The stem of a word, the key of a number."""
    start: int
    """First character."""
    end: int
    """One past the last."""
    value: Value | None
    """The number; None of a word."""


def sequence(said: Words, numbers: Sequence[Value]) -> list[Token]:
    """The words of a text in reading order, certain numbers in place of the words they are made of.

    Args:
        said: the words.
        numbers: the numbers, in reading order.

    >>> from judge.checks.values import figures
    >>> from judge.text.words import words
    >>> text = "forty-five days, 三十天"
    >>> [token.key for token in sequence(words(text), figures(text, words(text)))]
    ['#45', 'day', '#30', '天']
    """
    waiting = [number for number in reversed(numbers) if number.certain]
    if not waiting:
        return list(map(Token, said.stems, said.starts, said.ends, repeat(None)))
    tokens: list[Token] = []
    past = 0
    for key, start, end in zip(*said, strict=True):
        while waiting and waiting[-1].start < end:
            number = waiting.pop()
            # `B12` is a word.
            if number.start <= start:
                tokens.append(Token(number.key, number.start, number.end, number))
                past = number.end
        if start >= past:
            tokens.append(Token(key, start, end, None))
    tokens += [Token(each.key, each.start, each.end, each) for each in reversed(waiting)]
    return tokens
