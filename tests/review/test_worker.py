import threading
from queue import SimpleQueue

from judge.review.worker import Worker


def test_one_after_another_on_one_thread_that_keeps_no_process() -> None:
    done: SimpleQueue[tuple[int, threading.Thread]] = SimpleQueue()
    worker: Worker[int] = Worker(lambda piece: done.put((piece, threading.current_thread())))
    for piece in range(20):
        worker.put(piece)
    worker.stop()
    seen = [done.get(timeout=5) for _ in range(20)]
    assert [piece for piece, _ in seen] == list(range(20))
    (thread,) = {thread for _, thread in seen}
    assert thread.daemon
    assert thread is not threading.current_thread()
    thread.join(5)
    assert not thread.is_alive()


def test_without_work_there_is_no_thread() -> None:
    before = threading.active_count()
    Worker(print).stop()
    assert threading.active_count() == before
