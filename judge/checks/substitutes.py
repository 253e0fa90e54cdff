"""Substitutes: a name, a term or a code that stands nowhere, and another in the same place."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from judge.checks.clauses import Clause, Word
from judge.text.fold import CJK

_RARE: Final = 0.95
"""Weight of a term that few texts have."""
_KEPT: Final = 0.85
_ALL: Final = 0.95
"""The share of a claim's other words, by weight, that a sentence has which speaks of the same."""
_NONE: Final = 2.0
"""More than any word weighs."""
_LONG: Final = {True: 9, False: 20}
"""Telling words of a claim, and characters of a Chinese one: a longer one says more of its own."""
_GAP: Final = 12
"""Characters between two words that stand side by side."""
_MEASURING: Final = frozenset("%:.,年月日")
_RUN: Final = 4
"""Characters of a Chinese name at most."""
_NO_TERM: Final = re.compile(r"(?:ed|ing|ly|ive|able|al|ous|ful|ise|ize|ates|y)\Z")
_JOINT: Final = re.compile(r"[、和及与或]")
_CODE: Final = re.compile(rf"(?<![^\W_{CJK}])[A-Z]\d{{0,3}}(?![^\W_{CJK}])|(?<=[a-z][ ])\d{{1,3}}")
_NAMED: Final = re.compile(r"(?<![^\W\d_])[A-Z][A-Za-z]+[ ]\Z")
"""What stands before the number of a version: `Java 17`."""
_NO_NAME: Final = frozenset("本全该各两此每同他外")
_PLACE: Final = frozenset("海江河湖山岛州市省县区镇乡村路街站港桥城阳京寺宫湾洋洲族语")
"""With which a Chinese name of a place, a people or a tongue ends."""


def substitute(
    own: Sequence[Clause], sentences: Sequence[Sequence[Clause]]
) -> tuple[str, str] | None:
    """What a claim says in whose place a sentence of its other words has another of its kind."""
    words = [word for clause in own for word in clause.words]
    every = [clause for sentence in sentences for clause in sentence]
    lost = [word for word in words if not any(clause.having(word) for clause in every)]
    runs = _runs(lost)
    short = own and len(words) <= _LONG[own[0].latin] and len(lost) <= _RUN
    for run in runs if short else ():
        for sentence in sentences:
            rest = [word for word in words if word not in lost]
            kept = sum(w.weight for w in rest if any(clause.having(w) for clause in sentence))
            kept /= sum(word.weight for word in rest) or 1.0
            if kept < _KEPT:
                continue
            there = [word for clause in sentence for word in clause.words]
            strange = [w for w in there if not any(clause.having(w) for clause in own)]
            for other in _runs(strange):
                plain = _alike(own[0], run, sentence[0], other, _RARE if kept >= _ALL else _NONE)
                if plain and _slot(words, run, there, other):
                    return _written(own[0], run), _written(sentence[0], other)
    return None


def _runs(words: Sequence[Word]) -> list[list[Word]]:
    """Words that touch as one: Chinese characters."""
    found: list[list[Word]] = []
    for word in words:
        if found and found[-1][-1].end == word.start:
            found[-1].append(word)
        else:
            found.append([word])
    return found


def _alike(
    own: Clause, run: Sequence[Word], clause: Clause, other: Sequence[Word], rare: float
) -> bool:
    """Whether both are names, terms of at least some weight, or codes, which have no synonyms."""
    texts = (own.text, run), (clause.text, other)
    if any(word.poles or word.sense for word in (*run, *other)) or own.latin != clause.latin:
        return False
    if all(_is_code(text, each) for text, each in texts):
        return True
    if own.latin:
        mine, theirs = (text[each[0].start : each[-1].end].lower() for text, each in texts)
        return (
            mine not in theirs
            and theirs not in mine
            and all(_is_term(text, each[0], rare) for text, each in texts)
        )
    behind = [text[each[-1].end : each[-1].end + 1] for text, each in texts]
    listed = all(_JOINT.match(text, each[0].start - 1) for text, each in texts)
    plain = _NO_NAME.isdisjoint((run[0].key, other[0].key)) and len(run) == len(other) == 1
    return (behind[0] == behind[1] and behind[0] in _PLACE and plain) or (
        listed and max(len(run), len(other)) <= _RUN
    )


def _is_code(text: str, run: Sequence[Word]) -> bool:
    start, end = run[0].start, run[-1].end
    version = text[start].isdigit() and text[end : end + 1] not in _MEASURING
    return _CODE.fullmatch(text, start, end) is not None and (
        text[start].isupper() or (version and _NAMED.search(text[:start]) is not None)
    )


def _is_term(text: str, word: Word, rare: float) -> bool:
    said = text[word.start : word.end]
    # A unit, or an acronym, may be spelled out elsewhere.
    if text[: word.start].rstrip()[-1:].isdigit() or (said.isupper() and len(said) > 1):
        return False
    tall = said[0].isupper() and word.start > 0
    return tall or (word.weight >= rare and not _NO_TERM.search(said))


def _slot(
    words: Sequence[Word], run: Sequence[Word], there: Sequence[Word], other: Sequence[Word]
) -> bool:
    """Whether the same word stands right beside both."""
    mine, theirs = dict(_beside(words, run)), dict(_beside(there, other))
    return any(mine.get(side) == theirs.get(side, "") for side in mine)


def _beside(words: Sequence[Word], run: Sequence[Word]) -> Iterator[tuple[str, str]]:
    for one, two in pairwise(words):
        if two.start - one.end <= _GAP:
            if two is run[0]:
                yield "before", one.key
            if one is run[-1]:
                yield "behind", two.key


def _written(clause: Clause, run: Sequence[Word]) -> str:
    return clause.text[run[0].start : run[-1].end]
