"""Neighbours: the clauses of the evidence that speak of what a clause of a claim speaks of."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from judge.checks.clauses import Clause, Word, root
from judge.checks.contrasts import Pole
from judge.checks.opposites import rivals

_CLOSE: Final = 0.8
"""Clauses with at least this share of the best one's worth are as near."""
_BESIDE: Final = 0.3
"""What a word is worth that stands in the sentence of a clause, not in itself."""
_TOPIC: Final = 0.8
_COMMENT: Final = 3
"""The same beside a Chinese clause of so few words, whose subject stands before the comma."""
ALL: Final = Pole("some", 0)
_AGAIN: Final = re.compile(
    r"(?:It|They|This|These|Its|Their|He|She)(?![^\W_])|[其它]|[该此这](?:[款项类种])?"
)
_NONE: Final[frozenset[str]] = frozenset()


class Near(NamedTuple):
    """A clause that speaks of what another speaks of."""

    clause: Clause
    share: float
    """How much of it, by weight; what stands beside it in its sentence counts less."""
    sentence: Sequence[Clause]
    told: frozenset[str] = frozenset()
    """What the sentence before it names, and a pronoun speaks of."""


def nearest(own: Clause, sentences: Iterable[tuple[Clause, ...]], least: float) -> Iterator[Near]:
    """The clauses that speak of what a clause speaks of, with how much of it they say."""
    before: tuple[Clause, ...] = ()
    for sentence in sentences:
        beside = _keys(sentence)
        # `It does not` speaks of what the sentence before it names.
        told = _keys(before) if sentence and _AGAIN.match(sentence[0].text) else _NONE
        before = sentence
        around = [
            word
            for word in own.words
            if not beside.isdisjoint((word.key, f"~{root(word.key)}"))
            or word.poles
            or word.sense
            or word.key in told
        ]
        if sum(word.weight for word in around) < least * own.weight:
            continue
        for clause in sentence:
            worth = 0.0
            only = clause.has("only")
            bare = len(clause.words) <= _COMMENT and not clause.latin
            for word in around:
                lifted = only and ALL in word.poles
                if (
                    lifted
                    or _covers(clause, word, own)
                    or clause.having(word)
                    or rivals(word, own, clause)
                ):
                    worth += word.weight
                elif word.key in beside:
                    worth += (_TOPIC if bare else _BESIDE) * word.weight
                elif word.key in told:
                    worth += _TOPIC * word.weight
            share = worth / own.weight
            if share >= least:
                yield Near(clause, share, sentence, told)


def _covers(clause: Clause, word: Word, own: Clause) -> bool:
    """Whether a clause denies something of a class that a word belongs to, as wine to alcohol."""
    if word.sense is None or own.denies or not clause.denies:
        return False
    return any(f"@{concept}" in clause.keys for concept in word.sense.implies)


@lru_cache(maxsize=1 << 12)
def _keys(sentence: tuple[Clause, ...]) -> frozenset[str]:
    said = [word.key for clause in sentence for word in clause.words]
    return frozenset((*said, *(f"~{kin}" for key in said if (kin := root(key)))))


def top(near: Sequence[Near], having: Word | None = None) -> list[Clause]:
    """The clauses that are about as near as the nearest, of those that have a word."""
    among = [each for each in near if having is None or each.clause.having(having)]
    best = max((each.share for each in among), default=0.0)
    return [each.clause for each in among if each.share >= best * _CLOSE]


def phrase(clause: Clause, word: Word) -> str:
    """A word with what denies it."""
    start = word.start
    for mark in reversed(clause.marks):
        if word.denied and mark.end <= start and mark.name.startswith(("deny", "must-", "forbid")):
            start = mark.start
            break
    return clause.text[start : word.end]
