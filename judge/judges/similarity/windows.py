"""Windows of chunks: cheap units of evidence, and the terms that stand in them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

import numpy as np
import numpy.typing as npt

from judge.judges.similarity.occurrences import occurrences
from judge.judges.similarity.vocabulary import Vocabulary

RUN: Final = 3
"""A window is a run of one to so many segments."""

LONGEST: Final = 400
"""Characters; a sentence beyond that is cut, at a space or comma where there is one."""

# A run of dots is tried from its first dot only, and nothing else repeats over it: linear.
_END: Final = re.compile(
    r"""
      [。！？；…!?]+ ["'”’」』）)\]】]*
    | (?<=[^\W_][^\W_]) \.+ ["'”’)\]]* (?= \s+["'“‘(\[]?[A-Z0-9\u3400-\u9fff] | [A-Z][a-z] )
    | (?<=[)\]"'”’%]) \.+ ["'”’)\]]* (?= \s | [A-Z] )
    | \n+
    """,
    re.VERBOSE,
)
_SOFT: Final = (" ", "，", "、", ",")


def segments(text: str) -> list[tuple[int, int]]:
    """Cut a chunk into segments: offsets into the text as given, no blanks at either end.

    In order, without overlap, and together they hold every character that is not white space.

    >>> segments("It rained. 下雨了。我没带伞。")
    [(0, 10), (11, 15), (15, 20)]
    """
    found: list[tuple[int, int]] = []
    start = 0
    for end in [*(match.end() for match in _END.finditer(text)), len(text)]:
        while end - start > LONGEST:
            middle = _soft_cut(text, start)
            _keep(found, text, start, middle)
            start = middle
        _keep(found, text, start, end)
        start = end
    return found


def _soft_cut(text: str, start: int) -> int:
    low, high = start + LONGEST // 2, start + LONGEST
    near = max(text.rfind(mark, low, high) for mark in _SOFT)
    return near + 1 if near >= 0 else high


def _keep(found: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    piece = text[start:end]
    lead = len(piece) - len(piece.lstrip())
    if lead < len(piece):
        found.append((start + lead, start + len(piece.rstrip())))


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
