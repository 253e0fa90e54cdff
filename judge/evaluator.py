"""Scores many samples: the results come in input order, and a bounded number is in flight."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, suppress
from functools import cache
from math import inf
from threading import Event, Thread
from typing import Final, NamedTuple, Self
from weakref import WeakKeyDictionary

from judge.backends.hook import Calls
from judge.compose import Judges, alone, compose, offline
from judge.config import Config
from judge.correctness import compare, judge_reference, relate
from judge.errors import ConfigError, WorkerLost
from judge.inputs.samples import each
from judge.pipeline import evaluate_sample, sign
from judge.pool import PlacedJudge, Workers, at_once, in_order
from judge.protocols import Judge, ReviewHook
from judge.records import Rules, Sample, SampleResult
from judge.records.result import ADDED

_Score = Callable[[Sample], Coroutine[None, None, SampleResult]]

_AHEAD: Final = 2
"""Answers under way for each place: while some are judged, the next ones are prepared."""
_SIGNAL_SECONDS: Final = 0.2


class _OpenJudges(NamedTuple):
    loop: asyncio.AbstractEventLoop
    """The event loop of the connections."""
    judges: Judges
    workers: Workers | None = None
    """The processes that judge; None where this process does it."""


class Evaluator:
    """Scores samples. All callers in one event loop share `config.concurrency`.

    Inside `async with`, the connections, the cache and the worker processes stay open. Outside of
    it, and in another event loop, each `evaluate` opens and closes its own.

    Args:
        config: the settings; the defaults where left out.
        judge: a judge of your own. It replaces the one that the settings describe, also for
            `correctness` and `context`.
        review_hook: receives the share `config.review_rate` of the results, on another thread.
    """

    def __init__(
        self,
        config: Config | None = None,
        *,
        judge: Judge | Judges | None = None,
        review_hook: ReviewHook | None = None,
    ) -> None:
        self.config = config or Config()
        """The settings."""
        self.workers = self.config.workers or 1
        """The number of processes of the offline judge; 1 is this process alone."""
        self._at_once = at_once(self.config)
        self._hook = review_hook
        self._places = WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore]()
        self._fixed_judges: Judges | None = None
        self._signatures: dict[str, str] | None = None
        self._entered = False
        self._open: tuple[_OpenJudges, AsyncExitStack] | None = None
        if isinstance(judge, Judges):
            self._fixed_judges = judge
        elif judge is not None:
            if self.config.relevance:
                raise ConfigError(
                    "relevance has a prompt of its own for a language model, which a judge of your "
                    "own cannot answer: leave out one of them"
                )
            self._fixed_judges = Judges(
                judge,
                correctness=judge if self.config.correctness else None,
                context=judge if self.config.context else None,
            )
        elif not (self.config.asks_server or self.config.loads_model):
            self._fixed_judges = alone(self.config, offline(self.config))
        self._offline = judge is None and self._fixed_judges is not None
        self._connects = self._fixed_judges is None and self.config.asks_server
        ours = judge is None or isinstance(judge, Judges)
        self._seconds = self.config.deadline if ours and self.config.asks_server else inf
        if self._fixed_judges is not None:
            # Nothing has to be connected or loaded, so that errors can show at once.
            self._sign(self._fixed_judges)

    @property
    def signature(self) -> str:
        """How the scores of this evaluator are made; equal signatures mean comparable scores.

        Raises:
            ConfigError: the model that judges has not been probed or loaded yet.
        """
        return self._known["faithfulness"]

    @property
    def added_signatures(self) -> dict[str, str]:
        """How the scores that settings add are made, by setting. It raises as `signature` does."""
        return {name: made for name, made in self._known.items() if name in ADDED}

    @property
    def trouble(self) -> str:
        """The trouble with the server that judges; empty where it answers."""
        return "" if self._open is None else self._open[0].judges.trouble()

    @property
    def judges(self) -> Judges:
        """The judges of an evaluator that is entered."""
        if self._open is None:
            raise ConfigError("this evaluator is not open; enter it first: async with evaluator: …")
        return self._open[0].judges

    @property
    def _known(self) -> dict[str, str]:
        if self._signatures is None:
            raise ConfigError(
                "the signature is known once the model was probed or loaded; "
                "enter the evaluator first: async with evaluator: …"
            )
        return self._signatures

    def _sign(self, judges: Judges) -> None:
        rules = self.config.rules
        made = {name: getattr(judges, name) for name in ("faithfulness", *ADDED)}
        self._signatures = {
            name: sign(each.signature, rules) for name, each in made.items() if each
        }

    async def __aenter__(self) -> Self:
        """Open the connections, the cache and the worker processes.

        Raises:
            ConfigError: it is open already. Other errors are those of `evaluate`.
        """
        if self._entered:
            raise ConfigError("this evaluator is open already; make another, or use it as it is")
        self._entered = True
        async with AsyncExitStack() as stack:
            stack.callback(self._leave)
            ready = await stack.enter_async_context(self._prepared())
            self._open = (ready, stack.pop_all())
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close the connections, the cache and the worker processes."""
        if self._open is not None:
            await self._open[1].aclose()

    def _leave(self) -> None:
        self._open, self._entered = None, False

    @asynccontextmanager
    async def _prepared(self) -> AsyncGenerator[_OpenJudges]:
        loop, opened = asyncio.get_running_loop(), self._open
        if opened is not None and (not self._connects or opened[0].loop is loop):
            yield opened[0]
            return
        async with AsyncExitStack() as stack:
            workers, judges = None, self._fixed_judges
            if self._offline and self.workers > 1 and opened is None:
                settings = self.config.model_dump_json()
                made = Workers(self.workers, _offline_score, settings)
                try:
                    workers = await stack.enter_async_context(made)
                except WorkerLost:
                    if self.config.workers is not None:
                        raise
            if judges is None:
                judges = await stack.enter_async_context(compose(self.config))
                self._sign(judges)
            yield _OpenJudges(loop, judges, workers)

    async def evaluate(self, samples: object) -> AsyncGenerator[SampleResult]:
        """Yield results in the order of `samples`, which may be endless.

        They are samples, rows of other tools, or tables: one, or any number of them. At most
        `config.concurrency` questions are in flight, of all callers together; fewer where a server
        is asked and this process may not open as many sockets. Closing the generator, or cancelling
        the task that reads it, cancels them. An error of the source comes after the results of the
        samples before it; an error of the judge comes at once.

        Raises:
            InputError: a row is no sample. Rows with a length are checked before any is judged.
            ConfigError: no key, or a cache that cannot be opened.
            JudgeUnavailable: the model cannot be asked at all.
            WorkerLost: a worker process cannot be started, or ended before its time.
        """
        async with AsyncExitStack() as stack:
            ready = await stack.enter_async_context(self._prepared())
            score = self._scorer(ready)
            if self._hook is not None:
                calls = Calls(self._hook, self.config.seed, self.config.review_rate)
                score = (await stack.enter_async_context(calls)).after(score)
            results = in_order(
                each(samples, self.config.map),
                score,
                ahead=_AHEAD * self._at_once,
                # A result that is not handed on is lost with the process, unless it is cached.
                piles_up=self.config.cache,
            )
            async with aclosing(results):
                async for result in results:
                    yield result

    async def evaluate_one(self, sample: Sample, *, seconds: float | None = None) -> SampleResult:
        """Return the result of one answer. Cancelling it cancels its calls.

        After `seconds`, the wait for a place included, or `config.deadline` a server is asked
        nothing more, and the sentences that are left are unscored. It raises as `evaluate` does.
        """
        async with self._prepared() as ready:
            return await self._scorer(ready, seconds)(sample)

    def _scorer(self, ready: _OpenJudges, seconds: float | None = None) -> _Score:
        loop, workers = asyncio.get_running_loop(), ready.workers
        if workers is not None and workers.loop is loop:
            return workers.score
        # A semaphore belongs to one event loop, and an evaluator may serve several.
        places = self._places.setdefault(loop, asyncio.Semaphore(self._at_once))
        due = inf if seconds is None or self._seconds == inf else loop.time() + seconds

        def placed(judge: Judge) -> Judge:
            return PlacedJudge(judge, places, self._seconds, due)

        return _score(ready.judges, self.config.rules, placed)


def _score(judges: Judges, rules: Rules, placed: Callable[[Judge], Judge] = lambda j: j) -> _Score:
    faithfulness = placed(judges.faithfulness)
    correctness = judges.correctness and placed(judges.correctness)
    relevance = judges.relevance and placed(judges.relevance)
    context = judges.context and placed(judges.context)

    async def score(sample: Sample) -> SampleResult:
        result = await evaluate_sample(sample, faithfulness, rules)
        if relevance is not None:
            result = await relate(sample, result, relevance, rules)
        if context is not None:
            result = await judge_reference(sample, result, context, rules)
        if correctness is None and context is None and not sample.has_gold:
            return result
        return await compare(sample, result, correctness, rules)

    return score


@cache
def _offline_score(settings: str) -> Callable[[Sample], SampleResult]:
    """Return what scores a sample in a worker process."""
    config, runner = Config.model_validate_json(settings), asyncio.Runner()
    score = _score(alone(config, offline(config)), config.rules)
    return lambda sample: runner.run(score(sample))


def complete(work: Coroutine[None, None, object]) -> None:
    """Run a coroutine to its end, on another thread where this one has a running event loop."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        running = False
    else:
        running = True
    (_run_in_thread if running else asyncio.run)(work)


def _run_in_thread(work: Coroutine[None, None, object]) -> None:
    runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)
    loop = runner.get_loop()
    task = loop.create_task(work)

    done = Event()

    def run() -> None:
        with suppress(BaseException), runner:  # raised by `task.result` below
            loop.run_until_complete(task)
        done.set()

    thread = Thread(target=run)
    try:
        thread.start()
        # A signal right before a wait is handled only after it: so no wait is long. An interrupted
        # `Thread.join` would take the thread for ended.
        while not done.wait(_SIGNAL_SECONDS):
            pass
    except BaseException:
        # Ctrl-C reaches this thread and not the other, which may just begin. Tasks that store
        # verdicts go on.
        with suppress(RuntimeError):  # its loop has closed
            loop.call_soon_threadsafe(task.cancel)
        if thread.ident is not None:
            done.wait()
        raise
    task.result()
