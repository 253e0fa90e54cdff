"""The calls of a review hook: whom it is handed, and that nothing it does harms the run."""

import asyncio
import hashlib
import logging
import traceback
from collections.abc import Callable, Coroutine
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass
from pathlib import PurePath
from types import TracebackType
from typing import Final, Self, TypeVar

from judge.backends.hook.worker import Worker
from judge.errors import JudgeError
from judge.protocols import ReviewHook
from judge.records import Sample, SampleResult
from judge.records.record import Record
from judge.text.visible import clip

_Record = TypeVar("_Record", bound=Record)
_Score = Callable[[Sample], Coroutine[None, None, SampleResult]]

_LOG: Final = logging.getLogger("judge")
_BITS: Final = 53
"""Those of a double: with 64 the largest draws would round to 1."""
_SHOWN: Final = 200
"""Characters."""


def uniform(seed: int, *parts: str | int) -> float:
    """A number in [0, 1) that depends on the seed and the parts only, on any machine.

    SHA-256 of all parts, each with its kind and its length, so that no two lists of parts read
    alike. It shares nothing with the weights of `judge.scores.intervals`, which hash otherwise.
    A permanent random number: who keeps it draws samples that grow, and agree, across runs.

    Source: B. Brewer, L. Early and S. Joyce (1972), "Selecting several samples from a single
    population", Aust. J. Stat. 14, 231-239.

    >>> uniform(0, "ab", "c") == uniform(0, "a", "bc")
    False
    >>> uniform(0, "1") == uniform(0, 1)
    False
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
    """Whether the answer of this id is handed to the hook.

    Args:
        qid: of the answer.
        seed: of the run.
        rate: the probability, 0 to 1; who is chosen at one rate is chosen at any higher one.
    """
    return uniform(seed, "hook", qid) < rate


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


def described(error: BaseException) -> str:
    r"""Its kind and its message, on one line that does not run on.

    >>> described(ValueError("no such\n  sheet")), described(ValueError())
    ('ValueError: no such sheet', 'ValueError')
    """
    name = type(error).__name__
    try:
        message = one_line(str(error))
    except BaseException:  # noqa: BLE001  it may be unable to say what it is
        return name
    return f"{name}: {message}" if message else name


def placed(error: BaseException, *callers: str) -> str:
    """Its kind and where it arose, `ValueError at hooks.py:12`, and nothing of its message.

    The place is the innermost line of the file that was called, not one of a library that this
    calls in turn; without any, the kind stands alone.

    Args:
        error: with its traceback.
        callers: names of the modules that made the call, which are no place.
    """
    name = one_line(type(error).__name__)
    steps = [
        (frame.f_code.co_filename, line)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if frame.f_globals.get("__name__") not in callers
    ]
    if not steps:
        return name
    file, line = next(step for step in reversed(steps) if step[0] == steps[0][0])
    return f"{name} at {one_line(PurePath(file).name)}:{line}"


def one_line(text: str) -> str:
    r"""As much of a text as fits a line, without control characters.

    >>> one_line("a\r\n b\x1b[2J")
    'a b [2J'
    """
    printable = "".join(c if c.isprintable() else " " for c in text[: 10 * _SHOWN])
    return clip(" ".join(printable.split()), _SHOWN)
