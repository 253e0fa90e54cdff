"""What sentences say, as terms that can be looked up in a passage. No language is known here.

A word is an alphabetic word, a number or one CJK character; a pair is two of them side by side, a
skip two that say something with at most one such word between them. `judge/data/senses.toml` knows
which words mean the same, which imply another, and which exclude one another.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import lru_cache
from itertools import accumulate
from typing import Final

import numpy as np

from judge.checks.numbers import SPELLED, numbers
from judge.judges.similarity.model import Bools, Floats, Ints
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
# No token begins with a space or another sign of ASCII: a third of the time goes with trying them.
_TOKEN: Final = re.compile(
    rf"""( (?=[^\0-/:-@\[-`{{-\x7f]) (?: {LATIN} | (?<![^\W_{CJK}]) (?:
        \d{{1,3}} (?:[,，]\d{{3}}|,[ ]0\d\d)+ (?!\d) (?:\.\d+)?
      | \d+ (?: \.\d+ | \.[ ]\d{{1,2}}(?=[ ](?:million|billion|trillion|per[ ]?cent)) )? )
    | (?!十分|万一|千万) [{_HAN}]{{2,20}}
    | {WORD.pattern} ) )""",
    re.VERBOSE,
)
_VERSION: Final = re.compile(r"(?<![^\W_])[vV](?=\d+\.\d)")
"""What says that a number is one of a version."""
_BETWEEN_DIGITS: Final = str.maketrans("", "", ",， ")
_NOWHERE: Final = Words(["\n"], [0], [0])


class Kind(IntEnum):
    """What a term is."""

    WORD = 0
    PAIR = 1
    SKIP = 2


@dataclass(frozen=True, slots=True)
class Terms:
    """What sentences say, a term a row: of each its distinct words, then pairs, then skips.

    A sentence without words has one that stands nowhere. Words are numbered, pairs and skips
    behind them, and behind these each meaning: first what says it, then what excludes it.
    """

    words: Mapping[str, int]
    """Key → number."""
    keys: Sequence[str]
    """The same by number."""
    pairs: Ints
    """First word · words + second word, ascending."""
    skips: Ints
    """The same."""
    meanings: Mapping[str, Sense]
    """Concept → sense, of the words, in the order of their numbers."""
    owner: Ints
    """For each row its sentence, ascending; all below of shape (rows,)."""
    kind: Ints
    number: Ints
    first: Ints
    """The number of the word, or of the first of two."""
    second: Ints
    weight: Floats
    """How much it tells, 0 to 1."""
    start: Ints
    """First character of the word, or of the second of two, into the sentence."""
    end: Ints
    """One past the last."""
    name: Bools
    """Whether it is a number, or a capitalised word that does not open the sentence."""
    sense: Ints
    """Which of the meanings the word has, from 0; -1 for none."""
    borne: Bools
    """Whether the passages bear it out, though it stands nowhere."""

    @property
    def telling(self) -> Bools:
        """Which rows say something of their own: words and numbers of some weight."""
        telling: Bools = (self.kind == Kind.WORD) & (self.weight > CONTENT)
        return telling

    @property
    def items(self) -> Bools:
        """Those, and the words that exclude others, such as `all` or `before`."""
        contrasts = [*(bool(own.excludes) for own in self.meanings.values()), False]
        items: Bools = self.telling | np.asarray(contrasts)[self.sense]
        return items

    @property
    def known(self) -> int:
        """How many words, pairs and skips there are."""
        return len(self.words) + len(self.pairs) + len(self.skips)

    def readings(self) -> Ints:
        """For each row its number, what says its meaning and what excludes it, shape (3, rows).

        Where it has no meaning these are the number behind all.
        """
        many = len(self.meanings)
        says = np.where(self.sense < 0, 2 * many, self.sense)
        excludes = np.where(self.sense < 0, 2 * many, self.sense + many)
        return np.stack([self.number, self.known + says, self.known + excludes])

    def rows(self, low: int, high: int) -> slice:
        """The rows of the sentences from one up to another."""
        return slice(*np.searchsorted(self.owner, [low, high]).tolist())

    def of(self, low: int, high: int) -> "Terms":
        """What the sentences from one up to another say."""
        rows = self.rows(low, high)
        names = (
            "kind",
            "number",
            "first",
            "second",
            "weight",
            "start",
            "end",
            "name",
            "sense",
            "borne",
        )
        own = {name: getattr(self, name)[rows] for name in names}
        return replace(self, owner=self.owner[rows] - low, **own)

    def lacking(self, sentence: int, which: Bools) -> tuple[slice, dict[int, str]]:
        """The rows of a sentence, and of its telling words those of some rows: place → key."""
        rows = self.rows(sentence, sentence + 1)
        own = which[rows] & (self.kind[rows] == Kind.WORD) & (self.weight[rows] > CONTENT)
        keys = map(self.keys.__getitem__, self.number[rows][own].tolist())
        return rows, dict(zip(self.start[rows][own].tolist(), keys, strict=True))

    def bear(self, rows: slice, spans: Iterable[tuple[int, int]]) -> None:
        """Take a sentence's words within some spans for found; pairs with them weigh nothing."""
        within = np.zeros(rows.stop - rows.start, np.bool_)
        for start, end in spans:
            within |= (start <= self.start[rows]) & (self.end[rows] <= end)
        within &= self.kind[rows] == Kind.WORD
        inside = self.number[rows][within]
        self.borne[rows][within], self.sense[rows][within] = True, -1
        beside = np.isin(self.first[rows], inside) | np.isin(self.second[rows], inside)
        self.weight[rows][beside & (self.kind[rows] != Kind.WORD)] = LIGHT


def tokens(text: str) -> Words:
    """The words and numbers of a text, a number by its digits.

    >>> tokens("Forty of 1,200 men, 三十天").stems
    ['40', 'of', '1200', 'men', '30', '天']
    """
    parts = _TOKEN.split(_VERSION.sub(" ", text))  # in turn what stands between tokens, and a token
    edges = list(accumulate(map(len, parts)))
    return Words(list(map(_key, parts[1::2])), edges[:-1:2], edges[1::2])


def terms(sentences: Sequence[str]) -> Terms:
    """Break sentences, of which the markup is blank, into terms.

    >>> said = terms(["Rain: 45 days."])
    >>> list(said.words), said.pairs.tolist(), said.skips.tolist()
    (['rain', '45', 'day'], [1, 5], [1, 2, 5])
    """
    said = _read(sentences)
    owner, word, many = said.owner, said.number, len(said.words)
    head = np.arange(len(owner)) - np.searchsorted(owner, owner) < _FOLLOWED
    close = (owner[1:] == owner[:-1]) & (said.start[1:] - said.end[:-1] <= GAP)
    near = np.flatnonzero(close & head[1:])
    telling = np.flatnonzero((said.weight > CONTENT) & head)
    skips = np.concatenate([[telling[:-step], telling[step:]] for step in _SKIPS], axis=1)
    skips = skips[:, (owner[skips[0]] == owner[skips[1]]) & (word[skips[0]] != word[skips[1]])]
    # A word is told by where it stands first, or where it first is a name.
    _, at, which = np.unique(owner * many + word, return_index=True, return_inverse=True)
    told, names = at.copy(), np.flatnonzero(said.name)[::-1]
    told[which[names]] = names
    told = told[np.argsort(at)]
    rows, number, codes, known = [np.stack([told, told])], [word[told]], list[Ints](), many
    for couples in (np.stack([near, near + 1]), skips):
        code = word[couples[0]] * many + word[couples[1]]
        whose = owner[couples[0]] * many**2 + code
        kept = np.sort(np.unique(whose, return_index=True)[1])
        distinct, place = np.unique(code[kept], return_inverse=True)
        rows.append(couples[:, kept])
        number.append(known + place)
        codes.append(distinct)
        known += len(distinct)
    kind = np.repeat(np.arange(len(Kind)), [own.shape[1] for own in rows])
    one, two = np.concatenate(rows, axis=1)
    order = np.argsort(owner[two], kind="stable")
    one, two, kind = one[order], two[order], kind[order]
    return replace(
        said,
        pairs=codes[0],
        skips=codes[1],
        owner=owner[two],
        kind=kind,
        number=np.concatenate(number)[order],
        first=word[one],
        second=word[two],
        weight=(said.weight[one] + said.weight[two]) / 2,
        start=said.start[two],
        end=said.end[two],
        name=said.name[two] & (kind == Kind.WORD),
        sense=np.where(kind == Kind.WORD, said.sense[two], -1),
        borne=np.zeros_like(two, np.bool_),
    )


def _read(sentences: Sequence[str]) -> Terms:
    """Every word in reading order, as often as it stands there."""
    keys: list[str] = []
    sizes, starts, ends = list[int](), list[int](), list[int]()
    light, capital, meant = list[bool](), list[bool](), list[str | None]()
    meanings: dict[str, Sense] = {}
    for text in sentences:
        said = tokens(text)
        if not said.stems:
            said = _NOWHERE
        found = senses(text, said)
        concept = {place: own.concept for own, places in found for place in places}
        grey = {place for span in grammar(text) for place in range(*span)}
        meanings.update((own.concept, own) for own, _ in found)
        keys += said.stems
        sizes.append(len(said.stems))
        starts += said.starts
        ends += said.ends
        light += map(grey.__contains__, said.starts)
        capital += [text[start : start + 1].isupper() for start in said.starts]
        meant += map(concept.get, said.starts)
    words = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    numbered: dict[str | None, int] = {own: at for at, own in enumerate(meanings)}
    numbered[None] = -1
    word = np.asarray([words[key] for key in keys], np.int64)
    owner = np.repeat(np.arange(len(sizes)), np.asarray(sizes, np.int64))
    weights = np.asarray([0.0 if key in _NOWHERE.stems else weight(key) for key in words])[word]
    weights[np.asarray(light, np.bool_)] = LIGHT
    digits = np.asarray([key[:1].isdigit() for key in words], np.bool_)[word]
    opens = np.diff(owner, prepend=-1) > 0
    none = np.zeros(0, np.int64)
    return Terms(
        words=words,
        keys=list(words),
        pairs=none,
        skips=none,
        meanings=meanings,
        owner=owner,
        kind=np.zeros_like(word),
        number=word,
        first=word,
        second=word,
        weight=weights,
        start=np.asarray(starts, np.int64),
        end=np.asarray(ends, np.int64),
        name=digits | ~opens & (weights > CONTENT) & np.asarray(capital, np.bool_),
        sense=np.asarray([numbered[each] for each in meant], np.int64),
        borne=np.zeros_like(word, np.bool_),
    )


@lru_cache(maxsize=1 << 17)
def _key(written: str) -> str:
    if written[0].isdigit():
        return stem(written.translate(_BETWEEN_DIGITS))
    if len(written) > 1 and written[0] in _HAN:
        return next((f"{each.value:.15g}" for each in numbers(written)), written)
    # `one` is an article as much as a count.
    value = SPELLED.get(written.lower(), 1)
    return stem(written) if value == 1 else str(value)
