import asyncio
import gc
import hashlib
import json
import logging
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge import Sample, SampleResult, evaluate
from judge.backends.hook import Calls, Limits, chosen, described, placed, uniform
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
QUICK = Limits(timeout=60, grace=60)


# Whom it is handed.

TEXTS = st.text(st.characters(), max_size=8)
PARTS = st.lists(TEXTS | st.integers(), max_size=4)


def test_the_number_is_the_hash_that_the_docstring_says() -> None:
    # Put together by hand: kind, length in bytes, text, for the seed and each part.
    spelled = "judge review|i1:7|s5:claim|s6:问题|i2:-1".encode()
    head = int(hashlib.sha256(spelled).hexdigest()[:16], 16)
    assert uniform(7, "claim", "问题", -1) == (head >> 11) / 2**53


@given(st.integers(), PARTS, PARTS)
def test_other_parts_other_number(seed: int, one: list[str | int], two: list[str | int]) -> None:
    assert 0 <= uniform(seed, *one) < 1
    assert (uniform(seed, *one) == uniform(seed, *two)) is (one == two)


@given(TEXTS, st.integers(min_value=0), st.floats(0, 1), st.floats(0, 1))
def test_who_is_chosen_at_a_rate_is_chosen_at_a_higher_one(
    qid: str, seed: int, one: float, two: float
) -> None:
    low, high = sorted((one, two))
    assert chosen(qid, seed, high) or not chosen(qid, seed, low)
    assert chosen(qid, seed, 1)
    assert not chosen(qid, seed, 0)


# How it is called.


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
    __call__ = Kept.plain


class CalledLater(Kept):
    __call__ = Kept.later


WAYS: dict[str, Callable[[Kept], Any]] = {
    "function": lambda kept: kept.plain,
    "object": lambda kept: kept,
    "coroutine function": lambda kept: kept.later,
    "partial": lambda kept: partial(kept.later),
    "function of an awaitable": lambda kept: kept.lazily,
    "asynchronous object": lambda kept: kept,
}


async def test_however_it_is_written_each_call_arrives_on_one_thread_that_is_not_the_runs(
    caplog: pytest.LogCaptureFixture,
) -> None:
    for way, of in WAYS.items():
        kept = CalledLater() if way == "asynchronous object" else Called()
        async with Calls(of(kept), 0, 0.25, QUICK) as calls:
            for number in range(40):
                calls.offer(*named(f"q{number}"))
        assert sorted(kept.given) == sorted((f"q{n}", f"q{n}", 0.25) for n in range(40)), way
        (thread,) = kept.threads
        assert (thread.daemon, thread is threading.current_thread()) == (True, False), way
    assert warnings(caplog) == []


def failing(error: BaseException) -> tuple[ReviewHook, ReviewHook]:
    def plain(*_: object) -> NoReturn:
        raise error

    async def later(*_: object) -> NoReturn:
        raise error

    return plain, later


class Odd(BaseException):
    pass


@pytest.mark.parametrize("way", [0, 1], ids=["blocking", "awaited"])
async def test_what_it_raises_is_said_once_without_its_message_and_counted(
    way: int, caplog: pytest.LogCaptureFixture
) -> None:
    stopping = (SystemExit, KeyboardInterrupt, asyncio.CancelledError, StopIteration, GeneratorExit)
    for kind in (ValueError, TimeoutError, Odd, *stopping):
        caplog.clear()
        hook: Any = failing(kind("s3cret\ntext"))[way]
        await offered(hook, 5)
        first, last = warnings(caplog)
        name = f"review hook {hook.__qualname__}"
        place = f"{kind.__name__} at test_hook.py:{hook.__code__.co_firstlineno + 1}"
        if way and kind is StopIteration:
            place = "RuntimeError"  # as Python makes of it where it is awaited, without a place
        assert first == f"{name} failed for 'q0': {place} (others like it are only counted)"
        assert last == f"{name}: of 5 calls, 5 failed"


async def test_what_is_no_hook_is_a_failure(caplog: pytest.LogCaptureFixture) -> None:
    def plain(*given: object) -> Iterator[object]:
        yield given

    async def later(*given: object) -> AsyncIterator[object]:
        yield given

    def few(sample: Sample) -> None:
        raise AssertionError(sample)

    async def few_later(sample: Sample) -> None:
        raise AssertionError(sample)

    lazy = "ConfigError: it is a generator function; called, it does nothing"
    for hook, said in ((plain, lazy), (later, lazy), (few, "TypeError"), (few_later, "TypeError")):
        caplog.clear()
        await offered(hook, 2)  # type: ignore[arg-type]
        first, last = warnings(caplog)
        assert said in first
        assert last.endswith("of 2 calls, 2 failed")


async def test_a_call_may_run_a_loop_of_its_own(caplog: pytest.LogCaptureFixture) -> None:
    slept = []

    def hook(_sample: Sample, result: SampleResult, _probability: float) -> None:
        slept.append(asyncio.run(asyncio.sleep(0, result.qid)))

    await offered(hook, 2)
    assert (slept, warnings(caplog)) == (["q0", "q1"], [])


async def test_no_more_at_once_than_allowed() -> None:
    flying = most = 0

    async def hook(*_: object) -> None:
        nonlocal flying, most
        flying += 1
        most = max(most, flying)
        for _turn in range(5):
            await asyncio.sleep(0)
        flying -= 1

    await offered(hook, 50, replace(QUICK, at_once=3))
    assert (flying, most) == (0, 3)


@pytest.mark.parametrize("way", ["blocking", "awaited"])
async def test_what_does_not_fit_is_dropped_and_said(
    way: str, caplog: pytest.LogCaptureFixture
) -> None:
    kept, go = Kept(), threading.Event()

    def plain(sample: Sample, result: SampleResult, probability: float) -> None:
        go.wait(60)
        kept.plain(sample, result, probability)

    async def later(sample: Sample, result: SampleResult, probability: float) -> None:
        await asyncio.to_thread(go.wait, 60)
        kept.plain(sample, result, probability)

    limits = replace(QUICK, at_once=2, waiting=3)
    async with Calls(plain if way == "blocking" else later, 0, 1.0, limits) as calls:
        for number in range(9):
            calls.offer(*named(f"q{number}"))
        go.set()
    assert sorted(qid for qid, _, _ in kept.given) == ["q0", "q1", "q2", "q3", "q4"]
    (said,) = warnings(caplog)
    assert said.endswith("of 9 calls, 4 were dropped, as too many waited")


async def test_a_call_that_takes_too_long_is_a_failure(caplog: pytest.LogCaptureFixture) -> None:
    cancelled = []

    async def hook(*_: object) -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append(True)
            raise

    await offered(hook, 2, replace(QUICK, timeout=0.01))
    first, last = warnings(caplog)
    assert "'q0': OverdueError: took over 0.01 s (" in first
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
    gc.collect()  # one that had no turn must not be told of as never awaited
    assert sorted(cancelled) == ["q1", "q2"]
    (said,) = warnings(caplog)
    assert said.endswith("of 4 calls, 3 were given up before they had ended")


class Boom(Exception):
    pass


@pytest.mark.parametrize("error", [Boom(), asyncio.CancelledError(), GeneratorExit()], ids=repr)
async def test_after_an_error_of_the_run_those_under_way_have_a_moment_to_clean_up(
    error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    began, go, cleaned = threading.Event(), threading.Event(), []

    async def hook(*_: object) -> None:
        try:
            began.set()
            await asyncio.Event().wait()
        finally:
            cleaned.append(await asyncio.to_thread(go.wait, 60))

    async def run() -> None:
        async with Calls(hook, 0, 1.0) as calls:  # whose grace is half a minute
            calls.offer(SAMPLE, RESULT)
            await asyncio.to_thread(began.wait, 60)
            # The run's loop has to turn for that: it must be waiting.
            asyncio.get_running_loop().call_later(0.02, go.set)
            raise error

    with pytest.raises(type(error)):
        await asyncio.wait_for(run(), 60)
    assert cleaned == [True]
    (said,) = warnings(caplog)
    assert "1 were given up" in said


async def test_cancelled_during_the_grace_it_waits_no_longer() -> None:
    began = threading.Event()

    async def hook(*_: object) -> None:
        began.set()
        await asyncio.Event().wait()

    task = asyncio.create_task(offered(hook, 1, Limits()))
    await asyncio.to_thread(began.wait, 60)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 60)


class Hostile:
    """Hooks that would harm a run whose loop they were called in."""

    def __init__(self) -> None:
        self.release = threading.Event()
        self.began = threading.Event()
        self.threads: set[threading.Thread] = set()

    def __call__(self, name: str) -> ReviewHook:
        async def hook(*_: object) -> None:
            self.threads.add(threading.current_thread())
            self.began.set()
            await getattr(self, name)()

        return hook

    async def swallow(self) -> None:
        while not self.release.is_set():
            with suppress(asyncio.CancelledError):
                await asyncio.to_thread(self.release.wait, 60)

    async def block(self) -> None:
        await asyncio.sleep(0)
        self.release.wait(60)

    async def thread(self) -> None:
        await asyncio.to_thread(self.release.wait, 60)

    async def stop(self) -> None:
        asyncio.get_running_loop().stop()
        await asyncio.sleep(0)
        asyncio.get_running_loop().stop()

    async def cancel_all(self) -> None:
        for task in asyncio.all_tasks():
            task.cancel()
        await asyncio.sleep(0)

    async def cancel_itself(self) -> None:
        asyncio.current_task().cancel()  # type: ignore[union-attr]
        await asyncio.sleep(0)


GIVEN_UP = ["5 were given up before they had ended"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("swallow", GIVEN_UP),
        ("block", GIVEN_UP),
        ("thread", GIVEN_UP),
        ("stop", []),
        ("cancel_all", ["CancelledError", "5 failed"]),
        ("cancel_itself", ["CancelledError at test_hook.py:", "5 failed"]),
    ],
)
async def test_nothing_that_it_does_touches_the_run(
    name: str, said: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    hostile = Hostile()
    limits = replace(QUICK, farewell=0.02, grace=0.05 if said is GIVEN_UP else 60)
    bystander = asyncio.create_task(asyncio.to_thread(hostile.began.wait, 60))
    async with asyncio.timeout(60):
        await offered(hostile(name), 5, limits)
        assert await bystander
    found = warnings(caplog)
    assert len(found) == len(said)
    assert all(part in line for part, line in zip(said, found, strict=True))
    hostile.release.set()
    for thread in hostile.threads:
        thread.join(60)
        assert not thread.is_alive()


async def test_what_fails_beside_its_calls_is_said_without_its_message(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def failing_task() -> NoReturn:
        raise ValueError("s3cret")

    async def hook(*_: object) -> None:
        task = asyncio.create_task(failing_task())
        await asyncio.wait((task,))
        del task
        gc.collect()

    await offered(hook, 2)
    (said,) = warnings(caplog)
    assert "failed beside its calls: ValueError at test_hook.py:" in said
    assert "s3cret" not in said


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


async def test_threads_of_a_call_keep_no_process_and_tell_its_errors(
    caplog: pytest.LogCaptureFixture,
) -> None:
    threads: list[threading.Thread] = []

    def work(number: int) -> int:
        threads.append(threading.current_thread())
        return 1 // number

    async def hook(*_: object) -> None:
        assert await asyncio.to_thread(work, 1) == 1
        await asyncio.to_thread(work, 0)

    await offered(hook)
    assert [thread.daemon for thread in threads] == [True, True]
    assert "ZeroDivisionError" in warnings(caplog)[0]


async def test_what_a_call_left_unread_or_untidy_is_closed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    closed: list[str] = []

    async def numbers() -> AsyncIterator[int]:
        try:
            yield 1
            yield 2
        finally:
            closed.append("generator")

    async def rude() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            closed.append("task")
            raise SystemExit

    unread, left = numbers(), []

    async def hook(*_: object) -> None:
        await anext(unread)
        left.append(asyncio.create_task(rude()))
        await asyncio.sleep(0)

    await offered(hook)
    assert sorted(closed) == ["generator", "task"]
    assert not any("of 1 call" in said for said in warnings(caplog))


# Errors in a line.


class Mute(Exception):
    def __str__(self) -> str:
        raise ValueError("no words")


SAID = {
    KeyError("表"): "KeyError: '表'",
    SystemExit(3): "SystemExit: 3",
    OSError(): "OSError",
    Mute(): "Mute",
    ValueError("a\r\n\tb\x1b[31m\u202ec"): "ValueError: a b [31m c",
    ValueError("字" * 100_000): f"ValueError: {'字' * 199}…",
}


def test_an_error_is_its_kind_and_its_words_on_one_line_that_does_not_run_on() -> None:
    assert [described(error) for error in SAID] == list(SAID.values())


def inner() -> None:
    json.loads("{s3cret")


def test_the_place_is_the_innermost_line_of_the_file_that_was_called() -> None:
    try:
        inner()
    except ValueError as caught:
        error = caught
    place = f"at test_hook.py:{inner.__code__.co_firstlineno + 1}"
    assert placed(error) == f"JSONDecodeError {place}"
    # Where this file is the caller, it is the library that was called.
    assert placed(error, __name__).startswith("JSONDecodeError at __init__.py:")
