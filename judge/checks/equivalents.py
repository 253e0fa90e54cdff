"""Equivalents: what a claim says in other words, or other figures, than its evidence."""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Final

from judge.checks.clauses import Clause, Word, clauses, excludes, share
from judge.checks.contrasts import lexicon
from judge.checks.dates import Date
from judge.checks.figures import Match
from judge.checks.mismatch import Shelf
from judge.checks.names import Name
from judge.checks.opposites import OF_ONE
from judge.checks.quantities import Quantity
from judge.text.pieces import segments
from judge.text.words import stem

_MOST: Final = 200
"""Figures, dates or names of a claim that are looked at."""
_NEAR: Final = 0.4
"""The share of a clause's words, by weight, that a sentence has which speaks of the same thing."""
_HEAD: Final = 4
"""Letters that two forms of a name share."""
_WORDS: Final = "half quarter third fifth tenth dozen euro dollar pound yuan percent"
_SPOKEN: Final = frozenset((*map(stem, _WORDS.split()), *"半倍年月日周星世元"))
"""Stems and Chinese characters of figures and dates that may be written otherwise."""


def equivalents(shelf: Shelf, index: int, lacking: Mapping[int, str]) -> list[tuple[int, int]]:
    """Figures, dates and names of a sentence, given by index, that the chunks give in other forms.

    A name of the question counts, as it does where what evidence lacks is flagged.
    `lacking` are the stems of its words that stand nowhere, by the places at which they begin.
    """
    told = {at for at, key in lacking.items() if key[0].isdigit() or key in _SPOKEN}
    tall = {at for at in lacking if shelf.bare(index)[at].isupper()}
    if not told and not tall:
        return []
    own, grounds = shelf.claim(index), shelf.whole

    def among(item: Quantity | Date | Name, places: set[int]) -> bool:
        return not places.isdisjoint(range(item.start, item.end))

    figures = (
        each
        for each in own.quantities[:_MOST]
        if among(each, told | tall) and grounds.match(each, own) is Match.FOUND
    )
    dates = (
        each
        for each in own.dates[:_MOST]
        if each.certain and among(each, told | tall) and grounds.dated(each)
    )
    names = (
        each
        for each in (own.names[:_MOST] if tall else ())
        if among(each, tall) and _hinted(each, shelf) and not grounds.lacks(each)
    )
    return [(each.start, each.end) for each in chain[Quantity | Date | Name](figures, dates, names)]


def _hinted(name: Name, shelf: Shelf) -> bool:
    """Whether a text has a beginning of a name, or its initials; an acronym may be spelled out."""
    initials = "".join(part[0] for part in name.parts).upper()
    signs = [part[:_HEAD] for part in name.parts] + [initials] * (len(initials) > 1)
    low = [text.lower() for text in (shelf.query, *shelf.texts)]
    return name.written.isupper() or any(sign.lower() in text for sign in signs for text in low)


def reworded(claim: str, passage: str, lacking: Mapping[int, str]) -> list[tuple[int, int]]:
    """Words of a claim that a passage has in other words; `lacking` are their places and keys.

    They are of the same end of a scale, or of the other where one is denied, or say what the other
    party does.
    """
    known, low = lexicon(), passage.lower()
    # Most passages have no such word, and need not be read, nor the claim.
    if not any(hint in low for key in set(lacking.values()) for hint in known.hints[key]):
        return []
    asked = [
        (clause, word)
        for clause in clauses(claim)
        for word in clause.words
        if any(word.start <= at < word.end for at in lacking)
        and any(
            map(
                low.__contains__,
                chain(known.converse.get(word.key, ()), *map(known.akin, word.poles)),
            )
        )
    ]
    spans = segments(passage) if asked else ()
    sentences = [clauses(passage[start:end]) for start, end in spans]
    return [
        (word.start, word.end)
        for clause, word in asked
        if any(_said(word, each) and share([clause], each) >= _NEAR for each in sentences)
    ]


def _said(word: Word, sentence: Sequence[Clause]) -> bool:
    """Whether a sentence says what a word does, or denies what excludes it."""
    parties = lexicon().converse.get(word.key, ())
    scales = {pole.scale for pole in word.poles} & (lexicon().either | OF_ONE)
    return any(
        (bool(scales) and any(each.denied == word.denied for each in clause.having(word)))
        or any(
            each.key in parties or (each.denied != word.denied and _one_of_two(word, each))
            for each in clause.words
        )
        for clause in sentence
    )


def _one_of_two(one: Word, two: Word) -> bool:
    """Whether either of two words, which exclude each other, always holds."""
    scales = {pole.scale for pole in one.poles} & {pole.scale for pole in two.poles}
    return excludes(one, two) and not lexicon().either.isdisjoint(scales)
