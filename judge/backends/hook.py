"""Review hooks: the code of others, called where it cannot harm the run."""

import asyncio
import hashlib
import inspect
import logging
import traceback
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from pathlib import PurePath
from threading import Thread
from typing import Any, Final, ParamSpec, Self, TypeVar

from judge.errors import ConfigError, JudgeError
from judge.protocols import ReviewHook
from judge.records import Record, Sample, SampleResult
from judge.text.visible import clip, plural, printable

_Record = TypeVar("_Record", bound=Record)
_Result = TypeVar("_Result")
_Given = ParamSpec("_Given")
_Score = Callable[[Sample], Coroutine[None, None, SampleResult]]

_LOG: Final = logging.getLogger("judge")
_NAME: Final = "judge-review-hook"
_BITS: Final = 53
"""Those of a double: with 64 the largest draws would round to 1."""
_SHOWN: Final = 200
"""Characters of an error's message."""


class OverdueError(JudgeError):
    """A call took longer than it may."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How many calls a hook gets at a time, and how long they may last."""

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


class Calls:
    """The calls of one hook in one run, an asynchronous context manager.

    They are made one after another on a daemonic thread, outside of any event loop; what a call
    returns to be awaited is awaited in a loop of that thread, many at once. Nothing raised, stopped
    or cancelled there ends another call. Leaving waits for those that are left, but not for ever;
    after an error or a cancellation, only for those under way to clean up. What a call raises is
    counted, and logged once per kind of error, without its message, which may hold texts.
    """

    def __init__(
        self, hook: ReviewHook, seed: int, rate: float, limits: Limits | None = None
    ) -> None:
        self._hook = hook
        self._seed = seed
        self._rate = rate
        self._limits = limits or Limits()
        self._name = _line(getattr(hook, "__qualname__", type(hook).__qualname__))
        self._run: asyncio.AbstractEventLoop  # the run's loop; the other one is the thread's
        self._loop: asyncio.AbstractEventLoop
        self._waiting: deque[tuple[Sample, SampleResult]] = deque()
        self._awaited: set[asyncio.Task[None]] = set()
        self._begun = self._stopped = self._over = False
        self._idle, self._gone = asyncio.Event(), asyncio.Event()
        self._said: set[str] = set()
        self._offered = self._pending = self._failed = self._dropped = 0

    async def __aenter__(self) -> Self:
        self._run = asyncio.get_running_loop()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None and self._pending:
                self._idle.clear()
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._limits.grace):
                        await self._idle.wait()
        finally:
            self._over = True
            self._waiting.clear()
            if self._begun:
                self._loop.call_soon_threadsafe(self._stop)
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._limits.farewell):
                        await self._gone.wait()
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
        if self._pending >= self._limits.at_once + self._limits.waiting:
            self._dropped += 1
            return
        self._pending += 1
        try:
            # A hook that changes what it is given changes nothing of ours.
            offered = _apart(sample), _apart(result)
            if not self._begun:
                self._loop = asyncio.new_event_loop()
                self._loop.set_default_executor(_Threads())
                self._loop.set_exception_handler(self._strayed)
                Thread(target=self._work, name=_NAME, daemon=True).start()
                self._begun = True
        except Exception as error:  # noqa: BLE001  anybody's records may be unfit for it
            self._ended(result.qid, _Failure.of(error))
            return
        self._waiting.append(offered)
        self._loop.call_soon_threadsafe(self._loop.stop)

    # On the thread.

    def _work(self) -> None:
        while not self._stopped:
            self._call()
            # It ends when we stop it, and when the code of a call does so or raises a SystemExit.
            with suppress(BaseException):
                self._loop.run_forever()
        # Again and again: these, too, may stop the loop, and raise, and make new tasks.
        told: set[asyncio.Task[Any]] = set()
        while tasks := asyncio.all_tasks(self._loop):
            for task in tasks - told:
                task.cancel()
            told |= tasks
            with suppress(BaseException):
                self._loop.run_until_complete(asyncio.wait(tasks))
        with suppress(BaseException):
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.close()
        self._report(self._gone.set)

    def _stop(self) -> None:
        self._stopped = True
        self._loop.stop()

    def _call(self) -> None:
        while len(self._awaited) < self._limits.at_once:
            try:
                sample, result = self._waiting.popleft()
            except IndexError:
                return
            failure = None
            try:
                answer: object = self._hook(sample, result, self._rate)
                if inspect.isawaitable(answer):
                    task = self._loop.create_task(self._in_time(answer))
                    self._awaited.add(task)
                    task.add_done_callback(partial(self._landed, result.qid, answer))
                    continue
                if inspect.isgenerator(answer) or inspect.isasyncgen(answer):
                    lazy = ConfigError("it is a generator function; called, it does nothing")
                    failure = _Failure.of(lazy)
            except BaseException as error:  # noqa: BLE001  another's code may raise anything
                failure = _Failure.of(error)
            self._report(self._ended, result.qid, failure)

    async def _in_time(self, answer: Awaitable[object]) -> None:
        limit = asyncio.timeout(self._limits.timeout)
        try:
            async with limit:
                await answer
        finally:
            if limit.expired():
                raise OverdueError(f"took over {self._limits.timeout:g} s") from None

    def _landed(self, qid: str, answer: Awaitable[object], task: asyncio.Task[None]) -> None:
        self._awaited.discard(task)
        self._loop.stop()  # to have another call made in its place
        if inspect.iscoroutine(answer):
            # Cancelled before it began, it would complain that it was never awaited.
            answer.close()
        failure = None
        try:
            task.result()
        except BaseException as error:  # noqa: BLE001  another's code may raise anything
            failure = _Failure.of(error)
        self._report(self._ended, qid, failure)

    def _strayed(self, _: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        # In place of the usual report, which repeats messages, and with them texts.
        if error := context.get("exception"):
            self._report(self._warn, "beside its calls", _Failure.of(error))

    def _report(self, told: Callable[..., None], *facts: object) -> None:
        with suppress(RuntimeError):  # the run's loop has closed since
            self._run.call_soon_threadsafe(told, *facts)

    # In the run's loop.

    def _ended(self, qid: str, failure: "_Failure | None") -> None:
        if self._over:
            return
        self._pending -= 1
        if not self._pending:
            self._idle.set()
        if failure is not None:
            self._failed += 1
            self._warn(f"for {qid!r}", failure)

    def _warn(self, what: str, failure: "_Failure") -> None:
        if self._over or failure.kind in self._said:
            return
        self._said.add(failure.kind)
        text = "review hook %s failed %s: %s (others like it are only counted)"
        _LOG.warning(text, self._name, what, failure.said)
        _LOG.debug("review hook %s: %s", self._name, failure.message)

    def _tell(self) -> None:
        parts = {
            "failed": self._failed,
            "were dropped, as too many waited": self._dropped,
            "were given up before they had ended": self._pending,
        }
        if lost := ", ".join(f"{count} {what}" for what, count in parts.items() if count):
            calls = plural(self._offered, "call")
            _LOG.warning("review hook %s: of %d %s, %s", self._name, self._offered, calls, lost)


@dataclass(frozen=True, slots=True)
class _Failure:
    kind: str
    said: str
    """Where it arose; of the sample it may name the id, and no text."""
    message: str
    """The error's own message, which may hold any text."""

    @classmethod
    def of(cls, error: BaseException) -> Self:
        """On the thread: an error that is asked what it is runs another's code, too."""
        message = described(error)
        # Our own errors name what is wrong, and no text of a sample.
        said = message if isinstance(error, JudgeError) else placed(error, __name__)
        return cls(type(error).__name__, said, message)


def _apart(record: _Record) -> _Record:
    """The same record; what of it can be changed is copied."""
    changeable = {name: deepcopy(value) for name, value in record if isinstance(value, dict)}
    return record.model_copy(update=changeable)


class _Threads(ThreadPoolExecutor):
    """A thread for each work, for which no process stays alive, as it would for the parent's."""

    def submit(
        self, fn: Callable[_Given, _Result], /, *args: _Given.args, **kwargs: _Given.kwargs
    ) -> Future[_Result]:
        future: Future[_Result] = Future()

        def work() -> None:
            try:
                if future.set_running_or_notify_cancel():
                    future.set_result(fn(*args, **kwargs))
            except BaseException as error:  # noqa: BLE001  raised where it is waited for
                future.set_exception(error)

        Thread(target=work, name=_NAME, daemon=True).start()
        return future


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


def placed(error: BaseException, *callers: str) -> str:
    """Its kind and where it arose, `ValueError at hooks.py:12`, and nothing of its message.

    The place is the innermost line of the file that was called, not one of a library that this
    calls in turn; frames of the modules named `callers`, which made the call, are none.
    """
    name = _line(type(error).__name__)
    steps = [
        (frame.f_code.co_filename, line)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if frame.f_globals.get("__name__") not in callers
    ]
    if not steps:
        return name
    file, line = next(step for step in reversed(steps) if step[0] == steps[0][0])
    return f"{name} at {_line(PurePath(file).name)}:{line}"


def _line(text: str) -> str:
    return clip(printable(text[: 10 * _SHOWN]), _SHOWN)
