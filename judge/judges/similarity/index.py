"""What some sentences say, looked up in passages all at once."""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Final, TypeVar

import numpy as np
import numpy.typing as npt

from judge.checks.denials import denied, negations
from judge.checks.sequence import Token, sequence
from judge.checks.values import NUMBER, days, figures
from judge.judges.similarity.senses import Sense, english_senses, han_senses
from judge.judges.similarity.terms import DENIAL, GAP, Kind, Term
from judge.text.pieces import segments
from judge.text.words import Words, words

Ints = npt.NDArray[np.int64]

_Numbers = TypeVar("_Numbers", int, Ints)

SAID: Final = "@"
"""What the key of a meaning begins with, said in whatever word."""
RIVAL: Final = "≠"
"""What the key of everything that excludes a meaning begins with."""


def other_key(counts: str) -> str:
    """The key of any number that counts the same."""
    return f"{RIVAL}{NUMBER}{counts}"


@dataclass(frozen=True, slots=True)
class Skips:
    """Skips by the numbers of their two words."""

    first: Ints
    """The word that comes first, shape (skips,)."""
    second: Ints
    """The other."""
    number: Ints
    """The skip's own number."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Terms and meanings, numbered from 0."""

    number: Mapping[str, int]
    """Key → number, of every term and of the meanings (`SAID`, `RIVAL`)."""
    skips: Skips
    """Which of them are skips."""
    meanings: Mapping[str, Sense]
    """The senses of the words among them, by concept."""
    counts: bool
    """Whether it holds a number."""

    def denied(self, word: _Numbers) -> _Numbers:
        """The number of a word where a negation denies it."""
        return word + len(self.number)

    def affirmed(self, word: _Numbers) -> _Numbers:
        """The number of a word where none does, in a text that denies it elsewhere."""
        return word + 2 * len(self.number)

    def posted(self, found: Sense) -> tuple[int, ...]:
        """What a word of a passage is evidence of: the meanings it implies, those it excludes."""
        posts = []
        for concept, sense in self.meanings.items():
            if concept in found.implies:
                posts.append(self.number[SAID + concept])
            elif sense.excludes & found.implies:
                posts.append(self.number[RIVAL + concept])
        return tuple(posts)

    @classmethod
    def of(cls, sentences: Iterable[Sequence[Term]]) -> "Vocabulary":
        """Number what the sentences say."""
        number: dict[str, int] = {}
        meanings: dict[str, Sense] = {}
        skips: dict[str, Term] = {}
        for term in (term for sentence in sentences for term in sentence):
            number.setdefault(term.key, len(number))
            if term.kind is Kind.SKIP:
                skips[term.key] = term
            if term.sense is not None:
                meanings[term.sense.concept] = term.sense
            if term.counts:
                number.setdefault(other_key(term.counts), len(number))
        for concept in meanings:
            for sign in (SAID, RIVAL):
                number.setdefault(sign + concept, len(number))
        # The words of a skip are terms of the same sentence, so they have numbers.
        words = [key.split("…") for key in skips]
        first, second = ([number[pair[side]] for pair in words] for side in (0, 1))
        return cls(
            number=number,
            skips=Skips(
                np.asarray(first, np.int64),
                np.asarray(second, np.int64),
                np.asarray([number[key] for key in skips], np.int64),
            ),
            meanings=meanings,
            counts=any(key.startswith(NUMBER) for key in number),
        )


AHEAD: Final = 8
"""The second word of a skip stands at most so many words behind the first …"""
BACK: Final = 3
"""… or so many before it: `the fall of prices`, `prices fell`."""


def occurrences(texts: Sequence[str], vocabulary: Vocabulary, begins: Ints) -> tuple[Ints, Ints]:
    """Find what a vocabulary holds in the segments of some texts.

    Args:
        texts: any.
        vocabulary: what is looked for.
        begins: where the segments begin, ascending, in the texts joined by one character.

    Returns:
        Numbers of what was found, and the segment of each; a find may come more than once.
    """
    scan = _Scan(vocabulary)
    bases = accumulate((len(text) + 1 for text in texts), initial=0)
    for text, base in zip(texts, bases, strict=False):
        scan.read(text, base)
    segment = np.searchsorted(begins, np.asarray(scan.places, np.int64), "right") - 1
    ids = np.asarray(scan.ids, np.int64)
    worded = np.asarray(scan.orders, np.int64)
    near, where = _skips(ids[worded >= 0], segment[worded >= 0], worded[worded >= 0], vocabulary)
    return np.concatenate([ids, near]), np.concatenate([segment, where])


@dataclass(slots=True)
class _Scan:
    """What was found so far: the same place in three lists."""

    vocabulary: Vocabulary
    ids: list[int] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    orders: list[int] = field(default_factory=list)
    """Of a word or number, how many of the texts stand before it; -1 of all else."""
    tokens_read: int = 0
    posted: dict[str, tuple[int, ...]] = field(default_factory=dict)

    def read(self, text: str, base: int) -> None:
        said = words(text)
        numbers = figures(text, said)
        if self.vocabulary.counts:
            for value in (*numbers, *days(text)):
                self._keep(value.key, base + value.start)
                if value.certain:
                    self._keep(other_key(value.counts), base + value.start)
        tokens = sequence(said, numbers)
        self._tokens(tokens, base)
        denials = negations(text, tokens)
        for at in denials:
            self._keep(DENIAL, base + tokens[at].start)
        self._denied(tokens, denied(tokens, denials), base)
        if self.vocabulary.meanings:
            self._meanings(text, said, base)

    def _keep(self, key: str, place: int) -> None:
        number = self.vocabulary.number.get(key)
        if number is not None:
            self._post(number, place)

    def _post(self, number: int, place: int) -> None:
        self.ids.append(number)
        self.places.append(place)
        self.orders.append(-1)

    def _tokens(self, tokens: Sequence[Token], base: int) -> None:
        get: Callable[[str], int | None] = self.vocabulary.number.get
        before, end_before = "", 0
        for order, (key, start, end, _) in enumerate(tokens, self.tokens_read):
            number = get(key)
            if number is None:
                before = ""
                continue
            self.ids.append(number)
            self.places.append(base + start)
            self.orders.append(order)
            if before and start - end_before <= GAP:
                self._keep(f"{before} {key}", base + start)
            before, end_before = key, end
        self.tokens_read += len(tokens)

    def _denied(self, tokens: Sequence[Token], under: Container[int], base: int) -> None:
        """Where the words stand that the text denies somewhere, and how."""
        reached = {token.key for at, token in enumerate(tokens) if at in under}
        for at, (key, start, _, _) in enumerate(tokens) if reached else ():
            word = self.vocabulary.number.get(key) if key in reached else None
            if word is not None:
                side = self.vocabulary.denied if at in under else self.vocabulary.affirmed
                self._post(side(word), base + start)

    def _meanings(self, text: str, found: Words, base: int) -> None:
        for sense, low, _ in english_senses(found.stems):
            self._mean(sense, base + found.starts[low])
        for sense, start, _ in han_senses(text):
            self._mean(sense, base + start)

    def _mean(self, sense: Sense, place: int) -> None:
        if sense.concept not in self.posted:
            self.posted[sense.concept] = self.vocabulary.posted(sense)
        for number in self.posted[sense.concept]:
            self._post(number, place)


def _skips(ids: Ints, segment: Ints, order: Ints, vocabulary: Vocabulary) -> tuple[Ints, Ints]:
    """The skips of a vocabulary among words in reading order, and their segments."""
    wanted = vocabulary.skips
    if not len(wanted.number):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    stride = len(vocabulary.number)
    codes = wanted.first * stride + wanted.second
    rank = np.argsort(codes)
    codes, number = codes[rank], wanted.number[rank]
    kept = np.isin(ids, np.concatenate([wanted.first, wanted.second]))
    ids, segment, order = ids[kept], segment[kept], order[kept]
    found, where = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for step in range(1, min(AHEAD, len(ids) - 1) + 1):
        apart = order[step:] - order[:-step]
        together = segment[step:] == segment[:-step]
        for reach, one, other in (
            (AHEAD, ids[:-step], ids[step:]),
            (BACK, ids[step:], ids[:-step]),
        ):
            asked = (one * stride + other)[together & (apart <= reach)]
            at = np.minimum(np.searchsorted(codes, asked), len(codes) - 1)
            hit = codes[at] == asked
            found.append(number[at[hit]])
            where.append(segment[step:][together & (apart <= reach)][hit])
    return np.concatenate(found), np.concatenate(where)


RUN: Final = 3
"""A window is a run of one to so many segments."""


@dataclass(frozen=True, slots=True)
class Passages:
    """Where the wanted terms stand in the chunks. Window `3 i + n - 1` is the n segments from i."""

    chunk_of: npt.NDArray[np.int64]
    """For each segment its chunk, shape (segments,)."""
    starts: npt.NDArray[np.int64]
    """For each segment its first character, into its chunk."""
    ends: npt.NDArray[np.int64]
    """One past its last."""
    first: npt.NDArray[np.int64]
    """For each chunk its first segment, and the number of segments: shape (chunks + 1,)."""
    legal: npt.NDArray[np.bool_]
    """Whether a window stays within one chunk, shape (3 · segments,)."""
    term: npt.NDArray[np.int64]
    """Postings, sorted: what the vocabulary numbers …"""
    window: npt.NDArray[np.int64]
    """… and a window that holds it."""

    def span(self, window: int) -> tuple[int, int, int]:
        """The chunk of a window, and its first character and one past its last, into the chunk."""
        segment, more = divmod(window, RUN)
        return (
            int(self.chunk_of[segment]),
            int(self.starts[segment]),
            int(self.ends[segment + more]),
        )


def locate(chunks: Sequence[str], vocabulary: Vocabulary) -> Passages:
    """Cut the chunks into segments and find what a vocabulary holds in them.

    Time and space are linear in the characters of the chunks.
    """
    bases = list(accumulate((len(text) + 1 for text in chunks), initial=0))
    cut = [segments(text) for text in chunks]
    first = np.asarray([0, *accumulate(map(len, cut))], np.int64)
    edges = np.asarray([edge for part in cut for edge in part], np.int64).reshape(-1, 2)
    chunk_of = np.repeat(np.arange(len(chunks)), np.diff(first))
    ahead = np.arange(len(edges))[:, None] + np.arange(RUN)
    legal = (ahead < first[chunk_of + 1][:, None]).ravel()
    begins = edges[:, 0] + np.asarray(bases, np.int64)[chunk_of]
    ids, segment = occurrences(chunks, vocabulary, begins)
    windows = [(segment - back) * RUN + n for n in range(RUN) for back in range(n + 1)]
    window = np.concatenate(windows)
    # A window that starts before the chunk is one that runs over its end from the chunk before.
    fits = window >= 0
    fits[fits] = legal[window[fits]]
    stride = max(len(legal), 1)
    key = np.unique(np.tile(ids, len(windows))[fits] * stride + window[fits])
    return Passages(
        chunk_of, edges[:, 0], edges[:, 1], first, legal, term=key // stride, window=key % stride
    )
