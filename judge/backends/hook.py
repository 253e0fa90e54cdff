"""Calls the user's review hook on a separate thread during a run."""

import asyncio
import hashlib
import inspect
import logging
import traceback
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from pathlib import PurePath
from queue import SimpleQueue
from threading import Thread
from typing import Final, Self

from judge.errors import JudgeError
from judge.protocols import ReviewHook
from judge.records import Sample, SampleResult
from judge.text.visible import clip, plural, printable

_Score = Callable[[Sample], Coroutine[None, None, SampleResult]]

_LOG: Final = logging.getLogger("judge")
_DOUBLE_BITS: Final = 53
"""Bits of a double's fraction: with all 64 the largest draws would round to 1."""
_MESSAGE_CHARACTERS: Final = 200


class Calls:
    """An asynchronous context manager that calls one hook during one run.

    The calls run one after another on a daemon thread, each for at most `timeout` seconds; a call
    that blocks cannot be stopped. Exceptions are counted, and one of each kind is logged without
    its message, which may hold texts. Leaving waits `timeout` seconds for the remaining calls, but
    not after an error. `rate` is the share of answers that is drawn. At most `waiting` calls may
    wait; further ones are dropped and counted.
    """

    def __init__(
        self, hook: ReviewHook, seed: int, rate: float, *, waiting: int = 1000, timeout: float = 30
    ) -> None:
        self._hook = hook
        self._name: str = getattr(hook, "__qualname__", type(hook).__qualname__)
        self._seed = seed
        self._rate = rate
        self._most_waiting = waiting
        self._timeout = timeout
        self._queue: SimpleQueue[tuple[Sample, SampleResult] | None] = SimpleQueue()
        self._over = False
        self._logged: set[str] = set()
        self._offered = self._dropped = 0  # counted on the run's thread
        self._ended = self._failed = 0  # counted on the hook's thread

    async def __aenter__(self) -> Self:
        self._loop = asyncio.get_running_loop()
        self._done = asyncio.Event()
        Thread(target=self._work, name="judge-review-hook", daemon=True).start()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._over = kind is not None
        self._queue.put(None)
        try:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._done.wait(), 0 if self._over else self._timeout)
        finally:
            self._over = True
            counts = {
                "failed": self._failed,
                "were dropped, as too many waited": self._dropped,
                "were given up before they had ended": self._offered - self._dropped - self._ended,
            }
            if lost := ", ".join(f"{count} {what}" for what, count in counts.items() if count):
                calls = f"{self._offered} {plural(self._offered, 'call')}"
                _LOG.warning("review hook %s: of %s, %s", self._name, calls, lost)

    def after(self, score: _Score) -> _Score:
        """Return a function that scores with `score`, and offers the drawn results to the hook."""

        async def scored(sample: Sample) -> SampleResult:
            result = await score(sample)
            if chosen(result.qid, self._seed, self._rate):
                self.offer(sample, result)
            return result

        return scored

    def offer(self, sample: Sample, result: SampleResult) -> None:
        """Put a call of the hook into the queue, and return at once."""
        self._offered += 1
        if self._offered - self._dropped - self._ended > self._most_waiting:
            self._dropped += 1
        else:
            self._queue.put((sample, result))

    def _work(self) -> None:
        with asyncio.Runner() as runner:
            while (call := self._queue.get()) and not self._over:
                sample, result = call
                try:
                    answer: object = self._hook(sample, result, self._rate)
                    if inspect.isawaitable(answer):
                        runner.run(self._in_time(answer))
                except BaseException as error:  # noqa: BLE001  the user's code may raise anything
                    self._fail(result.qid, error)
                self._ended += 1
        with suppress(RuntimeError):  # the run's loop may be closed
            self._loop.call_soon_threadsafe(self._done.set)

    async def _in_time(self, answer: Awaitable[object]) -> None:
        async with asyncio.timeout(self._timeout):
            await answer

    def _fail(self, qid: str, error: BaseException) -> None:
        self._failed += 1
        kind = type(error).__name__
        if self._over or kind in self._logged:
            return
        self._logged.add(kind)
        if isinstance(error, JudgeError):
            what = described(error)  # our own errors have no text of a sample in their message
        else:
            frame = traceback.extract_tb(error.__traceback__)[-1]
            what = f"{kind} at {PurePath(frame.filename).name}:{frame.lineno}"
        text = "review hook %s failed for %r: %s (further ones of this kind are only counted)"
        _LOG.warning(text, self._name, qid, what)


def uniform(seed: int, *parts: str | int) -> float:
    """Return a number in [0, 1) made from the SHA-256 of all parts, with their kinds and lengths.

    As a permanent random number it lets samples grow, and agree across runs and machines.

    Source: B. Brewer, L. Early and S. Joyce (1972), "Selecting several samples from a single
    population", Aust. J. Stat. 14, 231-239.
    """
    digest = hashlib.sha256(b"judge review")
    for part in (seed, *parts):
        text = str(part).encode(errors="surrogatepass")  # an id may have a lone surrogate
        kind = "s" if isinstance(part, str) else "i"
        digest.update(f"|{kind}{len(text)}:".encode())
        digest.update(text)
    number = int.from_bytes(digest.digest()[:8], "big")
    return float((number >> (64 - _DOUBLE_BITS)) / 2**_DOUBLE_BITS)


def chosen(qid: str, seed: int, rate: float) -> bool:
    """Return whether an answer is drawn; one drawn at a rate is drawn at any higher rate."""
    return uniform(seed, "hook", qid) < rate


def described(error: BaseException) -> str:
    """Return the kind and the message of an error, on one short line."""
    message = clip(printable(str(error)[: 10 * _MESSAGE_CHARACTERS]), _MESSAGE_CHARACTERS)
    return f"{type(error).__name__}: {message}" if message else type(error).__name__
