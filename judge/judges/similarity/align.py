"""What of a sentence stands where in the passages it is judged against.

A sentence is broken into terms, the chunks into windows; what is left is counting. Nothing here
knows a language: a Chinese character is a word, two neighbours are a pair.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Final

import numpy as np
import numpy.typing as npt

from judge.judges.similarity.index import RIVAL, RUN, SAID, Passages, Vocabulary, other_key
from judge.judges.similarity.terms import Kind, Term
from judge.text.words import CONTENT

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


LATE: Final = 2 / 3
"""An item with at least this share of its sentence's items before it stands late."""
_NOTHING: Final = Term("", Kind.WORD, 0.0, name=False, start=0, end=0)


@dataclass(frozen=True, slots=True)
class Laid:
    """All terms of all sentences, one row a term; each sentence has at least one row."""

    rows: tuple[Term, ...]
    owner: Ints
    """For each row its sentence."""
    first: Ints
    """For each sentence its first row."""
    number: Ints
    """What the vocabulary calls the term, -1 for an unknown one; all below of shape (rows,)."""
    said: Ints
    """What it calls the word's meaning, -1 without one."""
    rival: Ints
    """What it calls all that excludes the meaning, or any number that counts the same."""
    flip: Ints
    """What it calls the word where it is denied."""
    affirmed: Ints
    """What it calls the word where it is not, in a text that denies it elsewhere."""
    denied: Bools
    """Whether the sentence denies the word."""
    kind: Ints
    weight: Floats
    name: Bools
    telling: Bools
    """Whether it says something of its own: a number, or a word of some weight."""
    item: Bools
    """Whether it bears on support: it says something, denies, or contrasts."""
    quiet: Bools
    """Whether it is an item only for what it excludes, such as `all` or `before`."""
    late: Bools
    """Whether it is an item near the end of its sentence."""

    @classmethod
    def lay(cls, sentences: Sequence[Sequence[Term]], vocabulary: Vocabulary) -> "Laid":
        """Lay the terms of some sentences."""
        # Every sentence gets a row, for `reduceat` cannot sum over none.
        padded = [each or (_NOTHING,) for each in sentences]
        sizes = [len(each) for each in padded]
        rows = tuple(term for each in padded for term in each)
        get = vocabulary.number.get
        meant = [term.sense.concept if term.sense else "" for term in rows]
        other = [
            other_key(term.counts) if term.counts else RIVAL + concept
            for term, concept in zip(rows, meant, strict=True)
        ]
        first = np.asarray([0, *accumulate(sizes[:-1])], np.int64)
        owner = np.repeat(np.arange(len(padded)), sizes)
        kind = np.asarray([term.kind for term in rows], np.int64)
        weight = np.asarray([term.weight for term in rows], np.float64)
        contrasts = np.asarray([bool(term.sense and term.sense.excludes) for term in rows])
        quiet = (kind == Kind.WORD) & (weight <= CONTENT) & contrasts
        telling = (kind == Kind.NUMBER) | ((kind == Kind.WORD) & (weight > CONTENT))
        item = telling | quiet | (kind == Kind.NEGATION)
        number = np.asarray([get(term.key, -1) for term in rows], np.int64)
        start = np.asarray([term.start for term in rows], np.int64)
        return cls(
            rows=rows,
            owner=owner,
            first=first,
            number=number,
            said=np.asarray([get(SAID + concept, -1) for concept in meant], np.int64),
            rival=np.asarray([get(key, -1) for key in other], np.int64),
            flip=np.where(number < 0, -1, vocabulary.denied(number)),
            affirmed=np.where(number < 0, -1, vocabulary.affirmed(number)),
            denied=np.asarray([term.denied for term in rows], np.bool_),
            kind=kind,
            weight=weight,
            name=np.asarray([term.name for term in rows], np.bool_),
            telling=telling,
            item=item,
            quiet=quiet,
            late=_late(owner, start, item),
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

    def without(self, present: Bools) -> tuple[tuple[Term, ...], ...]:
        """Per sentence, the words and numbers that are not present."""
        lost: list[list[Term]] = [[] for _ in self.first]
        plain = (self.kind == Kind.WORD) | (self.kind == Kind.NUMBER)
        for row in np.flatnonzero(plain & ~present).tolist():
            if self.rows[row] is not _NOTHING:
                lost[self.owner[row]].append(self.rows[row])
        return tuple(map(tuple, lost))


def _late(owner: Ints, start: Ints, item: Bools) -> Bools:
    """Whether a row is one of the last items of its sentence, in reading order."""
    rows = np.flatnonzero(item)
    ordered = rows[np.lexsort((start[rows], owner[rows]))]
    many = np.bincount(owner[rows], minlength=int(owner[-1]) + 1)
    before = np.arange(len(ordered)) - (np.cumsum(many) - many)[owner[ordered]]
    late = np.zeros(len(owner), np.bool_)
    late[ordered] = before >= LATE * many[owner[ordered]]
    return late


_HITS: Final = 1_000_000
"""Hits looked at together; where passages repeat themselves, a term has very many."""


@dataclass(frozen=True, slots=True)
class Held:
    """What rows have in chunks. Columns: all chunks, the cited ones, then every chunk alone."""

    anywhere: Bools
    """Whether a row's own stands in any chunk, shape (rows,)."""
    cited: Bools
    """Whether it stands in a chunk that its sentence cites, same shape."""
    row: Ints
    """Each row …"""
    chunk: Ints
    """… and a chunk that holds its own."""
    columns: int
    """How many there are: chunks + 2."""

    @classmethod
    def of(cls, codes: Ints, owner: Ints, cited: Bools) -> "Held":
        """From row · chunks + chunk of what was found, `cited` of shape (sentences, chunks)."""
        row, chunk = np.divmod(codes, cited.shape[1])
        anywhere, near = np.zeros((2, len(owner)), np.bool_)
        anywhere[row] = True
        near[row[cited[owner[row], chunk]]] = True
        return cls(anywhere, near, row, chunk, cited.shape[1] + 2)

    def within(self, columns: slice) -> Bools:
        """Some columns, shape (rows, columns)."""
        low, stop, _ = columns.indices(self.columns)
        held = np.zeros((len(self.anywhere), max(stop - low, 0)), np.bool_)
        inside = (self.chunk + 2 >= low) & (self.chunk + 2 < stop)
        held[self.row[inside], self.chunk[inside] + 2 - low] = True
        for column, own in enumerate((self.anywhere, self.cited)):
            if low <= column < stop:
                held[:, column - low] = own
        return held


def search(
    laid: Laid, passages: Passages, value: Floats, other: Floats
) -> tuple[Floats, Ints, Ints]:
    """Look up every row in the windows.

    Args:
        laid: the terms of some sentences.
        passages: the chunks.
        value: what a row is worth where its term is found, shape (rows,).
        other: where its meaning is found in another word, same shape.

    Returns:
        What each window is worth to each sentence, shape (sentences, windows); and of the terms
        and of the meanings row · chunks + chunk of all that was found, ascending.
    """
    windows, chunks = len(passages.legal), len(passages.first) - 1
    worth = np.zeros(len(laid.first) * windows)
    held, meant = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for low, high in _runs(_counts(laid.number, passages) + _counts(laid.said, passages)):
        part = slice(low, high)
        own, said = _hits(laid.number[part], passages), _hits(laid.said[part], passages)
        codes = own[0] * windows + own[1]
        only = ~np.isin(said[0] * windows + said[1], codes, assume_unique=True)
        for (row, window), gain, kept in ((own, value, slice(None)), (said, other, only)):
            place = laid.owner[part][row[kept]] * windows + window[kept]
            np.add.at(worth, place, gain[part][row[kept]])
        for (row, window), found in ((own, held), (said, meant)):
            found.append(np.unique((row + low) * chunks + passages.chunk_of[window // RUN]))
    return (
        worth.reshape(len(laid.first), windows),
        np.concatenate(held),
        np.concatenate(meant),
    )


def _runs(count: Ints) -> Iterator[tuple[int, int]]:
    """Rows in runs of so few hits that their arrays stay small."""
    low, total = 0, 0
    for row, own in enumerate(count.tolist()):
        if total and total + own > _HITS:
            yield low, row
            low, total = row, 0
        total += own
    yield low, len(count)


def _counts(number: Ints, passages: Passages) -> Ints:
    """Of how many windows each number stands in."""
    low = np.searchsorted(passages.term, number, "left")
    many: Ints = np.searchsorted(passages.term, number, "right") - low
    return many


def _hits(number: Ints, passages: Passages) -> tuple[Ints, Ints]:
    """Every (row, window that holds what its number stands for), ascending."""
    low, count = np.searchsorted(passages.term, number, "left"), _counts(number, passages)
    hit = np.repeat(np.arange(len(number)), count)
    within = np.arange(len(hit)) - np.repeat(np.cumsum(count) - count, count)
    return hit, passages.window[np.repeat(low, count) + within]


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
