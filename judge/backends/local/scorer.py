"""A classifier of pairs on this machine: batches in, relations out, in order."""

from collections.abc import Sequence
from concurrent.futures import Executor
from typing import Final, Protocol, Self

from judge.backends.local.loading import Place, load
from judge.backends.local.network import Encoded, load_network
from judge.backends.local.running import run
from judge.records import Relation, Unscored

_BATCH: Final = 32
_SLAB: Final = 256
"""Pairs tokenised together, so that those of like length meet in a batch."""


class Network(Protocol):
    """What a loaded model does, each on the worker's thread."""

    @property
    def limit(self) -> int:
        """Tokens that it takes at once."""

    def encode(self, pairs: Sequence[tuple[str, str]]) -> list[Encoded]:
        """Each pair in tokens, whole.

        Raises:
            Exception: whatever the libraries raise where it breaks down.
        """

    def relate(self, rows: Sequence[Encoded]) -> list[Relation]:
        """What it says of each.

        Raises:
            Exception: whatever the libraries raise where it breaks down.
        """


class TransformersScorer:
    """Runs the model, one batch after the other on the worker's thread.

    On a GPU where there is one, else on the CPU, in 32 bits and without dropout: the same pairs
    get the same numbers. A model's own code is never run.

    Args:
        signature: `NAME@HASH` of the model's files.
        network: the model, loaded.
        worker: of one thread; outlives this object.
    """

    def __init__(self, signature: str, network: Network, worker: Executor) -> None:
        self._signature = signature
        self._network = network
        self._worker = worker

    @classmethod
    async def opened(cls, name: str, worker: Executor) -> Self:
        """Load a model.

        Args:
            name: a folder, or a name of the hub that is in this machine's cache.
            worker: of one thread; outlives the scorer.

        Raises:
            ConfigError: there is no such model, it is none of inference, or the extra is missing.
        """
        signature, network = await load(Place(name, "--nli-model"), load_network, worker)
        return cls(signature, network, worker)

    @property
    def signature(self) -> str:
        """`NAME@HASH` of the model's files."""
        return self._signature

    async def score(self, pairs: Sequence[tuple[str, str]]) -> list[Relation | None] | Unscored:
        """One relation per pair; None where premise and hypothesis exceed the model's limit.

        A model that breaks down, as for want of memory, is a failure of all pairs.
        """
        found: list[Relation | None] = []
        for low in range(0, len(pairs), _SLAB):
            slab = await self._slab(pairs[low : low + _SLAB])
            if isinstance(slab, Unscored):
                return slab
            found += slab
        return found

    async def _slab(self, pairs: Sequence[tuple[str, str]]) -> list[Relation | None] | Unscored:
        encoded = await run(self._worker, self._network.encode, pairs)
        if isinstance(encoded, Unscored):
            return encoded
        sizes = [len(each["input_ids"]) for each in encoded]
        fits = [i for i, size in enumerate(sizes) if size <= self._network.limit]
        fits.sort(key=sizes.__getitem__)
        found: list[Relation | None] = [None] * len(pairs)
        # Between two batches other answers have their turn, and a Ctrl-C has its effect.
        for start in range(0, len(fits), _BATCH):
            batch = fits[start : start + _BATCH]
            rows = [encoded[i] for i in batch]
            told = await run(self._worker, self._network.relate, rows)
            if isinstance(told, Unscored):
                return told
            for i, relation in zip(batch, told, strict=True):
                found[i] = relation
        return found
