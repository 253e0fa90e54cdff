"""The rule for outages: when a server that answers nothing ends a run."""

import asyncio
import math
from collections.abc import Callable
from typing import Final

from judge.backends.openai.failures import Failure
from judge.records import UnscoredReason

_LULL_SECONDS: Final = 60.0
"""The time without a failure after which the next failure begins a new outage."""


class Outage:
    """The state of an outage, which begins with a failure and ends with any other response.

    Failures are a server that cannot be reached, an internal error (5xx) and a refusal (429). A
    refusal that asks to wait counts from the end of that wait.

    Args:
        patience: the most seconds of an outage; 0 for no limit.
        deadline: the most seconds that a server may ask to wait.
        first_patience: the same as `patience`, while the server has accepted no connection yet.
        clock: returns the time in seconds; by default the event loop's.
    """

    def __init__(
        self,
        patience: float,
        deadline: float = math.inf,
        first_patience: float = math.inf,
        clock: Callable[[], float] | None = None,
    ) -> None:
        self._patience = patience
        self._first_patience = min(patience, first_patience)
        self._deadline = deadline
        self._clock = clock or (lambda: asyncio.get_running_loop().time())
        self._since = self._last = math.inf
        self._detail = ""
        self._refused = False
        self._too_long = False
        self.has_connected = False
        """Whether the server has ever accepted a connection."""

    @property
    def patience(self) -> float:
        """The most seconds of the present outage; 0 for no limit."""
        return self._patience if self.has_connected else self._first_patience

    @property
    def end(self) -> float:
        """The end of patience on that clock; infinite while the server answers.

        It ends at once if the server asks to wait for longer than the deadline.
        """
        if not self.patience:
            return math.inf
        return -math.inf if self._too_long else self._since + self.patience

    def hear(self, failure: Failure | None) -> None:
        """Record the failure of an attempt, or None for an answer.

        An attempt that took too long neither begins nor ends an outage.
        """
        self.has_connected = self.has_connected or failure is None or not failure.unsent
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
        """The reason for which the run ends, with the next step; empty before that."""
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
        """The time without an answer, for people; empty while the server answers."""
        if not self.patience or self._clock() < self._since:
            return ""
        seconds = self._clock() - self._since
        return f"no answer for {seconds:.0f} of {self.patience:g} s ({self._detail})"
