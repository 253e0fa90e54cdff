"""Many samples into results, in input order, of which a bounded number is in flight."""

import asyncio
import sys
import warnings
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Coroutine, Iterator
from concurrent.futures import Future, wait
from contextlib import (
    AsyncExitStack,
    ExitStack,
    aclosing,
    asynccontextmanager,
    contextmanager,
    suppress,
)
from functools import cache
from threading import Thread
from typing import Final, NamedTuple, Self, TypeVar
from weakref import WeakKeyDictionary

from judge.compose import Judges, alone, compose, offline
from judge.config import Config
from judge.correctness import compare
from judge.errors import ConfigError, WorkerLost
from judge.inputs.objects import each, rows_of
from judge.pipeline import evaluate_sample, sign
from judge.processes import Line, Processes
from judge.protocols import Judge, ReviewHook
from judge.records import Rules, Sample, SampleResult
from judge.relevance import relate
from judge.turns import Desk, Flight, Places, Turn, at_once
from judge.workers import weigh

_Result = TypeVar("_Result")
_Score = Callable[[Sample], Coroutine[None, None, SampleResult]]

_AHEAD: Final = 2
"""Answers under way, for each that may be in flight: some are prepared while others are asked of a
server."""
_BEHIND: Final = 4096
"""Answers that may be begun in all, most of them done and waiting for one that hangs before them,
which does not leave the others idle."""
_GLANCE: Final = 0.2
"""Seconds between two looks for a Ctrl-C, where a thread is waited for."""


class _Ready(NamedTuple):
    loop: asyncio.AbstractEventLoop  # whose the connections to a server are
    judges: Judges
    processes: Processes | None = None
    """None where this process computes everything itself."""


class Evaluator:
    """Scores samples.

    However many callers `evaluate` has at a time, they share `config.concurrency`; an event loop
    of another thread has as many of its own.

    Entered with `async with`, it keeps its connections, its cache and its worker processes until it
    is left; otherwise, and in another event loop, each `evaluate` opens and closes its own.

    Args:
        config: settings; the defaults where left out.
        judge: a judge of your own instead of the one the settings describe; where correctness is
            asked for, it compares with the references, too. Relevance is asked of no such judge,
            unless `Judges` names one for each. It is asked in this process, however many
            `config.workers` there are.
        review_hook: is handed the share `config.review_rate` of the answers as they are made, on
            another thread.
        places: bounds the questions that are out in the place of `config.concurrency`.
    """

    def __init__(
        self,
        config: Config | None = None,
        *,
        judge: Judge | Judges | None = None,
        review_hook: ReviewHook | None = None,
        places: Places | None = None,
    ) -> None:
        self._config = config or Config()
        self.workers = self._config.workers or 1
        """Processes that compute, as of when it is entered or used; 1: this one alone."""
        self._at_once = at_once(self._config)
        self._hook = review_hook
        self._places = places
        self._given: Judges | None = None
        self._signatures: tuple[str, str | None, str | None] | None = None
        self._entered = False
        self._open: tuple[_Ready, AsyncExitStack] | None = None
        self._desks = WeakKeyDictionary[asyncio.AbstractEventLoop, Desk]()
        if isinstance(judge, Judges):
            self._given = judge
        elif judge is not None:
            if self._config.relevance:
                raise ConfigError(
                    "relevance has a prompt of its own for a language model, which a judge of your "
                    "own cannot answer: leave out one of them"
                )
            self._given = Judges(judge, judge if self._config.correctness else None)
        elif not (self._config.asks_server or self._config.loads_model):
            self._given = alone(self._config, offline(self._config))
        self._offline = judge is None and self._given is not None
        self._connects = self._given is None and self._config.asks_server
        # A server may keep one waiting; whatever else judges does its work and is done.
        ours = judge is None or isinstance(judge, Judges)
        self._patience = self._config.deadline if ours and self._config.asks_server else None
        if self._given is not None:
            # Nothing to connect to or load: what is wrong and what is comparable shows at once.
            self._sign(self._given)

    @property
    def signature(self) -> str:
        """How the numbers of this evaluator are made; equal means comparable.

        Raises:
            ConfigError: a model judges that has not been probed or loaded yet.
        """
        return self._known[0]

    @property
    def correctness_signature(self) -> str | None:
        """How the numbers of correctness are made; None where it is not asked for.

        Errors as of `signature`.
        """
        return self._known[1]

    @property
    def relevance_signature(self) -> str | None:
        """As of `correctness_signature`, of answer relevance."""
        return self._known[2]

    @property
    def trouble(self) -> str:
        """What is the matter with the server that is asked, now; empty where it answers."""
        return "" if self._open is None else self._open[0].judges.trouble()

    @property
    def judges(self) -> Judges:
        """Who is asked; of an evaluator that is entered."""
        if self._open is None:
            raise ConfigError("this evaluator is not open; enter it first: async with evaluator: …")
        return self._open[0].judges

    @property
    def _known(self) -> tuple[str, str | None, str | None]:
        if self._signatures is None:
            raise ConfigError(
                "the signature is known once the model was probed or loaded; "
                "enter the evaluator first: async with evaluator: …"
            )
        return self._signatures

    def _sign(self, judges: Judges) -> None:
        rules = self._config.rules
        second, third = (
            None if each is None else sign(each.signature, rules) for each in judges[1:3]
        )
        self._signatures = sign(judges.faithfulness.signature, rules), second, third

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
            ready = await stack.enter_async_context(self._readied())
            self._open = (ready, stack.pop_all())
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close the connections and the cache."""
        if self._open is not None:
            await self._open[1].aclose()

    def _leave(self) -> None:
        self._open, self._entered = None, False

    @asynccontextmanager
    async def _readied(self) -> AsyncGenerator[_Ready]:
        loop, theirs = asyncio.get_running_loop(), self._open
        if theirs is not None and (not self._connects or theirs[0].loop is loop):
            yield theirs[0]
            return
        async with AsyncExitStack() as stack:
            processes = None
            if self.workers > 1 and theirs is None:
                # First, so that they import theirs while the judge is being connected to.
                started = Processes(self.workers, _judged if self._offline else evaluate_sample)
                try:
                    processes = await stack.enter_async_context(started)
                except WorkerLost:
                    if self._config.workers is not None:  # else nobody asked for them
                        raise
            judges = self._given
            if judges is None:
                judges = await stack.enter_async_context(compose(self._config))
                self._sign(judges)
            yield _Ready(loop, judges, processes)

    async def evaluate(self, samples: object) -> AsyncGenerator[SampleResult]:
        """Results one at a time, in the order of `samples`, which may be endless.

        At most `config.concurrency` answers are in flight, of all callers together, and as many
        requests: a comparison's two go out together where there is room, else in turn. There are
        fewer where a server is asked and this process may not open as many sockets. Closing the
        generator, or cancelling the task that reads it, cancels them. An error of the source comes
        after the results of the samples before it; an error of the judge comes at once.

        Args:
            samples: what `judge.inputs.objects.each` takes: samples, rows of other tools, tables,
                one or any number of them; `config.map` says where a row has its fields.

        Raises:
            InputError: a row is no sample. What has a length is checked before anybody is asked.
            ConfigError: no key, or a cache that cannot be opened.
            JudgeUnavailable: the model cannot be asked at all.
            WorkerLost: a worker process cannot be started, or ended before its time.
        """
        async with AsyncExitStack() as stack:
            ready = await stack.enter_async_context(self._readied())
            score = self._scorer(ready.judges, ready.processes)
            if self._hook is not None:
                from judge.backends.hook import Calls  # noqa: PLC0415  for those who have a hook

                calls = Calls(self._hook, self._config.seed, self._config.review_rate)
                score = (await stack.enter_async_context(calls)).after(score)
            results = await stack.enter_async_context(aclosing(self._flown(samples, score)))
            async for result in results:
                yield result

    async def evaluate_one(self, sample: Sample, *, seconds: float | None = None) -> SampleResult:
        """The result of one answer. Cancelling it cancels its calls. Errors as of `evaluate`.

        A server is asked no more after so many seconds, its wait for a place included, where that
        is under `config.deadline`.
        """
        async with self._readied() as ready:
            return await self._scorer(ready.judges, ready.processes, seconds)(sample)

    def _scorer(
        self, judges: Judges, processes: Processes | None, seconds: float | None = None
    ) -> _Score:
        config, desk = self._config, self._desk()
        if processes is not None and processes.loop is not asyncio.get_running_loop():
            processes = None  # of another thread
        if processes is not None and self._offline:
            settings, pool = config.model_dump_json(), processes
            return lambda sample: Line(pool).apart(weigh(sample), _judged, settings, sample)
        patience, due = self._patience, None
        if seconds is not None and patience is not None and seconds < patience:
            due = asyncio.get_running_loop().time() + seconds

        def turn() -> Turn:
            elsewhere = None if processes is None else Line(processes).apart
            return Turn(desk, patience, elsewhere, due)

        return _score(judges, config.rules, turn)

    async def _flown(self, samples: object, score: _Score) -> AsyncGenerator[SampleResult]:
        ahead = _AHEAD * self._at_once
        # What is done and not handed on is lost with the process where no cache has it.
        flight = Flight(ahead, _BEHIND if self._config.cache else ahead)
        # One task reads the whole source: a timeout or a task group of its own stays whole.
        reading = asyncio.create_task(self._read(samples, score, flight))
        reading.add_done_callback(lambda _: flight.news.set())
        try:
            while flight.begun or not reading.done():
                if flight.begun:
                    yield await flight.oldest()
                    flight.leave()
                else:
                    flight.news.clear()
                    await flight.news.wait()
            await reading
        finally:
            tasks = [reading, *flight.begun]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _read(self, samples: object, score: _Score, flight: Flight) -> None:
        async with aclosing(each(samples, self._config.map)) as source:
            async for sample in source:
                weight = weigh(sample)
                await flight.room_for(weight)
                flight.begin(score(sample), weight)

    def _desk(self) -> Desk:
        # What waits at a desk belongs to one loop, and an evaluator may outlive several.
        return self._desks.setdefault(
            asyncio.get_running_loop(), Desk(self._places or self._at_once)
        )


def _score(judges: Judges, rules: Rules, begin: Callable[[], Turn]) -> _Score:
    first, second, third = judges[:3]

    async def score(sample: Sample) -> SampleResult:
        turn = begin()
        result = await evaluate_sample(sample, first, rules, turn)
        if third is not None:
            result = await relate(sample, result, third, rules, turn)
        return await compare(sample, result, second, rules, turn)

    return score


def _judged(settings: str, sample: Sample) -> SampleResult:
    """In a worker process: the result of an answer of which nobody is asked."""
    runner, score = _line(settings)
    return runner.run(score(sample))


@cache
def _line(settings: str) -> tuple[asyncio.Runner, _Score]:
    config = Config.model_validate_json(settings)
    return asyncio.Runner(), _score(alone(config, offline(config)), config.rules, Turn)


def evaluate(
    samples: object,
    config: Config | None = None,
    *,
    judge: Judge | None = None,
    evaluator: Evaluator | None = None,
    progress: bool | None = None,
) -> list[SampleResult]:
    """Score `samples` and wait for all results, a list in any case; in a notebook's loop, too.

    Arguments and errors as of `Evaluator`, which is made of them unless one is given, and of its
    `evaluate`. For more samples than fit into memory, use that. `progress` shows a bar by tqdm, on
    standard error or in the notebook; None: in a notebook only.
    """
    # Not returned by the loop, for Python 3.11 writes out what that returns, and drops the text.
    results: list[SampleResult] = []
    size = (
        None
        if isinstance(samples, AsyncIterable)
        else rows_of(samples, config.map if config else None).size
    )

    async def collect() -> None:
        async for result in (evaluator or Evaluator(config, judge=judge)).evaluate(samples):
            results.append(result)
            step()

    with bar(progress, size) as step:
        complete(collect())
    return results


def complete(work: Coroutine[None, None, object]) -> None:
    """Run to the end, in a notebook's running loop too."""
    # Its public brother raises, and all that fails later would seem to come from that.
    alone = asyncio._get_running_loop() is None  # noqa: SLF001
    run = asyncio.run if alone else _run_beside
    run(work)


def _run_beside(work: Coroutine[None, None, _Result]) -> _Result:
    """Run in a thread of its own: this one has a loop already, and a loop is not entered twice."""
    begun: Future[tuple[asyncio.AbstractEventLoop, asyncio.Task[_Result]]] = Future()
    done: Future[_Result] = Future()

    async def announced() -> _Result:
        task = asyncio.ensure_future(work)
        begun.set_result((asyncio.get_running_loop(), task))
        return await task

    def run() -> None:
        try:
            done.set_result(asyncio.run(announced()))
        except BaseException as error:  # noqa: BLE001  raised where it is waited for
            done.set_exception(error)

    thread = Thread(target=run)
    try:
        thread.start()
        # A signal that comes right before a wait is seen only after it: so none is long.
        while not wait([done], timeout=_GLANCE).done:
            pass
        return done.result()
    except BaseException:
        # Ctrl-C reaches this thread, not that one, and may do so while that one is being started.
        with suppress(RuntimeError, TimeoutError):  # its loop has closed since; it never began
            loop, task = begun.result(timeout=1)
            loop.call_soon_threadsafe(task.cancel)
        raise
    finally:
        if thread.ident is not None:
            thread.join()


@contextmanager
def bar(wanted: bool | None, total: int | None) -> Iterator[Callable[[], object]]:  # noqa: FBT001
    """Counts on a bar in the notebook, or on standard error; on none where tqdm is missing.

    Args:
        wanted: None shows it in a notebook alone.
        total: how many there are; None where nobody knows.
    """
    with ExitStack() as stack:
        step: Callable[[], object] = lambda: None  # noqa: E731
        if _in_notebook() if wanted is None else wanted:
            with suppress(ImportError), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of widgets that are not installed
                from tqdm.auto import tqdm  # noqa: PLC0415  slow to load, and mostly not wanted

                shown = tqdm(total=total, desc="judge", unit=" answers")
                step = stack.enter_context(shown).update
        yield step


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")
