"""Many samples: bounded concurrency, input order, cancellation."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from judge.compose import compose
from judge.config import Config
from judge.pipeline import evaluate_sample, sign
from judge.protocols import Judge
from judge.records import Sample, SampleResult

_AHEAD: Final = 2
"""Answers begun, for each that may be in flight: one slow answer at the head of the queue does not
leave the others idle, and memory stays bounded."""


class Evaluator:
    """Scores samples.

    Args:
        config: settings; the defaults where left out.
        judge: a judge of your own instead of the one the settings describe.
    """

    def __init__(self, config: Config | None = None, *, judge: Judge | None = None) -> None:
        self._config = config or Config()
        self._judge = judge or compose(self._config)

    @property
    def signature(self) -> str:
        """How the numbers of this evaluator are made; equal means comparable."""
        return sign(self._judge, self._config.rules)

    async def evaluate(
        self, samples: Iterable[Sample] | AsyncIterable[Sample]
    ) -> AsyncGenerator[SampleResult]:
        """Results one at a time, in the order of `samples`, which may be endless.

        At most `config.concurrency` answers are in flight. Closing the generator, or cancelling
        the task that reads it, cancels them.

        Raises:
            JudgeUnavailable: the model cannot be asked at all.
        """
        gate = asyncio.Semaphore(self._config.concurrency)
        begun: deque[asyncio.Task[SampleResult]] = deque()
        try:
            async for sample in _each(samples):
                begun.append(asyncio.create_task(self._one(sample, gate)))
                if len(begun) == _AHEAD * self._config.concurrency:
                    yield await begun[0]
                    begun.popleft()
                while begun and begun[0].done():
                    yield begun.popleft().result()
            while begun:
                yield await begun[0]
                begun.popleft()
        finally:
            for task in begun:
                task.cancel()
            await asyncio.gather(*begun, return_exceptions=True)

    async def _one(self, sample: Sample, gate: asyncio.Semaphore) -> SampleResult:
        async with gate:
            return await evaluate_sample(sample, self._judge, self._config.rules)


def evaluate(
    samples: Iterable[Sample], config: Config | None = None, *, judge: Judge | None = None
) -> list[SampleResult]:
    """Score `samples` and wait for all results; in a notebook's running loop too.

    Arguments and errors as of `Evaluator`. For more samples than fit into memory, use that.
    """

    async def collect() -> list[SampleResult]:
        return [result async for result in Evaluator(config, judge=judge).evaluate(samples)]

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(collect())
    # A loop runs in this thread already, and a loop cannot be entered twice.
    with ThreadPoolExecutor(max_workers=1) as thread:
        return thread.submit(asyncio.run, collect()).result()


async def _each(samples: Iterable[Sample] | AsyncIterable[Sample]) -> AsyncGenerator[Sample]:
    if isinstance(samples, AsyncIterable):
        async for sample in samples:
            yield sample
    else:
        for sample in samples:
            yield sample
