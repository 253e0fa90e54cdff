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

    def wants(self, key: Key) -> bool:
        """Whether an item with this key, coming now, would be kept."""
        return len(self._heap) < self._most or bool(self._heap and self._heap[0][0] < key)

    def add(self, key: Key, item: _Item) -> None:
        """Take it in; what is dear to make is first asked for by `wants`."""
        if self.wants(key):
            push = heapq.heappush if len(self._heap) < self._most else heapq.heapreplace
            push(self._heap, (key, next(self._later), item))

    def items(self) -> tuple[_Item, ...]:
        """Those kept, the foremost first."""
        return tuple(item for *_, item in sorted(self._heap, reverse=True))
