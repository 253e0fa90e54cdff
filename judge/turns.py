"""Turns: how many questions are out at a time, until when each, and what is computed meanwhile."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import ParamSpec, TypeVar

from judge.workers import HEAVY, Apart, apart

_Result = TypeVar("_Result")
_Given = ParamSpec("_Given")


Places = AbstractAsyncContextManager[object]
"""Entered for each question, of which so many may be out; `asyncio.Semaphore` is one."""


class Desk:
    """What the answers of one event loop share: so many `places` to ask, and one to compute."""

    def __init__(self, places: int | Places) -> None:
        self.places = asyncio.Semaphore(places) if isinstance(places, int) else places
        self._computing = asyncio.Lock()

    async def compute(
        self,
        heavy: int,
        work: Callable[_Given, _Result],
        *given: _Given.args,
        **named: _Given.kwargs,
    ) -> _Result:
        """As of `apart`; of what is light, one piece in each round of the loop.

        So replies are read and the next questions sent between two answers, and not behind all.
        """
        if heavy >= HEAVY:
            return await apart(heavy, work, *given, **named)
        waits = self._computing.locked()
        async with self._computing:
            if not waits:
                await asyncio.sleep(0)
            return work(*given, **named)


class Turn:
    """One answer's time: `patience` seconds from its first question; null means no end.

    No later, in any case, than `due` on the event loop's clock. It is computed at the desk, where
    not `elsewhere`.
    """

    def __init__(
        self,
        desk: Desk | None = None,
        patience: float | None = None,
        elsewhere: Apart | None = None,
        due: float | None = None,
    ) -> None:
        self.desk = desk or Desk(2)
        self.compute: Apart = elsewhere or self.desk.compute
        self._patience = patience
        self._due = due
        self._deadline = due

    def begin(self) -> float | None:
        """The deadline, on the event loop's clock, of whoever has got a place to ask.

        Nobody waits for a place while holding one: all who hold one could wait for ever.
        """
        if self._deadline is None and self._patience is not None:
            self._deadline = asyncio.get_running_loop().time() + self._patience
        return self._deadline

    def again(self) -> "Turn":
        """Another turn of the same patience, which has not begun."""
        return Turn(self.desk, self._patience, self.compute, self._due)
