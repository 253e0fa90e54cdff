"""The relation of two texts, by a classifier of pairs."""

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple, Self

from judge.backends.labels import Roles, read_labels, relations
from judge.backends.local.network import TRIAL, Classifier, Encoded
from judge.backends.local.weights import load, run
from judge.records import Relation, Unscored
from judge.text.tokens import broken

_PAIRS: Final = 32
"""In a batch."""
_SLAB: Final = 256
"""Pairs tokenised together, so that those of like length meet in a batch."""


class Network(NamedTuple):
    """What a loaded model does on the worker's thread; it may raise whatever its libraries do."""

    limit: int
    """Tokens that it takes at once."""
    encode: Callable[[Sequence[tuple[str, str]]], list[Encoded]]
    """Each pair in tokens, whole."""
    relate: Callable[[Sequence[Encoded]], list[Relation]]
    """What it says of each."""


class TransformersScorer:
    """Classifies pairs, one batch after the other, on a GPU where there is one.

    In 32 bits and without dropout: the same pairs get the same numbers. A model's own code is
    never run.
    """

    def __init__(self, signature: str, network: Network, worker: Executor) -> None:
        self.signature: Final = signature
        """`NAME@HASH` of the model's files."""
        self._network = network
        self._worker = worker

    @classmethod
    async def opened(cls, name: str, worker: Executor) -> Self:
        """Load a model, as `load` does; the worker, of one thread, outlives the scorer."""
        return cls(*await load(name, f"--nli-model {name!r}", load_network, worker), worker)

    async def score(self, pairs: Sequence[tuple[str, str]]) -> list[Relation | None] | Unscored:
        """One relation per pair; None where premise and hypothesis exceed the model's limit.

        A model that breaks down, as for want of memory, is a failure of all pairs.
        """
        found: list[Relation | None] = [None] * len(pairs)
        for low in range(0, len(pairs), _SLAB):
            slab = [(broken(a), broken(b)) for a, b in pairs[low : low + _SLAB]]
            encoded = await run(self._worker, self._network.encode, slab)
            if isinstance(encoded, Unscored):
                return encoded
            sizes = [len(each["input_ids"]) for each in encoded]
            fits = [i for i, size in enumerate(sizes) if size <= self._network.limit]
            fits.sort(key=sizes.__getitem__)
            # Between two batches other answers have their turn, and a Ctrl-C has its effect.
            for start in range(0, len(fits), _PAIRS):
                batch = fits[start : start + _PAIRS]
                rows = [encoded[i] for i in batch]
                told = await run(self._worker, self._network.relate, rows)
                if isinstance(told, Unscored):
                    return told
                for i, relation in zip(batch, told, strict=True):
                    found[low + i] = relation
        return found


def load_network(folder: Path) -> Network:
    """Load a classifier, and try it; raises whatever the libraries do over a broken folder.

    Raises:
        ConfigError: it is no classifier of pairs, or its labels do not say what they mean.
    """
    classifier = Classifier.loaded(folder)
    relate = partial(_relate, classifier, read_labels(classifier.model.config.id2label))
    network = Network(classifier.limit, classifier.encode, relate)
    network.relate(network.encode(TRIAL))
    return network


def _relate(classifier: Classifier, roles: Roles, rows: Sequence[Encoded]) -> list[Relation]:
    return relations(classifier.logits(rows), roles)
