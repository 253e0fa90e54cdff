"""How time grows with the length of a text: a ratio within one run, never a time."""

import gc
import math
import time
from collections.abc import Callable, Iterable
from typing import Final

TIMES: Final = 8
"""The ratio of the lengths of the two texts."""

LINEAR: Final = 24.0
"""Linear growth gives 8 and some noise, quadratic growth 64."""

DOUBLE: Final = 2.3
"""For twice the length, linear growth gives 2 and some noise, quadratic growth 4."""

_TRIES: Final = 3
_ENOUGH: Final = 0.001
_LONGEST: Final = 100_000


def growth(
    action: Callable[[str], object],
    make: Callable[[int], str],
    size: int,
    enough: float = LINEAR,
) -> float:
    """Return the time of `action` for `make(8 * size)`, divided by that for `make(size)`.

    It is the processor time of this process in the best of several tries. A ratio under `enough` is
    not tried again. `size` must be large enough for quadratic growth to show.
    """
    short, long = make(size), make(TIMES * size)
    little = min(_seconds(action, short) for _ in range(_TRIES))
    return _least(action, long, enough * little) / little


def squared(
    action: Callable[[str], object], makes: Iterable[Callable[[int], str]], size: int
) -> list[str]:
    """The beginnings of those texts for which twice the length takes more than 2.3 times as long.

    Texts begin with `size` characters and grow until they take some milliseconds: the less the
    line costs, the longer the text, and the more of a square is seen. What looks bad is looked at
    again over eight times the length, several times, and the best of these counts.
    """
    collecting = gc.isenabled()
    gc.disable()  # a collection that falls into the longer text alone is no growth of ours
    try:
        return [make(size)[:30] for make in makes if _squares(action, make, size)]
    finally:
        if collecting:
            gc.enable()


def _squares(action: Callable[[str], object], make: Callable[[int], str], size: int) -> bool:
    action(make(size // 4))  # what is made ready once is no growth
    while (taken := _seconds(action, make(size))) < _ENOUGH and size < _LONGEST:
        size *= 2
    if any(_seconds(action, make(2 * size)) <= DOUBLE * taken for _ in range(_TRIES)):
        return False
    # Over three doublings, for one alone may be the fault of another process on this core.
    longer = (growth(action, make, n * size) for n in (1, 2, 1))
    return all(ratio > LINEAR for ratio in longer)


def slow(
    action: Callable[[str], object], texts: Iterable[str], plain: str, times: float
) -> list[str]:
    """Those texts that take more than so many times as long as a plain one."""
    most = times * min(_seconds(action, plain) for _ in range(_TRIES))
    return [text for text in texts if all(_seconds(action, text) > most for _ in range(_TRIES))]


def repeated(unit: str, first: str = "") -> Callable[[int], str]:
    """Return a function that makes texts: `first`, then `unit` a number of times."""
    return lambda size: first + unit * size


def _least(action: Callable[[str], object], text: str, enough: float) -> float:
    """The least that a text takes in several tries, or the first time that is under enough."""
    taken = math.inf
    for _ in range(_TRIES):
        taken = min(taken, _seconds(action, text))
        if taken < enough:
            break
    return taken


def _seconds(action: Callable[[str], object], text: str) -> float:
    began = time.process_time()
    action(text)
    return time.process_time() - began
