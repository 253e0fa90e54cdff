"""The door to sentence-transformers: embeddings of a model on this machine."""

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

import numpy as np
import numpy.typing as npt

from judge.backends.local.weights import Place, load, quiet, run
from judge.records import Unscored

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

_BATCH: Final = 256

Encode = Callable[[Sequence[str]], npt.NDArray[np.float32]]
"""Rows of unit length, one a text."""


class SentenceEmbedder:
    """Embeds texts on the worker's thread.

    A text longer than the model takes, often 256 or 512 tokens, is embedded by its beginning.

    Args:
        signature: `NAME@HASH` of the model's files.
        encode: the model, loaded.
        width: of its rows.
        worker: of one thread; outlives this object.
    """

    def __init__(self, signature: str, encode: Encode, width: int, worker: Executor) -> None:
        self.signature: Final = f"embedding:{signature}"
        """`embedding:NAME@HASH` of the model's files."""
        self._encode = encode
        self._width = width
        self._worker = worker

    @classmethod
    async def opened(cls, name: str, worker: Executor) -> Self:
        """Load a model.

        Args:
            name: a folder, or a name of the hub that is in this machine's cache.
            worker: of one thread; outlives the embedder.

        Raises:
            ConfigError: there is no such model, it cannot be loaded, or the extra is missing.
        """
        place = Place(name, "--embedding-model", "local:")
        signature, (encode, width) = await load(place, _load, worker)
        return cls(signature, encode, width, worker)

    async def embed(
        self,
        texts: Sequence[str],
        deadline: float | None = None,  # noqa: ARG002 (no server is waited for)
    ) -> npt.NDArray[np.float32] | Unscored:
        """Rows of unit length (all zero for a blank text), shape (len(texts), d).

        A model that breaks down, as for want of memory, is a value.
        """
        rows = np.zeros((len(texts), self._width), np.float32)
        filled = [index for index, text in enumerate(texts) if text.strip()]
        for low in range(0, len(filled), _BATCH):
            some = filled[low : low + _BATCH]
            made = await run(self._worker, self._encode, [texts[index] for index in some])
            if isinstance(made, Unscored):
                return made
            rows[some] = made
        return rows


def _load(folder: Path) -> tuple[Encode, int]:
    with quiet():
        from sentence_transformers import SentenceTransformer  # noqa: PLC0415  a part of the extra

        model = SentenceTransformer(str(folder), local_files_only=True, trust_remote_code=False)
    return partial(_encoded, model), len(_encoded(model, ["word"])[0])


def _encoded(model: "SentenceTransformer", texts: Sequence[str]) -> npt.NDArray[np.float32]:
    # Half a surrogate pair is no text to the tokenizer.
    sound = [text.encode(errors="replace").decode() for text in texts]
    rows = model.encode(sound, normalize_embeddings=True, show_progress_bar=False)
    return np.asarray(rows, np.float32)
