"""How soon a server is asked again: as it says, or after waits that grow, with full jitter."""

import math
import random
import time
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Any, Final

from tenacity import RetryCallState

_DOUBLED: Final = 60
"""Times: further than any wait."""


def asked_wait(retry_after: str, date: str = "") -> float | None:
    """Seconds that a `Retry-After` header asks for, in seconds or as a date; None where it is none.

    A date is held against `date`, the header in which the server tells its own time, and against
    the clock of this machine where that is none. Infinite where the number is too large for a
    float; 0 where the moment is over.
    """
    try:
        seconds = float(retry_after)
    except ValueError:
        then, now = _moment(retry_after), _moment(date)
        if then is None:
            return None
        seconds = then - (time.time() if now is None else now)
    return None if math.isnan(seconds) else max(0.0, seconds)


def _moment(date: str) -> float | None:
    """Seconds since 1970 of a date as HTTP has them; None where it is none."""
    try:
        moment = parsedate_to_datetime(date)
        # One of the three forms names no zone, and means GMT all the same.
        return moment.replace(tzinfo=moment.tzinfo or UTC).timestamp()
    except (ValueError, OverflowError):
        return None


def pause(attempt: int, asked: float | None, first: float, longest: float = math.inf) -> float:
    """Seconds to wait after the attempt of this number, from 1 on.

    Without an asked wait they are drawn from 0 to `first`, doubled after each attempt, and to
    `longest` at most.
    """
    if asked is None:
        doubled = first * 2.0 ** min(attempt - 1, _DOUBLED)
        return random.uniform(0, min(doubled, longest))  # noqa: S311  hides nothing
    # All that were told the same moment shall not come back at the same moment.
    return asked + random.uniform(0, first)  # noqa: S311  hides nothing


def last(state: RetryCallState) -> Any:  # noqa: ANN401  whatever the attempts bring
    """What the last attempt brought."""
    if state.outcome is None:
        raise RuntimeError("asked about an attempt that was not made")
    return state.outcome.result()
