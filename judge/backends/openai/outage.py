"""An outage: how long a server has been gone, and when that ends a run."""

import asyncio
import math
from collections.abc import Callable
from typing import Final

from judge.backends.openai.failures import Failure

_LULL: Final = 60.0
"""Seconds without a failure after which another one begins a new outage."""


class Outage:
    """Begins with a failure to reach a server or an error of its own; any other reply ends it.

    Args:
        patience: seconds it may last; 0 means that it ends nothing.
        clock: in seconds; the event loop's where left out.
    """

    def __init__(self, patience: float, clock: Callable[[], float] | None = None) -> None:
        self.patience = patience
        self._clock = clock or (lambda: asyncio.get_running_loop().time())
        self._since = self._last = math.inf
        self._detail = ""

    @property
    def end(self) -> float:
        """When patience is over; infinite where the server is there."""
        return self._since + self.patience if self.patience else math.inf

    @property
    def over(self) -> bool:
        """Whether it has lasted too long."""
        return self._clock() >= self.end

    def hear(self, failure: Failure | None) -> None:
        """What came of an attempt; null where it was answered.

        An attempt that took too long says nothing either way.
        """
        if failure is not None and failure.gone:
            now = self._clock()
            if math.isinf(self._since) or now > self._last + _LULL:
                self._since = now
            self._last, self._detail = now, failure.detail
        elif failure is None or failure.refusal is not None:
            self._since = math.inf

    @property
    def said(self) -> str:
        """How it stands, for who waits; empty where the server is there."""
        if not self.patience or math.isinf(self._since):
            return ""
        seconds = self._clock() - self._since
        return f"no answer for {seconds:.0f} of {self.patience:g} s ({self._detail})"

    @property
    def why(self) -> str:
        """What ends the run."""
        return (
            f"no answer for {self.patience:g} s (--patience), last: {self._detail}; "
            "is the server running? is --base-url right?"
        )
