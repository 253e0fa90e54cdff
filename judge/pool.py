"""The pool: how many answers are judged at a time, in which order, and where heavy work runs."""

import asyncio
import gc
import math
import multiprocessing
import os
import signal
from collections import deque
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import aclosing, contextmanager
from contextvars import copy_context
from functools import partial
from threading import Semaphore, Thread
from typing import TYPE_CHECKING, Final, ParamSpec, Self, TypeVar

from judge.errors import WorkerLost
from judge.records import JudgeRequest, Judgment, Sample, SampleResult

try:
    import resource
except ImportError:  # Windows has no limit on open files
    resource = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from judge.config import Config
    from judge.protocols import Judge

_Result = TypeVar("_Result")
_Args = ParamSpec("_Args")

HEAVY: Final = 40_000
"""The weight from which work leaves the event loop; just below it, work takes up to 165 ms."""
_ANSWER_WEIGHT: Final = 4
"""A character of an answer costs as much as this many of a chunk: it is split and compared."""
_CHUNK_WEIGHT: Final = 16
"""The cost of one more chunk, in characters."""
_HEAVY_THREADS: Final = Semaphore(2)
"""Threads that compute at a time; each one slows the event loop down."""

_LEAST_WEIGHT: Final = 4_000
_WAITING_WEIGHT: Final = 16_000_000
"""The total weight of answers that may wait behind a slow one; it bounds the memory."""

_OTHER_FILES: Final = 32
"""Files that are open beside the sockets: of the run, the cache, data and certificates."""
_ANSWER_TOKENS: Final = 4_000
"""Tokens of a question and its reply, where the tokens per minute are limited."""

_BATCH_WEIGHT: Final = HEAVY
_BATCHES_PER_WORKER: Final = 2


def cores() -> int:
    """Return the number of processor cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def at_once(config: "Config") -> int:
    """Return how many answers may be in flight: `concurrency`, or what the limits allow.

    Each request needs a socket, and more requests than may be sent in a minute would only wait
    while their deadlines pass.
    """
    if not config.asks_server:
        return config.concurrency
    tokens = math.inf if config.tpm is None else config.tpm // _ANSWER_TOKENS
    return max(1, int(min(config.concurrency, config.rpm or math.inf, tokens, sockets())))


def sockets() -> float:
    """Return how many sockets this process may have open."""
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0] if resource else -1
    return math.inf if files < 0 else max(1, files - _OTHER_FILES)


def weigh(work: Sample | JudgeRequest) -> int:
    """Return how much work an answer and its chunks are, in characters of a chunk."""
    chunks = work.chunks
    text = len(work.query) + sum([len(chunk.text) for chunk in chunks])
    return _ANSWER_WEIGHT * len(work.answer) + text + _CHUNK_WEIGHT * len(chunks)


async def apart(
    weight: int, work: Callable[_Args, _Result], *args: _Args.args, **kwargs: _Args.kwargs
) -> _Result:
    """Return what `work` returns; it is called on a thread if its weight is at least `HEAVY`.

    The thread keeps no process alive, and its result is dropped if the caller is cancelled.
    """
    if weight < HEAVY:
        return work(*args, **kwargs)
    future: Future[_Result] = Future()
    context = copy_context()

    def run() -> None:
        with _HEAVY_THREADS:
            if not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(context.run(work, *args, **kwargs))
            except BaseException as error:  # noqa: BLE001  raised where the result is awaited
                future.set_exception(error)

    Thread(target=run, name="judge-heavy", daemon=True).start()
    return await asyncio.wrap_future(future)


class PlacedJudge:
    """Asks a judge in one of a limited number of places, and sets the deadline of the request.

    That is `seconds` after it has its place, and `due` on the event loop's clock at the latest.
    """

    def __init__(
        self,
        inner: "Judge",
        places: asyncio.Semaphore,
        seconds: float = math.inf,
        due: float = math.inf,
    ) -> None:
        self._inner = inner
        self._places = places
        self._seconds = seconds
        self._due = due

    @property
    def signature(self) -> str:
        """The signature of `inner`."""
        return self._inner.signature

    async def judge(self, request: JudgeRequest) -> Judgment:
        """Return the judgment of `inner` once there is a place."""
        async with self._places:
            deadline = min(self._due, asyncio.get_running_loop().time() + self._seconds)
            if deadline < math.inf:
                request = request.model_copy(update={"deadline": deadline})
            return await self._inner.judge(request)


async def in_order(
    samples: AsyncGenerator[Sample],
    score: Callable[[Sample], Coroutine[None, None, SampleResult]],
    *,
    ahead: int,
    piles_up: bool,
) -> AsyncGenerator[SampleResult]:
    """Yield the results of samples in their order, up to `ahead` of which are made at a time.

    An error of `score` is raised at once, an error of `samples` after the results before it.
    Closing the generator cancels what has begun. `samples` may be endless; one task reads and
    closes them. With `piles_up`, finished results may wait behind a slow one, so that others
    can begin.
    """
    queue = _ResultQueue(ahead, _WAITING_WEIGHT if piles_up else 0)
    reading = asyncio.create_task(queue.read(samples, score))
    reading.add_done_callback(lambda _: queue.changed.set())
    try:
        while True:
            while (result := queue.next_result()) is not None:
                yield result
            if reading.done():
                break
            queue.changed.clear()
            await queue.changed.wait()
        await reading
    finally:
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)


class _ResultQueue:
    """The results that have begun and were not taken, oldest first."""

    def __init__(self, ahead: int, most_weight: int) -> None:
        self._ahead = ahead
        self._most_weight = most_weight
        self._begun: deque[tuple[asyncio.Task[SampleResult], int]] = deque()
        self._weight = 0
        self._under_way = 0
        self.changed = asyncio.Event()
        """Set when a result begins, is made or is taken."""

    async def read(
        self,
        samples: AsyncGenerator[Sample],
        score: Callable[[Sample], Coroutine[None, None, SampleResult]],
    ) -> None:
        """Begin a result for each sample once there is room, and wait for all of them."""
        failure = None
        try:
            async with asyncio.TaskGroup() as group:
                try:
                    async with aclosing(samples):
                        async for sample in samples:
                            await self._begin(sample, score, group)
                except Exception as error:  # noqa: BLE001  raised after the results before it
                    failure = error
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from None
        if failure is not None:
            raise failure

    async def _begin(
        self,
        sample: Sample,
        score: Callable[[Sample], Coroutine[None, None, SampleResult]],
        group: asyncio.TaskGroup,
    ) -> None:
        weight = max(weigh(sample), _LEAST_WEIGHT)
        while not self._has_room(weight):
            self.changed.clear()
            await self.changed.wait()
        task = group.create_task(score(sample))
        task.add_done_callback(self._end)
        self._begun.append((task, weight))
        self._weight += weight
        self._under_way += 1
        # Let the request of this answer leave before the next answer is prepared.
        await asyncio.sleep(0)

    def _has_room(self, weight: int) -> bool:
        few = len(self._begun) < self._ahead
        return self._under_way < self._ahead and (few or self._weight + weight <= self._most_weight)

    def _end(self, _: object) -> None:
        self._under_way -= 1
        self.changed.set()

    def next_result(self) -> SampleResult | None:
        """Take the oldest result; None where it is not made, or failed."""
        task, weight = self._begun[0] if self._begun else (None, 0)
        if task is None or not task.done() or task.cancelled() or task.exception() is not None:
            return None
        self._begun.popleft()
        self._weight -= weight
        self.changed.set()
        return task.result()


_Begin = Callable[[str], Callable[[Sample], SampleResult]]


class Workers:
    """Worker processes that score samples, for one event loop; an async context manager.

    `begin`, a cached function of a module, returns the function that scores a sample by `settings`.
    Samples travel in batches, because a hand-over costs as much as a short answer: those that come
    while all workers are busy are collected. A worker ends with its parent, which handles signals.
    """

    def __init__(self, count: int, begin: _Begin, settings: str) -> None:
        self._count = count
        self._scorer = (begin, settings)
        self._waiting: deque[tuple[Sample, asyncio.Future[SampleResult]]] = deque()
        self._batches: set[asyncio.Task[list[SampleResult]]] = set()

    async def __aenter__(self) -> Self:
        """Make ready to start the processes; raise WorkerLost if the system cannot start any."""
        self.loop = asyncio.get_running_loop()
        try:
            self._executor = ProcessPoolExecutor(
                self._count,
                mp_context=multiprocessing.get_context("spawn"),
                initializer=_begin_worker,
                initargs=self._scorer,
            )
        except OSError as error:
            raise _lost(f"no worker process can be started ({error})") from None
        return self

    async def __aexit__(self, *_: object) -> None:
        """End the processes, whatever they do."""
        processes = list((self._executor._processes or {}).values())  # noqa: SLF001  no public way
        for process in processes:
            process.kill()
        await asyncio.to_thread(self._executor.shutdown, cancel_futures=True)

    async def score(self, sample: Sample) -> SampleResult:
        """Return the result of a sample; raise WorkerLost if a worker cannot start or has ended."""
        result: asyncio.Future[SampleResult] = self.loop.create_future()
        self._waiting.append((sample, result))
        self._submit()
        return await result

    def _submit(self) -> None:
        while self._waiting and len(self._batches) < _BATCHES_PER_WORKER * self._count:
            samples: list[Sample] = []
            results: list[asyncio.Future[SampleResult]] = []
            weight = 0
            while self._waiting and weight < _BATCH_WEIGHT:
                sample, result = self._waiting.popleft()
                if not result.done():
                    samples.append(sample)
                    results.append(result)
                    weight += weigh(sample)
            self._batches.add(task := asyncio.create_task(self._score_all(samples)))
            task.add_done_callback(self._batches.discard)
            task.add_done_callback(partial(self._hand_out, results))

    async def _score_all(self, samples: list[Sample]) -> list[SampleResult]:
        try:
            with _signals_blocked():
                made = self._executor.submit(_score_all, *self._scorer, samples)
            return await asyncio.wrap_future(made)
        except BrokenProcessPool:
            raise _lost(
                "a worker process has ended: memory may have run out, or a script that calls judge "
                'lacks `if __name__ == "__main__":`'
            ) from None
        except (AssertionError, OSError) as error:  # a daemon process may start none
            raise _lost(f"no worker process can be started ({error})") from None

    def _hand_out(
        self,
        waiting: Sequence[asyncio.Future[SampleResult]],
        made: asyncio.Task[list[SampleResult]],
    ) -> None:
        if made.cancelled():
            return
        error = made.exception()
        for place, result in enumerate(waiting):
            if result.done():  # its caller was cancelled
                continue
            if error is None:
                result.set_result(made.result()[place])
            else:
                result.set_exception(error)
        self._submit()


def _lost(why: str) -> WorkerLost:
    return WorkerLost(f"{why}; add --workers 1, which needs none")


@contextmanager
def _signals_blocked() -> Iterator[None]:
    """Block the signals that end a process, so that one that starts meanwhile ignores Ctrl-C."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    ends = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ends)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin_worker(begin: _Begin, settings: str) -> None:
    Thread(target=_end_with_parent, daemon=True).start()
    begin(settings)
    gc.freeze()  # the collector need not look at imported modules again


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _score_all(begin: _Begin, settings: str, samples: list[Sample]) -> list[SampleResult]:
    score = begin(settings)
    return [score(sample) for sample in samples]
