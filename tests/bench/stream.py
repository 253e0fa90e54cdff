"""A million small answers through one job, and what memory does meanwhile; answers a second.

python tests/bench/stream.py [ANSWERS] [--parquet]

The answers are made as they are written, half of them Chinese. Resident memory is read from the
kernel every twentieth of the way. Nothing is asserted: read the column. `--parquet` only reads the
samples, of a Parquet file in one row group, as pandas would write it.
"""

import json
import resource
import sys
import tempfile
import time
from multiprocessing import get_context
from pathlib import Path
from typing import Final

from pyarrow import parquet
from pyarrow.json import read_json as json_table

from judge import Config, SampleResult, read_samples
from judge.jobs.job import Job, Watcher
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


def write_parquet(source: Path, path: Path) -> None:
    """The same samples as one row group, at full size."""
    table = json_table(source)
    plain = {"compression": "none", "use_dictionary": False}
    parquet.write_table(table, path, row_group_size=max(1, table.num_rows), **plain)


def read_parquet(folder: Path, source: Path) -> None:
    """Read them as any command does, and print memory."""
    path = folder / "samples.parquet"
    writer = get_context("spawn").Process(target=write_parquet, args=(source, path))
    writer.start()
    writer.join()  # which holds them all, so it is another process
    file = parquet.ParquetFile(path).metadata
    total = file.num_rows
    print(f"{path.stat().st_size / 1e6:.0f} MB of Parquet, {file.num_row_groups} row group")
    print(f"{'answers':>10} {'MB':>6} {'CPU s':>10}")
    for number, _ in enumerate(read_samples(path), 1):
        if number % max(1, total // REPORTS) == 0:
            print(f"{number:>10} {resident():>6.0f} {time.process_time():>10.1f}", flush=True)


def resident() -> float:
    """MB of this process that lie in memory now."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * PAGE / 1e6


class Sampler(Watcher):
    """A watcher that prints memory and rate as the job goes on."""

    def __init__(self) -> None:
        self._total = self._done = 0
        self._began = time.perf_counter()

    def on_start(self, record: RunRecord, kept: int) -> None:
        self._total = record.input.samples
        seconds = time.perf_counter() - self._began
        print(f"checked {self._total} answers in {seconds:.1f} s, {resident():.0f} MB; kept {kept}")
        print(f"{'answers':>10} {'MB':>6} {'answers/s':>10}")
        self._began = time.perf_counter()

    def on_result(self, _result: SampleResult, /) -> None:
        self._done += 1
        if self._done % max(1, self._total // REPORTS) == 0:
            rate = self._done / (time.perf_counter() - self._began)
            print(f"{self._done:>10} {resident():>6.0f} {rate:>10.0f}", flush=True)


def main() -> None:
    columns = "--parquet" in sys.argv
    numbers = [int(each) for each in sys.argv[1:] if each.isdecimal()]
    count = numbers[0] if numbers else ANSWERS
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = folder / "samples.jsonl"
        write_samples(source, count)
        size = source.stat().st_size / 1e6
        print(
            f"{count} answers, {size:.0f} MB of input; {resident():.0f} MB in memory at the start"
        )
        if columns:
            read_parquet(folder, source)
            print(f"peak {resource.getrusage(0).ru_maxrss / 1e3:.0f} MB")
            return
        summary = Job(source, folder / "run", Config()).run(Sampler())
        print(f"{summary.answers} results; peak {resource.getrusage(0).ru_maxrss / 1e3:.0f} MB")


if __name__ == "__main__":
    main()
