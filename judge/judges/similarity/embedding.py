"""The built-in embedder: words and character n-grams, hashed. No model, no download, no network."""

import asyncio
import zlib
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt

from judge.text.words import stems, weight

_WIDTH: Final = 512
_GRAMS: Final = (3, 4)
_BATCH: Final = 1024
_SIGN: Final = 1 << 31


class LexicalEmbedder:
    """Embeds a text as the sum of its words' vectors, each weighted by how much the word tells.

    A word's vector is the word itself plus its character 3- and 4-grams, hashed with a sign
    (Weinberger et al. 2009, "Feature hashing for large scale multitask learning"), so that
    `inventor` and `invention` are near. A CJK character is a word without n-grams. The same text
    has the same vector in every process.
    """

    @property
    def signature(self) -> str:
        """Bumped with every change that moves a vector, one of the word weights too."""
        return "lexical-v1"

    async def embed(
        self,
        texts: Sequence[str],
        deadline: float | None = None,  # noqa: ARG002 (no server is waited for)
    ) -> npt.NDArray[np.float32]:
        """Rows of unit length, zero for a text without words, shape (len(texts), 512)."""
        rows = np.zeros((len(texts), _WIDTH), np.float32)
        for low in range(0, len(texts), _BATCH):
            batch = texts[low : low + _BATCH]
            rows[low : low + len(batch)] = _embed(batch)
            if low:
                await asyncio.sleep(0)
        return rows


def _embed(texts: Sequence[str]) -> npt.NDArray[np.float32]:
    found = [stems(text) for text in texts]
    rows = np.zeros((len(texts), _WIDTH), np.float32)
    place: dict[str, int] = {}
    which = [place.setdefault(stem, len(place)) for each in found for stem in each]
    if not which:
        return rows
    # A word is a column: numbers that are added lie side by side, which halves the time.
    vectors = np.stack([_vector(stem) for stem in place]).T.copy()
    sizes = np.asarray([len(each) for each in found], np.int64)
    filled = np.flatnonzero(sizes)
    first = np.cumsum(sizes) - sizes
    sums = np.add.reduceat(np.take(vectors, which, axis=1), first[filled], axis=1).T.copy()
    norms = np.linalg.norm(sums, axis=1, keepdims=True)
    rows[filled] = sums / np.where(norms > 0, norms, 1.0)
    return rows


@lru_cache(maxsize=1 << 13)
def _vector(stem: str) -> npt.NDArray[np.float32]:
    framed = f"<{stem}>"
    parts = [framed[i : i + n] for n in _GRAMS for i in range(len(framed) - n + 1)]
    hashes = np.fromiter(
        (zlib.crc32(part.encode()) for part in (framed, *parts)), np.int64, len(parts) + 1
    )
    values = np.where(hashes & _SIGN, 1.0, -1.0) * weight(stem)
    values[1:] /= np.sqrt(len(hashes))
    vector: npt.NDArray[np.float32] = np.bincount(hashes % _WIDTH, values, _WIDTH).astype(
        np.float32
    )
    return vector
