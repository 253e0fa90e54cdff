"""Calls a hook beside a run, so that nothing it does harms the run."""

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Self, TypeVar

from judge.protocols import ReviewHook
from judge.records import Sample, SampleResult
from judge.records.record import Record
from judge.review.choosing import chosen
from judge.review.describing import described, one_line
from judge.review.worker import Worker

_Record = TypeVar("_Record", bound=Record)
_Score = Callable[[Sample], Coroutine[None, None, SampleResult]]

_LOG: Final = logging.getLogger("judge")
_FAREWELL: Final = 0.5
"""Seconds that cancelled calls have to clean up."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a hook may take."""

    at_once: int = 16
    """Asynchronous calls under way; of others there is one."""
    waiting: int = 1000
    """Calls that wait for their turn; what comes beyond is dropped."""
    timeout: float = 30.0
    """Seconds for one asynchronous call; another cannot be stopped."""
    grace: float = 30.0
    """Seconds, once all results are made, for all the calls that are left."""


@dataclass(frozen=True, slots=True)
class _Offer:
    sample: Sample
    result: SampleResult


class Calls:
    """The calls of one hook in one run, an asynchronous context manager.

    A coroutine function is called in the running loop, many at once; anything else, which may
    block, on one thread of its own, one call after another, and what it returns to be awaited is
    awaited in the loop. Leaving waits for the calls that are left, but not for ever, and not at all
    where the run was cancelled. Whatever a call raises is logged once per kind of error and
    counted; how many calls came to nothing is logged in the end. Only Ctrl-C passes.

    Args:
        hook: what is called.
        seed: of the draw.
        rate: the probability of each answer to be handed on, 0 to 1.
        limits: what it may take.
    """

    def __init__(
        self, hook: ReviewHook, seed: int, rate: float, limits: Limits | None = None
    ) -> None:
        self._hook = hook
        self._seed = seed
        self._rate = rate
        self._limits = limits or Limits()
        self._name = one_line(getattr(hook, "__qualname__", type(hook).__qualname__))
        self._thread = None if _is_async(hook) else Worker(self._call_beside)
        self._loop: asyncio.AbstractEventLoop
        self._room = asyncio.Semaphore(self._limits.at_once)
        self._tasks: set[asyncio.Task[None]] = set()
        self._idle = asyncio.Event()
        self._over = False
        self._said: set[type[BaseException]] = set()
        self._offered = self._pending = self._failed = self._dropped = 0

    async def __aenter__(self) -> Self:
        self._loop = asyncio.get_running_loop()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if kind is None or issubclass(kind, Exception):
                await self._settle()
        finally:
            await self._abandon()
            self._tell()

    def after(self, score: _Score) -> _Score:
        """The same function, which then offers its result to the hook, if that is chosen."""

        async def scored(sample: Sample) -> SampleResult:
            result = await score(sample)
            if chosen(result.qid, self._seed, self._rate):
                self.offer(sample, result)
            return result

        return scored

    def offer(self, sample: Sample, result: SampleResult) -> None:
        """Have the hook called, soon. Takes no time, and never raises."""
        self._offered += 1
        if self._pending >= self._limits.at_once + self._limits.waiting:
            self._dropped += 1
            return
        self._pending += 1
        try:
            # A hook that changes what it is given changes nothing of ours.
            offer = _Offer(_apart(sample), _apart(result))
            if self._thread is None:
                self._await(offer.result.qid, self._call(offer))
            else:
                self._thread.put(offer)
        except Exception as error:  # noqa: BLE001  anybody's code may raise anything
            self._ended(result.qid, error)

    def _call(self, offer: _Offer) -> Awaitable[None] | None:
        return self._hook(offer.sample, offer.result, self._rate)

    def _call_beside(self, offer: _Offer) -> None:
        """On the thread."""
        qid = offer.result.qid
        if self._over:
            return
        answer, error = None, None
        try:
            answer = self._call(offer)
        except BaseException as caught:  # noqa: BLE001  of a thread nothing passes anyway
            error = caught
        try:
            if inspect.isawaitable(answer):
                self._loop.call_soon_threadsafe(self._await, qid, answer)
            else:
                self._loop.call_soon_threadsafe(self._ended, qid, error)
        except RuntimeError:  # the loop has closed since
            _close(answer)

    def _await(self, qid: str, answer: Awaitable[None] | None) -> None:
        if self._over:
            _close(answer)
            return
        task = self._loop.create_task(self._watch(qid, answer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        # One that was cancelled before it began would say that it was never awaited.
        task.add_done_callback(lambda _: _close(answer))

    async def _watch(self, qid: str, answer: Awaitable[None] | None) -> None:
        async with self._room:
            error = await self._awaited(answer)
        self._ended(qid, error)

    async def _awaited(self, answer: Awaitable[None] | None) -> BaseException | None:
        limit = asyncio.timeout(self._limits.timeout)
        try:
            async with limit:
                if answer is not None:
                    await answer
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            task = asyncio.current_task()
            if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():
                raise
            # A SystemExit, too: whether the run ends is not for a hook to say.
            if limit.expired():
                return TimeoutError(f"took over {self._limits.timeout:g} s")
            return error
        return None

    def _ended(self, qid: str, error: BaseException | None) -> None:
        if self._over:
            return
        self._pending -= 1
        if not self._pending:
            self._idle.set()
        if error is None:
            return
        self._failed += 1
        if type(error) not in self._said:
            self._said.add(type(error))
            _LOG.warning(
                "review hook %s failed for %r: %s (others like it are only counted)",
                self._name,
                qid,
                described(error),
            )

    async def _settle(self) -> None:
        """Until no call is left, or the grace is used up."""
        self._idle.clear()
        if self._pending:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._limits.grace):
                    await self._idle.wait()

    async def _abandon(self) -> None:
        self._over = True
        if self._thread is not None:
            self._thread.stop()
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=_FAREWELL)

    def _tell(self) -> None:
        parts = (
            (self._failed, "failed"),
            (self._dropped, "were dropped, as too many waited"),
            (self._pending, "were given up before they had ended"),
        )
        lost = ", ".join(f"{count} {what}" for count, what in parts if count)
        if lost:
            _LOG.warning("review hook %s: of %d calls, %s", self._name, self._offered, lost)


def _is_async(hook: ReviewHook) -> bool:
    return inspect.iscoroutinefunction(hook) or inspect.iscoroutinefunction(type(hook).__call__)


def _apart(record: _Record) -> _Record:
    """The same record; what of it can be changed is copied."""
    changeable = {name: deepcopy(value) for name, value in record if isinstance(value, dict)}
    return record.model_copy(update=changeable)


def _close(answer: object) -> None:
    if inspect.iscoroutine(answer):
        answer.close()
