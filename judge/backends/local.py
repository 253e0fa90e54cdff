"""Models on this machine: weights from a folder or the Hugging Face cache, never downloaded here.

torch, transformers and sentence-transformers come with `pip install '.[local]'`, and are imported
only once a model is loaded. A model runs on a thread of its own.
"""

import asyncio
import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final, NamedTuple, Self, TypeVar

import numpy as np
import numpy.typing as npt

from judge.backends.labels import Roles, read_labels, relations
from judge.errors import ConfigError
from judge.records import Relation, Unscored, UnscoredReason
from judge.text.tokens import broken

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

Encode = Callable[[Sequence[str]], npt.NDArray[np.float32]]
"""Rows of unit length, one a text."""
Encoded = dict[str, list[int]]
"""One pair, as the tokenizer gives it: ids, and what else the model wants of each token."""
_Model = TypeVar("_Model")
_Given = TypeVar("_Given")
_Made = TypeVar("_Made")

_TEXTS: Final = 256
"""In a batch of the embedder."""
_PAIRS: Final = 32
"""In a batch of the scorer."""
_SLAB: Final = 256
"""Pairs tokenised together, so that those of like length meet in a batch."""
_TRIAL: Final = (("a", "b"), ("a b c", "d"))
_TOKENIZERS: Final = ("tokenizer.json", "vocab.txt", "vocab.json", "*.model")
_MADE_OF: Final = {".json", ".txt", ".model", ".safetensors", ".bin"}
"""Endings of the files of config, tokenizer and weights; not of what training leaves behind."""
_SHOWN: Final = 8


class SentenceEmbedder:
    """Embeds texts; one longer than the model takes, often 256 or 512 tokens, by its beginning."""

    def __init__(self, signature: str, encode: Encode, width: int, worker: Executor) -> None:
        self.signature: Final = f"embedding:{signature}"
        """`embedding:NAME@HASH` of the model's files."""
        self._encode = encode
        self._width = width
        self._worker = worker

    @classmethod
    async def opened(cls, name: str, worker: Executor) -> Self:
        """Load a model, as `load` does; the worker, of one thread, outlives the embedder."""
        setting = f"--embedding-model {f'local:{name}'!r}"
        signature, (encode, width) = await load(name, setting, _load_encoder, worker)
        return cls(signature, encode, width, worker)

    async def embed(
        self,
        texts: Sequence[str],
        deadline: float | None = None,  # noqa: ARG002 (no server is waited for)
    ) -> npt.NDArray[np.float32] | Unscored:
        """Rows of unit length (all zero for a blank text), shape (len(texts), d)."""
        rows = np.zeros((len(texts), self._width), np.float32)
        filled = [index for index, text in enumerate(texts) if text.strip()]
        for low in range(0, len(filled), _TEXTS):
            some = filled[low : low + _TEXTS]
            made = await run(self._worker, self._encode, [broken(texts[index]) for index in some])
            if isinstance(made, Unscored):
                return made
            rows[some] = made
        return rows


def _load_encoder(folder: Path) -> tuple[Encode, int]:
    with quiet():
        from sentence_transformers import SentenceTransformer  # noqa: PLC0415  a part of the extra

        model = SentenceTransformer(str(folder), local_files_only=True, trust_remote_code=False)
    return partial(_encoded, model), len(_encoded(model, ["word"])[0])


def _encoded(model: "SentenceTransformer", texts: Sequence[str]) -> npt.NDArray[np.float32]:
    rows = model.encode(_sound(texts), normalize_embeddings=True, show_progress_bar=False)
    return np.asarray(rows, np.float32)


def _sound(texts: Sequence[str]) -> list[str]:
    """Half a surrogate pair is no text to a tokenizer."""
    return [text.encode(errors="replace").decode() for text in texts]


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
    relate = partial(_relate, tokenizer, model, read_labels(model.config.id2label))
    network = Network(_limit(model, tokenizer), partial(_encode, tokenizer), relate)
    network.relate(network.encode(_TRIAL))
    return network


def _encode(
    tokenizer: "PreTrainedTokenizerBase", pairs: Sequence[tuple[str, str]]
) -> list[Encoded]:
    sides = [_sound(side) for side in zip(*pairs, strict=True)]
    encoded = tokenizer(*sides, truncation=False, verbose=False)
    return [dict(zip(encoded, row, strict=True)) for row in zip(*encoded.values(), strict=True)]


def _relate(
    tokenizer: "PreTrainedTokenizerBase",
    model: "PreTrainedModel",
    roles: Roles,
    rows: Sequence[Encoded],
) -> list[Relation]:
    import torch  # noqa: PLC0415  a part of the extra

    batch = tokenizer.pad(list(rows), return_tensors="pt", verbose=False)
    with torch.inference_mode():
        logits = model(**batch.to(model.device)).logits
    numbers = logits.to("cpu", torch.float64).numpy()
    if not np.isfinite(numbers).all():
        raise ArithmeticError("its output is no number")
    return relations(numbers, roles)


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


async def load(
    name: str, setting: str, make: Callable[[Path], _Model], worker: Executor
) -> tuple[str, _Model]:
    """What `make` makes of the model's folder, behind `NAME@HASH` for signatures.

    A folder goes by its last name: where it stands makes no verdict another. Errors begin with
    `setting`, the option as the user has it.

    Raises:
        ConfigError: there is no such model, the extra is not installed, or `make` failed.
    """

    def run() -> tuple[str, _Model]:
        folder = located(name)
        model = make(folder)
        is_folder = Path(name).expanduser() == folder
        return f"{folder.resolve().name if is_folder else name}@{fingerprint(folder)}", model

    try:
        return await asyncio.get_running_loop().run_in_executor(worker, run)
    except ImportError as error:
        problem = (
            f"needs more packages ({_line(error)}); in judge's checkout, pip install '.[local]'"
        )
    except ConfigError as error:
        problem = _line(error)
    except Exception as error:  # noqa: BLE001  a broken file fails in the loader as it pleases
        problem = (
            f"cannot be loaded ({type(error).__name__}: {_line(error)}); "
            "try it in transformers itself, or name another"
        )
    raise ConfigError(f"{setting}: {problem}")


async def run(worker: Executor, work: Callable[[_Given], _Made], given: _Given) -> _Made | Unscored:
    """What `work` makes of `given` on the worker's thread; a model that breaks down is a value."""
    try:
        return await asyncio.get_running_loop().run_in_executor(worker, work, given)
    except Exception as error:  # noqa: BLE001  libraries and devices fail as they please
        return Unscored(
            reason=UnscoredReason.SERVER_ERROR,
            detail=f"the model failed: {_line(error) or type(error).__name__}",
        )


@contextmanager
def quiet() -> Iterator[None]:
    """Silence transformers, and leave it as it was."""
    from transformers.utils import logging  # noqa: PLC0415  a part of the extra

    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


def located(name: str) -> Path:
    """The folder of a model: itself where `name` is one, else its snapshot in the hub's cache.

    `name` is then `owner/model`, with `@revision` behind it where it is not the main one.

    Raises:
        ConfigError: there is no such folder, or the cache does not hold the model.
        ImportError: the extra `local` is not installed, and `name` is no folder.
    """
    try:
        folder = Path(name).expanduser()
        if folder.is_dir():
            return folder
    except (OSError, RuntimeError, ValueError):  # too long for a name; no such home folder
        folder = Path(name)
    if folder.is_absolute() or name[:1] in {".", "~"} or name.count("/") > 1:
        raise ConfigError("there is no such folder; name one that holds a model")
    from huggingface_hub import snapshot_download  # noqa: PLC0415  a part of the extra

    model, _, revision = name.partition("@")
    try:
        return Path(snapshot_download(model, revision=revision or None, local_files_only=True))
    except (OSError, ValueError):
        more = f" --revision {revision}" if revision else ""
        raise ConfigError(
            "is no folder, and not in the Hugging Face cache of this machine; judge downloads "
            f"nothing: fetch it with hf download {model}{more}, or name a folder"
        ) from None


def fingerprint(folder: Path) -> str:
    """8 hex digits of the contents of the model's files, for a folder may change under its name.

    Files are read in `folder` and in those that its `modules.json` names, where
    sentence-transformers keeps the parts of a model.
    """
    try:
        modules = json.loads((folder / "modules.json").read_text(encoding="utf-8"))
        parts = [str(module["path"]) for module in modules]
    except (OSError, ValueError, LookupError, TypeError):
        parts = []
    files = {
        (PurePosixPath(part) / path.name).as_posix(): path
        for part in ("", *parts)
        for path in (folder / part).glob("*")
        if path.suffix in _MADE_OF and path.is_file()
    }
    digest = hashlib.sha256()
    for name in sorted(files):
        with files[name].open("rb") as stream:
            digest.update(f"{len(name)}:{name}".encode(errors="surrogateescape"))
            digest.update(hashlib.file_digest(stream, "sha256").digest())
    return digest.hexdigest()[:_SHOWN]


def _line(error: Exception) -> str:
    return next((line.strip() for line in str(error).splitlines() if line.strip()), "")
