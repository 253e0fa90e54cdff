"""The few of very many that a person looks at."""

import heapq
from itertools import count
from typing import Generic, TypeVar

Key = tuple[float, ...]

_Item = TypeVar("_Item")


class Foremost(Generic[_Item]):
    """Keeps the items with the largest keys; of equal keys those that came first.

    Args:
        most: how many, 0 and up.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._heap: list[tuple[Key, int, _Item]] = []
        self._later = count(0, -1)

    def add(self, key: Key, item: _Item) -> None:
        """Take it in, if it is among the foremost so far."""
        if len(self._heap) < self._most:
            heapq.heappush(self._heap, (key, next(self._later), item))
        elif self._heap and self._heap[0][0] < key:
            heapq.heapreplace(self._heap, (key, next(self._later), item))

    def items(self) -> tuple[_Item, ...]:
        """Those kept, the foremost first."""
        return tuple(item for *_, item in sorted(self._heap, reverse=True))
