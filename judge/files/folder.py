"""Run folders, written: whole or resumable, never half, and by one process at a time."""

import json
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from io import BytesIO
from pathlib import Path
from typing import IO, Final, Self

from filelock import FileLock, Timeout
from pydantic import BaseModel

from judge.errors import RunError
from judge.files.runs import (
    INPUT,
    LOCK,
    OWN,
    PART,
    RECORD,
    RESULTS,
    SUMMARY,
    read_record,
    whole_lines,
)
from judge.files.tables import writing
from judge.records import SampleResult, Summary
from judge.records.run import RunRecord
from judge.signature import Signature

_TAKEN: Final = ".input.part"
_ELSEWHERE: Final = "name another -o"
_AGAIN: Final = "what is there stays: mend that and run the same command again"


class RunFolder:
    """A run folder held by this process; use it as a context manager.

    While a run goes on its results stand in `results.jsonl.part`, one whole line each. Once all
    are there the file is renamed, the totals are written, and `run.json` says `finished`. A run
    that was cut off, by Ctrl-C or by kill -9, is taken up where it stopped.

    Args:
        path: the folder; made where it does not exist.
        force: replace a finished run, or an unfinished one that differs.

    Raises:
        RunError: on entering, if another process holds the folder, it cannot be written, or it
            holds a run that must not be lost.
    """

    def __init__(self, path: str | Path, *, force: bool = False) -> None:
        self.path = Path(path)
        self.input = self.path / INPUT  # where a copied input lies once the run has begun
        self._force = force
        self._made: list[Path] = []
        self._held = ExitStack()
        self._part: IO[bytes] = BytesIO()
        self._part.close()  # until the run begins

    def __enter__(self) -> Self:
        with ExitStack() as held:
            with writing(self.path, _ELSEWHERE):
                self._made = [p for p in (self.path, *self.path.parents) if not p.exists()]
                self.path.mkdir(parents=True, exist_ok=True)
            held.enter_context(_lock(self.path, "run", f"wait for it, or {_ELSEWHERE}", _ELSEWHERE))
            held.callback(self._tidy)
            with self._writing():
                (self.path / _TAKEN).unlink(missing_ok=True)  # what a kill -9 left half copied
            earlier = self._earlier()
            if earlier and earlier.finished and not self._force:
                when = earlier.finished[:16].replace("T", " ")
                message = f"{self.path}: holds a finished run of {when} UTC; "
                raise RunError(message + f"replace it with --force, or {_ELSEWHERE}")
            self._held = held.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._held.close()

    def _tidy(self) -> None:
        # What cannot be tidied on the way must not hide a first error.
        with suppress(OSError):
            self._part.close()
        with suppress(OSError):
            (self.path / _TAKEN).unlink(missing_ok=True)
            if all(entry.name == LOCK for entry in self.path.iterdir()):
                # Nothing was written: leave no trace of a run that never began.
                (self.path / LOCK).unlink()
                for folder in self._made:
                    folder.rmdir()

    def owns(self, path: Path) -> bool:
        """Whether this is one of the run's own files, which a new run would replace."""
        real = path.resolve()
        return real.parent == self.path.resolve() and real.name in OWN

    def take(self, stream: IO[bytes]) -> Path:
        """Copy a stream, such as standard input, into the folder: a run must be able to resume."""
        copy = self.path / _TAKEN
        with self._writing(), copy.open("wb") as file:
            shutil.copyfileobj(stream, file)
        return copy

    def begin(self, record: RunRecord) -> int:
        """Start a run, or take up an unfinished one of the same input and signature.

        Returns:
            How many results are already there.

        Raises:
            RunError: the folder holds an unfinished run that differs, and `force` is off.
        """
        earlier = self._earlier()
        other = earlier and difference(earlier, record)
        if earlier is None or earlier.finished or other:
            if other and not self._force:
                message = f"{self.path}: holds an unfinished run with another {other}; "
                raise RunError(message + f"discard it with --force, or {_ELSEWHERE}")
            self.discard()
        # First of all, so that a record accounts for every file that follows.
        self._write(RECORD, record)
        with self._writing():
            with suppress(FileNotFoundError):
                (self.path / _TAKEN).replace(self.input)
            # Cut off between the two last renames: the results are whole, the record is not.
            with suppress(FileNotFoundError):
                (self.path / RESULTS).replace(self.path / PART)
            self._part = (self.path / PART).open("ab+")
            self._part.seek(0)
            lines = size = 0
            for line in whole_lines(self._part):
                lines += 1
                size += len(line)
            self._part.truncate(size)
        return lines

    def append(self, result: SampleResult) -> None:
        """Add one result; it survives a kill -9 from here on."""
        with self._writing():
            self._part.write(result.model_dump_json().encode() + b"\n")
            self._part.flush()

    def finish(self, summary: Summary, record: RunRecord) -> None:
        """Make the run whole: results under their name, totals, and the record last."""
        with self._writing():
            os.fsync(self._part.fileno())
            self._part.close()
            (self.path / PART).replace(self.path / RESULTS)
        self._write(SUMMARY, summary)
        self._write(RECORD, record)

    def discard(self) -> None:
        """Remove every file of the run that stands here, the record last."""
        self._part.close()
        with self._writing():
            for name in OWN:
                (self.path / name).unlink(missing_ok=True)

    def write_lines(self, name: str, lines: Iterable[str]) -> None:
        """Write a file of lines, whole or not at all."""
        part = self.path / f"{name}.part"
        try:
            with self._writing():
                with part.open("w", encoding="utf-8", newline="") as file:
                    file.writelines(lines)
                part.replace(self.path / name)
        finally:
            with suppress(OSError):
                part.unlink(missing_ok=True)

    def _write(self, name: str, record: BaseModel) -> None:
        text = json.dumps(record.model_dump(mode="json"), ensure_ascii=False, indent=2) + "\n"
        self.write_lines(name, [text])

    def _earlier(self) -> RunRecord | None:
        if (self.path / RECORD).exists():
            try:
                return read_record(self.path)
            except RunError:
                if not self._force or _foreign(self.path / RECORD):
                    raise
                return None
        # Without a record these are somebody's files, and none of a run's.
        if strays := [name for name in OWN if (self.path / name).exists()]:
            message = f"{self.path}: holds {strays[0]}, and no {RECORD} accounts for it; "
            raise RunError(message + f"move it away, or {_ELSEWHERE}")
        return None

    def _writing(self) -> AbstractContextManager[None]:
        return writing(self.path, _AGAIN)


def _foreign(path: Path) -> bool:
    """Whether this is somebody else's file, and not a damaged record."""
    try:
        keys = set(json.loads(path.read_bytes()))
    except (OSError, ValueError, TypeError):
        return False
    return not keys & {"signature", "input"}


def difference(earlier: RunRecord, record: RunRecord) -> str | None:
    """What keeps the earlier run from being gone on with; None where nothing does."""
    if earlier.input.sha256 != record.input.sha256:
        return f"input ({earlier.input.path})"
    for name in ("signature", "correctness"):
        made, wanted = getattr(earlier, name), getattr(record, name)
        # Which of its models a server picks is no choice of the user's: the results say it.
        first, second = (Signature.parse(each or "").requested() for each in (made, wanted))
        if apart := ", ".join(first.differs_in(second)):
            return f"{name} ({made}, which differs in {apart})"
    # What a review hook was handed must be one draw, and a cell must mean the same in all results.
    for name in ("seed", "review_rate", "faithful_from", "correct_from", "gold_match"):
        if earlier.config.get(name) != record.config.get(name):
            return f"{name} ({earlier.config.get(name)})"
    return None


def hold(run: Path) -> AbstractContextManager[None]:
    """Hold a run that is there while something is added to it.

    Raises:
        RunError: another process writes there, or the folder cannot be written.
    """
    return _lock(run, "command", "wait for it", "mend that first")


@contextmanager
def _lock(folder: Path, who: str, wait: str, step: str) -> Iterator[None]:
    """Hold a folder; `wait` and `step` say what to do where another does, or it is no place."""
    lock = FileLock(folder / LOCK, timeout=0)
    with writing(folder, step):
        try:
            lock.acquire()
        except Timeout:
            raise RunError(f"{folder}: another {who} is writing here; {wait}") from None
    try:
        yield
    finally:
        lock.release()
