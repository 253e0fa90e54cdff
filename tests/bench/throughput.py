"""Answers a second of the offline path, beside the least any judge could do.

    python tests/bench/throughput.py

200 made-up answers of 8 sentences, each citing one of 5 chunks of 120 words; one core. Three
things are timed in one run, three rounds each, and the best round counts: the whole path (split,
kinds, citations, judge, audit, flags, scores), the similarity judge alone on requests made before,
and a bare count of the words a sentence shares with each chunk (`str.split` and sets). Read the
ratios; the machine moves the rest.
"""

import asyncio
import json
import sys
import time
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Final

# Run as a file, Python looks for modules beside it and not where `tests` stands.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from judge import JudgeRequest, Sample, evaluate
from judge.answer.citations import find
from judge.answer.kinds import classify
from judge.answer.sentences import split
from judge.compose import offline
from judge.config import Config
from judge.pipeline import request
from judge.records import Rules
from tests.bench.workload import Writer

ANSWERS: Final = 200
ROUNDS: Final = 3


def ask(sample: Sample) -> JudgeRequest:
    sentences = classify(split(sample.answer))
    return request(sample, sentences, find(sample, sentences, Rules()))


def bare(samples: list[Sample]) -> None:
    for sample in samples:
        chunks = [set(chunk.text.lower().split()) for chunk in sample.chunks]
        for sentence in sample.answer.split("."):
            words = set(sentence.lower().split())
            max(len(words & chunk) for chunk in chunks)


def best(work: Callable[[], object]) -> float:
    seconds = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - began)
    return min(seconds)


def main() -> None:
    table = json.loads((files("judge") / "data" / "background.json").read_text("utf-8"))
    writer = Writer(sorted(table["counts"]), flatness=0, length=(20, 20))
    samples = [writer.sample(i) for i in range(ANSWERS)]
    requests = [ask(sample) for sample in samples]
    judge = offline(Config())

    async def judge_all() -> None:
        for each in requests:
            await judge.judge(each)

    timed = {
        "whole path": best(lambda: evaluate(samples, judge=judge)),
        "judge alone": best(lambda: asyncio.run(judge_all())),
        "bare word count": best(lambda: bare(samples)),
    }
    sentences = sum(len(each.ask) for each in requests)
    print(f"{'':16}{'answers/s':>10}{'sentences/s':>13}{'× bare':>8}")
    for name, seconds in timed.items():
        ratio = seconds / timed["bare word count"]
        print(f"{name:16}{ANSWERS / seconds:>10.0f}{sentences / seconds:>13.0f}{ratio:>8.1f}")


if __name__ == "__main__":
    main()
