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

from judge.judges.similarity.laid import Laid
from judge.judges.similarity.search import Held, search
from judge.judges.similarity.terms import Kind, Term
from judge.judges.similarity.vocabulary import Vocabulary
from judge.judges.similarity.windows import RUN, Passages

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
    "denied",
)
"""What is measured of each item: a word that says something or contrasts, a number, a denial.

`out`: it does not stand in the best window, `gone`: in no chunk of the column; times the weight,
or for names, numbers and the last third of a sentence alone. `denied`: the window says otherwise.
`one` is 0, and so is all else, for what does not count in a column.
"""

SENTENCE_FEATURES: Final = ("pairs", "skips", "cosine")
"""What is measured of each sentence.

The shares of its pairs and skips that stand in the best window, and the cosine to the nearest
segment, each to the fourth power: only what stands there nearly word by word is safe.
"""

# The rows there are to train on hold too few other words to weigh them: D43.
_CREDIT: Final = 0.8
# In choosing a window, beside 1 for all words as they stand in the sentence.
_SAID_WORTH: Final = 0.9
_PAIR_WORTH: Final = 0.5
# Of a sentence of one telling word.
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
    """Whether a number or a word that says something stands in the best window, shape
    (sentences, columns)."""


@dataclass(frozen=True, slots=True)
class Alignment:
    """Sentences against chunks. Columns: all chunks, the cited ones, then every chunk alone."""

    laid: Laid
    passages: Passages
    postings: Ints
    """Of the passages, term · windows + window of each, ascending."""
    windows: Ints
    """The best window, -1 where none shares a word, shape (sentences, chunks + 2)."""
    held: Held
    """Whether a row's term stands in the column's chunks."""
    meant: Held
    """Whether its meaning does, in whatever word."""
    cosine: Floats
    """To the nearest segment, shape (sentences, chunks + 2)."""

    def missing(self) -> tuple[tuple[Term, ...], ...]:
        """For each sentence, its words and numbers that stand in no chunk."""
        return self.laid.without(self.held.anywhere | self.meant.anywhere)

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
        denied |= found & self._flipped(columns)
        shares = [laid.sums(laid.shares(kind)[:, None] * found) for kind in (Kind.PAIR, Kind.SKIP)]
        skipless = laid.sums((laid.kind == Kind.SKIP).astype(np.float64)) == 0
        shares[1][skipless] = _NO_SKIP
        rows = np.flatnonzero(laid.item)
        held, meant = self.held.within(columns)[rows], self.meant.within(columns)[rows]
        quiet = laid.quiet[rows, None]
        return Measured(
            terms=_terms(
                laid,
                rows,
                out=~(found[rows] | quiet) * (1 - _CREDIT * other[rows]),
                gone=~(held | quiet) * (1 - _CREDIT * meant),
                denied=denied[rows],
            ),
            owner=laid.owner[rows],
            sentences=np.stack([*shares, self.cosine[:, columns]], axis=2) ** _STEEP,
            grounded=laid.sums((laid.telling[:, None] & (found | other)).astype(np.float64)) > 0,
        )

    def _flipped(self, columns: slice) -> Bools:
        """Whether a word is denied on one side and said on the other."""
        laid = self.laid
        theirs = self._inside(laid.flip, columns) & ~self._inside(laid.affirmed, columns)
        own = laid.denied[:, None]
        words = (laid.telling & (laid.kind == Kind.WORD))[:, None]
        flipped: Bools = words & np.where(own, ~self._inside(laid.flip, columns), theirs)
        return flipped

    def _inside(self, number: Ints, columns: slice) -> Bools:
        """Whether what a row's number stands for is in its sentence's best window, per column."""
        mine = self.windows[self.laid.owner, columns]
        if not len(self.passages.term):
            return np.zeros(mine.shape, np.bool_)
        asked = number[:, None] * len(self.passages.legal) + mine
        at = np.minimum(np.searchsorted(self.postings, asked), len(self.postings) - 1)
        inside: Bools = (self.postings[at] == asked) & (mine >= 0) & (number >= 0)[:, None]
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
    word = laid.shares(Kind.WORD)
    value = word + _PAIR_WORTH * laid.shares(Kind.PAIR)
    worth, own, said = search(laid, passages, value, _SAID_WORTH * word)
    alone, top = _best(worth, passages)
    return Alignment(
        laid=laid,
        passages=passages,
        postings=passages.term * len(passages.legal) + passages.window,
        windows=np.column_stack(
            [_pick(alone, top), _pick(alone, np.where(cited, top, -np.inf)), alone]
        ),
        held=Held.of(own, laid.owner, cited),
        meant=Held.of(said, laid.owner, cited),
        cosine=np.column_stack([cosine.max(1), np.where(cited, cosine, 0.0).max(1), cosine]),
    )


def _best(worth: Floats, passages: Passages) -> tuple[Ints, Floats]:
    """The best window of each chunk for each sentence and what it is worth, -1 and -∞ for none."""
    cost = np.tile(np.arange(RUN) * _LONGER, len(passages.legal) // RUN)
    cost[~passages.legal] = np.inf
    worth = worth - cost
    many, chunks = len(worth), len(passages.first) - 1
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


def _terms(laid: Laid, rows: Ints, out: Floats, gone: Floats, denied: Bools) -> Floats:
    weight, name = laid.weight[rows, None], laid.name[rows, None]
    number, late = (laid.kind[rows] == Kind.NUMBER)[:, None], laid.late[rows, None]
    changed = number & denied
    # A word of grammar counts only where it is denied.
    every = (~laid.quiet[rows, None] | denied).astype(np.float64)
    columns = {
        "one": every,
        "weight": weight * every,
        "out": out,
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
        "denied": (denied & ~number).astype(np.float64),
    }
    return np.stack([columns[name] for name in TERM_FEATURES], axis=2)
