"""Windows of chunks: cheap units of evidence, and the terms that stand in them."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

import numpy as np
import numpy.typing as npt

from judge.judges.similarity.occurrences import occurrences
from judge.judges.similarity.vocabulary import Vocabulary
from judge.text.pieces import segments

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
