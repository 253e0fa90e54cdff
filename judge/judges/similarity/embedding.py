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
    grams: list[tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]] = []
    counts: list[int] = []
    for text in texts:
        found = stems(text)
        grams += map(_vector, found)
        counts.append(len(found))
    if not grams:
        return np.zeros((len(texts), _WIDTH), np.float32)
    sizes = np.fromiter((len(places) for places, _ in grams), np.int64, len(grams))
    row = np.repeat(np.repeat(np.arange(len(texts)), counts), sizes)
    place = np.concatenate([places for places, _ in grams])
    value = np.concatenate([values for _, values in grams])
    sums = np.bincount(row * _WIDTH + place, value, len(texts) * _WIDTH).reshape(-1, _WIDTH)
    norms = np.linalg.norm(sums, axis=1, keepdims=True)
    return (sums / np.where(norms > 0, norms, 1.0)).astype(np.float32)


@lru_cache(maxsize=1 << 15)
def _vector(stem: str) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    framed = f"<{stem}>"
    parts = [framed[i : i + n] for n in _GRAMS for i in range(len(framed) - n + 1)]
    hashes = np.fromiter(
        (zlib.crc32(part.encode()) for part in (framed, *parts)), np.int64, len(parts) + 1
    )
    values = np.where(hashes & _SIGN, 1.0, -1.0) * weight(stem)
    values[1:] /= np.sqrt(len(hashes))
    return hashes % _WIDTH, values
