"""Calls a hook beside a run, so that nothing it does harms the run."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Self, TypeVar

from judge.backends.hook.choosing import chosen
from judge.backends.hook.describing import described, one_line, placed
from judge.backends.hook.worker import Worker
from judge.errors import JudgeError
from judge.protocols import ReviewHook
from judge.records import Sample, SampleResult
from judge.records.record import Record

_Record = TypeVar("_Record", bound=Record)
_Score = Callable[[Sample], Coroutine[None, None, SampleResult]]

_LOG: Final = logging.getLogger("judge")


@dataclass(frozen=True, slots=True)
class Limits:
    """What a hook may take."""

    at_once: int = 16
    """Calls that are awaited at one time; of those that block there is one."""
    waiting: int = 1000
    """Calls that wait for their turn; what comes beyond is dropped."""
    timeout: float = 30.0
    """Seconds to await a call; one that blocks cannot be stopped."""
    grace: float = 30.0
    """Seconds, once all results are made, for all the calls that are left."""
    farewell: float = 0.5
    """Seconds for calls under way to clean up, or to end, once they were given up."""


@dataclass(frozen=True, slots=True)
class _Offer:
    sample: Sample
    result: SampleResult


@dataclass(frozen=True, slots=True)
class _Failure:
    kind: str
    said: str
    """Where it arose; of the sample it may name the id, and no text."""
    message: str
    """May hold anything."""


class Calls:
    """The calls of one hook in one run, an asynchronous context manager.

    They are made on a thread with a loop of its own (see `Worker`); the run's loop does no more
    than queue them and count how they end. Leaving waits for the calls that are left, but not for
    ever, and after an error or a cancellation only for those under way to clean up. What a call
    raises is logged once per kind of error, without its message, which may hold texts, and
    counted; how many calls came to nothing is logged in the end.

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
        self._loop: asyncio.AbstractEventLoop
        self._worker: Worker[_Offer]
        self._idle = asyncio.Event()
        self._over = False
        self._said: set[str] = set()
        self._offered = self._pending = self._failed = self._dropped = 0

    async def __aenter__(self) -> Self:
        self._loop = asyncio.get_running_loop()
        limits = self._limits
        self._worker = Worker(self._call, self._landed, limits.at_once, limits.timeout)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if kind is None:
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
            self._worker.put(_Offer(_apart(sample), _apart(result)))
        except Exception as error:  # noqa: BLE001  anybody's records may be unfit for it
            self._ended(result.qid, _failure(error))

    def _call(self, offer: _Offer) -> object:
        return self._hook(offer.sample, offer.result, self._rate)

    def _landed(self, offer: _Offer | None, error: BaseException | None) -> None:
        """On the thread, where the error is asked what it is: that, too, is another's code."""
        failure = None if error is None else _failure(error)
        if offer is not None:
            self._report(self._ended, offer.result.qid, failure)
        elif failure is not None:
            self._report(self._warn, "beside its calls", failure)

    def _report(self, told: Callable[..., None], *facts: object) -> None:
        with suppress(RuntimeError):  # the loop has closed since
            self._loop.call_soon_threadsafe(told, *facts)

    def _ended(self, qid: str, failure: _Failure | None) -> None:
        if self._over:
            return
        self._pending -= 1
        if not self._pending:
            self._idle.set()
        if failure is not None:
            self._failed += 1
            self._warn(f"for {qid!r}", failure)

    def _warn(self, what: str, failure: _Failure) -> None:
        if self._over or failure.kind in self._said:
            return
        self._said.add(failure.kind)
        text = "review hook %s failed %s: %s (others like it are only counted)"
        _LOG.warning(text, self._name, what, failure.said)
        _LOG.debug("review hook %s: %s", self._name, failure.message)

    async def _settle(self) -> None:
        """Until no call is left, or the grace is used up."""
        self._idle.clear()
        if self._pending:
            await _wait(self._idle, self._limits.grace)

    async def _abandon(self) -> None:
        self._over = True
        gone = asyncio.Event()
        self._worker.stop(lambda: self._report(gone.set))
        await _wait(gone, self._limits.farewell)

    def _tell(self) -> None:
        parts = (
            (self._failed, "failed"),
            (self._dropped, "were dropped, as too many waited"),
            (self._pending, "were given up before they had ended"),
        )
        lost = ", ".join(f"{count} {what}" for count, what in parts if count)
        if lost:
            _LOG.warning("review hook %s: of %d calls, %s", self._name, self._offered, lost)


def _failure(error: BaseException) -> _Failure:
    message = described(error)
    # Our own errors name what is wrong, and no text of a sample.
    ours = isinstance(error, JudgeError)
    said = message if ours else placed(error, __name__, Worker.__module__)
    return _Failure(type(error).__name__, said, message)


async def _wait(event: asyncio.Event, seconds: float) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()


def _apart(record: _Record) -> _Record:
    """The same record; what of it can be changed is copied."""
    changeable = {name: deepcopy(value) for name, value in record if isinstance(value, dict)}
    return record.model_copy(update=changeable)
