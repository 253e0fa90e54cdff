"""Substitutes: a thing of a claim that stands nowhere, in the place of another of its evidence."""

from collections.abc import Iterator, Sequence
from typing import Final

from judge.checks.clauses import Clause, Word
from judge.text.fold import CJK_CHAR

_LEAST: Final = 2
"""Telling words beside it that the claim must share with a sentence of the evidence."""
_LONG: Final = 12
"""Telling words of a claim in which a thing has one place."""
_REST: Final = 0.95
"""The share of the rest, by weight, that the sentence must have."""
_TELLING: Final = 0.6
_ROOT: Final = 4


def substitute(
    own: Sequence[Clause], sentences: Sequence[Sequence[Clause]]
) -> tuple[str, str] | None:
    """A word that stands nowhere, and what stands where it should."""
    words = [word for clause in own for word in clause.words]
    if not words or len(words) > _LONG or CJK_CHAR.search(own[0].text):
        return None
    every = [clause for sentence in sentences for clause in sentence]
    lost = [word for word in words if not any(clause.having(word) for clause in every)]
    if (
        own[0].text.rstrip().endswith(":")
        or len(lost) != 1
        or lost[0].weight < _TELLING
        or lost[0].denied
        or lost[0].key[0].isdigit()
    ):
        return None
    rest = [word for word in words if word is not lost[0]]
    whole = sum(word.weight for word in rest)
    for sentence in sentences:
        had = [word for word in rest if any(clause.having(word) for clause in sentence)]
        if len(had) >= _LEAST and sum(word.weight for word in had) >= _REST * whole:
            for other in _instead(lost[0], words, own, sentence):
                text = sentence[0].text
                return own[0].text[lost[0].start : lost[0].end], text[other.start : other.end]
    return None


def _akin(one: str, two: str) -> bool:
    """Whether two words may be forms of one: they share a root."""
    return one in two or two in one or one[:_ROOT] == two[:_ROOT] or one[-_ROOT:] == two[-_ROOT:]


def _instead(
    lost: Word, words: Sequence[Word], own: Sequence[Clause], sentence: Sequence[Clause]
) -> Iterator[Word]:
    there = [word for clause in sentence for word in clause.words]
    at = next(n for n, word in enumerate(words) if word is lost)
    for side in (-1, 1):
        if not 0 <= at + side < len(words):
            continue
        beside = words[at + side]
        for n, word in enumerate(there):
            if word.key == beside.key and 0 <= n - side < len(there):
                other = there[n - side]
                if (
                    not any(clause.having(other) for clause in own)
                    and not other.key[0].isdigit()
                    and other.weight >= _TELLING
                    and not _akin(lost.key, other.key)
                ):
                    yield other
