"""A classifier of pairs on this machine: batches in, relations out, in order."""

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, Self

import numpy as np
import numpy.typing as npt

from judge.backends.local.weights import Place, load, quiet, run
from judge.errors import ConfigError
from judge.records import Relation, Unscored

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

Encoded = dict[str, list[int]]
"""One pair, as the tokenizer gives it: ids, and what else the model wants of each token."""

_BATCH: Final = 32
_SLAB: Final = 256
"""Pairs tokenised together, so that those of like length meet in a batch."""
_TRIAL: Final = (("a", "b"), ("a b c", "d"))
_TOKENIZERS: Final = ("tokenizer.json", "vocab.txt", "vocab.json", "*.model")
# As in configs of models for MNLI, XNLI, OCNLI and FEVER, and of those that tell what is grounded.
_NAMES: Final = {
    "entailed": "entailment entailed entails entail supported supports support consistent faithful"
    " factual grounded attributable true yes 蕴含 蕴涵 支持 一致 真 是",
    "contradicted": "contradiction contradicted contradicts contradict contradictory refuted"
    " refutes refute 矛盾 反驳",
    "neither": "neutral false no hallucination hallucinated notenoughinfo notenoughinformation nei"
    " extrapolatory 中立 中性 无关 假 否",
}
_MEANS: Final = {name: role for role, names in _NAMES.items() for name in names.split()}
# Before a name of entailment each of these makes its opposite.
_NEGATIONS: Final = ("non", "not", "no", "un", "in", "不", "非", "未")
# Models made without names: of two labels the second is the one trained on as 1, that is, as yes.
_UNNAMED: Final = (("label0", "label1"), ("label0",))


class Roles(NamedTuple):
    """Where in a row of logits the answers stand.

    A single logit is read as the second of two, the first being 0: softmax is then its sigmoid.
    """

    entailed: int
    contradicted: int | None
    single: bool


class Network(Protocol):
    """What a loaded model does on the worker's thread; it may raise whatever its libraries do."""

    @property
    def limit(self) -> int:
        """Tokens that it takes at once."""

    def encode(self, pairs: Sequence[tuple[str, str]]) -> list[Encoded]:
        """Each pair in tokens, whole."""

    def relate(self, rows: Sequence[Encoded]) -> list[Relation]:
        """What it says of each."""


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
        self.signature: Final = signature
        """`NAME@HASH` of the model's files."""
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


class TransformersNetwork:
    """A model and its tokenizer; made by `load_network`."""

    def __init__(
        self, tokenizer: "PreTrainedTokenizerBase", model: "PreTrainedModel", roles: Roles
    ) -> None:
        self._tokenizer = tokenizer
        self._model = model
        self._roles = roles
        self.limit = _limit(model, tokenizer)
        """Tokens that the model takes at once."""

    def encode(self, pairs: Sequence[tuple[str, str]]) -> list[Encoded]:
        """Each pair in tokens, whole."""
        # Half a surrogate pair is no text to the tokenizer.
        sides = zip(*pairs, strict=True)
        sound = [[text.encode(errors="replace").decode() for text in side] for side in sides]
        encoded = self._tokenizer(*sound, truncation=False, verbose=False)
        return [dict(zip(encoded, row, strict=True)) for row in zip(*encoded.values(), strict=True)]

    def relate(self, rows: Sequence[Encoded]) -> list[Relation]:
        """What the model says of each pair.

        Raises:
            ArithmeticError: that is no number.
            Exception: whatever the libraries raise over a token, memory or the device.
        """
        import torch  # noqa: PLC0415  a part of the extra

        batch = self._tokenizer.pad(list(rows), return_tensors="pt", verbose=False)
        with torch.inference_mode():
            logits = self._model(**batch.to(self._model.device)).logits
        numbers = logits.to("cpu", torch.float64).numpy()
        if not np.isfinite(numbers).all():
            raise ArithmeticError("its output is no number")
        return relations(numbers, self._roles)


def load_network(folder: Path) -> TransformersNetwork:
    """Load a classifier, and try it.

    Raises:
        ConfigError: it is no classifier of pairs, or its labels do not say what they mean.
        Exception: whatever the libraries raise over a folder that holds no model of theirs.
    """
    import torch  # noqa: PLC0415  a part of the extra, and seconds of imports
    from transformers import AutoModelForSequenceClassification, AutoTokenizer  # noqa: PLC0415

    if not any(True for pattern in _TOKENIZERS for _ in folder.glob(pattern)):
        # The library would make up one that knows no word.
        raise ConfigError("its folder holds no tokenizer; save it there, too")
    here = {"local_files_only": True, "trust_remote_code": False}
    with quiet():
        tokenizer = AutoTokenizer.from_pretrained(folder, **here)
        model, report = AutoModelForSequenceClassification.from_pretrained(
            folder, dtype=torch.float32, output_loading_info=True, **here
        )
    if missing := sorted(report["missing_keys"]):
        # The library would fill it with random numbers.
        raise ConfigError(f"its weights lack {missing[0]}: it is no classifier of pairs")
    model = model.to("cuda" if torch.cuda.is_available() else "cpu").eval()
    network = TransformersNetwork(tokenizer, model, read_labels(model.config.id2label))
    network.relate(network.encode(_TRIAL))
    return network


def _limit(model: "PreTrainedModel", tokenizer: "PreTrainedTokenizerBase") -> int:
    """Tokens that fit: as the tokenizer says, and as there are positions."""
    limits = [int(tokenizer.model_max_length)]
    positions = getattr(model.config, "max_position_embeddings", None)
    if positions:
        # The RoBERTa family counts positions from behind the one for padding.
        behind = [
            module.padding_idx + 1
            for name, module in model.named_modules()
            if name.endswith("position_embeddings")
            and getattr(module, "padding_idx", None) is not None
        ]
        limits.append(positions - max(behind, default=0))
    return min(limits)


def read_labels(id2label: Mapping[int, str]) -> Roles:
    """The roles of the labels, in whatever order and spelling they come.

    Two labels, such as consistent and inconsistent, tell nothing of contradiction: what is not
    supported may be merely absent.

    Raises:
        ConfigError: the names do not say which label is entailment, or the only one is
            contradiction, without which a sentence may yet be neither.

    >>> read_labels({0: "CONTRADICTION", 1: "Neutral", 2: "entailment"})
    Roles(entailed=2, contradicted=0, single=False)
    >>> read_labels({0: "LABEL_0", 1: "LABEL_1"})
    Roles(entailed=1, contradicted=None, single=False)
    """
    names = [_plain(id2label[position]) for position in sorted(id2label)]
    single = len(names) == 1
    if tuple(names) in _UNNAMED:
        return Roles(1, None, single)
    roles = [_role(name) for name in names]
    if single and roles[0] in {"entailed", "neither"}:
        return Roles(int(roles[0] == "entailed"), None, single)
    if roles.count("entailed") != 1 or roles.count("contradicted") > 1 or "" in roles:
        said = ", ".join(repr(id2label[position]) for position in sorted(id2label))
        raise ConfigError(
            f"its labels ({said}) do not say which means that the passage entails the sentence; "
            "where you know, name them entailment, neutral and contradiction in id2label of its "
            "config.json"
        )
    contradicted = roles.index("contradicted") if "contradicted" in roles else None
    return Roles(roles.index("entailed"), contradicted, single)


def relations(logits: npt.NDArray[np.float64], roles: Roles) -> list[Relation]:
    """Probabilities from logits, finite, of shape (pairs, labels)."""
    if roles.single:
        logits = np.concatenate([np.zeros_like(logits), logits], axis=1)
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares = powers / powers.sum(axis=1, keepdims=True)
    return [
        Relation(
            entailed=row[roles.entailed],
            contradicted=0.0 if roles.contradicted is None else row[roles.contradicted],
        )
        for row in shares.tolist()
    ]


def _role(name: str) -> str:
    rests = [name.removeprefix(lead) for lead in _NEGATIONS if name.startswith(lead)]
    negated = any(_MEANS.get(rest) == "entailed" for rest in rests)
    return _MEANS.get(name, "neither" if negated else "")


def _plain(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum())
