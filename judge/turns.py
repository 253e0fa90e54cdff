"""Turns: which answers are begun, how many questions are out, until when, what is computed then."""

import asyncio
import math
from collections import deque
from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, ParamSpec, TypeVar

from judge.records import SampleResult
from judge.workers import HEAVY, Apart, apart

try:
    import resource
except ImportError:  # Windows, where nobody counts
    resource = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from judge.config import Config

_Result = TypeVar("_Result")
_Given = ParamSpec("_Given")

_HELD: Final = 16_000_000
"""Weight of what begun answers are read from, over which none begins but to have enough under way:
memory stays bounded."""

_OTHER_FILES: Final = 32
"""Open at a time beside the sockets: the run's, the cache's, data, certificates, look-ups."""
_TOKENS: Final = 4_000
"""An answer takes about so many where few may be spent: its question and the reply."""

Places = AbstractAsyncContextManager[object]
"""Entered for each question, of which so many may be out; `asyncio.Semaphore` is one."""


def at_once(config: "Config") -> int:
    """Answers that may be in flight: as set, and no more than may have a socket each.

    Nor more than may ask within a minute: the rest would wait with their deadlines running.
    """
    if not config.asks_server:
        return config.concurrency
    tokens = math.inf if config.tpm is None else config.tpm // _TOKENS
    return max(1, int(min(config.concurrency, config.rpm or math.inf, tokens, sockets())))


def sockets() -> float:
    """How many sockets this process may have open."""
    files = -1 if resource is None else resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    unlimited = resource is None or files == resource.RLIM_INFINITY
    return math.inf if unlimited else max(1, files - _OTHER_FILES)


class Desk:
    """What the answers of one event loop share: so many `places` to ask, and one to compute."""

    def __init__(self, places: int | Places) -> None:
        self.places = asyncio.Semaphore(places) if isinstance(places, int) else places
        self._computing = asyncio.Lock()

    async def compute(
        self,
        heavy: int,
        work: Callable[_Given, _Result],
        *given: _Given.args,
        **named: _Given.kwargs,
    ) -> _Result:
        """As of `apart`; of what is light, one piece in each round of the loop.

        So replies are read and the next questions sent between two answers, and not behind all.
        """
        if heavy >= HEAVY:
            return await apart(heavy, work, *given, **named)
        waits = self._computing.locked()
        async with self._computing:
            if not waits:
                await asyncio.sleep(0)
            return work(*given, **named)


class Turn:
    """One answer's time: `patience` seconds from its first question; null means no end.

    No later, in any case, than `due` on the event loop's clock. It is computed at the desk, where
    not `elsewhere`.
    """

    def __init__(
        self,
        desk: Desk | None = None,
        patience: float | None = None,
        elsewhere: Apart | None = None,
        due: float | None = None,
    ) -> None:
        self.desk = desk or Desk(2)
        self.compute: Apart = elsewhere or self.desk.compute
        self._patience = patience
        self._due = due
        self._deadline = due

    def begin(self) -> float | None:
        """The deadline, on the event loop's clock, of whoever has got a place to ask.

        Nobody waits for a place while holding one: all who hold one could wait for ever.
        """
        if self._deadline is None and self._patience is not None:
            self._deadline = asyncio.get_running_loop().time() + self._patience
        return self._deadline

    def again(self) -> "Turn":
        """Another turn of the same patience, which has not begun."""
        return Turn(self.desk, self._patience, self.compute, self._due)


@dataclass(slots=True)
class Flight:
    """The answers that are begun, oldest first."""

    ahead: int
    """How many may be under way."""
    behind: int
    """How many may be begun and not handed on, done or not."""
    begun: deque[asyncio.Task[SampleResult]] = field(default_factory=deque)
    weights: deque[int] = field(default_factory=deque)
    """What they were read from."""
    held: int = 0
    """The sum of these."""
    under_way: int = 0
    news: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when an answer is begun, or none is any more."""
    moved: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when an answer is done or handed on."""
    broken: asyncio.Future[BaseException] = field(default_factory=asyncio.Future)
    """The error of the first answer that had one: it ends the run, whoever is still under way."""

    async def room_for(self, weight: int) -> None:
        """Wait until an answer of this weight may begin."""
        while self.under_way >= self.ahead or not self._holds(weight):
            self.moved.clear()
            await self.moved.wait()

    def _holds(self, weight: int) -> bool:
        many = len(self.begun)
        return many < self.ahead or (many < self.behind and self.held + weight <= _HELD)

    def begin(self, work: Coroutine[None, None, SampleResult], weight: int) -> None:
        """Start on an answer that was read from so much."""
        task = asyncio.create_task(work)
        task.add_done_callback(self._landed)
        self.begun.append(task)
        self.weights.append(weight)
        self.held += weight
        self.under_way += 1
        self.news.set()

    def leave(self) -> None:
        """The oldest was handed on."""
        self.begun.popleft()
        self.held -= self.weights.popleft()
        self.moved.set()

    def _landed(self, task: asyncio.Task[SampleResult]) -> None:
        self.under_way -= 1
        self.moved.set()
        error = None if task.cancelled() else task.exception()
        if error is not None and not self.broken.done():
            self.broken.set_result(error)

    async def oldest(self) -> SampleResult:
        """The result of the answer begun first; or the first error of any, while it is awaited."""
        head = self.begun[0]
        if not head.done():
            await asyncio.wait((head, self.broken), return_when=asyncio.FIRST_COMPLETED)
        if not head.done():
            raise self.broken.result()
        return head.result()
