"""What of a sentence stands where in the passages it is judged against.

A sentence is broken into terms, the chunks into windows; what is left is counting. Nothing here
knows a language: a Chinese character is a word, two neighbours are a pair.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
import numpy.typing as npt

from judge.text.laid import Laid
from judge.text.terms import Kind, Term
from judge.text.vocabulary import Vocabulary
from judge.text.windows import RUN, Passages

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

TERM_FEATURES: Final = (
    "one",
    "weight",
    "out",
    "out_weight",
    "gone",
    "gone_weight",
    "name_out",
    "name_gone",
    "number",
    "number_out",
    "number_gone",
    "number_changed",
    "gone_late",
)
"""What is measured of each item: a word that says something, a number, a denial.

`out`: it does not stand in the best window, `gone`: in no chunk of the column; times the weight,
or for names, numbers and the last third of a sentence alone.
"""

SENTENCE_FEATURES: Final = ("pairs", "skips", "cosine")
"""What is measured of each sentence.

The shares of its pairs and skips that stand in the best window, and the cosine to the nearest
segment, each to the fourth power: only what stands there nearly word by word is safe.
"""

# The rows there are to train on hold too few other words and contrasts to weigh them, so these
# are declared: another word with the meaning makes up for half of a missing one, and one that
# excludes it counts as two more missing.
_CREDIT: Final = 0.8
_DENIED: Final = 4.0
_SAID_WORTH: Final = 0.9
_PAIR_WORTH: Final = 0.5
_NO_SKIP: Final = 0.5
_STEEP: Final = 4
# A longer window never holds less: it has to earn its length.
_LONGER: Final = 0.02


@dataclass(frozen=True, slots=True)
class Measured:
    """Features of sentences against some columns."""

    terms: Floats
    """Of the items, shape (items, columns, len(TERM_FEATURES))."""
    owner: Ints
    """For each item its sentence, ascending."""
    sentences: Floats
    """Shape (sentences, columns, len(SENTENCE_FEATURES))."""
    grounded: Bools
    """Whether any item was found in the best window, shape (sentences, columns)."""


@dataclass(frozen=True, slots=True)
class Alignment:
    """Sentences against chunks. Columns: all chunks, the cited ones, then every chunk alone."""

    laid: Laid
    passages: Passages
    windows: Ints
    """The best window, -1 where none shares a word, shape (sentences, chunks + 2)."""
    held: Bools
    """Whether a row's term stands in the column's chunks, shape (rows, chunks + 2)."""
    meant: Bools
    """Whether its meaning does, in whatever word; same shape."""
    cosine: Floats
    """To the nearest segment, shape (sentences, chunks + 2)."""

    def missing(self) -> tuple[tuple[Term, ...], ...]:
        """For each sentence, its words and numbers that stand in no chunk."""
        return self.laid.without(self.held[:, 0] | self.meant[:, 0])

    def scattered(self) -> tuple[tuple[Term, ...], ...]:
        """For each sentence, its words and numbers that do not stand in the best window of all."""
        inside = self._inside(self.laid.number, slice(1)) | self._inside(self.laid.said, slice(1))
        return self.laid.without(inside[:, 0])

    def measured(self, columns: slice) -> Measured:
        """The features against some of the columns."""
        laid = self.laid
        found = self._inside(laid.number, columns)
        other = self._inside(laid.said, columns) & ~found
        denied = self._inside(laid.rival, columns) & ~found & ~other
        # "Nobody ran" is not denied by people who sit.
        negated = laid.sums((laid.kind == Kind.NEGATION).astype(np.float64)) > 0
        denied &= ~(negated[laid.owner] & (laid.kind == Kind.WORD))[:, None]
        shares = [laid.sums(laid.shares(kind)[:, None] * found) for kind in (Kind.PAIR, Kind.SKIP)]
        skipless = laid.sums((laid.kind == Kind.SKIP).astype(np.float64)) == 0
        shares[1][skipless] = _NO_SKIP
        rows = np.flatnonzero(laid.item)
        held, meant = self.held[rows, columns], self.meant[rows, columns]
        return Measured(
            terms=_terms(
                laid,
                rows,
                out=~found[rows] * (1 - _CREDIT * other[rows]),
                gone=~held * (1 - _CREDIT * meant),
                denied=denied[rows],
            ),
            owner=laid.owner[rows],
            sentences=np.stack([*shares, self.cosine[:, columns]], axis=2) ** _STEEP,
            grounded=laid.sums((laid.item[:, None] & (found | other)).astype(np.float64)) > 0,
        )

    def _inside(self, number: Ints, columns: slice) -> Bools:
        """Whether what a row's number stands for is in its sentence's best window, per column."""
        mine = self.windows[self.laid.owner, columns]
        if not len(self.passages.term):
            return np.zeros(mine.shape, np.bool_)
        stride = len(self.passages.legal)
        postings = self.passages.term * stride + self.passages.window
        asked = number[:, None] * stride + mine
        at = np.minimum(np.searchsorted(postings, asked), len(postings) - 1)
        inside: Bools = (postings[at] == asked) & (mine >= 0) & (number >= 0)[:, None]
        return inside


def align(
    sentences: Sequence[Sequence[Term]],
    vocabulary: Vocabulary,
    passages: Passages,
    cosine: Floats,
    cited: Bools,
) -> Alignment:
    """Find what of each sentence stands where.

    Args:
        sentences: their terms.
        vocabulary: the one the passages were located with.
        passages: at least one chunk.
        cosine: of each sentence to the nearest segment of each chunk, shape (sentences, chunks).
        cited: which chunks each sentence cites, same shape.
    """
    laid = Laid.lay(sentences, vocabulary)
    own, said = _hits(laid.number, passages), _hits(laid.said, passages)
    alone, worth = _best(laid, own, said, passages)
    return Alignment(
        laid=laid,
        passages=passages,
        windows=np.column_stack(
            [_pick(alone, worth), _pick(alone, np.where(cited, worth, -np.inf)), alone]
        ),
        held=_held(own, laid, passages, cited),
        meant=_held(said, laid, passages, cited),
        cosine=np.column_stack([cosine.max(1), np.where(cited, cosine, 0.0).max(1), cosine]),
    )


def _hits(number: Ints, passages: Passages) -> tuple[Ints, Ints]:
    """Every (row, window that holds what its number stands for), ascending."""
    low = np.searchsorted(passages.term, number, "left")
    count = np.searchsorted(passages.term, number, "right") - low
    hit = np.repeat(np.arange(len(number)), count)
    within = np.arange(len(hit)) - np.repeat(np.cumsum(count) - count, count)
    return hit, passages.window[np.repeat(low, count) + within]


def _best(
    laid: Laid, own: tuple[Ints, Ints], said: tuple[Ints, Ints], passages: Passages
) -> tuple[Ints, Floats]:
    """The best window of each chunk for each sentence and what it is worth, -1 and -∞ for none."""
    many, windows = len(laid.first), len(passages.legal)
    word = laid.shares(Kind.WORD)
    value = word + _PAIR_WORTH * laid.shares(Kind.PAIR)
    only = ~np.isin(said[0] * windows + said[1], own[0] * windows + own[1], assume_unique=True)
    row = np.concatenate([own[0], said[0][only]])
    window = np.concatenate([own[1], said[1][only]])
    gain = np.concatenate([value[own[0]], _SAID_WORTH * word[said[0][only]]])
    flat = np.bincount(laid.owner[row] * windows + window, gain, many * windows)
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


def _held(hits: tuple[Ints, Ints], laid: Laid, passages: Passages, cited: Bools) -> Bools:
    """Whether what was hit stands in each column's chunks, shape (rows, columns)."""
    held = np.zeros((len(laid.rows), cited.shape[1]), np.bool_)
    held[hits[0], passages.chunk_of[hits[1] // RUN]] = True
    return np.column_stack([held.any(1), (held & cited[laid.owner]).any(1), held])


def _terms(laid: Laid, rows: Ints, out: Floats, gone: Floats, denied: Bools) -> Floats:
    weight, name = laid.weight[rows, None], laid.name[rows, None]
    number, late = (laid.kind[rows] == Kind.NUMBER)[:, None], laid.late[rows, None]
    changed = number & denied
    every = np.ones_like(out)
    columns = {
        "one": every,
        "weight": weight * every,
        "out": out + _DENIED * (denied & ~number),
        "out_weight": out * weight,
        "gone": gone,
        "gone_weight": gone * weight,
        "name_out": name * out,
        "name_gone": name * gone,
        "number": number * every,
        "number_out": number * out,
        "number_gone": number * gone,
        "number_changed": changed.astype(np.float64),
        "gone_late": late * gone,
    }
    return np.stack([columns[name] for name in TERM_FEATURES], axis=2)
