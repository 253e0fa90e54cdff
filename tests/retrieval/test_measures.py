import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import dcg_score, ndcg_score

from judge.retrieval.measures import (
    Gain,
    Values,
    average_precision,
    dcg,
    fbeta_at_k,
    hit_at_k,
    ndcg,
    precision_at_k,
    r_precision,
    recall_at_k,
    reciprocal_rank,
    roc_auc,
)

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

# One relevant each, at rank 2, 8, 15 and 1, twenty ranks deep.
FOUR = np.zeros((4, 20))
FOUR[range(4), [1, 7, 14, 0]] = 1
SEVEN_IN_TWENTY = np.arange(100) % 20 < 7
AT_2_4_5_9 = [0, 1, 0, 1, 1, 0, 0, 0, 1, 0]
NOTHING = np.zeros((2, 3))
UNRANKED = np.zeros((2, 0))
LOG3, LOG5, LOG6 = math.log2(3), math.log2(5), math.log2(6)
BEST = 31 + 31 / LOG3 + 15 / 2 + 7 / LOG5 + 7 / LOG6

# Each value by hand; NaN where a measure is not defined.
BY_HAND: list[tuple[str, Values, float | list[float]]] = [
    ("with one relevant, recall is hit", recall_at_k(FOUR, 10, np.ones(4)), [1, 1, 0, 1]),
    ("precision of four questions", precision_at_k(FOUR, 10), [0.1, 0.1, 0, 0.1]),
    ("2 · .35 · .7/(.35 + .7)", fbeta_at_k(SEVEN_IN_TWENTY, 100, 50), 0.49 / 1.05),
    ("shorter than k: precision", precision_at_k([1, 1], 10), 0.2),
    ("shorter than k: f1", fbeta_at_k([1, 1], 10, 2), 4 / 12),
    ("two of the first four", r_precision([0, 1, 0, 1, 1], 4), 0.5),
    ("one stands too low", r_precision([1, 0, 0, 1], 3), 1 / 3),
    ("the ranking ends before R", r_precision([1, 1], 5), 0.4),
    ("no queries", r_precision(np.zeros((0, 3)), np.zeros(0)), []),
    ("rr of the whole ranking", reciprocal_rank(FOUR), [1 / 2, 1 / 8, 1 / 15, 1]),
    ("rr of the first ten", reciprocal_rank(FOUR, 10), [1 / 2, 1 / 8, 0, 1]),
    ("ap", average_precision(AT_2_4_5_9, 4), (1 / 2 + 2 / 4 + 3 / 5 + 4 / 9) / 4),
    ("ap of ranks 1 and 3", average_precision([1, 0, 1, 0, 0], 2), 5 / 6),
    ("ap@4, divided by R", average_precision(AT_2_4_5_9, 4, 4), (1 / 2 + 1 / 2) / 4),
    ("ap@2, perfect and 2 of 4", average_precision([1, 1, 0, 1], 4, 2), 0.5),
    # 49 · (1/49) is less than 1: ranks are divided by, not multiplied with their reciprocals.
    ("a long perfect ranking", average_precision(np.ones(1000), 1000), 1),
    ("1/log2(2) + 1/log2(4)", dcg([1, 0, 1, 0, 0], 5), 1.5),
    ("over the best, 1 + 1/log2(3)", ndcg([1, 0, 1, 0, 0], [1, 1], 5), 1.5 / (1 + 1 / LOG3)),
    ("0 and 1 under exp2", ndcg([1, 0, 1], [1, 1], 5, gain="exp2"), 1.5 / (1 + 1 / LOG3)),
    ("grades under exp2", dcg([5, 5, 4, 3, 3], 5, gain="exp2"), BEST),
    (
        "the same in another order",
        ndcg([3, 5, 5, 4, 3], [3, 5, 5, 4, 3], 5, gain="exp2"),
        (7 + 31 / LOG3 + 31 / 2 + 15 / LOG5 + 7 / LOG6) / BEST,
    ),
    (".5/1 + 0 + .25/2, under 0 counting 0", dcg([0.5, -1, 0.25]), 0.625),
    ("2^.5 - 1", dcg([0.5, -3, 0], gain="exp2"), math.sqrt(2) - 1),
    ("a grade under 0 is not judged", ndcg([-1, 1], [1, -1]), 1 / LOG3),
    ("the best holds what was missed", ndcg([1], [1, 3]), 1 / (3 + 1 / LOG3)),
    ("and is cut at k", ndcg([1], [1, 3], 1), 1 / 3),
    ("auc: 3 of 4 pairs", roc_auc([1, 0, 1, 0], 4), 0.75),
    ("auc: the middle two are tied", roc_auc([1, 0, 1, 0], 4, [9, 5, 5, 1]), 0.875),
    ("auc: in whatever order", roc_auc([1, 1, 0, 0], 4, [9, 5, 5, 1]), 0.875),
    ("auc: all tied", roc_auc([1, 0, 1, 0], 4, [7, 7, 7, 7]), 0.5),
    ("auc: both kinds are needed", roc_auc([[1, 1], [0, 0], [0, 0]], [2, 2, 0]), [math.nan] * 3),
    ("auc: with scores too", roc_auc([[1, 1], [0, 0]], [2, 2], NOTHING[:, :2]), [math.nan] * 2),
    ("auc: nothing", roc_auc([], 0, []), math.nan),
    ("auc: what fills up is tied with nothing", roc_auc([1, 0, 0], 2, [0, 0, 0]), 0.5),
    ("auc: and may rise or be no number", roc_auc([0, 1, 0, 0], 2, [2, 1, 9, math.nan]), 0),
]


def test_every_measure_by_hand() -> None:
    for says, found, expected in BY_HAND:
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6, err_msg=says)


@pytest.mark.parametrize("gains", [NOTHING, UNRANKED])
def test_nothing_relevant_or_nothing_ranked_is_zero(gains: Floats) -> None:
    judged = [[0, 0], [0, 2]]
    for value in (
        hit_at_k(gains, 2),
        precision_at_k(gains, 2),
        recall_at_k(gains, 2, [0, 3]),
        fbeta_at_k(gains, 2, [0, 3]),
        r_precision(gains, [0, 3]),
        reciprocal_rank(gains),
        average_precision(gains, [0, 3]),
        *(dcg(gains, gain=gain) for gain in GAINS),
        *(ndcg(gains, each, gain=gain) for each in (judged, UNRANKED) for gain in GAINS),
    ):
        assert np.asarray(value).tolist() == [0, 0]


GAINS: tuple[Gain, ...] = ("linear", "exp2")


def test_rounding_lifts_no_ranking_over_the_best() -> None:
    # The four differ in their last digits, and the sum in this order is larger than best first.
    grades = [1.6416903194997552, 1.6416903194997552, 1.6416903194997547, 1.6416903194997554]
    assert dcg(grades) > dcg(sorted(grades, reverse=True))
    assert ndcg(grades, grades) == 1


class Ranking(NamedTuple):
    """One query."""

    gains: list[float]
    missed: list[float]
    scores: list[float]


class Rankings(NamedTuple):
    """Queries of one batch, as the measures take them."""

    gains: Floats
    length: Ints
    relevant: Ints
    judged: Floats
    scores: Floats


@st.composite
def ranking(draw: st.DrawFn) -> Ranking:
    place = st.tuples(st.sampled_from([0, 0, 0.5, 1, 2, 3]), st.integers(-3, 3))
    places = draw(st.lists(place, max_size=12))
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


RANKINGS = st.lists(ranking(), min_size=1, max_size=5)
K = st.integers(1, 15)


def every(q: Rankings, k: int) -> Iterator[Values]:
    """Each measure of a batch."""
    yield hit_at_k(q.gains, k)
    yield recall_at_k(q.gains, k, q.relevant)
    yield precision_at_k(q.gains, k)
    yield fbeta_at_k(q.gains, k, q.relevant)
    yield r_precision(q.gains, q.relevant)
    for depth in (k, None):
        yield reciprocal_rank(q.gains, depth)
        yield average_precision(q.gains, q.relevant, depth)
        for gain in GAINS:
            yield dcg(q.gains, depth, gain=gain)
            yield ndcg(q.gains, q.judged, depth, gain=gain)
    yield roc_auc(q.gains, q.length)
    yield roc_auc(q.gains, q.length, q.scores)


@pytest.mark.no_cover
@given(RANKINGS, K)
def test_a_query_is_the_same_to_the_last_bit_alone_and_among_others(
    rows: list[Ranking], k: int
) -> None:
    together = [np.asarray(values) for values in every(batch(rows), k)]
    for place, row in enumerate(rows):
        alone = [float(np.asarray(values)[0]) for values in every(batch([row]), k)]
        among = [float(values[place]) for values in together]
        assert np.array_equal(alone, among, equal_nan=True)


def pairs(gains: list[float], scores: list[float]) -> float:
    """The definition of ROC-AUC: every relevant against every irrelevant one."""
    up = [score for gain, score in zip(gains, scores, strict=True) if gain > 0]
    down = [score for gain, score in zip(gains, scores, strict=True) if gain <= 0]
    won = [1.0 if a > b else 0.5 if a == b else 0.0 for a in up for b in down]
    return sum(won) / len(won) if won else math.nan


@pytest.mark.no_cover
@given(RANKINGS)
def test_roc_auc_by_its_definition(rows: list[Ranking]) -> None:
    q = batch(rows)
    tied = [pairs(row.gains, row.scores) for row in rows]
    assert roc_auc(q.gains, q.length, q.scores) == pytest.approx(tied, abs=1e-12, nan_ok=True)
    by_order = [pairs(row.gains, [-float(i) for i, _ in enumerate(row.gains)]) for row in rows]
    assert roc_auc(q.gains, q.length) == pytest.approx(by_order, abs=1e-12, nan_ok=True)


def test_fractional_grades_as_scikit_learn_has_them() -> None:
    # scikit-learn's best ranking has only the ranked chunks, so here no relevant chunk is missed.
    rng = np.random.default_rng(7)
    gains = rng.choice([0, 0, 0.1, 0.5, 1.7, 3], (2000, 30))
    scores = np.tile(np.arange(30, 0, -1), (2000, 1))
    for k in (1, 3, 10, None):
        assert np.mean(dcg(gains, k)) == pytest.approx(dcg_score(gains, scores, k=k), abs=1e-9)
        mean = np.mean(ndcg(gains, gains, k))
        assert mean == pytest.approx(ndcg_score(gains, scores, k=k), abs=1e-9)
        exp2 = np.mean(ndcg(gains, gains, k, gain="exp2"))
        assert exp2 == pytest.approx(ndcg_score(2**gains - 1, scores, k=k), abs=1e-9)
