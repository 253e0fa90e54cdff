"""Where the weights of a model stand, which ones they are, and the thread that runs them."""

import asyncio
import hashlib
import json
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Final, TypeVar

from judge.errors import ConfigError, install
from judge.records import Unscored, UnscoredReason

_Model = TypeVar("_Model")
_Given = TypeVar("_Given")
_Made = TypeVar("_Made")

_MADE_OF: Final = {".json", ".txt", ".model", ".safetensors", ".bin"}
"""Endings of the files of config, tokenizer and weights; not of what training leaves behind."""
_SHOWN: Final = 8


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
        problem = f"needs more packages ({_line(error)}); {install('local')}"
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
