"""How time grows with the length of a text: a ratio within one run, never a time."""

import time
from collections.abc import Callable
from typing import Final

DOUBLE: Final = 2.3
"""For twice the length, linear growth gives 2 and some noise, quadratic growth 4."""
LINEAR: Final = 24.0
"""For eight times the length, linear growth gives 8 and some noise, quadratic growth 64."""

_TRIES: Final = 3
_ENOUGH_SECONDS: Final = 0.001
_LONGEST: Final = 100_000


def is_quadratic(action: Callable[[str], object], make: Callable[[int], str], size: int) -> bool:
    """Return whether `action` takes the square of the time for a longer text.

    It takes the processor time of this process. The text begins with `size` characters and grows
    until it takes some milliseconds. If twice the length takes too long in each try, eight times
    the length decides.
    """
    action(make(size // 4))  # the first call may fill caches
    while (short := _seconds(action, make(size))) < _ENOUGH_SECONDS and size < _LONGEST:
        size *= 2
    if any(_seconds(action, make(2 * size)) <= DOUBLE * short for _ in range(_TRIES)):
        return False
    return all(
        _seconds(action, make(8 * size)) > LINEAR * _seconds(action, make(size))
        for _ in range(_TRIES)
    )


def _seconds(action: Callable[[str], object], text: str) -> float:
    began = time.process_time()
    action(text)
    return time.process_time() - began
