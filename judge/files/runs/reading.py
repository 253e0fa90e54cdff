"""Reading a run folder that some process wrote."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final, TypeVar

from pydantic import ValidationError

from judge.errors import RunError
from judge.files.runs.hold import LOCK
from judge.records import SampleResult, Summary
from judge.records.record import Record
from judge.records.run import RunRecord

RESULTS: Final = "results.jsonl"
PART: Final = "results.jsonl.part"
SUMMARY: Final = "summary.json"
RECORD: Final = "run.json"
REJECTED: Final = "rejected.jsonl"
INPUT: Final = "input"
REVIEW: Final = "review"
AGREEMENT: Final = "agreement.json"
PAGE: Final = "agreement.html"
OWN: Final = (RESULTS, SUMMARY, AGREEMENT, PAGE, REJECTED, INPUT, PART, RECORD)
"""What a new run discards, in this order. The record goes last: without it, nobody would know whose
the other files are. What people said, in `review/`, stays."""

_Record = TypeVar("_Record", bound=Record)


def read_record(folder: str | Path) -> RunRecord:
    """The record of a run, finished or not.

    Raises:
        RunError: there is none, or it is damaged.
    """
    return _read(Path(folder), RECORD, RunRecord)


def read_summary(folder: str | Path) -> Summary:
    """The totals of a finished run.

    Raises:
        RunError: there are none, or they are damaged.
    """
    return _read(Path(folder), SUMMARY, Summary)


def read_results(folder: str | Path) -> Iterator[SampleResult]:
    """The results of a run in input order; those so far, where it is unfinished.

    Raises:
        RunError: there are none, or a line is damaged.
    """
    folder = Path(folder)
    path = folder / RESULTS if (folder / RESULTS).exists() else folder / PART
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if not line.endswith(b"\n"):
                    return  # a line torn by kill -9 was never promised to anyone
                yield parse(line, SampleResult, f"{path}, line {number}")
    except OSError as error:
        raise _absent(folder, error) from None


def made_from(folder: Path) -> list[Path]:
    """What a command that reads a run must not write over: its own files, and its input.

    Raises:
        RunError: there is no run, or its record is damaged.
    """
    own = [folder / name for name in (*OWN, LOCK, REVIEW)]
    return [*own, Path(read_record(folder).input.path)]


def _read(folder: Path, name: str, kind: type[_Record]) -> _Record:
    try:
        data = (folder / name).read_bytes()
    except OSError as error:
        raise _absent(folder, error) from None
    return parse(data, kind, str(folder / name))


def parse(
    data: bytes, kind: type[_Record], place: str, step: str = "score again with --force"
) -> _Record:
    """A record of a run folder's file.

    Raises:
        RunError: it is damaged; `place` says where it stands, `step` what to do.
    """
    try:
        return kind.model_validate_json(data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ": ".join(filter(None, (".".join(map(str, first["loc"])), first["msg"])))
        message = f"{place}: damaged, or of another version of judge ({where}); {step}"
        raise RunError(message) from None


def _absent(folder: Path, error: OSError) -> RunError:
    if folder.is_file():
        return RunError(f"{folder}: is a file, not a run folder; name what judge score -o made")
    if not folder.is_dir():
        return RunError(f"{folder}: no such run folder; judge score FILE -o {folder} makes one")
    what = "holds no run" if isinstance(error, FileNotFoundError) else f"{error.strerror}"
    return RunError(f"{folder}: {what}; judge score FILE -o {folder} makes one")
