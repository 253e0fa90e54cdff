"""Scoring without async: in a script, and beside a notebook's running loop."""

import asyncio
from collections.abc import Coroutine, Iterable
from concurrent.futures import Future, wait
from contextlib import suppress
from threading import Thread
from typing import Final, TypeVar

from judge.config import Config
from judge.evaluator.evaluator import Evaluator
from judge.protocols import Judge
from judge.records import Sample, SampleResult

_Result = TypeVar("_Result")

_GLANCE: Final = 0.2
"""Seconds between two looks for a Ctrl-C, where a thread is waited for."""


def evaluate(
    samples: Iterable[Sample], config: Config | None = None, *, judge: Judge | None = None
) -> list[SampleResult]:
    """Score `samples` and wait for all results; in a notebook's running loop too.

    Arguments and errors as of `Evaluator`. For more samples than fit into memory, use that.
    """

    async def collect() -> list[SampleResult]:
        return [result async for result in Evaluator(config, judge=judge).evaluate(samples)]

    # Its public brother raises, and all that fails later would seem to come from that.
    alone = asyncio._get_running_loop() is None  # noqa: SLF001
    return asyncio.run(collect()) if alone else _run_beside(collect())


def _run_beside(work: Coroutine[None, None, _Result]) -> _Result:
    """Run in a thread of its own: this one has a loop already, and a loop is not entered twice."""
    begun: Future[tuple[asyncio.AbstractEventLoop, asyncio.Task[_Result]]] = Future()
    done: Future[_Result] = Future()

    async def announced() -> _Result:
        task = asyncio.ensure_future(work)
        begun.set_result((asyncio.get_running_loop(), task))
        return await task

    def run() -> None:
        try:
            done.set_result(asyncio.run(announced()))
        except BaseException as error:  # noqa: BLE001  raised where it is waited for
            done.set_exception(error)

    thread = Thread(target=run)
    try:
        thread.start()
        # A signal that comes right before a wait is seen only after it: so none is long.
        while not wait([done], timeout=_GLANCE).done:
            pass
        return done.result()
    except BaseException:
        # Ctrl-C reaches this thread, not that one, and may do so while that one is being started.
        with suppress(RuntimeError, TimeoutError):  # its loop has closed since; it never began
            loop, task = begun.result(timeout=1)
            loop.call_soon_threadsafe(task.cancel)
        raise
    finally:
        if thread.ident is not None:
            thread.join()
