"""Where the terms of laid sentences stand in passages, all of them at once."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from judge.judges.similarity.laid import Laid
from judge.judges.similarity.windows import RUN, Passages

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

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
