"""A model of this machine: found, told from others, loaded and run on a thread of its own."""

import asyncio
import hashlib
import json
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Final, NamedTuple, TypeVar

from judge.errors import ConfigError
from judge.records import Unscored, UnscoredReason

_Model = TypeVar("_Model")
_Given = TypeVar("_Given")
_Made = TypeVar("_Made")

_MADE_OF: Final = frozenset({".json", ".txt", ".model", ".safetensors", ".bin"})
"""Endings of the files of config, tokenizer and weights; not of what training leaves behind."""
_SHOWN: Final = 8


class Place(NamedTuple):
    """The name of a model, and the option that sets it."""

    name: str
    """A folder, or a name on the Hugging Face hub."""
    option: str
    """The option of the command line, for error messages."""
    prefix: str = ""
    """What the option's value has before the name."""


async def load(
    place: Place, make: Callable[[Path], _Model], worker: Executor
) -> tuple[str, _Model]:
    """What `make` makes of the model's folder, behind `NAME@HASH` for signatures.

    A folder goes by its last name: where it stands makes no verdict another.

    Raises:
        ConfigError: there is no such model, the extra is not installed, or `make` failed.
    """

    def run() -> tuple[str, _Model]:
        folder = located(place.name)
        model = make(folder)
        is_folder = Path(place.name).expanduser() == folder
        name = folder.resolve().name if is_folder else place.name
        return f"{name}@{fingerprint(folder)}", model

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
    raise ConfigError(f"{place.option} {place.prefix + place.name!r}: {problem}")


async def run(worker: Executor, work: Callable[[_Given], _Made], given: _Given) -> _Made | Unscored:
    """What `work` makes of `given` on the worker's thread.

    A model that breaks down, as for want of memory, is `Unscored(server_error)`, in one line.
    """
    try:
        return await asyncio.get_running_loop().run_in_executor(worker, work, given)
    except Exception as error:  # noqa: BLE001  libraries and devices fail as they please
        return Unscored(
            reason=UnscoredReason.SERVER_ERROR,
            detail=f"the model failed: {_line(error) or type(error).__name__}",
        )


@contextmanager
def quiet() -> Iterator[None]:
    """Silence transformers, and leave it as it was.

    Raises:
        ImportError: it is not installed.
    """
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

    Args:
        name: a folder, or `owner/model` of the Hugging Face hub, with `@revision` behind it where
            it is not the main one.

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
    sentence-transformers keeps the parts of a model. Time is linear in their size.
    """
    digest = hashlib.sha256()
    files = {
        (PurePosixPath(part) / path.name).as_posix(): path
        for part in ("", *_parts(folder))
        for path in (folder / part).glob("*")
        if path.suffix in _MADE_OF and path.is_file()
    }
    for name in sorted(files):
        with files[name].open("rb") as stream:
            digest.update(f"{len(name)}:{name}".encode(errors="surrogateescape"))
            digest.update(hashlib.file_digest(stream, "sha256").digest())
    return digest.hexdigest()[:_SHOWN]


def _parts(folder: Path) -> list[str]:
    """The folders in which the parts of a model lie; none where nothing says so."""
    try:
        modules = json.loads((folder / "modules.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    listed = modules if isinstance(modules, list) else []
    paths = [module.get("path") for module in listed if isinstance(module, dict)]
    return [path for path in paths if isinstance(path, str)]


def _line(error: Exception) -> str:
    return next((line.strip() for line in str(error).splitlines() if line.strip()), "")
