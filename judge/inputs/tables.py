"""Files that commands write: rows, pages and documents. A cell of a CSV begins no formula."""

import csv
import io
import json
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from glob import glob
from itertools import islice
from pathlib import Path
from typing import Final

from pydantic import BaseModel

from judge.errors import ConfigError, RunError, extra
from judge.text.visible import clip, visible

Value = str | float | None
Write = Callable[[Mapping[str, Value]], None]

BOM: Final = "\ufeff"
"""The beginning of a CSV file that Excel reads as UTF-8."""

LONGEST: Final = 30_000
"""The most characters of a cell; spreadsheets take hardly more."""

_GROUP_ROWS: Final = 10_000
"""Rows of a Parquet file that are written together."""
_QUOTE: Final = "'"
# Spreadsheets skip white space before a sign, and East Asian ones take its full-width form.
_FORMULA: Final = re.compile(r"'*+(?:\s*+[=+\-@＝＋－＠]|[\t\r\n])")
_LINE_END: Final = re.compile(r"\r\n?")
# XML, and so XLSX, cannot hold these, nor most of what `visible` shows.
_NO_XML: Final = dict.fromkeys((0xFFFE, 0xFFFF), "\ufffd")


@contextmanager
def row_file(name: str | None, *sources: str) -> Iterator[Write | None]:
    """Yield a function that adds a row to a `.jsonl` or `.csv`, which appears when it is complete.

    The keys of the first row are the header of a CSV. Without a name, None is yielded. The sources
    are files that are read meanwhile, and must not be replaced.
    """
    if name is None:
        yield None
        return
    path = Path(name)
    if (ending := path.suffix.lower()) not in {".jsonl", ".csv"}:
        raise ConfigError(f"-o {name!r}: ends in neither .jsonl nor .csv; name a file that does")
    check_output(path, map(Path, sources), force=True)
    has_header = ending != ".csv"

    def write(row: Mapping[str, Value]) -> None:
        nonlocal has_header
        if not has_header:
            file.write(BOM + csv_row(list(row)))
            has_header = True
        file.write(line(row))

    line = _csv_line if ending == ".csv" else json_line
    with replacing(path) as part, part.open("x", encoding="utf-8", newline="") as file:
        yield write


def csv_lines(columns: Sequence[str], rows: Iterable[Mapping[str, Value]]) -> Iterator[str]:
    """Yield rows as CSV, in the form of `row_file`, without the BOM."""
    yield csv_row(columns)
    yield from map(_csv_line, rows)


def write_parquet(
    path: Path, columns: Mapping[str, type], rows: Iterable[Mapping[str, object]]
) -> None:
    """Write rows as Parquet; each column may hold nulls."""
    with extra("data", "Parquet"):
        import pyarrow as pa  # noqa: PLC0415  an extra, and slow to load
        from pyarrow.parquet import ParquetWriter  # noqa: PLC0415
    kinds = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
    schema = pa.schema([(name, kinds[kind]) for name, kind in columns.items()])
    rest = iter(rows)
    with ParquetWriter(path, schema, compression="zstd") as file:
        while group := list(islice(rest, _GROUP_ROWS)):
            file.write_batch(pa.RecordBatch.from_pylist(group, schema))


@contextmanager
def replacing(
    path: Path, step: str = "mend that, or name another file", *, follow: bool = True
) -> Iterator[Path]:
    """Yield a temporary path that replaces `path` on leaving, unless an error is raised.

    A link is followed unless `follow` is false. Raise RunError if the path cannot be written;
    `step` says what to do.
    """
    real = Path(os.path.realpath(path)) if follow else path
    # Two that write at once do not write into each other's.
    part = real.with_name(f".{real.name}.{os.urandom(8).hex()}.part")
    try:
        with writing(path, step):
            if real.exists() and not real.is_file():
                raise RunError(f"{path}: is no file that could be replaced; {step}")
            yield part
            if real.exists():
                shutil.copymode(real, part)  # what only its owner could read stays so
            part.replace(real)
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


@contextmanager
def writing(path: Path, step: str) -> Iterator[None]:
    """Turn an OSError about `path` into a RunError with a next step."""
    try:
        yield
    except OSError as error:
        raise RunError(f"{path}: cannot be written ({error.strerror}); {step}") from None


def check_output(path: Path, sources: Iterable[Path], *, force: bool, option: str = "-o") -> None:
    """Raise RunError if a file may not be written, before anything is paid for.

    Files and patterns that the command reads, `sources`, are never replaced, even with `force`.
    """
    step = f"name another {option}"
    if _is_source(path.resolve(), sources):
        raise RunError(f"{path}: is what this is made from, or would lie in it; {step}")
    if path.exists() and not path.is_file():
        raise RunError(f"{path}: is no file that could be replaced; {step}")
    if path.exists() and not force:
        raise RunError(f"{path}: is there already; replace it with --force, or {step}")


def _is_source(path: Path, sources: Iterable[Path]) -> bool:
    found = {name for each in sources for name in (glob(str(each)) or [str(each)])}  # noqa: PTH207  Path.glob takes no absolute pattern
    return not {path, *path.parents}.isdisjoint(Path(os.path.realpath(name)) for name in found)


def write_whole(path: Path, texts: Iterable[str], option: str = "-o") -> None:
    """Write a file whole or not at all, and its folder; raise RunError if it cannot be written."""
    with replacing(path, f"name another {option}") as part:
        part.parent.mkdir(parents=True, exist_ok=True)
        with part.open("wb") as file:
            file.writelines(text.encode() for text in texts)


def as_json(record: BaseModel) -> str:
    """Return a record as the JSON text of a file."""
    return json.dumps(record.model_dump(mode="json"), ensure_ascii=False, indent=2) + "\n"


def json_line(row: Mapping[str, Value]) -> str:
    """Return a row as a line of JSON."""
    return json.dumps(row, ensure_ascii=False) + "\n"


def _csv_line(row: Mapping[str, Value]) -> str:
    return csv_row(
        [
            cell(value) if isinstance(value, str) else "" if value is None else repr(value)
            for value in row.values()
        ]
    )


def cell(text: str) -> str:
    """Return a text as a cell has it: legible, cut to fit, and no formula."""
    return neutralise(clip(legible(text), LONGEST))


def neutralise(text: str) -> str:
    """Return the text in a form that no spreadsheet takes for a formula.

    >>> neutralise("=1+1"), neutralise("3 - 1"), neutralise("'=1")
    ("'=1+1", '3 - 1', "''=1")
    """
    return _QUOTE + text if _FORMULA.match(text) else text


def restore(text: str) -> str:
    """Return the text that `neutralise` was called with, also if a program took its apostrophe.

    >>> restore("'=1+1"), restore("=1+1"), restore("'tis")
    ('=1+1', '=1+1', "'tis")
    """
    return text[1:] if text.startswith(_QUOTE) and _FORMULA.match(text, 1) else text


def legible(text: str) -> str:
    r"""Return the text as a file can hold it and a person can read it.

    Line ends become `\n`, control characters their pictures, lone surrogates, C1 controls and
    bidirectional overrides U+FFFD.

    >>> legible("a\r\nb\x00")
    'a\nb␀'
    """
    return visible(_LINE_END.sub("\n", text)).translate(_NO_XML)


def csv_row(cells: Sequence[str]) -> str:
    r"""Return a row that ends in `\r\n`, as in RFC 4180, with every cell in quotation marks."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\r\n", quoting=csv.QUOTE_ALL).writerow(cells)
    return out.getvalue()


def sync_folder(folder: Path) -> None:
    """Write the names in a folder to the disk, so that they survive a power cut."""
    if not hasattr(os, "O_DIRECTORY"):  # Windows
        return
    number = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # some file systems know no such thing
            os.fsync(number)
    finally:
        os.close(number)
