"""Review hooks: the code of others, called on a thread of its own, beside the run."""

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
_BITS: Final = 53
"""Those of a double: with 64 the largest draws would round to 1."""
_SHOWN: Final = 200
"""Characters of an error's message."""


class Calls:
    """The calls of one hook in one run, an asynchronous context manager.

    They are made one after another on a daemon thread. What a call returns to be awaited is awaited
    there, in an event loop of that thread, for `timeout` seconds at most. What a call raises is
    counted, and logged once per kind of error, without its message, which may hold texts. Leaving
    waits `timeout` seconds for those that are left; after an error, for none.

    Args:
        hook: what is called.
        seed: of the draw.
        rate: the share of answers that is drawn.
        waiting: calls that wait for their turn at most; what comes beyond is dropped and counted.
        timeout: seconds. A call that blocks cannot be stopped.
    """

    def __init__(
        self,
        hook: ReviewHook,
        seed: int,
        rate: float,
        *,
        waiting: int = 1000,
        timeout: float = 30.0,
    ) -> None:
        self._hook = hook
        self._seed = seed
        self._rate = rate
        self._most = waiting
        self._timeout = timeout
        self._name = _line(getattr(hook, "__qualname__", type(hook).__qualname__))
        self._waiting: SimpleQueue[tuple[Sample, SampleResult] | None] = SimpleQueue()
        self._thread: Thread | None = None
        self._over = False
        self._said: set[str] = set()
        self._offered = self._dropped = 0  # counted on the run's thread
        self._ended = self._failed = 0  # counted on the hook's

    async def __aenter__(self) -> Self:
        self._run = asyncio.get_running_loop()
        self._gone = asyncio.Event()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._over = kind is not None
        self._waiting.put(None)
        try:
            if self._thread and not self._over:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._gone.wait(), self._timeout)
        finally:
            self._over = True
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
        """Have the hook called, soon; takes no time, and never raises."""
        self._offered += 1
        if self._offered - self._dropped - self._ended > self._most:
            self._dropped += 1
            return
        self._waiting.put((sample, result))
        if self._thread is None:
            self._thread = Thread(target=self._work, name="judge-review-hook", daemon=True)
            self._thread.start()

    def _work(self) -> None:
        try:
            with asyncio.Runner() as runner:
                while (given := self._waiting.get()) and not self._over:
                    self._call(*given, runner)
                    self._ended += 1
        finally:
            with suppress(RuntimeError):  # the run's loop has closed since
                self._run.call_soon_threadsafe(self._gone.set)

    def _call(self, sample: Sample, result: SampleResult, runner: asyncio.Runner) -> None:
        async def in_time(answer: Awaitable[object]) -> None:
            async with asyncio.timeout(self._timeout):
                await answer

        try:
            # A hook that changes what it is given changes nothing of ours.
            copies = sample.model_copy(deep=True), result.model_copy(deep=True)
            answer: object = self._hook(*copies, self._rate)
            if inspect.isawaitable(answer):
                runner.run(in_time(answer))
        except BaseException as error:  # noqa: BLE001  another's code may raise anything
            self._fail(result.qid, error)

    def _fail(self, qid: str, error: BaseException) -> None:
        if self._over:
            return
        self._failed += 1
        kind, message = type(error).__name__, described(error)
        if kind not in self._said:
            self._said.add(kind)
            # Our own errors name what is wrong, and no text of a sample.
            said = message if isinstance(error, JudgeError) else _placed(error)
            text = "review hook %s failed for %r: %s (others like it are only counted)"
            _LOG.warning(text, self._name, qid, said)
            _LOG.debug("review hook %s: %s", self._name, message)

    def _tell(self) -> None:
        parts = {
            "failed": self._failed,
            "were dropped, as too many waited": self._dropped,
            "were given up before they had ended": self._offered - self._dropped - self._ended,
        }
        if lost := ", ".join(f"{count} {what}" for what, count in parts.items() if count):
            calls = plural(self._offered, "call")
            _LOG.warning("review hook %s: of %d %s, %s", self._name, self._offered, calls, lost)


def uniform(seed: int, *parts: str | int) -> float:
    """A number in [0, 1) that depends on the seed and the parts only, on any machine.

    SHA-256 of all parts, each with its kind and its length, so that no two lists of parts read
    alike. A permanent random number: who keeps it draws samples that grow, and agree, across runs.

    Source: B. Brewer, L. Early and S. Joyce (1972), "Selecting several samples from a single
    population", Aust. J. Stat. 14, 231-239.
    """
    digest = hashlib.sha256(b"judge review")
    for part in (seed, *parts):
        # Half a surrogate pair is no UTF-8, and may stand in an id all the same.
        text = str(part).encode(errors="surrogatepass")
        kind = "s" if isinstance(part, str) else "i"
        digest.update(f"|{kind}{len(text)}:".encode())
        digest.update(text)
    drawn = int.from_bytes(digest.digest()[:8], "big")
    return float((drawn >> (64 - _BITS)) / 2**_BITS)


def chosen(qid: str, seed: int, rate: float) -> bool:
    """Whether the hook is handed this answer; who is chosen at one rate is at any higher one."""
    return uniform(seed, "hook", qid) < rate


def described(error: BaseException) -> str:
    """Its kind and its message, on one line that does not run on."""
    name = type(error).__name__
    try:
        message = _line(str(error))
    except BaseException:  # noqa: BLE001  it may be unable to say what it is
        return name
    return f"{name}: {message}" if message else name


def _placed(error: BaseException) -> str:
    """Its kind and where it arose, `ValueError at hooks.py:12`, and nothing of its message.

    The place is the innermost line of the file that was called, not one of a library that this
    calls in turn.
    """
    name = _line(type(error).__name__)
    steps: list[tuple[str, int]] = []
    for frame, line in traceback.walk_tb(error.__traceback__):
        steps.append((frame.f_code.co_filename, line))
        if frame.f_globals.get("__name__") == __name__:
            steps.clear()
    if not steps:
        return name
    file, line = next(step for step in reversed(steps) if step[0] == steps[0][0])
    return f"{name} at {_line(PurePath(file).name)}:{line}"


def _line(text: str) -> str:
    return clip(printable(text[: 10 * _SHOWN]), _SHOWN)
