"""What is being asked right now, so that nobody asks it a second time."""

import asyncio
from collections.abc import Collection, Mapping
from typing import Final

from judge.records import Flag, JudgeOutcome, Judgment, Unscored, UnscoredReason

_LATE: Final = Unscored(
    reason=UnscoredReason.TIMEOUT, detail="another answer asks the same, and had no reply in time"
)


class Flight:
    """Keys that one asker has taken upon itself, until it lands.

    Args:
        names: the keys; none of them is in flight.
        board: where they stand while they are.
    """

    def __init__(self, names: Collection[str], board: "dict[str, Flight]") -> None:
        self._names = names
        self._board = board
        board.update(dict.fromkeys(names, self))
        loop = asyncio.get_running_loop()
        self.landed: Final[asyncio.Future[Judgment | None]] = loop.create_future()
        """What it brought, by sentence index; None where the asker was stopped before that."""

    def land(self, judgment: Judgment | None = None) -> None:
        """Wake whoever waits; a second time does nothing, for the keys may be another's by then."""
        if not self.landed.done():
            for name in self._names:
                del self._board[name]
            self.landed.set_result(judgment)


async def share(flights: Mapping[int, Flight], deadline: float | None) -> Judgment:
    """What others get for these sentences: the failures, too, but not the calls, which are theirs.

    A timeout is shared like any failure, though they began, and so ran out of time, earlier.

    Args:
        flights: by sentence index; at least one.
        deadline: on the event loop's clock; None: for as long as it takes.

    Returns:
        No outcome where the asker was stopped; `Unscored(timeout)` where the time is up first.
    """
    left = None if deadline is None else deadline - asyncio.get_running_loop().time()
    # Unlike `gather`, this leaves them alone where whoever waits is cancelled.
    await asyncio.wait({flight.landed for flight in flights.values()}, timeout=left)
    outcomes: dict[int, JudgeOutcome] = {}
    flags: list[Flag] = []
    for index, flight in flights.items():
        if not flight.landed.done():
            outcomes[index] = _LATE
        elif judgment := flight.landed.result():
            outcomes[index] = judgment.outcomes[index]
            flags.extend(flag for flag in judgment.flags if flag.sentence == index)
    return Judgment(outcomes=outcomes, flags=tuple(flags))
