"""How time grows with the length of a text: a ratio within one run, never a time."""

import time
from collections.abc import Callable, Iterable
from typing import Final

TIMES: Final = 8
"""How many times as long the longer text is."""

LINEAR: Final = 24.0
"""Under this is linear, which gives 8 and some noise; a square gives 64."""

_TRIES: Final = 3


def growth(action: Callable[[str], object], make: Callable[[int], str], size: int) -> float:
    """How many times as long `action` takes for `make(8 * size)` as for `make(size)`.

    Only the time that this thread computes is counted, and of several tries the best, so that a
    busy machine does not matter. `size` must be large enough for a square to tell.
    """
    short, long = make(size), make(TIMES * size)
    little = min(_seconds(action, short) for _ in range(_TRIES))
    return min(_seconds(action, long) for _ in range(_TRIES)) / little


def slow(
    action: Callable[[str], object], texts: Iterable[str], plain: str, times: float
) -> list[str]:
    """Those texts that take more than so many times as long as a plain one."""
    most = times * min(_seconds(action, plain) for _ in range(_TRIES))
    return [text for text in texts if all(_seconds(action, text) > most for _ in range(_TRIES))]


def repeated(unit: str, first: str = "") -> Callable[[int], str]:
    """What makes texts of so many times a unit, behind what stands first."""
    return lambda size: first + unit * size


def _seconds(action: Callable[[str], object], text: str) -> float:
    began = time.thread_time()
    action(text)
    return time.thread_time() - began
