"""Answers a second of the offline path, beside the least any judge could do.

    python tests/bench/throughput.py

200 made-up answers of 8 sentences, each citing one of 5 chunks of 120 words; one core. Three
things are timed in one run: the whole path (split, kinds, citations, judge, audit, flags, scores),
the similarity judge alone on requests made before, and a bare count of the words a sentence shares
with each chunk (`str.split` and sets). The processor time of the best of three rounds counts. Read
the ratios; the machine moves the rest.
"""

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

from judge import JudgeRequest
from judge.compose import offline
from judge.config import Config
from judge.pipeline import asked, evaluate_sample
from judge.records import Rules
from tests.bench.workload import Writer

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


def main() -> None:
    table = json.loads((files("judge") / "data" / "background.json").read_text("utf-8"))
    writer = Writer(sorted(table["counts"]), flatness=0, length=(20, 20))
    samples = [writer.sample(i) for i in range(ANSWERS)]
    made = [asked(sample, Rules()) for sample in samples]
    judge = offline(Config())
    counted = bare_seconds(made)
    timed = {
        "whole path": best(
            lambda: [asyncio.run(evaluate_sample(each, judge, Rules())) for each in samples]
        ),
        "judge alone": asyncio.run(judge_seconds(made)),
        "bare word count": counted,
    }
    sentences = sum(len(each.ask) for each in made)
    print(f"{'':16}{'answers/s':>10}{'sentences/s':>13}{'× bare':>8}")
    for name, seconds in timed.items():
        print(
            f"{name:16}{ANSWERS / seconds:>10.0f}{sentences / seconds:>13.0f}"
            f"{seconds / counted:>8.1f}"
        )


if __name__ == "__main__":
    main()
