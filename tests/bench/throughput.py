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
import random
import time
from collections.abc import Callable
from importlib.resources import files
from itertools import accumulate
from typing import Final

from judge import Chunk, JudgeRequest, Sample, evaluate
from judge.compose import compose
from judge.config import Config
from judge.pipeline import request
from judge.records import Rules
from judge.steps.citations import find
from judge.steps.kinds import classify
from judge.steps.split import split

ANSWERS: Final = 200
SENTENCES: Final = 8
CHUNKS: Final = 5
ROUNDS: Final = 3


class Writer:
    """Prose without sense, its words as frequent as words are."""

    def __init__(self) -> None:
        self._random = random.Random(0)  # noqa: S311  no secret is made of it
        table = json.loads((files("judge") / "data" / "background.json").read_text("utf-8"))
        self._words = sorted(table["counts"])
        self._weights = list(accumulate(1 / rank for rank in range(1, len(self._words) + 1)))

    def sentence(self) -> str:
        drawn = self._random.choices(self._words, cum_weights=self._weights, k=20)
        return " ".join(drawn).capitalize()

    def sample(self, number: int) -> Sample:
        chunks = [". ".join(self.sentence() for _ in range(6)) + "." for _ in range(CHUNKS)]
        answer = " ".join(f"{self.sentence()} [{1 + i % CHUNKS}]." for i in range(SENTENCES))
        return Sample(
            qid=str(number),
            answer=answer,
            chunks=tuple(Chunk(chunk_id=f"d#{i}", text=text) for i, text in enumerate(chunks)),
        )


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
    writer = Writer()
    samples = [writer.sample(i) for i in range(ANSWERS)]
    requests = [ask(sample) for sample in samples]
    judge = compose(Config())

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
