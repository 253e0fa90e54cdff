"""Back from a result to the sample it was made from."""

from pathlib import Path

from judge.errors import InputError
from judge.records import Sample, SampleResult
from judge.runs import read_record
from judge.runs.reading import INPUT
from judge.samples import Rejected, read_samples


def origin(folder: Path, result: SampleResult) -> Sample | None:
    """The sample behind a result, read again from the run's input.

    None where that file is gone or has another answer now: a result never bears another's text.

    Raises:
        RunError: the folder has no record, or a damaged one.
    """
    copy = folder / INPUT  # of standard input; it moves with the folder
    path = copy if copy.exists() else Path(read_record(folder).input.path)
    try:
        samples = read_samples(path, on_bad=_leave_out)
        sample = next((sample for sample in samples if sample.qid == result.qid), None)
    except InputError:
        return None
    return sample if sample and is_of(result, sample.answer) else None


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
