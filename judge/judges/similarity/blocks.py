"""Sentences measured against the chunks of a request, some at a time."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from judge.judges.similarity.alignment import Alignment, align
from judge.judges.similarity.terms import terms
from judge.judges.similarity.vocabulary import Vocabulary
from judge.judges.similarity.windows import Passages, locate
from judge.protocols import Embedder
from judge.records import JudgeRequest, Unscored
from judge.text.words import blank_markup

_BLOCK: Final = 64
_CELLS: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Block:
    """Some sentences of an answer, measured."""

    indexes: tuple[int, ...]
    """Which, by their index in the answer."""
    passages: Passages
    """The chunks, cut and searched once for all blocks of a request."""
    alignment: Alignment
    """What of each sentence stands where, one row a sentence."""


async def aligned(
    request: JudgeRequest, indexes: Sequence[int], embedder: Embedder
) -> AsyncIterator[Block | Unscored]:
    """Measure sentences against the chunks, of which there is at least one.

    Args:
        request: the answer, its citations and the chunks.
        indexes: the sentences, by their index in the answer.
        embedder: gives the cosine to the nearest segment.

    Yields:
        The next sentences, at most 64; or the embedder's failure, and then nothing more. Between
        two blocks the event loop has its turn.
    """
    texts = [chunk.text for chunk in request.chunks]
    claimed = {index: request.claim(index) for index in indexes}
    broken = {index: terms(claim) for index, claim in claimed.items()}
    vocabulary = Vocabulary.of(broken.values())
    passages = locate(texts, vocabulary)
    rows = await embedder.embed(_segments(texts, passages), request.deadline)
    if isinstance(rows, Unscored):
        yield rows
        return
    step = max(1, min(_BLOCK, _CELLS // max(len(rows), 1)))
    for low in range(0, len(indexes), step):
        block = tuple(indexes[low : low + step])
        own = await embedder.embed([blank_markup(claimed[i]) for i in block], request.deadline)
        if isinstance(own, Unscored):
            yield own
            return
        cosine = _nearest(own, rows, passages.first)
        these = [broken[index] for index in block]
        alignment = align(these, vocabulary, passages, cosine, _cited(request, block))
        yield Block(block, passages, alignment)
        await asyncio.sleep(0)


def _segments(texts: Sequence[str], passages: Passages) -> list[str]:
    places = (passages.chunk_of.tolist(), passages.starts.tolist(), passages.ends.tolist())
    return [texts[chunk][start:end] for chunk, start, end in zip(*places, strict=True)]


def _cited(request: JudgeRequest, block: Sequence[int]) -> npt.NDArray[np.bool_]:
    """Which chunks each sentence cites, shape (sentences, chunks)."""
    cited = np.zeros((len(block), len(request.chunks)), np.bool_)
    for row, index in enumerate(block):
        cited[row, list(request.cites.get(index, ()))] = True
    return cited


def _nearest(
    own: npt.NDArray[np.float32], rows: npt.NDArray[np.float32], first: npt.NDArray[np.int64]
) -> npt.NDArray[np.float64]:
    """Cosine to the nearest segment of each chunk, 0 at least, shape (sentences, chunks)."""
    nearest = np.zeros((len(own), len(first) - 1))
    filled = np.flatnonzero(np.diff(first))
    if len(filled):
        cosines = (own @ rows.T).astype(np.float64)
        nearest[:, filled] = np.maximum.reduceat(cosines, first[filled], axis=1)
    return np.maximum(nearest, 0.0)
