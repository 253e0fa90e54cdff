"""Models on this machine, by sentence-transformers: NLI classifiers and sentence embeddings.

A model is a folder or a name in the Hugging Face cache. Nothing is downloaded, and a model's own
code is never run. Loading and inference happen on the caller's worker thread.
"""

import asyncio
import hashlib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np
import numpy.typing as npt

from judge.errors import ConfigError, install
from judge.records import Relation, Unscored, UnscoredReason
from judge.text.tokens import broken
from judge.text.visible import short

_Result = TypeVar("_Result")
_MESSAGE_CHARACTERS: Final = 200
_MODEL_FILES: Final = {".json", ".txt", ".model", ".safetensors", ".bin"}
_OFFLINE: Final[dict[str, bool]] = {"local_files_only": True, "trust_remote_code": False}


async def load_scorer(name: str, worker: Executor) -> "NliScorer":
    """Load a `CrossEncoder` and try it on one pair; raise ConfigError where that fails."""

    def make(folder: Path, signature: str) -> NliScorer:
        import torch  # noqa: PLC0415  a part of the extra, and seconds of imports
        from sentence_transformers import CrossEncoder  # noqa: PLC0415

        if not any(folder.glob("tokenizer.json")) and not any(folder.glob("vocab.*")):
            # The library would make up a tokenizer that knows no word.
            raise ConfigError("its folder holds no tokenizer; save the tokenizer there, too")
        model = CrossEncoder(
            str(folder),
            activation_fn=torch.nn.Softmax(dim=-1),
            model_kwargs={"dtype": torch.float32},
            **_OFFLINE,
        )
        scorer = NliScorer(signature, model, worker)
        scorer.relate([("a", "b")])
        return scorer

    return await _load(name, f"--nli-model {name!r}", make, worker)


async def load_embedder(name: str, worker: Executor) -> "SentenceEmbedder":
    """Load a `SentenceTransformer`; raise ConfigError where that fails."""

    def make(folder: Path, signature: str) -> SentenceEmbedder:
        from sentence_transformers import SentenceTransformer  # noqa: PLC0415

        return SentenceEmbedder(signature, SentenceTransformer(str(folder), **_OFFLINE), worker)

    return await _load(name, f"--embedding-model {f'local:{name}'!r}", make, worker)


class NliScorer:
    """Classifies pairs of texts with a `CrossEncoder`."""

    def __init__(self, signature: str, model: Any, worker: Executor) -> None:  # noqa: ANN401
        self.signature: Final = signature
        """`NAME@HASH` of the model's files."""
        self._model, self._worker = model, worker
        self._entailment, self._contradiction = read_labels(model.config.id2label)

    async def score(self, pairs: Sequence[tuple[str, str]]) -> list[Relation | None] | Unscored:
        """Return one relation per pair, or None where a pair exceeds the model's limit."""
        return await _run(self._worker, lambda: self.relate(pairs))

    def relate(self, pairs: Sequence[tuple[str, str]]) -> list[Relation | None]:
        """Do the work of `score` on the calling thread; raise whatever the libraries raise."""
        found: list[Relation | None] = [None] * len(pairs)
        texts = [(_plain(premise), _plain(hypothesis)) for premise, hypothesis in pairs]
        fitting = [i for i, pair in enumerate(texts) if self._fits(*pair)]
        rows = self._model.predict([texts[i] for i in fitting], show_progress_bar=False)
        if not np.isfinite(rows).all():
            raise ArithmeticError("its output is not a number")
        for i, row in zip(fitting, np.asarray(rows).tolist(), strict=True):
            against = 0.0 if self._contradiction is None else row[self._contradiction]
            found[i] = Relation(entailed=row[self._entailment], contradicted=against)
        return found

    def _fits(self, premise: str, hypothesis: str) -> bool:
        tokens = self._model.tokenizer(premise, hypothesis, verbose=False)
        return len(tokens["input_ids"]) <= int(self._model.max_seq_length)


class SentenceEmbedder:
    """Embeds texts with a `SentenceTransformer`, which cuts a text longer than the model takes."""

    def __init__(self, signature: str, model: Any, worker: Executor) -> None:  # noqa: ANN401
        self.signature: Final = f"embedding:{signature}"
        """`embedding:NAME@HASH` of the model's files."""
        self._model, self._worker = model, worker

    async def embed(
        self,
        texts: Sequence[str],
        deadline: float | None = None,  # noqa: ARG002  no server is waited for
    ) -> npt.NDArray[np.float32] | Unscored:
        """Return rows of unit length (all zero for a blank text), shape (len(texts), d)."""
        return await _run(self._worker, lambda: self._encode(texts))

    def _encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        rows: npt.NDArray[np.float32] = self._model.encode(
            [_plain(text) for text in texts], normalize_embeddings=True, show_progress_bar=False
        )
        return np.where([[bool(text.strip())] for text in texts], rows, np.float32(0))


def read_labels(id2label: Mapping[int, str]) -> tuple[int, int | None]:
    """Return the positions of entailment and, where the model has it, of contradiction."""
    positions = {label.casefold(): position for position, label in id2label.items()}
    if "entailment" not in positions or len(id2label) == 1:
        raise ConfigError(
            f"its labels ({', '.join(map(repr, id2label.values()))}) do not say which is "
            "entailment; name them entailment, neutral and contradiction in id2label of its "
            "config.json"
        )
    return positions["entailment"], positions.get("contradiction")


def fingerprint(folder: Path) -> str:
    """Return 8 hex digits of the contents of a model's files."""
    digest = hashlib.sha256()
    # sentence-transformers numbers the folders of a model's parts, such as `1_Pooling`.
    paths = [*folder.glob("*"), *folder.glob("[0-9]_*/*")]
    for name, path in sorted((path.relative_to(folder).as_posix(), path) for path in paths):
        if path.suffix in _MODEL_FILES and path.is_file():
            digest.update(f"{len(name)}:{name}".encode(errors="surrogateescape"))
            with path.open("rb") as stream:
                digest.update(hashlib.file_digest(stream, "sha256").digest())
    return digest.hexdigest()[:8]


def _find(name: str) -> tuple[Path, str]:
    """Return the folder of a model, and its name in signatures."""
    folder = Path(name).expanduser()
    if folder.is_dir():  # moving it changes no signature
        return folder, folder.resolve().name
    from huggingface_hub import snapshot_download  # noqa: PLC0415  a part of the extra

    try:
        return Path(snapshot_download(name, local_files_only=True)), name
    except (OSError, ValueError):
        raise ConfigError(
            "is neither a folder nor in the Hugging Face cache of this machine, and judge "
            f"downloads nothing; name a folder, or run hf download {name}"
        ) from None


async def _load(
    name: str, option: str, make: Callable[[Path, str], _Result], worker: Executor
) -> _Result:
    """Return what `make` makes of the model's folder and its signature."""

    def load() -> _Result:
        folder, short_name = _find(name)
        from transformers.utils import logging  # noqa: PLC0415  a part of the extra

        logging.set_verbosity_error()
        logging.disable_progress_bar()
        return make(folder, f"{short_name}@{fingerprint(folder)}")

    try:
        return await asyncio.get_running_loop().run_in_executor(worker, load)
    except ImportError:
        problem = f"needs more packages; {install('local')}"
    except ConfigError as error:
        problem = str(error)
    except Exception as error:  # noqa: BLE001  the libraries raise anything for a broken file
        why = short(f"{type(error).__name__}: {error}", _MESSAGE_CHARACTERS)
        problem = f"cannot be loaded ({why}); try it in sentence-transformers, or name another"
    raise ConfigError(f"{option}: {problem}")


async def _run(worker: Executor, work: Callable[[], _Result]) -> _Result | Unscored:
    """Return what `work` returns on the worker's thread; an exception becomes a value."""
    try:
        return await asyncio.get_running_loop().run_in_executor(worker, work)
    except Exception as error:  # noqa: BLE001  libraries and devices raise anything
        detail = short(f"the model failed: {type(error).__name__}: {error}", _MESSAGE_CHARACTERS)
        return Unscored(reason=UnscoredReason.SERVER_ERROR, detail=detail)


def _plain(text: str) -> str:
    """Return the text without control tokens of a model and without lone surrogates."""
    return broken(text).encode(errors="replace").decode()
