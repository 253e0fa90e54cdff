import asyncio

import pytest

from judge.judges.cached.flights import Flight, share
from judge.records import Flag, FlagName, Judgment, Unscored, UnscoredReason

REFUSED = Unscored(reason=UnscoredReason.REFUSED)
CONFLICT = Flag(name=FlagName.CONFLICTING_EVIDENCE, sentence=1)


async def test_what_is_in_flight_stands_on_the_board_until_it_lands() -> None:
    board: dict[str, Flight] = {}
    one, other = Flight(["a", "二"], board), Flight(["c"], board)
    assert board == {"a": one, "二": one, "c": other}
    one.land()
    assert board == {"c": other}


async def test_a_flight_that_has_landed_takes_nobody_elses_keys() -> None:
    board: dict[str, Flight] = {}
    first = Flight(["a"], board)
    first.land(Judgment(outcomes={0: REFUSED}))
    second = Flight(["a"], board)
    first.land()
    assert board == {"a": second}
    assert (await share({0: first}, None)).outcomes == {0: REFUSED}


async def test_of_several_flights_each_gives_what_is_asked_for_and_no_call() -> None:
    board: dict[str, Flight] = {}
    one, other, stopped = (Flight([name], board) for name in "abc")
    waiting = asyncio.create_task(share({0: one, 1: other, 2: stopped}, None))
    await asyncio.sleep(0)
    one.land(Judgment(outcomes={0: REFUSED, 1: REFUSED, 7: REFUSED}, flags=(CONFLICT,)))
    stopped.land()
    await asyncio.sleep(0)
    assert not waiting.done()
    other.land(Judgment(outcomes={1: REFUSED}, flags=(CONFLICT, Flag(name=CONFLICT.name))))
    assert await waiting == Judgment(outcomes={0: REFUSED, 1: REFUSED}, flags=(CONFLICT,))


@pytest.mark.parametrize("patience", [-1.0, 0.0, 0.005])
async def test_who_has_no_time_left_waits_no_longer(patience: float) -> None:
    board: dict[str, Flight] = {}
    landed, other = Flight(["a"], board), Flight(["b"], board)
    landed.land(Judgment(outcomes={0: REFUSED}))
    deadline = asyncio.get_running_loop().time() + patience
    async with asyncio.timeout(1):
        outcomes = (await share({0: landed, 1: other}, deadline)).outcomes
    assert outcomes[0] == REFUSED
    late = outcomes[1]
    assert isinstance(late, Unscored)
    assert late.reason is UnscoredReason.TIMEOUT
    assert board == {"b": other}, "it flies on"


async def test_a_flight_outlives_who_waits_for_it() -> None:
    board: dict[str, Flight] = {}
    flight = Flight(["a"], board)
    waiting = asyncio.create_task(share({0: flight}, None))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert not flight.landed.done()
    flight.land(Judgment(outcomes={0: REFUSED}))
    assert (await share({0: flight}, None)).outcomes == {0: REFUSED}
