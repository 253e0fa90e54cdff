"""Spans of a text, looked up by place."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence


class Spans:
    """Spans asked whether they meet another.

    Args:
        spans: (start, end), ascending and apart.
    """

    def __init__(self, spans: Sequence[tuple[int, int]]) -> None:
        self._starts = [start for start, _ in spans]
        self._ends = [end for _, end in spans]

    def meets(self, start: int, end: int) -> bool:
        """Whether any has a character from `start` to before `end`."""
        return bisect_right(self._ends, start) < bisect_left(self._starts, end)
