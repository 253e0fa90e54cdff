"""What of a sentence stands where in the passages it is judged against: terms against windows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, pairwise
from typing import Final

import numpy as np

from judge.judges.similarity.index import RIVAL, RUN, SAID, Passages, Vocabulary, changes
from judge.judges.similarity.model import Bools, Floats, Ints
from judge.judges.similarity.terms import Kind, Term
from judge.text.words import CONTENT

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
# Hits looked at together; where passages repeat themselves, a term has very many.
_HITS: Final = 1_000_000
_NOTHING: Final = Term("", Kind.WORD, 0.0, 0, 0)


@dataclass(frozen=True, slots=True)
class Rows:
    """The terms of several sentences end to end, one a row; each sentence has at least one."""

    terms: tuple[Term, ...]
    owner: Ints
    """For each row its sentence."""
    first: Ints
    """For each sentence its first row."""
    number: Ints
    """What the vocabulary calls the term, -1 for an unknown one; all below of shape (rows,)."""
    said: Ints
    """What it calls the word's meaning, -1 without one."""
    rival: Ints
    """What it calls all that excludes the meaning."""
    kind: Ints
    weight: Floats
    name: Bools
    telling: Bools
    """Whether it says something of its own: a word or number of some weight."""
    quiet: Bools
    """Whether it is an item only for what it excludes, such as `all` or `before`."""
    late: Bools
    """Whether it is an item near the end of its sentence."""

    @classmethod
    def of(cls, sentences: Sequence[Sequence[Term]], vocabulary: Vocabulary) -> "Rows":
        """Lay the terms of some sentences end to end."""
        # Every sentence gets a row, for `reduceat` cannot sum over none.
        padded = [each or (_NOTHING,) for each in sentences]
        sizes = [len(each) for each in padded]
        terms = tuple(chain.from_iterable(padded))
        keys, kinds, weights, starts, _, names, senses = zip(*terms, strict=True)
        get = vocabulary.number.get
        said, rival = np.full((2, len(terms)), -1, np.int64)
        contrasts = np.zeros(len(terms), np.bool_)
        for row, sense in enumerate(senses):
            if sense is not None:
                said[row] = get(SAID + sense.concept, -1)
                rival[row] = get(RIVAL + sense.concept, -1)
                contrasts[row] = bool(sense.excludes)
        owner = np.repeat(np.arange(len(padded)), sizes)
        kind, weight = np.asarray(kinds, np.int64), np.asarray(weights, np.float64)
        telling = (kind == Kind.WORD) & (weight > CONTENT)
        quiet = (kind == Kind.WORD) & contrasts & ~telling
        return cls(
            terms=terms,
            owner=owner,
            first=np.asarray([0, *accumulate(sizes[:-1])], np.int64),
            number=np.asarray([get(key, -1) for key in keys], np.int64),
            said=said,
            rival=rival,
            kind=kind,
            weight=weight,
            name=np.asarray(names, np.bool_),
            telling=telling,
            quiet=quiet,
            late=_late(owner, np.asarray(starts, np.int64), telling | quiet),
        )

    def sums(self, values: Floats) -> Floats:
        """Totals per sentence, along the first axis."""
        totals: Floats = np.add.reduceat(values, self.first, axis=0)
        return totals

    def shares(self, kind: Kind) -> Floats:
        """The weights of a kind, as shares of their sentence's."""
        own: Floats = self.weight * (self.kind == kind)
        whole = self.sums(own)
        return own / np.where(whole > 0, whole, 1.0)[self.owner]

    def without(self, present: Bools) -> list[list[Term]]:
        """Per sentence, the words that are not present."""
        lost: list[list[Term]] = [[] for _ in self.first]
        for row in np.flatnonzero((self.kind == Kind.WORD) & ~present).tolist():
            if self.terms[row] is not _NOTHING:
                lost[self.owner[row]].append(self.terms[row])
        return lost


def _late(owner: Ints, start: Ints, item: Bools) -> Bools:
    """Whether a row is one of the last items of its sentence, in reading order."""
    rows = np.flatnonzero(item)
    ordered = rows[np.lexsort((start[rows], owner[rows]))]
    many = np.bincount(owner[rows], minlength=int(owner[-1]) + 1)
    before = np.arange(len(ordered)) - (np.cumsum(many) - many)[owner[ordered]]
    late = np.zeros(len(owner), np.bool_)
    late[ordered] = before >= LATE * many[owner[ordered]]
    return late


def _search(
    rows: Rows, passages: Passages, value: Floats, other: Floats
) -> tuple[Floats, Ints, Ints]:
    """What each window is worth to each sentence, and row · chunks + chunk of all that was found.

    A row is worth `value` where its term is found, `other` where its meaning is in another word.
    Found are terms, and then meanings, both ascending.
    """
    windows, chunks = len(passages.legal), len(passages.first) - 1
    worth = np.zeros(len(rows.first) * windows)
    held, meant = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    count = _counts(rows.number, passages)[1] + _counts(rows.said, passages)[1]
    for low, high in _runs(count):
        part = slice(low, high)
        own, said = _hits(rows.number[part], passages), _hits(rows.said[part], passages)
        only = ~passages.has(rows.number[part][said[0]] * windows + said[1])
        for (row, window), gain, kept in ((own, value, slice(None)), (said, other, only)):
            place = rows.owner[part][row[kept]] * windows + window[kept]
            worth += np.bincount(place, gain[part][row[kept]], len(worth))
        for (row, window), found in ((own, held), (said, meant)):
            found.append(changes((row + low) * chunks + passages.chunk_of[window // RUN]))
    shape = len(rows.first), windows
    return worth.reshape(shape), np.concatenate(held), np.concatenate(meant)


def _runs(count: Ints) -> Iterator[tuple[int, int]]:
    """Rows in runs of so few hits that their arrays stay small."""
    low, total = 0, 0
    for row, own in enumerate(count.tolist()):
        if total and total + own > _HITS:
            yield low, row
            low, total = row, 0
        total += own
    yield low, len(count)


def _counts(number: Ints, passages: Passages) -> tuple[Ints, Ints]:
    """For each number its first posting, and how many it has."""
    low = np.searchsorted(passages.term, number, "left")
    return low, np.searchsorted(passages.term, number, "right") - low


def _hits(number: Ints, passages: Passages) -> tuple[Ints, Ints]:
    """Every (row, window that holds what its number stands for), ascending."""
    low, count = _counts(number, passages)
    hit = np.repeat(np.arange(len(number)), count)
    within = np.arange(len(hit)) + np.repeat(low - np.cumsum(count) + count, count)
    return hit, passages.window[within]


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

    rows: Rows
    passages: Passages
    windows: Ints
    """The best window, -1 where none shares a word, shape (sentences, chunks + 2)."""
    held: Ints
    """row · columns + column wherever a row's term stands in the column's chunks."""
    meant: Ints
    """The same where its meaning does, in whatever word."""
    cosine: Floats
    """To the nearest segment, shape (sentences, chunks + 2)."""

    def lost(self) -> tuple[list[list[Term]], list[list[Term]]]:
        """For each sentence, its words that stand in no chunk, and those not in its best window."""
        whole, rows = slice(1), self.rows
        found = self._among(self.held, whole) | self._among(self.meant, whole)
        inside = self._inside(rows.number, whole) | self._inside(rows.said, whole)
        return rows.without(found[:, 0]), rows.without(inside[:, 0])

    def measured(self, columns: slice) -> Measured:
        """The features against some of the columns."""
        rows = self.rows
        found = self._inside(rows.number, columns)
        other = self._inside(rows.said, columns) & ~found
        denied = self._inside(rows.rival, columns) & ~found & ~other
        shares = [rows.sums(rows.shares(kind)[:, None] * found) for kind in (Kind.PAIR, Kind.SKIP)]
        skipless = rows.sums((rows.kind == Kind.SKIP).astype(np.float64)) == 0
        shares[1][skipless] = _NO_SKIP
        items = np.flatnonzero(rows.telling | rows.quiet)
        quiet = rows.quiet[items, None]
        held, meant = (self._among(own, columns)[items] for own in (self.held, self.meant))
        out = ~(found[items] | quiet) * (1 - _CREDIT * other[items])
        gone = ~(held | quiet) * (1 - _CREDIT * meant)
        weight, name, late = (each[items, None] for each in (rows.weight, rows.name, rows.late))
        values = {
            # A word of grammar counts only where it is denied.
            "one": ~quiet | denied[items],
            "out_weight": out * weight,
            "gone": gone,
            "gone_weight": gone * weight,
            "name_out": name * out,
            "name_gone": name * gone,
            "gone_late": late * gone,
            "denied": denied[items],
        }
        return Measured(
            terms=np.stack([values[feature] for feature in TERM_FEATURES], axis=2),
            owner=rows.owner[items],
            sentences=np.stack([*shares, self.cosine[:, columns]], axis=2) ** _STEEP,
            grounded=rows.sums((rows.telling[:, None] & (found | other)).astype(np.float64)) > 0,
        )

    def _among(self, codes: Ints, columns: slice) -> Bools:
        """Whether row · all columns + column is one of the codes, per row and column."""
        row, column = np.divmod(codes, self.windows.shape[1])
        low, stop, _ = columns.indices(self.windows.shape[1])
        among = np.zeros((len(self.rows.terms), max(stop - low, 0)), np.bool_)
        asked = (column >= low) & (column < stop)
        among[row[asked], column[asked] - low] = True
        return among

    def _inside(self, number: Ints, columns: slice) -> Bools:
        """Whether what a row's number stands for is in its sentence's best window, per column."""
        inside = np.zeros((len(number), len(range(*columns.indices(self.windows.shape[1])))), bool)
        rows = np.flatnonzero(number >= 0)
        mine = self.windows[self.rows.owner[rows], columns]
        asked = number[rows, None] * len(self.passages.legal) + mine
        inside[rows] = self.passages.has(asked) & (mine >= 0)
        return inside


def align(
    sentences: Sequence[Sequence[Term]],
    vocabulary: Vocabulary,
    passages: Passages,
    cosine: Floats,
    cited: Bools,
) -> Alignment:
    """Find what of each sentence stands where, in passages located with the vocabulary.

    `cosine` is that of each sentence to the nearest segment of each chunk, of which there is one at
    least, and `cited` which chunks it cites; both of shape (sentences, chunks).
    """
    rows = Rows.of(sentences, vocabulary)
    word = rows.shares(Kind.WORD)
    value = word + _PAIR_WORTH * rows.shares(Kind.PAIR)
    worth, own, said = _search(rows, passages, value, _SAID_WORTH * word)
    alone, top = _best(worth, passages)
    return Alignment(
        rows=rows,
        passages=passages,
        windows=np.column_stack(
            [_pick(alone, top), _pick(alone, np.where(cited, top, -np.inf)), alone]
        ),
        held=_columns(own, rows.owner, cited),
        meant=_columns(said, rows.owner, cited),
        cosine=np.column_stack([cosine.max(1), np.where(cited, cosine, 0.0).max(1), cosine]),
    )


def _columns(codes: Ints, owner: Ints, cited: Bools) -> Ints:
    """From row · chunks + chunk to row · columns + column."""
    row, chunk = np.divmod(codes, cited.shape[1])
    start = row * (cited.shape[1] + 2)
    return np.concatenate([start, start[cited[owner[row], chunk]] + 1, start + chunk + 2])


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
