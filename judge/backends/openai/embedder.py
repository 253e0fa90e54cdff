"""Embeddings of an OpenAI-compatible server."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from judge.backends.openai.client import Connection, hopeless
from judge.backends.openai.failures import Failure
from judge.records import Unscored, UnscoredReason
from judge.text.tokens import broken

_OPTION: Final = "--embedding-model"
_BATCH: Final = 32
"""The default limit of Hugging Face's server."""


class OpenAIEmbedder:
    """Embeds texts with one model of a server; the connection outlives it."""

    def __init__(self, connection: Connection, model: str) -> None:
        self._connection = connection
        self._model = model
        self.signature: Final = f"embedding:{model}@{connection.server.host}"
        """The name of the embedding."""

    async def check(self) -> None:
        """Embed one word, and raise `JudgeUnavailable` if that fails."""
        outcome = await self._ask(["word"], first=True)
        if isinstance(outcome, Failure):
            raise hopeless(outcome, self._connection.server.base_url, self._model, _OPTION)

    async def embed(
        self, texts: Sequence[str], deadline: float | None = None
    ) -> npt.NDArray[np.float32] | Unscored:
        """Return rows of unit length (all zero for a blank text), shape (len(texts), d).

        One failed batch fails all. `deadline`, on the event loop's clock, holds for all.

        Raises:
            JudgeUnavailable: wrong key, unknown model, exhausted quota.
        """
        # Servers refuse a blank text.
        asked = [broken(text) if text.strip() else "a" for text in texts]
        batches = []
        for low in range(0, len(asked), _BATCH):
            batch = await self._ask(asked[low : low + _BATCH], deadline)
            if isinstance(batch, Failure):
                return Unscored(reason=batch.reason, detail=batch.detail)
            batches.append(batch)
        if len({batch.shape[1] for batch in batches}) > 1:
            detail = "the rows of one answer have different lengths"
            return Unscored(reason=UnscoredReason.SERVER_ERROR, detail=detail)
        rows = np.concatenate(batches)
        rows[[not text.strip() for text in texts]] = 0
        return rows

    async def _ask(
        self, texts: Sequence[str], deadline: float | None = None, *, first: bool = False
    ) -> npt.NDArray[np.float32] | Failure:
        exchange = await self._connection.ask(
            "/embeddings",
            # Servers of one's own often know no base64.
            {"model": self._model, "input": list(texts), "encoding_format": "float"},
            _rows,
            deadline=deadline,
            option=_OPTION,
            first=first,
        )
        return exchange.outcome


def _rows(body: str, sent: Mapping[str, Any]) -> npt.NDArray[np.float32]:
    try:
        data = sorted(json.loads(body)["data"], key=lambda row: row.get("index") or 0)
        rows = np.array([row["embedding"] for row in data], np.float64)  # ragged rows are refused
    except (AttributeError, KeyError, OverflowError, RecursionError, TypeError):
        raise ValueError("no embeddings in the body") from None
    if rows.shape[:-1] != (len(sent["input"]),) or not rows.size or not np.isfinite(rows).all():
        raise ValueError("not one row of numbers for each text")
    with np.errstate(over="ignore"):
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    if not np.isfinite(lengths).all():
        raise ValueError("numbers so large that a row has no length")
    return (rows / np.where(lengths > 0, lengths, 1.0)).astype(np.float32)
