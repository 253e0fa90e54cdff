"""Bounds: a figure that is the least of something in a claim, and the most of it elsewhere."""

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Final

from judge.checks.clauses import Clause, Word, share
from judge.checks.contrasts import table

_NEAR: Final = 0.5
"""The share of a claim's words, by weight, that a sentence has which speaks of the same thing."""
_FEW: Final = 24
"""Figures of one sentence that are looked at."""
_REACH: Final = 24
"""Characters on either side of a figure in which its bound stands."""


def other_bound(
    own: tuple[Clause, ...], sentences: Sequence[tuple[Clause, ...]]
) -> tuple[str, str] | None:
    """A bound of a claim, and the other bound that the evidence gives with the same figure."""
    said = _bounds(own)
    # A sentence that lacks another figure of the claim gives another rule.
    near = [
        bound
        for sentence in (sentences if said else ())
        if (bounds := _bounds(sentence))
        and _figures(own) <= _figures(sentence)
        and share(own, sentence) >= _NEAR
        for bound in bounds
    ]
    for key, least, phrase in said:
        there = [each for each in near if each[0] == key]
        if there and all(other != least for _, other, _ in there):
            return phrase, there[0][2]
    return None


def _figures(sentence: tuple[Clause, ...]) -> set[str]:
    return {word.key for clause in sentence for word in clause.words if word.key[0].isdigit()}


@lru_cache(maxsize=1 << 12)
def _bounds(sentence: tuple[Clause, ...]) -> tuple[tuple[str, bool, str], ...]:
    """The figures of a sentence with a bound: value, whether it is the least, and words."""
    return tuple(
        (word.key, *found)
        for clause in sentence
        for word in (clause.words if not clause.denies else ())
        if word.key[0].isdigit() and (found := _bound(clause.text, word))
    )[:_FEW]


def _bound(text: str, figure: Word) -> tuple[bool, str] | None:
    before = text[max(figure.start - _REACH, 0) : figure.start]
    behind = text[figure.end : figure.end + _REACH]
    found = []
    for least, (lead, trail) in _patterns().items():
        if match := lead.search(before):
            found.append((least, match[0] + text[figure.start : figure.end]))
        elif match := trail.match(behind):
            found.append((least, text[figure.start : figure.end] + match[0]))
    # `No more than` holds `more than`.
    return max(found, key=lambda each: len(each[1]), default=None)


@cache
def _patterns() -> dict[bool, tuple[re.Pattern[str], re.Pattern[str]]]:
    return {
        name == "least": (
            re.compile(rf"(?<![a-zA-Z不未])(?:{_any(entry['before'])})\s?[$€£¥]?\Z", re.IGNORECASE),
            re.compile(
                rf"\s?(?:[a-z]{{1,8}} |[^\W\d_a-z]{{0,2}})(?:{_any(entry['behind'])})",
                re.IGNORECASE,
            ),
        )
        for name, entry in table()["bounds"].items()
    }


def _any(spellings: str) -> str:
    written = sorted(spellings.split(), key=len, reverse=True)
    return "|".join(re.escape(each.replace("_", " ")) for each in written)
