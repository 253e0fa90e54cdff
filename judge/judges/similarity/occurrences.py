"""Where the terms and meanings of a vocabulary stand in texts."""

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Final

import numpy as np
import numpy.typing as npt

from judge.checks.denials import denied, negations
from judge.checks.sequence import Token, sequence
from judge.checks.values import days, figures
from judge.judges.similarity.senses import Sense, english_senses, han_senses
from judge.judges.similarity.terms import DENIAL, GAP
from judge.judges.similarity.vocabulary import Vocabulary, other_key
from judge.text.words import Words, words

Ints = npt.NDArray[np.int64]

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
