"""The files that an input's name means: one, those of a folder or a pattern."""

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from glob import iglob
from pathlib import Path
from typing import Final

from judge.errors import InputError

_TEXT: Final = (".jsonl", ".ndjson", ".json", ".csv", ".tsv")
COLUMNS: Final = (".parquet", ".pq", ".arrow", ".feather", ".xlsx")
_PACKED: Final = ("", ".gz", ".zst")
ENDINGS: Final = (*(each + packed for each in _TEXT for packed in _PACKED), *COLUMNS)
"""Of the files in a folder that are read."""
WILD: Final = frozenset("*?[")


def is_many(path: Path) -> bool:
    """Whether a name is that of a folder, or a pattern."""
    try:
        return path.is_dir() or (not WILD.isdisjoint(str(path)) and not path.exists())
    except (OSError, ValueError):  # no name of a file; opening it says why
        return False


def input_files(path: Path) -> list[Path]:
    """The files, in the order in which they are read; a name that is no folder's is itself one.

    Raises:
        InputError: a folder or a pattern means none.
    """
    if not is_many(path):
        return [path]
    if not path.is_dir():
        every = iglob(str(path), recursive=True)  # noqa: PTH207  as a shell, without hidden ones
        found = [each for each in map(Path, every) if each.is_file()]
    else:
        names = meant(str(each) for each in path.rglob("*") if each.is_file())
        found = [Path(name) for name in names]
    if not found:
        raise none_in(str(path), folder=path.is_dir())
    return sorted(found, key=str)


def run_name(name: str) -> str:
    """What the folder of a run is called by an input's name.

    >>> run_name("night.jsonl.gz"), run_name("part-*.csv"), run_name(".jsonl")
    ('night', 'part', 'run')
    """
    for ending in (".gz", ".zst", *COLUMNS, *_TEXT):
        name = name.removesuffix(ending)
    if not WILD.isdisjoint(name):
        name = re.sub(r"[*?\[\]]+", "", name).strip("-_")
    # `...jsonl` would name the folder above, and `.jsonl` none.
    return name if name.strip(".") else "run"


def would_hold(path: Path, folder: Path) -> bool:
    """Whether a folder that is read stands around another."""
    return path.is_dir() and folder.resolve().is_relative_to(path.resolve())


def meant(names: Iterable[str], pattern: str = "") -> list[str]:
    """Those files of a folder that hold samples, or are a pattern's, in their order."""
    return sorted(name for name in names if _is_meant(name, pattern))


def none_in(given: str, *, folder: bool) -> InputError:
    """What is wrong with a folder or a pattern without files."""
    kinds = f" that ends in {', '.join(ENDINGS)}" if folder else ""
    return InputError(f"no file there{kinds}; check the name", path=given)


def _is_meant(path: str, pattern: str) -> bool:
    parts, wanted = path.split("/"), pattern.split("/")
    if pattern:  # as a shell does: a star stands for no slash
        return len(parts) == len(wanted) and all(map(fnmatchcase, parts, wanted))
    return not parts[-1].startswith((".", "_")) and path.lower().endswith(ENDINGS)
