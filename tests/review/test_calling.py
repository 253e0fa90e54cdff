import asyncio
import gc
import logging
import threading
from collections.abc import Awaitable
from dataclasses import replace
from functools import partial
from typing import NoReturn

import pytest

from judge import Sample, SampleResult, evaluate
from judge.protocols import ReviewHook
from judge.records import Chunk
from judge.review.calling import Calls, Limits
from judge.review.choosing import chosen

SAMPLE = Sample(
    qid="q",
    answer="七点开门。",
    chunks=(Chunk(chunk_id="a", text="七点开门。"),),
    metadata={"team": ["甲"]},
    relevance={"a": 1.0},
)
(RESULT,) = evaluate([SAMPLE])
QUICK = Limits(timeout=5, grace=5)


def named(qid: str) -> tuple[Sample, SampleResult]:
    return SAMPLE.model_copy(update={"qid": qid}), RESULT.model_copy(update={"qid": qid})


async def offered(hook: ReviewHook, count: int = 1, limits: Limits = QUICK) -> None:
    async with Calls(hook, 0, 1.0, limits) as calls:
        for number in range(count):
            calls.offer(*named(f"q{number}"))


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    assert all(record.levelno == logging.WARNING for record in caplog.records)
    assert all(record.name == "judge" for record in caplog.records)
    return [record.getMessage() for record in caplog.records]


class Kept:
    """Keeps what it is given, in each of the ways that a hook can be written."""

    def __init__(self) -> None:
        self.given: list[tuple[str, str, float]] = []
        self.threads: set[threading.Thread] = set()

    def plain(self, sample: Sample, result: SampleResult, probability: float) -> None:
        self.threads.add(threading.current_thread())
        self.given.append((sample.qid, result.qid, probability))

    async def later(self, sample: Sample, result: SampleResult, probability: float) -> None:
        await asyncio.sleep(0)
        self.plain(sample, result, probability)

    def lazily(self, sample: Sample, result: SampleResult, probability: float) -> Awaitable[None]:
        return self.later(sample, result, probability)


class Called(Kept):
    def __call__(self, sample: Sample, result: SampleResult, probability: float) -> None:
        self.plain(sample, result, probability)


class CalledLater(Kept):
    async def __call__(self, sample: Sample, result: SampleResult, probability: float) -> None:
        await self.later(sample, result, probability)


def written(way: str) -> tuple[ReviewHook, Kept]:
    called, called_later = Called(), CalledLater()
    ways: dict[str, tuple[ReviewHook, Kept]] = {
        "function": (called.plain, called),
        "object": (called, called),
        "coroutine function": (called.later, called),
        "asynchronous object": (called_later, called_later),
        "partial": (partial(called.later), called),
        "function of an awaitable": (called.lazily, called),
    }
    return ways[way]


BLOCKING = ("function", "object")
WAYS = (
    *BLOCKING,
    "coroutine function",
    "asynchronous object",
    "partial",
    "function of an awaitable",
)


@pytest.mark.parametrize("way", WAYS)
async def test_however_it_is_written_each_call_arrives(
    way: str, caplog: pytest.LogCaptureFixture
) -> None:
    hook, kept = written(way)
    async with Calls(hook, 0, 0.25, QUICK) as calls:
        for number in range(40):
            calls.offer(*named(f"q{number}"))
    assert sorted(kept.given) == sorted((f"q{n}", f"q{n}", 0.25) for n in range(40))
    (thread,) = kept.threads
    assert (thread is threading.current_thread()) is (way not in BLOCKING)
    assert warnings(caplog) == []


async def test_after_a_result_those_that_are_chosen_are_offered() -> None:
    kept = Kept()
    qids = [f"问题{n}" for n in range(60)]

    async def score(sample: Sample) -> SampleResult:
        return named(sample.qid)[1]

    async with Calls(kept.later, 3, 0.3, QUICK) as calls:
        scored = calls.after(score)
        results = [await scored(named(qid)[0]) for qid in qids]
    assert [result.qid for result in results] == qids
    expected = {qid for qid in qids if chosen(qid, 3, 0.3)}
    assert 0 < len(expected) < 60
    assert {qid for qid, _, _ in kept.given} == expected


def failing(error: BaseException) -> tuple[ReviewHook, ReviewHook]:
    def plain(_sample: Sample, _result: SampleResult, _probability: float) -> NoReturn:
        raise error

    async def later(_sample: Sample, _result: SampleResult, _probability: float) -> NoReturn:
        raise error

    return plain, later


class Odd(BaseException):
    pass


@pytest.mark.parametrize("way", [0, 1], ids=["thread", "loop"])
@pytest.mark.parametrize(
    "error",
    [
        ValueError("no\nsuch sheet"),
        SystemExit(3),
        asyncio.CancelledError("mine"),
        StopIteration("done"),
        TimeoutError("slow"),
        Odd("odd"),
        GeneratorExit("g"),
    ],
    ids=repr,
)
async def test_what_it_raises_is_said_once_and_counted(
    way: int, error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    hook = failing(error)[way]
    await offered(hook, 5)
    first, last = warnings(caplog)
    assert first.startswith("review hook failing.<locals>.")
    assert " failed for 'q0': " in first
    assert "\n" not in first
    assert last.endswith(": of 5 calls, 5 failed")


async def test_each_kind_of_error_is_said(caplog: pytest.LogCaptureFixture) -> None:
    errors = {"q0": ValueError("a"), "q1": KeyError("b"), "q2": ValueError("c")}

    async def hook(_sample: Sample, result: SampleResult, _probability: float) -> None:
        raise errors[result.qid]

    await offered(hook, 3)
    first, second, last = warnings(caplog)
    assert "'q0': ValueError: a (" in first
    assert "'q1': KeyError: 'b' (" in second
    assert last.endswith("of 3 calls, 3 failed")


async def test_a_wrong_signature_is_a_failure(caplog: pytest.LogCaptureFixture) -> None:
    def few(sample: Sample) -> None:
        raise AssertionError(sample)

    async def few_later(sample: Sample) -> None:
        raise AssertionError(sample)

    for hook in (few, few_later):
        caplog.clear()
        await offered(hook, 2)  # type: ignore[arg-type]
        first, last = warnings(caplog)
        assert "TypeError" in first
        assert last.endswith("of 2 calls, 2 failed")


async def test_ctrl_c_in_the_loop_passes() -> None:
    raised: list[BaseException] = []

    def run() -> None:
        try:
            asyncio.run(offered(failing(KeyboardInterrupt())[1]))
        except KeyboardInterrupt as error:
            raised.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    await asyncio.to_thread(thread.join, 5)
    assert len(raised) == 1


async def test_no_more_at_once_than_allowed() -> None:
    flying = most = 0

    async def hook(_sample: Sample, _result: SampleResult, _probability: float) -> None:
        nonlocal flying, most
        flying += 1
        most = max(most, flying)
        for _ in range(5):
            await asyncio.sleep(0)
        flying -= 1

    await offered(hook, 50, replace(QUICK, at_once=3))
    assert (flying, most) == (0, 3)


@pytest.mark.parametrize("way", ["thread", "loop"])
async def test_what_does_not_fit_is_dropped_and_said(
    way: str, caplog: pytest.LogCaptureFixture
) -> None:
    kept, go = Kept(), threading.Event()
    turn = asyncio.Event()

    def plain(sample: Sample, result: SampleResult, probability: float) -> None:
        go.wait(5)
        kept.plain(sample, result, probability)

    async def later(sample: Sample, result: SampleResult, probability: float) -> None:
        await turn.wait()
        kept.plain(sample, result, probability)

    limits = replace(QUICK, at_once=2, waiting=3)
    async with Calls(plain if way == "thread" else later, 0, 1.0, limits) as calls:
        for number in range(9):
            calls.offer(*named(f"q{number}"))
        go.set()
        turn.set()
    assert sorted(qid for qid, _, _ in kept.given) == ["q0", "q1", "q2", "q3", "q4"]
    (said,) = warnings(caplog)
    assert said.endswith("of 9 calls, 4 were dropped, as too many waited")


async def test_a_call_that_takes_too_long_is_a_failure(caplog: pytest.LogCaptureFixture) -> None:
    cancelled = []

    async def hook(_sample: Sample, _result: SampleResult, _probability: float) -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append(True)
            raise

    await offered(hook, 2, replace(QUICK, timeout=0.01))
    first, last = warnings(caplog)
    assert "TimeoutError: took over 0.01 s" in first
    assert last.endswith("of 2 calls, 2 failed")
    assert cancelled == [True, True]


async def test_in_the_end_those_left_get_their_grace_and_are_given_up(
    caplog: pytest.LogCaptureFixture,
) -> None:
    cancelled = []

    async def hook(_sample: Sample, result: SampleResult, _probability: float) -> None:
        if result.qid != "q0":
            try:
                await asyncio.Event().wait()
            finally:
                cancelled.append(result.qid)

    await offered(hook, 4, replace(QUICK, at_once=2, grace=0.1))
    # One had no turn at all, and must not be told of as never awaited either.
    gc.collect()
    assert sorted(cancelled) == ["q1", "q2"]
    (said,) = warnings(caplog)
    assert said.endswith("of 4 calls, 3 were given up before they had ended")


async def test_a_thread_that_hangs_holds_nobody_up(caplog: pytest.LogCaptureFixture) -> None:
    go, began = threading.Event(), threading.Event()
    threads, seen = [], []

    def hook(_sample: Sample, result: SampleResult, _probability: float) -> None:
        threads.append(threading.current_thread())
        seen.append(result.qid)
        began.set()
        go.wait(5)

    async with Calls(hook, 0, 1.0, replace(QUICK, grace=0.01)) as calls:
        for number in range(3):
            calls.offer(*named(f"q{number}"))
        await asyncio.to_thread(began.wait, 5)
    (said,) = warnings(caplog)
    assert said.endswith("of 3 calls, 3 were given up before they had ended")
    assert threads[0].daemon
    go.set()
    threads[0].join(5)
    assert seen == ["q0"]  # those given up are not begun any more


async def test_a_thread_that_returns_after_its_loop_has_closed() -> None:
    go, began = threading.Event(), threading.Event()
    threads = []

    async def never() -> None:
        raise AssertionError("not reached")

    async def run() -> None:
        async with Calls(hook, 0, 1.0, replace(QUICK, grace=0.01)) as calls:
            calls.offer(SAMPLE, RESULT)
            began.wait(5)

    def hook(_sample: Sample, _result: SampleResult, _probability: float) -> Awaitable[None]:
        threads.append(threading.current_thread())
        began.set()
        go.wait(5)
        return never()

    await asyncio.to_thread(lambda: asyncio.run(run()))
    go.set()
    threads[0].join(5)
    gc.collect()  # a coroutine that was left would say so


async def test_cancelled_it_waits_for_nobody(caplog: pytest.LogCaptureFixture) -> None:
    began, ended = asyncio.Event(), []

    async def hook(_sample: Sample, _result: SampleResult, _probability: float) -> None:
        try:
            began.set()
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    async def run() -> None:
        async with Calls(hook, 0, 1.0) as calls:
            calls.offer(SAMPLE, RESULT)
            await asyncio.Event().wait()

    task = asyncio.create_task(run())
    await began.wait()
    task.cancel()
    async with asyncio.timeout(5):
        with pytest.raises(asyncio.CancelledError):
            await task
    assert ended == [True]
    (said,) = warnings(caplog)
    assert "1 were given up" in said


async def test_cancelled_during_the_grace_it_waits_no_longer() -> None:
    began = asyncio.Event()

    async def hook(_sample: Sample, _result: SampleResult, _probability: float) -> None:
        began.set()
        await asyncio.Event().wait()

    task = asyncio.create_task(offered(hook, 1, Limits()))
    await began.wait()
    task.cancel()
    async with asyncio.timeout(5):
        with pytest.raises(asyncio.CancelledError):
            await task


async def test_an_error_of_the_run_passes_after_the_calls_have_ended() -> None:
    kept = Kept()

    async def run() -> None:
        async with Calls(kept.later, 0, 1.0, QUICK) as calls:
            calls.offer(SAMPLE, RESULT)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await run()
    assert kept.given == [("q", "q", 1.0)]


async def test_a_hook_that_changes_what_it_is_given_changes_nothing_of_ours() -> None:
    async def hook(sample: Sample, result: SampleResult, _probability: float) -> None:
        for record in (sample, result):
            record.metadata["team"].append("乙")  # type: ignore[union-attr]
            record.metadata["new"] = 1
        (sample.relevance or {})["a"] = 0.0

    sample, result = SAMPLE.model_copy(deep=True), RESULT.model_copy(deep=True)
    async with Calls(hook, 0, 1.0, QUICK) as calls:
        calls.offer(sample, result)
    assert (sample, result) == (SAMPLE, RESULT)


async def test_records_that_cannot_be_copied_are_a_failure(
    caplog: pytest.LogCaptureFixture,
) -> None:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    sample = SAMPLE.model_copy(update={"metadata": {"deep": deep}})
    async with Calls(Kept().later, 0, 1.0, QUICK) as calls:
        calls.offer(sample, RESULT)
    assert "RecursionError" in warnings(caplog)[0]
    while deep:  # taken apart from within, for a chain so deep cannot be freed at once
        deep = deep[0]  # type: ignore[assignment]


async def test_without_offers_nothing_happens(caplog: pytest.LogCaptureFixture) -> None:
    before = threading.active_count()
    await offered(Kept().plain, 0)
    assert threading.active_count() == before
    assert warnings(caplog) == []
