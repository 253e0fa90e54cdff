import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from judge.backends.local.weights import run
from judge.records import Unscored, UnscoredReason


@pytest.fixture
def worker() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1, "here") as worker:
        yield worker


async def test_the_work_is_done_on_the_workers_thread(worker: ThreadPoolExecutor) -> None:
    def work(number: int) -> tuple[int, str]:
        return number + 1, threading.current_thread().name

    assert await run(worker, work, 1) == (2, "here_0")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (RuntimeError("out of memory\nat all"), "out of memory"),
        (IndexError("index out of range"), "index out of range"),
        (ArithmeticError("no number"), "no number"),
        (ValueError("\n too many rows"), "too many rows"),
        (MemoryError(), "MemoryError"),
        (OSError(5, "no device"), "[Errno 5] no device"),
        (TypeError(" "), "TypeError"),
    ],
)
async def test_a_breakdown_is_a_value(
    worker: ThreadPoolExecutor, error: Exception, said: str
) -> None:
    def work(_: object) -> None:
        raise error

    assert await run(worker, work, None) == Unscored(
        reason=UnscoredReason.SERVER_ERROR, detail=f"the model failed: {said}"
    )
