"""Models on this machine, by sentence-transformers: NLI classifiers and sentence embeddings.

A model is a folder or a name in the Hugging Face cache. Nothing is downloaded, and a model's own
code is never run. The packages come with `pip install '.[local]'` and are imported only when a
model is loaded. Loading and inference happen on the caller's worker thread.
"""

import asyncio
import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np
import numpy.typing as npt

from judge.errors import ConfigError, install
from judge.records import Relation, Unscored, UnscoredReason
from judge.text.tokens import broken

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder, SentenceTransformer

_Made = TypeVar("_Made")
_Input = TypeVar("_Input")

_AT_ONCE: Final = 128
"""Texts or pairs in one call of a model. Between calls other answers have their turn."""
_TOKENIZERS: Final = ("tokenizer.json", "vocab.txt", "vocab.json", "*.model")
_MODEL_FILES: Final = {".json", ".txt", ".model", ".safetensors", ".bin"}
"""Endings of the files of config, tokenizer and weights."""
_HASH_DIGITS: Final = 8
_OFFLINE: Final[dict[str, bool]] = {"local_files_only": True, "trust_remote_code": False}


class NliScorer:
    """Classifies pairs of texts with a `CrossEncoder`.

    Raises:
        ConfigError: the model's labels do not say which of them is entailment.
    """

    def __init__(self, signature: str, model: "CrossEncoder", worker: Executor) -> None:
        self.signature: Final = signature
        """`NAME@HASH` of the model's files."""
        self._model = model
        self._worker = worker
        self._entailment, self._contradiction = read_labels(model.config.id2label)
        self._limit = model.max_seq_length
        if "roberta" in model.config.model_type:
            # This family starts to count positions behind that of the padding token.
            positions = model.config.max_position_embeddings - model.config.pad_token_id - 1
            self._limit = min(self._limit, positions)

    @staticmethod
    async def load(name: str, worker: Executor) -> "NliScorer":
        """Load a model and try it on one pair. The worker has one thread and outlives the scorer.

        Raises:
            ConfigError: there is no such model, or it cannot be used.
        """

        def make(folder: Path, signature: str) -> NliScorer:
            scorer = NliScorer(signature, _cross_encoder(folder), worker)
            scorer.relate([("a", "b")])
            return scorer

        return await _load(name, f"--nli-model {name!r}", make, worker)

    async def score(self, pairs: Sequence[tuple[str, str]]) -> list[Relation | None] | Unscored:
        """One relation per pair; None where premise and hypothesis exceed the model's limit.

        A model that fails, for example for lack of memory, is a failure of all pairs.
        """
        parts = await _run(self._worker, self.relate, pairs)
        return parts if isinstance(parts, Unscored) else [each for part in parts for each in part]

    def relate(self, pairs: Sequence[tuple[str, str]]) -> list[Relation | None]:
        """As `score`, on the calling thread; raises whatever the libraries raise.

        Raises:
            ArithmeticError: the model's output is not a number.
        """
        texts = [(_plain(premise), _plain(hypothesis)) for premise, hypothesis in pairs]
        tokens = self._model.tokenizer(*map(list, zip(*texts, strict=True)), verbose=False)
        found: list[Relation | None] = [None] * len(texts)
        fitting = [i for i, ids in enumerate(tokens["input_ids"]) if len(ids) <= self._limit]
        rows = self._model.predict([texts[i] for i in fitting], show_progress_bar=False)
        if not np.isfinite(rows).all():
            raise ArithmeticError("its output is not a number")
        for i, row in zip(fitting, rows.tolist(), strict=True):
            against = 0.0 if self._contradiction is None else row[self._contradiction]
            found[i] = Relation(entailed=row[self._entailment], contradicted=against)
        return found


class SentenceEmbedder:
    """Embeds texts with a `SentenceTransformer`, which cuts a text longer than the model takes."""

    def __init__(self, signature: str, model: "SentenceTransformer", worker: Executor) -> None:
        self.signature: Final = f"embedding:{signature}"
        """`embedding:NAME@HASH` of the model's files."""
        self._model = model
        self._worker = worker

    @staticmethod
    async def load(name: str, worker: Executor) -> "SentenceEmbedder":
        """Load a model. The worker has one thread and outlives the embedder.

        Raises:
            ConfigError: there is no such model, or it cannot be used.
        """

        def make(folder: Path, signature: str) -> SentenceEmbedder:
            from sentence_transformers import SentenceTransformer  # noqa: PLC0415

            with _quiet():
                return SentenceEmbedder(
                    signature, SentenceTransformer(str(folder), **_OFFLINE), worker
                )

        return await _load(name, f"--embedding-model {f'local:{name}'!r}", make, worker)

    async def embed(
        self,
        texts: Sequence[str],
        deadline: float | None = None,  # noqa: ARG002 (no server is waited for)
    ) -> npt.NDArray[np.float32] | Unscored:
        """Rows of unit length (all zero for a blank text), shape (len(texts), d)."""
        parts = await _run(self._worker, self._encode, texts)
        if isinstance(parts, Unscored):
            return parts
        none = np.zeros((0, self._model.get_embedding_dimension() or 0), np.float32)
        return np.concatenate([none, *parts])

    def _encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        plain = [_plain(text) for text in texts]
        rows: npt.NDArray[np.float32] = self._model.encode(
            plain, normalize_embeddings=True, show_progress_bar=False
        )
        rows[[not text.strip() for text in texts]] = 0
        return rows


def read_labels(id2label: Mapping[int, str]) -> tuple[int, int | None]:
    """The positions of entailment and, where the model has it, of contradiction.

    Raises:
        ConfigError: no label, or the only one, is called entailment.

    >>> read_labels({0: "CONTRADICTION", 1: "neutral", 2: "Entailment"})
    (2, 0)
    """
    positions = {label.casefold(): position for position, label in id2label.items()}
    if "entailment" not in positions or len(id2label) == 1:
        raise ConfigError(
            f"its labels ({', '.join(map(repr, id2label.values()))}) do not say which means that "
            "the passage entails the sentence; where you know, name them entailment, neutral and "
            "contradiction in id2label of its config.json"
        )
    return positions["entailment"], positions.get("contradiction")


def find_folder(name: str) -> Path:
    """The folder of a model: `name` itself, or its snapshot in the Hugging Face cache.

    In the cache it is called `owner/model`, or `owner/model@revision`.

    Raises:
        ConfigError: neither is there.
        ImportError: the extra `local` is not installed, and `name` is no folder.
    """
    folder = os.path.expanduser(name)  # noqa: PTH111  Path raises for an unknown user
    if os.path.isdir(folder):  # noqa: PTH112  likewise for a long name
        return Path(folder)
    from huggingface_hub import snapshot_download  # noqa: PLC0415  a part of the extra

    model, _, revision = name.partition("@")
    try:
        return Path(snapshot_download(model, revision=revision or None, local_files_only=True))
    except (OSError, ValueError):
        more = f" --revision {revision}" if revision else ""
        raise ConfigError(
            "is no folder, and not in the Hugging Face cache of this machine; judge downloads "
            f"nothing: name a folder, or fetch a model with hf download {model}{more}"
        ) from None


def fingerprint(folder: Path) -> str:
    """8 hex digits of the contents of a model's files, since a folder may change under its name.

    sentence-transformers numbers the folders of a model's parts, such as `1_Pooling`.
    """
    digest = hashlib.sha256()
    paths = [*folder.glob("*"), *folder.glob("[0-9]_*/*")]
    for name, path in sorted((path.relative_to(folder).as_posix(), path) for path in paths):
        if path.suffix in _MODEL_FILES and path.is_file():
            digest.update(f"{len(name)}:{name}".encode(errors="surrogateescape"))
            with path.open("rb") as stream:
                digest.update(hashlib.file_digest(stream, "sha256").digest())
    return digest.hexdigest()[:_HASH_DIGITS]


async def _load(
    name: str, setting: str, make: Callable[[Path, str], _Made], worker: Executor
) -> _Made:
    """What `make` returns for the model's folder and its signature, `NAME@HASH`.

    A folder goes by its last name, so that moving it changes no verdict. Errors begin with
    `setting`, the option as the user wrote it.
    """

    def run() -> _Made:
        folder = find_folder(name)
        is_folder = Path(name).expanduser() == folder
        called = folder.resolve().name if is_folder else name
        return make(folder, f"{called}@{fingerprint(folder)}")

    try:
        return await asyncio.get_running_loop().run_in_executor(worker, run)
    except ImportError as error:
        problem = f"needs more packages ({_line(error)}); {install('local')}"
    except ConfigError as error:
        problem = _line(error)
    except Exception as error:  # noqa: BLE001  a broken file fails in the loader as it pleases
        problem = (
            f"cannot be loaded ({type(error).__name__}: {_line(error)}); "
            "try it in sentence-transformers itself, or name another"
        )
    raise ConfigError(f"{setting}: {problem}")


def _cross_encoder(folder: Path) -> "CrossEncoder":
    import torch  # noqa: PLC0415  a part of the extra, and seconds of imports
    from sentence_transformers import CrossEncoder  # noqa: PLC0415  likewise

    if not any(path for pattern in _TOKENIZERS for path in folder.glob(pattern)):
        # The library would make up a tokenizer that knows no word.
        raise ConfigError("its folder holds no tokenizer; save it there, too")
    with _quiet():
        return CrossEncoder(
            str(folder),
            activation_fn=torch.nn.Softmax(dim=-1),
            model_kwargs={"dtype": torch.float32},
            **_OFFLINE,
        )


async def _run(
    worker: Executor, work: Callable[[Sequence[_Input]], _Made], inputs: Sequence[_Input]
) -> list[_Made] | Unscored:
    """What `work` returns on the worker's thread for some inputs at a time; a failure of all."""
    loop, starts = asyncio.get_running_loop(), range(0, len(inputs), _AT_ONCE)
    try:
        return [
            await loop.run_in_executor(worker, work, inputs[start : start + _AT_ONCE])
            for start in starts
        ]
    except Exception as error:  # noqa: BLE001  libraries and devices fail as they please
        detail = f"the model failed: {_line(error) or type(error).__name__}"
        return Unscored(reason=UnscoredReason.SERVER_ERROR, detail=detail)


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence the progress bars and reports of transformers for a while."""
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


def _plain(text: str) -> str:
    """The text without control tokens of a model, and without halves of characters."""
    return broken(text).encode(errors="replace").decode()


def _line(error: Exception) -> str:
    return next((line.strip() for line in str(error).splitlines() if line.strip()), "")
