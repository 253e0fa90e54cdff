"""A model's folder on this machine: where it is, and what tells it from another."""

import hashlib
import json
from pathlib import Path, PurePosixPath
from typing import Final

from judge.errors import ConfigError

_MADE_OF: Final = frozenset({".json", ".txt", ".model", ".safetensors", ".bin"})
"""Endings of the files of config, tokenizer and weights; not of what training leaves behind."""
_SHOWN: Final = 8


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
