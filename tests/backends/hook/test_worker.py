import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from queue import SimpleQueue

import pytest

from judge.backends.hook.worker import Worker

Ended = SimpleQueue[tuple[int | None, BaseException | None]]


def worker(call: Callable[[int], object], *, at_once: int = 4) -> tuple[Worker[int], Ended]:
    ended: Ended = SimpleQueue()
    return Worker(call, lambda piece, error: ended.put((piece, error)), at_once, 5), ended


def stopped(of: Worker[int]) -> None:
    gone = threading.Event()
    of.stop(gone.set)
    assert gone.wait(5)


def test_one_after_another_on_one_thread_that_keeps_no_process() -> None:
    threads: list[threading.Thread] = []
    of, ended = worker(lambda _: threads.append(threading.current_thread()))
    for piece in range(20):
        of.put(piece)
    assert [ended.get(timeout=5) for _ in range(20)] == [(piece, None) for piece in range(20)]
    stopped(of)
    (thread,) = set(threads)
    assert thread.daemon
    assert thread is not threading.current_thread()
    thread.join(5)
    assert not thread.is_alive()


def test_without_work_there_is_no_thread() -> None:
    before = threading.active_count()
    stopped(worker(print)[0])
    assert threading.active_count() == before


def test_a_call_may_run_a_loop_of_its_own() -> None:
    of, ended = worker(lambda piece: asyncio.run(asyncio.sleep(0, piece)))
    of.put(1)
    assert ended.get(timeout=5) == (1, None)
    stopped(of)


def test_as_many_are_awaited_at_once_as_may_be() -> None:
    inside = threading.Barrier(3)

    async def call(_piece: int) -> None:
        await asyncio.to_thread(inside.wait, 5)

    of, ended = worker(call, at_once=3)
    for piece in range(6):
        of.put(piece)
    assert {ended.get(timeout=5) for _ in range(6)} == {(piece, None) for piece in range(6)}
    stopped(of)


@pytest.mark.parametrize("place", ["loop", "thread"])
def test_an_error_belongs_to_its_call(place: str) -> None:
    def fail(piece: int) -> None:
        raise ValueError(piece)

    async def call(piece: int) -> None:
        if piece % 2:
            await asyncio.to_thread(fail, piece) if place == "thread" else fail(piece)

    of, ended = worker(call)
    for piece in range(4):
        of.put(piece)
    found = dict(ended.get(timeout=5) for _ in range(4))
    assert (found[0], found[2]) == (None, None)
    assert [str(found[1]), str(found[3])] == ["1", "3"]
    stopped(of)


def test_threads_of_a_call_keep_no_process() -> None:
    threads: SimpleQueue[threading.Thread] = SimpleQueue()
    go = threading.Event()

    def hang() -> None:
        threads.put(threading.current_thread())
        go.wait(5)

    async def call(_piece: int) -> None:
        await asyncio.to_thread(hang)

    of, _ = worker(call)
    of.put(0)
    thread = threads.get(timeout=5)
    assert thread.daemon
    stopped(of)  # though it hangs
    assert thread.is_alive()
    go.set()
    thread.join(5)
    assert not thread.is_alive()


def test_no_more_threads_than_calls_and_cancelled_work_is_not_done() -> None:
    done: list[int] = []
    threads: set[threading.Thread] = set()
    go = threading.Event()

    def work(number: int) -> None:
        threads.add(threading.current_thread())
        if not number:
            go.wait(5)
        done.append(number)

    async def call(_piece: int) -> None:
        first, second, third = (asyncio.create_task(asyncio.to_thread(work, n)) for n in range(3))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        second.cancel()
        await asyncio.wait((second,))
        go.set()
        await asyncio.wait((first, third))

    of, ended = worker(call, at_once=1)
    of.put(0)
    assert ended.get(timeout=5) == (0, None)
    assert done == [0, 2]
    assert len(threads) == 1
    stopped(of)


def test_generators_that_a_call_has_not_read_to_their_end_are_closed() -> None:
    closed: list[bool] = []

    async def numbers() -> AsyncIterator[int]:
        try:
            yield 1
            yield 2
        finally:
            closed.append(True)

    unread = numbers()

    async def call(_piece: int) -> None:
        await anext(unread)

    of, ended = worker(call)
    of.put(0)
    assert ended.get(timeout=5) == (0, None)
    stopped(of)
    assert closed == [True]


def test_a_stopped_call_cleans_up_whatever_its_tasks_do() -> None:
    began, cleaned = threading.Event(), []

    async def tidy() -> None:
        try:
            began.set()
            await asyncio.Event().wait()
        finally:
            for _ in range(20):
                await asyncio.sleep(0)
            cleaned.append(True)

    async def rude() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            raise SystemExit

    async def call(piece: int) -> None:
        await (tidy() if piece else rude())

    of, _ = worker(call)
    for piece in range(2):
        of.put(piece)
    assert began.wait(5)
    stopped(of)
    assert cleaned == [True]
