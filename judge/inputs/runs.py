"""Run folders, read: the record, the results, the totals, and the samples behind the results."""

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
SHARDS: Final = "results"
SAMPLES: Final = "samples"
REJECTS: Final = "rejected"
SHARDED: Final = (SHARDS, SAMPLES, REJECTS)
"""Folders of a run of many machines: results, samples and bad lines, in files that sort into input
order. The samples are there where the input is not one file of lines."""
LOCK: Final = ".lock"
REVIEW: Final = "review"
AGREEMENT: Final = "agreement.json"
PAGE: Final = "agreement.html"
AGREEMENTS: Final = {
    f"correctness_{half}": (f"agreement_{half}.json", f"agreement_{half}.html")
    for half in ("precision", "recall")
}
"""The same of the halves of correctness."""
_AGREEMENTS: Final = tuple(name for names in AGREEMENTS.values() for name in names)
OWN: Final = (
    *(RESULTS, SUMMARY, AGREEMENT, PAGE, *_AGREEMENTS, REJECTED, INPUT, PART),
    RECORD,
)
"""What a new run discards, in this order. The record goes last: without it, nobody would know whose
the other files are. What people said, in `review/`, stays."""

_Record = TypeVar("_Record", bound=Record)
_AGAIN: Final = "score again with --force"


@dataclass(frozen=True, slots=True)
class Run:
    """A run that stands in a folder."""

    folder: Path
    """Where."""
    record: RunRecord
    """What was scored and how; `finished` says whether all of it was."""
    summary: Summary | None
    """Its totals; None while it is unfinished."""

    @property
    def results(self) -> Iterator[SampleResult]:
        """The results in input order, read anew each time; errors as of `read_results`."""
        return read_results(self.folder)


def read_run(folder: str | Path) -> Run:
    """A run folder, as `judge score -o FOLDER` made it.

    Raises:
        RunError: there is no run, or it is damaged.
    """
    record = read_record(folder)
    return Run(Path(folder), record, read_summary(folder) if record.finished else None)


def finished_run(folder: str | Path) -> tuple[Run, Summary]:
    """A run and its totals; errors as of `read_run`, and a `RunError` where it is unfinished."""
    run = read_run(folder)
    if run.summary is None:
        raise RunError(f"{folder}: is unfinished; finish it with the same judge score")
    return run, run.summary


def read_record(folder: str | Path) -> RunRecord:
    """The record of a run, finished or not; `RunError` where there is none, or it is damaged."""
    return _read(Path(folder), RECORD, RunRecord)


def read_summary(folder: str | Path) -> Summary:
    """The totals of a finished run; errors as of `read_record`."""
    return _read(Path(folder), SUMMARY, Summary)


def read_results(folder: str | Path) -> Iterator[SampleResult]:
    """The results of a run in input order; those so far, where it is unfinished.

    `RunError` where there are none, or a line is damaged; at the end, where whole lines were lost
    or added.
    """
    folder = Path(folder)
    try:
        whole, path, parts = result_files(folder)
        count = 0
        for part in parts:
            with part.open("rb") as file:
                for found in results_in(file if whole else whole_lines(file)):
                    if isinstance(found, str):
                        step = _AGAIN if whole else "the same judge score makes it again from there"
                        raise RunError(f"{part}: {found}; {step}")
                    count += 1
                    yield found
        if whole and (folder / RECORD).exists():
            many = read_record(folder).input.samples
            if count != many:
                what = f"holds {counted(count, 'result')}, and {many:,} were scored: lines were "
                raise RunError(f"{path}: {what}{'lost' if count < many else 'added'}; {_AGAIN}")
    except OSError as error:
        raise _absent(folder, error) from None


def result_files(folder: Path) -> tuple[bool, Path, list[Path]]:
    """Whether all results are there, what a message calls them, and the files they stand in."""
    if (folder / SHARDS).is_dir():
        done = (folder / RECORD).exists() and read_record(folder).finished is not None
        return done, folder / SHARDS, shards(folder / SHARDS)
    whole = (folder / RESULTS).exists()
    path = folder / RESULTS if whole else folder / PART
    return whole, path, [path]


def shards(folder: Path) -> list[Path]:
    """The whole files of such a folder, in input order."""
    return sorted(each for each in folder.iterdir() if each.name.endswith((".jsonl", ".jsonl.gz")))


def line_of(result: SampleResult) -> bytes:
    """A result as a line of `results.jsonl`, which `SampleResult.model_validate_json` reads."""
    return result.model_dump_json().encode() + b"\n"


def results_in(lines: Iterable[bytes]) -> Iterator[SampleResult | str]:
    """The results on these lines; for the first damaged one a text that says why, and no more."""
    for number, line in enumerate(lines, 1):
        problem = "" if line.endswith(b"\n") else "is cut off"
        if not problem:
            try:
                yield SampleResult.model_validate_json(line)
                continue
            except ValidationError as error:
                problem = f"is {_damage(error)}"
        yield f"line {number} {problem}"
        return


def misplaced(number: int, result: SampleResult, sample: Sample | None) -> str | None:
    """What is wrong with a line of results in a sample's place; None where it is the sample's."""
    expected = "no more" if sample is None else sample.qid
    if sample is None or sample.qid != result.qid:
        what = f"line {number} is of qid {result.qid}, expected {expected}"
        return f"{what}: lines were lost, doubled or swapped"
    if not is_of(result, sample):
        return f"line {number} is of another answer than that of qid {sample.qid}"
    return None


def whole_lines(file: IO[bytes]) -> Iterator[bytes]:
    """The lines before the first that is cut off: one torn by kill -9 was promised to nobody."""
    return takewhile(lambda line: line.endswith(b"\n"), file)


def made_from(folder: Path) -> list[Path]:
    """What a command that reads a run must not write over: its own files, and its input."""
    own = [folder / name for name in (*OWN, LOCK, REVIEW)]
    return [*own, Path(read_record(folder).input.path)]


def _read(folder: Path, name: str, kind: type[_Record]) -> _Record:
    try:
        data = (folder / name).read_bytes()
    except OSError as error:
        raise _absent(folder, error) from None
    return parse(data, kind, str(folder / name))


def parse(data: bytes, kind: type[_Record], place: str, step: str = _AGAIN) -> _Record:
    """A record of a run folder's file; RunError where it is damaged, at this place, with a step."""
    try:
        return kind.model_validate_json(data)
    except ValidationError as error:
        raise RunError(f"{place}: {_damage(error)}; {step}") from None


def read_document(path: Path, kind: type[_Record], step: str) -> _Record:
    """A record in a file of its own; RunError with a step where there is none, or it is damaged."""
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


class Origins:
    """The samples behind results of a run that come in input order, read in one go.

    What has changed elsewhere in the file makes it slower, not wrong.

    Args:
        folder: of the run.
    """

    def __init__(self, folder: Path) -> None:
        self._read = partial(_samples, folder)
        self._samples = self._read()
        self._standing: frozenset[str] | None = None

    def of(self, result: SampleResult) -> Sample | None:
        """The sample behind a result; None where the file is gone or has another answer now.

        A result never bears another's text. RunError where the folder has no sound record.
        """
        with suppress(InputError):
            for _ in range(2):
                if self._standing is not None and result.qid not in self._standing:
                    break
                # Results that nobody asks for are passed over.
                sample = next((each for each in self._samples if each.qid == result.qid), None)
                if sample is not None:
                    return sample if is_of(result, sample) else None
                # Not behind the last one: the file has changed; it may stand before, or nowhere.
                if self._standing is None:
                    self._standing = frozenset(each.qid for each in self._read())
                self._samples = self._read()
        return None


def samples_of(folder: Path, qids: Collection[str]) -> dict[str, Sample]:
    """The samples behind some answers of a run, by qid; without those that are gone or changed."""
    samples, wanted = Origins(folder), frozenset(qids)
    named = (result for result in read_results(folder) if result.qid in wanted)
    return {each.qid: sample for each in named if (sample := samples.of(each)) is not None}


def origins(folder: Path) -> Iterator[tuple[Sample, SampleResult]]:
    """Every result of a run with its sample, in input order.

    Raises:
        RunError: the folder holds no run, its results are damaged, or the samples are gone or have
            changed since.
    """
    path = _input(folder)
    try:
        # First: a person must not be shown other chunks than the judge was.
        if not _unchanged(folder):
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
            raise RunError(f"{folder / RESULTS}: {problem}; {_AGAIN}")
        yield sample, result


def pairs(folder: Path) -> Iterator[tuple[SampleResult, Sample | None]]:
    """Every result of a run with its sample, in input order; errors as of `read_results`.

    None stands for all samples where the input is gone or has changed since.
    """
    try:
        same = _unchanged(folder)
    except OSError:
        same = False
    samples = Origins(folder) if same else None
    for result in read_results(folder):
        yield result, samples.of(result) if samples else None


def questions(folder: Path) -> dict[str, int]:
    """A hash of each question that a run's samples ask, by qid; none where these are gone.

    They are equal within one process only.
    """
    try:
        if not _unchanged(folder):
            return {}
        asked = ((each.qid, " ".join(each.query.split())) for each in _samples(folder))
        return {qid: hash(query) for qid, query in asked if query}
    except (OSError, InputError):
        return {}


def has_bytes(path: Path, made_from: RunInput) -> bool:
    """Whether a file, or all of a folder or pattern, is byte for byte what a run was made from.

    OSError where it cannot be read.
    """
    try:
        return hash_of(path) == made_from.sha256
    except InputError as error:
        raise OSError(errno.ENOENT, error.problem) from None


def _unchanged(folder: Path) -> bool:
    """Whether the samples are those that were scored; errors as of `has_bytes`."""
    copied = (folder / SAMPLES).is_dir() and shards(folder / SAMPLES)
    return bool(copied) or has_bytes(_input(folder), read_record(folder).input)


def _input(folder: Path) -> Path:
    copy = folder / INPUT  # of standard input; it moves with the folder
    return copy if copy.exists() else Path(read_record(folder).input.path)


def is_of(result: SampleResult, sample: Sample) -> bool:
    """Whether the sentences are those of the sample's answer.

    They are where it has them; where nobody gave them, only blanks stand between and behind them.
    """
    answer, places = sample.answer, [(each.start, each.end) for each in result.sentences]
    if any(answer[each.start : each.end] != each.text for each in result.sentences):
        return False
    if sample.sentences is not None:
        return places == [(each.start, each.end) for each in sample.sentences]
    ends = [0, *(at for place in places for at in place), len(answer)]
    between = zip(ends[::2], ends[1::2], strict=True)
    return not any(answer[start:end].strip() for start, end in between)


def _samples(folder: Path) -> Iterator[Sample]:
    # A run made before lines had a limit has none. A bad line holds no result's sample.
    record = read_record(folder)
    limit = float(str(record.config.get("max_line", "inf")))
    copied = shards(folder / SAMPLES) if (folder / SAMPLES).is_dir() else []
    read = partial(read_samples, on_bad=lambda _: None, max_line=limit, unique=not copied)
    paths = record.config.get("map")
    if isinstance(paths, dict) and not copied:
        read = partial(read, mapping={name: str(path) for name, path in paths.items()})
    samples = chain.from_iterable(map(read, copied or [_input(folder)]))
    return drawn(samples, record.input, int(str(record.config.get("seed", 0))))
