"""A draw among several reviewers."""

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import TypeVar

_Row = TypeVar("_Row")


def deal(
    rows: Sequence[_Row], hands: int, overlap: int, together: Callable[[_Row], str]
) -> list[list[_Row]]:
    """The rows of each reviewer: the first `overlap` units are everyone's, the rest are dealt out.

    Args:
        rows: in random order, so that the first are as good as any.
        hands: reviewers, at least 1.
        overlap: units that all get.
        together: what rows of one unit have in common; they are next to each other.

    >>> deal(["a", "b", "c", "d"], 2, 1, str)
    [['a', 'b', 'd'], ['a', 'c']]
    """
    units = [list(group) for _, group in groupby(rows, key=together)]
    dealt: list[list[_Row]] = [[] for _ in range(hands)]
    for number, unit in enumerate(units):
        takers = dealt if number < overlap else [dealt[(number - overlap) % hands]]
        for taker in takers:
            taker.extend(unit)
    return dealt
