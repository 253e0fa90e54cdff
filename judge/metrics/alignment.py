"""How much of a sentence stands in the passages it is judged against: words, numbers, names.

A sentence is broken into terms, the chunks into windows; what is left is counting. Nothing here
knows a language: a Chinese character is a word, two neighbours are a pair.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Final

import numpy as np
import numpy.typing as npt

from judge.text.terms import CONTENT, Kind, Term
from judge.text.windows import RUN, Passages

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

FEATURES: Final = (
    "cover_best",
    "pairs_best",
    "pairs_all",
    "missing_share",
    "missing_rarest",
    "numbers_changed",
    "numbers_changed_best",
    "names_missing_best",
    "names_missing_share",
    "names_none",
    "negation",
    "length",
    "cosine",
)
"""What `align` measures, in the order of its last axis.

`best` is in the best window, `all` in any chunk of the column; `cover` and `pairs` are shares of
the sentence's weight, `cover_best` squared; `missing_share` is a share of its content words,
`missing_rarest` the weight of the rarest absent word; `numbers_changed` is the cover by the best
window where a number is absent, for then the rest matters the more, else 0; `names` and `length`
are ln(1 + weight or count); `negation` is 1 for a denial that the best window does not make.
"""

_PAIR_SHARE: Final = 0.5
# A longer window never holds less: it has to earn its length.
_LONGER: Final = 0.02
_CELLS: Final = 4_000_000
_NOTHING: Final = Term("", Kind.WORD, 0.0, name=False, start=0, end=0)


@dataclass(frozen=True, slots=True)
class Alignment:
    """Sentences against chunks. Columns: all chunks, the cited ones, then every chunk alone."""

    features: Floats
    """Shape (sentences, chunks + 2, len(FEATURES))."""
    windows: Ints
    """The best window, -1 where none shares a word, shape (sentences, chunks + 2)."""
    grounded: Bools
    """Whether a number, or a word that says something, stands in that window; same shape."""
    missing: tuple[tuple[Term, ...], ...]
    """For each sentence, its words and numbers that stand in no chunk."""
    scattered: tuple[tuple[Term, ...], ...]
    """For each sentence, its words and numbers that do not stand in the best window of all."""


@dataclass(frozen=True, slots=True)
class _Terms:
    """The terms of all sentences end to end."""

    rows: tuple[Term, ...]
    owner: Ints
    first: Ints
    number: Ints
    kind: Ints
    weight: Floats
    name: Bools

    @classmethod
    def lay(cls, sentences: Sequence[Sequence[Term]], vocabulary: Mapping[str, int]) -> "_Terms":
        # Every sentence gets a row, for `reduceat` cannot sum over none.
        padded = [each or (_NOTHING,) for each in sentences]
        sizes = [len(each) for each in padded]
        rows = tuple(term for each in padded for term in each)
        return cls(
            rows=rows,
            owner=np.repeat(np.arange(len(padded)), sizes),
            first=np.asarray([0, *accumulate(sizes[:-1])], np.int64),
            number=np.asarray([vocabulary.get(term.key, -1) for term in rows], np.int64),
            kind=np.asarray([term.kind for term in rows], np.int64),
            weight=np.asarray([term.weight for term in rows], np.float64),
            name=np.asarray([term.name for term in rows], np.bool_),
        )

    def weights(self, kind: Kind) -> Floats:
        own: Floats = self.weight * (self.kind == kind)
        return own

    def shares(self, kind: Kind) -> Floats:
        """The weights of a kind, as shares of their sentence's."""
        own = self.weights(kind)
        whole = self.sums(own)
        return own / np.where(whole > 0, whole, 1.0)[self.owner]

    def sums(self, values: Floats) -> Floats:
        """Totals per sentence, along the first axis."""
        totals: Floats = np.add.reduceat(values, self.first, axis=0)
        return totals

    def says(self) -> Floats:
        """1 for each number, and for each word that says something of its own; else 0."""
        own = (self.weights(Kind.WORD) > CONTENT) | (self.kind == Kind.NUMBER)
        weight: Floats = own.astype(np.float64)
        return weight

    def absent(self, present: Bools) -> tuple[tuple[Term, ...], ...]:
        """Per sentence, the words and numbers that are not present."""
        lost: list[list[Term]] = [[] for _ in self.first]
        plain = (self.kind == Kind.WORD) | (self.kind == Kind.NUMBER)
        for row in np.flatnonzero(plain & ~present).tolist():
            if self.rows[row] is not _NOTHING:
                lost[self.owner[row]].append(self.rows[row])
        return tuple(map(tuple, lost))


def align(
    sentences: Sequence[Sequence[Term]],
    vocabulary: Mapping[str, int],
    passages: Passages,
    cosine: Floats,
    cited: Bools,
) -> Alignment:
    """Count what of each sentence stands where.

    Args:
        sentences: their terms.
        vocabulary: key → number, the one the passages were located with.
        passages: at least one chunk.
        cosine: of each sentence to the nearest segment of each chunk, shape (sentences, chunks).
        cited: which chunks each sentence cites, same shape.
    """
    laid = _Terms.lay(sentences, vocabulary)
    hit, window = _hits(laid, passages)
    alone, worth = _best(laid, hit, window, passages)
    best = np.column_stack(
        [_pick(alone, worth), _pick(alone, np.where(cited, worth, -np.inf)), alone]
    )
    nearest = np.column_stack([cosine.max(1), np.where(cited, cosine, 0.0).max(1), cosine])
    held = np.zeros((len(laid.rows), cosine.shape[1]), np.bool_)
    held[hit, passages.chunk_of[window // RUN]] = True
    present = np.column_stack([held.any(1), (held & cited[laid.owner]).any(1), held])
    step = max(1, _CELLS // len(laid.rows))
    parts, grounds = [], []
    for low in range(0, best.shape[1], step):
        part = slice(low, low + step)
        inside = _inside(laid, passages, best[:, part])
        parts.append(_features(laid, present[:, part], inside, nearest[:, part]))
        grounds.append(laid.sums(laid.says()[:, None] * inside) > 0)
    return Alignment(
        features=np.concatenate(parts, axis=1),
        windows=best,
        grounded=np.concatenate(grounds, axis=1),
        missing=laid.absent(present[:, 0]),
        scattered=laid.absent(_inside(laid, passages, best[:, :1])[:, 0]),
    )


def _hits(laid: _Terms, passages: Passages) -> tuple[Ints, Ints]:
    """Every (row, window that holds its term)."""
    low = np.searchsorted(passages.term, laid.number, "left")
    count = np.searchsorted(passages.term, laid.number, "right") - low
    hit = np.repeat(np.arange(len(laid.rows)), count)
    within = np.arange(len(hit)) - np.repeat(np.cumsum(count) - count, count)
    return hit, passages.window[np.repeat(low, count) + within]


def _best(laid: _Terms, hit: Ints, window: Ints, passages: Passages) -> tuple[Ints, Floats]:
    """The best window of each chunk for each sentence and what it is worth, -1 and -∞ for none."""
    many, windows = len(laid.first), len(passages.legal)
    word, pair = laid.shares(Kind.WORD), laid.shares(Kind.PAIR)
    value = word + _PAIR_SHARE * pair
    flat = np.bincount(laid.owner[hit] * windows + window, value[hit], many * windows)
    cost = np.tile(np.arange(RUN) * _LONGER, windows // RUN)
    cost[~passages.legal] = np.inf
    worth = flat.reshape(many, windows) - cost
    chunks = len(passages.first) - 1
    best = np.full((many, chunks), -1, np.int64)
    top = np.full((many, chunks), -np.inf)
    edges = (passages.first * RUN).tolist()
    for chunk, (low, high) in enumerate(pairwise(edges)):
        if high > low:
            best[:, chunk] = worth[:, low:high].argmax(1) + low
            top[:, chunk] = worth[np.arange(many), best[:, chunk]]
    best[top <= 0] = -1
    return best, top


def _pick(best: Ints, worth: Floats) -> Ints:
    rows = np.arange(len(best))
    chunk = worth.argmax(1)
    return np.where(worth[rows, chunk] > 0, best[rows, chunk], -1)


def _inside(laid: _Terms, passages: Passages, best: Ints) -> Bools:
    """Whether a row's term stands in its sentence's best window, per column."""
    if not len(passages.term):
        return np.zeros((len(laid.rows), best.shape[1]), np.bool_)
    stride = len(passages.legal)
    postings = passages.term * stride + passages.window
    mine = best[laid.owner]
    asked = laid.number[:, None] * stride + mine
    at = np.minimum(np.searchsorted(postings, asked), len(postings) - 1)
    inside: Bools = (postings[at] == asked) & (mine >= 0) & (laid.number >= 0)[:, None]
    return inside


def _features(laid: _Terms, present: Bools, inside: Bools, cosine: Floats) -> Floats:
    total = laid.sums
    absent, outside = ~present, ~inside
    word, pair = laid.shares(Kind.WORD)[:, None], laid.shares(Kind.PAIR)[:, None]
    heavy = laid.weights(Kind.WORD)[:, None]
    content = (heavy > CONTENT).astype(np.float64)
    name = heavy * laid.name[:, None]
    number = laid.weights(Kind.NUMBER)[:, None]
    denial = laid.weights(Kind.NEGATION)[:, None]
    contents, names = total(content), total(name)
    unnamed = total(name * absent)
    cover = total(word * inside)
    every = np.ones_like(cosine)
    columns = {
        "cover_best": cover**2,
        "pairs_best": total(pair * inside),
        "pairs_all": total(pair * present),
        "missing_share": total(content * absent) / np.maximum(contents, 1.0),
        "missing_rarest": np.maximum.reduceat(heavy * absent, laid.first, axis=0),
        "numbers_changed": cover * (total(number * absent) > 0),
        "numbers_changed_best": cover * (total(number * outside) > 0),
        "names_missing_best": np.log1p(total(name * outside)),
        "names_missing_share": unnamed / np.where(names > 0, names, 1.0),
        "names_none": (names == 0) * every,
        "negation": total(denial * outside),
        "length": np.log1p(contents) * every,
        "cosine": cosine,
    }
    return np.stack([columns[name] for name in FEATURES], axis=2)
