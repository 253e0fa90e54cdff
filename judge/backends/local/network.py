"""The door to torch and transformers: a classifier, loaded from its folder."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from judge.backends.local.labels import Roles, read_labels, relations
from judge.backends.local.quiet import quiet
from judge.errors import ConfigError
from judge.records import Relation

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

Encoded = dict[str, list[int]]
"""One pair, as the tokenizer gives it: ids, and what else the model wants of each token."""

_TRIAL: Final = (("a", "b"), ("a b c", "d"))
_TOKENIZERS: Final = ("tokenizer.json", "vocab.txt", "vocab.json", "*.model")


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
