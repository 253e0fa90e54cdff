"""What of a sentence stands where in the passages it is judged against: terms against windows."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from judge.judges.similarity.index import RUN, Passages
from judge.judges.similarity.model import Bools, Floats, Ints
from judge.judges.similarity.terms import Kind, Terms

TERM_FEATURES: Final = (
    "one", "out_weight", "gone", "gone_weight", "name_out", "name_gone", "gone_late", "denied",
)  # fmt: skip
"""What is measured of each item: a word or number that says something, or a word that contrasts.

`out`: it does not stand in the best window, `gone`: in no chunk of the column; times the weight,
or for numbers and names, and for the last third of a sentence, alone. `denied`: the window has a
word that excludes it. `one` is 0, and so is all else, for what does not count in a column.
"""

SENTENCE_FEATURES: Final = ("pairs", "skips", "cosine")
"""What is measured of each sentence.

The shares of its pairs and skips that stand in the best window, and the cosine to the nearest
segment, each to the fourth power: only what stands there nearly word by word is safe.
"""

LATE: Final = 2 / 3
"""An item with at least this share of its sentence's items before it stands late."""
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
_WHICH: Final = 3
"""A row is found for its term (0), for its meaning (1), or for what excludes that (2)."""
_OWN, _MEANING, _RIVAL = range(_WHICH)


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
    """Whether a word that says something stands in the best window, shape (sentences, columns)."""


@dataclass(frozen=True, slots=True)
class Alignment:
    """Sentences against chunks. Columns: all chunks, the cited ones, then every chunk alone."""

    said: Terms
    passages: Passages
    windows: Ints
    """The best window, -1 where none shares a word, shape (sentences, columns)."""
    sentences: Floats
    """Their features, shape (sentences, columns, len(SENTENCE_FEATURES))."""
    items: Ints
    """Their rows."""
    held: Ints
    """Where something stands in the chunks of a column: (column · 3 + which) · items + item.

    Which: an item's term (0), its meaning (1) or what excludes it (2). Ascending, some twice.
    """
    inside: Ints
    """The same, where it stands in the best window of a column."""
    missing: Bools
    """Which rows stand in no chunk, nor their meanings."""
    scattered: Bools
    """Which do not stand in the best window of all chunks, nor their meanings."""

    def measured(self, columns: slice) -> Measured:
        """The features against some of the columns."""
        said, items = self.said, self.items
        found, other, against = self._among(self.inside, columns)
        held, meant, _ = self._among(self.held, columns)
        other = other & ~found
        denied = against & ~found & ~other
        telling, borne = said.telling[items, None], said.borne[items, None]
        out = ~(found | borne | ~telling) * (1 - _CREDIT * other)
        gone = ~(held | borne | ~telling) * (1 - _CREDIT * meant)
        weight, name = said.weight[items, None], said.name[items, None]
        values = {
            # A word of grammar counts only where it is denied.
            "one": telling | denied,
            "out_weight": out * weight,
            "gone": gone,
            "gone_weight": gone * weight,
            "name_out": name * out,
            "name_gone": name * gone,
            "gone_late": _late(said.owner[items], said.start[items])[:, None] * gone,
            "denied": denied,
        }
        grounded = np.zeros(self.windows[:, columns].shape, np.bool_)
        at, column = np.nonzero(telling & (found | other))
        grounded[said.owner[items[at]], column] = True
        return Measured(
            terms=np.stack([values[feature] for feature in TERM_FEATURES], axis=2),
            owner=said.owner[items],
            sentences=self.sentences[:, columns],
            grounded=grounded,
        )

    def _among(self, codes: Ints, columns: slice) -> Bools:
        """Whether something stands there, of shape (3, items, columns)."""
        low, high, _ = columns.indices(self.windows.shape[1])
        size = _WHICH * len(self.items)
        part = slice(*np.searchsorted(codes, [low * size, high * size]).tolist())
        among = np.zeros((high - low) * size, np.bool_)
        among[codes[part] - low * size] = True
        return among.reshape(high - low, _WHICH, len(self.items)).transpose(1, 2, 0)


def _late(owner: Ints, start: Ints) -> Bools:
    """Whether an item is one of the last of its sentence, in reading order."""
    late = np.zeros(len(owner), np.bool_)
    before = np.arange(len(owner)) - np.searchsorted(owner, owner)
    late[np.lexsort((start, owner))] = before >= LATE * np.bincount(owner)[owner]
    return late


def align(said: Terms, passages: Passages, cosine: Floats, cited: Bools) -> Alignment:
    """Find what of each sentence stands where, in passages where it was looked up.

    `cosine` is that of each sentence to the nearest segment of each chunk, of which there is one at
    least, and `cited` which chunks it cites; both of shape (sentences, chunks).
    """
    (many, chunks), rows, stride = cited.shape, len(said.owner), len(passages.legal)
    own = np.where(said.kind == np.arange(len(Kind))[:, None], said.weight, 0.0)
    whole = np.add.reduceat(own, np.flatnonzero(np.diff(said.owner, prepend=-1)), axis=1)
    share = own / np.where(whole > 0, whole, 1.0)[:, said.owner]
    gains = np.zeros((_WHICH, rows))
    gains[_OWN] = share[Kind.WORD] + _PAIR_WORTH * share[Kind.PAIR]
    gains[_MEANING] = _SAID_WORTH * share[Kind.WORD]
    readings = said.readings()
    hit, window = passages.hits(readings.ravel())
    owner, gain = np.tile(said.owner, _WHICH)[hit], gains.ravel()[hit]
    chunk = passages.chunk_of[window]
    # A word that stands there itself is not counted again for its meaning.
    meant = slice(*np.searchsorted(hit, [rows, 2 * rows]).tolist())
    gain[meant] *= ~passages.has(said.number[hit[meant] - rows], window[meant])
    worth = np.bincount(owner * stride + window, gain, many * stride).astype(np.float64)
    alone, top = _best(worth.reshape(many, stride), passages)
    top_cited = np.where(cited, top, -np.inf)
    windows = np.column_stack([_pick(alone, top), _pick(alone, top_cited), alone])
    items = np.flatnonzero(said.items)
    # Which, and which item: what an item's hits are known by.
    slot = np.full(_WHICH * rows, -1)
    slot.reshape(_WHICH, -1)[:, items] = np.arange(_WHICH * len(items)).reshape(_WHICH, -1)
    held = np.flatnonzero(slot[hit] >= 0)
    held = held[np.flatnonzero(np.diff(hit[held] * chunks + chunk[held], prepend=-1))]
    inside = np.flatnonzero(alone.ravel()[owner * chunks + chunk] == window)
    citing = cited[owner[held], chunk[held]]
    best = (windows[owner[inside], :2] == window[inside, None]).T

    def codes(hits: Ints, column: Ints) -> Ints:
        which = slot[hits]
        return np.sort((column * _WHICH * len(items) + which)[which >= 0])

    there, column = _columns(hit[inside], chunk[inside], *best)
    row = there[there < rows]
    cell = (said.kind[row] * many + said.owner[row]) * windows.shape[1] + column[there < rows]
    # Counts of nothing are whole numbers.
    shares = np.bincount(cell, share.sum(0)[row], len(Kind) * windows.size).astype(np.float64)
    shares = shares.reshape(len(Kind), *windows.shape)
    shares[Kind.SKIP][whole[Kind.SKIP] == 0] = _NO_SKIP
    cosines = np.column_stack([cosine.max(1), np.where(cited, cosine, 0.0).max(1), cosine])
    scattered = np.ones(rows, np.bool_)
    scattered[there[(column == 0) & (there < _RIVAL * rows)] % rows] = False
    return Alignment(
        said=said,
        passages=passages,
        windows=windows,
        sentences=np.stack([shares[Kind.PAIR], shares[Kind.SKIP], cosines], axis=2) ** _STEEP,
        items=items,
        held=codes(*_columns(hit[held], chunk[held], np.ones_like(citing), citing)),
        inside=codes(there, column),
        missing=(passages.counts[readings[[_OWN, _MEANING]]] == 0).all(0) & ~said.borne,
        scattered=scattered & ~said.borne,
    )


def _columns(hits: Ints, chunk: Ints, whole: Bools, cited: Bools) -> tuple[Ints, Ints]:
    """Hits for all chunks, for the cited ones and for each alone, and the column of each."""
    parts = hits[whole], hits[cited]
    column = np.repeat([0, 1], list(map(len, parts)))
    return np.concatenate([*parts, hits]), np.concatenate([column, chunk + len(parts)])


def _best(worth: Floats, passages: Passages) -> tuple[Ints, Floats]:
    """The best window of each chunk for each sentence and what it is worth, -1 and -∞ for none."""
    many, windows = worth.shape
    best = np.full((many, len(passages.first) - 1), -1, np.int64)
    top = np.full(best.shape, -np.inf)
    filled = np.flatnonzero(np.diff(passages.first))
    if len(filled):
        edges = passages.first[filled] * RUN
        cost = np.tile(np.arange(RUN) * _LONGER, windows // RUN)
        worth = worth - np.where(passages.legal, cost, np.inf)
        top[:, filled] = np.maximum.reduceat(worth, edges, axis=1)
        place = np.where(worth == top[:, passages.chunk_of], np.arange(windows), windows)
        best[:, filled] = np.minimum.reduceat(place, edges, axis=1)
        best[top <= 0] = -1
    return best, top


def _pick(best: Ints, worth: Floats) -> Ints:
    rows = np.arange(len(best))
    chunk = worth.argmax(1)
    return np.where(worth[rows, chunk] > 0, best[rows, chunk], -1)
