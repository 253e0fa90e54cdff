import asyncio
import hashlib
import json
import logging
import threading
from typing import Any, NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge import Sample, SampleResult, evaluate
from judge.backends.hook import Calls, chosen, uniform
from judge.protocols import ReviewHook
from judge.records import Chunk

SAMPLE = Sample(
    qid="q",
    answer="七点开门。",
    chunks=(Chunk(chunk_id="a", text="七点开门。"),),
    metadata={"team": ["甲"]},
    relevance={"a": 1.0},
)


(RESULT,) = evaluate([SAMPLE])

# The draw.


def test_the_number_is_the_documented_hash() -> None:
    # Put together by hand: kind, length in bytes, text, for the seed and each part.
    spelled = "judge review|i1:7|s5:claim|s6:问题|i2:-1".encode()
    head = int(hashlib.sha256(spelled).hexdigest()[:16], 16)
    assert uniform(7, "claim", "问题", -1) == (head >> 11) / 2**53


@given(
    st.text(st.characters(), max_size=8), st.integers(min_value=0), st.floats(0, 1), st.floats(0, 1)
)
def test_a_chosen_id_is_chosen_at_any_higher_rate(
    qid: str, seed: int, one: float, two: float
) -> None:
    low, high = sorted((one, two))
    assert chosen(qid, seed, high) or not chosen(qid, seed, low)
    assert chosen(qid, seed, 1)
    assert not chosen(qid, seed, 0)


# Calls of the hook.


async def offered(hook: ReviewHook, count: int = 1, seconds: float = 30.0) -> None:
    async with Calls(hook, 0, 1.0, timeout=seconds) as calls:
        for number in range(count):
            update = {"qid": f"q{number}"}
            calls.offer(SAMPLE.model_copy(update=update), RESULT.model_copy(update=update))


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    assert all(record.levelno == logging.WARNING for record in caplog.records)
    assert all(record.name == "judge" for record in caplog.records)
    return [record.getMessage() for record in caplog.records]


class Kept:
    """Records its calls; each method is a hook."""

    def __init__(self) -> None:
        self.given: list[tuple[str, str, float]] = []
        self.threads: set[threading.Thread] = set()

    def plain(self, sample: Sample, result: SampleResult, probability: float) -> None:
        self.threads.add(threading.current_thread())
        self.given.append((sample.qid, result.qid, probability))

    async def later(self, sample: Sample, result: SampleResult, probability: float) -> None:
        await asyncio.sleep(0)
        self.plain(sample, result, probability)


@pytest.mark.parametrize("name", ["plain", "later"])
async def test_calls_arrive_in_order_on_a_separate_thread(
    name: str, caplog: pytest.LogCaptureFixture
) -> None:
    kept = Kept()
    await offered(getattr(kept, name), 40)
    assert kept.given == [(f"q{n}", f"q{n}", 1.0) for n in range(40)]
    (thread,) = kept.threads
    assert (thread.daemon, thread is threading.current_thread()) == (True, False)
    assert warnings(caplog) == []


class Odd(BaseException):
    pass


ERRORS = (ValueError, Odd, SystemExit, asyncio.CancelledError)


@pytest.mark.parametrize("kind", ERRORS)
@pytest.mark.parametrize("way", ["blocking", "awaited"])
async def test_errors_are_logged_once_a_kind_without_their_message_and_counted(
    kind: type[BaseException], way: str, caplog: pytest.LogCaptureFixture
) -> None:
    def plain(*_: object) -> NoReturn:
        json.loads("{}")
        raise kind("s3cret\ntext")

    async def later(*_: object) -> NoReturn:
        plain()

    hook: Any = later if way == "awaited" else plain
    await offered(hook, 5)
    first, last = warnings(caplog)
    name = f"review hook {hook.__qualname__}"
    place = f"{kind.__name__} at test_hook.py:{plain.__code__.co_firstlineno + 2}"
    assert first == f"{name} failed for 'q0': {place} (further ones of this kind are only counted)"
    assert last == f"{name}: of 5 calls, 5 failed"


async def test_calls_beyond_the_queue_are_dropped_and_counted(
    caplog: pytest.LogCaptureFixture,
) -> None:
    kept, go = Kept(), threading.Event()

    def hook(sample: Sample, result: SampleResult, probability: float) -> None:
        go.wait(60)
        kept.plain(sample, result, probability)

    async with Calls(hook, 0, 1.0, waiting=5) as calls:
        for _ in range(9):
            calls.offer(SAMPLE, RESULT)
        go.set()
    assert len(kept.given) == 5
    (said,) = warnings(caplog)
    assert said.endswith("of 9 calls, 4 were dropped, as too many waited")


async def test_a_call_that_takes_too_long_is_a_failure(caplog: pytest.LogCaptureFixture) -> None:
    async def hook(*_: object) -> None:
        await asyncio.Event().wait()

    async with Calls(hook, 0, 1.0, timeout=0.05) as calls:
        calls.offer(SAMPLE, RESULT)
        await asyncio.sleep(0.2)
    first, last = warnings(caplog)
    assert "'q': TimeoutError" in first
    assert last.endswith("of 1 call, 1 failed")


async def test_a_hanging_call_is_given_up(
    caplog: pytest.LogCaptureFixture,
) -> None:
    go = threading.Event()
    await offered(lambda *_: go.wait(60), 4, seconds=0.05)  # type: ignore[arg-type]
    go.set()
    (said,) = warnings(caplog)
    assert said.endswith("of 4 calls, 4 were given up before they had ended")
