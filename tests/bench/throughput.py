"""Answers a second of the offline path, beside the least any judge could do.

    python tests/bench/throughput.py [--easy] [--repeat N] [--workers N] [--profile]

200 answers of 8 sentences and 5 chunks of 120 words; one core. Their sentences have figures, dates
and names to check; those of `--easy` are made up and have none. Three things are timed in one run:
the whole path (split, kinds, citations, judge, audit, flags, scores), the similarity judge alone on
requests made before, and a bare count of the words a sentence shares with each chunk (`str.split`
and sets). The processor time of the best of three rounds counts, each in a process of its own that
is warmed up by other answers: nothing is kept of the round before. With `--repeat`, so many answers
share their chunks. With `--workers`, an evaluator with none and one with so many are timed, too: by
the clock, which the neighbours of this process move. Read the ratios; the machine moves the rest.
`--profile` tells where the whole path spends it, in seconds of a slowed run.
"""

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Callable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Final

# Run as a file, Python looks for modules beside it and not where `tests` stands.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from judge import Evaluator, JudgeRequest, Sample
from judge.compose import offline
from judge.config import Config
from judge.pipeline import evaluate_sample, prepare
from judge.records import Rules
from tests.bench.workload import Writer, forked, grown, machine, other, profiled, samples

ANSWERS: Final = 200
ROUNDS: Final = 3


def requests(read: Sequence[Sample]) -> list[JudgeRequest]:
    return [prepare(each, Rules())[0] for each in read]


def judge_seconds(read: Sequence[Sample], before: Sequence[Sample] = ()) -> float:
    """The processor time of this thread that the judge alone takes, warmed up by those before."""
    judge = offline(Config())
    warm, made = requests(before), requests(read)

    async def judged(requests: Sequence[JudgeRequest]) -> None:
        for each in requests:
            await judge.judge(each)

    asyncio.run(judged(warm))
    return took(lambda: asyncio.run(judged(made)))


def whole_seconds(read: Sequence[Sample], before: Sequence[Sample] = ()) -> float:
    """The same for the whole path."""
    judge = offline(Config())

    async def evaluated(read: Sequence[Sample]) -> None:
        for each in read:
            await evaluate_sample(each, judge, Rules())

    asyncio.run(evaluated(before))
    return took(lambda: asyncio.run(evaluated(read)))


def clock_seconds(read: Sequence[Sample], before: Sequence[Sample], workers: int) -> float:
    """What the clock says of the whole path in so many processes, once they are warmed up."""

    async def evaluated() -> float:
        async with Evaluator(Config(workers=workers)) as evaluator:
            async for _ in evaluator.evaluate(before):
                pass
            began = time.perf_counter()
            async for _ in evaluator.evaluate(read):
                pass
            return time.perf_counter() - began

    return asyncio.run(evaluated())


def bare_seconds(read: Sequence[Sample]) -> float:
    """The same for a bare count of the words that each sentence shares with each chunk."""
    made = requests(read)

    def bare() -> None:
        for each in made:
            chunks = [set(chunk.text.lower().split()) for chunk in each.chunks]
            for sentence in each.sentences:
                words = set(sentence.text.lower().split())
                max(len(words & chunk) for chunk in chunks)

    return took(bare)


def took(work: Callable[[], object]) -> float:
    """The processor time of this thread."""
    began = time.thread_time()
    work()
    return time.thread_time() - began


def easy() -> list[Sample]:
    """Made-up answers with every word of the background, so that their terms weigh what real do."""
    table = json.loads((files("judge") / "data" / "background.json").read_text("utf-8"))
    writer = Writer(sorted(table["counts"]), flatness=0, length=(20, 20))
    return [writer.sample(i) for i in range(ANSWERS)]


def main() -> None:
    reading = argparse.ArgumentParser(prog="throughput.py")
    reading.add_argument("--easy", action="store_true", help="answers with little to check")
    reading.add_argument("--repeat", type=int, default=1, help="answers that share their chunks")
    reading.add_argument("--workers", type=int, default=1, help="by the clock, in so many, too")
    reading.add_argument("--profile", action="store_true", help="where the whole path spends it")
    options = reading.parse_args()
    read = easy() if options.easy else samples(easy=False, answers=ANSWERS)
    if options.repeat > 1:
        read = grown(read, times=options.repeat)
    before = other(read)
    clocked = sorted({1, options.workers}) if options.workers > 1 else []
    rounds = [
        {
            "whole path": forked(whole_seconds, read, before),
            "judge alone": forked(judge_seconds, read, before),
            "bare word count": forked(bare_seconds, read),
        }
        | {f"{n} by the clock": forked(clock_seconds, read, before, n) for n in clocked}
        for _ in range(ROUNDS)
    ]
    timed = {name: min(each[name] for each in rounds) for name in rounds[0]}
    counted = timed["bare word count"]
    sentences = sum(len(each.ask) for each in requests(read))
    print(machine())
    print(f"{'':16}{'answers/s':>10}{'sentences/s':>13}{'ms each':>9}{'× bare':>8}")
    for name, seconds in timed.items():
        print(
            f"{name:16}{len(read) / seconds:>10.0f}{sentences / seconds:>13.0f}"
            f"{1000 * seconds / len(read):>9.2f}{seconds / counted:>8.1f}"
        )
    if options.profile:
        whole_seconds(before)
        profiled(lambda: whole_seconds(read))


if __name__ == "__main__":
    main()
