"""An outage: how long a server has answered nothing, and when that ends a run."""

import asyncio
import math
from collections.abc import Callable
from typing import Final

from judge.backends.openai.failures import Failure
from judge.records import UnscoredReason

_LULL_SECONDS: Final = 60.0
"""A failure after this time without another one begins a new outage."""


class Outage:
    """An outage: the time since the first failure without an answer after it.

    A failure is a server that cannot be reached, an error of its own (5xx), or a refusal (429).
    A refusal that asks to wait counts from the end of that wait. Any other reply ends the outage.

    Args:
        patience: seconds that an outage may last; 0 for no limit.
        deadline: seconds that a server may ask to wait.
        clock: in seconds; the event loop's where left out.
    """

    def __init__(
        self,
        patience: float,
        deadline: float = math.inf,
        clock: Callable[[], float] | None = None,
    ) -> None:
        self.patience = patience
        self._deadline = deadline
        self._clock = clock or (lambda: asyncio.get_running_loop().time())
        self._since = self._last = math.inf
        self._detail = ""
        self._refused = False
        self._too_long = False

    @property
    def end(self) -> float:
        """When patience is over; infinite while the server answers.

        It is over at once where the server asks to wait for longer than the deadline.
        """
        if not self.patience:
            return math.inf
        return -math.inf if self._too_long else self._since + self.patience

    def hear(self, failure: Failure | None) -> None:
        """Take note of an attempt: of its failure, or None where it was answered.

        An attempt that took too long says nothing either way.
        """
        refused = failure is not None and failure.reason is UnscoredReason.RATE_LIMITED
        if failure is not None and (refused or failure.gone):
            wait = (failure.refusal and failure.refusal.wait) or 0.0
            then = self._clock() + (wait if wait <= self._deadline else 0.0)
            if math.isinf(self._since) or self._clock() > self._last + _LULL_SECONDS:
                self._since = then
            self._last, self._detail, self._refused = then, failure.detail, refused
            self._too_long = wait > self._deadline
        elif failure is None or failure.refusal is not None:
            self._since = math.inf
            self._too_long = False

    @property
    def why(self) -> str:
        """Why the run ends, and what to do; empty while an answer may still come."""
        if not self.patience:
            return ""
        if self._too_long:
            return (
                f"it asks to wait for longer than {self._deadline:g} s (--deadline), last: "
                f"{self._detail}; go on when that is over, or name another --model"
            )
        if self._clock() < self.end:
            return ""
        step = "is the server running? is --base-url right?"
        if self._refused:
            step = "is the quota used up? does something else use it? try --rpm"
        return f"no answer for {self.patience:g} s (--patience), last: {self._detail}; {step}"

    @property
    def state(self) -> str:
        """For how long there has been no answer; empty while the server answers."""
        if not self.patience or self._clock() < self._since:
            return ""
        seconds = self._clock() - self._since
        return f"no answer for {seconds:.0f} of {self.patience:g} s ({self._detail})"
