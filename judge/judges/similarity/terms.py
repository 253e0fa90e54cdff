"""What a sentence says, as terms that can be looked up in a passage. No language is known here.

A word is an alphabetic word, a number or one CJK character; a pair is two of them side by side, a
skip two that say something with at most one such word between them. `judge/data/senses.toml` knows
which words mean the same, which imply another, and which exclude one another.
"""

import re
from collections.abc import Iterator
from enum import IntEnum
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import Final, NamedTuple

from judge.checks.numbers import SPELLED, numbers
from judge.text.fold import CJK
from judge.text.senses import Sense, senses
from judge.text.words import CONTENT, LATIN, LIGHT, WORD, Words, grammar, stem, weight

GAP: Final = 3
"""Words at most so many characters apart make a pair, whatever stands between."""
_SKIPS: Final = (1, 2)
# A "sentence" beyond that is a text without full stops; its words are all looked up.
_FOLLOWED: Final = 5000

_HAN: Final = "零〇一二两三四五六七八九十百千万亿"
# `26, 000` and `1. 1 million` stand in text that was cut into tokens; no list goes on like that.
_TOKEN: Final = re.compile(
    rf"""( {LATIN} | (?<![^\W_{CJK}]) (?:
        \d{{1,3}} (?:[,，]\d{{3}}|,[ ]0\d\d)+ (?!\d) (?:\.\d+)?
      | \d+ (?: \.\d+ | \.[ ]\d{{1,2}}(?=[ ](?:million|billion|trillion|per[ ]?cent)) )? )
    | (?!十分|万一|千万) [{_HAN}]{{2,20}}
    | {WORD.pattern} )""",
    re.VERBOSE,
)
_BETWEEN_DIGITS: Final = str.maketrans("", "", ",， ")


class Kind(IntEnum):
    """What a term is."""

    WORD = 0
    PAIR = 1
    SKIP = 2


class Term(NamedTuple):
    """Something a sentence says that can be looked up in a passage."""

    key: str
    """What is looked up; equal keys are equal terms, whatever their kind."""
    kind: Kind
    weight: float
    """How much it tells, 0 to 1."""
    start: int
    """First character, into the sentence."""
    end: int
    """One past the last."""
    name: bool = False
    """Whether it is a number, or a capitalised word that does not open the sentence."""
    sense: Sense | None = None
    """What the word means, where the table of meanings knows it."""


def tokens(text: str) -> Words:
    """The words and numbers of a text, a number by its digits.

    >>> tokens("Forty of 1,200 men, 三十天").stems
    ['40', 'of', '1200', 'men', '30', '天']
    """
    parts = _TOKEN.split(text)  # in turn what stands between tokens, and a token
    edges = list(accumulate(map(len, parts)))
    return Words(list(map(_key, parts[1::2])), edges[:-1:2], edges[1::2])


def terms(sentence: str) -> list[Term]:
    """Break a sentence, of which the markup is blank, into distinct terms.

    >>> ", ".join(term.key for term in terms("Rain: 45 days."))
    'rain, 45, day, rain 45, 45 day, rain…45, 45…day, rain…day'
    """
    plain = list(_plain(sentence))
    found: dict[str, Term] = {}
    for term in plain:
        if term.key not in found or (term.name and not found[term.key].name):
            found[term.key] = term
    head = plain[:_FOLLOWED]
    telling = [term for term in head if term.weight > CONTENT]
    near = [two for two in pairwise(head) if two[1].start - two[0].end <= GAP]
    skips = [two for step in _SKIPS for two in zip(telling, telling[step:], strict=False)]
    for kind, mark, couples in ((Kind.PAIR, " ", near), (Kind.SKIP, "…", skips)):
        for before, after in couples:
            key = f"{before.key}{mark}{after.key}"
            if key not in found and (kind is Kind.PAIR or before.key != after.key):
                mean = (before.weight + after.weight) / 2
                found[key] = Term(key, kind, mean, after.start, after.end)
    return list(found.values())


@lru_cache(maxsize=1 << 17)
def _key(written: str) -> str:
    if written[0].isdigit():
        return stem(written.translate(_BETWEEN_DIGITS))
    if len(written) > 1 and written[0] in _HAN:
        return next((f"{each.value:.15g}" for each in numbers(written)), written)
    # `one` is an article as much as a count.
    value = SPELLED.get(written.lower(), 1)
    return stem(written) if value == 1 else str(value)


def _plain(text: str) -> Iterator[Term]:
    """The words and numbers in reading order, as often as they stand there."""
    said = tokens(text)
    meant = {place: sense for sense, places in senses(text, said) for place in places}
    light = {place for span in grammar(text) for place in range(*span)}
    for at, (key, start, end) in enumerate(zip(*said, strict=True)):
        own = LIGHT if start in light else weight(key)
        name = key[0].isdigit() or (at > 0 and own > CONTENT and text[start].isupper())
        yield Term(key, Kind.WORD, own, start, end, name, meant.get(start))
