"""The run folder: reading a run and its samples, and writing one so that it can be resumed."""

import logging
import os
import shutil
from collections.abc import Collection, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass
from io import BytesIO
from itertools import islice, takewhile
from pathlib import Path
from typing import IO, Final, Self, TypeVar

from filelock import FileLock, Timeout
from pydantic import BaseModel, ValidationError

from judge.errors import InputError, RunError
from judge.inputs.files import STDIN, InputFile, InputName, hash_of, is_address
from judge.inputs.samples import draw_samples, read_samples
from judge.inputs.tables import as_json, replacing, writing
from judge.records import Record, Sample, SampleResult, Summary
from judge.records.result import ADDED
from judge.records.run import RunInput, RunRecord
from judge.signature import Signature, parts_apart
from judge.text.visible import clip, counted, plural

RESULTS: Final = "results.jsonl"
PART: Final = "results.jsonl.part"
SUMMARY: Final = "summary.json"
RECORD: Final = "run.json"
REJECTED: Final = "rejected.jsonl"
INPUT: Final = "input"
"""A copy of standard input."""
_COPYING: Final = ".input.part"
"""The copy of standard input, before the run begins."""
SHARDS: Final = "results"
"""The folder of a cluster's results, in files that sort into input order."""
LOCK: Final = ".lock"
REVIEW: Final = "review"
"""The folder of labels, which a new run does not remove."""
AGREEMENT: Final = "agreement.json"
PAGE: Final = "agreement.html"
OWN: Final = (RESULTS, SUMMARY, AGREEMENT, PAGE, REJECTED, INPUT, PART, RECORD)
"""The files that a new run removes, in this order. The record is last, because files without a
record are taken for the user's own."""

_Record = TypeVar("_Record", bound=Record)
_STEP: Final = "score again with --force"
_MOVE: Final = "move it away, or name another -o"
_ELSEWHERE: Final = "name another -o"
_AGAIN: Final = "what is there stays: mend that and run the same command again"
_SHOWN: Final = 60
"""Characters of a name in a message."""


@dataclass(frozen=True, slots=True)
class Run:
    """A run in a folder."""

    folder: Path
    """The run folder."""
    record: RunRecord
    """Input, settings and signature; `finished` is null while the run is unfinished."""
    summary: Summary | None
    """The totals; null while the run is unfinished."""

    @property
    def results(self) -> Iterator[SampleResult]:
        """The results in input order, read anew each time; it raises as `read_results` does."""
        return read_results(self.folder)


def read_run(folder: str | Path) -> Run:
    """Return the run in a folder; raise RunError if the folder holds no run, or a damaged one."""
    record = read_record(folder)
    return Run(Path(folder), record, read_summary(folder) if record.finished else None)


def finished_run(folder: str | Path) -> tuple[Run, Summary]:
    """Return a run and its totals; raise RunError if it is unfinished, absent or damaged."""
    run = read_run(folder)
    if run.summary is None:
        raise RunError(f"{folder}: is unfinished; finish it with the same judge score")
    return run, run.summary


def read_record(folder: str | Path) -> RunRecord:
    """Return the record of a run, finished or not; raise RunError if it is absent or damaged."""
    path = Path(folder) / RECORD
    try:
        # The file may be another program's, which --force must not replace.
        step = "move the folder away, and run judge score again"
        return parse(path.read_bytes(), RunRecord, str(path), step)
    except OSError as error:
        raise _absent(Path(folder), error) from None


def read_summary(folder: str | Path) -> Summary:
    """Return the totals of a finished run; raise RunError if they are absent or damaged."""
    return read_document(Path(folder) / SUMMARY, Summary, _STEP)


def read_results(folder: str | Path) -> Iterator[SampleResult]:
    """Yield the results of a run in input order; an unfinished run has those so far.

    Raise RunError if the run has no results, or if lines are damaged, lost or added.
    """
    folder = Path(folder)
    try:
        whole, path, parts = result_files(folder)
        count = 0
        for part in parts:
            with part.open("rb") as file:
                for found in results_in(file if whole else whole_lines(file)):
                    if isinstance(found, str):
                        step = _STEP if whole else "the same judge score makes it again from there"
                        raise RunError(f"{part}: {found}; {step}")
                    count += 1
                    yield found
        if whole and (folder / RECORD).exists():
            samples = read_record(folder).input.samples
            if count != samples:
                change = "lost" if count < samples else "added"
                what = f"holds {counted(count, 'result')}, and {samples:,} were scored"
                raise RunError(f"{path}: {what}: lines were {change}; {_STEP}")
    except OSError as error:
        raise _absent(folder, error) from None


def result_files(folder: Path) -> tuple[bool, Path, list[Path]]:
    """Return whether all results are there, their path for messages, and their files."""
    if (folder / SHARDS).is_dir():
        done = (folder / RECORD).exists() and read_record(folder).finished is not None
        return done, folder / SHARDS, shards(folder / SHARDS)
    whole = (folder / RESULTS).exists()
    path = folder / RESULTS if whole else folder / PART
    return whole, path, [path]


def shards(folder: Path) -> list[Path]:
    """Return the finished files of a folder of shards, in input order."""
    return sorted(folder.glob("*.jsonl"))


def line_of(result: SampleResult) -> bytes:
    """Return a result as a line of `results.jsonl`."""
    return result.model_dump_json().encode() + b"\n"


def results_in(lines: Iterable[bytes]) -> Iterator[SampleResult | str]:
    """Yield the results on lines; at the first damaged line, yield a description and stop."""
    for number, line in enumerate(lines, 1):
        if not line.endswith(b"\n"):
            yield f"line {number} is cut off"
            return
        try:
            yield SampleResult.model_validate_json(line)
        except ValidationError as error:
            yield f"line {number} is {_damage(error)}"
            return


def misplaced(number: int, result: SampleResult, sample: Sample | None) -> str | None:
    """Return what is wrong if a line of results does not belong to a sample; else None."""
    if sample is not None and is_of(result, sample):
        return None
    expected = "no more" if sample is None else f"the answer of qid {sample.qid}"
    what = f"line {number} is of qid {result.qid}, and {expected} is expected"
    return f"{what}: lines were lost, doubled or swapped"


def whole_lines(file: IO[bytes]) -> Iterator[bytes]:
    """Yield the lines before the first that is cut off, as kill -9 may leave it."""
    return takewhile(lambda line: line.endswith(b"\n"), file)


def made_from(folder: Path) -> list[Path]:
    """Return the files of a run and its input, which a command must not overwrite."""
    own = [folder / name for name in (*OWN, LOCK, REVIEW)]
    return [*own, Path(read_record(folder).input.path)]


def parse(data: bytes, kind: type[_Record], place: str, step: str = _STEP) -> _Record:
    """Return the record in JSON; raise RunError with its place and a next step if it is damaged."""
    try:
        return kind.model_validate_json(data)
    except ValidationError as error:
        raise RunError(f"{place}: {_damage(error)}; {step}") from None


def read_document(path: Path, kind: type[_Record], step: str) -> _Record:
    """Return the record in a file; raise RunError with a next step if it is absent or damaged."""
    try:
        return parse(path.read_bytes(), kind, str(path), step)
    except OSError as error:
        raise RunError(f"{path}: cannot be read ({error.strerror}); {step}") from None


def _damage(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    where = ": ".join(filter(None, (".".join(map(str, first["loc"])), first["msg"])))
    return f"damaged, or of another version of judge ({where})"


def _absent(folder: Path, error: OSError) -> RunError:
    step = f"judge score FILE -o {folder} makes one"
    return RunError(f"{folder}: holds no run ({error.strerror}); {step}")


# The samples behind the results


def samples_of(folder: Path, qids: Collection[str]) -> dict[str, Sample]:
    """Return samples of a run by qid; none if the input is gone or has changed."""
    found = (sample for sample in _samples(folder) or () if sample.qid in qids)
    return {sample.qid: sample for sample in islice(found, len(qids))}


def origins(folder: Path) -> Iterator[tuple[Sample, SampleResult]]:
    """Yield every result of a run with its sample, in input order.

    Raise RunError if samples are gone or have changed: people must see what the judge saw.
    """
    samples = _samples(folder)
    if samples is None:
        step = f"put it back, or score it again with --force -o {folder}"
        raise RunError(f"{_input(folder)}: changed since {folder} was scored, or gone; {step}")
    for number, result in enumerate(read_results(folder), 1):
        sample = next(samples, None)
        problem = misplaced(number, result, sample)
        if problem or sample is None:
            raise RunError(f"{folder / RESULTS}: {problem}; {_STEP}")
        yield sample, result


def pairs(folder: Path) -> Iterator[tuple[SampleResult, Sample | None]]:
    """Yield every result of a run with its sample, or None where the input is gone or changed."""
    samples = _samples(folder) or iter(())
    for number, result in enumerate(read_results(folder), 1):
        sample = next(samples, None)
        yield result, None if misplaced(number, result, sample) else sample


def questions(folder: Path) -> dict[str, int]:
    """Return a hash of each question of a run by qid, comparable within this process."""
    queries = ((each.qid, " ".join(each.query.split())) for each in _samples(folder) or ())
    return {qid: hash(query) for qid, query in queries if query}


def has_bytes(path: InputName, made_from: RunInput) -> bool:
    """Return whether an input is there, and byte for byte that of a run."""
    with suppress(InputError):
        return hash_of(path) == made_from.sha256
    return False


def is_of(result: SampleResult, sample: Sample) -> bool:
    """Return whether a result is of a sample: of its qid, with sentences that its answer has."""
    same = (sample.answer[each.start : each.end] == each.text for each in result.sentences)
    return sample.qid == result.qid and all(same)


def _input(folder: Path) -> str | Path:
    copy = folder / INPUT
    return copy if copy.exists() else read_record(folder).input.path


def _samples(folder: Path) -> Iterator[Sample] | None:
    """Return the samples of a run, in input order; None if they are gone or have changed."""
    record, path = read_record(folder), _input(folder)
    if not has_bytes(path, record.input):
        return None
    paths = record.config.get("map")
    mapping = {n: str(path) for n, path in paths.items()} if isinstance(paths, dict) else {}
    samples = read_samples(path, on_bad=lambda _: None, mapping=mapping)
    return draw_samples(samples, record.input, int(str(record.config.get("seed", 0))))


# Writing a run


class RunFolder:
    """A context manager that holds a run folder for this process.

    Each result is appended to `results.jsonl.part` as one line. When all are there, the file is
    renamed, the totals are written, and last `run.json` with `finished`. Entering it raises
    RunError if the folder is in use, cannot be written, or holds a run or files of the user.

    Args:
        path: the folder, which is made if it does not exist.
        force: replace a finished run, or an unfinished one that differs.
        sharded: the results are written by the workers of a cluster, into `results/`.
    """

    def __init__(self, path: str | Path, *, force: bool = False, sharded: bool = False) -> None:
        self.path = Path(path)
        self.input = self.path / INPUT
        """The path of a copied input, once the run has begun."""
        self.kept = 0
        """The number of results from an earlier session, once the run has begun."""
        self._force, self._sharded = force, sharded
        self._copy = self.path / _COPYING
        self._new_folders: list[Path] = []
        self._lock = ExitStack()
        self._part: IO[bytes] = BytesIO()
        self._part.close()  # until the run begins

    def __enter__(self) -> Self:
        with ExitStack() as lock:
            with writing(self.path, _ELSEWHERE):
                self._new_folders = [p for p in (self.path, *self.path.parents) if not p.exists()]
                self.path.mkdir(parents=True, exist_ok=True)
                _refuse_strays(self.path)  # before as much as a lock is written there
            lock.enter_context(hold(self.path, "run", f"wait for it, or {_ELSEWHERE}"))
            lock.callback(self._tidy)
            earlier = self._earlier()
            if earlier and earlier.finished and not self._force:
                when = earlier.finished[:16].replace("T", " ")
                message = f"{self.path}: holds a finished run of {when} UTC; "
                raise RunError(message + f"replace it with --force, or {_ELSEWHERE}")
            with self._writing():
                for left in self.path.glob(".*.part"):  # kill -9 leaves them
                    left.unlink()
            self._lock = lock.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.close()

    def _tidy(self) -> None:
        # An error here must not hide the first one.
        with suppress(OSError):
            self._part.close()
            self._copy.unlink(missing_ok=True)
            if all(entry.name == LOCK for entry in self.path.iterdir()):
                # Nothing was written: leave no trace of a run that never began.
                (self.path / LOCK).unlink()
                for folder in self._new_folders:
                    folder.rmdir()

    def refuse_source(self, source: str | Path) -> None:
        """Raise RunError if an input lies in this folder, or is a folder that holds this one."""
        if is_address(source):
            return
        # Path.resolve fails where links lead to each other.
        real, folder = (Path(os.path.realpath(each)) for each in (source, self.path))
        if real.is_relative_to(folder) or (real.is_dir() and folder.is_relative_to(real)):
            step = "name an -o elsewhere"
            raise RunError(f"{source}: is in the run folder, or the run folder in it; {step}")

    def take(self, stream: IO[bytes]) -> InputFile:
        """Copy a stream, such as standard input, into the folder: a run must be able to resume."""
        with self._writing(), self._copy.open("xb") as file:
            shutil.copyfileobj(stream, file)
            _sync(file)
        return InputFile(str(self._copy), STDIN)

    def begin(self, record: RunRecord) -> int:
        """Start a run, or resume an unfinished one of the same input and signature.

        Return the number of whole lines of results that are there, which are not parsed yet.
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
        # First of all, so that a record accounts for every file that follows.
        self._write(RECORD, record)
        with self._writing():
            if self._copy.exists():
                self._copy.replace(self.input)
            if self._sharded:
                (self.path / SHARDS).mkdir(exist_ok=True)
                return 0
            # Cut off between the two last renames: the results are whole, the record is not.
            with suppress(FileNotFoundError):
                (self.path / RESULTS).replace(self.path / PART)
            self._part = (self.path / PART).open("ab+")
            self._part.seek(0)
            self.kept = sum(1 for _ in whole_lines(self._part))
        return self.kept

    def results(self) -> Iterator[SampleResult | str]:
        """Yield the results of an earlier session, as `results_in` does."""
        with self._writing(), (self.path / PART).open("rb") as file:
            yield from results_in(file)

    def cut(self, lines: int, problem: str = "") -> None:
        """Keep the first `lines` results, and log the problem with the next one, if any."""
        with self._writing():
            self._part.seek(0)
            self._part.truncate(sum(map(len, islice(self._part, lines))))
        self.kept = lines
        if problem:
            step = "its results from there on are made again"
            logging.getLogger("judge").warning("%s: %s; %s", self.path / PART, problem, step)

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
            if (self.path / SHARDS).exists():
                shutil.rmtree(self.path / SHARDS)
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
        self.write_lines(name, [as_json(record)])

    def _earlier(self) -> RunRecord | None:
        if not os.path.lexists(self.path / RECORD):
            _refuse_strays(self.path)
            return None
        for name in OWN:
            _refuse_link(self.path / name)
        return read_record(self.path)

    def _writing(self) -> AbstractContextManager[None]:
        return writing(self.path, _AGAIN)


def _refuse_strays(folder: Path) -> None:
    """Raise RunError if a folder has no record, but files: they are the user's own."""
    if os.path.lexists(folder / RECORD):
        return
    for entry in sorted(folder.iterdir()):
        if entry.name != REVIEW and (entry.is_dir() or not entry.name.startswith(".")):
            what = f"holds {clip(entry.name, _SHOWN)}, and no {RECORD} accounts for it"
            raise RunError(f"{folder}: {what}; {_MOVE}")


def difference(earlier: RunRecord, record: RunRecord) -> str | None:
    """Return what differs if an earlier run cannot be resumed with this record; else None."""
    if earlier.input.sha256 != record.input.sha256:
        return f"input ({earlier.input.path})"
    sizes = [(each.input.samples, each.input.drawn_from) for each in (earlier, record)]
    if sizes[0] != sizes[1] and any(whole for _, whole in sizes):
        samples = earlier.input.samples
        return f"limit ({samples} {plural(samples, 'answer')})"
    for name in ("signature", *ADDED.values()):
        old, new = getattr(earlier, name), getattr(record, name)
        # The model that a server picks is not the user's choice, and the results name it.
        both = [str(Signature.parse(each or "none").requested()) for each in (old, new)]
        if parts := "; ".join(parts_apart(both)):
            return f"{name} ({parts})"
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
    folder: Path, who: str = "command", wait: str = "wait for it", patience: float = 0.0
) -> Iterator[None]:
    """Hold a folder, such as a run's; wait at most `patience` seconds for another process.

    Raise RunError if another process, which the message calls `who`, holds it; `wait` says what
    to do.
    """
    lock = FileLock(folder / LOCK, timeout=patience)
    _refuse_link(folder / LOCK)
    with writing(folder, "mend that, or name another folder"):
        try:
            lock.acquire()
        except Timeout:
            raise RunError(f"{folder}: another {who} is writing here; {wait}") from None
    try:
        yield
    finally:
        lock.release()
