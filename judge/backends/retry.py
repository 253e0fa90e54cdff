"""Waits between attempts: as long as the server asks, or growing with full jitter."""

import math
import random
from typing import Any

from tenacity import RetryCallState
from tenacity.wait import wait_random_exponential


def parse_retry_after(text: str) -> float | None:
    """Return the seconds that a `Retry-After` header asks for, or None if it is no number."""
    try:
        seconds = float(text)
    except ValueError:
        return None
    return max(0.0, seconds) if math.isfinite(seconds) else None


def pause(state: RetryCallState, asked: float | None, first: float, longest: float) -> float:
    """Return the seconds to wait after the last attempt.

    `asked` is the wait that the server asked for. Without it, the wait is drawn between 0 and
    `first`, which doubles after each attempt, up to `longest`.
    """
    if asked is None:
        return wait_random_exponential(multiplier=first, max=longest)(state)
    # Requests that are refused together would otherwise return together.
    return asked + random.uniform(0, first)  # noqa: S311  hides nothing


def last(state: RetryCallState) -> Any:  # noqa: ANN401  whatever the attempts bring
    """Return the result of the last attempt."""
    if state.outcome is None:
        raise RuntimeError("no attempt was made yet")
    return state.outcome.result()
