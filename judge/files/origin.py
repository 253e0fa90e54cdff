"""Back from a result to the sample it was made from."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

from judge.errors import InputError, RunError
from judge.files.runs import read_record, read_results
from judge.files.runs.reading import INPUT
from judge.files.samples import Rejected, read_samples
from judge.records import Sample, SampleResult
from judge.records.run import RunInput


def origin(folder: Path, result: SampleResult) -> Sample | None:
    """The sample behind a result, read again from the run's input.

    None where that file is gone or has another answer now: a result never bears another's text.

    Raises:
        RunError: the folder has no record, or a damaged one.
    """
    try:
        samples = read_samples(_input(folder), on_bad=_leave_out)
        sample = next((sample for sample in samples if sample.qid == result.qid), None)
    except InputError:
        return None
    return sample if sample and is_of(result, sample.answer) else None


class Origins:
    """The samples behind results of a run that come in input order, read in one go.

    Errors as of `origin`; what has changed elsewhere in the file makes it slower, not wrong.

    Args:
        folder: of the run.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._samples = self._read()

    def of(self, result: SampleResult) -> Sample | None:
        """The sample behind a result, as of `origin`."""
        try:
            # Results that nobody asks for are passed over.
            sample = next((each for each in self._samples if each.qid == result.qid), None)
        except InputError:
            return None
        if sample is None:
            # Not behind the last one: the file has changed, and it may stand before.
            self._samples = self._read()
            return origin(self._folder, result)
        return sample if is_of(result, sample.answer) else None

    def _read(self) -> Iterator[Sample]:
        return read_samples(_input(self._folder), on_bad=_leave_out)


def origins(folder: Path) -> Iterator[tuple[Sample, SampleResult]]:
    """Every result of a run with its sample, in input order.

    Raises:
        RunError: the folder holds no run, or the samples are gone or have changed since.
    """
    path = _input(folder)
    changed = RunError(f"{path}: changed since {folder} was scored; score it again with --force")
    try:
        # First: a person must not be shown other chunks than the judge was.
        if not has_bytes(path, read_record(folder).input):
            raise changed
    except OSError as error:
        message = f"{folder}: its samples cannot be read again ({path}: {error.strerror}); "
        raise RunError(message + "put them back") from None
    samples = read_samples(path, on_bad=_leave_out)
    for result in read_results(folder):
        sample = next(samples, None)
        if sample is None or sample.qid != result.qid or not is_of(result, sample.answer):
            raise changed
        yield sample, result


def has_bytes(path: Path, made_from: RunInput) -> bool:
    """Whether a file holds, byte for byte, what a run was made from.

    Raises:
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == made_from.sha256


def _input(folder: Path) -> Path:
    copy = folder / INPUT  # of standard input; it moves with the folder
    return copy if copy.exists() else Path(read_record(folder).input.path)


def is_of(result: SampleResult, answer: str) -> bool:
    """Whether the sentences are the answer's, and only blanks stand between and behind them."""
    position = 0
    for sentence in result.sentences:
        if answer[sentence.start : sentence.end] != sentence.text:
            return False
        if answer[position : sentence.start].strip():
            return False
        position = sentence.end
    return not answer[position:].strip()


def _leave_out(_: Rejected) -> None:
    """A bad line holds no result's sample."""
