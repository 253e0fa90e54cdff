"""A run folder as readers see it: record, results, totals, and the samples behind the results."""

import errno
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain, takewhile
from pathlib import Path
from typing import IO, Final, TypeVar

from pydantic import ValidationError

from judge.errors import InputError, RunError
from judge.inputs.files import hash_of
from judge.inputs.samples import drawn, read_samples
from judge.records import Record, Sample, SampleResult, Summary
from judge.records.run import RunInput, RunRecord
from judge.text.visible import counted

RESULTS: Final = "results.jsonl"
PART: Final = "results.jsonl.part"
SUMMARY: Final = "summary.json"
RECORD: Final = "run.json"
REJECTED: Final = "rejected.jsonl"
INPUT: Final = "input"
"""A copy of standard input."""
SHARDS: Final = "results"
SAMPLES: Final = "samples"
REJECTS: Final = "rejected"
SHARDED: Final = (SHARDS, SAMPLES, REJECTS)
"""The folders of a cluster's run: results, copied samples and bad lines, in files that sort into
input order. Samples are copied if the input is more than one file of lines."""
LOCK: Final = ".lock"
REVIEW: Final = "review"
"""The folder of labels, which a new run does not remove."""
AGREEMENT: Final = "agreement.json"
PAGE: Final = "agreement.html"
AGREEMENTS: Final = {
    f"correctness_{half}": (f"agreement_{half}.json", f"agreement_{half}.html")
    for half in ("precision", "recall")
}
OWN: Final = (
    *(RESULTS, SUMMARY, AGREEMENT, PAGE, *chain.from_iterable(AGREEMENTS.values())),
    *(REJECTED, INPUT, PART, RECORD),
)
"""The files that a new run removes, in this order. The record is last, because files without a
record are taken for the user's own."""

_Record = TypeVar("_Record", bound=Record)
_STEP: Final = "score again with --force"


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
        """The results in input order, read anew each time; errors as in `read_results`."""
        return read_results(self.folder)


def read_run(folder: str | Path) -> Run:
    """Return the run in a folder; raise RunError if there is none, or it is damaged."""
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
    return _read(Path(folder), RECORD, RunRecord)


def read_summary(folder: str | Path) -> Summary:
    """Return the totals of a finished run; raise RunError if they are absent or damaged."""
    return _read(Path(folder), SUMMARY, Summary)


def read_results(folder: str | Path) -> Iterator[SampleResult]:
    """Yield the results of a run in input order; of an unfinished run those so far.

    Raises:
        RunError: there are none, a line is damaged, or, at the end, lines were lost or added.
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
    return sorted(each for each in folder.iterdir() if each.name.endswith((".jsonl", ".jsonl.gz")))


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
    """Return why a line of results does not belong to a sample; None if it does."""
    if sample is None or sample.qid != result.qid:
        expected = "no more" if sample is None else sample.qid
        what = f"line {number} is of qid {result.qid}, expected {expected}"
        return f"{what}: lines were lost, doubled or swapped"
    if not is_of(result, sample):
        return f"line {number} is of another answer than that of qid {sample.qid}"
    return None


def whole_lines(file: IO[bytes]) -> Iterator[bytes]:
    """Yield the lines before the first that is cut off, as kill -9 may leave it."""
    return takewhile(lambda line: line.endswith(b"\n"), file)


def made_from(folder: Path) -> list[Path]:
    """Return the files of a run and its input, which a command must not overwrite."""
    own = [folder / name for name in (*OWN, LOCK, REVIEW)]
    return [*own, Path(read_record(folder).input.path)]


def _read(folder: Path, name: str, kind: type[_Record]) -> _Record:
    try:
        data = (folder / name).read_bytes()
    except OSError as error:
        raise _absent(folder, error) from None
    return parse(data, kind, str(folder / name))


def parse(data: bytes, kind: type[_Record], place: str, step: str = _STEP) -> _Record:
    """Return the record in JSON; raise RunError with its place and a next step if it is damaged."""
    try:
        return kind.model_validate_json(data)
    except ValidationError as error:
        raise RunError(f"{place}: {_damage(error)}; {step}") from None


def read_document(path: Path, kind: type[_Record], step: str) -> _Record:
    """Return the record in a file; raise RunError with a next step if it is absent or damaged."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise RunError(f"{path}: cannot be read ({error.strerror}); {step}") from None
    return parse(data, kind, str(path), step)


def _damage(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    where = ": ".join(filter(None, (".".join(map(str, first["loc"])), first["msg"])))
    return f"damaged, or of another version of judge ({where})"


def _absent(folder: Path, error: OSError) -> RunError:
    if error.errno == errno.ENAMETOOLONG:
        return RunError(f"{str(folder)[:60]}…: {error.strerror}; name a run folder")
    if folder.is_file():
        return RunError(f"{folder}: is a file, not a run folder; name what judge score -o made")
    if not folder.is_dir():
        return RunError(f"{folder}: no such run folder; judge score FILE -o {folder} makes one")
    what = "holds no run" if isinstance(error, FileNotFoundError) else f"{error.strerror}"
    return RunError(f"{folder}: {what}; judge score FILE -o {folder} makes one")


# The samples behind the results


class Origins:
    """Finds the samples behind results that come in input order, in one reading of the input.

    If the input has changed elsewhere, this takes longer and finds the same.

    Args:
        folder: the run folder.
    """

    def __init__(self, folder: Path) -> None:
        self._read = partial(_samples, folder)
        self._samples = self._read()
        self._qids: frozenset[str] | None = None

    def of(self, result: SampleResult) -> Sample | None:
        """Return the sample of a result; None if it is gone or has another answer now.

        Raises:
            RunError: the folder has no sound record.
        """
        with suppress(InputError):
            for _ in range(2):
                if self._qids is not None and result.qid not in self._qids:
                    break
                sample = next((each for each in self._samples if each.qid == result.qid), None)
                if sample is not None:
                    return sample if is_of(result, sample) else None
                # It is not behind the last one; if the input has changed it may be before it.
                if self._qids is None:
                    self._qids = frozenset(each.qid for each in self._read())
                self._samples = self._read()
        return None


def samples_of(folder: Path, qids: Collection[str]) -> dict[str, Sample]:
    """Return the samples of some answers by qid, without those that are gone or changed."""
    samples, wanted = Origins(folder), frozenset(qids)
    results = (result for result in read_results(folder) if result.qid in wanted)
    return {each.qid: sample for each in results if (sample := samples.of(each)) is not None}


def origins(folder: Path) -> Iterator[tuple[Sample, SampleResult]]:
    """Yield every result of a run with its sample, in input order.

    Raises:
        RunError: the folder holds no run, its results are damaged, or the samples are gone or have
            changed: a person must not be shown other chunks than the judge.
    """
    path = _input(folder)
    try:
        if not _is_unchanged(folder):
            raise RunError(
                f"{path}: changed since {folder} was scored; score it again with --force"
            )
    except OSError as error:
        message = f"{folder}: its samples cannot be read again ({path}: {error.strerror}); "
        raise RunError(message + "put them back") from None
    samples = _samples(folder)
    for number, result in enumerate(read_results(folder), 1):
        sample = next(samples, None)
        problem = misplaced(number, result, sample)
        if problem or sample is None:
            raise RunError(f"{folder / RESULTS}: {problem}; {_STEP}")
        yield sample, result


def pairs(folder: Path) -> Iterator[tuple[SampleResult, Sample | None]]:
    """Yield every result of a run with its sample, in input order; errors as in `read_results`.

    All samples are None if the input is gone or has changed.
    """
    try:
        unchanged = _is_unchanged(folder)
    except OSError:
        unchanged = False
    samples = Origins(folder) if unchanged else None
    for result in read_results(folder):
        yield result, samples.of(result) if samples else None


def questions(folder: Path) -> dict[str, int]:
    """Return a hash of each question of a run by qid; nothing if the samples are gone.

    Hashes are comparable within one process only.
    """
    try:
        if not _is_unchanged(folder):
            return {}
        asked = ((each.qid, " ".join(each.query.split())) for each in _samples(folder))
        return {qid: hash(query) for qid, query in asked if query}
    except (OSError, InputError):
        return {}


def has_bytes(path: str | Path, made_from: RunInput) -> bool:
    """Return whether an input is byte for byte that of a run; raise OSError if it is gone."""
    try:
        return hash_of(path) == made_from.sha256
    except InputError as error:
        raise OSError(errno.ENOENT, error.problem) from None


def _is_unchanged(folder: Path) -> bool:
    copied = (folder / SAMPLES).is_dir() and shards(folder / SAMPLES)
    return bool(copied) or has_bytes(_input(folder), read_record(folder).input)


def _input(folder: Path) -> Path:
    copy = folder / INPUT
    return copy if copy.exists() else Path(read_record(folder).input.path)


def is_of(result: SampleResult, sample: Sample) -> bool:
    """Return whether the sentences of a result are those of a sample's answer.

    Sentences that the sample does not give must cover the answer but for blanks.
    """
    answer, spans = sample.answer, [(each.start, each.end) for each in result.sentences]
    if any(answer[each.start : each.end] != each.text for each in result.sentences):
        return False
    if sample.sentences is not None:
        return spans == [(each.start, each.end) for each in sample.sentences]
    ends = [0, *chain.from_iterable(spans), len(answer)]
    between = zip(ends[::2], ends[1::2], strict=True)
    return not any(answer[start:end].strip() for start, end in between)


def _samples(folder: Path) -> Iterator[Sample]:
    record = read_record(folder)
    # Runs of earlier versions have no limit.
    limit = float(str(record.config.get("max_line", "inf")))
    copied = shards(folder / SAMPLES) if (folder / SAMPLES).is_dir() else []
    read = partial(read_samples, on_bad=lambda _: None, max_line=limit, unique=not copied)
    paths = record.config.get("map")
    if isinstance(paths, dict) and not copied:
        read = partial(read, mapping={name: str(path) for name, path in paths.items()})
    samples = chain.from_iterable(map(read, copied or [_input(folder)]))
    return drawn(samples, record.input, int(str(record.config.get("seed", 0))))
