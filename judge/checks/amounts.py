"""Amounts: which of two things has more of something, by the figures that the evidence gives."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import permutations
from typing import Final, NamedTuple

from judge.checks.clauses import Clause
from judge.checks.quantities import quantities
from judge.checks.sides import AMOUNTS, Comparison, tokens

_SIGNS: Final = dict.fromkeys(AMOUNTS, 1) | {"cheap": -1}
"""Whether more of a scale is a greater figure."""
_MOST: Final = 24
"""Clauses with a figure that are looked at."""


class _Amount(NamedTuple):
    said: frozenset[str]
    value: float
    kind: str
    clause: Clause


def outweighed(own: Comparison, sentences: Sequence[tuple[Clause, ...]]) -> str | None:
    """The figures of two things that a claim compares the other way round.

    Each stands in a clause of its own, which speaks of one of the two alone.
    """
    sign = own.sign * _SIGNS.get(own.scale, 0)
    one, two = own.one - own.two, own.two - own.one
    if not (sign and one and two):
        return None
    amounts = [each for sentence in sentences for each in _amounts(sentence)][:_MOST]
    for mine, other in permutations(amounts, 2):
        if (
            mine.kind == other.kind
            and one & mine.said
            and two & other.said
            and not one & other.said - mine.said
            and not two & mine.said - other.said
            and one & mine.said - other.said
            and two & other.said - mine.said
        ):
            if (mine.value - other.value) * sign >= 0:
                return None
            return f"{mine.clause.whole.strip(' ,，')} / {other.clause.whole.strip(' ,，')}"
    return None


@lru_cache(maxsize=1 << 12)
def _amounts(sentence: tuple[Clause, ...]) -> tuple[_Amount, ...]:
    return tuple(_read(sentence))


def _read(sentence: tuple[Clause, ...]) -> Iterator[_Amount]:
    for clause in sentence:
        told = quantities(clause.whole) if any(w.key[0].isdigit() for w in clause.words) else []
        if len(told) == 1 and told[0].certain:
            value, unit = told[0].readings[0]
            yield _Amount(tokens(clause.whole), value, unit.kind, clause)
