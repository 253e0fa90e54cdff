"""What some sentences say, looked up in passages all at once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, repeat
from typing import Final, NamedTuple

import numpy as np

from judge.judges.similarity.model import Bools, Ints, runs
from judge.judges.similarity.terms import GAP, Terms, tokens
from judge.text.pieces import segments
from judge.text.senses import Sense, senses

AHEAD: Final = 8
"""The second word of a skip stands at most so many words behind the first …"""
BACK: Final = 3
"""… or so many before it: `the fall of prices`, `prices fell`."""
RUN: Final = 3
"""A window is a run of one to so many segments."""
_DENSE: Final = 64
_KEPT: Final = 4_096
"""Characters of a chunk at most that is kept as it was read, for other answers may have it too."""


@dataclass(frozen=True, slots=True)
class Passages:
    """Where the wanted terms stand in the chunks. Window `3 i + n - 1` is the n segments from i."""

    chunk_of: Ints
    """For each window its chunk, shape (3 · segments,)."""
    edges: Ints
    """For each segment its first character and one past its last, into its chunk: (segments, 2)."""
    first: Ints
    """For each chunk its first segment, and the number of segments: shape (chunks + 1,)."""
    legal: Bools
    """Whether a window stays within its chunk, shape (3 · segments,)."""
    postings: Ints
    """number · windows + window: a term or meaning, and a window that holds it; ascending."""
    window: Ints
    """The windows of these alone."""
    at: Ints
    """For each number its first posting, and the number of postings, twice: the last has none."""

    @property
    def counts(self) -> Ints:
        """For each number how many windows hold it."""
        return np.diff(self.at)

    def span(self, window: int) -> tuple[int, int, int]:
        """The chunk of a window, and its first character and one past its last, into the chunk."""
        at, more = divmod(window, RUN)
        return int(self.chunk_of[window]), int(self.edges[at, 0]), int(self.edges[at + more, 1])

    def hits(self, number: Ints) -> tuple[Ints, Ints]:
        """Every (row, window that holds what its number stands for), ascending."""
        low = self.at[number]
        count = self.at[number + 1] - low
        return np.repeat(np.arange(len(number)), count), self.window[runs(low, count)]

    def has(self, number: Ints, window: Ints) -> Bools:
        """Whether windows hold what some numbers stand for."""
        return _found(number * len(self.legal) + window, self.postings)[0]


def locate(chunks: Sequence[str], said: Terms) -> Passages:
    """Cut the chunks into segments and find what is said in them.

    Time and space are linear in the characters of the chunks.
    """
    read = [_read(text) if len(text) <= _KEPT else _read.__wrapped__(text) for text in chunks]
    first = np.cumsum([0, *(len(text.edges) for text in read)])
    number, segment = _occurrences(read, first, said)
    chunk_of = np.repeat(np.arange(len(read)), np.diff(first))
    more = np.arange(RUN)
    legal = (np.arange(len(chunk_of))[:, None] + more < first[chunk_of + 1][:, None]).ravel()
    # A window that starts before the chunk is one that runs over its end from the chunk before.
    back = np.concatenate([n - RUN * more[: n + 1] for n in more])[:, None]
    window = segment * RUN + back
    fits = np.concatenate([np.zeros(RUN * RUN, np.bool_), legal])[window + RUN * RUN]
    stride = max(len(legal), 1)
    known = said.known + 2 * len(said.meanings)
    postings = _distinct((number * stride + window)[fits], known * stride)
    at = np.searchsorted(postings, np.arange(known + 1) * stride)
    return Passages(
        chunk_of=np.repeat(chunk_of, RUN),
        edges=np.concatenate([np.zeros((0, 2), np.int64), *(text.edges for text in read)]),
        first=first,
        legal=legal,
        postings=postings,
        window=postings - np.repeat(np.arange(known) * stride, np.diff(at)),
        at=np.append(at, at[-1]),
    )


class _Text(NamedTuple):
    """A chunk by itself."""

    edges: Ints
    """Of its segments, shape (segments, 2)."""
    stems: Sequence[str]
    segment: Ints
    """For each word its segment."""
    near: Bools
    """Whether it makes a pair with the next one."""
    senses: Sequence[tuple[Sense, int]]
    """What words mean, and the segment of the first one."""


@lru_cache(maxsize=1 << 10)
def _read(text: str) -> _Text:
    edges = np.asarray(segments(text), np.int64).reshape(-1, 2)
    said = tokens(text)
    starts, ends = np.asarray(said.starts, np.int64), np.asarray(said.ends, np.int64)
    meant = senses(text, said)
    places = [*starts, *(places[0] for _, places in meant)]
    segment = np.searchsorted(edges[:, 0], places, "right") - 1
    near = np.append(starts[1:] - ends[:-1] <= GAP, [False] * len(starts[:1]))
    within = segment[len(starts) :].tolist()
    own = [(sense, at) for (sense, _), at in zip(meant, within, strict=True)]
    return _Text(edges, said.stems, segment[: len(starts)], near, own)


def _distinct(values: Ints, size: int) -> Ints:
    """The values, all under a size, in ascending order, each once."""
    if size > _DENSE * len(values):
        return np.unique(values)
    # Where they lie this close, a table is ten times as fast as a sort.
    there = np.zeros(size, np.bool_)
    there[values] = True
    return np.flatnonzero(there)


def _found(codes: Ints, known: Ints) -> tuple[Bools, Ints]:
    """Which codes are known, and the place of each among those known, which ascend from 0."""
    place = np.searchsorted(known, codes)
    return np.append(known, -1)[place] == codes, place


def _occurrences(read: Sequence[_Text], first: Ints, said: Terms) -> tuple[Ints, Ints]:
    """Numbers of what was found in texts, and the segment of each; some come more than once."""
    many, pairs = len(said.words), len(said.pairs)
    none, bases = np.zeros(0, np.int64), first.tolist()
    keys = chain.from_iterable(text.stems for text in read)
    word = np.fromiter(map(said.words.get, keys, repeat(-1)), np.int64)
    segment = np.concatenate([none, *map(np.add, (text.segment for text in read), bases)])
    near = np.concatenate([none, *(text.near for text in read)]) > 0
    order = np.flatnonzero(word >= 0)
    joint = order[:-1][near[order[:-1]] & (np.diff(order) == 1)]
    paired, pair = _found(word[joint] * many + word[joint + 1], said.pairs)
    wanted = np.zeros(many, np.bool_)
    wanted[np.concatenate(np.divmod(said.skips, max(many, 1)))] = True
    one, two = _neighbours(order[wanted[word[order]]], segment)
    skipped, skip = _found(word[one] * many + word[two], said.skips)
    found = {sense.concept: sense for text in read for sense, _ in text.senses}
    posted = _posted(said, found if said.meanings else {})
    meant = [
        each
        for text, base in zip(read, bases, strict=False)
        for sense, at in text.senses
        for number in posted.get(sense.concept, ())
        for each in (number, base + at)
    ]
    meaning, there = np.asarray(meant, np.int64).reshape(-1, 2).T
    return (
        np.concatenate([word[order], many + pair[paired], many + pairs + skip[skipped], meaning]),
        np.concatenate([segment[order], segment[joint[paired] + 1], segment[one[skipped]], there]),
    )


def _neighbours(word: Ints, segment: Ints) -> tuple[Ints, Ints]:
    """The first and the second word of whatever may be a skip, of words by their places."""
    # Words of different segments are more than `AHEAD` apart.
    place = word + AHEAD * segment[word]
    near = np.append(place, np.full(AHEAD, place[-1:].sum() + AHEAD + 1))
    apart = near[np.arange(len(place))[:, None] + np.arange(1, AHEAD + 1)] - place[:, None]
    at, step = np.nonzero(apart <= AHEAD)
    to = at + step + 1
    back = apart[at, step] <= BACK
    return word[np.concatenate([at, to[back]])], word[np.concatenate([to, at[back]])]


def _posted(said: Terms, found: Mapping[str, Sense]) -> dict[str, list[int]]:
    """What words of a passage are evidence of: the meanings they imply, and those they exclude."""
    number = {concept: at for at, concept in enumerate(said.meanings, said.known)}
    rivals: dict[str, set[str]] = {}
    for concept, sense in said.meanings.items():
        for other in sense.excludes:
            rivals.setdefault(other, set()).add(concept)
    posted = {}
    for concept, sense in found.items():
        own = number.keys() & sense.implies
        against = {each for other in sense.implies for each in rivals.get(other, ())} - own
        if own or against:
            said_by = [number[each] for each in own]
            posted[concept] = [*said_by, *(len(number) + number[each] for each in against)]
    return posted
