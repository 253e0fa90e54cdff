"""The terms of sentences: words, numbers, pairs of neighbours, and what the words mean.

A word is an alphabetic word, a number or one CJK character. `judge/data/senses.toml` lists which
words mean the same, which imply another, and which exclude one another.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Final, NamedTuple

import numpy as np

from judge.checks.values import HAN_NUMERALS, SPELLED, number
from judge.judges.similarity.model import Bools, Floats, Ints
from judge.text.fold import CJK
from judge.text.senses import Sense, senses
from judge.text.words import CONTENT, LATIN, LIGHT, WORD, Words, grammar, stem, weight

GAP: Final = 3
"""Words with at most this many characters between them make a pair."""

# Tokenized text has `26, 000` and `1. 1 million`. The lookahead saves a third of the time.
_TOKEN: Final = re.compile(
    rf"""( (?=[^\0-/:-@\[-`{{-\x7f]) (?: {LATIN} | (?<![^\W_{CJK}]) (?:
        \d{{1,3}} (?:[,，]\d{{3}}|,[ ]0\d\d)+ (?!\d) (?:\.\d+)?
      | \d+ (?: \.\d+ | \.[ ]\d{{1,2}}(?=[ ](?:million|billion|trillion|per[ ]?cent)) )? )
    | (?!十分|万一|千万) [{HAN_NUMERALS}]{{2,20}}
    | {WORD.pattern} ) )""",
    re.VERBOSE,
)
_VERSION: Final = re.compile(r"(?<![^\W_])[vV](?=\d+\.\d)")
_BETWEEN_DIGITS: Final = str.maketrans("", "", ",， ")


class Terms(NamedTuple):
    """The distinct words and pairs of some sentences; a row is a word or pair of one sentence.

    A sentence without words has a single word that no text contains.
    """

    words: Mapping[str, int]
    """The number of each distinct word."""
    pairs: Ints
    """Distinct pairs: number of the first word · len(words) + number of the second, ascending."""
    meanings: Mapping[str, Sense]
    """The senses of the words, by concept."""
    owner: Ints
    """The sentence of each word row, ascending; the fields below have the same shape."""
    number: Ints
    weight: Floats
    """The weight of the word, 0 to 1."""
    start: Ints
    end: Ints
    name: Bools
    """Whether it is a number, or a capitalised word that does not open the sentence."""
    sense: Ints
    """The position of its sense in `meanings`, -1 for none."""
    pair_owner: Ints
    """The sentence of each pair row."""
    pair: Ints
    """The position of each pair row in `pairs`."""
    pair_weight: Floats

    @property
    def telling(self) -> Bools:
        """Whether each word is a content word or a number."""
        telling: Bools = self.weight > CONTENT
        return telling

    @property
    def items(self) -> Bools:
        """Whether each word is telling, or excludes others as `all` or `before` do."""
        contrasts = [*(bool(own.excludes) for own in self.meanings.values()), False]
        items: Bools = self.telling | np.asarray(contrasts)[self.sense]
        return items


def tokens(text: str) -> Words:
    """Return the words and numbers of a text, numbers as digits.

    >>> tokens("Forty of 1,200 men, 三十天").stems
    ['40', 'of', '1200', 'men', '30', '天']
    """
    parts = _TOKEN.split(_VERSION.sub(" ", text))  # gaps and tokens in turn
    edges = list(accumulate(map(len, parts)))
    return Words(list(map(_key, parts[1::2])), edges[:-1:2], edges[1::2])


def terms(sentences: Sequence[str]) -> Terms:
    """Break sentences whose markup is blank into terms.

    >>> found = terms(["Rain: 45 days."])
    >>> list(found.words), found.pairs.tolist()
    (['rain', '45', 'day'], [1, 5])
    """
    words: dict[str, int] = {}
    meanings: dict[str, Sense] = {}
    rows: list[tuple[int, int, float, int, int, bool, str | None]] = []
    pairs: list[tuple[int, int, int, float]] = []
    for owner, text in enumerate(sentences):
        own, couples = _read(text, meanings)
        for key, row in own.items():
            rows.append((owner, words.setdefault(key, len(words)), *row))
        for (one, two), weighs in couples.items():
            pairs.append((owner, words[one], words[two], weighs))
    owners, number, weights, start, end, name, concept = zip(*rows, strict=True)
    position: dict[str | None, int] = {concept: at for at, concept in enumerate(meanings)}
    first = np.asarray([pair[:3] for pair in pairs], np.int64).reshape(-1, 3)
    distinct, place = np.unique(first[:, 1] * len(words) + first[:, 2], return_inverse=True)
    return Terms(
        words=words,
        pairs=distinct,
        meanings=meanings,
        owner=np.asarray(owners, np.int64),
        number=np.asarray(number, np.int64),
        weight=np.asarray(weights),
        start=np.asarray(start, np.int64),
        end=np.asarray(end, np.int64),
        name=np.asarray(name, np.bool_),
        sense=np.asarray([position.get(each, -1) for each in concept], np.int64),
        pair_owner=first[:, 0],
        pair=place,
        pair_weight=np.asarray([pair[3] for pair in pairs]),
    )


_Row = tuple[float, int, int, bool, str | None]


def _read(
    text: str, meanings: dict[str, Sense]
) -> tuple[dict[str, _Row], dict[tuple[str, str], float]]:
    """Return the words and the pairs of a sentence, and add the senses of its words to `meanings`.

    A word that occurs twice is described at its first place, preferably as a name.
    """
    read = tokens(text)
    if not read.stems:
        return {"\n": (0.0, 0, 0, False, None)}, {}
    found = senses(text, read)
    concept = {place: own.concept for own, places in found for place in places}
    meanings.update((own.concept, own) for own, _ in found)
    light = {place for span in grammar(text) for place in range(*span)}
    own: dict[str, _Row] = {}
    pairs: dict[tuple[str, str], float] = {}
    last_key, last_end, last_weight = "", -GAP - 1, 0.0
    for key, start, end in zip(*read, strict=True):
        weighs = LIGHT if start in light else weight(key)
        name = key[0].isdigit() or (
            last_key != "" and weighs > CONTENT and text[start : start + 1].isupper()
        )
        if key not in own or (name and not own[key][3]):
            own[key] = (weighs, start, end, name, concept.get(start))
        if start - last_end <= GAP:
            pairs.setdefault((last_key, key), (last_weight + weighs) / 2)
        last_key, last_end, last_weight = key, end, weighs
    return own, pairs


@lru_cache(maxsize=1 << 17)
def _key(written: str) -> str:
    if written[0].isdigit():
        return stem(written.translate(_BETWEEN_DIGITS))
    if len(written) > 1 and written[0] in HAN_NUMERALS:
        return f"{number(written):.15g}"
    # `one` is an article as much as a count.
    value = SPELLED.get(written.lower(), 1)
    return stem(written) if value == 1 else str(value)
