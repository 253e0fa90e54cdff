"""What is graded relevant, of many queries side by side: one entry a chunk, and where it ranks."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from judge.retrieval.ordering import Order
from judge.retrieval.query import RankedQuery


class Relevant:
    """Every chunk with a relevance above 0, query by query.

    Args:
        queries: at least one.
        order: of their rankings.
    """

    def __init__(self, queries: Sequence[RankedQuery], order: Order) -> None:
        names: list[str] = []
        grades: list[float] = []
        places: list[int] = []
        counts = []
        for query in queries:
            graded = query.relevance or {}
            place = query.ids.get
            counts.append(len(graded))
            names += graded
            grades += graded.values()
            places += [place(name, -1) for name in graded]
        self.names = names
        """As gold names them."""
        self.rows = np.repeat(np.arange(len(queries)), counts)
        """Which query each belongs to."""
        self.grades = np.array(grades, dtype=np.float64)
        """Their relevance."""
        found = np.array(places, dtype=np.intp) >= 0
        self.ranks = np.full(len(names), np.inf)
        """From 1; infinite for what is not ranked."""
        at = np.array(places, dtype=np.intp)[found]
        self.ranks[found] = order.ranks(self.rows[found], at) + 1
        self._shape = (len(queries), order.width)
        self._counts = np.array(counts, dtype=np.intp)

    def by_rank(self) -> npt.NDArray[np.float64]:
        """The relevance of what stands at each rank: shape (queries, longest ranking)."""
        table = np.zeros(self._shape)
        found = np.isfinite(self.ranks)
        table[self.rows[found], self.ranks[found].astype(np.intp) - 1] = self.grades[found]
        return table

    def falling(self) -> npt.NDArray[np.float64]:
        """What an ideal ranking would show: each query's relevances, the largest first, then 0."""
        table = np.zeros((self._shape[0], max(1, int(self._counts.max()))))
        begin = np.repeat(np.cumsum(self._counts) - self._counts, self._counts)
        table[self.rows, np.arange(len(self.rows)) - begin] = self.grades
        table[:, ::-1].sort(axis=1)
        return table
