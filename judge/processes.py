"""Processes: workers that compute beside this one, which hands them work and has it back."""

import asyncio
import gc
import os
import pickle
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections import deque
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from queue import SimpleQueue
from struct import Struct
from threading import Thread
from traceback import format_exc
from typing import IO, Any, Final, NamedTuple, NoReturn, ParamSpec, Self, TypeVar, cast

from judge.errors import ConfigError, WorkerLost
from judge.workers import HEAVY, apart

_Result = TypeVar("_Result")
_Given = ParamSpec("_Given")

_FULL: Final = 3 * HEAVY
"""Weight with which a worker has enough to do: some ten answers, or one that is heavy."""
_LENGTH: Final = Struct("!Q")
_ROOM: Final = 1 << 20
"""Bytes of results that may wait to be read."""
_ALONE: Final = "add --workers 1, which needs none"
_SHORT: Final = {-9: ", as happens where memory runs out"}
"""How the system ends a process then, and what is said of it."""


def cores() -> int:
    """How many this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _Task(NamedTuple):
    done: asyncio.Future[Any]
    heavy: int
    message: bytes
    line: "Line"


class Processes:
    """Worker processes of one event loop; use it as an async context manager.

    They are fresh Pythons that import what their work needs, no forks of this one, and end when
    their pipe closes: also where this process was killed. Each `Line` hands them work.

    Args:
        count: how many.
        work: a function they will be given; its module is imported at once.
    """

    def __init__(self, count: int, work: Callable[..., object]) -> None:
        self._count = count
        self._module = work.__module__
        self._workers: list[_Worker] = []
        self._waiting = deque[_Task]()
        self._lost = ""
        """How a worker ended before its time."""

    async def __aenter__(self) -> Self:
        """Start them.

        Raises:
            WorkerLost: the system starts none.
        """
        self.loop = asyncio.get_running_loop()
        async with AsyncExitStack() as stack:  # whoever is cancelled leaves none behind
            stack.push_async_exit(self.__aexit__)
            try:
                for _ in range(self._count):
                    self._workers.append(_Worker(await _started(self._module), self))
            except (OSError, NotImplementedError) as error:  # a loop of Windows may know none
                told = f"no worker process can be started ({error}); {_ALONE}"
                raise WorkerLost(told) from None
            stack.pop_all()
        return self

    async def __aexit__(self, *_: object) -> None:
        """End them, whatever they do: nobody waits for it any more."""
        for worker in self._workers:
            worker.listening.cancel()
            with suppress(ProcessLookupError):
                worker.process.kill()
        for worker in self._workers:
            await worker.process.wait()

    def take(self, task: _Task) -> None:
        """Begin it, or have it wait."""
        if self._lost:
            raise WorkerLost(self._lost)
        if task.line.worker is None:
            self._waiting.append(task)
            self.feed()
        else:
            task.line.worker.give(task)

    def feed(self) -> None:
        """Hand out what waits, to whoever has least to do, as long as anybody has room."""
        while self._waiting:
            worker = min(self._workers, key=lambda each: each.load)
            if worker.load >= _FULL:
                return
            task = self._waiting.popleft()
            if not task.done.done():
                task.line.worker = worker
                worker.give(task)

    def lose(self, worker: "_Worker", code: int) -> None:
        """Nobody waits for what a dead worker had begun, nor for the others."""
        how = f"was killed (signal {-code})" if code < 0 else f"ended (exit code {code})"
        self._lost = f"a worker process {how}{_SHORT.get(code, '')}; {_ALONE}"
        for task in (*worker.begun, *self._waiting):
            if not task.done.done():
                task.done.set_exception(WorkerLost(self._lost))
                task.done.exception()  # whoever is cancelled meanwhile never asks for it
        self._waiting.clear()


class Line:
    """What is done for one answer: in one worker, which need not read a text twice."""

    def __init__(self, pool: Processes) -> None:
        self.worker: _Worker | None = None
        self._pool = pool

    async def apart(
        self,
        heavy: int,
        work: Callable[_Given, _Result],
        *given: _Given.args,
        **named: _Given.kwargs,
    ) -> _Result:
        """As `judge.workers.apart`, in another process; here what cannot be pickled.

        Raises:
            WorkerLost: a worker has ended, as one does that is killed where memory runs out.
            ConfigError: what was pickled is of a class that no other process can import.
        """
        try:
            message = pickle.dumps((work, given, named), 5)
        except (AttributeError, TypeError, pickle.PicklingError):  # of a class within a function
            return await apart(heavy, work, *given, **named)
        done: asyncio.Future[_Result] = self._pool.loop.create_future()
        self._pool.take(_Task(done, heavy, message, self))
        return await done


class _Worker:
    """One of them, from this side."""

    def __init__(self, process: Process, pool: Processes) -> None:
        self.process = process
        self.begun = deque[_Task]()
        self.load = 0
        self._pool = pool
        self._given = cast("asyncio.StreamWriter", process.stdin)
        self._said = cast("asyncio.StreamReader", process.stdout)
        self.listening = asyncio.create_task(self._listen())

    def give(self, task: _Task) -> None:
        self.begun.append(task)
        self.load += task.heavy
        if not self._given.is_closing():  # it has just died; `_listen` will see to it
            self._given.write(_LENGTH.pack(len(task.message)) + task.message)

    async def _listen(self) -> None:
        read = self._said.readexactly
        with suppress(asyncio.IncompleteReadError, OSError):
            while True:
                (length,) = _LENGTH.unpack(await read(_LENGTH.size))
                fine, value = _taken(await read(length))
                task = self.begun.popleft()
                self.load -= task.heavy
                if not task.done.done():
                    task.done.set_result(value) if fine else task.done.set_exception(value)
                self._pool.feed()
        self._pool.lose(self, await self.process.wait())


def _taken(result: bytes) -> Any:  # noqa: ANN401  whatever the work returns or raises
    try:
        return pickle.loads(result)  # noqa: S301  our own process's
    except Exception as error:  # noqa: BLE001  raised where it is waited for
        return False, RuntimeError(f"what a worker process made cannot be read: {error!r}")


async def _started(module: str) -> Process:
    path = [place for place in sys.path if isinstance(place, str)]  # Python skips the rest
    code = f"import sys; sys.path[:] = {path!r}; import judge.processes, {module};"
    code += "judge.processes.serve()"
    # Out of the terminal's group: its Ctrl-C is for the process that hands out the work.
    return await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, stdin=PIPE, stdout=PIPE, limit=_ROOM, start_new_session=True
    )


def serve() -> NoReturn:
    """The life of a worker: work comes by standard input, results go by standard output."""
    for name in {"SIGINT", "SIGTERM", "SIGHUP"} & set(dir(signal)):
        # Whoever stops all processes at once means the one whose end ends this one.
        signal.signal(getattr(signal, name), signal.SIG_IGN)
    given, said = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no result
    gc.freeze()  # what was imported stays: the collector need not walk through it again
    waiting = SimpleQueue[bytes]()
    Thread(target=_take, args=(given, waiting), daemon=True).start()
    while True:
        result = _answer(waiting.get())
        with suppress(BrokenPipeError):  # the other thread will see it, too
            said.write(_LENGTH.pack(len(result)) + result)
            said.flush()


def _take(given: IO[bytes], waiting: SimpleQueue[bytes]) -> None:
    """Read ahead; where nobody is at the other end any more, end at once, in mid-work too."""
    while head := given.read(_LENGTH.size):
        waiting.put(given.read(_LENGTH.unpack(head)[0]))
    os._exit(0)


def _answer(message: bytes) -> bytes:
    try:
        return pickle.dumps((True, _made(message)), 5)
    except Exception as raised:  # noqa: BLE001  raised where it is waited for
        # A future takes no StopIteration.
        error = RuntimeError(repr(raised)) if isinstance(raised, StopIteration) else raised
        error.add_note(format_exc())
        with suppress(Exception):  # not all of them can be pickled, or made again
            told = pickle.dumps((False, error), 5)
            pickle.loads(told)  # noqa: S301  our own
            return told
        return pickle.dumps((False, RuntimeError(format_exc())), 5)


def _made(message: bytes) -> object:
    try:
        work, given, named = pickle.loads(message)  # noqa: S301  of the process that started this
    except (AttributeError, ImportError) as error:
        step = "define it in a module that can be imported, or say workers=1"
        raise ConfigError(f"a worker process cannot read a record: {error}; {step}") from None
    return work(*given, **named)
