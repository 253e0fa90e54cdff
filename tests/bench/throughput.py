"""Measure how many answers and sentences a second the offline path judges on one core.

    python tests/bench/throughput.py [--profile]

Two things are timed on 200 answers of 8 sentences and 5 chunks of 120 words: the whole path (split,
kinds, citations, judge, audit, flags, scores), and the similarity judge alone on requests made
before. The processor time of the best of three rounds counts, each in a fresh process that other
answers warmed up. `--profile` prints where the whole path spends its time, in seconds of a slowed
run.
"""

import argparse
import asyncio
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

# Python looks for modules beside a file that is run, and not at the top of the checkout.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from judge import JudgeRequest, Sample
from judge.compose import offline
from judge.config import Config
from judge.pipeline import evaluate_sample, prepare
from judge.records import Rules
from tests.bench.workload import forked, machine, other, profiled, samples

ROUNDS: Final = 3


def requests(read: Sequence[Sample]) -> list[JudgeRequest]:
    return [prepare(each, Rules())[0] for each in read]


def judge_seconds(read: Sequence[Sample], before: Sequence[Sample] = ()) -> float:
    """Return the processor time of the judge alone, after it judged the answers `before`."""
    judge = offline(Config())
    warm, made = requests(before), requests(read)

    async def judged(requests: Sequence[JudgeRequest]) -> None:
        for each in requests:
            await judge.judge(each)

    asyncio.run(judged(warm))
    return thread_seconds(lambda: asyncio.run(judged(made)))


def whole_seconds(read: Sequence[Sample], before: Sequence[Sample] = ()) -> float:
    """Return the processor time of the whole path, after it judged the answers `before`."""
    judge = offline(Config())

    async def evaluated(read: Sequence[Sample]) -> None:
        for each in read:
            await evaluate_sample(each, judge, Rules())

    asyncio.run(evaluated(before))
    return thread_seconds(lambda: asyncio.run(evaluated(read)))


def thread_seconds(work: Callable[[], object]) -> float:
    """Return the processor time that this thread takes for a piece of work."""
    began = time.thread_time()
    work()
    return time.thread_time() - began


def main() -> None:
    parser = argparse.ArgumentParser(prog="throughput.py")
    parser.add_argument("--profile", action="store_true", help="print where the path spends time")
    options = parser.parse_args()
    read = samples()
    before = other(read)
    if options.profile:
        whole_seconds(before)
        profiled(lambda: whole_seconds(read))
        return
    sentences = sum(len(each.ask) for each in requests(read))
    print(machine())
    print(f"{'':16}{'answers/s':>10}{'sentences/s':>13}{'ms each':>9}")
    for name, work in {"whole path": whole_seconds, "judge alone": judge_seconds}.items():
        seconds = min(forked(work, read, before) for _ in range(ROUNDS))
        print(
            f"{name:16}{len(read) / seconds:>10.0f}{sentences / seconds:>13.0f}"
            f"{1000 * seconds / len(read):>9.2f}"
        )


if __name__ == "__main__":
    main()
