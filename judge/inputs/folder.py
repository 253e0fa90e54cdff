"""A run folder as its writer sees it: finished or resumable, and held by one process."""

import json
import logging
import os
import re
import secrets
import shutil
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import IO, Final, Self

from filelock import FileLock, Timeout
from pydantic import BaseModel

from judge.errors import RunError
from judge.inputs.runs import (
    INPUT,
    LOCK,
    OWN,
    PART,
    RECORD,
    REJECTED,
    RESULTS,
    REVIEW,
    SHARDED,
    SHARDS,
    SUMMARY,
    line_of,
    read_record,
    results_in,
    whole_lines,
)
from judge.inputs.tables import replacing, sync_folder, writing
from judge.records import SampleResult, Summary
from judge.records.run import RunRecord
from judge.signature import Signature
from judge.text.visible import clip, plural

_LEFT: Final = re.compile(
    rf"(?:{'|'.join(map(re.escape, (RECORD, SUMMARY, REJECTED, INPUT)))})\.[0-9a-f]{{16}}\.part"
)
"""Temporary files that kill -9 leaves behind."""
_SHOWN: Final = 60
_MOVE: Final = "move it away, or name another -o"
_ELSEWHERE: Final = "name another -o"
_AGAIN: Final = "what is there stays: mend that and run the same command again"


class RunFolder:
    """A context manager that holds a run folder for this process.

    Results go to `results.jsonl.part`, one whole line each. When all are there, the file is
    renamed, the totals are written, and last `run.json` with `finished`. An interrupted run is
    resumed.

    Nothing is written through a link within the folder.

    Args:
        path: the folder, which is made if it does not exist.
        force: replace a finished run, or an unfinished one that differs.
        sharded: the results are written by the workers of a cluster, into `results/`.

    Raises:
        RunError: on entering, if another process holds the folder, it cannot be written, or it
            holds a run that must not be lost.
    """

    def __init__(self, path: str | Path, *, force: bool = False, sharded: bool = False) -> None:
        self.path = Path(path)
        self.input = self.path / INPUT  # where a copied input lies once the run has begun
        self.kept = 0
        """The number of results from an earlier session, once the run has begun."""
        self._force, self._sharded = force, sharded
        self._cached = False
        self._taken: Path | None = None
        self._made: list[Path] = []
        self._held = ExitStack()
        self._part: IO[bytes] = BytesIO()
        self._part.close()  # until the run begins

    def __enter__(self) -> Self:
        with ExitStack() as held:
            with writing(self.path, _ELSEWHERE):
                self._made = [p for p in (self.path, *self.path.parents) if not p.exists()]
                self.path.mkdir(parents=True, exist_ok=True)
                _refuse_strays(self.path)  # before as much as a lock is written there
            held.enter_context(hold(self.path, "run", f"wait for it, or {_ELSEWHERE}", _ELSEWHERE))
            held.callback(self._tidy)
            earlier = self._earlier()
            if earlier and earlier.finished and not self._force:
                when = earlier.finished[:16].replace("T", " ")
                message = f"{self.path}: holds a finished run of {when} UTC; "
                raise RunError(message + f"replace it with --force, or {_ELSEWHERE}")
            with self._writing():
                for entry in self.path.iterdir():
                    if _LEFT.fullmatch(entry.name) and (entry.is_symlink() or not entry.is_dir()):
                        entry.unlink()
            self._held = held.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._held.close()

    def _tidy(self) -> None:
        # What cannot be tidied on the way must not hide a first error.
        with suppress(OSError):
            self._part.close()
        with suppress(OSError):
            if self._taken:
                self._taken.unlink(missing_ok=True)
            if all(entry.name == LOCK for entry in self.path.iterdir()):
                # Nothing was written: leave no trace of a run that never began.
                (self.path / LOCK).unlink()
                for folder in self._made:
                    folder.rmdir()

    def owns(self, path: Path) -> bool:
        """Return whether this is one of the run's own files, which a new run would replace."""
        real = Path(os.path.realpath(path))  # Path.resolve fails where links lead to each other
        return real.parent == self.path.resolve() and real.name in OWN

    def take(self, stream: IO[bytes]) -> Path:
        """Copy a stream, such as standard input, into the folder: a run must be able to resume."""
        self._taken = self.path / f"{INPUT}.{secrets.token_hex(8)}.part"
        with self._writing(), self._taken.open("xb") as file:
            shutil.copyfileobj(stream, file)
            _sync(file)
        return self._taken

    def begin(self, record: RunRecord) -> int:
        """Start a run, or resume an unfinished one of the same input and signature.

        Returns:
            The number of results that are there already: whole lines, not parsed yet.

        Raises:
            RunError: the folder holds an unfinished run that differs, and `force` is off.
        """
        earlier = self._earlier()
        other = earlier and difference(earlier, record)
        if earlier and (self.path / SHARDS).exists() != self._sharded:
            other = "engine"
        if earlier is None or earlier.finished or other:
            if other and not self._force:
                message = f"{self.path}: holds an unfinished run with another {other}; "
                raise RunError(message + f"discard it with --force, or {_ELSEWHERE}")
            self.discard()
            earlier = None
        self._cached = bool(record.config.get("cache") and record.config.get("model"))
        # First of all, so that a record accounts for every file that follows.
        self._write(RECORD, record)
        with self._writing():
            for made in self._made:
                sync_folder(made.parent)
            if self._taken:
                self._taken.replace(self.input)
            if self._sharded:
                for name in SHARDED:
                    (self.path / name).mkdir(exist_ok=True)
                return 0
            # Cut off between the two last renames: the results are whole, the record is not.
            with suppress(FileNotFoundError):
                (self.path / RESULTS).replace(self.path / PART)
            self._part = (self.path / PART).open("ab+")
            self._part.seek(0)
            self.kept = sum(1 for _ in whole_lines(self._part))
            torn = self._part.seek(0, os.SEEK_END) > self._cut(self.kept)
        if torn:
            self._tell(f"line {self.kept + 1} is cut off")
        return self.kept

    def results(self) -> Iterator[SampleResult | str]:
        """Yield the results of an earlier session, as `results_in` does."""
        with self._writing(), (self.path / PART).open("rb") as file:
            yield from results_in(islice(file, self.kept))

    def cut(self, lines: int, problem: str = "") -> None:
        """Keep the first `lines` results, and log the problem with the next one, if any."""
        self._cut(lines)
        self.kept = lines
        if problem:
            self._tell(problem)

    def _cut(self, lines: int) -> int:
        """Cut the file behind the first `lines` lines; return its size."""
        with self._writing():
            self._part.seek(0)
            return self._part.truncate(sum(map(len, islice(self._part, lines))))

    def _tell(self, problem: str) -> None:
        what = "its results from there on are made again"
        if self._cached:
            what += ", the cache holds what was paid for"
        logging.getLogger("judge").warning("%s: %s; %s", self.path / PART, problem, what)

    def append(self, result: SampleResult) -> None:
        """Add one result; it survives a kill -9 from here on."""
        with self._writing():
            self._part.write(line_of(result))
            self._part.flush()

    def finish(self, summary: Summary, record: RunRecord) -> None:
        """Rename the results, write the totals, and the record last."""
        if not self._sharded:
            with self._writing():
                _sync(self._part)
                self._part.close()
                (self.path / PART).replace(self.path / RESULTS)
        self._write(SUMMARY, summary)
        self._write(RECORD, record)

    def discard(self) -> None:
        """Remove every file of the run, the record last."""
        self._part.close()
        with self._writing():
            for name in filter(lambda each: (self.path / each).exists(), SHARDED):
                shutil.rmtree(self.path / name)
            for name in OWN:
                (self.path / name).unlink(missing_ok=True)

    def write_lines(self, name: str, lines: Iterable[str]) -> None:
        """Write a file of lines, whole or not at all."""
        with (
            replacing(self.path / name, _AGAIN, follow=False) as part,
            part.open("x", encoding="utf-8", newline="") as file,
        ):
            file.writelines(lines)
            _sync(file)

    def _write(self, name: str, record: BaseModel) -> None:
        text = json.dumps(record.model_dump(mode="json"), ensure_ascii=False, indent=2) + "\n"
        self.write_lines(name, [text])
        with self._writing():
            sync_folder(self.path)

    def _earlier(self) -> RunRecord | None:
        if os.path.lexists(self.path / RECORD):
            for name in OWN:
                _refuse_link(self.path / name)
            try:
                return read_record(self.path)
            except RunError:
                if _foreign(self.path / RECORD):
                    message = f"{self.path / RECORD}: damaged, or no record of judge's; {_MOVE}"
                    raise RunError(message) from None
                if not self._force:
                    raise
                return None
        _refuse_strays(self.path)
        return None

    def _writing(self) -> AbstractContextManager[None]:
        return writing(self.path, _AGAIN)


def _refuse_strays(folder: Path) -> None:
    """Raise RunError if a folder holds files and no record: they belong to the user.

    Labels, temporary files of ours and hidden files do not count.
    """
    if os.path.lexists(folder / RECORD):
        return
    for entry in sorted(folder.iterdir()):
        own = entry.name == REVIEW or _LEFT.fullmatch(entry.name)
        if not own and (entry.is_dir() or not entry.name.startswith(".")):
            what = f"holds {clip(entry.name, _SHOWN)}, and no {RECORD} accounts for it"
            raise RunError(f"{folder}: {what}; {_MOVE}")


def _foreign(path: Path) -> bool:
    """Return whether this is a file of another program, and no damaged record."""
    try:
        keys = set(json.loads(path.read_bytes()))
    except (OSError, ValueError, TypeError):
        return False
    return not keys & {"signature", "input"}


def difference(earlier: RunRecord, record: RunRecord) -> str | None:
    """Return why an earlier run cannot be resumed with this record; None if it can."""
    if earlier.input.sha256 != record.input.sha256:
        return f"input ({earlier.input.path})"
    sizes = [(each.input.samples, each.input.drawn_from) for each in (earlier, record)]
    if sizes[0] != sizes[1] and any(whole for _, whole in sizes):
        samples = earlier.input.samples
        return f"limit ({samples} {plural(samples, 'answer')})"
    for name in ("signature", "correctness", "answer_relevance"):
        made, wanted = getattr(earlier, name), getattr(record, name)
        # The model that a server picks is not the user's choice, and the results name it.
        first, second = (Signature.parse(each or "").requested() for each in (made, wanted))
        if apart := ", ".join(first.differs_in(second)):
            return f"{name} ({made}, which differs in {apart})"
    # A review hook gets one random draw, and a table of cells has one set of thresholds.
    for name in ("seed", "review_rate", "faithful_from", "correct_from", "gold_match", "map"):
        if earlier.config.get(name) != record.config.get(name):
            return f"{name} ({earlier.config.get(name)})"
    return None


def _refuse_link(path: Path) -> None:
    """Raise RunError if this is a link, which may lead out of the folder."""
    if path.is_symlink():
        raise RunError(f"{path}: is a link, where a run has a file of its own; move it away")


def _sync(file: IO[bytes] | IO[str]) -> None:
    """Write a file's content to the disk, so that it survives a power cut."""
    file.flush()
    os.fsync(file.fileno())


@contextmanager
def hold(
    folder: Path,
    who: str = "command",
    wait: str = "wait for it",
    step: str = "mend that first",
    patience: float = 0.0,
) -> Iterator[None]:
    """Hold a folder, such as a run's, against other processes.

    Args:
        folder: the folder.
        who: the kind of the other process, for messages.
        wait: the next step if another process holds it.
        step: the next step if it cannot be written.
        patience: seconds to wait for another process.

    Raises:
        RunError: another process holds the folder, or it cannot be written.
    """
    lock = FileLock(folder / LOCK, timeout=patience)
    _refuse_link(folder / LOCK)
    with writing(folder, step):
        try:
            lock.acquire()
        except Timeout:
            raise RunError(f"{folder}: another {who} is writing here; {wait}") from None
    try:
        yield
    finally:
        lock.release()
