import asyncio
import time
from collections.abc import Awaitable, Callable

import pytest

from judge.backends.openai import Policy
from judge.backends.openai.failures import Failure
from judge.backends.openai.refusal import Refusal
from judge.records import UnscoredReason

LIMITED = Failure(UnscoredReason.RATE_LIMITED, "slow down")
BROKEN = Failure(UnscoredReason.SERVER_ERROR, "oops")
BAD = Failure(UnscoredReason.SERVER_ERROR, "bad", again=False)


def limited(wait: float) -> Failure:
    return Failure(UnscoredReason.RATE_LIMITED, "x", refusal=Refusal(429, wait=wait))


class Attempts:
    """Outcomes in order, the last for ever; notes when each was asked for and must end."""

    def __init__(self, *outcomes: str | Failure) -> None:
        self._outcomes = outcomes
        self.times: list[float] = []
        self.ends: list[float] = []

    async def __call__(self, end: float) -> str | Failure:
        self.times.append(asyncio.get_running_loop().time())
        self.ends.append(end)
        return self._outcomes[min(len(self.times), len(self._outcomes)) - 1]


def now() -> float:
    return asyncio.get_running_loop().time()


async def test_the_first_answer_ends_it(quick: Policy) -> None:
    attempts = Attempts("fine")
    assert await quick.persist(attempts, None) == ("fine", 0)
    assert attempts.ends[0] - attempts.times[0] == pytest.approx(5.0, abs=0.1)


async def test_what_may_go_better_is_tried_again(quick: Policy) -> None:
    assert await quick.persist(Attempts(BROKEN, LIMITED, "fine"), None) == ("fine", 2)


async def test_what_cannot_go_better_is_not(quick: Policy) -> None:
    assert await quick.persist(Attempts(BAD, "fine"), None) == (BAD, 0)


@pytest.mark.parametrize("failure", [BROKEN, LIMITED])
async def test_attempts_are_counted(quick: Policy, failure: Failure) -> None:
    attempts = Attempts(failure)
    assert await quick.persist(attempts, None) == (failure, 2)
    assert len(attempts.times) == 3


async def test_a_rate_limit_is_sat_out_until_the_deadline_and_uses_up_no_attempts(
    quick: Policy,
) -> None:
    attempts = Attempts(*[LIMITED] * 7, BROKEN, BROKEN, "fine")
    assert await quick.persist(attempts, now() + 5.0) == ("fine", 9)


async def test_the_last_failure_comes_back_when_the_deadline_is_near(quick: Policy) -> None:
    deadline = now() + 0.03
    outcome, retries = await quick.persist(Attempts(LIMITED), deadline)
    assert isinstance(outcome, Failure)
    assert outcome.reason is UnscoredReason.RATE_LIMITED
    assert retries > 0
    assert now() < deadline + 0.02


async def test_woken_too_late_it_names_what_stood_in_the_way(quick: Policy) -> None:
    attempts = Attempts(limited(0.005), "fine")

    async def attempt(end: float) -> str | Failure:
        # Another task that hogs the loop while this one waits.
        asyncio.get_running_loop().call_later(0.001, time.sleep, 0.06)
        return await attempts(end)

    outcome, retries = await quick.persist(attempt, now() + 0.04)
    assert isinstance(outcome, Failure)
    assert (outcome.reason, retries) == (UnscoredReason.RATE_LIMITED, 0)
    assert len(attempts.times) == 1


async def test_with_no_time_left_nothing_is_attempted(quick: Policy) -> None:
    attempts = Attempts("fine")
    outcome, retries = await quick.persist(attempts, now())
    assert isinstance(outcome, Failure)
    assert (outcome.reason, retries, attempts.times) == (UnscoredReason.TIMEOUT, 0, [])


async def test_no_wait_goes_past_the_deadline(quick: Policy) -> None:
    started = now()
    assert await quick.persist(Attempts(limited(60.0)), now() + 5.0) == (limited(60.0), 0)
    # Without a deadline the attempts' own time is the limit: 3 times 5 s here.
    assert await quick.persist(Attempts(limited(60.0)), None) == (limited(60.0), 0)
    assert now() - started < 0.5


async def test_an_attempt_may_last_until_the_deadline_and_no_longer(quick: Policy) -> None:
    attempts = Attempts("fine")
    deadline = now() + 1.0
    await quick.persist(attempts, deadline)
    assert attempts.ends == [deadline]


async def test_what_the_server_asks_for_is_waited(quick: Policy) -> None:
    attempts = Attempts(limited(0.05), "fine")
    await quick.persist(attempts, None)
    assert attempts.times[1] - attempts.times[0] >= 0.05


async def test_requests_side_by_side_do_not_count_each_other(quick: Policy) -> None:
    asked = [Attempts(BROKEN, "fine"), Attempts("fine"), Attempts(BROKEN), Attempts(BAD)]
    outcomes = await asyncio.gather(*(quick.persist(attempts, None) for attempts in asked))
    assert outcomes == [("fine", 1), ("fine", 0), (BROKEN, 2), (BAD, 0)]


@pytest.mark.parametrize("error", [asyncio.CancelledError(), KeyError("a bug of ours")])
async def test_what_is_no_failure_passes_through(quick: Policy, error: BaseException) -> None:
    def raising(error: BaseException) -> Callable[[float], Awaitable[str | Failure]]:
        async def attempt(_: float) -> str | Failure:
            raise error

        return attempt

    with pytest.raises(type(error)):
        await quick.persist(raising(error), None)
