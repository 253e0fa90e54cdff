"""The answers that are begun and not yet handed on."""

import asyncio
from collections import deque
from collections.abc import Coroutine
from dataclasses import dataclass, field

from judge.records import SampleResult


@dataclass(slots=True)
class Flight:
    """The answers that are begun, oldest first."""

    room: asyncio.Semaphore
    begun: deque[asyncio.Task[SampleResult]] = field(default_factory=deque)
    news: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when an answer is begun, or none is any more."""
    broken: asyncio.Future[BaseException] = field(default_factory=asyncio.Future)
    """The error of the first answer that had one: it ends the run, whoever is still under way."""

    def begin(self, work: Coroutine[None, None, SampleResult]) -> None:
        """Begin one more."""
        task = asyncio.create_task(work)
        task.add_done_callback(self._landed)
        self.begun.append(task)
        self.news.set()

    def _landed(self, task: asyncio.Task[SampleResult]) -> None:
        error = None if task.cancelled() else task.exception()
        if error is not None and not self.broken.done():
            self.broken.set_result(error)

    async def oldest(self) -> SampleResult:
        """The result of the answer begun first, awaited; it stays in `begun`.

        Raises:
            Exception: the first error of any answer, while this one is under way.
        """
        head = self.begun[0]
        if not head.done():
            await asyncio.wait((head, self.broken), return_when=asyncio.FIRST_COMPLETED)
        if not head.done():
            raise self.broken.result()
        return head.result()
