"""When the next request may leave: what replies say, with a clock that the test moves."""

import asyncio
import itertools
import json
import time
from collections import deque
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from judge.backends.openai.client import Connection, Policy
from judge.backends.openai.completion import read_completion
from judge.backends.openai.failures import Failure
from judge.backends.openai.pace import Pace
from judge.errors import JudgeUnavailable
from tests.asked import Asked
from tests.faults import QUOTA
from tests.replies import Answer, Body, Tokens, right, too_many
from tests.server import JudgeServer

NO_END = 1e12


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def refused(pace: Pace, replies: int, wait: float) -> None:
    """So many refusals at this moment."""
    for _ in range(replies):
        pace.out += 1
        pace.ended(429, wait=wait)


REPLIES = st.lists(
    st.tuples(
        st.sampled_from([200, 200, 200, 200, 429, 500, 503, 408, 400, 0]),
        st.floats(0, 0.5),
    ),
    max_size=400,
)


@given(REPLIES, st.integers(1, 64))
def test_what_replies_do_to_the_number_of_requests(
    replies: list[tuple[int, float]], ceiling: int
) -> None:
    clock = Clock()
    pace = Pace(ceiling, clock=clock)
    last, cut, failed = deque[int](maxlen=100), -1.0, 10
    for status, seconds in replies:
        clock.now += seconds
        assert pace.let_out(1) == 0, "nobody is out, and nothing was asked to wait for"
        before = pace.limit
        pace.ended(status)
        last.extend([status] if status else [])
        isolated = last.count(429) * 10 < len(last)
        failed = 0 if status in {0, 408} or status >= 500 else failed + 1
        if pace.limit < before:
            assert status == 429
            assert not isolated
            assert pace.limit == max(0.01, before * 0.8)
            assert clock.now >= cut + 1
            cut = clock.now
        elif status == 429 and not isolated:
            assert clock.now < cut + 1
        if pace.limit > before:
            assert status in {200, 400}
            assert failed > 10
            assert isolated
        assert 0.01 <= pace.limit <= ceiling


@given(
    st.integers(1, 600),
    st.integers(100, 100_000),
    st.lists(st.tuples(st.integers(1, 8_000), st.floats(0, 20)), max_size=200),
)
def test_a_minute_takes_no_more_than_was_allowed(
    rpm: int, tpm: int, wishes: list[tuple[int, float]]
) -> None:
    clock = Clock()
    pace = Pace(1_000, rpm, tpm, clock)
    left: list[tuple[float, float]] = []
    for size, seconds in wishes:
        clock.now += seconds
        while (wait := pace.let_out(4 * size)) > 0:
            clock.now += wait
        left.append((clock.now, size))
        pace.ended(200)
    for number, (start, _) in enumerate(left):
        minute = [size for then, size in left[number:] if then < start + 60 - 1e-6]
        assert len(minute) <= rpm
        # The last one leaves once those before it are paid for.
        assert sum(minute[:-1]) <= tpm + 1e-6


def test_rates_are_used_up_and_corrected_by_what_was_counted() -> None:
    clock = Clock()
    pace = Pace(64, rpm=600, clock=clock)
    assert [pace.let_out(1), pace.let_out(1)] == [0, pytest.approx(0.1)]
    clock.now += 30  # what was not used is not saved up
    assert [pace.let_out(1), pace.let_out(1)] == [0, pytest.approx(0.1)]
    counted = Pace(64, tpm=6_000, clock=clock)
    assert counted.let_out(400) == 0  # 100 tokens by their bytes: a second
    assert counted.let_out(400) == pytest.approx(1)
    counted.spent(400, 250)
    assert counted.let_out(400) == pytest.approx(2.5)


def test_a_wait_that_is_asked_for_holds_for_all_unless_the_refusal_is_isolated() -> None:
    clock = Clock()
    pace = Pace(64, clock=clock)
    for _ in range(100):
        pace.out += 1
        pace.ended(200)
    refused(pace, 9, wait=5.0)
    assert pace.let_out(1) == 0, "nine of the last hundred"
    refused(pace, 1, wait=5.0)
    assert 5 <= pace.let_out(1) <= 5.5
    assert pace.limit == 64 * 0.8
    clock.now += 5.5
    assert pace.let_out(1) == 0
    first = Pace(64, clock=clock)
    refused(first, 1, wait=3.0)
    assert 3 <= first.let_out(1) <= 3.3, "the first of all replies is no isolated one"


def test_a_refusal_that_comes_at_once_keeps_its_place_as_long_as_a_request() -> None:
    clock = Clock()
    pace = Pace(2, clock=clock)
    pace.out += 2
    for _ in range(2):
        pace.ended(200, seconds=10.0)
    usual = 10 * (1 - 0.9**2)  # of seconds, the newest counts a tenth
    pace.out += 1
    pace.ended(429, seconds=0.01)
    assert pace.let_out(1) == pytest.approx(usual)
    clock.now += usual
    assert pace.let_out(1) == 0
    for _ in range(9):  # one at a time is too much, too
        clock.now += 60
        pace.out = 1
        pace.ended(429)
    assert pace.limit < 1
    clock.now += 60
    pace.out = 1
    pace.ended(429)
    assert pace.let_out(1) == pytest.approx(usual / pace.limit)


def test_limits_that_a_server_tells_hold_for_all() -> None:
    # left of requests, left of tokens, reset of both; bytes of the next request; wait
    rows = [
        ("0", "9999", "7s", 4, 7.0),
        ("0", "9999", "1m0.5s", 4, 60.0),  # no further than a minute
        ("0", "9999", "250ms", 4, 0.25),
        ("0", "9999", "2", 4, 2.0),
        ("1", "9999", "7s", 4, 0.0),
        ("5", "99", "7s", 400, 7.0),  # too few tokens for this one
        ("5", "101", "7s", 400, 0.0),
        ("0", "0", "soon", 4, 0.0),
        ("-1", "none", "7s", 4, 0.0),
    ]
    for requests, tokens, reset, size, wait in rows:
        clock = Clock()
        pace = Pace(64, clock=clock)
        pace.out += 1
        headers = {
            "x-ratelimit-limit-requests": "2",
            "x-ratelimit-remaining-requests": requests,
            "x-ratelimit-reset-requests": reset,
            "x-ratelimit-remaining-tokens": tokens,
            "x-ratelimit-reset-tokens": reset,
        }
        pace.ended(200, headers)
        assert pace.let_out(size) == pytest.approx(wait), (requests, tokens, reset)
        if wait:
            clock.now += wait
            # Then the limit is whole again: two requests, and no third before the next reply.
            assert [pace.let_out(1), pace.let_out(1)] == [0, 0]


async def test_requests_leave_in_order_and_not_behind_their_deadline() -> None:
    pace, now = Pace(1), asyncio.get_running_loop().time
    order: list[int] = []

    async def one(number: int) -> None:
        assert await pace.begin(1, NO_END)
        order.append(number)
        await asyncio.sleep(0)
        pace.ended(200)

    await asyncio.gather(*map(one, range(20)))
    assert order == list(range(20))
    assert pace.out == 0
    assert await pace.begin(1, NO_END)
    assert not await pace.begin(1, now() + 0.01), "the only place is taken"
    waiting = asyncio.create_task(pace.begin(1, NO_END))
    await asyncio.sleep(0)
    waiting.cancel()
    pace.dropped()
    assert await pace.begin(1, NO_END), "who is cancelled leaves no place taken"
    slow = Pace(9, rpm=1)
    assert await slow.begin(1, NO_END)
    assert not await slow.begin(1, now() + 30), "which is known at once"


async def asked(
    server: JudgeServer,
    pace: Pace,
    count: int,
    read: Callable[[bytes], object] = bytes.decode,
) -> list[object]:
    policy = Policy(timeout=5.0, attempts=3, first_wait=0.02, longest_wait=0.05)
    async with Connection(server.base_url, "", policy=policy, pace=pace) as connection:
        soon = asyncio.get_running_loop().time() + 20
        body: dict[str, JsonValue] = {
            "model": "m",
            "messages": [{"role": "user", "content": "<s1>a</s1>"}],
        }
        work = [
            connection.ask("/chat/completions", body, read, deadline=soon) for _ in range(count)
        ]
        done = await asyncio.gather(*work, return_exceptions=True)
    return [each if isinstance(each, BaseException) else each.outcome for each in done]


async def test_over_http_a_token_bucket_that_tells_its_state_is_hardly_overdrawn() -> None:
    bucket = Tokens(rate=400, room=20, told=True)
    with JudgeServer(bucket) as server:
        outcomes = await asked(server, Pace(32), 120)
    assert not [each for each in outcomes if isinstance(each, Failure | BaseException)]
    assert bucket.taken == 120
    assert bucket.refused <= 60


async def test_over_http_a_token_bucket_is_found_out_where_it_tells_nothing() -> None:
    # By a clock of its own: a slow machine would send too little to be refused.
    bucket = Tokens(rate=1, room=5, clock=itertools.count(step=0.5).__next__)
    pace = Pace(32)
    with JudgeServer(bucket) as server:
        outcomes = await asked(server, pace, 120)
    assert not [each for each in outcomes if isinstance(each, Failure | BaseException)]
    assert (bucket.taken, pace.out) == (120, 0)
    assert bucket.refused >= 110, "5 tokens, and half a one with each request"
    assert pace.limit < 32


async def test_over_http_a_limit_counts_whatever_status_it_comes_with() -> None:
    named = {"code": "rate_limit_exceeded", "message": "too many"}
    limited = iter([Body(json.dumps({"object": "response", "error": named, "output": []}))])
    pace = Pace(4)
    with JudgeServer(lambda asked: next(limited, None) or right(asked)) as server:
        outcomes = await asked(server, pace, 1, read_completion)
    assert not [each for each in outcomes if isinstance(each, Failure | BaseException)]
    assert pace.limit < 4


async def test_over_http_a_wait_holds_for_all_and_a_spent_quota_is_asked_once() -> None:
    arrivals: list[float] = []

    def script(asked: Asked) -> Answer:
        arrivals.append(time.monotonic())
        return too_many("0.2") if len(arrivals) == 1 else right(asked)

    with JudgeServer(script) as server:
        await asked(server, Pace(1), 3)
    assert len(arrivals) == 4
    assert arrivals[1] - arrivals[0] >= 0.2, "others waited, too"
    with JudgeServer(lambda _: QUOTA) as server:
        assert isinstance((await asked(server, Pace(1), 1))[0], JudgeUnavailable)
        assert len(server.requests) == 1
