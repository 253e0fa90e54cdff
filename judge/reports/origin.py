"""Back from a result to the sample it was made from."""

from pathlib import Path

from judge.errors import InputError
from judge.records import Sample, SampleResult
from judge.runs import read_record
from judge.samples import Rejected, read_samples


def origin(folder: Path, result: SampleResult) -> Sample | None:
    """The sample behind a result, read again from the run's input.

    None where that file is gone or has another answer now: a result never bears another's text.
    """
    path = Path(read_record(folder).input.path)
    try:
        samples = read_samples(path, on_bad=_leave_out)
        sample = next((sample for sample in samples if sample.qid == result.qid), None)
    except InputError:
        return None
    if sample is None or any(sample.answer[s.start : s.end] != s.text for s in result.sentences):
        return None
    return sample


def _leave_out(_: Rejected) -> None:
    """A bad line holds no result's sample."""
