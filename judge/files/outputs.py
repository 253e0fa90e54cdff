"""Files that a command writes beside a run: rows as they come, as JSON lines or CSV, and pages."""

import contextlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

from judge.errors import ConfigError
from judge.files.inputs import PIPED, standard_input

Value = str | float | None
Write = Callable[[Mapping[str, Value]], None]

_ENDINGS: Final = (".jsonl", ".csv")


@contextlib.contextmanager
def row_file(name: str | None, *sources: str) -> Iterator[Write | None]:
    """Takes rows and writes them, whole or not at all, over what is there; None without a name.

    CSV opens right in spreadsheets: UTF-8 with BOM, no formulas; null is an empty cell. The keys of
    the first row are the header.

    Args:
        name: of the file.
        sources: files that are read meanwhile, `-` for standard input.

    Raises:
        ConfigError: the name ends in neither `.jsonl` nor `.csv`, or is that of a source.
        RunError: it cannot be written.
    """
    if name is None:
        yield None
        return
    from judge.files.folder import replacing  # noqa: PLC0415  heavy, and --help stays quick

    path = Path(name)
    if path.suffix.lower() not in _ENDINGS:
        raise ConfigError(f"-o {name!r}: ends in neither .jsonl nor .csv; name a file that does")
    if any(_same(path, other) for other in sources):
        raise ConfigError(f"-o {name!r}: is the file that is read; name another")
    with replacing(path) as part, part.open("w", encoding="utf-8", newline="") as file:
        lines = _csv() if path.suffix.lower() == ".csv" else _jsonl
        yield lambda row: file.writelines(lines(row))


@contextlib.contextmanager
def page_file(name: str | None, *sources: str) -> Iterator[Callable[[str], object] | None]:
    """Takes one text and writes it, whole or not at all, over what is there; None without a name.

    Args:
        name: of the file.
        sources: files that are read meanwhile.

    Raises:
        ConfigError: the name is empty or that of a source.
        RunError: it cannot be written.
    """
    if name is None:
        yield None
        return
    from judge.files.folder import replacing  # noqa: PLC0415  likewise

    if not name:
        raise ConfigError("the name of the file to write is empty; name one")
    path = Path(name)
    if any(_same(path, other) for other in sources):
        raise ConfigError(f"{name!r}: is the file that is read; name another to write")
    with replacing(path) as part:
        yield lambda text: part.write_bytes(text.encode())


def _same(path: Path, other: str) -> bool:
    try:
        if other != PIPED:
            return path.samefile(other)
        # `< samples.jsonl`: no name, and yet a file.
        return os.path.samestat(path.stat(), os.fstat(standard_input().fileno()))
    except OSError:  # one of them is not there, or has a name that cannot be
        return False


def _jsonl(row: Mapping[str, Value]) -> Iterator[str]:
    yield json.dumps(row, ensure_ascii=False) + "\n"


def _csv() -> Callable[[Mapping[str, Value]], Iterator[str]]:
    from judge.files.tables import BOM, cell, csv_row  # noqa: PLC0415  likewise

    begun = False

    def text(value: Value) -> str:
        return cell(value, "en") if isinstance(value, str) else "" if value is None else repr(value)

    def lines(row: Mapping[str, Value]) -> Iterator[str]:
        nonlocal begun
        if not begun:
            yield BOM + csv_row(list(row))
        begun = True
        yield csv_row(list(map(text, row.values())))

    return lines
