"""What some sentences say, looked up in passages all at once."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from typing import Final

import numpy as np

from judge.judges.similarity.model import Bools, Ints
from judge.judges.similarity.terms import GAP, Kind, Term, tokens
from judge.text.pieces import segments
from judge.text.senses import Sense, senses

SAID: Final = "@"
"""What the key of a meaning begins with, said in whatever word."""
RIVAL: Final = "≠"
"""What the key of everything that excludes a meaning begins with."""
AHEAD: Final = 8
"""The second word of a skip stands at most so many words behind the first …"""
BACK: Final = 3
"""… or so many before it: `the fall of prices`, `prices fell`."""
RUN: Final = 3
"""A window is a run of one to so many segments."""


@dataclass(frozen=True, slots=True)
class Compounds:
    """Pairs, or skips, by the numbers of their two words."""

    codes: Ints
    """First word · terms + second word, ascending, shape (compounds,)."""
    number: Ints
    """The compound's own number, same shape."""
    words: Bools
    """Whether a term is one of their words, shape (terms,)."""

    @classmethod
    def of(cls, keys: Iterable[str], mark: str, number: Mapping[str, int]) -> "Compounds":
        """Of keys that have the mark between two words, all of them numbered."""
        many = len(number)
        rows = [(*map(number.__getitem__, key.split(mark)), number[key]) for key in keys]
        first, second, own = np.asarray(rows, np.int64).reshape(-1, 3).T
        codes = first * many + second
        rank = np.argsort(codes)
        words = np.zeros(many, np.bool_)
        words[first] = words[second] = True
        return cls(codes[rank], own[rank], words)

    def find(self, first: Ints, second: Ints) -> tuple[Ints, Ints]:
        """Where two words make a compound: the places that do, and the numbers of the compounds."""
        if not len(self.codes):
            return np.zeros((2, 0), np.int64)[0], np.zeros(0, np.int64)
        codes = first * len(self.words) + second
        at = np.minimum(np.searchsorted(self.codes, codes), len(self.codes) - 1)
        hit = np.flatnonzero(self.codes[at] == codes)
        return hit, self.number[at[hit]]


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Terms and meanings, numbered from 0."""

    number: Mapping[str, int]
    """Key → number, of every term and of the meanings (`SAID`, `RIVAL`)."""
    pairs: Compounds
    skips: Compounds
    meanings: frozenset[str]
    """The concepts of the words among them."""
    rivals: Mapping[str, Collection[str]]
    """A concept: those of the meanings that it excludes."""

    @classmethod
    def of(cls, sentences: Iterable[Sequence[Term]]) -> "Vocabulary":
        """Number what the sentences say."""
        number: dict[str, int] = {}
        meanings: dict[str, Sense] = {}
        keys: tuple[dict[str, None], ...] = tuple({} for _ in Kind)
        for sentence in sentences:
            for term in sentence:
                number.setdefault(term.key, len(number))
                keys[term.kind][term.key] = None
                if term.sense is not None:
                    meanings[term.sense.concept] = term.sense
        rivals: dict[str, set[str]] = {}
        for concept, sense in meanings.items():
            for sign in (SAID, RIVAL):
                number.setdefault(sign + concept, len(number))
            for other in sense.excludes:
                rivals.setdefault(other, set()).add(concept)
        # The words of a compound are terms of the same sentence, so they have numbers.
        pairs = Compounds.of(keys[Kind.PAIR], " ", number)
        skips = Compounds.of(keys[Kind.SKIP], "…", number)
        return cls(number, pairs, skips, frozenset(meanings), rivals)

    def posted(self, found: Sense) -> list[int]:
        """What a word of a passage is evidence of: the meanings it implies, those it excludes."""
        said = self.meanings & found.implies
        against = {each for concept in found.implies for each in self.rivals.get(concept, ())}
        keys = [*(SAID + each for each in said), *(RIVAL + each for each in against - said)]
        return [self.number[key] for key in keys]


@dataclass(frozen=True, slots=True)
class Passages:
    """Where the wanted terms stand in the chunks. Window `3 i + n - 1` is the n segments from i."""

    chunk_of: Ints
    """For each segment its chunk, shape (segments,)."""
    starts: Ints
    """For each segment its first character, into its chunk."""
    ends: Ints
    """One past its last."""
    first: Ints
    """For each chunk its first segment, and the number of segments: shape (chunks + 1,)."""
    legal: Bools
    """Whether a window stays within one chunk, shape (3 · segments,)."""
    postings: Ints
    """term · windows + window: what the vocabulary numbers, and a window that holds it; sorted."""
    term: Ints
    window: Ints

    def has(self, postings: Ints) -> Bools:
        """Which of some codes are among the postings."""
        at = np.searchsorted(self.postings, postings)
        found: Bools = np.append(self.postings, -1)[at] == postings
        return found

    def span(self, window: int) -> tuple[int, int, int]:
        """The chunk of a window, and its first character and one past its last, into the chunk."""
        at, more = divmod(window, RUN)
        return int(self.chunk_of[at]), int(self.starts[at]), int(self.ends[at + more])


def locate(chunks: Sequence[str], vocabulary: Vocabulary) -> Passages:
    """Cut the chunks into segments and find what a vocabulary holds in them.

    Time and space are linear in the characters of the chunks.
    """
    bases = np.asarray([0, *accumulate(len(text) + 1 for text in chunks)], np.int64)
    cut = [segments(text) for text in chunks]
    first = np.asarray([0, *accumulate(map(len, cut))], np.int64)
    edges = np.asarray([edge for part in cut for edge in part], np.int64).reshape(-1, 2)
    chunk_of = np.repeat(np.arange(len(chunks)), np.diff(first))
    ahead = np.arange(len(edges))[:, None] + np.arange(RUN)
    legal = (ahead < first[chunk_of + 1][:, None]).ravel()
    ids, segment = _occurrences(chunks, vocabulary, bases, edges[:, 0] + bases[chunk_of])
    windows = [(segment - back) * RUN + n for n in range(RUN) for back in range(n + 1)]
    window = np.concatenate(windows)
    # A window that starts before the chunk is one that runs over its end from the chunk before.
    fits = window >= 0
    fits[fits] = legal[window[fits]]
    stride = max(len(legal), 1)
    postings = distinct(np.tile(ids, len(windows))[fits] * stride + window[fits])
    return Passages(
        chunk_of, edges[:, 0], edges[:, 1], first, legal, postings, *np.divmod(postings, stride)
    )


def distinct(values: Ints) -> Ints:
    """The values in ascending order, each once: `np.unique`, in a third of the time."""
    ordered = np.sort(values)
    kept = np.ones(len(ordered), np.bool_)
    kept[1:] = ordered[1:] != ordered[:-1]
    return ordered[kept]


def changes(values: Ints) -> Ints:
    """The values, which ascend from 0, each once."""
    return values[np.flatnonzero(np.diff(values, prepend=-1))]


def _occurrences(
    texts: Sequence[str], vocabulary: Vocabulary, bases: Ints, begins: Ints
) -> tuple[Ints, Ints]:
    """Numbers of what was found in some texts, and the segment of each; some come more than once.

    `bases` is where the texts begin, joined by one character, `begins` where the segments do.
    """
    get = vocabulary.number.get
    read = [tokens(text) for text in texts]
    ids = np.asarray([get(key, -1) for said in read for key in said.stems], np.int64)
    base = np.repeat(bases[:-1], [len(said.stems) for said in read])
    starts = np.asarray([start for said in read for start in said.starts], np.int64) + base
    ends = np.asarray([end for said in read for end in said.ends], np.int64) + base
    order = np.flatnonzero(ids >= 0)
    ids, starts, ends = ids[order], starts[order], ends[order]
    segment = np.searchsorted(begins, starts, "right") - 1
    # Two words side by side, and of one text: the character between two texts is none of them.
    joint = np.flatnonzero(
        (np.diff(order) == 1) & (starts[1:] - ends[:-1] <= GAP) & (np.diff(base[order]) == 0)
    )
    hit, paired = vocabulary.pairs.find(ids[joint], ids[joint + 1])
    near, there = _skips(ids, segment, order, vocabulary.skips)
    posted = cache(vocabulary.posted)
    meanings = [
        (number, base + places[0])
        for text, said, base in zip(texts, read, bases.tolist(), strict=False)
        for sense, places in (senses(text, said) if vocabulary.meanings else ())
        for number in posted(sense)
    ]
    meant = np.asarray(meanings, np.int64).reshape(-1, 2)
    within = np.searchsorted(begins, meant[:, 1], "right") - 1
    return (
        np.concatenate([ids, paired, near, meant[:, 0]]),
        np.concatenate([segment, segment[joint[hit] + 1], there, within]),
    )


def _skips(ids: Ints, segment: Ints, order: Ints, wanted: Compounds) -> tuple[Ints, Ints]:
    """The skips among words in reading order, and their segments."""
    kept = wanted.words[ids]
    ids, segment, order = ids[kept], segment[kept], order[kept]
    found, where = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for step in range(1, min(AHEAD, len(ids) - 1) + 1):
        apart = order[step:] - order[:-step]
        near = np.flatnonzero((segment[step:] == segment[:-step]) & (apart <= AHEAD))
        back = near[apart[near] <= BACK]
        for places, one, other in ((near, 0, step), (back, step, 0)):
            hit, number = wanted.find(ids[places + one], ids[places + other])
            found.append(number)
            where.append(segment[places[hit]])
    return np.concatenate(found), np.concatenate(where)
