"""A classifier of pairs of transformers: how it is loaded, fed, and read."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from judge.backends.local.weights import quiet
from judge.errors import ConfigError

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

Encoded = dict[str, list[int]]
"""One pair, as the tokenizer gives it: ids, and what else the model wants of each token."""

TRIAL: Final = (("a", "b"), ("a b c", "d"))
"""What a model that is loaded is tried with; the shorter is padded."""

_TOKENIZERS: Final = ("tokenizer.json", "vocab.txt", "vocab.json", "*.model")


class Classifier(NamedTuple):
    """A model, and the tokenizer saved beside it; they may raise whatever their libraries do."""

    tokenizer: "PreTrainedTokenizerBase"
    model: "PreTrainedModel"

    @classmethod
    def loaded(cls, folder: Path) -> "Classifier":
        """Load it, on a GPU where there is one, in 32 bits and without dropout.

        Raises:
            ConfigError: the folder holds no tokenizer, or no classifier of pairs.
        """
        import torch  # noqa: PLC0415  a part of the extra, and seconds of imports
        import transformers  # noqa: PLC0415  likewise

        if not any(True for pattern in _TOKENIZERS for _ in folder.glob(pattern)):
            # The library would make up one that knows no word.
            raise ConfigError("its folder holds no tokenizer; save it there, too")
        here = {"local_files_only": True, "trust_remote_code": False}
        with quiet():
            tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **here)
            model, report = transformers.AutoModelForSequenceClassification.from_pretrained(
                folder, dtype=torch.float32, output_loading_info=True, **here
            )
        if missing := sorted(report["missing_keys"]):
            # The library would fill it with random numbers.
            raise ConfigError(f"its weights lack {missing[0]}: it is no classifier of pairs")
        return cls(tokenizer, model.to("cuda" if torch.cuda.is_available() else "cpu").eval())

    def encode(self, pairs: Sequence[tuple[str, str]]) -> list[Encoded]:
        """Each pair in tokens, whole."""
        sides = [sound(side) for side in zip(*pairs, strict=True)]
        encoded = self.tokenizer(*sides, truncation=False, verbose=False)
        return [dict(zip(encoded, row, strict=True)) for row in zip(*encoded.values(), strict=True)]

    def logits(self, rows: Sequence[Encoded]) -> npt.NDArray[np.float64]:
        """Its output for each row, the shorter ones padded.

        Raises:
            ArithmeticError: the output is no number.
        """
        import torch  # noqa: PLC0415  a part of the extra

        batch = self.tokenizer.pad(list(rows), return_tensors="pt", verbose=False)
        with torch.inference_mode():
            logits = self.model(**batch.to(self.model.device)).logits
        numbers: npt.NDArray[np.float64] = logits.to("cpu", torch.float64).numpy()
        if not np.isfinite(numbers).all():
            raise ArithmeticError("its output is no number")
        return numbers

    @property
    def limit(self) -> int:
        """Tokens that it takes at once: as the tokenizer says, and as there are positions."""
        limits = [int(self.tokenizer.model_max_length)]
        positions = getattr(self.model.config, "max_position_embeddings", None)
        if positions:
            # The RoBERTa family counts positions from behind the one for padding.
            behind = [
                module.padding_idx + 1
                for name, module in self.model.named_modules()
                if name.endswith("position_embeddings")
                and getattr(module, "padding_idx", None) is not None
            ]
            limits.append(positions - max(behind, default=0))
        return min(limits)


def sound(texts: Sequence[str]) -> list[str]:
    """Half a surrogate pair is no text to a tokenizer; each becomes one question mark."""
    return [text.encode(errors="replace").decode() for text in texts]
