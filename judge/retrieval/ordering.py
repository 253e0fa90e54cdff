"""The order of rankings: by score where there are scores, else as they were given."""

from collections.abc import Sequence
from itertools import chain

import numpy as np
import numpy.typing as npt

from judge.errors import InputError
from judge.retrieval.query import RankedQuery

Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]


class Order:
    """Which of a query's ids stands at which rank, for many queries side by side.

    A run is ordered by score, equal scores by id, both descending, whatever ranks it states. So
    does trec_eval, which holds scores in single precision, where more of them are equal, and
    compares ids by their bytes: for UTF-8 that is the order of code points (D54).

    Args:
        queries: at least one; of each ranking either all scores are known or none.

    Raises:
        InputError: a score is NaN.
    """

    def __init__(self, queries: Sequence[RankedQuery]) -> None:
        self._queries = queries
        self._ranks: Places | None = None
        self.lengths: Places = np.array([len(query.ids) for query in queries])
        """How many ids each ranking holds."""
        self.width = max(1, int(self.lengths.max()))
        """Of the longest ranking, at least 1."""
        self.scores: Floats | None = None
        """Falling with the rank; None where no two scores of a query are equal."""
        if any(query.scores is not None for query in queries):
            self._sort(queries)

    def ranks(self, rows: Places, places: Places) -> Places:
        """Ranks, from 0, of what was given at these places of these rows."""
        return places if self._ranks is None else self._ranks[rows, places]

    def ids(self, row: int) -> list[str]:
        """What was ranked, best first."""
        given = self._queries[row].ids
        if self._ranks is None:
            return list(given)
        ranks = self._ranks[row].tolist()
        return sorted(given, key=lambda name: ranks[given[name]])

    def _sort(self, queries: Sequence[RankedQuery]) -> None:
        given = [range(0, -len(q.ids), -1) if q.scores is None else q.scores for q in queries]
        scores = np.full((len(queries), self.width), -np.inf, dtype=np.float32)
        there = np.arange(self.width) < self.lengths[:, None]
        # Beyond the largest number of single precision lies infinity, and no error.
        with np.errstate(over="ignore"):
            scores[there] = np.fromiter(chain.from_iterable(given), dtype=np.float32)
        for row in np.flatnonzero(np.isnan(scores).any(axis=1))[:1].tolist():
            message = f"a score of query {queries[row].qid!r} is no number; mend it"
            raise InputError(message)
        order = np.argsort(-scores, axis=1, kind="stable")
        falling = np.take_along_axis(scores, order, axis=1)
        tied = (falling[:, 1:] == falling[:, :-1]) & there[:, 1:]
        for row in np.flatnonzero(tied.any(axis=1)).tolist():
            own = scores[row].tolist()
            keys = sorted(((own[i], name, i) for name, i in queries[row].ids.items()), reverse=True)
            order[row, : len(keys)] = [place for _, _, place in keys]
        self._ranks = np.empty_like(order)
        np.put_along_axis(self._ranks, order, np.arange(self.width)[None, :], axis=1)
        if tied.any():
            self.scores = falling.astype(np.float64)
