"""Many samples into results, in input order."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from typing import Final, NamedTuple, Self

from judge.compose import Judges, alone, compose, offline
from judge.config import Config
from judge.errors import ConfigError
from judge.evaluator.flight import Flight
from judge.files.samples import Samples, each
from judge.pipeline import evaluate_sample, sign
from judge.protocols import Judge, ReviewHook
from judge.records import Sample, SampleResult

_Score = Callable[[Sample], Coroutine[None, None, SampleResult]]

_AHEAD: Final = 2
"""Answers begun, for each that may be in flight: one slow answer at the head of the queue does not
leave the others idle, and memory stays bounded."""


class _Signatures(NamedTuple):
    """How the numbers of a run are made."""

    faithfulness: str
    correctness: str | None


class Evaluator:
    """Scores samples.

    Entered with `async with`, it keeps its connections and its cache open until it is left;
    otherwise each `evaluate` opens and closes them for itself.

    Args:
        config: settings; the defaults where left out.
        judge: a judge of your own instead of the one the settings describe; where correctness is
            asked for, it compares with the references, too.
        review_hook: is handed the share `config.review_rate` of the answers as they are made, on
            another thread.
    """

    def __init__(
        self,
        config: Config | None = None,
        *,
        judge: Judge | None = None,
        review_hook: ReviewHook | None = None,
    ) -> None:
        self._config = config or Config()
        self._hook = review_hook
        self._given: Judges | None = None
        self._signatures: _Signatures | None = None
        self._entered = False
        self._open: tuple[Judges, AsyncExitStack] | None = None
        if judge is not None:
            self._given = Judges(judge, judge if self._config.correctness else None)
        elif not (self._config.asks_server or self._config.loads_model):
            self._given = alone(self._config, offline(self._config))
        if self._given is not None:
            # Nothing to connect to or load: what is wrong and what is comparable shows at once.
            self._signatures = self._signed(self._given)

    @property
    def signature(self) -> str:
        """How the numbers of this evaluator are made; equal means comparable.

        Raises:
            ConfigError: a model judges that has not been probed or loaded yet.
        """
        return self._known.faithfulness

    @property
    def correctness_signature(self) -> str | None:
        """How the numbers of correctness are made; None where it is not asked for.

        Raises:
            ConfigError: as of `signature`.
        """
        return self._known.correctness

    @property
    def _known(self) -> _Signatures:
        if self._signatures is None:
            raise ConfigError(
                "the signature is known once the model was probed or loaded; "
                "enter the evaluator first: async with evaluator: …"
            )
        return self._signatures

    def _signed(self, judges: Judges) -> _Signatures:
        first, second = judges
        rules = self._config.rules
        return _Signatures(sign(first, rules), None if second is None else sign(second, rules))

    async def __aenter__(self) -> Self:
        """Open what the judge needs.

        Raises:
            ConfigError: as of `evaluate`, or it is open already.
            JudgeUnavailable: likewise.
        """
        if self._entered:
            raise ConfigError("this evaluator is open already; make another, or use it as it is")
        self._entered = True
        async with AsyncExitStack() as stack:
            stack.callback(self._leave)
            judges = await stack.enter_async_context(self._judges())
            self._open = (judges, stack.pop_all())
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close it."""
        if self._open is not None:
            await self._open[1].aclose()

    def _leave(self) -> None:
        self._open, self._entered = None, False

    @asynccontextmanager
    async def _judges(self) -> AsyncGenerator[Judges]:
        if self._given is not None:
            yield self._given
        elif self._open is not None:
            yield self._open[0]
        else:
            async with compose(self._config) as judges:
                self._signatures = self._signed(judges)
                yield judges

    async def evaluate(self, samples: Samples) -> AsyncGenerator[SampleResult]:
        """Results one at a time, in the order of `samples`, which may be endless.

        At most `config.concurrency` answers are in flight. Closing the generator, or cancelling
        the task that reads it, cancels them. An error of the source comes after the results of
        the samples before it; an error of the judge comes at once.

        Raises:
            ConfigError: no key, or a cache that cannot be opened.
            JudgeUnavailable: the model cannot be asked at all.
        """
        async with self._scoring() as score, aclosing(self._flown(samples, score)) as results:
            async for result in results:
                yield result

    @asynccontextmanager
    async def _scoring(self) -> AsyncGenerator[_Score]:
        async with self._judges() as judges:
            score = self._scorer(judges)
            if self._hook is None:
                yield score
                return
            from judge.backends.hook.calling import Calls  # noqa: PLC0415  for those who have a hook

            async with Calls(self._hook, self._config.seed, self._config.review_rate) as calls:
                yield calls.after(score)

    def _scorer(self, judges: Judges) -> _Score:
        # A server may keep one waiting; whatever else judges does its work and is done.
        patient = self._given is None and self._config.asks_server

        async def score(sample: Sample) -> SampleResult:
            now = asyncio.get_running_loop().time()
            deadline = now + self._config.deadline if patient else None
            return await evaluate_sample(
                sample,
                judges.faithfulness,
                self._config.rules,
                comparing=judges.correctness,
                deadline=deadline,
            )

        return score

    async def _flown(self, samples: Samples, score: _Score) -> AsyncGenerator[SampleResult]:
        flight = Flight(room=asyncio.Semaphore(_AHEAD * self._config.concurrency))
        # One task reads the whole source: a timeout or a task group of its own stays whole.
        reading = asyncio.create_task(self._read(samples, score, flight))
        reading.add_done_callback(lambda _: flight.news.set())
        try:
            while flight.begun or not reading.done():
                if flight.begun:
                    yield await flight.oldest()
                    flight.begun.popleft()
                    flight.room.release()
                else:
                    flight.news.clear()
                    await flight.news.wait()
            await reading
        finally:
            tasks = [reading, *flight.begun]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _read(self, samples: Samples, score: _Score, flight: Flight) -> None:
        gate = asyncio.Semaphore(self._config.concurrency)
        async with aclosing(each(samples)) as source:
            async for sample in source:
                await flight.room.acquire()
                flight.begin(self._one(sample, score, gate))

    async def _one(self, sample: Sample, score: _Score, gate: asyncio.Semaphore) -> SampleResult:
        async with gate:
            return await score(sample)
