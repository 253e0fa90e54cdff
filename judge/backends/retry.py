"""Computes the waits between attempts: as long as the server asks, or growing with full jitter."""

import math
import random
import time
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Any, Final

from tenacity import RetryCallState

_DOUBLED: Final = 60
"""Doublings after which any wait is at its maximum."""


def parse_retry_after(text: str) -> float | None:
    """Return the seconds that a `Retry-After` header asks for, or None if it is malformed.

    A past date gives 0. A number too large for a float is infinite.
    """
    try:
        seconds = float(text)
    except ValueError:
        try:
            moment = parsedate_to_datetime(text)
            # One of the three forms names no zone, and means GMT all the same.
            seconds = moment.replace(tzinfo=moment.tzinfo or UTC).timestamp() - time.time()
        except (ValueError, OverflowError):
            return None
    return None if math.isnan(seconds) else max(0.0, seconds)


def pause(attempt: int, asked: float | None, first: float, longest: float = math.inf) -> float:
    """Return the seconds to wait after an attempt; the first attempt has number 1.

    `asked` is the wait that the server asked for. Without it, the wait is drawn between 0 and
    `first`, which doubles after each attempt, up to `longest`.
    """
    if asked is None:
        doubled = first * 2.0 ** min(attempt - 1, _DOUBLED)
        return random.uniform(0, min(doubled, longest))  # noqa: S311  hides nothing
    # Requests that are refused together would otherwise return together.
    return asked + random.uniform(0, first)  # noqa: S311  hides nothing


def last(state: RetryCallState) -> Any:  # noqa: ANN401  whatever the attempts bring
    """Return the result of the last attempt."""
    if state.outcome is None:
        raise RuntimeError("no attempt was made yet")
    return state.outcome.result()
