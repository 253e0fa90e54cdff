import asyncio

import pytest

from judge import Sample, SampleResult, evaluate
from judge.evaluator.flight import Flight


def made(qid: str) -> SampleResult:
    (result,) = evaluate([Sample(qid=qid)])
    return result


async def test_the_oldest_comes_first_however_late_it_is() -> None:
    late, early = made("late"), made("early")
    gate = asyncio.Event()

    async def waits() -> SampleResult:
        await gate.wait()
        return late

    async def at_once() -> SampleResult:
        gate.set()
        return early

    flight = Flight(room=asyncio.Semaphore(2))
    flight.begin(waits())
    flight.begin(at_once())
    assert flight.news.is_set()
    assert await flight.oldest() is late
    flight.begun.popleft()
    assert await flight.oldest() is early


async def test_an_error_of_a_later_one_does_not_wait_for_the_oldest() -> None:
    async def never() -> SampleResult:
        await asyncio.Event().wait()
        raise AssertionError("not reached")

    async def fails() -> SampleResult:
        raise RuntimeError("out")

    flight = Flight(room=asyncio.Semaphore(2))
    flight.begin(never())
    flight.begin(fails())
    with pytest.raises(RuntimeError, match="out"):
        await flight.oldest()
    flight.begun[0].cancel()


async def test_a_cancelled_one_breaks_nothing() -> None:
    async def never() -> SampleResult:
        await asyncio.Event().wait()
        raise AssertionError("not reached")

    flight = Flight(room=asyncio.Semaphore(1))
    flight.begin(never())
    flight.begun[0].cancel()
    await asyncio.wait(flight.begun)
    assert not flight.broken.done()
