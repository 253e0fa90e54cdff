"""Answers a second of the offline path, beside the least any judge could do.

    python tests/bench/throughput.py [--easy] [--profile]

200 answers of 8 sentences and 5 chunks of 120 words; one core. Their sentences have figures, dates
and names to check; those of `--easy` are made up and have none. Three things are timed in one run:
the whole path (split, kinds, citations, judge, audit, flags, scores), the similarity judge alone on
requests made before, and a bare count of the words a sentence shares with each chunk (`str.split`
and sets). The processor time of the best of three rounds counts. Read the ratios; the machine moves
the rest. `--profile` tells where the whole path spends it, in seconds of a slowed run.
"""

import argparse
import asyncio
import cProfile
import json
import pstats
import sys
import time
from collections.abc import Callable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Final

# Run as a file, Python looks for modules beside it and not where `tests` stands.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from judge import JudgeRequest, Sample
from judge.compose import offline
from judge.config import Config
from judge.pipeline import asked, evaluate_sample
from judge.records import Rules
from tests.bench.workload import Writer, machine, samples

ANSWERS: Final = 200
ROUNDS: Final = 3


def requests(chunks: int) -> list[JudgeRequest]:
    """What the judge is asked of made-up answers with so many chunks each."""
    writer = Writer()
    samples = [writer.sample(number) for number in range(ANSWERS)]
    fewer = (each.model_copy(update={"chunks": each.chunks[:chunks]}) for each in samples)
    return [asked(each, Rules()) for each in fewer]


async def judge_seconds(requests: Sequence[JudgeRequest]) -> float:
    """The processor time of this thread that the judge alone takes, the best of three rounds."""
    judge = offline(Config())
    seconds = []
    for _ in range(ROUNDS):
        began = time.thread_time()
        for each in requests:
            await judge.judge(each)
        seconds.append(time.thread_time() - began)
    return min(seconds)


def bare_seconds(requests: Sequence[JudgeRequest]) -> float:
    """The same for a bare count of the words that each sentence shares with each chunk."""

    def bare() -> None:
        for each in requests:
            chunks = [set(chunk.text.lower().split()) for chunk in each.chunks]
            for sentence in each.sentences:
                words = set(sentence.text.lower().split())
                max(len(words & chunk) for chunk in chunks)

    return best(bare)


def best(work: Callable[[], object]) -> float:
    seconds = []
    for _ in range(ROUNDS):
        began = time.thread_time()
        work()
        seconds.append(time.thread_time() - began)
    return min(seconds)


def easy() -> list[Sample]:
    """Made-up answers with every word of the background, so that their terms weigh what real do."""
    table = json.loads((files("judge") / "data" / "background.json").read_text("utf-8"))
    writer = Writer(sorted(table["counts"]), flatness=0, length=(20, 20))
    return [writer.sample(i) for i in range(ANSWERS)]


def main() -> None:
    reading = argparse.ArgumentParser(prog="throughput.py")
    reading.add_argument("--easy", action="store_true", help="answers with little to check")
    reading.add_argument("--profile", action="store_true", help="where the whole path spends it")
    options = reading.parse_args()
    read = easy() if options.easy else samples(easy=False, answers=ANSWERS)
    made = [asked(sample, Rules()) for sample in read]
    judge = offline(Config())

    def whole() -> None:
        for each in read:
            asyncio.run(evaluate_sample(each, judge, Rules()))

    counted = bare_seconds(made)
    timed = {
        "whole path": best(whole),
        "judge alone": asyncio.run(judge_seconds(made)),
        "bare word count": counted,
    }
    sentences = sum(len(each.ask) for each in made)
    print(machine())
    print(f"{'':16}{'answers/s':>10}{'sentences/s':>13}{'ms each':>9}{'× bare':>8}")
    for name, seconds in timed.items():
        print(
            f"{name:16}{len(read) / seconds:>10.0f}{sentences / seconds:>13.0f}"
            f"{1000 * seconds / len(read):>9.2f}{seconds / counted:>8.1f}"
        )
    if options.profile:
        profile = cProfile.Profile()
        profile.runcall(whole)
        pstats.Stats(profile).sort_stats("cumulative").print_stats(r"judge/\w+/", 40)


if __name__ == "__main__":
    main()
