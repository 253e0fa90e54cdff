"""The tokens of an answer, by a classifier of tokens."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Final, NamedTuple, Self

from judge.backends.labels import shares, unsound_label
from judge.backends.local.network import TRIAL, Classifier, Encoded, rows_of
from judge.backends.local.weights import load, run
from judge.errors import ConfigError
from judge.records import MarkedToken, Unscored

_LONGEST: Final = 4096
"""Tokens at once, where a model takes more: what such models were trained on."""

_BATCH: Final = 8192
"""Tokens in a batch, padding included."""
_SLAB: Final = 64
"""Pairs tokenised together."""
_DIGITS: Final = 4
"""Of a probability: more hang on what else is in the batch."""


class Tokens(NamedTuple):
    """A pair in tokens, and which of them are the answer's."""

    row: Encoded
    answer: list[tuple[int, int, int]]
    """Place in the row, first character of the answer, one past the last."""


class Tagging(NamedTuple):
    """What a loaded model does on the worker's thread; it may raise whatever its libraries do."""

    limit: int
    """Tokens that it takes at once."""
    encode: Callable[[Sequence[tuple[str, str]]], list[Tokens]]
    """Each pair in tokens, whole."""
    mark: Callable[[Sequence[Encoded]], list[list[float]]]
    """For each token of a row, and of its padding, P(hallucinated)."""


_Found = list[Sequence[MarkedToken] | None]


class _Asked(NamedTuple):
    """What one answer wants to know."""

    pairs: Sequence[tuple[str, str]]
    found: "asyncio.Future[_Found | Unscored]"


class TransformersTagger:
    """Classifies the tokens of answers, on a GPU where there is one.

    Answers that wait share batches, which takes less time than one after the other. It works in 32
    bits and without dropout, and gives four digits of a probability: the last ones hang on what
    else is in a batch. A model's own code is never run. What looks like a token of the model's own
    is read as the characters that it is written with, or as an unknown word.
    """

    def __init__(self, signature: str, tagging: Tagging, worker: Executor) -> None:
        self.signature: Final = f"{signature}|w:{tagging.limit}"
        """`NAME@HASH` of the model's files, and its window."""
        self._tagging = tagging
        self._worker = worker
        self._waiting: list[_Asked] = []
        self._turn = asyncio.Lock()

    @classmethod
    async def opened(cls, name: str, worker: Executor) -> Self:
        """Load a model, as `load` does; the worker, of one thread, outlives the tagger."""
        return cls(*await load(name, f"--span-model {name!r}", load_tagging, worker), worker)

    async def classify(self, pairs: Sequence[tuple[str, str]]) -> _Found | Unscored:
        """The answer's tokens of each pair; None where the two exceed the model's limit.

        A model that breaks down, as for want of memory, is a failure of all pairs.
        """
        asked = _Asked(pairs, asyncio.get_running_loop().create_future())
        self._waiting.append(asked)
        try:
            async with self._turn:
                # Whoever had the turn before may have taken these along.
                if not asked.found.done():
                    await self._take()
        finally:
            self._waiting.remove(asked)
        return asked.found.result()

    async def _take(self) -> None:
        """Answer those that wait, in order, up to a slab of them."""
        left = [each for each in self._waiting if not each.found.done()]
        totals = accumulate(len(each.pairs) for each in left)
        some = left[: 1 + sum(total < _SLAB for total in totals)]
        told = await self._classified([pair for each in some for pair in each.pairs])
        for each in some:
            if isinstance(told, Unscored):
                # Of many, one may be to blame.
                mine = told if len(some) == 1 else await self._classified(each.pairs)
            else:
                mine, told = told[: len(each.pairs)], told[len(each.pairs) :]
            each.found.set_result(mine)

    async def _classified(self, pairs: Sequence[tuple[str, str]]) -> _Found | Unscored:
        found: _Found = [None] * len(pairs)
        for low in range(0, len(pairs), _SLAB):
            encoded = await run(self._worker, self._tagging.encode, pairs[low : low + _SLAB])
            if isinstance(encoded, Unscored):
                return encoded
            # Between two batches a Ctrl-C has its effect.
            sizes = [len(each.row["input_ids"]) for each in encoded]
            for batch in _batches(sizes, self._tagging.limit):
                rows = [encoded[i].row for i in batch]
                told = await run(self._worker, self._tagging.mark, rows)
                if isinstance(told, Unscored):
                    return told
                for i, marks in zip(batch, told, strict=True):
                    places = encoded[i].answer
                    found[low + i] = [
                        MarkedToken(a, b, round(marks[at], _DIGITS)) for at, a, b in places
                    ]
        return found


def _batches(sizes: Sequence[int], limit: int) -> Iterator[list[int]]:
    """The positions of those that fit, of like size together."""
    batch: list[int] = []
    for i in sorted((i for i, size in enumerate(sizes) if size <= limit), key=sizes.__getitem__):
        if batch and sizes[i] * (len(batch) + 1) > _BATCH:
            yield batch
            batch = []
        batch.append(i)
    if batch:
        yield batch


def load_tagging(folder: Path) -> Tagging:
    """Load a classifier, and try it; raises whatever the libraries do over a broken folder.

    Raises:
        ConfigError: it is no classifier of tokens, its tokenizer does not tell where tokens stand,
            or its labels do not say what they mean.
    """
    classifier = Classifier.loaded(folder, "Token", "classifier of tokens")
    if not classifier.tokenizer.is_fast:
        raise ConfigError("its tokenizer does not tell where tokens stand; save a fast one")
    classifier.tokenizer.padding_side = "right"
    label = unsound_label(classifier.model.config.id2label)
    limit = min(classifier.limit, _LONGEST)
    tagging = Tagging(limit, partial(_encode, classifier), partial(_mark, classifier, label))
    tagging.mark([each.row for each in tagging.encode(TRIAL)])
    return tagging


def _encode(classifier: Classifier, pairs: Sequence[tuple[str, str]]) -> list[Tokens]:
    options = {"split_special_tokens": True, "return_offsets_mapping": True}
    encoded = classifier.encode(pairs, **options)
    sides = [encoded.sequence_ids(i) for i in range(len(pairs))]
    offsets = encoded.pop("offset_mapping")
    rows = rows_of(encoded)
    own, unknown = set(classifier.tokenizer.all_special_ids), classifier.tokenizer.unk_token_id
    for row, side in zip(rows, sides, strict=True):
        for at, token in enumerate(row["input_ids"]):
            # SentencePiece knows the model's own tokens as pieces of a text, too.
            if token in own and side[at] is not None and unknown is not None:
                row["input_ids"][at] = unknown
    return [
        Tokens(row, [(at, a, b) for at, (a, b) in enumerate(places) if side[at] == 1 and a < b])
        for row, side, places in zip(rows, sides, offsets, strict=True)
    ]


def _mark(classifier: Classifier, label: int, rows: Sequence[Encoded]) -> list[list[float]]:
    found: list[list[float]] = shares(classifier.logits(rows))[..., label].tolist()
    return found
