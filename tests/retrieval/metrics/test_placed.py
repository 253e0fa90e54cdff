import numpy as np
import pytest
from hypothesis import given

from judge.retrieval.metrics import (
    average_precision,
    hit_at_k,
    precision_at_k,
    recall_at_k,
    reciprocal_rank,
)
from tests.retrieval.metrics.rankings import RANKINGS, K, Ranking, at, batch

# One relevant each, at rank 2, 8, 15 and 1, twenty ranks deep.
FOUR = np.zeros((4, 20))
FOUR[range(4), [1, 7, 14, 0]] = 1


def test_reciprocal_ranks_by_hand() -> None:
    # 1/2, 1/8, nothing and 1: 1.625/4.
    assert reciprocal_rank(FOUR, 10).mean() == 0.40625
    assert reciprocal_rank(FOUR).tolist() == [1 / 2, 1 / 8, 1 / 15, 1]
    # 1/2, 1 and nothing.
    assert reciprocal_rank([[0, 1, 1], [1, 0, 1], [0, 0, 0]]).mean() == 0.5
    assert reciprocal_rank([1, 0, 1, 0, 0]) == 1


def test_average_precision_by_hand() -> None:
    # Relevant at 2, 4, 5 and 9, with precisions 1/2, 2/4, 3/5 and 4/9.
    gains = [0, 1, 0, 1, 1, 0, 0, 0, 1, 0]
    assert average_precision(gains, 4) == pytest.approx((1 / 2 + 1 / 2 + 3 / 5 + 4 / 9) / 4)
    assert round(float(average_precision(gains, 4)), 4) == 0.5111
    # 1/1 and 2/3, halved.
    assert average_precision([1, 0, 1, 0, 0], 2) == pytest.approx(5 / 6)
    assert round(float(average_precision([1, 0, 1, 0, 0], 2)), 4) == 0.8333


def test_average_precision_at_k_is_divided_by_all_that_is_relevant() -> None:
    gains = [0, 1, 0, 1, 1, 0, 0, 0, 1, 0]
    assert average_precision(gains, 4, 4) == pytest.approx((1 / 2 + 1 / 2) / 4)
    # Perfect as far as it goes, and still 2 of 4.
    assert average_precision([1, 1, 0, 1], 4, 2) == 0.5


def test_nothing_relevant_or_nothing_ranked_is_zero() -> None:
    for gains in (np.zeros((2, 3)), np.zeros((2, 0))):
        assert reciprocal_rank(gains).tolist() == [0, 0]
        assert average_precision(gains, [0, 3]).tolist() == [0, 0]
    assert reciprocal_rank([]) == 0


@given(RANKINGS, K)
def test_they_stand_between_what_bounds_them(rows: list[Ranking], k: int) -> None:
    gains, _, relevant, _, _ = batch(rows)
    rr, ap = reciprocal_rank(gains, k), average_precision(gains, relevant, k)
    hit = hit_at_k(gains, k)
    assert ((rr >= hit / k) & (rr <= hit)).all()
    # Every precision in the sum is at most 1, and at least that of its own place alone.
    assert (ap <= recall_at_k(gains, k, relevant)).all()
    assert (ap >= precision_at_k(gains, k) * recall_at_k(gains, k, relevant) / 2 - 1e-12).all()
    assert (rr <= reciprocal_rank(gains, k + 1)).all()
    assert (ap <= average_precision(gains, relevant, k + 1)).all()


@given(RANKINGS)
def test_a_perfect_ranking_is_exactly_one(rows: list[Ranking]) -> None:
    _, _, relevant, judged, _ = batch(rows)
    ideal = -np.sort(-judged, axis=-1)
    some = (relevant > 0).astype(float).tolist()
    assert reciprocal_rank(ideal).tolist() == some
    assert average_precision(ideal, relevant).tolist() == some


def test_a_long_perfect_ranking_is_exactly_one() -> None:
    # 49 · (1/49) is less than 1: ranks are divided by, not multiplied with their reciprocals.
    assert average_precision(np.ones(1000), 1000) == 1


@given(RANKINGS, K)
def test_a_query_is_the_same_alone_and_among_others(rows: list[Ranking], k: int) -> None:
    gains, _, relevant, _, _ = batch(rows)
    for place, row in enumerate(rows):
        r = int(relevant[place])
        for depth in (k, None):
            assert reciprocal_rank(row.gains, depth) == at(reciprocal_rank(gains, depth), place)
            assert average_precision(row.gains, r, depth) == at(
                average_precision(gains, relevant, depth), place
            )
