"""The lexical embedder, and the model of a sentence as a conjunction of items."""

import hashlib
import json
import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt

from judge.pool import apart
from judge.text.words import stems, weight

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Vectors = npt.NDArray[np.float32]
"""One a row, shape (texts, dimensions)."""

_WIDTH: Final = 512
_GRAMS: Final = (3, 4)
_SIGN: Final = 1 << 31


class LexicalEmbedder:
    """Embeds a text as the sum of its words' vectors, each weighted by how much the word tells.

    A word's vector is the word itself plus its character 3- and 4-grams, hashed with a sign
    (Weinberger et al. 2009, "Feature hashing for large scale multitask learning"), so that
    `inventor` and `invention` are near.
    """

    signature = "lexical-v1"
    """A change that moves a vector or a word weight gets another version."""

    async def embed(
        self,
        texts: Sequence[str],
        deadline: float | None = None,  # noqa: ARG002 (no server is waited for)
    ) -> Vectors:
        """Return rows of unit length, zero for a text without words, shape (len(texts), 512)."""
        return await apart(sum(map(len, texts)), _vectors, texts)


def _vectors(texts: Sequence[str]) -> Vectors:
    return np.asarray([_text_vector(text) for text in texts], np.float32).reshape(-1, _WIDTH)


def _text_vector(text: str) -> Vectors:
    vectors = [_vector(stem) for stem in stems(text)]
    if not vectors:
        return np.zeros(_WIDTH, np.float32)
    dimensions, values = map(np.concatenate, zip(*vectors, strict=True))
    row = np.bincount(dimensions, values, _WIDTH)
    return (row / (np.linalg.norm(row) or 1.0)).astype(np.float32)


@lru_cache(maxsize=1 << 13)
def _vector(stem: str) -> tuple[Ints, Vectors]:
    """Return the dimensions in which a word is not zero, and its values there."""
    framed = f"<{stem}>"
    parts = [framed[i : i + n] for n in _GRAMS for i in range(len(framed) - n + 1)]
    hashes = np.fromiter(
        (zlib.crc32(part.encode()) for part in (framed, *parts)), np.int64, len(parts) + 1
    )
    values = np.where(hashes & _SIGN, 1.0, -1.0) * weight(stem)
    values[1:] /= np.sqrt(len(hashes))
    vector = np.bincount(hashes % _WIDTH, values, _WIDTH).astype(np.float32)
    nonzero = np.flatnonzero(vector)
    return nonzero, vector[nonzero]


def nearest(own: Vectors, rows: Vectors, first: Ints) -> Floats:
    """Return the cosine to the nearest segment of each chunk, at least 0: (sentences, chunks).

    `rows` are the vectors of all segments, of which `first` is the first one of each chunk.
    """
    cosines = (own @ rows.T).astype(np.float64)
    return np.maximum(np.maximum.reduceat(cosines, first, axis=1), 0.0)


def logit(share: float) -> float:
    """Return ln(share / (1 - share)), for a share within (0, 1)."""
    return math.log(share / (1 - share))


def expit(odds: float) -> float:
    """Return 1 / (1 + exp(-odds)), the inverse of `logit`, without overflow.

    >>> expit(logit(0.9)), expit(-800.0), expit(800.0)
    (0.9, 0.0, 1.0)
    """
    return (1 + math.tanh(odds / 2)) / 2


@dataclass(frozen=True, slots=True)
class ConjunctionModel:
    """A sentence of n items holds if they all do: the log odds of that.

    Item i fails with probability u_i = expit(θ · features of item i), and the log odds are
    intercept + (usual / n)^damping · Σ ln(1 - u_i) + Σ coefficient · (feature - mean) / scale,
    the last sum over features of the sentence. With damping 0 the items are independent, as in a
    noisy-or network (Pearl 1988, "Probabilistic Reasoning in Intelligent Systems", 4.3); with 1
    their mean counts. Sentences side by side then move each other, by `pull`.
    """

    name: str
    """The kind of model and the first eight digits of its file's sha256."""
    terms: Floats
    """θ, shape (term features,)."""
    usual: float
    damping: float
    mean: Floats
    """Means of the features of sentences in training."""
    scale: Floats
    """Standard deviations of the sentence features in training."""
    coefficients: Floats
    intercept: float
    neighbours: float
    """The weight of the neighbours' mean log odds in the log odds of a sentence."""
    centre: float
    """The mean log odds in training, which is subtracted from the neighbours' mean."""
    base_rate: float
    """Share of positives in training, within (0, 1)."""
    threshold: float
    """The lowest probability that counts as positive, at the training base rate."""

    @classmethod
    def load(cls, text: str) -> "ConjunctionModel":
        """Return the model of a file's text; its features are those of `align`, in their order."""
        raw = json.loads(text)
        rows = [(s["mean"], s["scale"], s["coefficient"]) for s in raw.pop("sentences").values()]
        mean, scale, coefficients = np.asarray(rows, np.float64).T
        name = f"{raw.pop('model')}@{hashlib.sha256(text.encode()).hexdigest()[:8]}"
        terms = np.asarray(list(raw.pop("terms").values()), np.float64)
        known = {each.name: raw[each.name] for each in fields(cls) if each.name in raw}
        return cls(name, terms, mean=mean, scale=scale, coefficients=coefficients, **known)

    def logits(self, terms: Floats, owner: Ints, sentences: Floats) -> Floats:
        """Return the log odds of each sentence at the training base rate, (sentences, columns).

        The arguments are those of an `Alignment`. The first feature is 1 for an item that counts.
        """
        sizes = len(sentences), terms.shape[1]
        cell = (owner[:, None] * sizes[1] + np.arange(sizes[1])).ravel()
        log_holds = -np.logaddexp(0.0, terms @ self.terms) * terms[..., 0]
        many, kept = (
            np.bincount(cell, values.ravel(), sizes[0] * sizes[1]).reshape(sizes)
            for values in (terms[..., 0], log_holds)
        )
        damped = (self.usual / np.maximum(many, 1.0)) ** self.damping
        standard = (sentences - self.mean) / self.scale
        odds: Floats = self.intercept + damped * kept + standard @ self.coefficients
        return odds

    def pull(self, before: float | None, after: float | None) -> float:
        """Return the change of a sentence's log odds by the log odds of its neighbours.

        Unsupported sentences come in runs. The change is 0 for a sentence without neighbours.
        """
        beside = [odds for odds in (before, after) if odds is not None]
        return self.neighbours * (sum(beside) / len(beside) - self.centre) if beside else 0.0
