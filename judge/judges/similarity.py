"""The judge that needs no model: alignment features and a cosine under a small logistic model."""

import asyncio
from bisect import bisect_left
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Final

import numpy as np
import numpy.typing as npt

from judge.errors import ConfigError
from judge.metrics.alignment import FEATURES, Alignment, align
from judge.metrics.logistic import LogisticModel, expit, logit
from judge.protocols import Embedder
from judge.records import (
    Evidence,
    JudgeRequest,
    Judgment,
    Sentence,
    Support,
    Unscored,
    Verdict,
)
from judge.text.shortfall import no_passages, shortfall
from judge.text.terms import terms
from judge.text.windows import Passages, locate
from judge.text.words import blank, blank_markup

_BLOCK: Final = 64
_CELLS: Final = 1_000_000
_MARGIN: Final = 0.01


@dataclass(frozen=True, slots=True)
class Block:
    """Some asked sentences, measured."""

    indexes: tuple[int, ...]
    """Which, by their index in the answer."""
    passages: Passages
    """The chunks, cut and searched once for all blocks of a request."""
    alignment: Alignment
    """What of each sentence stands where, one row a sentence."""


class SimilarityJudge:
    """Says `full` or `none`, with P(supported) at a declared prior; asks no language model.

    A moved prior moves every score and the threshold alike: no label depends on it.

    Args:
        embedder: gives the cosine to the nearest segment.
        prior: the share of sentences believed to be supported before any is looked at, within
            (0, 1). Most sentences of real answers are.
        model: the one that ships unless given.
        edition: what else the verdicts depend on, as the last part of the signature.

    Raises:
        ConfigError: `prior` is not within (0, 1).
    """

    def __init__(
        self,
        embedder: Embedder,
        *,
        prior: float = 0.9,
        model: LogisticModel | None = None,
        edition: str = "",
    ) -> None:
        if not 0 < prior < 1:
            raise ConfigError(f"prior must lie within 0 and 1, not {prior!r}; try 0.9")
        self._embedder = embedder
        self._model = model or shipped_model()
        self._shift = self._model.shift(prior)
        self._least = logit(self._model.threshold)
        parts = (
            f"similarity:{embedder.signature}",
            f"model:{self._model.name}",
            f"prior:{prior:g}",
            f"t:{self.threshold:.4g}",
            edition,
        )
        self._signature = "|".join(part for part in parts if part)

    @property
    def threshold(self) -> float:
        """The lowest score that is `full`, at this judge's prior."""
        return expit(self._least + self._shift)

    @property
    def signature(self) -> str:
        """Embedder, model, prior, threshold, edition."""
        return self._signature

    async def judge(self, request: JudgeRequest) -> Judgment:
        """One verdict per asked sentence; without chunks nothing is supported.

        Where the embedder fails, its failure is the outcome of every asked sentence.

        Raises:
            JudgeUnavailable: from the embedder.
        """
        if not request.chunks:
            return Judgment(
                outcomes={i: self._unfounded(request.sentences[i]) for i in request.ask}
            )
        outcomes: dict[int, Verdict] = {}
        async for block in aligned(request, self._embedder):
            if isinstance(block, Unscored):
                return Judgment(outcomes=dict.fromkeys(request.ask, block))
            odds = self._model.logits(block.alignment.features)
            # "It is so" misses nothing that weighs. Still, where no number and no word that says
            # something was found, there is no evidence, and support without evidence is none.
            capped = np.minimum(odds, self._least - _MARGIN)
            odds = np.where(block.alignment.grounded, odds, capped)
            for row, index in enumerate(block.indexes):
                outcomes[index] = self._verdict(request, block, row, odds[row].tolist())
        return Judgment(outcomes=outcomes)

    def _verdict(
        self, request: JudgeRequest, block: Block, row: int, odds: Sequence[float]
    ) -> Verdict:
        whole, cited, *alone = (self._support(each) for each in odds)
        index = block.indexes[row]
        lost = (block.alignment.missing[row], block.alignment.scattered[row])
        alike = zip(request.chunks, alone, strict=True)
        return Verdict(
            support=whole,
            evidence=_evidence(request, block.passages, int(block.alignment.windows[row, 0])),
            supporting=tuple(
                dict.fromkeys(chunk.chunk_id for chunk, own in alike if own is Support.FULL)
            ),
            cited_support=cited if request.cites.get(index) else None,
            reason="" if whole is Support.FULL else shortfall(request.sentences[index].text, *lost),
            score=round(expit(odds[0] + self._shift), 6),
            source="similarity",
            signature=self._signature,
        )

    def _unfounded(self, sentence: Sentence) -> Verdict:
        return Verdict(
            support=Support.NONE,
            reason=no_passages(sentence.text),
            score=0.0,
            source="similarity",
            signature=self._signature,
        )

    def _support(self, odds: float) -> Support:
        return Support.FULL if odds >= self._least else Support.NONE


def shipped_model() -> LogisticModel:
    """The model in `judge/data`, trained by `tests/bench/train_similarity.py`."""
    text = resources.files("judge").joinpath("data", "similarity.json").read_text("utf-8")
    return LogisticModel.load(text, FEATURES)


async def aligned(request: JudgeRequest, embedder: Embedder) -> AsyncIterator[Block | Unscored]:
    """Measure the asked sentences against the chunks, of which there is at least one.

    Yields:
        The next sentences, at most 64; or the embedder's failure, and then nothing more. Between
        two blocks the event loop has its turn.
    """
    texts = [chunk.text for chunk in request.chunks]
    claimed = _claimed(request)
    broken = {index: terms(claim) for index, claim in claimed.items()}
    vocabulary: dict[str, int] = {}
    for each in broken.values():
        for term in each:
            vocabulary.setdefault(term.key, len(vocabulary))
    passages = locate(texts, vocabulary)
    pieces = zip(
        passages.chunk_of.tolist(), passages.starts.tolist(), passages.ends.tolist(), strict=True
    )
    windows = [texts[chunk][start:end] for chunk, start, end in pieces]
    rows = await embedder.embed(windows, request.deadline)
    if isinstance(rows, Unscored):
        yield rows
        return
    step = max(1, min(_BLOCK, _CELLS // max(len(rows), 1)))
    for low in range(0, len(request.ask), step):
        block = request.ask[low : low + step]
        own = await embedder.embed([blank_markup(claimed[i]) for i in block], request.deadline)
        if isinstance(own, Unscored):
            yield own
            return
        cited = np.zeros((len(block), len(texts)), np.bool_)
        for row, index in enumerate(block):
            cited[row, list(request.cites.get(index, ()))] = True
        cosine = _nearest(own, rows, passages.first)
        these = [broken[index] for index in block]
        yield Block(block, passages, align(these, vocabulary, passages, cosine, cited))
        await asyncio.sleep(0)


def _claimed(request: JudgeRequest) -> dict[int, str]:
    """What each asked sentence says, its citation markers overwritten: an id is no claim."""
    starts = [start for start, _ in request.markers]
    claimed = {}
    for index in request.ask:
        sentence = request.sentences[index]
        inside = slice(bisect_left(starts, sentence.start), bisect_left(starts, sentence.end))
        spans = [(a - sentence.start, b - sentence.start) for a, b in request.markers[inside]]
        claimed[index] = blank(sentence.text, spans)
    return claimed


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


def _evidence(request: JudgeRequest, passages: Passages, window: int) -> tuple[Evidence, ...]:
    if window < 0:
        return ()
    position, start, end = passages.span(window)
    chunk = request.chunks[position]
    return (
        Evidence(
            chunk_id=chunk.chunk_id,
            quote=chunk.text[start:end],
            start=start,
            end=end,
            verified=True,
        ),
    )
