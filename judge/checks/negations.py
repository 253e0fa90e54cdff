"""Negations: a word that a claim says and its evidence denies, or the other way round."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from judge.checks.clauses import Clause, Word
from judge.checks.contrasts import Pole
from judge.checks.neighbours import Near, phrase, top
from judge.text.words import stem

_ALONE: Final = 2
"""Words that the other clause may lack where one denies what the other says."""
_ENDS: Final = frozenset(
    Pole(scale, 1) for scale in ("start", "add", "accept", "allow", "open", "valid", "join", "able")
)
"""What denies without a word of denial: `ended`."""
_BARE_VERBS: Final = (
    "support provide offer include contain find show have get give receive see make come"
)
_BARE: Final = frozenset(map(stem, _BARE_VERBS.split()))
_BARE_HAN: Final = (
    "支持",
    "提供",
    "含",
    "配",
    "有",
    "设",
    "发现",
    "检出",
    "得到",
    "获得",
    "进入",
    "收到",
    "附带",
)
"""Verbs of which only their object says what it is that is so."""
_FREE: Final = frozenset(("free", "免费"))
_GAP: Final = 4
"""Characters between a verb and its object."""
_WITHOUT: Final = re.compile(
    r"(?:如果?|若)?(?:没有|未|非经?|不|无)|without(?![^\W_])", re.IGNORECASE
)
"""What is denied behind it holds where it is not so."""


def polarity(own: Clause, near: Sequence[Near]) -> Iterator[tuple[str, str]]:
    """One denies the word that the other says, and has no negation of its own."""
    bare = not own.prefixed and not any(each.clause.prefixed for each in near)
    if own.conditional or (bare and all(each.clause.denies == own.denies for each in near)):
        return
    for word in _plain(own):
        there = top(near, word)
        if len({each.denied for each in own.having(word)}) > 1:
            continue
        said = [each for clause in there for each in clause.having(word)]
        # What a prefix denies, it denies whatever else a clause does.
        apart = bool(said) and all(each.prefixed != word.prefixed for each in said)
        alike = not apart and any(clause.denies == own.denies for clause in there)
        if alike or any(clause.conditional for clause in there if not apart):
            continue
        if any(_ends(own, clause) or _WITHOUT.match(clause.text) for clause in there):
            continue
        if word.key[0].isdigit() and any(each.has("deny-near") for each in (own, *there)):
            continue
        if (
            not said
            or any(each.denied == word.denied for each in said)
            or (_of_other(word, own, there) or _freed(own, there[0], near))
        ):
            continue
        known = next(each.told for each in near if each.clause is there[0])
        alone = [each for each in own.words if not there[0].having(each) and each.key not in known]
        if len(alone) > _ALONE and own.latin:
            continue
        if word.focus or any(_foremost(each, clause, own) for clause in there for each in said):
            yield phrase(own, word), phrase(there[0], said[0])


def _plain(clause: Clause) -> Iterator[Word]:
    """Its words that are no part of a mark: what is `not prohibited` is allowed."""
    for word in clause.words:
        if not any(mark.start <= word.start < mark.end for mark in clause.marks):
            yield word


def _foremost(word: Word, clause: Clause, own: Clause) -> bool:
    """Whether a negation denies a word first; after a verb that says no more than that it is so."""
    if word.focus or own.denies or word not in clause.words:
        return word.focus
    before = [each for each in clause.words if each.start < word.start and each.denied]
    return (
        bool(before)
        and before[-1].end >= word.start - _GAP
        and before[-1].focus
        and not own.having(before[-1])
        and (
            before[-1].key in _BARE
            or clause.whole[before[-1].start - clause.start :].startswith(_BARE_HAN)
        )
    )


def _freed(own: Clause, clause: Clause, near: Sequence[Near]) -> bool:
    """Whether what stands beside a clause is free, and has more words of a claim."""
    if any(word.key in _FREE for word in own.words):
        return False
    beside = (each for one in near for each in one.sentence)
    free = (each for each in beside if any(word.key in _FREE for word in each.words))
    return any(_had(own, each) > _had(own, clause) for each in free)


def _had(own: Clause, clause: Clause) -> int:
    return sum(bool(clause.having(word)) for word in own.words)


def _of_other(word: Word, own: Clause, there: Sequence[Clause]) -> bool:
    """Whether right behind a Chinese verb that is denied and said stand objects of their own."""
    mine = next((each for each in own.words if each.start == word.end), None)
    return mine is not None and all(
        not clause.having(mine)
        and any(each.start == said.end and not own.having(each) for each in clause.words)
        for clause in there
        for said in clause.having(word)
    )


def _ends(own: Clause, other: Clause) -> bool:
    """Whether one says without a negation what the other says with one."""
    one, two = (other, own) if own.denies else (own, other)
    return any(
        (word.key in _FREE or _ENDS.intersection(word.poles)) and not two.having(word)
        for word in one.words
    )
