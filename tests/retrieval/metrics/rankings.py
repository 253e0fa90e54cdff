"""Rankings for the property tests of the rank measures."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from judge.retrieval.metrics import Values

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class Rankings(NamedTuple):
    """Queries of one batch, as the measures take them."""

    gains: Floats
    length: Ints
    relevant: Ints
    judged: Floats
    scores: Floats


class Ranking(NamedTuple):
    """One query."""

    gains: list[float]
    missed: list[float]
    scores: list[float]


@st.composite
def ranking(draw: st.DrawFn) -> Ranking:
    places = draw(
        st.lists(st.tuples(st.sampled_from([0, 0, 0.5, 1, 2, 3]), st.integers(-3, 3)), max_size=12)
    )
    scores = sorted((float(score) for _, score in places), reverse=True)
    missed = draw(st.lists(st.sampled_from([0.25, 1.0, 3.0]), max_size=4))
    return Ranking([gain for gain, _ in places], missed, scores)


def batch(rows: Sequence[Ranking]) -> Rankings:
    judged = [[gain for gain in row.gains if gain > 0] + row.missed for row in rows]
    return Rankings(
        filled([row.gains for row in rows]),
        np.array([len(row.gains) for row in rows]),
        np.array([len(row) for row in judged]),
        filled(judged),
        filled([row.scores for row in rows]),
    )


def filled(rows: Sequence[Sequence[float]]) -> Floats:
    """Rows of unlike length, filled up with 0."""
    table = np.zeros((len(rows), max(map(len, rows), default=0)))
    for place, row in zip(table, rows, strict=True):
        place[: len(row)] = row
    return table


def at(values: Values, place: int) -> float:
    return float(np.asarray(values)[place])


RANKINGS = st.lists(ranking(), min_size=1, max_size=5)
K = st.integers(1, 15)
