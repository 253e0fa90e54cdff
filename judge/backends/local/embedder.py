"""Texts as vectors, by sentence-transformers."""

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

import numpy as np
import numpy.typing as npt

from judge.backends.local.network import sound
from judge.backends.local.weights import load, quiet, run
from judge.records import Unscored
from judge.text.tokens import broken

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

Encode = Callable[[Sequence[str]], npt.NDArray[np.float32]]
"""Rows of unit length, one a text."""

_TEXTS: Final = 256
"""In a batch."""


class SentenceEmbedder:
    """Embeds texts; one longer than the model takes, often 256 or 512 tokens, by its beginning."""

    def __init__(self, signature: str, encode: Encode, width: int, worker: Executor) -> None:
        self.signature: Final = f"embedding:{signature}"
        """`embedding:NAME@HASH` of the model's files."""
        self._encode = encode
        self._width = width
        self._worker = worker

    @classmethod
    async def opened(cls, name: str, worker: Executor) -> Self:
        """Load a model, as `load` does; the worker, of one thread, outlives the embedder."""
        setting = f"--embedding-model {f'local:{name}'!r}"
        signature, (encode, width) = await load(name, setting, _load_encoder, worker)
        return cls(signature, encode, width, worker)

    async def embed(
        self,
        texts: Sequence[str],
        deadline: float | None = None,  # noqa: ARG002 (no server is waited for)
    ) -> npt.NDArray[np.float32] | Unscored:
        """Rows of unit length (all zero for a blank text), shape (len(texts), d)."""
        rows = np.zeros((len(texts), self._width), np.float32)
        filled = [index for index, text in enumerate(texts) if text.strip()]
        for low in range(0, len(filled), _TEXTS):
            some = filled[low : low + _TEXTS]
            made = await run(self._worker, self._encode, [broken(texts[index]) for index in some])
            if isinstance(made, Unscored):
                return made
            rows[some] = made
        return rows


def _load_encoder(folder: Path) -> tuple[Encode, int]:
    with quiet():
        from sentence_transformers import SentenceTransformer  # noqa: PLC0415  a part of the extra

        model = SentenceTransformer(str(folder), local_files_only=True, trust_remote_code=False)
    return partial(_encoded, model), len(_encoded(model, ["word"])[0])


def _encoded(model: "SentenceTransformer", texts: Sequence[str]) -> npt.NDArray[np.float32]:
    rows = model.encode(sound(texts), normalize_embeddings=True, show_progress_bar=False)
    return np.asarray(rows, np.float32)
