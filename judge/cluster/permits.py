"""One pace for all replicas: an actor that lets requests out, and its stand-in in each of them."""

import asyncio
from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

import ray

from judge.backends.openai import Pace

_QUOTA: Final = "x-ratelimit-"
_NO_HEADERS: Final[Mapping[str, str]] = {}
_WAITING: Final = 100_000
"""Requests that may wait for their turn."""


class PaceKeeper:
    """The actor: keeps the one `Pace`, on its own event loop."""

    def __init__(self, ceiling: int, rpm: int | None, tpm: int | None) -> None:
        self._pace = Pace(ceiling, rpm, tpm)
        self._out = Counter[str]()

    async def enter(self, replica: str) -> None:
        """A replica begins; what one of its name had out went with its process."""
        for _ in range(self._out.pop(replica, 0)):
            self._pace.dropped()

    async def begin(self, replica: str, size: int, seconds: float) -> tuple[bool, float]:
        """As of `Pace`, and what `held` says then."""
        fine = await self._pace.begin(size, asyncio.get_running_loop().time() + seconds)
        self._out[replica] += fine
        return fine, self._pace.held

    async def ended(self, replica: str, *how: Any) -> None:  # noqa: ANN401  as of `Pace`
        """As of `Pace`; where nothing is said, as of `dropped`."""
        if self._out[replica] <= 0:  # of a process that is gone
            return
        self._out[replica] -= 1
        if how:
            self._pace.ended(*how)
        else:
            self._pace.dropped()

    async def spent(self, size: int, tokens: int) -> None:
        """As of `Pace`."""
        self._pace.spent(size, tokens)


def keep_pace(name: str, ceiling: int, rpm: int | None, tpm: int | None) -> Any:  # noqa: ANN401
    """Start the actor; it lives as long as what is returned."""
    kept = ray.remote(PaceKeeper).options(
        name=name, num_cpus=0, max_concurrency=_WAITING, max_restarts=-1, max_task_retries=-1
    )
    return kept.remote(ceiling, rpm, tpm)


class SharedPace(Pace):
    """The pace of a replica, which asks the actor."""

    def __init__(self, keeper: Any) -> None:  # noqa: ANN401  a handle of Ray's
        super().__init__(1)
        self._keeper = keeper
        self._replica = ray.get_runtime_context().get_actor_id()
        self._until = 0.0
        self._keeper.enter.remote(self._replica)

    async def begin(self, size: int, end: float) -> bool:
        """As of `Pace`."""
        clock = asyncio.get_running_loop().time
        asked = asyncio.ensure_future(self._begun(size, end - clock()))
        try:
            fine, held = await asyncio.shield(asked)
        except asyncio.CancelledError:
            asked.add_done_callback(self._returned)
            raise
        self._until = clock() + held
        return fine

    async def _begun(self, size: int, seconds: float) -> tuple[bool, float]:
        found: tuple[bool, float] = await self._keeper.begin.remote(self._replica, size, seconds)
        return found

    def _returned(self, asked: "asyncio.Future[tuple[bool, float]]") -> None:
        if not asked.cancelled() and asked.exception() is None and asked.result()[0]:
            self.dropped()

    def ended(
        self,
        status: int,
        headers: Mapping[str, str] = _NO_HEADERS,
        wait: float | None = None,
        seconds: float = 0.0,
    ) -> None:
        """As of `Pace`."""
        low = {name.lower(): str(value) for name, value in headers.items()}
        said = {name: value for name, value in low.items() if name.startswith(_QUOTA)}
        self._keeper.ended.remote(self._replica, status, said, wait, seconds)

    @property
    def held(self) -> float:
        """As of `Pace`, as the actor last said."""
        return max(0.0, self._until - asyncio.get_running_loop().time())

    def dropped(self) -> None:
        """As of `Pace`."""
        self._keeper.ended.remote(self._replica)

    def spent(self, size: int, tokens: int) -> None:
        """As of `Pace`."""
        self._keeper.spent.remote(size, tokens)
