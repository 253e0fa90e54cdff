"""When the next request may leave, with a clock that the test moves, and over HTTP."""

import asyncio
import json
from collections.abc import Callable, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from judge.backends.openai.chat import read_completion
from judge.backends.openai.client import Connection, Outage, Pace, Policy
from judge.backends.openai.failures import Failure
from judge.records import UnscoredReason
from tests.chat_call import ChatCall
from tests.replies import Answer, Body, right, too_many
from tests.server import JudgeServer

NO_END = 1e12


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@given(
    st.integers(1, 600),
    st.integers(100, 100_000),
    st.lists(st.tuples(st.integers(1, 8_000), st.floats(0, 20)), max_size=200),
)
def test_a_minute_takes_no_more_than_was_allowed(
    rpm: int, tpm: int, requests: list[tuple[int, float]]
) -> None:
    clock = Clock()
    pace = Pace(1_000, rpm, tpm, clock)
    left: list[tuple[float, float]] = []
    for tokens, seconds in requests:
        clock.now += seconds
        wait = pace.reserve(4 * tokens)
        assert wait is not None
        left.append((clock.now + wait, tokens))
    for number, (start, _) in enumerate(left):
        minute = [tokens for then, tokens in left[number:] if then < start + 60 - 1e-6]
        assert len(minute) <= rpm
        # The last one leaves once those before it are paid for.
        assert sum(minute[:-1]) <= tpm + 1e-6


def test_rates_are_used_up_and_corrected_by_what_was_counted() -> None:
    clock = Clock()
    pace = Pace(64, rpm=600, clock=clock)
    assert [pace.reserve(1), pace.reserve(1)] == [0, pytest.approx(0.1)]
    clock.now += 30  # what was not used is not saved up
    assert [pace.reserve(1), pace.reserve(1)] == [0, pytest.approx(0.1)]
    counted = Pace(64, tpm=6_000, clock=clock)
    assert counted.reserve(400) == 0  # 100 tokens by their bytes: a second
    counted.spent(400, 250)
    assert counted.reserve(400, within=2.5) is None
    assert counted.reserve(400) == pytest.approx(2.5)


def test_refusals_of_the_last_ten_seconds_are_counted() -> None:
    clock = Clock()
    outage = Outage(0, clock=clock)
    for _ in range(3):
        outage.hear(Failure(UnscoredReason.RATE_LIMITED, "slow down", status=429))
        clock.now += 4
    assert outage.state == "2 requests refused in the last 10 s (429)"


async def test_requests_leave_in_order_and_not_behind_their_deadline() -> None:
    pace, now = Pace(1), asyncio.get_running_loop().time
    order: list[int] = []

    async def one(number: int) -> None:
        async with pace.turn(1, NO_END) as is_in_time:
            assert is_in_time
            order.append(number)
            await asyncio.sleep(0)

    await asyncio.gather(*map(one, range(20)))
    assert order == list(range(20))
    async with pace.turn(1, NO_END):
        async with pace.turn(1, now() + 0.01) as is_in_time:
            assert not is_in_time, "the only place is taken"
        waiting = asyncio.create_task(one(20))
        await asyncio.sleep(0)
        waiting.cancel()
    await one(21)  # a cancelled request leaves no place taken
    slow = Pace(9, rpm=1)
    async with slow.turn(1, NO_END), slow.turn(1, now() + 30) as is_in_time:
        assert not is_in_time, "which is known at once"


async def send(
    server: JudgeServer,
    pace: Pace,
    count: int,
    read: Callable[[str, Mapping[str, JsonValue]], object] = lambda text, _: text,
) -> list[object]:
    """Send `count` numbered requests at once, and return their outcomes."""
    policy = Policy(timeout=5.0, attempts=3, first_wait=0.02, longest_wait=0.05)
    async with Connection(server.base_url, "", policy=policy, pace=pace) as connection:
        soon = asyncio.get_running_loop().time() + 20
        work = [
            connection.ask("/chat/completions", numbered(n), read, deadline=soon)
            for n in range(count)
        ]
        done = await asyncio.gather(*work, return_exceptions=True)
    return [each if isinstance(each, BaseException) else each.outcome for each in done]


def numbered(number: int) -> dict[str, JsonValue]:
    return {"model": "m", "messages": [{"role": "user", "content": f"<s1>{number}</s1>"}]}


async def test_over_http_a_refused_request_waits_and_delays_no_other() -> None:
    arrivals: list[str] = []

    def script(call: ChatCall) -> Answer:
        arrivals.append(call.user)
        return too_many("0.5") if len(arrivals) in {1, 5} else right(call)

    pace = Pace(1)
    with JudgeServer(script) as server:
        outcomes = await send(server, pace, 8)
    assert not [each for each in outcomes if isinstance(each, Failure | BaseException)]
    assert len(set(arrivals[:8])) == 8, "all others leave before a refused one is sent again"
    assert set(arrivals[8:]) == {arrivals[0], arrivals[4]}


async def test_over_http_a_limit_counts_whatever_status_it_comes_with() -> None:
    named = {"code": "rate_limit_exceeded", "message": "too many"}
    limited = iter([Body(json.dumps({"object": "response", "error": named, "output": []}))])
    with JudgeServer(lambda asked: next(limited, None) or right(asked)) as server:
        outcomes = await send(server, Pace(4), 1, read_completion)
    assert not [each for each in outcomes if isinstance(each, Failure | BaseException)]
