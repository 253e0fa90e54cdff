"""Calls of other people's code, beside an event loop that they cannot touch."""

import asyncio
import inspect
from collections import deque
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from threading import Thread
from typing import Any, Final, Generic, ParamSpec, TypeVar

from judge.errors import ConfigError, JudgeError

_Piece = TypeVar("_Piece")
_Result = TypeVar("_Result")
_Given = ParamSpec("_Given")

_NAME: Final = "judge-review-hook"


class OverdueError(JudgeError):
    """A call took longer than it may."""


class Worker(Generic[_Piece]):
    """A thread that makes calls, one after another, in no event loop.

    What a call returns to be awaited is awaited in a loop of this thread, many at once. The thread
    begins with the first call, and no process stays alive for it, nor for what is done in
    `asyncio.to_thread`. Whatever is raised, stopped or cancelled in it ends no other call.

    Args:
        call: makes a call.
        ended: told, on the thread, that a call ended, and of its error if it had one; or of an
            error that belongs to no call. Must not raise.
        at_once: calls that are awaited at one time; more are not made.
        timeout: seconds to await a call, which is then cancelled; one that blocks cannot be.
    """

    def __init__(
        self,
        call: Callable[[_Piece], object],
        ended: Callable[[_Piece | None, BaseException | None], None],
        at_once: int,
        timeout: float,
    ) -> None:
        self._call = call
        self._ended = ended
        self._at_once = at_once
        self._timeout = timeout
        self._pieces: deque[_Piece] = deque()
        self._awaited: set[asyncio.Task[None]] = set()
        self._begun = self._stopped = False
        self._gone: Callable[[], None]
        self._loop = asyncio.new_event_loop()
        self._loop.set_default_executor(_Threads(at_once))
        self._loop.set_exception_handler(self._strayed)

    def put(self, piece: _Piece) -> None:
        """Have this call made, too. Takes no time.

        Raises:
            RuntimeError: there can be no more threads.
        """
        if not self._begun:
            # Daemonic: nobody waits for a call that hangs.
            Thread(target=self._run, name=_NAME, daemon=True).start()
            self._begun = True
        self._pieces.append(piece)
        self._loop.call_soon_threadsafe(self._loop.stop)

    def stop(self, gone: Callable[[], None]) -> None:
        """Make no more calls, and cancel those that are awaited. Takes no time.

        Args:
            gone: called once when no call is under way any more, on the thread; must not raise.
        """
        self._gone = gone
        self._pieces.clear()
        if self._begun:
            self._loop.call_soon_threadsafe(self._end)
        else:
            self._loop.close()
            gone()

    def _run(self) -> None:
        while not self._stopped:
            self._begin()
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
        self._gone()

    def _end(self) -> None:
        self._stopped = True
        self._loop.stop()

    def _begin(self) -> None:
        while len(self._awaited) < self._at_once:
            try:
                piece = self._pieces.popleft()
            except IndexError:
                return
            try:
                answer = self._call(piece)
                if inspect.isawaitable(answer):
                    self._await(piece, answer)
                    continue
                _refuse_generator(answer)
            except BaseException as error:  # noqa: BLE001  another's code may raise anything
                self._ended(piece, error)
            else:
                self._ended(piece, None)

    def _await(self, piece: _Piece, answer: Awaitable[object]) -> None:
        task = self._loop.create_task(self._in_time(answer))
        self._awaited.add(task)
        task.add_done_callback(partial(self._landed, piece, answer))

    async def _in_time(self, answer: Awaitable[object]) -> None:
        limit = asyncio.timeout(self._timeout)
        try:
            async with limit:
                await answer
        finally:
            if limit.expired():
                raise OverdueError(f"took over {self._timeout:g} s") from None

    def _landed(self, piece: _Piece, answer: Awaitable[object], task: asyncio.Task[None]) -> None:
        self._awaited.discard(task)
        self._loop.stop()  # to have another call made in its place
        if inspect.iscoroutine(answer):
            # Cancelled before it began, it would complain that it was never awaited.
            answer.close()
        try:
            task.result()
        except BaseException as error:  # noqa: BLE001  another's code may raise anything
            self._ended(piece, error)
        else:
            self._ended(piece, None)

    def _strayed(self, _: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        # In place of the usual report, which repeats messages, and with them texts.
        if error := context.get("exception"):
            self._ended(None, error)


def _refuse_generator(answer: object) -> None:
    if inspect.isgenerator(answer) or inspect.isasyncgen(answer):
        raise ConfigError("it is a generator function; called, it does nothing")


class _Threads(ThreadPoolExecutor):
    """Threads for which no process stays alive, as it would for those of the parent.

    Args:
        most: how many at one time.
    """

    def __init__(self, most: int) -> None:
        super().__init__(most)
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._begun, self._most = 0, most

    def submit(
        self, fn: Callable[_Given, _Result], /, *args: _Given.args, **kwargs: _Given.kwargs
    ) -> Future[_Result]:
        future: Future[_Result] = Future()
        self._jobs.put(partial(_fulfil, future, partial(fn, *args, **kwargs)))
        if self._begun < self._most:
            Thread(target=self._work, name=_NAME, daemon=True).start()
            self._begun += 1
        return future

    def shutdown(self, *_: object, **__: object) -> None:
        for _thread in range(self._begun):
            self._jobs.put(None)

    def _work(self) -> None:
        while job := self._jobs.get():
            job()


def _fulfil(future: Future[_Result], call: Callable[[], _Result]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = call()
    except BaseException as error:  # noqa: BLE001  raised where it is waited for
        future.set_exception(error)
    else:
        future.set_result(result)
