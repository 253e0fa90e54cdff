"""The live service: what all calls share, and one answer at a time."""

import asyncio
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from starlette.requests import Request

from judge.compose import address
from judge.config import Config
from judge.errors import WorkerLost
from judge.evaluator import Evaluator
from judge.records import Sample, SampleResult
from judge.service.admission import Slots
from judge.service.batches import Batches
from judge.service.body import TIMEOUT, read
from judge.service.monitoring import Metrics
from judge.service.problems import Problem

_REACHED: Final = 5.0
"""Seconds for which it is remembered whether the judge can be reached."""
_KNOCK: Final = 2.0
"""Seconds to reach it."""
_GRACE: Final = 5.0
"""Seconds for a result once nothing more is asked for it."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What the service lets in."""

    queue: int = 256
    """Live requests that wait."""
    running: int = 2
    """Batches judged at once."""
    max_body: float = 16.0
    """MB of a body, batches aside."""
    max_batch: float = 4096.0
    """MB of a batch, packed or not."""
    body_timeout: float = TIMEOUT
    """Seconds to wait for the next piece of a body."""


class Service:
    """What the calls share: one evaluator that stays open, the places, and the batches."""

    def __init__(
        self, config: Config, limits: Limits, slots: Slots, batches: Batches, metrics: Metrics
    ) -> None:
        self.config = config
        self.limits = limits
        self.slots = slots
        self.batches = batches
        self.metrics = metrics
        # Whoever waits for one answer is told what it came to, and later ones are asked again.
        self.evaluator = Evaluator(config.model_copy(update={"patience": 0.0}), places=slots)
        self.draining = False
        self.lost = asyncio.Event()
        """Set where a process that computes has ended: the service cannot go on."""
        self.live = 0
        """Live requests under way."""
        self._reached = (float("-inf"), "")
        metrics.gauge("judge_in_flight", "Answers in flight.", lambda: slots.size - slots.free)
        metrics.gauge("judge_queue", "Live requests that wait.", lambda: slots.waiting)
        metrics.gauge("judge_live", "Live requests, waiting or in flight.", lambda: self.live)

    async def score(self, sample: Sample, seconds: float) -> SampleResult:
        """The result of one answer within so many seconds, its wait for a place included.

        Raises:
            Problem: too many wait, or the time is over.
            JudgeUnavailable: the judge cannot be asked.
        """
        if (waiting := self.live - self.slots.size) >= self.limits.queue:
            raise Problem(
                "queue-full",
                f"{waiting} waiting already; come again after Retry-After seconds",
                headers={"Retry-After": str(self.slots.wait(waiting))},
            )
        # A server's failures, a timeout among them, are values; of others this is the end.
        grace = _GRACE if self.config.asks_server else 0.0
        self.live += 1
        try:
            async with asyncio.timeout(seconds + grace):
                result = await self.evaluator.evaluate_one(sample, seconds=seconds)
        except WorkerLost:
            self.lost.set()
            raise
        except TimeoutError:
            raise Problem(
                "too-late", f"no result within {seconds:g} seconds; give it longer"
            ) from None
        finally:
            self.live -= 1
        self.metrics.judged(result)
        return result

    async def unready(self) -> str:
        """Why no work should be sent here; empty where it should."""
        if self.draining:
            return "draining"
        try:
            folder = self.batches.fresh()
            folder.rmdir()
        except OSError:
            return "the data folder cannot be written"
        if not self.config.asks_server:
            return ""
        when, why = self._reached
        if time.monotonic() - when > _REACHED:
            why = await _reach(address(self.config))
            self._reached = time.monotonic(), why
        return why


def service_of(request: Request) -> Service:
    """The service that the application is of."""
    found: Service = request.app.state.service
    return found


async def body_of(request: Request) -> bytes:
    """The whole body, within the limits of the service; `Problem` where it is beyond them."""
    limits = service_of(request).limits
    return await read(request, limits.max_body, limits.body_timeout)


async def _reach(url: str) -> str:
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        async with asyncio.timeout(_KNOCK):
            _, writer = await asyncio.open_connection(parts.hostname, port)
    except (OSError, TimeoutError):
        return "the judge's server cannot be reached"
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
    return ""
