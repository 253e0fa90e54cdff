"""A million small answers through one job, and what memory does meanwhile; answers a second.

python tests/bench/stream.py [ANSWERS]

The answers are made as they are written, half of them Chinese. Resident memory is read from the
kernel every twentieth of the way. Nothing is asserted: read the column.
"""

import json
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from judge import Config, SampleResult
from judge.job import Job
from judge.records.run import RunRecord

ANSWERS: Final = 1_000_000
REPORTS: Final = 20
PAGE: Final = resource.getpagesize()

ENGLISH: Final = (
    "Hotels are paid up to {} euros a night [1].",
    "Hotels are paid up to {} euros a night. Receipts are due within 45 days.",
)
CHINESE: Final = ("住宿费每晚不超过{}元[1]。", "住宿费每晚不超过{}元。须在四十五天内报销。")


def write_samples(path: Path, count: int) -> None:
    """Small answers of one or two sentences, one chunk each."""
    with path.open("w", encoding="utf-8") as file:
        for i in range(count):
            answer, chunk = (CHINESE if i % 2 else ENGLISH)[:2]
            sample = {
                "qid": f"q{i}",
                "answer": answer.format(100 + i % 200),
                "chunks": [chunk.format(100 + i % 190)],
            }
            file.write(json.dumps(sample, ensure_ascii=False) + "\n")


def resident() -> float:
    """MB of this process that lie in memory now."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * PAGE / 1e6


class Sampler:
    """A `judge.job.Watcher` that prints memory and rate as the job goes on."""

    def __init__(self) -> None:
        self._total = self._done = 0
        self._began = time.perf_counter()

    def begun(self, record: RunRecord, kept: int) -> None:
        self._total = record.input.samples
        seconds = time.perf_counter() - self._began
        print(f"checked {self._total} answers in {seconds:.1f} s, {resident():.0f} MB; kept {kept}")
        print(f"{'answers':>10} {'MB':>6} {'answers/s':>10}")
        self._began = time.perf_counter()

    def waiting(self, _trouble: str, /) -> None:
        """The clock is looked at elsewhere."""

    def scored(self, _: SampleResult) -> None:
        self._done += 1
        if self._done % max(1, self._total // REPORTS) == 0:
            rate = self._done / (time.perf_counter() - self._began)
            print(f"{self._done:>10} {resident():>6.0f} {rate:>10.0f}", flush=True)


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else ANSWERS
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = folder / "samples.jsonl"
        write_samples(source, count)
        size = source.stat().st_size / 1e6
        print(
            f"{count} answers, {size:.0f} MB of input; {resident():.0f} MB in memory at the start"
        )
        summary = Job(source, folder / "run", Config()).run(Sampler())
        print(f"{summary.answers} results; peak {resource.getrusage(0).ru_maxrss / 1e3:.0f} MB")


if __name__ == "__main__":
    main()
