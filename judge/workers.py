"""Workers: threads for what takes long to compute, while the event loop goes on with the rest."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from itertools import count
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Final, ParamSpec, Protocol, TypeVar

from judge.records import JudgeRequest, Sample

_Result = TypeVar("_Result")
_Given = ParamSpec("_Given")


class Apart(Protocol):
    """Computes apart from the event loop: here on a thread, or in another process."""

    async def __call__(
        self,
        heavy: int,
        work: Callable[_Given, _Result],
        *given: _Given.args,
        **named: _Given.kwargs,
    ) -> _Result:
        """What `work` returns or raises; `heavy` is the weight of what it reads."""


HEAVY: Final = 40_000
"""Weight from which work leaves the event loop: below, even the slowest text takes some 50 ms."""
_AT_ONCE: Final = 2
"""Threads in all: Python computes on one at a time, and each more has the loop wait longer."""
_CLAIMED: Final = 4
"""A character of an answer costs so many of a chunk: it is split, read and held against them."""
_EACH: Final = 16
"""What a chunk costs, however short."""

_waiting: Final = SimpleQueue[Callable[[], None]]()
_started: Final = count()
_lock: Final = Lock()


def weigh(read: Sample | JudgeRequest) -> int:
    """How much there is to read of an answer and what it is held against, in characters."""
    chunks = read.chunks
    against = len(read.query) + sum([len(chunk.text) for chunk in chunks])
    return _CLAIMED * len(read.answer) + against + _EACH * len(chunks)


async def apart(
    heavy: int, work: Callable[_Given, _Result], *given: _Given.args, **named: _Given.kwargs
) -> _Result:
    """What a function returns or raises; called on a thread where the weight is heavy.

    Whoever is cancelled waits no longer. What has begun runs to its end, unseen, on a thread that
    keeps no process alive; what has not begun is dropped.
    """
    if heavy < HEAVY:
        return work(*given, **named)
    future: Future[_Result] = Future()
    context = copy_context()

    def run() -> None:
        if future.set_running_or_notify_cancel():
            try:
                future.set_result(context.run(work, *given, **named))
            except StopIteration as error:  # asyncio's futures take none, and never end then
                future.set_exception(RuntimeError(repr(error)))
            except BaseException as error:  # noqa: BLE001  raised where it is waited for
                future.set_exception(error)

    _waiting.put(run)
    with _lock:
        # A pool of the standard library would be waited for when the process ends.
        if next(_started) < _AT_ONCE:
            Thread(target=_serve, name="judge-worker", daemon=True).start()
    return await asyncio.wrap_future(future)


def _serve() -> None:
    while True:
        _waiting.get()()
